/* cmd_connect.c -- maki connect: start an agent pointed at the daemon.
 *
 * One row an agent says how it is told an address: by variables, by arguments, or by a file of ours that
 * an argument names.  Its own settings are never written, and its key stays where the agent has it.
 * What we write stands in the folder `connect` of Maki's own state; no secret is in it. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "http.h"

static const char usage[] =
    "maki connect AGENT [--url URL] [--model NAME] [--print] [-- ARGUMENTS...]\n"
    "\n"
    "Start an agent so that it talks through the daemon, which records its conversations.\n"
    "AGENT is claude, codex, opencode, pi, qwen or gemini.  Nothing is written to its own settings;\n"
    "its key is found where it always is.\n"
    "\n";

static const char notes[] = "\n"
                            "Examples:\n"
                            "  maki connect claude\n"
                            "  maki connect codex -- exec \"fix the failing test\"\n"
                            "  maki connect opencode --model qwen3-coder --print\n";

enum { WORDS_MAX = 12 };

/* In every text, {url} is the daemon's address, {model} what --model says and {folder} our own folder. */
typedef struct agent_row {
    const char *name; /* of the agent, and of its command */
    const char *install;
    const char *variables[WORDS_MAX]; /* NAME=VALUE */
    const char *arguments[WORDS_MAX]; /* before the user's own */
    const char *model_variables[WORDS_MAX];
    const char *model_arguments[WORDS_MAX]; /* with --model, after `arguments` */
    const char *file;                       /* to be written below {folder}; NULL: none */
    const char *text, *model_text;          /* what is in it, without and with --model */
    bool (*wanted)(void);                   /* is the file, and what names it, needed?  NULL: yes */
    const char *file_variable;              /* NAME=VALUE that names it; NULL: an argument does */
} agent_row;

/* Gemini CLI takes another address only with a key, and only its settings can choose that.  Somebody
 * whose settings do keeps them; else it gets a home of ours, with settings that do. */
static bool gemini_needs_home(void)
{
    char path[PATH_MAX], text[65536];
    const char *own = getenv("GEMINI_CLI_HOME"), *home = own && *own ? own : getenv("HOME");
    snprintf(path, sizeof path, "%s/.gemini/settings.json", home ? home : "");
    FILE *file = fopen(path, "re");
    if (!file) return true;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    return !strstr(text, "\"gemini-api-key\"");
}

#define OPENCODE_OWN                                          \
    "\"anthropic\":{\"options\":{\"baseURL\":\"{url}/v1\"}}," \
    "\"openai\":{\"options\":{\"baseURL\":\"{url}/v1\"}},"    \
    "\"google\":{\"options\":{\"baseURL\":\"{url}/v1beta\"}}"
#define PI_OWN                                                                            \
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
      .variables = { "OPENCODE_CONFIG_CONTENT={\"provider\":{" OPENCODE_OWN "}}" },
      .model_variables = { "OPENCODE_CONFIG_CONTENT={\"model\":\"maki/{model}\",\"provider\":"
                           "{" OPENCODE_OWN ",\"maki\":{\"npm\":\"@ai-sdk/openai-compatible\","
                           "\"name\":\"maki\",\"options\":{\"baseURL\":\"{url}/v1\","
                           "\"apiKey\":\"{env:OPENAI_API_KEY}\"},"
                           "\"models\":{\"{model}\":{\"name\":\"{model}\"}}}}}" } },
    { .name = "pi",
      .install = "npm install -g @earendil-works/pi-coding-agent",
      .arguments = { "-e", "{folder}/pi.ts" },
      .model_arguments = { "--provider", "maki", "--model", "{model}" },
      .file = "pi.ts",
      .text = PI_OWN "}\n",
      .model_text = PI_OWN
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
      .wanted = gemini_needs_home,
      .file_variable = "GEMINI_CLI_HOME={folder}/gemini" },
};

/* ---- what is to be run --------------------------------------------------------------------------- */

