/* resolve.c -- build session keys, find or create the session of a key, and change the state of a session.
 *
 * In:     where a message came from, or a key.
 * Out:    the session, and a note when sessions.json could not be updated.
 * Always: state is written to the session's own files first, to sessions.json last; a new session exists with its
 *         overrides before an old one loses the key, so that after a crash at any point the key still finds one of
 *         them. */
#include "store/resolve.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/json_builder.h"
#include "base/json_print.h"
#include "base/random.h"
#include "base/str_util.h"
#include "base/text.h"
#include "history/conv.h"
#include "store/transcript.h"

enum { HEADER_MEMORY_MAX = 1 << 16 };

/* ---- keys ------------------------------------------------------------------------------------------ */

bool maki_scope_parse(maki_str name, maki_scope *out)
{
    static const char *const names[] = { "global", "per-group", "per-sender" };
    for (size_t i = 0; i < 3; i++) {
        if (!maki_str_equal(name, maki_str_of(names[i]))) continue;
        *out = (maki_scope)i;
        return true;
    }
    return false;
}

/* May this be a part of a key?  Empty parts between colons would parse as another key. */
static maki_status check_part(const char *part_name, const char *text, bool colons, maki_err *err)
{
    size_t n = strlen(text), bad;
    if (n == 0) return maki_fail(err, MAKI_INVALID, "the %s is missing", part_name);
    if (!maki_utf8_valid((maki_str){ text, n }, &bad))
        return maki_fail(err, MAKI_INVALID, "the %s is not UTF-8", part_name);
    if (maki_str_trim((maki_str){ text, n }).len != n)
        return maki_fail(err, MAKI_INVALID, "the %s has white space around it", part_name);
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return maki_fail(err, MAKI_INVALID, "the %s has a control character in it", part_name);
    }
    if (!colons && strchr(text, ':'))
        return maki_fail(err, MAKI_INVALID,
                         "the %s has a colon in it, which separates the parts of a key", part_name);
    if (text[0] == ':' || text[n - 1] == ':' || strstr(text, "::"))
        return maki_fail(err, MAKI_INVALID, "the %s has an empty part between its colons",
                         part_name);
    return MAKI_OK;
}

/* The id of a chat within its channel. */
static const char *main_id(const maki_origin *from, maki_scope scope, const char **part_name)
{
    bool group = scope == MAKI_SCOPE_GROUP && from->group[0];
    *part_name = from->thread[0] ? "thread" : group ? "group" : "sender";
    return from->thread[0] ? from->thread : group ? from->group : from->sender;
}

maki_status maki_origin_key(const maki_origin *from, maki_scope scope, char out[MAKI_KEY_MAX],
                            maki_err *err)
{
    const char *part_name, *id = main_id(from, scope, &part_name);
    int n;
    if (!maki_id_is_valid(from->agent))
        return maki_fail(err, MAKI_INVALID,
                         "the agent's name must be letters, digits, - _ and . (not at the front)");
    if (scope == MAKI_SCOPE_GLOBAL) {
        n = snprintf(out, MAKI_KEY_MAX, "agent:%s:global", from->agent);
    } else {
        maki_status st = check_part("channel", from->channel, false, err);
        if (st == MAKI_OK) st = check_part(part_name, id, true, err);
        if (st != MAKI_OK) return st;
        n = snprintf(out, MAKI_KEY_MAX, "agent:%s:%s:%s", from->agent, from->channel, id);
    }
    if (n > 0 && n < MAKI_KEY_MAX - 2) return MAKI_OK; /* fits with quotes too */
    return maki_fail(err, MAKI_INVALID, "the session key would be longer than %d bytes",
                     MAKI_KEY_MAX - 3);
}

/* ---- creating ------------------------------------------------------------------------------------- */

maki_status maki_session_header(const maki_session *s, maki_arena *arena, maki_str *out,
                                maki_err *err)
{
    maki_json_builder build;
    maki_json_builder_begin(&build, arena, err);
    maki_jw_print(&build.w, "{'type':'header','version':1,'sessionId':%z,'createdAt':%i", s->id,
                  s->created);
    if (s->key[0]) maki_jw_print(&build.w, "'sessionKey':%z,'channel':%z", s->key, s->channel);
    if (s->client[0]) maki_jw_print(&build.w, "'client':%z", s->client);
    if (s->title[0]) maki_jw_print(&build.w, "'title':%z", s->title);
    maki_jw_end_object(&build.w);
    return maki_json_builder_end(&build, arena, out, err);
}

/* {"overrides":...,"state":...,"sessionKey":...}, without the braces; empty: no change. */
static maki_str format_state(const maki_session_change *to, const char *key, char *out,
                             size_t capacity)
{
    int n = 0;
    if (to->overrides) n = snprintf(out, capacity, "\"overrides\":%s", to->overrides);
    if (to->archived >= 0)
        n += snprintf(out + n, capacity - (size_t)n, "%s\"state\":\"%s\"", n ? "," : "",
                      to->archived ? "archived" : "active");
    if (to->name)
        n += snprintf(out + n, capacity - (size_t)n, "%s\"sessionKey\":\"%s\"", n ? "," : "", key);
    return (maki_str){ out, (size_t)n };
}

