/* cmd_connect.c -- maki connect: start an agent pointed at the daemon.
 *
 * A row of the table defines how an agent gets its base URL: from environment variables, from arguments, or from a
 * file that Maki writes and an argument or a variable names.  The agent's own settings are never written, and its key
 * stays where it is.  The files are in the directory `connect` of Maki's state; they hold no secret. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "base/str_util.h"
#include "cli.h"
#include "http.h"

static const char usage[] =
    "maki connect AGENT [--url URL] [--model NAME] [--print] [-- ARGUMENTS...]\n"
    "\n"
    "Start an agent with the daemon as its base URL, so that its conversations are recorded.\n"
    "AGENT is claude, codex, opencode, pi, qwen or gemini.  Its own settings are not changed, and it\n"
    "takes its API key from where it always does.\n"
    "\n";

static const char notes[] = "\n"
                            "Examples:\n"
                            "  maki connect claude\n"
                            "  maki connect codex -- exec \"fix the failing test\"\n"
                            "  maki connect opencode --model qwen3-coder --print\n";

enum { VALUES_MAX = 12 };

/* In all strings {url} is the daemon's address, {model} the value of --model and {directory} the directory of Maki's files. */
typedef struct agent_row {
    const char *name; /* of the agent, and of its command */
    const char *install;
    const char *variables[VALUES_MAX]; /* NAME=VALUE */
    const char *arguments[VALUES_MAX]; /* before those of the command line */
    const char *model_variables[VALUES_MAX];
    const char *model_arguments[VALUES_MAX]; /* with --model, after `arguments` */
    const char *file;                        /* to write, below {directory}; NULL: none */
    const char *text, *model_text;           /* its content without and with --model */
    bool (*needs_file)(void);                /* NULL: always */
    const char *file_variable;               /* NAME=VALUE that names it; NULL: an argument does */
} agent_row;

/* Gemini CLI uses another base URL only when its settings select an API key.  If the user's settings do not, a home
 * directory below Maki's, whose settings do, is passed to it. */
static bool gemini_needs_home(void)
{
    char path[PATH_MAX], text[65536];
    const char *variable = getenv("GEMINI_CLI_HOME");
    const char *home = variable && *variable ? variable : getenv("HOME");
    snprintf(path, sizeof path, "%s/.gemini/settings.json", home ? home : "");
    FILE *file = fopen(path, "re");
    if (!file) return true;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    return !strstr(text, "\"gemini-api-key\"");
}

#define OPENCODE_PROVIDERS                                    \
    "\"anthropic\":{\"options\":{\"baseURL\":\"{url}/v1\"}}," \
    "\"openai\":{\"options\":{\"baseURL\":\"{url}/v1\"}},"    \
    "\"google\":{\"options\":{\"baseURL\":\"{url}/v1beta\"}}"
#define PI_PROVIDERS                                                                      \
    "// Written by maki connect: the providers that pi knows, at the daemon's address.\n" \
    "export default function (pi) {\n"                                                    \
    "  pi.registerProvider(\"anthropic\", { baseUrl: \"{url}\" });\n"                     \
    "  pi.registerProvider(\"openai\", { baseUrl: \"{url}/v1\" });\n"                     \
    "  pi.registerProvider(\"google\", { baseUrl: \"{url}/v1beta\" });\n"

