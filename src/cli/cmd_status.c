/* cmd_status.c -- maki status and maki stop: find the running daemon by /maki/health, print its state or stop it. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json_access.h"
#include "base/limits.h"
#include "base/str_util.h"
#include "cli.h"
#include "http.h"

static const char status_usage[] =
    "maki status [--url URL] [--json]\n"
    "\n"
    "Where the daemon runs, since when, whether it records, and what failed last.\n"
    "\n";
static const char status_notes[] = "\n"
                                   "Exit code 11 when none answers.\n"
                                   "Example:\n"
                                   "  maki status\n";
static const char stop_usage[] =
    "maki stop [--url URL]\n"
    "\n"
    "Stop the daemon: it finishes the requests in progress, and no conversation is lost.\n"
    "\n";
static const char stop_notes[] = "\n"
                                 "Example:\n"
                                 "  maki stop\n";

typedef struct request {
    const char *url;
    bool json;
} request;

static const maki_option flags[] = {
    { "--url URL", offsetof(request, url), CLI_URL_HELP },
    { "--json", offsetof(request, json), "as JSON, the answer of /maki/health" },
};

/* Request /maki/health.  Returns 0 and sets *url and *health, or returns the exit code after printing the error. */
static int get_health(const cli_command *command, const request *r, cli_url *url, maki_buf *body,
                      maki_str *health)
{
    maki_err err = { 0 };
    int code = cli_url_of_daemon(command->name, r->url, url);
    if (code) return code;
    int status = cli_http_request(url, "GET", "/maki/health", "", MAKI_LIT(""), body, &err);
    if (status == 200 && maki_json_check(cli_text(body), health, &err) == MAKI_OK) return 0;
    if (status)
        maki_fail(&err, MAKI_UPSTREAM, "the server at %s is not Maki, or wants a token (HTTP %d)",
                  url->text, status);
    fprintf(stderr, "maki %s: no daemon answers: %s\nStart it with `maki serve`.\n", command->name,
            err.msg);
    return maki_status_exit(MAKI_UPSTREAM);
}

static void print_time(double ms)
{
    char text[40];
    struct tm local;
    time_t seconds = (time_t)(ms / 1000);
    if (localtime_r(&seconds, &local) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local))
        fputs(text, stdout);
}

static double number_field(maki_str health, const char *field)
{
    maki_str value = maki_json_field(health, field);
    return value.len ? maki_json_double(value) : 0;
}

static void print_text(const char *label, maki_str object, const char *field)
{
    char text[600];
    size_t n = maki_json_copy_text(maki_json_field(object, field), text, sizeof text);
    printf("%s%.*s", label, (int)n, text);
}

static void print_status(const cli_url *url, maki_str health)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    maki_str failure = maki_json_field(health, "lastFailure");
    bool recording = maki_json_true(maki_json_field(health, "recording"));
    printf("%smaki", s.bold);
    print_text(" ", health, "version");
    printf("%s at %s/, process %.0f, since ", s.off, url->text, number_field(health, "pid"));
    print_time(number_field(health, "started"));
    print_text(recording ? "\nrecords into " : "\ndoes not record into ", health, "home");
    if (!recording) print_text(": ", health, "why");
    printf("\nrequests %.0f, of which %.0f were recorded; %.0f in progress\n",
           number_field(health, "requests"), number_field(health, "exchanges"),
           number_field(health, "open"));
    if (maki_json_kind_of(failure) != MAKI_JSON_OBJECT) {
        printf("nothing failed since it was started\n");
        return;
    }
    printf("%slast failure%s ", s.yellow, s.off);
    print_time(number_field(failure, "ts"));
    print_text(" ", failure, "text");
    printf("\n");
}

static int run_status(int argc, char **argv)
{
    request r = { 0 };
    cli_url url;
    size_t positional;
    maki_str health;
    maki_buf body = cli_buf();
    int code = cli_read_options(&cli_status, argc, argv, &r, 0, &positional);
    if (code == 0) code = get_health(&cli_status, &r, &url, &body, &health);
    if (code == 0 && r.json)
        printf("%.*s\n", MAKI_PRINTED(health));
    else if (code == 0)
        print_status(&url, health);
    maki_buf_free(&body);
    return code;
}

/* Wait until the daemon has removed its pid file, the last step of its stop; serve.timeouts.stop limits the duration. */
static void wait_for_end(pid_t pid)
{
    struct timespec interval = { .tv_nsec = 20 * 1000 * 1000 };
    cli_url url;
    while (cli_daemon_pid(&url) == pid)
        nanosleep(&interval, NULL);
}

/* Was the daemon named, or is it that of this state directory?  Another one may listen at the default address. */
static bool may_stop(const request *r, const cli_url *url, maki_str health, maki_err *err)
{
    char home[600], own_home[MAKI_PATH_MAX];
    cli_url own;
    pid_t pid = (pid_t)number_field(health, "pid");
    const char *variable = getenv("MAKI_URL");
    bool named = r->url || (variable && *variable);
    home[maki_json_copy_text(maki_json_field(health, "home"), home, sizeof home - 1)] = '\0';
    bool same = maki_home(own_home, sizeof own_home) && strcmp(home, own_home) == 0;
    if (named || same || cli_daemon_pid(&own) == pid) return true;
    (void)!maki_refuse(err, "OTHER_HOME",
                       "the daemon at %.60s records into %.80s; maki stop --url %.60s stops it",
                       url->text, home, url->text);
    return false;
}

static int run_stop(int argc, char **argv)
{
    request r = { 0 };
    cli_url url;
    size_t positional;
    maki_str health;
    maki_err err = { 0 };
    maki_buf body = cli_buf();
    int code = cli_read_options(&cli_stop_daemon, argc, argv, &r, 0, &positional);
    if (code == 0) code = get_health(&cli_stop_daemon, &r, &url, &body, &health);
    if (code == 0) {
        pid_t pid = (pid_t)number_field(health, "pid");
        if (!may_stop(&r, &url, health, &err)) {
            code = cli_fail("stop", &err);
        } else if (pid <= 0 || kill(pid, SIGTERM) != 0) {
            maki_fail_errno(&err, "cannot signal the daemon");
            code = cli_fail("stop", &err);
        } else {
            wait_for_end(pid);
            printf("stopped the daemon at %s (process %ld)\n", url.text, (long)pid);
        }
    }
    maki_buf_free(&body);
    return code;
}

const cli_command cli_status = { .name = "status",
                                 .help = "where the daemon runs, what it records, what failed last",
                                 .run = run_status,
                                 .usage = status_usage,
                                 CLI_OPTIONS(flags),
                                 .notes = status_notes };
const cli_command cli_stop_daemon = { .name = "stop",
                                      .help = "stop the daemon",
                                      .run = run_stop,
                                      .usage = stop_usage,
                                      .options = flags,
                                      .option_count = 1,
                                      .notes = stop_notes };
