/* turn_session.c -- find or create the session of a turn, read its settings, append the user's rows, limit its turns.
 *
 * In:    the request: a path or a key, a text or rows.
 * Out:   the open conversation, with the user's message durable in it.
 * For thinking and max_tokens the precedence is: the request, the session's overrides, the agent's settings. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/str_util.h"
#include "base/text.h"
#include "engine/turn_internal.h"
#include "store/key.h"
#include "store/limit.h"
#include "store/resolve.h"
#include "store/transcript.h"
#include "wire/json_row.h"

/* ---- the session ---------------------------------------------------------------------------------------------- */

static maki_status set_agent(maki_turn_state *w, maki_str name, maki_err *err)
{
    if (w->request->agent.len) name = w->request->agent;
    if (name.len == 0) name = MAKI_LIT(MAKI_AGENT_DEFAULT);
    if (name.len >= sizeof w->agent)
        return maki_fail(err, MAKI_INVALID, "the agent's name is longer than %zu bytes",
                         sizeof w->agent - 1);
    snprintf(w->agent, sizeof w->agent, "%.*s", (int)name.len, name.ptr);
    return MAKI_OK;
}

/* agent:AGENT:CHANNEL:ID has a channel; agent:AGENT:main has none. */
static void channel_of(maki_str main_key, char out[MAKI_KEY_MAX])
{
    const char *colon = memchr(main_key.ptr, ':', main_key.len);
    int n = colon ? (int)(colon - main_key.ptr) : 0;
    snprintf(out, MAKI_KEY_MAX, "%.*s", n, main_key.ptr);
}

static maki_status resolve_key(maki_turn_state *w, maki_err *err)
{
    char agent[MAKI_KEY_MAX], channel[MAKI_KEY_MAX];
    maki_session_key key;
    maki_resolved_session resolved;
    maki_origin from = { agent, channel, "", "", "", w->request->client };
    if (strlen(w->request->key) >= MAKI_KEY_MAX - 2)
        return maki_fail(err, MAKI_INVALID, "the session key is longer than %d bytes",
                         MAKI_KEY_MAX - 3);
    maki_status st = maki_session_key_parse(maki_str_of(w->request->key), &w->arena, &key, err);
    if (st != MAKI_OK) return st;
    snprintf(agent, sizeof agent, "%.*s", (int)key.agent_id.len, key.agent_id.ptr);
    channel_of(key.main_key, channel);
    st = set_agent(w, key.agent_id, err);
    if (st == MAKI_OK)
        st = maki_session_resolve(w->options->env, w->turns->home, &from, w->request->key, false,
                                  &resolved, err);
    if (st != MAKI_OK) return st;
    w->result->created = resolved.created;
    return maki_session_file(w->turns->home, agent, resolved.session.id, w->result->path,
                             sizeof w->result->path, err);
}

maki_status maki_turn_find_session(maki_turn_state *w, maki_err *err)
{
    const char *path = w->request->path;
    maki_session_location location;
    if (!path && !w->request->key)
        return maki_fail(err, MAKI_INVALID, "a turn needs a session: its path or its key");
    if (!path) return resolve_key(w, err);
    if (strlen(path) >= sizeof w->result->path)
        return maki_fail(err, MAKI_INVALID, "the path of the session is too long");
    snprintf(w->result->path, sizeof w->result->path, "%s", path);
    w->result->created = !maki_file_exists(w->options->env->files, path);
    bool session = maki_session_location_of(path, &location);
    return set_agent(w, session ? maki_str_of(location.agent) : MAKI_LIT(""), err);
}

/* ---- settings ----------------------------------------------------------------------------------------- */

/* Read the session; if it is that of the last turn, only what was appended since. */
static maki_status read_session(maki_turn_state *w, maki_err *err)
{
    maki_turns *t = w->turns;
    maki_session_location location;
    (void)maki_session_location_of(w->result->path, &location);
    if (strcmp(t->path, w->result->path) != 0) {
        t->session = (maki_session){ .created = 0 };
        t->system_sha[0] = '\0';
        memcpy(t->session.agent, location.agent, sizeof t->session.agent);
        memcpy(t->session.id, location.id, sizeof t->session.id);
        memcpy(t->path, w->result->path, sizeof t->path);
    }
    maki_status st = maki_transcript_read(w->options->env, location.directory, &t->session, err);
    if (st != MAKI_OK) t->path[0] = '\0';
    return st;
}

static maki_str override_of(const maki_turn_state *w, const char *name)
{
    const char *overrides = w->turns->session.overrides;
    maki_str value;
    if (!overrides[0] || !maki_json_get(maki_str_of(overrides), maki_str_of(name), &value))
        return (maki_str){ "", 0 };
    return value;
}

static maki_status read_settings(maki_turn_state *w, maki_err *err)
{
    maki_str thinking = override_of(w, "thinking"), max_tokens = override_of(w, "maxTokens");
    w->max_tokens = w->request->max_tokens;
    if (!w->max_tokens) w->max_tokens = maki_count_of(max_tokens);
    w->thinking = w->request->thinking;
    if (w->thinking != MAKI_THINKING_UNSET) return MAKI_OK;
    maki_str level =
        thinking.len ? maki_json_text(thinking, &w->arena) : maki_turn_text(w, "thinking");
    return level.len ? maki_thinking_parse(level, &w->thinking, err) : MAKI_OK;
}

maki_status maki_turn_open_session(maki_turn_state *w, maki_err *err)
{
    maki_conv_options options = { .create = true, .durability = w->options->durability };
    maki_status st = maki_conv_open(w->options->env, w->result->path, &options, &w->conv, err);
    if (st == MAKI_OK) st = read_session(w, err);
    if (st == MAKI_OK) st = read_settings(w, err);
    return st == MAKI_OK ? maki_turn_read_state(w, err) : st;
}

/* ---- the user's rows ----------------------------------------------------------------------------------------------- */

maki_status maki_turn_append_message(maki_turn_state *w, maki_err *err)
{
    const maki_turn_request *q = w->request;
    maki_status st = MAKI_OK;
    size_t bad;
    if (q->text.len && !maki_utf8_valid(q->text, &bad))
        return maki_fail(err, MAKI_INVALID, "the message is not UTF-8 at byte %zu", bad);
    if (q->row_count) st = maki_turn_add_rows(w, q->rows, q->row_count, err);
    if (st == MAKI_OK && q->text.len) st = maki_turn_add_text(w, q->text, err);
    if (w->result->rows) w->result->asked = w->result->last - w->result->rows + 1;
    return st;
}

maki_status maki_turn_limit_session(maki_turn_state *w, maki_err *err)
{
    const maki_config *config = w->options->config;
    char per_provider[MAKI_ID_MAX + 80];
    snprintf(per_provider, sizeof per_provider, "turnLimits.perProvider.%s",
             w->turns->provider.name);
    maki_turn_limits limits = { .global = maki_config_number(config, "turnLimits.global"),
                                .user = maki_config_number(config, "turnLimits.perUser"),
                                .provider = maki_config_number(config, per_provider),
                                .agent = maki_config_number(
                                    config, maki_turn_setting(w, "maxTurns").text) };
    maki_turn_limit_report limited = { 0 };
    bool channel = maki_session_from_channel(&w->turns->session);
    uint64_t limit = maki_turn_limit(&limits, channel);
    if (limit == 0) return MAKI_OK;
    maki_status st = maki_conv_limit_turns(w->conv, limit, false, &limited, err);
    w->result->limited = limited.change.effect.hidden;
    return st;
}
