/* options_test.c -- the options of the daemon, from the command line and from maki.yaml. */
#include "daemon/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "directory.h"
#include "tap.h"

static char *no_variables[] = { NULL };

/* clang-format off */
static const struct option_row { const char *name, *args[5]; maki_status status; const char *words; } rows[] = {
    { "nothing",                   { NULL }, MAKI_OK, NULL },
    { "with a space or with =",    { "--max-body", "10m", "--max-head=8k" }, MAKI_OK, NULL },
    { "a port picked",             { "--listen", "[::1]:0" }, MAKI_OK, NULL },
    { "no port",                   { "--port", "八十" }, MAKI_INVALID, "--port N: invalid value 八十" },
    { "too large a port",          { "--port", "70000" }, MAKI_INVALID, "--port N: invalid value 70000" },
    { "another option meant",      { "--prot", "1" }, MAKI_INVALID, "unknown option --prot: did you mean --port" },
    { "beyond this machine",       { "--listen", "0.0.0.0:4747" }, MAKI_DENIED, "token" },
    { "beyond, with a token",      { "--listen", "0.0.0.0:4747", "--token", "t" }, MAKI_OK, NULL },
    { "an unknown option",         { "--speed", "9" }, MAKI_INVALID, "--speed" },
    { "no option at all",          { "serve" }, MAKI_INVALID, "--help" },
    { "a value missing",           { "--home" }, MAKI_INVALID, "--home DIR" },
    { "no number",                 { "--max-connections", "many" }, MAKI_INVALID, "many" },
    { "no time",                   { "--idle-timeout", "5d" }, MAKI_INVALID, "5d" },
    { "no bytes",                  { "--max-body", "0" }, MAKI_INVALID, "max-body" },
    { "too large",                 { "--max-body", "99999999999g" }, MAKI_INVALID, "max-body" },
    { "no level",                  { "--log-level", "loud" }, MAKI_INVALID, "loud" },
    { "an upstream without a URL", { "--upstream", "openai" }, MAKI_INVALID, "NAME=URL" },
    { "help before anything else", { "--help", "--nonsense" }, MAKI_OK, NULL },
    { "no such configuration",     { "--config", "no/such.yaml" }, MAKI_NOTFOUND, "no/such.yaml" },
    { "configuration without one", { "--config" }, MAKI_INVALID, "--config FILE" },
};
/* clang-format on */

static maki_status read_args(char *const *environment, const char *const *args,
                             maki_daemon_options *out, maki_err *err)
{
    maki_env env = maki_env_system();
    char *argv[8] = { (char *)(uintptr_t) "maki-serve" };
    int argc = 1;
    for (; argc < 6 && args[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)args[argc - 1];
    return maki_daemon_options_read(&env, environment, argc, argv, out, err);
}

static void run_rows(maki_daemon_options *got)
{
    maki_err err;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s", rows[i].name);
        CHECK_STATUS(read_args(no_variables, rows[i].args, got, &err), rows[i].status, &err);
        if (rows[i].words) CHECK(strstr(err.msg, rows[i].words) != NULL);
        maki_daemon_options_free(got);
    }
}

static void run_values(maki_daemon_options *got)
{
    maki_err err;
    tap_row("values of options are stored");
    const char *const args[] = { "--max-body=10m",    "--idle-timeout=250ms",
                                 "--stop-timeout=2m", "--allow-origin=https://例.example",
                                 "--ready-fd=7",      NULL };
    CHECK_STATUS(read_args(no_variables, args, got, &err), MAKI_OK, &err);
    CHECK_EQ(got->server.body_bytes, 10 << 20);
    CHECK_EQ(got->server.idle_ms, 250);
    CHECK_EQ(got->stop_ms, 120000);
    CHECK_EQ(got->guard.origin_count, 1);
    CHECK_EQ(got->ready_fd, 7);
    CHECK_CSTR(got->listen[0], "127.0.0.1:4747");
    maki_daemon_options_free(got);
    tap_row("a port alone is one of this machine");
    const char *const ports[] = { "--port", "5303", "--listen=5304", "--port=0", NULL };
    CHECK_STATUS(read_args(no_variables, ports, got, &err), MAKI_OK, &err);
    CHECK_EQ(got->listen_count, 3);
    CHECK_CSTR(got->listen[0], "127.0.0.1:5303");
    CHECK_CSTR(got->listen[1], "127.0.0.1:5304");
    CHECK_CSTR(got->listen[2], "127.0.0.1:0");
    maki_daemon_options_free(got);
    tap_row("the token of the environment");
    char *token[] = { (char *)(uintptr_t) "MAKI_TOKEN=t", NULL };
    const char *const wide[] = { "--listen=10.0.0.1:1", NULL };
    CHECK_STATUS(read_args(token, wide, got, &err), MAKI_OK, &err);
    CHECK_CSTR(got->guard.token, "t");
    maki_daemon_options_free(got);
}

