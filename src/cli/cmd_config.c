/* cmd_config.c -- maki config: show the effective settings, check maki.yaml, print the reference page.
 *
 * An invalid maki.yaml has no effective settings: show prints its errors and exits with 2, as every other command does. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_print.h"
#include "base/text.h"
#include "cli.h"

static const char usage[] =
    "maki config show [PATH]      the effective settings, or those below PATH, and where each value came from\n"
    "maki config check [FILE]     every error with its line, column and a suggestion; exit code 2 if there is one\n"
    "maki config reference        the page of all settings (docs/configuration.md)\n"
    "\n";

static const char notes[] = "\n"
                            "Secrets are never shown.\n"
                            "\n"
                            "Example:\n"
                            "  echo 'autoCondenseContextPercent: 80' >maki.yaml\n"
                            "  maki config check && maki config show autoCondenseContextPercent\n";

typedef struct request {
    const char *verb, *argument, *file;
    bool json;
} request;

static const maki_option flags[] = {
    { "--config FILE", offsetof(request, file),
      "default $MAKI_CONFIG, else ./maki.yaml, else\n$XDG_CONFIG_HOME/maki/maki.yaml" },
    { "--json", offsetof(request, json), "print JSON" },
};

/* ---- problems ------------------------------------------------------------------------------------------ */

typedef struct problems {
    const request *request;
    size_t errors, warnings;
} problems;

static void print_problem_json(const maki_config_problem *p, bool first)
{
    maki_jw w;
    if (!first) printf(",");
    fflush(stdout);
    maki_jw_init(&w, cli_stdout(), NULL);
    maki_jw_print(&w, "{'warning':%b,'file':%z,'line':%I,'column':%I,'message':%s}", p->warning,
                  p->file, p->line, p->line ? p->column : 0, p->message);
    (void)!maki_jw_end(&w); /* main.c reports a failed write */
}

static void on_problem(void *ctx, const maki_config_problem *p)
{
    problems *found = ctx;
    bool first = found->errors + found->warnings == 0;
    bool check = cli_streq(found->request->verb, "check");
    if (p->warning)
        found->warnings++;
    else
        found->errors++;
    if (check && found->request->json)
        print_problem_json(p, first);
    else
        cli_print_problem(p);
}

static maki_status open_config(const request *r, problems *found, maki_config **out, maki_err *err)
{
    maki_config_options options = { sizeof options, maki_env_system(), r->file,
                                    environ,        on_problem,        found };
    *found = (problems){ .request = r };
    return maki_config_open(&options, out, err);
}

/* ---- check --------------------------------------------------------------------------------------------- */

static int run_check(const request *r)
{
    maki_config *config = NULL;
    maki_err err = { 0 };
    problems found;
    if (r->json) printf("{\"problems\":[");
    maki_status st = open_config(r, &found, &config, &err);
    if (r->json) printf("],\"ok\":%s}\n", st == MAKI_OK ? "true" : "false");
    if (st != MAKI_OK) {
        if (found.errors == 0) return cli_fail("config check", &err);
        if (!r->json)
            fprintf(stderr, "%zu mistake%s\n", found.errors, found.errors == 1 ? "" : "s");
        return maki_status_exit(st);
    }
    const char *file = maki_config_file(config);
    if (!r->json && file) printf("%s: ok\n", file);
    if (!r->json && !file) printf("ok: no maki.yaml, so all settings have their defaults\n");
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

/* The width in terminal columns: two for East Asian characters and emoji. */
static size_t display_width(const char *text, size_t len)
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
    size_t shown = len;
    while (display_width(text, shown) > width)
        shown = maki_utf8_truncate((maki_str){ text, shown }, shown - 1).len;
    printf("%.*s%*s  ", (int)shown, text, (int)(width - display_width(text, shown)), "");
}

static void print_value(const maki_config_value *v, const char *file, bool table)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    if (!table) { /* for cut(1) and awk(1) */
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

/* Is `path` the setting `prefix`, or one below it?  NULL: true. */
static bool has_prefix(const char *path, const char *prefix)
{
    size_t n = prefix ? strlen(prefix) : 0;
    return n == 0 || (strncmp(path, prefix, n) == 0 && (path[n] == '\0' || path[n] == '.'));
}

static int show_table(const maki_config *config, const request *r)
{
    maki_config_value value;
    size_t shown = 0;
    for (size_t cursor = 0; maki_config_next_value(config, &cursor, &value);) {
        if (!has_prefix(value.path, r->argument)) continue;
        print_value(&value, maki_config_file(config), isatty(STDOUT_FILENO));
        shown++;
    }
    if (shown) return 0;
    fprintf(stderr, "maki config show: unknown setting %s; see maki config reference\n",
            r->argument);
    return maki_status_exit(MAKI_NOTFOUND);
}

static int run_show(const request *r)
{
    maki_config *config = NULL;
    maki_err err = { 0 };
    problems found;
    maki_status st = open_config(r, &found, &config, &err);
    if (st != MAKI_OK) return found.errors ? maki_status_exit(st) : cli_fail("config show", &err);
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

static int run(int argc, char **argv)
{
    request r = { 0 };
    size_t positional;
    int code = cli_read_options(&cli_config, argc, argv, &r, 2, &positional);
    if (code) return code;
    r.verb = positional ? argv[0] : "";
    if (positional > 1) r.argument = argv[1];
    if (cli_streq(r.verb, "show")) return run_show(&r);
    if (cli_streq(r.verb, "check")) {
        if (r.argument) r.file = r.argument;
        return run_check(&r);
    }
    if (cli_streq(r.verb, "reference")) {
        cli_print_config_reference();
        return 0;
    }
    return cli_unknown("config", "subcommand", r.verb, "show|check|reference");
}

const cli_command cli_config = { .name = "config",
                                 .help = "show the effective settings; check maki.yaml",
                                 .run = run,
                                 .usage = usage,
                                 CLI_OPTIONS(flags),
                                 .notes = notes };
