/* transcript.c -- update a maki_session from what was appended to its files since they were last read.
 *
 * In:     a session with the offsets of the last read, and the directory of its files.
 * Out:    the session with new counts, sums, state and offsets.
 * Always: offsets end at a newline, so a row that is still being written is read next time; a file that became shorter
 *         was replaced, and is read from its beginning. */
#include "store/transcript.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/files.h"
#include "base/json_access.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "log/index.h"
#include "log/lines.h"
#include "store/title.h"

enum {
    BLOCK = 1 << 16,
    HEADER_MAX = 4096,
    TITLE_ROWS = 8,     /* messages that are searched for a title */
    ROW_MAX = 64 << 20, /* bytes of such a message */
    MESSAGE_MAX = 200,  /* bytes of an error's message that are kept */
    TAIL = 1 << 16,     /* bytes at the end of the file that are searched for the newest reply */
    TYPE_PREFIX = 160   /* bytes at the start of an event that contain its type */
};
#define EVENT_MAX ((uint64_t)512 << 20)

/* Copy the text of a string field, if it fits. */
static void copy_field(maki_str object, const char *name, char *out, size_t capacity)
{
    maki_str value;
    if (maki_json_string_field(object, name, &value) && value.len <= capacity)
        out[maki_json_copy_text(value, out, capacity - 1)] = '\0';
}

/* ---- the header ------------------------------------------------------------------------------------ */

/* Read the header row, if there is one. */
static maki_status read_header(const maki_env *env, int fd, maki_session *s, bool *found,
                               maki_err *err)
{
    char text[HEADER_MAX];
    size_t got = 0;
    maki_str header;
    maki_status st = maki_file_read_at(env->files, fd, 0, text, sizeof text, &got, err);
    if (st != MAKI_OK) return st;
    const char *end = memchr(text, '\n', got);
    maki_str row = { text, end ? (size_t)(end - text) : 0 };
    *found = maki_str_starts(row, MAKI_LIT("{\"type\":\"header\""));
    if (*found && maki_json_check(row, &header, NULL) == MAKI_OK) {
        s->created = (int64_t)maki_json_uint_field(header, MAKI_LIT("createdAt"));
        copy_field(header, "sessionKey", s->key, sizeof s->key);
        copy_field(header, "channel", s->channel, sizeof s->channel);
        copy_field(header, "client", s->client, sizeof s->client);
        copy_field(header, "title", s->title, sizeof s->title);
    }
    return MAKI_OK;
}

/* ---- the title --------------------------------------------------------------------------------------- */

typedef struct title_reader {
    maki_session *s;
    maki_arena arena;
    size_t rows;
    bool tags; /* also a text that begins with an unknown tag */
} title_reader;

static maki_status read_title_row(void *ctx, maki_str row, uint64_t offset, maki_err *err)
{
    title_reader *r = ctx;
    maki_str value;
    (void)offset;
    (void)err;
    if (r->rows++ > TITLE_ROWS) return MAKI_CANCELLED; /* the first row may be a header */
    bool found = maki_json_check(row, &value, NULL) == MAKI_OK &&
                 maki_json_kind_of(value) == MAKI_JSON_OBJECT &&
                 maki_title_of(value, r->tags, &r->arena, r->s->title, sizeof r->s->title);
    return found ? MAKI_CANCELLED : MAKI_OK;
}

/* Find the title in the first messages.  A failure is no title: the messages are counted all the same. */
static void read_title(const maki_env *env, int fd, maki_session *s)
{
    title_reader r = { .s = s, .arena = maki_arena_new(env->alloc, ROW_MAX) };
    uint64_t end;
    for (int tags = 0; tags < 2 && !s->title[0]; tags++) {
        r.tags = tags > 0;
        r.rows = 0;
        (void)maki_lines_each(env, fd, 0, ROW_MAX, read_title_row, &r, &end, NULL);
    }
    maki_arena_free(&r.arena);
}