/* The defaults in the table of settings are those of the options. */
static void run_defaults(maki_daemon_options *got)
{
    const char *const none[] = { NULL };
    const maki_server_limits server = MAKI_SERVER_LIMITS_INIT;
    const maki_client_limits client = MAKI_CLIENT_LIMITS_INIT;
    maki_err err;
    tap_row("defaults of the settings");
    CHECK_STATUS(read_args(no_variables, none, got, &err), MAKI_OK, &err);
    CHECK(memcmp(&got->server, &server, sizeof server) == 0);
    CHECK_EQ(got->client.connect_ms, client.connect_ms);
    CHECK_EQ(got->client.idle_ms, client.idle_ms);
    CHECK_EQ(got->stop_ms, 30000);
    CHECK_EQ(got->log_level, MAKI_INFO);
    CHECK_CSTR(maki_upstream_find(&got->upstreams, MAKI_LIT("openai"))->origin,
               "https://api.openai.com");
    CHECK_CSTR(maki_upstream_find(&got->upstreams, MAKI_LIT("ollama"))->origin,
               "http://127.0.0.1:11434");
    maki_daemon_options_free(got);
}

static const char file[] = "serve:\n"
                           "  listen: ['127.0.0.1:1', '[::1]:2']\n"
                           "  token: 秘密\n"
                           "  allow_hosts: maki.example\n"
                           "  allow_origins: [https://a.example, https://b.example]\n"
                           "  ca_file: ca.pem\n"
                           "  limits: {connections: 7, head: 8k, body: 2m}\n"
                           "  timeouts: {idle: 1s, head: 2s, body: 3s, write: 4s, connect: 5s, "
                           "upstream: 6s, stop: 7s}\n"
                           "log: {level: debug}\n"
                           "upstreams:\n"
                           "  openai: http://127.0.0.1:9999/v1\n"
                           "  local: {url: 'http://127.0.0.1:8000', models: [qwen*, llama-3*]}\n"
                           "  anthropic: {models: claude-*}\n";

static void check_file_values(const maki_daemon_options *got)
{
    CHECK_EQ(got->listen_count, 2);
    CHECK_CSTR(got->listen[1], "[::1]:2");
    CHECK_CSTR(got->guard.token, "秘密");
    CHECK_CSTR(got->guard.hosts[0], "maki.example");
    CHECK_CSTR(got->guard.origins[1], "https://b.example");
    CHECK_CSTR(got->client.ca_file, "ca.pem");
    CHECK_EQ(got->server.connections, 7);
    CHECK_EQ(got->server.head_bytes, 8192);
    CHECK_EQ(got->server.body_bytes, 2 << 20);
    CHECK_EQ(got->server.idle_ms, 1000);
    CHECK_EQ(got->server.head_ms, 2000);
    CHECK_EQ(got->server.body_ms, 3000);
    CHECK_EQ(got->server.write_ms, 4000);
    CHECK_EQ(got->client.connect_ms, 5000);
    CHECK_EQ(got->client.idle_ms, 6000);
    CHECK_EQ(got->stop_ms, 7000);
    CHECK_EQ(got->log_level, MAKI_DEBUG);
    CHECK_CSTR(maki_upstream_find(&got->upstreams, MAKI_LIT("openai"))->path, "/v1");
    CHECK_CSTR(maki_upstream_find(&got->upstreams, MAKI_LIT("local"))->models, "qwen*,llama-3*");
    CHECK_CSTR(maki_upstream_find(&got->upstreams, MAKI_LIT("anthropic"))->origin,
               "https://api.anthropic.com");
    CHECK_CSTR(maki_upstream_for_model(&got->upstreams, MAKI_LIT("claude-x"))->name, "anthropic");
}

