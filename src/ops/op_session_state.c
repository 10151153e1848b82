/* op_session_state.c -- session.resolve, session.set, session.rename, session.delete and session.limit: find the
 * session of a message, change its overrides, state and name, delete it, limit its turns.
 *
 * A field of the call has precedence over the configuration.  Overrides that other programs wrote are copied
 * unchanged. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <maki/config.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json_builder.h"
#include "base/json_print.h"
#include "base/random.h"
#include "base/str_util.h"
#include "history/erase.h"
#include "manage/thresholds.h"
#include "ops/context.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "store/limit.h"
#include "store/resolve.h"
#include "store/title.h"

enum { PART_MAX = 256 /* bytes of a channel, a sender ... with its NUL */ };

/* ---- fields ---------------------------------------------------------------------------------------- */

maki_status maki_field_home(const maki_op_call *call, char out[MAKI_PATH_MAX], maki_err *err)
{
    maki_str value;
    if (maki_input_value(call, "home", &value)) {
        maki_status st = maki_input_cstring(call, "home", out, MAKI_PATH_MAX, err);
        return st != MAKI_OK || out[0] ? st : maki_fail(err, MAKI_INVALID, "home is empty");
    }
    memcpy(out, call->m->home, MAKI_PATH_MAX);
    return out[0] ? MAKI_OK : maki_fail(err, MAKI_INVALID, "no state directory; set MAKI_HOME");
}

/* The handle's configuration, by default that of the user, which is *own then: the caller closes it. */
static maki_status open_config(const maki_op_call *call, const maki_config **out, maki_config **own,
                               maki_err *err)
{
    maki_config_options options = { .size = sizeof options,
                                    .env = call->m->env,
                                    .environment = environ };
    *own = NULL;
    maki_status st = call->m->config ? MAKI_OK : maki_config_open(&options, own, err);
    *out = call->m->config ? call->m->config : *own;
    return st;
}

void maki_write_session_fields(maki_jw *out, const maki_session *s)
{
    maki_jw_print(out,
                  "'id':%s,'agentId':%s,'sessionKey':%z,'channel':%z,'state':%z,'model':%s,"
                  "'createdAt':%i,'messageCount':%i,'tokenUsage':{'input':%i,'output':%i},"
                  "'overrides':%v",
                  maki_str_of(s->id), maki_str_of(s->agent), s->key, s->channel,
                  s->archived ? "archived" : "active", maki_str_of(s->model), s->created,
                  s->messages, s->input, s->output,
                  s->overrides[0] ? maki_str_of(s->overrides) : MAKI_LIT("{}"));
}

/* ---- session.resolve ------------------------------------------------------------------------------- */

/* Where a message comes from: the memory of a maki_origin. */
typedef struct origin_text {
    char agent[PART_MAX], channel[PART_MAX], sender[PART_MAX], group[PART_MAX], thread[PART_MAX],
        client[PART_MAX];
} origin_text;

static maki_status read_origin(const maki_op_call *call, origin_text *t, maki_origin *out,
                               maki_err *err)
{
    maki_status st = maki_input_cstring(call, "agent", t->agent, PART_MAX, err);
    if (st == MAKI_OK) st = maki_input_cstring(call, "channel", t->channel, PART_MAX, err);
    if (st == MAKI_OK) st = maki_input_cstring(call, "sender", t->sender, PART_MAX, err);
    if (st == MAKI_OK) st = maki_input_cstring(call, "group", t->group, PART_MAX, err);
    if (st == MAKI_OK) st = maki_input_cstring(call, "thread", t->thread, PART_MAX, err);
    if (st == MAKI_OK) st = maki_input_cstring(call, "client", t->client, MAKI_CLIENT_MAX, err);
    if (!t->agent[0]) snprintf(t->agent, sizeof t->agent, "%s", MAKI_AGENT_DEFAULT);
    *out = (maki_origin){ t->agent, t->channel, t->sender, t->group, t->thread, t->client };
    return st;
}