/* ---- the messages ---------------------------------------------------------------------------------- */

/* Count the rows from `from` on; *end is one past the last newline. */
static maki_status count_rows(const maki_env *env, int fd, uint64_t from, uint64_t *rows,
                              uint64_t *end, maki_err *err)
{
    maki_status st = MAKI_OK;
    size_t got = BLOCK;
    char *block = env->alloc->resize(env->alloc, NULL, 0, BLOCK);
    if (!block) return maki_fail_nomem(err);
    *end = from;
    for (uint64_t at = from; got == BLOCK; at += got) {
        st = maki_file_read_at(env->files, fd, at, block, BLOCK, &got, err);
        if (st != MAKI_OK) break;
        for (const char *p = block; (p = memchr(p, '\n', got - (size_t)(p - block))); p++) {
            ++*rows;
            *end = at + (uint64_t)(p - block) + 1;
        }
    }
    env->alloc->resize(env->alloc, block, BLOCK, 0);
    return st;
}

/* Use the row count of the index, if the index covers the file to its end. */
static bool count_by_index(const maki_env *env, const char *directory, uint64_t size,
                           maki_session *s)
{
    char path[MAKI_PATH_MAX];
    maki_index index;
    snprintf(path, sizeof path, "%s/%s.idx", directory, s->id);
    if (maki_index_open(&index, env, path, false, NULL) != MAKI_OK) return false;
    bool complete = index.header.count > 0 && index.header.end == size;
    if (complete) s->messages = index.header.count;
    if (complete) s->read_messages = size;
    maki_index_close(&index);
    return complete;
}

static bool model_of(maki_str row, maki_session *s)
{
    maki_str value;
    if (!maki_str_contains(row, MAKI_LIT("\"model\"")) ||
        maki_json_check(row, &value, NULL) != MAKI_OK)
        return false;
    char model[MAKI_MODEL_MAX] = "";
    copy_field(maki_json_first_field(value, "meta", MAKI_JSON_OBJECT), "model", model,
               sizeof model);
    if (model[0]) memcpy(s->model, model, sizeof model);
    return model[0] != '\0';
}

/* The model of the newest row in `tail` that names one; the first row may be incomplete. */
static bool model_in(maki_str tail, maki_session *s)
{
    bool found = false;
    maki_str row;
    while (maki_str_take(&tail, '\n', &row))
        found = model_of(row, s) || found;
    return found;
}

static maki_status read_model(const maki_env *env, int fd, uint64_t from, uint64_t end,
                              maki_session *s, bool *found, maki_err *err)
{
    size_t want = end - from < TAIL ? (size_t)(end - from) : TAIL, got = 0;
    char *tail = env->alloc->resize(env->alloc, NULL, 0, want);
    if (!tail) return maki_fail_nomem(err);
    maki_status st = maki_file_read_at(env->files, fd, end - want, tail, want, &got, err);
    *found = st == MAKI_OK && got == want && model_in((maki_str){ tail, want }, s);
    env->alloc->resize(env->alloc, tail, want, 0);
    return st;
}

static maki_status read_rows(const maki_env *env, const char *directory, int fd, uint64_t size,
                             maki_session *s, bool *model, maki_err *err)
{
    uint64_t from = s->read_messages, rows = 0, before = s->messages;
    bool header = false;
    maki_status st = from == 0 ? read_header(env, fd, s, &header, err) : MAKI_OK;
    if (st != MAKI_OK || size == from) return st;
    if (!count_by_index(env, directory, size, s)) {
        st = count_rows(env, fd, from, &rows, &s->read_messages, err);
        s->messages += rows - (header && rows ? 1 : 0);
    }
    if (st != MAKI_OK || s->read_messages == from) return st;
    if (!s->title[0] && before < TITLE_ROWS) read_title(env, fd, s);
    return read_model(env, fd, from, s->read_messages, s, model, err);
}

/* ---- the events ------------------------------------------------------------------------------------ */