typedef struct plan {
    const agent_row *agent;
    cli_url url;
    const char *given_url;
    const char *model; /* NULL: the agent's own choice */
    bool print;
    char directory[PATH_MAX];
    char *variables[2 * WORDS_MAX + 1]; /* NAME=VALUE, ended by NULL */
    char **arguments;                   /* the command and all it is given, ended by NULL */
    size_t variable_count, argument_count;
} plan;

/* `shape` with its {words} filled in; the caller frees it. */
static char *filled(const plan *p, const char *shape)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out) exit(maki_status_exit(MAKI_NOMEM));
    while (*shape) {
        if (strncmp(shape, "{url}", 5) == 0) {
            fputs(p->url.text, out);
            shape += 5;
        } else if (strncmp(shape, "{model}", 7) == 0) {
            fputs(p->model ? p->model : "", out);
            shape += 7;
        } else if (strncmp(shape, "{folder}", 8) == 0) {
            fputs(p->directory, out);
            shape += 8;
        } else {
            fputc(*shape++, out);
        }
    }
    if (fclose(out) != 0 || !text) exit(maki_status_exit(MAKI_NOMEM));
    return text;
}

static void add_variables(plan *p, const char *const *shapes)
{
    for (size_t i = 0; i < WORDS_MAX && shapes[i]; i++)
        p->variables[p->variable_count++] = filled(p, shapes[i]);
}

static void add_arguments(plan *p, const char *const *shapes)
{
    for (size_t i = 0; i < WORDS_MAX && shapes[i]; i++)
        p->arguments[p->argument_count++] = filled(p, shapes[i]);
}

static void make_plan(plan *p, int given, char **own)
{
    p->arguments = calloc(2 * WORDS_MAX + (size_t)given + 2, sizeof *p->arguments);
    if (!p->arguments) exit(maki_status_exit(MAKI_NOMEM));
    p->arguments[p->argument_count++] = filled(p, p->agent->name);
    add_variables(p, p->agent->variables);
    add_arguments(p, p->agent->arguments);
    if (p->model) add_variables(p, p->agent->model_variables); /* a later one of that name counts */
    if (p->model) add_arguments(p, p->agent->model_arguments);
    for (int i = 0; i < given; i++) {
        char *copy = strdup(own[i]);
        if (!copy) exit(maki_status_exit(MAKI_NOMEM));
        p->arguments[p->argument_count++] = copy;
    }
}

static void free_plan(plan *p)
{
    for (size_t i = 0; i < p->variable_count; i++)
        free(p->variables[i]);
    for (size_t i = 0; i < p->argument_count; i++)
        free(p->arguments[i]);
    free(p->arguments);
}

/* ---- our own file -------------------------------------------------------------------------------- */

/* Every folder on the way to `path`. */
static bool make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) return false;
    }
    return true;
}

/* Write the agent's file, if it has one.  Whole or not at all: an agent may be reading the last one. */
static bool write_file(plan *p)
{
    const agent_row *agent = p->agent;
    char path[PATH_MAX + 64], fresh[PATH_MAX + 80];
    if (!agent->file || (agent->wanted && !agent->wanted())) return true;
    if (agent->file_variable) {
        p->variables[p->variable_count++] = filled(p, agent->file_variable);
    }
    snprintf(path, sizeof path, "%s/%s", p->directory, agent->file);
    snprintf(fresh, sizeof fresh, "%s.%d", path, (int)getpid());
    char *text = filled(p, p->model ? agent->model_text : agent->text);
    FILE *out = make_directories(path) ? fopen(fresh, "we") : NULL;
    bool good = out && fputs(text, out) >= 0;
    if (out && fclose(out) != 0) good = false;
    good = good && rename(fresh, path) == 0;
    if (!good) {
        fprintf(stderr, "maki connect: cannot write %s: %s\n", path, strerror(errno));
        unlink(fresh);
    }
    free(text);
    return good;
}

/* ---- running it ---------------------------------------------------------------------------------- */

/* A word as a shell reads it. */
static void print_word(const char *word)
{
    if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_=./:@,+") == strlen(word)) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word; word++) {
        if (*word == '\'') {
            fputs("'\\''", stdout);
        } else {
            putchar(*word);
        }
    }
    putchar('\'');
}