/* The field `scope`, else agents.AGENT.scope. */
static maki_status read_scope(const maki_op_call *call, const char *agent, maki_scope *out,
                              maki_err *err)
{
    char path[PART_MAX + 32];
    maki_config *own = NULL;
    const maki_config *config = NULL;
    maki_str value;
    if (maki_input_value(call, "scope", &value)) {
        if (maki_scope_parse(maki_json_text(value, call->arena), out)) return MAKI_OK;
        maki_status read = maki_arena_status(call->arena, err);
        return read != MAKI_OK
                   ? read
                   : maki_field_invalid(call, value, err,
                                        "scope must be global, per-group or per-sender");
    }
    maki_status st = open_config(call, &config, &own, err);
    if (st != MAKI_OK) return st;
    snprintf(path, sizeof path, "agents.%s.scope", agent);
    if (!maki_scope_parse(maki_config_text(config, path), out)) *out = MAKI_SCOPE_SENDER;
    maki_config_close(own);
    return MAKI_OK;
}

maki_status maki_op_session_resolve(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char home[MAKI_PATH_MAX], key[MAKI_KEY_MAX];
    origin_text text;
    maki_origin from;
    maki_scope scope;
    maki_resolved_session resolved;
    maki_status st = maki_field_home(call, home, err);
    if (st == MAKI_OK) st = read_origin(call, &text, &from, err);
    if (st == MAKI_OK) st = read_scope(call, from.agent, &scope, err);
    if (st == MAKI_OK) st = maki_origin_key(&from, scope, key, err);
    if (st == MAKI_OK)
        st = maki_session_resolve(&call->m->env, home, &from, key,
                                  maki_input_bool(call, "new", false), &resolved, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'made':%b", resolved.created);
    maki_write_session_fields(out, &resolved.session);
    maki_jw_print(out, "'note':%z}", resolved.note);
    return MAKI_OK;
}

/* ---- session.set ----------------------------------------------------------------------------------- */

/* The new value of an override: the field of the call (null removes it), by default the old value. */
static void put_override(const maki_op_call *call, maki_jw *w, const char *name, maki_str before)
{
    maki_str value;
    bool given = maki_json_get(call->input, maki_str_of(name), &value);
    if (!given && !maki_json_get(before, maki_str_of(name), &value)) return;
    if (maki_json_kind_of(value) == MAKI_JSON_NULL) return;
    maki_jw_key(w, maki_str_of(name));
    maki_jw_raw(w, value);
}

/* All overrides after the change, as JSON.  Those of other programs are copied. */
static maki_status new_overrides(const maki_op_call *call, const maki_session *now, maki_str *out,
                                 maki_err *err)
{
    maki_json_builder build;
    maki_str before = now->overrides[0] ? maki_str_of(now->overrides) : MAKI_LIT("{}");
    maki_json_builder_begin(&build, call->arena, err);
    maki_jw_begin_object(&build.w);
    put_override(call, &build.w, "thinking", before);
    put_override(call, &build.w, "maxTokens", before);
    put_override(call, &build.w, "threshold", before);
    MAKI_JSON_EACH(item, maki_json_items(before)) {
        if (maki_json_key_in(item.key, "thinking|maxTokens|threshold")) continue;
        const char *end = item.value.ptr + item.value.len;
        maki_jw_raw(&build.w, (maki_str){ item.start, (size_t)(end - item.start) });
    }
    maki_jw_end_object(&build.w);
    return maki_json_builder_end(&build, call->arena, out, err);
}

static maki_status check_thinking(const maki_op_call *call, maki_err *err)
{
    maki_str value;
    if (!maki_input_value(call, "thinking", &value) ||
        maki_json_text_in(value, "off|minimal|low|medium|high"))
        return MAKI_OK;
    return maki_field_invalid(call, value, err,
                              "thinking must be off, minimal, low, medium or high");
}

static maki_status check_threshold(const maki_op_call *call, maki_err *err)
{
    maki_str value;
    double percent = maki_input_number(call, "threshold", MAKI_THRESHOLD_MAX);
    if (percent >= MAKI_THRESHOLD_MIN && percent <= MAKI_THRESHOLD_MAX) return MAKI_OK;
    (void)maki_input_value(call, "threshold", &value);
    return maki_field_invalid(call, value, err, "threshold must be from %.0f to %.0f percent",
                              MAKI_THRESHOLD_MIN, MAKI_THRESHOLD_MAX);
}

static maki_status state_field(const maki_op_call *call, int *archived, maki_err *err)
{
    maki_str value;
    *archived = -1;
    if (!maki_input_value(call, "state", &value)) return MAKI_OK;
    *archived = maki_json_text_is(value, MAKI_LIT("archived"));
    if (*archived || maki_json_text_is(value, MAKI_LIT("active"))) return MAKI_OK;
    return maki_field_invalid(call, value, err, "state must be active or archived");
}

/* Change the session at `path` and answer what it is now. */
static maki_status change_session(maki_op_call *call, const char *path,
                                  const maki_session_change *to, maki_jw *out, maki_err *err)
{
    maki_session s;
    maki_status st = maki_session_set(&call->m->env, path, to, &s, err);
    if (st != MAKI_OK) return st;
    maki_jw_begin_object(out);
    maki_write_session_fields(out, &s);
    maki_jw_end_object(out);
    return MAKI_OK;
}

maki_status maki_op_session_set(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char path[MAKI_PATH_MAX];
    maki_session s;
    maki_session_change to = { .archived = -1 };
    maki_str overrides, ignored;
    bool has_override = maki_json_get(call->input, MAKI_LIT("thinking"), &ignored) ||
                        maki_json_get(call->input, MAKI_LIT("maxTokens"), &ignored) ||
                        maki_json_get(call->input, MAKI_LIT("threshold"), &ignored);
    maki_status st = check_thinking(call, err);
    if (st == MAKI_OK) st = check_threshold(call, err);
    if (st == MAKI_OK) st = state_field(call, &to.archived, err);
    if (st == MAKI_OK) st = maki_field_path(call, "conversation", path, err);
    if (st == MAKI_OK && has_override) {
        st = maki_session_get(&call->m->env, path, &s, err);
        if (st == MAKI_OK) st = new_overrides(call, &s, &overrides, err);
        if (st == MAKI_OK) {
            maki_str text =
                maki_arena_print(call->arena, "%.*s", (int)overrides.len, overrides.ptr);
            st = maki_arena_status(call->arena, err);
            to.overrides = text.ptr;
        }
    }
    return st == MAKI_OK ? change_session(call, path, &to, out, err) : st;
}

maki_status maki_op_session_rename(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char path[MAKI_PATH_MAX], name[MAKI_KEY_MAX];
    maki_session_change to = { .archived = -1, .name = name };
    maki_status st = maki_input_cstring(call, "name", name, sizeof name, err);
    if (st == MAKI_OK) st = maki_field_path(call, "conversation", path, err);
    return st == MAKI_OK ? change_session(call, path, &to, out, err) : st;
}

/* ---- session.fork ---------------------------------------------------------------------------------- */

/* A session of the same agent, client and title, without a key: that is of the one it comes from. */
static maki_status new_fork(const maki_op_call *call, const maki_session *from, const char *home,
                            maki_session *out, char path[MAKI_PATH_MAX], maki_str *header,
                            maki_err *err)
{
    const maki_env *env = &call->m->env;
    *out = (maki_session){ .created = env->clock->now_ms(env->clock) };
    memcpy(out->agent, from->agent, sizeof out->agent);
    memcpy(out->client, from->client, sizeof out->client);
    maki_title_of_text(maki_session_title(from), out->title, sizeof out->title);
    maki_status st = maki_uuid(env->random, out->id, err);
    if (st == MAKI_OK) st = maki_session_header(out, call->arena, header, err);
    return st == MAKI_OK ? maki_session_file(home, out->agent, out->id, path, MAKI_PATH_MAX, err)
                         : st;
}

maki_status maki_op_session_fork(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char path[MAKI_PATH_MAX];
    maki_session from, s;
    maki_session_location location;
    maki_conv *conv = NULL;
    maki_str value, header;
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_WRITE, &conv, err);
    if (st != MAKI_OK) return st;
    maki_log *log = maki_conv_log(conv);
    uint64_t seq = maki_input_value(call, "seq", &value) ? (uint64_t)maki_json_double(value)
                                                         : maki_log_last(log);
    if (!maki_session_location_of(maki_log_path(log), &location))
        st = maki_fail(err, MAKI_INVALID,
                       "only a session, under agents/, is forked here; history.fork takes a path");
    if (st == MAKI_OK) st = maki_session_get(&call->m->env, maki_log_path(log), &from, err);
    if (st == MAKI_OK) st = new_fork(call, &from, location.home, &s, path, &header, err);
    if (st == MAKI_OK) st = maki_conv_fork(conv, seq, MAKI_NEWEST, path, header, err);
    maki_conv_close(conv);
    conv = NULL;
    /* the actual point of the fork, which is never between a call and its result */
    maki_conv_options options = { .read_only = true };
    if (st == MAKI_OK) st = maki_session_get(&call->m->env, path, &s, err);
    if (st == MAKI_OK) st = maki_conv_open(&call->m->env, path, &options, &conv, err);
    if (st != MAKI_OK) return st;
    maki_jw_begin_object(out);
    maki_write_session_fields(out, &s);
    maki_jw_print(out, "'title':%s,'seq':%i}", maki_session_title(&s),
                  maki_log_base(maki_conv_log(conv)));
    maki_conv_close(conv);
    return MAKI_OK;
}

