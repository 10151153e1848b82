/* options.c -- parse the options of the daemon by one table, in three passes: --config and --help, then maki.yaml, then
 *              the command line.
 *
 * In:    the environment, the command line, maki.yaml.
 * Out:   maki_daemon_options; or the first error, never with a secret in it.
 * Always: the command line overrides the file, except that upstreams of both are merged; an address beyond loopback
 *         needs a token. */
#include "daemon/options.h"

#include <stddef.h>
#include <stdio.h>

#include "base/command_line.h"
#include "base/err.h"
#include "base/str_util.h"
#include "config/amount.h"

typedef enum value_kind {
    CONFIG,
    LISTEN,
    PORT,
    TEXT,
    SECRET,
    UPSTREAM,
    HOST,
    ORIGIN,
    FD,
    MS,
    SIZE,
    BYTES,
    LEVEL,
    FLAG
} value_kind;

typedef struct option_row {
    maki_option option; /* `at` is in maki_daemon_options */
    value_kind kind;
    const char *setting; /* its path in maki.yaml; NULL: only on the command line */
} option_row;

#define OFFSET(member) offsetof(maki_daemon_options, member)
/* clang-format off */
static const option_row rows[] = {
    { { "--config FILE", 0, "the configuration ($MAKI_CONFIG, ./maki.yaml, $XDG_CONFIG_HOME/maki/maki.yaml)" }, CONFIG, NULL },
    { { "--listen ADDR:PORT", 0, "the address to listen on (127.0.0.1:4747); port 0 picks a free one; may be repeated" }, LISTEN, "serve.listen" },
    { { "--port N", 0, "the same on this machine only (127.0.0.1:N); --listen N means that, too" }, PORT, NULL },
    { { "--home DIR", OFFSET(home), "where conversations are stored ($MAKI_HOME)" }, TEXT, NULL },
    { { "--upstream NAME=URL", 0, "a server to forward requests to; may be repeated; \"NAME=URL models=PATTERN\" picks it by model" }, UPSTREAM, "upstreams" },
    { { "--token TOKEN", OFFSET(token), "what clients must send ($MAKI_TOKEN); required when other machines can connect" }, SECRET, "serve.token" },
    { { "--allow-host NAME", 0, "a further Host that is accepted; may be repeated" }, HOST, "serve.allow_hosts" },
    { { "--allow-origin ORIGIN", 0, "a site whose pages may send requests to Maki; may be repeated" }, ORIGIN, "serve.allow_origins" },
    { { "--max-connections N", OFFSET(server.connections), "concurrent clients" }, SIZE, "serve.limits.connections" },
    { { "--max-head BYTES", OFFSET(server.head_bytes), "largest head of a request" }, BYTES, "serve.limits.head" },
    { { "--max-body BYTES", OFFSET(server.body_bytes), "largest body of a request, compressed or not" }, BYTES, "serve.limits.body" },
    { { "--idle-timeout TIME", OFFSET(server.idle_ms), "close a connection without a request" }, MS, "serve.timeouts.idle" },
    { { "--head-timeout TIME", OFFSET(server.head_ms), "receive a request's head" }, MS, "serve.timeouts.head" },
    { { "--body-timeout TIME", OFFSET(server.body_ms), "wait for the next byte of a body" }, MS, "serve.timeouts.body" },
    { { "--write-timeout TIME", OFFSET(server.write_ms), "wait for a client that reads nothing" }, MS, "serve.timeouts.write" },
    { { "--connect-timeout TIME", OFFSET(client.connect_ms), "connect to an upstream" }, MS, "serve.timeouts.connect" },
    { { "--upstream-timeout TIME", OFFSET(client.idle_ms), "wait for an upstream that sends nothing" }, MS, "serve.timeouts.upstream" },
    { { "--stop-timeout TIME", OFFSET(stop_ms), "finish requests in progress on SIGTERM" }, MS, "serve.timeouts.stop" },
    { { "--ca-file FILE", OFFSET(client.ca_file), "certificates to trust instead of the system's" }, TEXT, "serve.ca_file" },
    { { "--log-level LEVEL", OFFSET(log_level), "debug, info, warn or error" }, LEVEL, "log.level" },
    { { "--ready-fd N", OFFSET(ready_fd), "write the address to this descriptor instead of standard output" }, FD, NULL },
    { { "--unit", OFFSET(unit), "print a systemd user unit with the other options, and do nothing else" }, FLAG, NULL },
};
/* clang-format on */
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* ---- values --------------------------------------------------------------------------------------- */

