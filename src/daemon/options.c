/* options.c -- see options.h. */
#include "daemon/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/str.h"

typedef enum kind { LISTEN, TEXT, UPSTREAM, HOST, ORIGIN, FD, MS32, MS64, SIZE, BYTES, LEVEL } kind;

typedef struct option_row {
    const char *name, *value;
    kind kind;
    size_t at; /* in maki_daemon_options */
    const char *help;
} option_row;

#define AT(member) offsetof(maki_daemon_options, member)
/* clang-format off */
static const option_row rows[] = {
    { "listen",          "ADDR:PORT", LISTEN,   0,                         "where to take connections (127.0.0.1:4747); port 0 picks one; may be repeated" },
    { "home",            "DIR",       TEXT,     AT(home),                  "where conversations are kept ($MAKI_HOME)" },
    { "upstream",        "NAME=URL",  UPSTREAM, 0,                         "a server to hand requests to; may be repeated; \"NAME=URL models=PATTERN\" picks it by model" },
    { "token",           "TOKEN",     TEXT,     AT(token),                 "what clients must show ($MAKI_TOKEN); needed beyond this machine" },
    { "allow-host",      "NAME",      HOST,     0,                         "another name under which clients may reach Maki; may be repeated" },
    { "allow-origin",    "ORIGIN",    ORIGIN,   0,                         "a site whose pages may speak to Maki; may be repeated" },
    { "max-connections", "N",         SIZE,     AT(server.connections),    "clients at a time" },
    { "max-head",        "BYTES",     BYTES,    AT(server.head_bytes),     "of one request's head" },
    { "max-body",        "BYTES",     BYTES,    AT(server.body_bytes),     "of one request's body, packed or not" },
    { "idle-timeout",    "TIME",      MS32,     AT(server.idle_ms),        "a connection without a request is closed" },
    { "head-timeout",    "TIME",      MS32,     AT(server.head_ms),        "a head must have come" },
    { "body-timeout",    "TIME",      MS32,     AT(server.body_ms),        "no byte of a body came" },
    { "write-timeout",   "TIME",      MS32,     AT(server.write_ms),       "a client took nothing" },
    { "connect-timeout", "TIME",      MS32,     AT(client.connect_ms),     "to reach an upstream" },
    { "upstream-timeout","TIME",      MS32,     AT(client.idle_ms),        "an upstream sent nothing" },
    { "stop-timeout",    "TIME",      MS64,     AT(stop_ms),               "to finish what is running when told to stop" },
    { "ca-file",         "FILE",      TEXT,     AT(client.ca_file),        "certificates to trust instead of the system's" },
    { "log-level",       "LEVEL",     LEVEL,    AT(log_level),             "debug, info, warn or error" },
    { "ready-fd",        "N",         FD,       AT(ready_fd),              "write the address there, instead of to standard output" },
};
/* clang-format on */
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* ---- values --------------------------------------------------------------------------------------- */

static bool read_number(const char *text, uint64_t *out, const char **rest)
{
    char *end;
    if (text[0] < '0' || text[0] > '9') return false;
    *out = strtoull(text, &end, 10);
    *rest = end;
    return *out <= (uint64_t)1 << 50;
}

/* "64", "64k", "10m", "1g" */
static bool read_bytes(const char *text, uint64_t *out)
{
    const char *rest;
    if (!read_number(text, out, &rest)) return false;
    if (rest[0] == '\0') return true;
    int shift = rest[0] == 'k' ? 10 : rest[0] == 'm' ? 20 : rest[0] == 'g' ? 30 : 0;
    *out <<= shift;
    return shift && rest[1] == '\0' && *out <= (uint64_t)1 << 50;
}

/* "30" and "30s" are seconds, "250ms", "5m" */
static bool read_time(const char *text, uint64_t *ms)
{
    const char *rest;
    if (!read_number(text, ms, &rest) || *ms > 1u << 30) return false;
    maki_str unit = maki_str_of(rest);
    if (maki_str_is(unit, MAKI_LIT("ms"))) return true;
    if (maki_str_is(unit, MAKI_LIT("m"))) {
        *ms *= 60000;
    } else if (unit.len == 0 || maki_str_is(unit, MAKI_LIT("s"))) {
        *ms *= 1000;
    } else {
        return false;
    }
    return *ms <= UINT32_MAX;
}

static bool read_level(const char *text, maki_level *out)
{
    static const char *const names[] = { "debug", "info", "warn", "error" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (maki_level)i;
            return true;
        }
    }
    return false;
}

static bool add_name(const char **names, size_t *count, size_t most, const char *value)
{
    if (*count == most) return false;
    names[(*count)++] = value;
    return true;
}

static bool read_value(maki_daemon_options *o, const option_row *row, const char *value)
{
    char *place = (char *)o + row->at;
    uint64_t n = 0;
    const char *rest = "";
    switch (row->kind) {
    case LISTEN: return add_name(o->listen, &o->listen_count, MAKI_LISTEN_MOST, value);
    case HOST: return add_name(o->guard.hosts, &o->guard.host_count, MAKI_GUARD_NAMES - 1, value);
    case ORIGIN: return add_name(o->guard.origins, &o->guard.origin_count, MAKI_GUARD_NAMES, value);
    case TEXT: *(const char **)(void *)place = value; return value[0] != '\0';
    case LEVEL: return read_level(value, (maki_level *)(void *)place);
    case SIZE:
        if (!read_number(value, &n, &rest) || rest[0] || n == 0) return false;
        *(size_t *)(void *)place = (size_t)n;
        return true;
    case BYTES:
        if (!read_bytes(value, &n) || n == 0) return false;
        *(uint64_t *)(void *)place = n;
        return true;
    case MS32:
        if (!read_time(value, &n)) return false;
        *(uint32_t *)(void *)place = (uint32_t)n;
        return true;
    case MS64:
        if (!read_time(value, &n)) return false;
        *(uint64_t *)(void *)place = n;
        return true;
    case FD:
        if (!read_number(value, &n, &rest) || rest[0] || n > 65535) return false;
        *(int *)(void *)place = (int)n;
        return true;
    default: return false; /* UPSTREAM tells its own reasons */
    }
}