static maki_status write_state(const maki_env *env, const char *path, const maki_session_change *to,
                               const char *key, maki_err *err)
{
    char fields[MAKI_OVERRIDES_MAX + MAKI_KEY_MAX + 80];
    maki_conv_options options = { .durability = MAKI_DURABILITY_SYNC, .threads = 1 };
    maki_conv *conv = NULL;
    maki_change ignored;
    maki_str text = format_state(to, key, fields, sizeof fields);
    if (!text.len) return MAKI_OK;
    maki_status st = maki_conv_open(env, path, &options, &conv, err);
    if (st == MAKI_OK) st = maki_conv_add_event(conv, "session", text, &ignored, err);
    maki_conv_close(conv);
    return st;
}

/* Create the transcript of *s, whose agent, key, channel, overrides and time are set. */
static maki_status create_session(const maki_env *env, const char *home, maki_session *s,
                                  maki_err *err)
{
    char path[MAKI_PATH_MAX], directory[MAKI_PATH_MAX];
    maki_arena arena = maki_arena_new(env->alloc, HEADER_MEMORY_MAX);
    maki_conv_options options = { .create = true,
                                  .durability = MAKI_DURABILITY_SYNC,
                                  .threads = 1 };
    maki_conv *conv = NULL;
    maki_status st = maki_uuid(env->random, s->id, err);
    if (st == MAKI_OK) st = maki_session_header(s, &arena, &options.header, err);
    if (st == MAKI_OK)
        st = maki_agent_directory(env->files, home, s->agent, "sessions", directory,
                                  sizeof directory, err);
    if (st == MAKI_OK) st = maki_session_file(home, s->agent, s->id, path, sizeof path, err);
    if (st == MAKI_OK) st = maki_conv_open(env, path, &options, &conv, err);
    maki_conv_close(conv);
    maki_arena_free(&arena);
    maki_session_change overrides = { s->overrides[0] ? s->overrides : NULL, -1, NULL };
    if (st == MAKI_OK) st = write_state(env, path, &overrides, "", err);
    if (st == MAKI_OK) st = maki_transcript_read(env, directory, s, err);
    return st;
}

/* ---- resolving ------------------------------------------------------------------------------------- */

static void update_index(const maki_env *env, maki_session_index_query index_query,
                         const char *about, char *note)
{
    maki_session_index_report report;
    index_query.about = about;
    if (maki_session_index_each(env, &index_query, &report, NULL) == MAKI_OK && report.note[0])
        memcpy(note, report.note, sizeof report.note);
}

/* Archive all sessions with the key but *s.  There is more than one after an interrupted attempt, or when files were
 * copied. */
static maki_status archive_others(const maki_env *env, const maki_session_index_query *index_query,
                                  const maki_session *s, maki_err *err)
{
    maki_session_change archived = { NULL, 1, NULL };
    char path[MAKI_PATH_MAX], last[MAKI_ID_MAX] = "";
    for (;;) {
        maki_session_index_report report;
        maki_session oldest;
        bool found = false;
        maki_status st =
            maki_session_with_key(env, index_query, s->key, &oldest, &found, &report, err);
        if (st != MAKI_OK || !found || strcmp(oldest.id, s->id) == 0) return st;
        if (strcmp(oldest.id, last) == 0)
            return maki_fail(err, MAKI_IO, "%.60s cannot be archived: its events are not readable",
                             last);
        memcpy(last, oldest.id, sizeof last);
        st = maki_session_file(index_query->home, s->agent, oldest.id, path, sizeof path, err);
        if (st == MAKI_OK) st = write_state(env, path, &archived, "", err);
        if (st != MAKI_OK) return st;
    }
}

/* Look the key up again, now under the lock if it was acquired, and only then create a session.  The old one is
 * archived last: if anything fails before that, the key still finds it, with its overrides. */
static maki_status find_or_create(const maki_env *env, const maki_session_index_query *index_query,
                                  const maki_origin *from, const char *key, bool fresh,
                                  maki_resolved_session *out, maki_err *err)
{
    maki_session_index_report report;
    maki_session before = { 0 };
    bool found = false;
    maki_status st = maki_session_with_key(env, index_query, key, &before, &found, &report, err);
    if (st != MAKI_OK) return st;
    if (found && !fresh) {
        out->session = before;
        return MAKI_OK;
    }
    maki_session *s = &out->session;
    *s = (maki_session){ .created = env->clock->now_ms(env->clock) };
    if (s->created <= before.created)
        s->created = before.created + 1; /* the older one is found by a key */
    snprintf(s->agent, sizeof s->agent, "%s", from->agent);
    snprintf(s->key, sizeof s->key, "%s", key);
    snprintf(s->channel, sizeof s->channel, "%s", from->channel);
    snprintf(s->client, sizeof s->client, "%s", from->client ? from->client : "");
    memcpy(s->overrides, before.overrides, sizeof s->overrides);
    st = create_session(env, index_query->home, s, err);
    if (st == MAKI_OK && found) st = archive_others(env, index_query, s, err);
    out->created = st == MAKI_OK;
    if (st == MAKI_OK) update_index(env, *index_query, found ? before.id : NULL, out->note);
    return st;
}