static const agent_row agents[] = {
    { .name = "claude",
      .install = "npm install -g @anthropic-ai/claude-code",
      .variables = { "ANTHROPIC_BASE_URL={url}" },
      .model_variables = { "ANTHROPIC_MODEL={model}" } },
    { .name = "codex",
      .install = "npm install -g @openai/codex",
      .arguments = { "-c", "model_provider=\"maki\"", "-c",
                     "model_providers.maki={ name = \"maki\", base_url = \"{url}/v1\", "
                     "env_key = \"OPENAI_API_KEY\", wire_api = \"responses\" }" },
      .model_arguments = { "-c", "model=\"{model}\"" } },
    { .name = "opencode",
      .install = "npm install -g opencode-ai",
      .variables = { "OPENCODE_CONFIG_CONTENT={\"provider\":{" OPENCODE_PROVIDERS "}}" },
      .model_variables = { "OPENCODE_CONFIG_CONTENT={\"model\":\"maki/{model}\",\"provider\":"
                           "{" OPENCODE_PROVIDERS
                           ",\"maki\":{\"npm\":\"@ai-sdk/openai-compatible\","
                           "\"name\":\"maki\",\"options\":{\"baseURL\":\"{url}/v1\","
                           "\"apiKey\":\"{env:OPENAI_API_KEY}\"},"
                           "\"models\":{\"{model}\":{\"name\":\"{model}\"}}}}}" } },
    { .name = "pi",
      .install = "npm install -g @earendil-works/pi-coding-agent",
      .arguments = { "-e", "{directory}/pi.ts" },
      .model_arguments = { "--provider", "maki", "--model", "{model}" },
      .file = "pi.ts",
      .text = PI_PROVIDERS "}\n",
      .model_text = PI_PROVIDERS
      "  pi.registerProvider(\"maki\", {\n"
      "    baseUrl: \"{url}/v1\", apiKey: \"OPENAI_API_KEY\", api: \"openai-completions\",\n"
      "    models: [{ id: \"{model}\", name: \"{model}\", reasoning: false, input: [\"text\"],\n"
      "      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },\n"
      "      contextWindow: 128000, maxTokens: 16384 }],\n"
      "  });\n"
      "}\n" },
    { .name = "qwen",
      .install = "npm install -g @qwen-code/qwen-code",
      .variables = { "OPENAI_BASE_URL={url}/v1" },
      .arguments = { "--auth-type", "openai" },
      .model_variables = { "OPENAI_MODEL={model}" } },
    { .name = "gemini",
      .install = "npm install -g @google/gemini-cli",
      .variables = { "GOOGLE_GEMINI_BASE_URL={url}" },
      .model_variables = { "GEMINI_MODEL={model}" },
      .file = "gemini/.gemini/settings.json",
      .text = "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}}}\n",
      .model_text = "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"}}}\n",
      .needs_file = gemini_needs_home,
      .file_variable = "GEMINI_CLI_HOME={directory}/gemini" },
};

/* ---- the command line ---------------------------------------------------------------------------- */

typedef struct launch {
    const agent_row *agent;
    cli_url url;
    const char *given_url;
    const char *model; /* NULL: the agent's default */
    bool print;
    char directory[PATH_MAX];
    char *variables[2 * VALUES_MAX + 1]; /* NAME=VALUE, ended by NULL */
    char **arguments;                    /* the argv of the agent, ended by NULL */
    size_t variable_count, argument_count;
} launch;

/* Move the buffer into a C string, which the caller frees. */
static char *move_to_string(maki_buf *buf)
{
    maki_str text = cli_text(buf);
    char *copy = strndup(text.len ? text.ptr : "", text.len);
    maki_buf_free(buf);
    if (!copy) exit(maki_status_exit(MAKI_NOMEM));
    return copy;
}

/* `shape` with its placeholders replaced; the caller frees it. */
static char *expand(const launch *p, const char *shape)
{
    const struct {
        const char *name, *value;
    } placeholders[] = { { "{url}", p->url.text },
                         { "{model}", p->model ? p->model : "" },
                         { "{directory}", p->directory } };
    maki_buf text = cli_buf();
    while (*shape) {
        size_t i = 0;
        while (i < 3 && strncmp(shape, placeholders[i].name, strlen(placeholders[i].name)) != 0)
            i++;
        if (i < 3)
            maki_buf_add(&text, maki_str_of(placeholders[i].value));
        else
            maki_buf_add_byte(&text, *shape);
        shape += i < 3 ? strlen(placeholders[i].name) : 1;
    }
    return move_to_string(&text);
}