/* ---- the command line ----------------------------------------------------------------------------- */

static const option_row *find(maki_str name)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (maki_str_is(name, maki_str_of(rows[i].name))) return &rows[i];
    }
    return NULL;
}

static maki_status read_option(maki_daemon_options *o, const option_row *row, const char *value,
                               maki_err *err)
{
    if (!value) {
        return maki_fail(err, MAKI_INVALID, "--%s needs a value: --%s %s", row->name, row->name,
                         row->value);
    }
    if (row->kind == UPSTREAM) return maki_upstreams_add(&o->upstreams, maki_str_of(value), err);
    if (read_value(o, row, value)) return MAKI_OK;
    if (row->kind == TEXT && strcmp(row->name, "token") == 0) value = "(hidden)";
    return maki_fail(err, MAKI_INVALID, "--%s: %.60s cannot be used; it is %s: %s", row->name,
                     value, row->value, row->help);
}

static void set_defaults(maki_daemon_options *o)
{
    *o = (maki_daemon_options){ .ready_fd = -1, .stop_ms = 30000, .log_level = MAKI_INFO };
    o->server = (maki_server_limits)MAKI_SERVER_LIMITS_INIT;
    o->client = (maki_client_limits)MAKI_CLIENT_LIMITS_INIT;
    o->token = getenv("MAKI_TOKEN");
    maki_upstreams_init(&o->upstreams);
}

maki_status maki_daemon_options_read(int argc, char **argv, maki_daemon_options *o, maki_err *err)
{
    maki_status st = MAKI_OK;
    set_defaults(o);
    for (int i = 1; i < argc && st == MAKI_OK; i++) {
        const char *arg = argv[i], *equals = strchr(arg, '=');
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            o->help = true;
            return MAKI_OK;
        }
        if (strncmp(arg, "--", 2) != 0) {
            return maki_fail(err, MAKI_INVALID, "%.60s is no option; see maki serve --help", arg);
        }
        maki_str name = { arg + 2, equals ? (size_t)(equals - arg - 2) : strlen(arg + 2) };
        const option_row *row = find(name);
        if (!row) {
            return maki_fail(err, MAKI_INVALID, "there is no option --%.*s; see maki serve --help",
                             (int)(name.len < 40 ? name.len : 40), name.ptr);
        }
        const char *value = equals ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
        st = read_option(o, row, value, err);
    }
    return st == MAKI_OK ? maki_daemon_options_check(o, err) : st;
}

/* "127.0.0.1:4747" and "[::1]:0" are this machine alone. */
static bool is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strncmp(address, "[::1]:", 6) == 0;
}

/* The address itself is a name under which we are reached. */
static void guard_address(maki_daemon_options *o, const char *address)
{
    if (strncmp(address, "0.0.0.0:", 8) == 0 || strncmp(address, "[::]:", 5) == 0) {
        o->guard.any_address = true;
    } else if (!is_loopback(address)) {
        o->guard.any_address = true; /* it is an address in figures: one of them */
    }
}

maki_status maki_daemon_options_check(maki_daemon_options *o, maki_err *err)
{
    if (o->listen_count == 0) o->listen[o->listen_count++] = "127.0.0.1:4747";
    if (o->token && o->token[0] == '\0') o->token = NULL;
    for (size_t i = 0; i < o->listen_count; i++) {
        if (!is_loopback(o->listen[i]) && !o->token) {
            return maki_fail(err, MAKI_DENIED,
                             "%.60s can be reached from other machines: that needs a token; "
                             "set MAKI_TOKEN or give --token",
                             o->listen[i]);
        }
        guard_address(o, o->listen[i]);
    }
    o->guard.token = o->token;
    return MAKI_OK;
}

void maki_daemon_options_help(maki_sink out)
{
    static const char head[] =
        "maki serve [OPTION...]\n"
        "Stands between agents and their providers, and records every conversation.\n\n";
    static const char tail[] =
        "\nTIME is 30s, 250ms or 5m; BYTES 64k, 10m or 1g.  NAME of an upstream: anthropic, openai, gemini and\n"
        "ollama have defaults; others are reached at /u/NAME/...\n\n"
        "Example:\n"
        "  maki serve --upstream \"local=http://127.0.0.1:8000/v1 models=qwen*\"\n"
        "  ANTHROPIC_BASE_URL=http://127.0.0.1:4747 claude\n";
    char line[300];
    (void)out.write(out.ctx, maki_str_of(head), NULL);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        char name[64];
        snprintf(name, sizeof name, "--%s %s", rows[i].name, rows[i].value);
        int n = snprintf(line, sizeof line, "  %-28s %s\n", name, rows[i].help);
        (void)out.write(out.ctx, (maki_str){ line, (size_t)n }, NULL);
    }
    (void)out.write(out.ctx, maki_str_of(tail), NULL);
}