/* ---- session.delete -------------------------------------------------------------------------------- */

typedef struct fork_search {
    const maki_files *files;
    const maki_session_location *parent;
    char fork[MAKI_ID_MAX]; /* "": there is none */
} fork_search;

/* Called for each file of the directory: are these the events of a fork of the session? */
static bool match_fork(void *ctx, const char *file)
{
    enum { FIRST_EVENT = 1024 };
    fork_search *f = ctx;
    char path[MAKI_PATH_MAX], text[FIRST_EVENT], parent[MAKI_ID_MAX];
    size_t got = 0;
    maki_str event, name = maki_str_of(file);
    if (!maki_str_ends(name, MAKI_LIT(".events.jsonl"))) return true;
    snprintf(path, sizeof path, "%s/%s", f->parent->directory, file);
    int fd = f->files->open(f->files, path, O_RDONLY, 0);
    if (fd < 0) return true;
    maki_status st = maki_file_read_at(f->files, fd, 0, text, sizeof text, &got, NULL);
    f->files->close(f->files, fd);
    maki_str rest = { text, got }, line;
    if (st != MAKI_OK || !maki_str_take(&rest, '\n', &line) ||
        maki_json_check(line, &event, NULL) != MAKI_OK ||
        !maki_json_field_is(event, "type", "fork"))
        return true;
    maki_json_text_field(event, "parent", parent, sizeof parent);
    if (strcmp(parent, f->parent->id) == 0)
        snprintf(f->fork, sizeof f->fork, "%.*s", (int)(name.len - strlen(".events.jsonl")), file);
    return !f->fork[0];
}