typedef struct event_reader {
    const maki_env *env;
    maki_session *s;
    bool model; /* set by a reply, which has precedence over events */
} event_reader;

/* The type of an event; len 0: it has none at its start. */
static maki_str type_of(maki_str row)
{
    static const maki_str name = { "\"type\":\"", 8 };
    maki_str front = maki_str_prefix(row, row.len < TYPE_PREFIX ? row.len : TYPE_PREFIX);
    const char *at = front.len ? memmem(front.ptr, front.len, name.ptr, name.len) : NULL;
    if (!at) return (maki_str){ "", 0 };
    maki_str rest = maki_str_skip(front, (size_t)(at - front.ptr) + name.len);
    return maki_str_cut(&rest, '"');
}

static void add_usage(maki_session *s, maki_str usage_object)
{
    s->input += maki_json_uint_field(usage_object, MAKI_LIT("input"));
    s->output += maki_json_uint_field(usage_object, MAKI_LIT("output"));
}

/* {"ts":..., "type":...} */
static void set_action(maki_session *s, maki_str event, maki_str type)
{
    snprintf(s->last_action, sizeof s->last_action, "{\"ts\":%" PRIu64 ",\"type\":\"%.*s\"}",
             maki_json_uint_field(event, MAKI_LIT("ts")), MAKI_PRINTED(type));
}

/* {"ts":..., "status":..., "message":...}; false: it does not fit. */
static bool write_error(maki_session *s, maki_str event, maki_str message, const maki_alloc *alloc)
{
    maki_buf out = maki_buf_new(alloc, MAKI_LAST_ERROR_MAX - 1);
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(&out), NULL);
    maki_jw_print(&w, "{'ts':%i,'status':%I,'message':%s}",
                  maki_json_uint_field(event, MAKI_LIT("ts")),
                  maki_json_uint_field(event, MAKI_LIT("status")), message);
    bool fits = maki_jw_end(&w) == MAKI_OK;
    if (fits)
        snprintf(s->last_error, sizeof s->last_error, "%.*s", MAKI_PRINTED(maki_buf_str(&out)));
    maki_buf_free(&out);
    return fits;
}

/* A long message is cut; one with so many escapes that it still does not fit is omitted. */
static void set_error(maki_session *s, maki_str event, const maki_env *env)
{
    char text[MESSAGE_MAX];
    maki_str message = { "", 0 };
    s->errors++;
    if (maki_json_string_field(event, "message", &message))
        message = (maki_str){ text, maki_json_copy_text(message, text, sizeof text) };
    if (!write_error(s, event, message, env->alloc))
        (void)write_error(s, event, MAKI_LIT(""), env->alloc);
}

static void set_state(maki_session *s, maki_str event)
{
    maki_str value;
    if (maki_json_get(event, MAKI_LIT("overrides"), &value) &&
        maki_json_kind_of(value) == MAKI_JSON_OBJECT && value.len < sizeof s->overrides)
        snprintf(s->overrides, sizeof s->overrides, "%.*s", MAKI_PRINTED(value));
    if (maki_json_string_field(event, "sessionKey", &value)) s->named = true;
    copy_field(event, "sessionKey", s->key, sizeof s->key);
    if (maki_json_string_field(event, "state", &value))
        s->archived = maki_json_text_is(value, MAKI_LIT("archived"));
}