/* Each option with a configuration file: the command line wins, and only there. */
static const struct over_row {
    const char *arg;
    size_t at, size; /* what it changes */
    uint64_t want;
} over_rows[] = {
#define ROW(arg, member, want)                                                                     \
    {                                                                                              \
        arg, offsetof(maki_daemon_options, member), sizeof((maki_daemon_options *)0)->member, want \
    }
    ROW("--max-connections=9", server.connections, 9),
    ROW("--max-head=4k", server.head_bytes, 4096),
    ROW("--max-body=1m", server.body_bytes, 1 << 20),
    ROW("--idle-timeout=9s", server.idle_ms, 9000),
    ROW("--head-timeout=9s", server.head_ms, 9000),
    ROW("--body-timeout=9s", server.body_ms, 9000),
    ROW("--write-timeout=9s", server.write_ms, 9000),
    ROW("--connect-timeout=9s", client.connect_ms, 9000),
    ROW("--upstream-timeout=9s", client.idle_ms, 9000),
    ROW("--stop-timeout=9s", stop_ms, 9000),
    ROW("--log-level=error", log_level, MAKI_ERROR),
    ROW("--listen=127.0.0.1:3", listen_count, 1),
    ROW("--port=3", listen_count, 1),
    ROW("--allow-host=x.example", guard.host_count, 1),
    ROW("--allow-origin=https://x.example", guard.origin_count, 1),
#undef ROW
};

static void run_over(const char *config, maki_daemon_options *got)
{
    maki_err err;
    for (size_t i = 0; i < COUNT(over_rows); i++) {
        const char *const args[] = { config, over_rows[i].arg, NULL };
        uint64_t have = 0;
        tap_row("%s wins over the file", over_rows[i].arg);
        CHECK_STATUS(read_args(no_variables, args, got, &err), MAKI_OK, &err);
        memcpy(&have, (const char *)got + over_rows[i].at, over_rows[i].size);
        CHECK_EQ(have, over_rows[i].want);
        maki_daemon_options_free(got);
    }
    tap_row("texts and upstreams of the command line win over the file");
    const char *const args[] = { config, "--token=cli", "--ca-file=other.pem",
                                 "--upstream=openai=http://h:1", NULL };
    CHECK_STATUS(read_args(no_variables, args, got, &err), MAKI_OK, &err);
    CHECK_CSTR(got->guard.token, "cli");
    CHECK_CSTR(got->client.ca_file, "other.pem");
    CHECK_CSTR(maki_upstream_find(&got->upstreams, MAKI_LIT("openai"))->origin, "http://h:1");
    CHECK(maki_upstream_find(&got->upstreams, MAKI_LIT("local")) != NULL);
    maki_daemon_options_free(got);
}

static void run_refused(const char *path, const char *config, maki_daemon_options *got)
{
    static const struct refused_row {
        const char *text, *words;
        maki_status status;
    } refused[] = {
        { "upstreams: {'ä': 'http://h'}", "upstreams.ä: the upstream's name is missing or invalid",
          MAKI_INVALID },
        { "upstreams: {a: 'http://u:p@h'}", "upstreams.a: ", MAKI_INVALID },
        { "serve: {listen: '0.0.0.0:1'}", "token", MAKI_DENIED },
        { "serve: {listen: ['127.0.0.1:1','127.0.0.1:2','127.0.0.1:3','127.0.0.1:4','127.0.0.1:5']}",
          "more than 4", MAKI_TOOBIG },
        { "serve: {token: '${NOT_SET}'}", "NOT_SET", MAKI_NOTFOUND },
        { "serve:\n  lisen: x", ":2:3: unknown setting serve.lisen; did you mean listen?",
          MAKI_INVALID },
    };
    const char *const args[] = { config, NULL };
    maki_err err = { 0 };
    for (size_t i = 0; i < COUNT(refused); i++) {
        tap_row("refused: %s", refused[i].words);
        directory_write(path, (maki_str){ refused[i].text, strlen(refused[i].text) });
        CHECK_STATUS(read_args(no_variables, args, got, &err), refused[i].status, &err);
        CHECK(strstr(err.msg, refused[i].words) != NULL);
        maki_daemon_options_free(got);
    }
}

int main(void)
{
    static maki_daemon_options got;
    maki_err err;
    directory here;
    char path[300], config[320];
    run_rows(&got);
    run_values(&got);
    run_defaults(&got);

    directory_open(&here);
    snprintf(path, sizeof path, "%s/maki.yaml", here.path);
    snprintf(config, sizeof config, "--config=%s", path);
    tap_row("every option from the file");
    directory_write(path, (maki_str){ file, sizeof file - 1 });
    const char *const args[] = { config, NULL };
    CHECK_STATUS(read_args(no_variables, args, &got, &err), MAKI_OK, &err);
    check_file_values(&got);
    maki_daemon_options_free(&got);
    run_over(config, &got);
    run_refused(path, config, &got);
    directory_close(&here);
    return tap_end();
}