maki_status maki_op_session_delete(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char path[MAKI_PATH_MAX];
    maki_session s;
    maki_session_location location;
    const maki_files *files = call->m->env.files;
    maki_status st = maki_field_path(call, "conversation", path, err);
    if (st == MAKI_OK) st = maki_session_get(&call->m->env, path, &s, err);
    if (st != MAKI_OK) return st;
    if (!maki_session_location_of(path, &location))
        return maki_fail(err, MAKI_INVALID, "only a session, under agents/, can be deleted");
    if (!maki_input_bool(call, "yes", false))
        return maki_refuse(err, "NOT_CONFIRMED", "it cannot be undone: yes must be true");
    fork_search f = { .files = files, .parent = &location };
    (void)files->list(files, location.directory, match_fork, &f);
    if (f.fork[0])
        return maki_refuse(err, "HAS_FORKS",
                           "%.60s is a fork of it and needs its messages; delete that first",
                           f.fork);
    st = maki_conv_erase(&call->m->env, path, err);
    if (st == MAKI_OK) maki_jw_print(out, "{'id':%z,'messages':%i}", s.id, s.messages);
    return st;
}

/* ---- session.limit --------------------------------------------------------------------------------- */

/* The provider of a model, by the start of its name; "": unknown. */
static const char *provider_of(const char *model)
{
    static const char *const known[][2] = {
        { "claude", "anthropic" }, { "anthropic", "anthropic" }, { "gpt", "openai" },
        { "chatgpt", "openai" },   { "openai", "openai" },       { "o1", "openai" },
        { "o3", "openai" },        { "o4", "openai" },           { "gemini", "gemini" },
        { "google", "gemini" },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strncmp(model, known[i][0], strlen(known[i][0])) == 0) return known[i][1];
    }
    return "";
}