maki_status maki_session_resolve(const maki_env *env, const char *home, const maki_origin *from,
                                 const char *key, bool fresh, maki_resolved_session *out,
                                 maki_err *err)
{
    maki_session_index_query index_query = { .home = home, .agent = from->agent };
    maki_session_index_report report;
    maki_session_index_lock lock = { 0 };
    maki_err why = { 0 };
    char directory[MAKI_PATH_MAX];
    bool found = false;
    *out = (maki_resolved_session){ .created = false };
    if (strlen(from->channel) >= MAKI_CHANNEL_MAX)
        return maki_fail(err, MAKI_INVALID, "the channel's name is longer than %d bytes",
                         MAKI_CHANNEL_MAX - 1);
    maki_status st = MAKI_OK;
    if (!fresh) {
        st = maki_session_with_key(env, &index_query, key, &out->session, &found, &report, err);
        memcpy(out->note, report.note, sizeof out->note);
        if (st != MAKI_OK || found) return st;
    }
    st = maki_agent_directory(env->files, home, from->agent, "", directory, sizeof directory, err);
    if (st != MAKI_OK) return st;
    if (maki_session_index_lock_acquire(&lock, env, home, from->agent, MAKI_SESSION_INDEX_WAIT,
                                        &why) == MAKI_OK)
        index_query.held = &lock;
    else
        index_query.wait_ms = 1; /* already waited above */
    st = find_or_create(env, &index_query, from, key, fresh, out, err);
    maki_session_index_lock_release(&lock, env);
    return st;
}

/* ---- the state of a session ---------------------------------------------------------------------- */

static maki_status check_key_is_free(const maki_env *env,
                                     const maki_session_index_query *index_query,
                                     const maki_session *s, maki_err *err)
{
    maki_session_index_report report;
    maki_session other;
    bool found = false;
    if (!s->key[0]) return MAKI_OK;
    maki_status st = maki_session_with_key(env, index_query, s->key, &other, &found, &report, err);
    if (st != MAKI_OK || !found || strcmp(other.id, s->id) == 0) return st;
    return maki_refuse(err, "KEY_TAKEN",
                       "session %.60s has this key; rename or archive that one first", other.id);
}

static maki_status read_location(const maki_env *env, const maki_session_location *location,
                                 maki_session *out, maki_err *err)
{
    memcpy(out->agent, location->agent, sizeof out->agent);
    memcpy(out->id, location->id, sizeof out->id);
    maki_session_reset(out);
    return maki_transcript_read(env, location->directory, out, err);
}

maki_status maki_session_get(const maki_env *env, const char *path, maki_session *out,
                             maki_err *err)
{
    maki_session_location location;
    (void)maki_session_location_of(path, &location);
    return read_location(env, &location, out, err);
}

/* "agent:AGENT:NAME" */
static maki_status new_key(const maki_session_location *at, bool session, const char *name,
                           char key[MAKI_KEY_MAX], maki_err *err)
{
    bool plain = name[0] && strncmp(name, "agent:", 6) != 0;
    for (const char *c = name; *c; c++)
        plain = plain && (unsigned char)*c >= 0x20 && *c != 0x7f && !strchr("\"\\/", *c);
    if (!plain)
        return maki_fail(
            err, MAKI_INVALID,
            "a name must not be empty, begin with agent: or contain / \\ \" or control "
            "character");
    if (!session)
        return maki_fail(err, MAKI_INVALID, "a conversation outside of agents/ cannot be renamed");
    if (snprintf(key, MAKI_KEY_MAX, "agent:%s:%s", at->agent, name) < MAKI_KEY_MAX) return MAKI_OK;
    return maki_fail(err, MAKI_INVALID, "the session's name is longer than %d bytes",
                     MAKI_KEY_MAX - 1);
}

maki_status maki_session_set(const maki_env *env, const char *path, const maki_session_change *to,
                             maki_session *out, maki_err *err)
{
    char note[200];
    maki_session_location location;
    maki_session renamed;
    bool session = maki_session_location_of(path, &location);
    maki_session_index_query index_query = { .home = location.home, .agent = location.agent };
    if (to->overrides && strlen(to->overrides) >= MAKI_OVERRIDES_MAX)
        return maki_fail(err, MAKI_INVALID, "overrides are longer than %d bytes",
                         MAKI_OVERRIDES_MAX - 1);
    maki_status st = read_location(env, &location, out, err);
    renamed = *out;
    if (st == MAKI_OK && to->name) st = new_key(&location, session, to->name, renamed.key, err);
    bool active = to->archived < 0 ? !out->archived : !to->archived;
    if (st == MAKI_OK && session && active && (out->archived || to->name))
        st = check_key_is_free(env, &index_query, &renamed, err);
    if (st == MAKI_OK) st = write_state(env, path, to, renamed.key, err);
    if (st == MAKI_OK) st = maki_transcript_read(env, location.directory, out, err);
    if (st == MAKI_OK && session) update_index(env, index_query, location.id, note);
    return st;
}