static void expand_all(const launch *p, const char *const *shapes, char **out, size_t *count)
{
    for (size_t i = 0; i < VALUES_MAX && shapes[i]; i++)
        out[(*count)++] = expand(p, shapes[i]);
}

/* `extra`: the arguments after --, for the agent. */
static void build_launch(launch *p, char **extra, int extra_count)
{
    const agent_row *agent = p->agent;
    p->arguments = calloc(2 * VALUES_MAX + (size_t)extra_count + 2, sizeof *p->arguments);
    if (!p->arguments) exit(maki_status_exit(MAKI_NOMEM));
    p->arguments[p->argument_count++] = expand(p, agent->name);
    expand_all(p, agent->variables, p->variables, &p->variable_count);
    expand_all(p, agent->arguments, p->arguments, &p->argument_count);
    if (p->model) { /* a later variable of the same name replaces the earlier one */
        expand_all(p, agent->model_variables, p->variables, &p->variable_count);
        expand_all(p, agent->model_arguments, p->arguments, &p->argument_count);
    }
    for (int i = 0; i < extra_count; i++) {
        maki_buf copy = cli_buf();
        maki_buf_add(&copy, maki_str_of(extra[i]));
        p->arguments[p->argument_count++] = move_to_string(&copy);
    }
}

static void free_launch(launch *p)
{
    for (size_t i = 0; i < p->variable_count; i++)
        free(p->variables[i]);
    for (size_t i = 0; i < p->argument_count; i++)
        free(p->arguments[i]);
    free(p->arguments);
}

/* ---- the agent's file ---------------------------------------------------------------------------- */

/* Write the agent's file, if it has one, atomically: another agent may be reading the old one. */
static bool write_file(launch *p)
{
    const agent_row *agent = p->agent;
    char path[PATH_MAX + 64];
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    if (!agent->file || (agent->needs_file && !agent->needs_file())) return true;
    if (agent->file_variable) {
        p->variables[p->variable_count++] = expand(p, agent->file_variable);
    }
    snprintf(path, sizeof path, "%s/%s", p->directory, agent->file);
    char *text = expand(p, p->model ? agent->model_text : agent->text);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    maki_status st = maki_make_directories(env.files, path, &err);
    *slash = '/';
    if (st == MAKI_OK) st = maki_file_replace(&env, path, maki_str_of(text), &err);
    if (st != MAKI_OK) fprintf(stderr, "maki connect: cannot write %s: %s\n", path, err.msg);
    free(text);
    return st == MAKI_OK;
}

/* ---- running ------------------------------------------------------------------------------------- */

/* Print an argument, in shell quotes if it needs them. */
static void print_quoted(const char *word)
{
    if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_=./:@,+") == strlen(word)) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*word);
    }
    putchar('\'');
}

/* Print NAME='VALUE'; with NAME in quotes a shell would run it as a command. */
static void print_variable(const char *variable)
{
    size_t name = strcspn(variable, "=") + 1;
    printf("%.*s", (int)name, variable);
    print_quoted(variable + name);
    putchar(' ');
}

static bool is_replaced(const launch *p, size_t index)
{
    size_t name = strcspn(p->variables[index], "=") + 1;
    for (size_t i = index + 1; i < p->variable_count; i++) {
        if (strncmp(p->variables[index], p->variables[i], name) == 0) return true;
    }
    return false;
}

static int print_launch(const launch *p)
{
    for (size_t i = 0; i < p->variable_count; i++) {
        if (!is_replaced(p, i)) print_variable(p->variables[i]);
    }
    for (size_t i = 0; i < p->argument_count; i++) {
        if (i) putchar(' ');
        print_quoted(p->arguments[i]);
    }
    putchar('\n');
    return 0;
}