static bool add_name(const char **names, size_t *count, size_t max, const char *value)
{
    if (*count == max) return false;
    names[(*count)++] = value;
    return true;
}

/* An address, or a port of this machine. */
static bool add_address(maki_daemon_options *o, value_kind kind, const char *value)
{
    double port;
    size_t i = o->listen_count;
    bool number = maki_amount_integer(maki_str_of(value), &port) && port >= 0 && port <= 65535;
    if (kind == PORT && !number) return false;
    if (number && i < MAKI_LISTEN_MAX) {
        snprintf(o->ports[i], sizeof o->ports[i], "127.0.0.1:%d", (int)port);
        value = o->ports[i];
    }
    return add_name(o->listen, &o->listen_count, MAKI_LISTEN_MAX, value);
}

static bool parse_number(value_kind kind, maki_str text, double *n)
{
    switch (kind) {
    case SIZE: return maki_amount_integer(text, n) && *n >= 1;
    case BYTES: return maki_amount_bytes(text, n) && *n > 0;
    case FD: return maki_amount_integer(text, n) && *n >= 0 && *n <= 65535;
    default: return maki_amount_duration(text, n);
    }
}

static void store_number(value_kind kind, void *target, double n)
{
    switch (kind) {
    case SIZE: *(size_t *)target = (size_t)n; break;
    case BYTES: *(uint64_t *)target = (uint64_t)n; break;
    case FD: *(int *)target = (int)n; break;
    default: *(uint32_t *)target = (uint32_t)n; break;
    }
}

static bool parse_value(maki_daemon_options *o, const option_row *row, const char *value)
{
    char *target = (char *)o + row->option.at;
    maki_str text = maki_str_of(value ? value : ""); /* a flag has none */
    double n = 0;
    switch (row->kind) {
    case LISTEN:
    case PORT: return add_address(o, row->kind, value);
    case HOST: return add_name(o->guard.hosts, &o->guard.host_count, MAKI_GUARD_NAMES - 1, value);
    case ORIGIN: return add_name(o->guard.origins, &o->guard.origin_count, MAKI_GUARD_NAMES, value);
    case TEXT:
    case SECRET: *(const char **)(void *)target = value; return value[0] != '\0';
    case LEVEL: return maki_level_parse(text, (maki_level *)(void *)target);
    case FLAG: *(bool *)target = true; return true;
    case CONFIG: return value[0] != '\0'; /* find_config_and_help() has read it */
    case UPSTREAM: return false;          /* maki_upstreams_add() reports its own errors */
    default:
        if (!parse_number(row->kind, text, &n)) return false;
        store_number(row->kind, target, n);
        return true;
    }
}

/* ---- the command line ----------------------------------------------------------------------------- */

static const char *expected(value_kind kind)
{
    switch (kind) {
    case PORT: return "a port is an integer from 0 to 65535";
    case MS: return "a time is 30s, 250ms or 5m";
    case BYTES: return "a size is 64k, 10m or 1g";
    case LEVEL: return "it is debug, info, warn or error";
    case SIZE: return "it is an integer of at least 1";
    case FD: return "a descriptor is an integer of at least 0";
    case LISTEN:
    case HOST:
    case ORIGIN: return "there are too many of them";
    default: return "it may not be empty";
    }
}

static maki_status read_option(maki_daemon_options *o, const option_row *row, const char *value,
                               maki_err *err)
{
    if (row->kind == UPSTREAM) return maki_upstreams_add(&o->upstreams, maki_str_of(value), err);
    if (parse_value(o, row, value)) return MAKI_OK;
    if (row->kind == SECRET) value = "(hidden)";
    return maki_fail(err, MAKI_INVALID, "%s: invalid value %.60s; %s", row->option.shape, value,
                     expected(row->kind));
}

