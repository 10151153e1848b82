/* cmd_config.c -- maki config: which settings are in force, and is the file right? */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "config_reference.h"
#include "json_input.h"

static const char usage[] =
    "maki config show [PATH]      the settings in force (those below PATH) and where each came from\n"
    "maki config check [FILE]     is it right?  All mistakes with line, column and what was meant; exit 2\n"
    "maki config reference        the page of all settings, docs/configuration.md\n"
    "\n"
    "  --config FILE              this file, instead of $MAKI_CONFIG, ./maki.yaml or\n"
    "                             $XDG_CONFIG_HOME/maki/maki.yaml\n"
    "  --json                     the answer as JSON\n"
    "\n"
    "Secrets are never shown.\n"
    "\n"
    "Example:\n"
    "  echo 'autoCondenseContextPercent: 80' >maki.yaml\n"
    "  maki config check && maki config show autoCondenseContextPercent\n";

typedef struct request {
    const char *verb, *argument, *file;
    bool json;
} request;

/* ---- problems ------------------------------------------------------------------------------------------ */

typedef struct tally {
    const request *request;
    size_t mistakes, warnings;
} tally;

static void print_problem_json(const maki_config_problem *p, bool first)
{
    json_input in = { 0 };
    char number[24];
    json_input_begin(&in);
    json_input_raw(&in, "warning", p->warning ? "true" : "false");
    if (p->file) json_input_text(&in, "file", p->file);
    if (p->line) {
        snprintf(number, sizeof number, "%zu", p->line);
        json_input_raw(&in, "line", number);
        snprintf(number, sizeof number, "%zu", p->column);
        json_input_raw(&in, "column", number);
    }
    json_input_text(&in, "message", p->words.ptr);
    json_input_end(&in);
    printf("%s%.*s", first ? "" : ",", (int)json_input_str(&in).len, json_input_str(&in).ptr);
    json_input_free(&in);
}

static void on_problem(void *ctx, const maki_config_problem *p)
{
    tally *t = ctx;
    bool first = t->mistakes + t->warnings == 0;
    bool check = cli_is(t->request->verb, "check");
    if (p->warning)
        t->warnings++;
    else
        t->mistakes++;
    if (check && t->request->json)
        print_problem_json(p, first);
    else
        cli_print_problem(p);
}

static maki_status open_config(const request *r, tally *t, maki_config **out, maki_err *err)
{
    maki_config_options options = { sizeof options, maki_env_system(), r->file,
                                    environ,        on_problem,        t };
    *t = (tally){ .request = r };
    return maki_config_open(&options, out, err);
}

/* ---- check --------------------------------------------------------------------------------------------- */

static int run_check(const request *r)
{
    maki_config *config = NULL;
    maki_err err = { 0 };
    tally t;
    if (r->json) printf("{\"problems\":[");
    maki_status st = open_config(r, &t, &config, &err);
    if (r->json) printf("],\"ok\":%s}\n", st == MAKI_OK ? "true" : "false");
    if (st != MAKI_OK) {
        if (t.mistakes == 0) return cli_fail("config check", &err);
        if (!r->json) fprintf(stderr, "%zu mistake%s\n", t.mistakes, t.mistakes == 1 ? "" : "s");
        return maki_status_exit(st);
    }
    const char *file = maki_config_file(config);
    if (!r->json && file) printf("%s: ok\n", file);
    if (!r->json && !file) printf("ok: there is no maki.yaml, all settings have their defaults\n");
    maki_config_close(config);
    return 0;
}

/* ---- show ---------------------------------------------------------------------------------------------- */

static void print_source(const maki_config_value *v, const char *file)
{
    if (v->source == MAKI_CONFIG_FILE)
        printf("%s:%zu", file, v->line);
    else if (v->source == MAKI_CONFIG_ENVIRONMENT)
        printf("$%s", v->variable);
    else
        printf("default");
}