/* The value of NAME=VALUE is quoted, its name is not: in quotes it would be a command. */
static void print_variable(const char *variable)
{
    size_t name = strcspn(variable, "=") + 1;
    printf("%.*s", (int)name, variable);
    print_word(variable + name);
    putchar(' ');
}

static bool replaced_later(const plan *p, size_t at)
{
    size_t name = strcspn(p->variables[at], "=") + 1;
    for (size_t i = at + 1; i < p->variable_count; i++) {
        if (strncmp(p->variables[at], p->variables[i], name) == 0) return true;
    }
    return false;
}

static int print_plan(const plan *p)
{
    for (size_t i = 0; i < p->variable_count; i++) {
        if (!replaced_later(p, i)) print_variable(p->variables[i]);
    }
    for (size_t i = 0; i < p->argument_count; i++) {
        if (i) putchar(' ');
        print_word(p->arguments[i]);
    }
    putchar('\n');
    return 0;
}

static bool on_path(const char *command)
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

/* Is it the daemon that answers there? */
static bool daemon_answers(const plan *p)
{
    maki_buf answer = cli_buf();
    maki_err err = { 0 };
    int status = cli_http(&p->url, "GET", "/maki/health", "", (maki_str){ "", 0 }, &answer, &err);
    maki_buf_free(&answer);
    if (status == 200) return true;
    if (status) {
        fprintf(stderr,
                "maki connect: what answers at %s is not Maki (HTTP %d at /maki/health)\n"
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

static int run_plan(const plan *p)
{
    if (!on_path(p->agent->name)) {
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

static const agent_row *find_agent(const char *name)
{
    for (size_t i = 0; i < sizeof agents / sizeof agents[0]; i++) {
        if (cli_is(agents[i].name, name)) return &agents[i];
    }
    return NULL;
}

/* What may stand in JSON, in a script and in a path without being anything else. */
static bool model_is_plain(const char *name)
{
    return *name &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@+") ==
               strlen(name);
}

static const maki_option flags[] = {
    { "--url URL", offsetof(plan, given_url), "the daemon ($MAKI_URL, else " CLI_DAEMON_URL ")" },
    { "--model NAME", offsetof(plan, model),
      "the model to ask for; without it, the agent's own choice" },
    { "--print", offsetof(plan, print), "show what would be run, and do not run it" },
};

static int run(int argc, char **argv)
{
    plan p = { 0 };
    int at = 2;
    size_t words;
    if (argc < 2) return cli_misuse("connect", "which agent?", "");
    p.agent = find_agent(argv[1]);
    if (!p.agent) {
        return cli_misuse("connect",
                          "no such agent (claude, codex, opencode, pi, qwen, gemini): ", argv[1]);
    }
    while (at < argc && !cli_is(argv[at], "--"))
        at++;
    int code = cli_read(&cli_connect, at - 1, argv + 1, &p, 1, &words);
    if (code || words) fprintf(stderr, "maki connect: the agent's own arguments come after --\n");
    if (code || words) return maki_status_exit(MAKI_INVALID);
    if (at < argc) at++;
    if (p.model && !model_is_plain(p.model)) {
        return cli_misuse("connect", "not the name of a model: ", p.model);
    }
    if (!cli_url_of_daemon(p.given_url, &p.url)) {
        return cli_misuse("connect", "the daemon's address is http://HOST:PORT, not ",
                          p.given_url ? p.given_url : getenv("MAKI_URL"));
    }
    char home[PATH_MAX - 16];
    if (!maki_home(home, sizeof home)) {
        return cli_misuse("connect", "there is no folder to write to: set MAKI_HOME or HOME", "");
    }
    snprintf(p.directory, sizeof p.directory, "%s/connect", home);
    make_plan(&p, argc - at, argv + at);
    code = write_file(&p) ? p.print ? print_plan(&p) : run_plan(&p) : maki_status_exit(MAKI_IO);
    free_plan(&p);
    return code;
}

const cli_command cli_connect = { .name = "connect",
                                  .help = "start an agent pointed at the daemon",
                                  .run = run,
                                  .usage = usage,
                                  CLI_OPTIONS(flags),
                                  .notes = notes };