static maki_status read_command_line(maki_daemon_options *o, int argc, char **argv, maki_err *err)
{
    maki_option_list list = MAKI_OPTIONS("maki serve", rows, argc, argv);
    maki_option_kind found;
    maki_status st = MAKI_OK;
    size_t i;
    const char *value;
    while (st == MAKI_OK && (found = maki_options_next(&list, &i, &value, err))) {
        if (found == MAKI_OPTION_INVALID) return MAKI_INVALID;
        if (found == MAKI_OPTION_POSITIONAL)
            return maki_fail(err, MAKI_INVALID, "unexpected argument %.60s; see maki serve --help",
                             value);
        st = read_option(o, &rows[i], value, err);
    }
    return st;
}

/* The first pass, before maki.yaml is read: return its name (NULL: the default); set which options the command line has,
 * and whether --help is one.  Errors are reported later, by read_command_line. */
static const char *find_config_and_help(int argc, char **argv, bool given[ROW_COUNT], bool *help)
{
    maki_option_list list = MAKI_OPTIONS("maki serve", rows, argc, argv);
    maki_option_kind found;
    const char *file = NULL, *value;
    size_t i;
    for (int k = 1; k < argc; k++)
        *help = *help || strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0;
    while ((found = maki_options_next(&list, &i, &value, NULL))) {
        if (found != MAKI_OPTION_NAMED) continue;
        for (size_t k = 0; k < ROW_COUNT; k++) /* --port is a --listen */
            given[k] |= k == i || (rows[i].kind == PORT && rows[k].kind == LISTEN);
        if (rows[i].kind == CONFIG) file = value;
    }
    return file;
}

/* ---- the configuration ---------------------------------------------------------------------------- */

static maki_status read_names(maki_daemon_options *o, const option_row *row, maki_err *err)
{
    maki_str entry;
    for (size_t n = 0; maki_config_entry(o->config, row->setting, n, &entry); n++) {
        if (!parse_value(o, row, entry.ptr)) {
            return maki_fail(err, MAKI_TOOBIG, "%s has more than %zu entries", row->setting, n);
        }
    }
    return MAKI_OK;
}

static maki_status read_upstream(maki_daemon_options *o, maki_str name, maki_err *err)
{
    char path[300], line[800];
    maki_str entry;
    snprintf(path, sizeof path, "upstreams.%.*s.url", (int)name.len, name.ptr);
    maki_str url = maki_config_text(o->config, path);
    size_t n = (size_t)snprintf(line, sizeof line, "%.*s=%.400s", (int)name.len, name.ptr, url.ptr);
    snprintf(path, sizeof path, "upstreams.%.*s.models", (int)name.len, name.ptr);
    for (size_t i = 0; maki_config_entry(o->config, path, i, &entry) && n < sizeof line; i++) {
        n += (size_t)snprintf(line + n, sizeof line - n, "%s%s", i ? "," : " models=", entry.ptr);
    }
    if (n >= sizeof line) return maki_fail(err, MAKI_TOOBIG, "%.80s is too long", path);
    maki_err reason;
    maki_status st = maki_upstreams_add(&o->upstreams, (maki_str){ line, n }, &reason);
    if (st == MAKI_OK) return st;
    return maki_fail(err, st, "upstreams.%.*s: %s", (int)(name.len < 40 ? name.len : 40), name.ptr,
                     reason.msg);
}

static maki_status read_upstreams(maki_daemon_options *o, maki_err *err)
{
    maki_str name;
    maki_status st = MAKI_OK;
    for (size_t next = 0;
         st == MAKI_OK && maki_config_next_name(o->config, "upstreams", &next, &name);) {
        st = read_upstream(o, name, err);
    }
    return st;
}

static maki_status read_secret(maki_daemon_options *o, const option_row *row, maki_err *err)
{
    maki_config_value value;
    maki_str text;
    if (!maki_config_find_value(o->config, row->setting, &value)) return MAKI_OK;
    maki_status st = maki_config_secret(o->config, row->setting, &text, err);
    if (st == MAKI_OK) *(const char **)(void *)((char *)o + row->option.at) = text.ptr;
    return st;
}

