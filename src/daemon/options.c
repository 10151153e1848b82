/* options.c -- see options.h. */
#include "daemon/options.h"

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "base/str.h"
#include "config/amount.h"

typedef enum kind {
    CONFIG,
    LISTEN,
    TEXT,
    SECRET,
    UPSTREAM,
    HOST,
    ORIGIN,
    FD,
    MS32,
    MS64,
    SIZE,
    BYTES,
    LEVEL
} kind;

typedef struct option_row {
    const char *name, *value;
    kind kind;
    size_t at;           /* in maki_daemon_options */
    const char *setting; /* where it stands in maki.yaml; NULL: only on the command line */
    const char *help;
} option_row;

#define AT(member) offsetof(maki_daemon_options, member)
/* clang-format off */
static const option_row rows[] = {
    { "config",           "FILE",      CONFIG,   0,                       NULL,                        "the configuration ($MAKI_CONFIG, ./maki.yaml, $XDG_CONFIG_HOME/maki/maki.yaml)" },
    { "listen",           "ADDR:PORT", LISTEN,   0,                       "serve.listen",              "where to take connections (127.0.0.1:4747); port 0 picks one; may be repeated" },
    { "home",             "DIR",       TEXT,     AT(home),                NULL,                        "where conversations are kept ($MAKI_HOME)" },
    { "upstream",         "NAME=URL",  UPSTREAM, 0,                       "upstreams",                 "a server to hand requests to; may be repeated; \"NAME=URL models=PATTERN\" picks it by model" },
    { "token",            "TOKEN",     SECRET,   AT(token),               "serve.token",               "what clients must show ($MAKI_TOKEN); needed beyond this machine" },
    { "allow-host",       "NAME",      HOST,     0,                       "serve.allow_hosts",         "another name under which clients may reach Maki; may be repeated" },
    { "allow-origin",     "ORIGIN",    ORIGIN,   0,                       "serve.allow_origins",       "a site whose pages may speak to Maki; may be repeated" },
    { "max-connections",  "N",         SIZE,     AT(server.connections),  "serve.limits.connections",  "clients at a time" },
    { "max-head",         "BYTES",     BYTES,    AT(server.head_bytes),   "serve.limits.head",         "of one request's head" },
    { "max-body",         "BYTES",     BYTES,    AT(server.body_bytes),   "serve.limits.body",         "of one request's body, packed or not" },
    { "idle-timeout",     "TIME",      MS32,     AT(server.idle_ms),      "serve.timeouts.idle",       "a connection without a request is closed" },
    { "head-timeout",     "TIME",      MS32,     AT(server.head_ms),      "serve.timeouts.head",       "a head must have come" },
    { "body-timeout",     "TIME",      MS32,     AT(server.body_ms),      "serve.timeouts.body",       "no byte of a body came" },
    { "write-timeout",    "TIME",      MS32,     AT(server.write_ms),     "serve.timeouts.write",      "a client took nothing" },
    { "connect-timeout",  "TIME",      MS32,     AT(client.connect_ms),   "serve.timeouts.connect",    "to reach an upstream" },
    { "upstream-timeout", "TIME",      MS32,     AT(client.idle_ms),      "serve.timeouts.upstream",   "an upstream sent nothing" },
    { "stop-timeout",     "TIME",      MS64,     AT(stop_ms),             "serve.timeouts.stop",       "to finish what is running when told to stop" },
    { "ca-file",          "FILE",      TEXT,     AT(client.ca_file),      "serve.ca_file",             "certificates to trust instead of the system's" },
    { "log-level",        "LEVEL",     LEVEL,    AT(log_level),           "log.level",                 "debug, info, warn or error" },
    { "ready-fd",         "N",         FD,       AT(ready_fd),            NULL,                        "write the address there, instead of to standard output" },
};
/* clang-format on */
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* ---- values --------------------------------------------------------------------------------------- */

static bool add_name(const char **names, size_t *count, size_t most, const char *value)
{
    if (*count == most) return false;
    names[(*count)++] = value;
    return true;
}