static bool is_on_path(const char *command)
{
    char file[PATH_MAX];
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t len = strcspn(path, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)len, path, command);
        if (access(file, X_OK) == 0) return true;
        path += len + (path[len] == ':');
    }
    return false;
}

static bool daemon_answers(const launch *p)
{
    maki_buf answer = cli_buf();
    maki_err err = { 0 };
    int status =
        cli_http_request(&p->url, "GET", "/maki/health", "", (maki_str){ "", 0 }, &answer, &err);
    maki_buf_free(&answer);
    if (status == 200) return true;
    if (status) {
        fprintf(stderr,
                "maki connect: the server at %s is not Maki (HTTP %d at /maki/health)\n"
                "Name the daemon with --url or MAKI_URL.\n",
                p->url.text, status);
    } else {
        fprintf(stderr,
                "maki connect: nothing answers at %s\n"
                "Start the daemon with `maki serve`, or name it with --url or MAKI_URL.\n",
                err.msg);
    }
    return false;
}

static int run_agent(const launch *p)
{
    if (!is_on_path(p->agent->name)) {
        fprintf(stderr, "maki connect: %s is not on PATH; install it with: %s\n", p->agent->name,
                p->agent->install);
        return maki_status_exit(MAKI_NOTFOUND);
    }
    if (!daemon_answers(p)) return maki_status_exit(MAKI_UPSTREAM);
    for (size_t i = 0; i < p->variable_count; i++)
        putenv(p->variables[i]);
    execvp(p->arguments[0], p->arguments);
    fprintf(stderr, "maki connect: cannot run %s: %s\n", p->agent->name, strerror(errno));
    return maki_status_exit(MAKI_IO);
}

/* ---- the command --------------------------------------------------------------------------------- */

/* A name that needs no quoting in JSON, in a script and in a path. */
static bool is_model_name(const char *name)
{
    return *name &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@+") ==
               strlen(name);
}

static const maki_option flags[] = {
    { "--url URL", offsetof(launch, given_url), CLI_URL_HELP },
    { "--model NAME", offsetof(launch, model), "the model; default: the agent's own choice" },
    { "--print", offsetof(launch, print), "print the command line instead of running it" },
};

static int run(int argc, char **argv)
{
    launch p = { 0 };
    int separator = 2;
    size_t positional;
    p.agent = argc > 1 ? MAKI_TABLE_FIND(agents, maki_str_of(argv[1])) : NULL;
    if (!p.agent)
        return cli_unknown("connect", "agent", argc > 1 ? argv[1] : "",
                           "claude|codex|opencode|pi|qwen|gemini");
    while (separator < argc && !cli_streq(argv[separator], "--"))
        separator++;
    int code = cli_read_options(&cli_connect, separator - 1, argv + 1, &p, 1, &positional);
    if (code || positional)
        fprintf(stderr, "maki connect: the agent's own arguments come after --\n");
    if (code || positional) return maki_status_exit(MAKI_INVALID);
    if (separator < argc) separator++;
    if (p.model && !is_model_name(p.model)) {
        return cli_usage_error("connect", "not the name of a model: ", p.model);
    }
    code = cli_url_of_daemon("connect", p.given_url, &p.url);
    if (code) return code;
    char home[PATH_MAX - 16];
    if (!maki_home(home, sizeof home)) {
        return cli_usage_error("connect",
                               "there is no directory to write to: set MAKI_HOME or HOME", "");
    }
    snprintf(p.directory, sizeof p.directory, "%s/connect", home);
    build_launch(&p, argv + separator, argc - separator);
    code = write_file(&p) ? p.print ? print_launch(&p) : run_agent(&p) : maki_status_exit(MAKI_IO);
    free_launch(&p);
    return code;
}

const cli_command cli_connect = { .name = "connect",
                                  .help = "start an agent pointed at the daemon",
                                  .run = run,
                                  .usage = usage,
                                  CLI_OPTIONS(flags),
                                  .notes = notes };