static maki_status read_setting(maki_daemon_options *o, const option_row *row, maki_err *err)
{
    maki_str text;
    switch (row->kind) {
    case LISTEN:
    case HOST:
    case ORIGIN: return read_names(o, row, err);
    case UPSTREAM: return read_upstreams(o, err);
    case SECRET: return read_secret(o, row, err);
    default:
        text = maki_config_text(o->config, row->setting);
        if (text.len) (void)parse_value(o, row, text.ptr); /* bind.c has checked it */
        return MAKI_OK;
    }
}

/* Upstreams of the command line are added to those of the file; any other option overrides the file. */
static maki_status read_settings(maki_daemon_options *o, const bool given[ROW_COUNT], maki_err *err)
{
    maki_status st = MAKI_OK;
    for (size_t i = 0; i < ROW_COUNT && st == MAKI_OK; i++) {
        bool overridden = given[i] && rows[i].kind != UPSTREAM;
        if (rows[i].setting && !overridden) st = read_setting(o, &rows[i], err);
    }
    return st;
}

/* "127.0.0.1:4747", "[::1]:0": only this machine can connect. */
static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strncmp(address, "[::1]:", 6) == 0;
}

/* Other machines may connect only with a token. */
static maki_status check_token(maki_daemon_options *o, maki_err *err)
{
    if (o->token && o->token[0] == '\0') o->token = NULL;
    for (size_t i = 0; i < o->listen_count; i++) {
        if (is_loopback(o->listen[i])) continue;
        if (!o->token)
            return maki_fail(err, MAKI_DENIED,
                             "%.60s can be reached from other machines: that requires a token; "
                             "set MAKI_TOKEN, serve.token or --token",
                             o->listen[i]);
        o->guard.any_address = true; /* clients use this address as the Host */
    }
    o->guard.token = o->token;
    return MAKI_OK;
}

maki_status maki_daemon_options_read(const maki_env *env, char *const *environment, int argc,
                                     char **argv, maki_daemon_options *o, maki_err *err)
{
    bool given[ROW_COUNT] = { false };
    *o = (maki_daemon_options){ .ready_fd = -1 };
    o->server = (maki_server_limits)MAKI_SERVER_LIMITS_INIT;
    o->client = (maki_client_limits)MAKI_CLIENT_LIMITS_INIT;
    maki_config_options config = {
        sizeof config, *env, find_config_and_help(argc, argv, given, &o->help),
        environment,   NULL, NULL
    };
    if (o->help) return MAKI_OK;
    maki_status st = maki_config_open(&config, &o->config, err);
    if (st == MAKI_OK) st = read_settings(o, given, err);
    if (st == MAKI_OK) st = read_command_line(o, argc, argv, err);
    return st == MAKI_OK ? check_token(o, err) : st;
}

void maki_daemon_options_free(maki_daemon_options *o)
{
    maki_config_close(o->config);
    o->config = NULL;
}

void maki_daemon_options_help(maki_sink out)
{
    static const char head[] =
        "maki serve [OPTION...]\n"
        "Forwards requests of agents to their providers, and records every conversation.\n\n";
    static const char tail[] =
        "\nAll but --home, --ready-fd and --config can be set in maki.yaml: maki config reference.\n"
        "TIME is 30s, 250ms or 5m; BYTES 64k, 10m or 1g.  NAME of an upstream: anthropic, openai, gemini and\n"
        "ollama have defaults; others are at /u/NAME/...\n\n"
        "Example:\n"
        "  maki serve --upstream \"local=http://127.0.0.1:8000/v1 models=qwen*\"\n"
        "  ANTHROPIC_BASE_URL=http://127.0.0.1:4747 claude\n";
    maki_option_list list = MAKI_OPTIONS("maki serve", rows, 0, NULL);
    (void)out.write(out.ctx, maki_str_of(head), NULL);
    maki_options_help(&list, out);
    (void)out.write(out.ctx, maki_str_of(tail), NULL);
}