/* How many columns of a terminal a text takes: characters of East Asia and emoji take two. */
static size_t columns(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c & 0xc0) != 0x80) n += c >= 0xe1 && c != 0xe2 ? 2 : 1;
    }
    return n;
}

static void print_padded(const char *text, size_t len, size_t width)
{
    size_t cut = len;
    while (columns(text, cut) > width) {
        do
            cut--;
        while (((unsigned char)text[cut] & 0xc0) == 0x80);
    }
    printf("%.*s%*s  ", (int)cut, text, (int)(width - columns(text, cut)), "");
}

static void print_value(const maki_config_value *v, const char *file, bool table)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    if (!table) { /* for cut and awk */
        printf("%s\t%.*s\t", v->path, (int)v->text.len, v->text.ptr);
    } else {
        printf("%s", v->source == MAKI_CONFIG_DEFAULT ? s.dim : s.bold);
        print_padded(v->path, strlen(v->path), 42);
        printf("%s", s.off);
        print_padded(v->text.ptr, v->text.len, 40);
    }
    print_source(v, file);
    printf("\n");
}

/* PATH itself, or what lies below it. */
static bool is_below(const char *path, const char *above)
{
    size_t n = above ? strlen(above) : 0;
    return n == 0 || (strncmp(path, above, n) == 0 && (path[n] == '\0' || path[n] == '.'));
}

static int show_table(const maki_config *config, const request *r)
{
    maki_config_value value;
    size_t shown = 0;
    for (size_t cursor = 0; maki_config_next_value(config, &cursor, &value);) {
        if (!is_below(value.path, r->argument)) continue;
        print_value(&value, maki_config_file(config), isatty(STDOUT_FILENO));
        shown++;
    }
    if (shown) return 0;
    fprintf(stderr, "maki config show: nothing is set at %s; see maki config reference\n",
            r->argument);
    return maki_status_exit(MAKI_NOTFOUND);
}

static int run_show(const request *r)
{
    maki_config *config = NULL;
    maki_err err = { 0 };
    tally t;
    maki_status st = open_config(r, &t, &config, &err);
    if (st != MAKI_OK) return t.mistakes ? maki_status_exit(st) : cli_fail("config show", &err);
    int code = 0;
    if (r->json) {
        st = maki_config_write(config, cli_stdout(), &err);
        printf("\n");
        if (st != MAKI_OK) code = cli_fail("config show", &err);
    } else {
        code = show_table(config, r);
    }
    maki_config_close(config);
    return code;
}

/* ---- the command line ---------------------------------------------------------------------------------- */

static int read_arguments(int argc, char **argv, request *r)
{
    for (int i = 1; i < argc; i++) {
        if (cli_is(argv[i], "--json")) {
            r->json = true;
        } else if (cli_is(argv[i], "--config") && i + 1 < argc) {
            r->file = argv[++i];
        } else if (strncmp(argv[i], "--config=", 9) == 0) {
            r->file = argv[i] + 9;
        } else if (argv[i][0] == '-') {
            return cli_misuse("config",
                              "there is no such option, or its value is missing: ", argv[i]);
        } else if (!r->verb) {
            r->verb = argv[i];
        } else if (!r->argument) {
            r->argument = argv[i];
        } else {
            return cli_misuse("config", "one argument too many: ", argv[i]);
        }
    }
    return 0;
}

static int run(int argc, char **argv)
{
    request r = { 0 };
    int code = read_arguments(argc, argv, &r);
    if (code) return code;
    if (!r.verb) return cli_misuse("config", "show, check or reference?", "");
    if (cli_is(r.verb, "show")) return run_show(&r);
    if (cli_is(r.verb, "check")) {
        if (r.argument) r.file = r.argument;
        return run_check(&r);
    }
    if (cli_is(r.verb, "reference")) {
        config_reference_print();
        return 0;
    }
    return cli_misuse("config", "show, check or reference, not ", r.verb);
}

const cli_command cli_config = { .name = "config",
                                 .help = "which settings are in force; is maki.yaml right?",
                                 .run = run,
                                 .usage = usage };