static bool read_value(maki_daemon_options *o, const option_row *row, const char *value)
{
    char *place = (char *)o + row->at;
    maki_str text = maki_str_of(value);
    double n = 0;
    switch (row->kind) {
    case LISTEN: return add_name(o->listen, &o->listen_count, MAKI_LISTEN_MOST, value);
    case HOST: return add_name(o->guard.hosts, &o->guard.host_count, MAKI_GUARD_NAMES - 1, value);
    case ORIGIN: return add_name(o->guard.origins, &o->guard.origin_count, MAKI_GUARD_NAMES, value);
    case TEXT:
    case SECRET: *(const char **)(void *)place = value; return value[0] != '\0';
    case LEVEL: return maki_level_named(text, (maki_level *)(void *)place);
    case SIZE:
        if (!maki_amount_integer(text, &n) || n < 1) return false;
        *(size_t *)(void *)place = (size_t)n;
        return true;
    case BYTES:
        if (!maki_amount_bytes(text, &n) || n == 0) return false;
        *(uint64_t *)(void *)place = (uint64_t)n;
        return true;
    case MS32:
        if (!maki_amount_time(text, &n)) return false;
        *(uint32_t *)(void *)place = (uint32_t)n;
        return true;
    case MS64:
        if (!maki_amount_time(text, &n)) return false;
        *(uint64_t *)(void *)place = (uint64_t)n;
        return true;
    case FD:
        if (!maki_amount_integer(text, &n) || n < 0 || n > 65535) return false;
        *(int *)(void *)place = (int)n;
        return true;
    case CONFIG: return value[0] != '\0'; /* it was read before all others */
    default: return false;                /* UPSTREAM tells its own reasons */
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
    if (row->kind == SECRET) value = "(hidden)";
    return maki_fail(err, MAKI_INVALID, "--%s: %.60s cannot be used; it is %s: %s", row->name,
                     value, row->value, row->help);
}

/* One option: its row, and its value, which may stand in the next argument.  *i moves on to the last one
 * used. */
static maki_status next_option(int argc, char **argv, int *i, const option_row **row,
                               const char **value, maki_err *err)
{
    const char *arg = argv[*i], *equals = strchr(arg, '=');
    if (strncmp(arg, "--", 2) != 0) {
        return maki_fail(err, MAKI_INVALID, "%.60s is no option; see maki serve --help", arg);
    }
    maki_str name = { arg + 2, equals ? (size_t)(equals - arg - 2) : strlen(arg + 2) };
    *row = find(name);
    if (!*row) {
        return maki_fail(err, MAKI_INVALID, "there is no option --%.*s; see maki serve --help",
                         (int)(name.len < 40 ? name.len : 40), name.ptr);
    }
    *value = equals ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
    return MAKI_OK;
}

static maki_status read_command_line(maki_daemon_options *o, int argc, char **argv, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (int i = 1; i < argc && st == MAKI_OK; i++) {
        const option_row *row = NULL;
        const char *value = NULL;
        st = next_option(argc, argv, &i, &row, &value, err);
        if (st == MAKI_OK) st = read_option(o, row, value, err);
    }
    return st;
}

/* Before the file is read: which one, and what the command line is going to say.  Mistakes are told
 * later, by read_command_line. */
static const char *look_ahead(int argc, char **argv, bool given[ROW_COUNT], bool *help)
{
    const char *file = NULL;
    for (int i = 1; i < argc; i++) {
        const option_row *row = NULL;
        const char *value = NULL;
        *help = *help || strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
        if (next_option(argc, argv, &i, &row, &value, NULL) != MAKI_OK) continue;
        given[row - rows] = true;
        if (row->kind == CONFIG) file = value;
    }
    return file;
}

/* ---- the configuration ---------------------------------------------------------------------------- */

static maki_status take_names(maki_daemon_options *o, const option_row *row, maki_err *err)
{
    maki_str entry;
    for (size_t n = 0; maki_config_entry(o->config, row->setting, n, &entry); n++) {
        if (!read_value(o, row, entry.ptr)) {
            return maki_fail(err, MAKI_TOOBIG, "%s has more than %zu entries", row->setting, n);
        }
    }
    return MAKI_OK;
}

static maki_status take_upstream(maki_daemon_options *o, maki_str name, maki_err *err)
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
    maki_err why;
    maki_status st = maki_upstreams_add(&o->upstreams, (maki_str){ line, n }, &why);
    if (st == MAKI_OK) return st;
    return maki_fail(err, st, "upstreams.%.*s: %s", (int)(name.len < 40 ? name.len : 40), name.ptr,
                     why.msg);
}

