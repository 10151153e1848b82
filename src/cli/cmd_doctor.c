/* cmd_doctor.c -- maki doctor: self test of the operations, a conversation, the configuration, the daemon and the
 * provider.
 *
 * Prints a line for each check and continues after a failure; the exit code is that of the first.  What it writes is in a
 * temporary directory, which is removed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "cli.h"
#include "http.h"

static const char usage[] =
    "maki doctor    self test: does Maki work on this machine?\n"
    "\n"
    "Runs the example of every operation; writes a conversation in a temporary directory, changes it, undoes\n"
    "the changes and verifies it.  Checks the configuration, the state directory, the daemon and its port, and\n"
    "whether the provider of the configuration has what it needs.\n"
    "\n"
    "Example:\n"
    "  maki doctor\n";

static int exit_code; /* of the first failure */

static void report(const char *what, maki_status st, const char *detail)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    printf("%s%-6s%s %s%s%s\n", st == MAKI_OK ? s.green : s.yellow, st == MAKI_OK ? "ok" : "FAILED",
           s.off, what, detail[0] ? ": " : "", detail);
    if (st != MAKI_OK && exit_code == 0) exit_code = maki_status_exit(st);
}

static maki_status run_op(maki *m, const char *op, const char *input, maki_err *err)
{
    maki_buf output = cli_buf();
    maki_str answer;
    maki_status st = cli_run_op(m, op, (maki_str){ input, strlen(input) }, &output, &answer, err);
    maki_buf_free(&output);
    return st;
}

static void check_operations(maki *m)
{
    char detail[80];
    size_t count = 0;
    for (size_t i = 0; i < maki_op_count(); i++) {
        const maki_op_info *op = maki_op_at(i);
        maki_err err = { 0 };
        if (strcmp(op->forms[0].class_name, "pure") != 0) continue;
        maki_status st = run_op(m, op->name, op->forms[0].example, &err);
        if (st != MAKI_OK) report(op->name, st, err.msg);
        count++;
    }
    snprintf(detail, sizeof detail, "%zu examples", count);
    report("operations", MAKI_OK, detail);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1000 + (double)t.tv_nsec / 1e6;
}

static maki_status append_messages(maki *m, maki_err *err)
{
    enum { COUNT = 12 };
    maki_conversation *c = NULL;
    char detail[80];
    maki_status st = maki_conversation_open(m, "talk.jsonl", MAKI_OPEN_CREATE, &c, err);
    double start = now_ms();
    for (int i = 0; st == MAKI_OK && i < COUNT; i++) {
        char message[600];
        int n = snprintf(message, sizeof message,
                         "{\"role\":\"%s\",\"content\":\"%d 吾輩は猫である。%0400d\",\"ts\":%d}",
                         i % 2 ? "assistant" : "user", i, i, 1000 * (i + 1));
        st = maki_conversation_append(c, (maki_str){ message, (size_t)n }, NULL, err);
    }
    snprintf(detail, sizeof detail, "%.2f ms for a durable message", (now_ms() - start) / COUNT);
    maki_conversation_close(c);
    report("append", st, st == MAKI_OK ? detail : err->msg);
    return st;
}

static void check_conversation(maki *m)
{
    static const char *const steps[][2] = {
        { "history.condense", "{\"conversation\":\"talk.jsonl\"}" },
        { "history.undo", "{\"conversation\":\"talk.jsonl\"}" },
        { "history.truncate", "{\"conversation\":\"talk.jsonl\"}" },
        { "history.rewind", "{\"conversation\":\"talk.jsonl\",\"seq\":4}" },
        { "history.undo", "{\"conversation\":\"talk.jsonl\"}" },
    };
    maki_err err = { 0 };
    maki_verification proof;
    if (append_messages(m, &err) != MAKI_OK) return;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        maki_status st = run_op(m, steps[i][0], steps[i][1], &err);
        report(steps[i][0], st, st == MAKI_OK ? "" : err.msg);
    }
    maki_status st = maki_conversation_verify(m, "talk.jsonl", false, NULL, NULL, &proof, &err);
    report("verify", st, st == MAKI_OK ? "" : err.msg);
}

/* ---- the environment --------------------------------------------------------------------------------- */

