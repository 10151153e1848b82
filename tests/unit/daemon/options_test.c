/* options_test.c -- the command line of the daemon. */
#include "daemon/options.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* clang-format off */
static const struct option_row { const char *name, *args[5]; maki_status status; const char *words; } rows[] = {
    { "nothing",                   { NULL }, MAKI_OK, NULL },
    { "with a space or with =",    { "--max-body", "10m", "--max-head=8k" }, MAKI_OK, NULL },
    { "a port picked",             { "--listen", "[::1]:0" }, MAKI_OK, NULL },
    { "beyond this machine",       { "--listen", "0.0.0.0:4747" }, MAKI_DENIED, "token" },
    { "beyond, with a token",      { "--listen", "0.0.0.0:4747", "--token", "t" }, MAKI_OK, NULL },
    { "an unknown option",         { "--speed", "9" }, MAKI_INVALID, "--speed" },
    { "no option at all",          { "serve" }, MAKI_INVALID, "--help" },
    { "a value missing",           { "--home" }, MAKI_INVALID, "--home DIR" },
    { "no number",                 { "--max-connections", "many" }, MAKI_INVALID, "many" },
    { "no time",                   { "--idle-timeout", "5h" }, MAKI_INVALID, "5h" },
    { "no bytes",                  { "--max-body", "0" }, MAKI_INVALID, "max-body" },
    { "too large",                 { "--max-body", "99999999999g" }, MAKI_INVALID, "max-body" },
    { "no level",                  { "--log-level", "loud" }, MAKI_INVALID, "loud" },
    { "an upstream without a URL", { "--upstream", "openai" }, MAKI_INVALID, "NAME=URL" },
    { "help before anything else", { "--help", "--nonsense" }, MAKI_OK, NULL },
};
/* clang-format on */

static maki_status read_args(const char *const *args, maki_daemon_options *out, maki_err *err)
{
    char *argv[8] = { (char *)(uintptr_t) "maki-serve" };
    int argc = 1;
    for (; argc < 6 && args[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)args[argc - 1];
    return maki_daemon_options_read(argc, argv, out, err);
}

int main(void)
{
    static maki_daemon_options got;
    maki_err err;
    unsetenv("MAKI_TOKEN");
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s", rows[i].name);
        CHECK_STATUS(read_args(rows[i].args, &got, &err), rows[i].status, &err);
        if (rows[i].words) CHECK(strstr(err.msg, rows[i].words) != NULL);
    }
    tap_row("values arrive");
    const char *const args[] = { "--max-body=10m",    "--idle-timeout=250ms",
                                 "--stop-timeout=2m", "--allow-origin=https://例.example",
                                 "--ready-fd=7",      NULL };
    CHECK_STATUS(read_args(args, &got, &err), MAKI_OK, &err);
    CHECK_EQ(got.server.body_bytes, 10 << 20);
    CHECK_EQ(got.server.idle_ms, 250);
    CHECK_EQ(got.stop_ms, 120000);
    CHECK_EQ(got.guard.origin_count, 1);
    CHECK_EQ(got.ready_fd, 7);
    CHECK_CSTR(got.listen[0], "127.0.0.1:4747");
    tap_row("the token of the environment");
    setenv("MAKI_TOKEN", "t", 1);
    const char *const wide[] = { "--listen=10.0.0.1:1", NULL };
    CHECK_STATUS(read_args(wide, &got, &err), MAKI_OK, &err);
    CHECK_CSTR(got.guard.token, "t");
    return tap_end();
}