/* A corrupt row is skipped: maki verify reports it. */
static maki_status on_event(void *ctx, maki_str row, uint64_t at, maki_err *err)
{
    event_reader *r = ctx;
    maki_str event;
    maki_str type = type_of(row);
    bool usage = maki_str_equal(type, MAKI_LIT("usage")),
         state = maki_str_equal(type, MAKI_LIT("session"));
    bool action = maki_str_in(type, "condense|truncate|trim|prune|rewind|undo");
    bool failed = maki_str_equal(type, MAKI_LIT("provider_error"));
    bool summary = maki_str_contains(
        row, MAKI_LIT("\"summarizer\":{")); /* a summary, or the record of a run */
    maki_str usage_object;
    (void)at;
    (void)err;
    if (maki_str_equal(type, MAKI_LIT("manifest")) &&
        maki_str_contains(row, MAKI_LIT("\"of\":\"exchange\"")))
        r->s->last_error[0] = '\0'; /* if this one failed, its error is the next event */
    if ((!usage && !state && !summary && !action && !failed) ||
        maki_json_check(row, &event, NULL) != MAKI_OK ||
        maki_json_kind_of(event) != MAKI_JSON_OBJECT)
        return MAKI_OK;
    if (state) set_state(r->s, event);
    if (action) set_action(r->s, event, type);
    if (failed) set_error(r->s, event, r->env);
    if (usage) add_usage(r->s, event);
    if (usage && !r->model) copy_field(event, "model", r->s->model, sizeof r->s->model);
    if (summary && maki_json_get(event, MAKI_LIT("summarizer"), &usage_object) &&
        maki_json_kind_of(usage_object) == MAKI_JSON_OBJECT)
        add_usage(r->s, usage_object);
    return MAKI_OK;
}

static void events_path(const char *directory, const char *id, char out[MAKI_PATH_MAX])
{
    snprintf(out, MAKI_PATH_MAX, "%s/%s.events.jsonl", directory, id);
}

static maki_status read_events(const maki_env *env, const char *directory, maki_session *s,
                               bool model, maki_err *err)
{
    char path[MAKI_PATH_MAX];
    event_reader r = { env, s, model };
    events_path(directory, s->id, path);
    int fd = env->files->open(env->files, path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0) return errno == ENOENT ? MAKI_OK : maki_fail_errno(err, "cannot read events");
    maki_status st =
        maki_lines_each(env, fd, s->read_events, EVENT_MAX, on_event, &r, &s->read_events, err);
    env->files->close(env->files, fd);
    return st;
}

static uint64_t size_of_events(const maki_env *env, const char *directory, const char *id)
{
    char path[MAKI_PATH_MAX];
    struct stat st;
    events_path(directory, id, path);
    if (env->files->stat(env->files, AT_FDCWD, path, &st) == 0) return (uint64_t)st.st_size;
    return errno == ENOENT ? 0 : UINT64_MAX; /* unknown: assume that it has more than was read */
}

bool maki_transcript_has_events(const maki_env *env, const char *directory, const maki_session *s)
{
    return size_of_events(env, directory, s->id) != s->read_events;
}

/* ---- both files ------------------------------------------------------------------------------------- */

/* A file that became shorter was replaced: read it from its beginning. */
static void reset_if_shorter(const maki_env *env, const char *directory, uint64_t size,
                             maki_session *s)
{
    if (size < s->read_messages || size_of_events(env, directory, s->id) < s->read_events)
        maki_session_reset(s);
}

maki_status maki_transcript_read(const maki_env *env, const char *directory, maki_session *s,
                                 maki_err *err)
{
    char path[MAKI_PATH_MAX];
    struct stat st;
    bool model = false;
    snprintf(path, sizeof path, "%s/%s.jsonl", directory, s->id);
    int fd = env->files->open(env->files, path, O_RDONLY | O_NONBLOCK, 0); /* it may be a pipe */
    if (fd < 0) return maki_fail_errno(err, "cannot read a session");
    if (env->files->stat(env->files, fd, NULL, &st) != 0 || !S_ISREG(st.st_mode)) {
        env->files->close(env->files, fd);
        return maki_fail(err, MAKI_NOTFOUND, "%s is not a file", s->id);
    }
    reset_if_shorter(env, directory, (uint64_t)st.st_size, s);
    s->updated = maki_file_mtime_ms(&st);
    maki_status read = read_rows(env, directory, fd, (uint64_t)st.st_size, s, &model, err);
    env->files->close(env->files, fd);
    return read == MAKI_OK ? read_events(env, directory, s, model, err) : read;
}