static void check_home(void)
{
    char path[MAKI_PATH_MAX];
    maki_err err = { 0 };
    bool found = maki_home(path, sizeof path);
    if (!found) maki_fail(&err, MAKI_NOTFOUND, "set MAKI_HOME or HOME");
    maki_env env = maki_env_system();
    if (found && maki_make_directories(env.files, path, &err) == MAKI_OK &&
        access(path, R_OK | W_OK | X_OK) != 0)
        maki_fail_errno(&err, path);
    report("state directory", err.status, err.status == MAKI_OK ? path : err.msg);
}

/* A daemon that does not run is no failure; another program at its address is one. */
static void check_daemon(void)
{
    cli_url url;
    char detail[400];
    maki_str health;
    maki_buf body = cli_buf();
    maki_err err = { 0 };
    if (cli_url_of_daemon("doctor", NULL, &url) != 0) {
        report("daemon", MAKI_INVALID, "MAKI_URL is not http://HOST:PORT");
        return;
    }
    int status = cli_http_request(&url, "GET", "/maki/health", "", MAKI_LIT(""), &body, &err);
    bool is_maki = status == 200 && maki_json_check(cli_text(&body), &health, &err) == MAKI_OK &&
                   maki_json_field(health, "recording").len;
    if (is_maki && maki_json_true(maki_json_field(health, "recording"))) {
        snprintf(detail, sizeof detail, "runs at %s and records", url.text);
        report("daemon", MAKI_OK, detail);
    } else if (is_maki) {
        snprintf(detail, sizeof detail, "runs at %s and does not record; see maki status",
                 url.text);
        report("daemon", MAKI_IO, detail);
    } else if (status) {
        snprintf(
            detail, sizeof detail,
            "another program listens at %s, or it requires a token; maki serve --port N picks another port",
            url.text);
        report("daemon", MAKI_CONFLICT, detail);
    } else {
        snprintf(detail, sizeof detail, "does not run; maki serve starts it at %s", url.text);
        report("daemon", MAKI_OK, detail);
    }
    maki_buf_free(&body);
}

/* The provider that answers the chat and writes summaries: its key, its model, and whether it can be reached. */
static void check_provider(cli_handle *h)
{
    char detail[300];
    maki_err err = { 0 };
    maki_model_found found = { 0 };
    uint64_t window = 0;
    maki_model_name name = { .provider = maki_config_text(h->config, "llm.provider") };
    if (name.provider.len == 0) {
        report("provider", MAKI_OK,
               "none configured (llm.provider): no chat, summaries without a model");
        return;
    }
    maki_status st = h->model.find(&h->model, &name, &found, &err);
    if (st == MAKI_OK) st = h->model.window(&h->model, &name, NULL, NULL, &window, &err);
    snprintf(detail, sizeof detail, "%.*s, model %s", MAKI_PRINTED(name.provider), found.model);
    report("provider", st, st == MAKI_OK ? detail : err.msg);
}

static void check_settings(void)
{
    cli_handle h;
    int code = cli_open(&h, "doctor");
    const char *file = code ? NULL : maki_config_file(h.config);
    report("configuration", code ? MAKI_INVALID : MAKI_OK,
           code   ? "maki config check lists all mistakes"
           : file ? file
                  : "no maki.yaml: the defaults");
    check_home();
    check_daemon();
    if (code) return;
    check_provider(&h);
    cli_close(&h);
}

static int run(int argc, char **argv)
{
    char directory[] = "/tmp/maki-doctor-XXXXXX";
    static const char *const files[] = { "talk.jsonl", "talk.events.jsonl", "talk.idx" };
    maki *m = NULL;
    maki_err err = { 0 };
    size_t positional;
    int code = cli_read_options(&cli_doctor, argc, argv, NULL, 0, &positional);
    if (code) return code;
    if (maki_open(NULL, &m, &err) != MAKI_OK) return cli_fail("doctor", &err);
    printf("maki %s\n", maki_version());
    check_settings(); /* before the working directory changes */
    check_operations(m);
    if (!mkdtemp(directory) || chdir(directory) != 0) {
        report("a temporary directory", MAKI_IO, "/tmp is not writable");
    } else {
        check_conversation(m);
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
            unlink(files[i]);
        if (chdir("/") == 0) rmdir(directory);
    }
    maki_close(m);
    return exit_code;
}

const cli_command cli_doctor = { .name = "doctor",
                                 .help = "self test: does Maki work on this machine?",
                                 .run = run,
                                 .usage = usage };