static double config_number(const maki_config *config, const char *before, const char *name,
                            const char *after)
{
    char path[PART_MAX + MAKI_ID_MAX];
    snprintf(path, sizeof path, "%s%s%s", before, name, after);
    return maki_config_number(config, path);
}

static maki_status read_limits(const maki_op_call *call, const maki_session *s,
                               maki_turn_limits *out, maki_err *err)
{
    char provider[PART_MAX];
    maki_config *own = NULL;
    const maki_config *config = NULL;
    maki_status st = maki_input_cstring(call, "provider", provider, PART_MAX, err);
    if (st == MAKI_OK) st = open_config(call, &config, &own, err);
    if (st != MAKI_OK) return st;
    if (!provider[0]) snprintf(provider, sizeof provider, "%s", provider_of(s->model));
    const char *agent = s->agent[0] ? s->agent : MAKI_AGENT_DEFAULT;
    out->global = maki_config_number(config, "turnLimits.global");
    out->user = maki_config_number(config, "turnLimits.perUser");
    if (provider[0]) out->provider = config_number(config, "turnLimits.perProvider.", provider, "");
    out->agent = config_number(config, "agents.", agent, ".maxTurns");
    maki_config_close(own);
    return MAKI_OK;
}

maki_status maki_op_session_limit(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char path[MAKI_PATH_MAX];
    maki_conv *conv = NULL;
    maki_session s;
    maki_turn_limits limits = { 0 };
    maki_turn_limit_report limited;
    maki_str value;
    maki_status st = maki_field_path(call, "conversation", path, err);
    if (st == MAKI_OK) st = maki_session_get(&call->m->env, path, &s, err);
    if (st == MAKI_OK) st = read_limits(call, &s, &limits, err);
    bool preview = maki_input_bool(call, "preview", false);
    if (st == MAKI_OK)
        st = maki_field_conversation(call, preview ? MAKI_ACCESS_READ : MAKI_ACCESS_WRITE, &conv,
                                     err);
    if (st != MAKI_OK) return st;
    bool given = maki_input_value(call, "limit", &value);
    uint64_t limit = given ? (uint64_t)maki_json_double(value)
                           : maki_turn_limit(&limits, maki_session_from_channel(&s));
    st = maki_conv_limit_turns(conv, limit, preview, &limited, err);
    maki_conv_close(conv);
    if (st != MAKI_OK) return st;
    maki_jw_print(out, "{'limit':%i,'turns':%i,'left':%i,'event':%i,'removed':%i", limit,
                  limited.turns, limited.left, limited.change.event, limited.change.effect.hidden);
    maki_write_view_change(out, &limited.change.effect);
    maki_jw_end_object(out);
    return MAKI_OK;
}