static maki_status take_upstreams(maki_daemon_options *o, maki_err *err)
{
    maki_str name;
    maki_status st = MAKI_OK;
    for (size_t at = 0;
         st == MAKI_OK && maki_config_next_name(o->config, "upstreams", &at, &name);) {
        st = take_upstream(o, name, err);
    }
    return st;
}

static maki_status take_secret(maki_daemon_options *o, const option_row *row, maki_err *err)
{
    maki_config_value value;
    maki_str text;
    if (!maki_config_find_value(o->config, row->setting, &value)) return MAKI_OK;
    maki_status st = maki_config_secret(o->config, row->setting, &text, err);
    if (st == MAKI_OK) *(const char **)(void *)((char *)o + row->at) = text.ptr;
    return st;
}

static maki_status take_setting(maki_daemon_options *o, const option_row *row, maki_err *err)
{
    char *place = (char *)o + row->at;
    int64_t n = maki_config_integer(o->config, row->setting);
    switch (row->kind) {
    case LISTEN:
    case HOST:
    case ORIGIN: return take_names(o, row, err);
    case UPSTREAM: return take_upstreams(o, err);
    case SECRET: return take_secret(o, row, err);
    case TEXT: {
        maki_str text = maki_config_text(o->config, row->setting);
        if (text.len) *(const char **)(void *)place = text.ptr;
        break;
    }
    case LEVEL:
        (void)maki_level_named(maki_config_text(o->config, row->setting),
                               (maki_level *)(void *)place);
        break;
    case SIZE: *(size_t *)(void *)place = (size_t)n; break;
    case BYTES:
    case MS64: *(uint64_t *)(void *)place = (uint64_t)n; break;
    case MS32: *(uint32_t *)(void *)place = (uint32_t)n; break;
    case CONFIG:
    case FD: break;
    }
    return MAKI_OK;
}

/* Upstreams of the command line come beside those of the file; anything else comes instead. */
static maki_status take_settings(maki_daemon_options *o, const bool given[ROW_COUNT], maki_err *err)
{
    maki_status st = MAKI_OK;
    for (size_t i = 0; i < ROW_COUNT && st == MAKI_OK; i++) {
        bool instead = given[i] && rows[i].kind != UPSTREAM;
        if (rows[i].setting && !instead) st = take_setting(o, &rows[i], err);
    }
    return st;
}

maki_status maki_daemon_options_read(const maki_env *env, char *const *environment, int argc,
                                     char **argv, maki_daemon_options *o, maki_err *err)
{
    bool given[ROW_COUNT] = { false };
    *o = (maki_daemon_options){ .ready_fd = -1 };
    o->server = (maki_server_limits)MAKI_SERVER_LIMITS_INIT;
    o->client = (maki_client_limits)MAKI_CLIENT_LIMITS_INIT;
    maki_config_options config = { sizeof config, *env, look_ahead(argc, argv, given, &o->help),
                                   environment,   NULL, NULL };
    if (o->help) return MAKI_OK;
    maki_status st = maki_config_open(&config, &o->config, err);
    if (st == MAKI_OK) st = take_settings(o, given, err);
    if (st == MAKI_OK) st = read_command_line(o, argc, argv, err);
    return st == MAKI_OK ? maki_daemon_options_check(o, err) : st;
}

void maki_daemon_options_free(maki_daemon_options *o)
{
    maki_config_close(o->config);
    o->config = NULL;
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
    if (o->token && o->token[0] == '\0') o->token = NULL;
    for (size_t i = 0; i < o->listen_count; i++) {
        if (!is_loopback(o->listen[i]) && !o->token) {
            return maki_fail(err, MAKI_DENIED,
                             "%.60s can be reached from other machines: that needs a token; "
                             "set MAKI_TOKEN, serve.token or --token",
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
        "\nAll but --home, --ready-fd and --config can stand in maki.yaml: maki config reference.\n"
        "TIME is 30s, 250ms or 5m; BYTES 64k, 10m or 1g.  NAME of an upstream: anthropic, openai, gemini and\n"
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
