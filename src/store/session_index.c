/* session_index.c -- one scan of sessions.json and the sessions directory together.
 *
 * In:     the index, the list of files when the directory has changed, and the time and size of each file.
 * Out:    each session, to a callback of the caller; and the index, rewritten if it was out of date.
 * Always: entries that are up to date are copied as they are.  From the first one that is not, a new index is built in
 *         memory, beginning with a copy of all before it; so an index that is up to date costs no write.  A corrupt
 *         index is moved away, never overwritten; what another process wrote in between is not replaced. */
#include "store/session_index.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/files.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "base/thread_pool.h"
#include "log/lines.h"
#include "store/entries.h"
#include "store/session_files.h"
#include "store/transcript.h"

enum {
    WRITE_INTERVAL = 1000, /* minimum ms between two writes of an index */
    SETTLED = 1000, /* ms after which no further change of a directory can get the same mtime */
    POLL = 5,       /* ms between two attempts to acquire the lock */
    INDEX_MAX = 1 << 30, /* bytes: three million sessions */
    BATCH = 128,
    PREFETCH_MIN = 128 << 10 /* minimum bytes of an index for which a second thread is faster */
};

/* ---- the lock -------------------------------------------------------------------------------------- */

maki_status maki_session_index_lock_acquire(maki_session_index_lock *lock, const maki_env *env,
                                            const char *home, const char *agent, unsigned wait_ms,
                                            maki_err *err)
{
    char path[MAKI_PATH_MAX + MAKI_ID_MAX];
    const maki_files *files = env->files;
    const struct timespec pause = { 0, POLL * 1000000L };
    snprintf(path, sizeof path, "%s/agents/%s/sessions.lock", home, agent);
    int fd = files->open(files, path, O_RDWR | O_CREAT, 0600);
    if (fd < 0) return maki_fail_errno(err, "cannot open the lock of the sessions");
    for (unsigned waited = 0; files->lock(files, fd, LOCK_EX | LOCK_NB) != 0; waited += POLL) {
        bool held = errno == EWOULDBLOCK || errno == EINTR;
        if (held && waited < wait_ms) {
            nanosleep(&pause, NULL);
            continue;
        }
        maki_status st = held ? maki_fail(err, MAKI_TIMEOUT, "another process holds its lock")
                              : maki_fail_errno(err, "cannot lock the sessions");
        files->close(files, fd);
        return st;
    }
    lock->fd = fd + 1;
    return MAKI_OK;
}

void maki_session_index_lock_release(maki_session_index_lock *lock, const maki_env *env)
{
    if (lock->fd) env->files->close(env->files, lock->fd - 1); /* which unlocks */
    lock->fd = 0;
}

/* ---- the state of a scan ---------------------------------------------------------------------------------------- */

typedef struct pass {
    const maki_env *env;
    const maki_session_index_query *in;
    maki_session_index_report *report;
    char directory[MAKI_PATH_MAX + MAKI_ID_MAX], index[MAKI_PATH_MAX + MAKI_ID_MAX];
    int directory_fd;
    int index_fd;  /* -1: missing */
    maki_buf text; /* of the index */
    maki_entries entries;
    bool valid;    /* the text is an index */
    bool no_write; /* the index must not be written now */
    bool listed;   /* the directory has changed: `names` has its files */
    maki_file_names names;
    /* the new index */
    bool writing;
    maki_buf new_text;
    maki_jw out;
    maki_str pending; /* unchanged entries in `text` that are not copied to the new index yet */
    uint64_t written;
} pass;

static int64_t now_ms(const pass *p)
{
    return p->env->clock->now_ms(p->env->clock);
}

/* Is the directory's mtime old enough?  A file created within the same tick of the file system's clock would not
 * change the mtime, and would be missed. */
static bool is_settled(const pass *p)
{
    return now_ms(p) - (int64_t)(p->report->directory / 1000) >= SETTLED;
}

static void set_note(pass *p, const char *action, const maki_err *why)
{
    snprintf(p->report->note, sizeof p->report->note, "%s: %s", action, why->msg);
}

/* ---- writing --------------------------------------------------------------------------------------- */

static void write_head(pass *p)
{
    maki_jw_print(&p->out, "{'version':1,'folder':%i", is_settled(p) ? p->report->directory : 0);
    if (p->valid) maki_entries_write_others(&p->out, &p->entries);
    maki_jw_field_object(&p->out, "entries");
}

static void begin_entry(pass *p)
{
    maki_jw_bytes(&p->out, p->written++ ? MAKI_LIT(",\n") : MAKI_LIT("\n"));
    p->out.has_items = 0; /* commas between entries are written here */
}

static void flush_pending(pass *p)
{
    if (!p->pending.len) return;
    begin_entry(p);
    maki_jw_bytes(&p->out, p->pending);
    p->pending.len = 0;
}

/* The index is out of date: begin a new one, unless it must not be written now. */
static bool begin_writing(pass *p)
{
    if (p->no_write || p->writing) return p->writing;
    p->writing = true;
    maki_jw_init(&p->out, maki_buf_sink(&p->new_text), NULL);
    write_head(p);
    return true;
}

static void copy_entry(pass *p, const maki_json_item *entry)
{
    const char *end_pass = entry->value.ptr + entry->value.len;
    if (!p->pending.len) p->pending.ptr = entry->start;
    p->pending.len = (size_t)(end_pass - p->pending.ptr);
}

/* An entry of the old index is changed or removed: it is not copied to the new one. */
static void skip_entry(pass *p)
{
    p->report->changed++;
    if (begin_writing(p)) flush_pending(p);
}

static void write_changed(pass *p, const maki_session *s, maki_str old)
{
    skip_entry(p);
    if (!p->writing) return;
    begin_entry(p);
    maki_entry_write(&p->out, s, old);
}

/* Is the index still the one that was read?  If another process has written it since, it is up to date already. */
static bool is_unchanged(const pass *p)
{
    const maki_files *files = p->env->files;
    if (p->index_fd >= 0) return maki_file_same(files, p->index_fd, p->index) == 1;
    return !maki_file_exists(files, p->index);
}

/* A corrupt index is moved to another file: it may contain fields of other programs. */
static maki_status move_aside(pass *p, maki_err *err)
{
    char name[MAKI_QUARANTINE_NAME_LEN];
    if (p->index_fd < 0 || p->valid || p->text.len == 0) return MAKI_OK;
    maki_status st =
        maki_lines_quarantine(p->env, p->index_fd, p->index, 0, p->text.len, name, err);
    if (st == MAKI_OK)
        snprintf(p->report->note, sizeof p->report->note,
                 "sessions.json was corrupt and was rebuilt; the old one is in %.100s", name);
    return st;
}

static maki_status replace(pass *p, maki_err *err)
{
    maki_status st = move_aside(p, err);
    if (st == MAKI_OK) st = maki_file_replace(p->env, p->index, maki_buf_str(&p->new_text), err);
    p->report->written = st == MAKI_OK;
    return st;
}

static void finish_writing(pass *p)
{
    maki_session_index_lock own = { 0 };
    maki_err err = { 0 };
    if (!p->writing) return;
    flush_pending(p);
    maki_jw_bytes(&p->out, MAKI_LIT("\n"));
    maki_jw_end_object(&p->out);
    maki_jw_end_object(&p->out);
    maki_jw_bytes(&p->out, MAKI_LIT("\n"));
    (void)!maki_jw_end(&p->out);
    maki_status st = maki_buf_status(&p->new_text, &err);
    if (st == MAKI_OK && !p->in->held) {
        unsigned wait = p->in->wait_ms ? p->in->wait_ms : MAKI_SESSION_INDEX_WAIT;
        st = maki_session_index_lock_acquire(&own, p->env, p->in->home, p->in->agent, wait, &err);
    }
    if (st == MAKI_OK && is_unchanged(p)) st = replace(p, &err);
    if (st != MAKI_OK) set_note(p, "sessions.json is out of date and was not written", &err);
    maki_session_index_lock_release(&own, p->env);
}

/* ---- one session ----------------------------------------------------------------------------------- */

static maki_status emit(pass *p, const maki_session *s, maki_err *err)
{
    if (p->in->key && strcmp(s->key, p->in->key) != 0) return MAKI_OK;
    p->report->all++;
    return p->in->fn ? p->in->fn(p->in->ctx, s, err) : MAKI_OK;
}

/* An entry, and the state of its file. */
typedef struct entry_file {
    maki_json_item entry;
    bool known, exists; /* was stat called? does the file exist? */
    uint64_t size;
    int64_t changed; /* ms */
} entry_file;

static bool stat_file(const pass *p, const char *id, entry_file *l)
{
    char file[MAKI_ID_MAX + 8];
    struct stat st;
    snprintf(file, sizeof file, "%s.jsonl", id);
    l->known = true;
    l->size = 0;
    l->changed = 0;
    if (p->env->files->stat(p->env->files, p->directory_fd, file, &st) != 0)
        return l->exists = errno != ENOENT; /* on another error of stat, try to read it */
    l->size = (uint64_t)st.st_size;
    l->changed = maki_file_mtime_ms(&st);
    return l->exists = S_ISREG(st.st_mode);
}

/* Mark a listed file name as seen.  False: no such file, or an earlier entry has it.  True if nothing was listed. */
static bool claim_name(pass *p, const char *id)
{
    if (!p->listed) return true;
    maki_file_name *name = maki_file_names_find(&p->names, maki_str_of(id));
    if (!name || name->seen) return false;
    return name->seen = true;
}

/* The file of an entry, which may be named with or without `session-`: its name is stored in s->id.  stat is called
 * only if the entry is `wanted`. */
static bool find_file(pass *p, entry_file *l, maki_session *s, bool wanted)
{
    char other[MAKI_ID_MAX];
    if (!maki_entry_id(&l->entry, s->id)) return false;
    if (claim_name(p, s->id) && (!wanted || (l->known ? l->exists : stat_file(p, s->id, l))))
        return true;
    if (!maki_file_name_alternative(maki_str_of(s->id), other, sizeof other)) return false;
    memcpy(s->id, other, sizeof other);
    return claim_name(p, s->id) && (!wanted || stat_file(p, s->id, l));
}

static bool is_current(const pass *p, const maki_session *s, const entry_file *l)
{
    if (s->read_messages != l->size || s->updated != l->changed) return false;
    bool check_events = p->in->key || (p->in->about && strcmp(p->in->about, s->id) == 0);
    return !check_events || !maki_transcript_has_events(p->env, p->directory, s);
}

static bool same_facts(const maki_session *a, const maki_session *b)
{
    return a->created == b->created && a->updated == b->updated && a->messages == b->messages &&
           a->input == b->input && a->output == b->output && a->archived == b->archived &&
           a->read_messages == b->read_messages && a->read_events == b->read_events &&
           strcmp(a->key, b->key) == 0 && strcmp(a->channel, b->channel) == 0 &&
           strcmp(a->model, b->model) == 0 && strcmp(a->overrides, b->overrides) == 0 &&
           strcmp(a->title, b->title) == 0 && strcmp(a->client, b->client) == 0 &&
           a->named == b->named && a->errors == b->errors &&
           strcmp(a->last_error, b->last_error) == 0 && strcmp(a->last_action, b->last_action) == 0;
}

/* The state of an entry: its file was removed, it is up to date, it has changed. */
typedef enum entry_state { REMOVED, CURRENT, CHANGED } entry_state;

/* Read what was appended since the entry was written.  The entry of a session that cannot be read now is unchanged. */
static maki_status update_entry(pass *p, const entry_file *l, maki_session *s, entry_state *found,
                                maki_err *err)
{
    maki_err why = { 0 };
    maki_session before;
    bool valid = maki_entry_read(l->entry.value, s);
    *found = valid && maki_json_key_is(l->entry.key, maki_str_of(s->id)) ? CURRENT : CHANGED;
    if (valid && is_current(p, s, l)) return MAKI_OK;
    if (!valid) maki_session_reset(s);
    before = *s;
    maki_status st = maki_transcript_read(p->env, p->directory, s, &why);
    if (st == MAKI_NOMEM) return maki_fail_nomem(err);
    if (st == MAKI_NOTFOUND) *found = REMOVED;
    if (st == MAKI_OK && !same_facts(&before, s)) *found = CHANGED;
    if (st != MAKI_OK) *s = before;
    return MAKI_OK;
}

static maki_status process_entry(pass *p, entry_file *l, maki_err *err)
{
    maki_session s = { 0 };
    entry_state found = REMOVED;
    bool wanted = !p->in->key || maki_entry_has_key(l->entry.value, maki_str_of(p->in->key));
    bool exists = (!wanted && !p->listed) || find_file(p, l, &s, wanted);
    if (!wanted && exists) { /* copied, up to date or not */
        copy_entry(p, &l->entry);
        return MAKI_OK;
    }
    memcpy(s.agent, p->in->agent, strlen(p->in->agent) + 1);
    maki_status st = exists ? update_entry(p, l, &s, &found, err) : MAKI_OK;
    if (st != MAKI_OK) return st;
    if (found == REMOVED) skip_entry(p);
    if (found == CURRENT) copy_entry(p, &l->entry);
    if (found == CHANGED) write_changed(p, &s, l->entry.value);
    return found == REMOVED ? MAKI_OK : emit(p, &s, err);
}

/* Entries for whose files another thread calls stat: ten thousand sessions are ten thousand system calls. */
typedef struct batch {
    const pass *pass;
    uint64_t ticket;
    size_t count;
    entry_file rows[BATCH];
    struct batch *next;
} batch;

static void stat_all(void *ctx, size_t worker)
{
    batch *b = ctx;
    char id[MAKI_ID_MAX];
    (void)worker;
    for (size_t i = 0; i < b->count; i++) {
        if (maki_entry_id(&b->rows[i].entry, id)) (void)stat_file(b->pass, id, &b->rows[i]);
    }
}

static maki_status process_prefetched(pass *p, maki_thread_pool *pool, maki_arena *arena,
                                      maki_err *err)
{
    maki_json_iter iter = maki_json_items(p->entries.all);
    batch *first = NULL, **last = &first;
    for (bool more = true; more; last = &(*last)->next) {
        batch *b = *last = maki_arena_get(arena, sizeof *b);
        if (!b) break;
        b->pass = p;
        while (b->count < BATCH && (more = maki_json_next(&iter, &b->rows[b->count].entry)))
            b->count++;
        b->ticket = maki_thread_pool_add(pool, stat_all, b);
    }
    maki_status st = maki_arena_status(arena, err);
    for (batch *b = first; st == MAKI_OK && b; b = b->next) {
        maki_thread_pool_wait(pool, b->ticket);
        for (size_t i = 0; st == MAKI_OK && i < b->count; i++)
            st = process_entry(p, &b->rows[i], err);
    }
    return st;
}

static maki_status process_each(pass *p, maki_err *err)
{
    maki_status st = MAKI_OK;
    maki_json_iter iter = maki_json_items(p->entries.all);
    for (entry_file l = { 0 }; st == MAKI_OK && maki_json_next(&iter, &l.entry); l.known = false)
        st = process_entry(p, &l, err);
    return st;
}

/* With a key few files need stat, and for few sessions a thread costs more than it saves. */
static maki_status process_entries(pass *p, maki_err *err)
{
    maki_thread_pool *pool = NULL;
    bool prefetch = !p->in->key && p->text.len >= PREFETCH_MIN;
    if (!prefetch || maki_thread_pool_open(p->env->alloc, 2, &pool, NULL) != MAKI_OK)
        return process_each(p, err);
    maki_arena arena = maki_arena_new(p->env->alloc, INDEX_MAX);
    maki_status st = process_prefetched(p, pool, &arena, err);
    maki_thread_pool_close(pool);
    maki_arena_free(&arena);
    return st;
}

/* Add the sessions that the index did not have. */
static maki_status add_missing(pass *p, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < p->names.count; i++) {
        maki_session s = { 0 };
        maki_err why = { 0 };
        if (p->names.items[i].seen) continue;
        snprintf(s.agent, sizeof s.agent, "%s", p->in->agent);
        snprintf(s.id, sizeof s.id, "%s", p->names.items[i].text.ptr);
        maki_status got = maki_transcript_read(p->env, p->directory, &s, &why);
        if (got == MAKI_NOMEM) return maki_fail_nomem(err);
        if (got != MAKI_OK) continue; /* not a regular file, or not readable now */
        write_changed(p, &s, (maki_str){ "", 0 });
        st = emit(p, &s, err);
    }
    return st;
}

/* ---- scan ----------------------------------------------------------------------------------- */

static maki_status read_text(pass *p, const struct stat *st, maki_err *err)
{
    size_t size = st->st_size < INDEX_MAX ? (size_t)st->st_size : INDEX_MAX, got = 0;
    char *at = maki_buf_reserve(&p->text, size + 1);
    if (!at) return maki_buf_status(&p->text, err);
    maki_status read = maki_file_read_at(p->env->files, p->index_fd, 0, at, size, &got, err);
    if (read == MAKI_OK) p->text.len = got;
    return read;
}

/* An index that cannot be read is never overwritten: it may be something else. */
static maki_status open_index(pass *p, maki_err *err)
{
    struct stat st;
    maki_err why = { 0 };
    maki_status read = MAKI_OK;
    snprintf(p->index, sizeof p->index, "%s/agents/%s/sessions.json", p->in->home, p->in->agent);
    p->index_fd = p->env->files->open(p->env->files, p->index, O_RDONLY | O_NONBLOCK, 0);
    if (p->index_fd < 0 && errno == ENOENT) return MAKI_OK;
    if (p->index_fd < 0) {
        read = maki_fail_errno(&why, "cannot open the file");
    } else if (p->env->files->stat(p->env->files, p->index_fd, NULL, &st) != 0 ||
               !S_ISREG(st.st_mode)) {
        read = maki_fail(&why, MAKI_IO, "it is not a file; move it away");
    } else {
        int64_t written = maki_file_mtime_ms(&st);
        int64_t since = now_ms(p) - written; /* negative: the clock was set back */
        p->no_write = !p->in->about && since >= 0 && since < WRITE_INTERVAL;
        read = read_text(p, &st, &why);
    }
    if (read == MAKI_NOMEM) return maki_fail_nomem(err);
    p->valid = read == MAKI_OK && maki_entries_read(maki_buf_str(&p->text), &p->entries);
    if (read == MAKI_OK) return MAKI_OK;
    set_note(p, "sessions.json cannot be used", &why);
    p->no_write = true;
    return MAKI_OK;
}

static maki_status run_pass(pass *p, maki_err *err)
{
    maki_status st = open_index(p, err);
    p->listed =
        !p->valid || p->entries.directory == 0 || p->entries.directory != p->report->directory;
    if (st == MAKI_OK && p->listed) st = maki_file_names_read(&p->names, p->env, p->directory, err);
    if (st != MAKI_OK) return st;
    p->report->rebuilt = !p->valid && (p->index_fd >= 0 || p->names.count > 0);
    if (p->valid) st = process_entries(p, err);
    if (st == MAKI_OK) st = add_missing(p, err);
    if (st != MAKI_OK) return st;
    /* write the time of a listed directory, so that the next pass need not list it */
    if (p->index_fd >= 0 && !p->valid) (void)begin_writing(p);
    if (p->listed && p->names.count && is_settled(p)) (void)begin_writing(p);
    finish_writing(p);
    return MAKI_OK;
}

static void end_pass(pass *p)
{
    maki_file_names_free(&p->names);
    maki_buf_free(&p->text);
    maki_buf_free(&p->new_text);
    if (p->index_fd >= 0) p->env->files->close(p->env->files, p->index_fd);
    p->env->files->close(p->env->files, p->directory_fd);
}

maki_status maki_session_index_each(const maki_env *env, const maki_session_index_query *in,
                                    maki_session_index_report *out, maki_err *err)
{
    pass p = { .env = env,
               .in = in,
               .report = out,
               .index_fd = -1,
               .text = maki_buf_new(env->alloc, INDEX_MAX),
               .new_text = maki_buf_new(env->alloc, INDEX_MAX) };
    const maki_files *files = env->files;
    struct stat st;
    *out = (maki_session_index_report){ 0 };
    if (!maki_id_is_valid(in->agent)) return MAKI_OK;
    snprintf(p.directory, sizeof p.directory, "%s/agents/%s/sessions", in->home, in->agent);
    p.directory_fd = files->open(files, p.directory, O_RDONLY | O_DIRECTORY, 0);
    if (p.directory_fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return MAKI_OK;
    if (p.directory_fd < 0 || files->stat(files, p.directory_fd, NULL, &st) != 0) {
        maki_status failed = maki_fail_errno(err, "cannot open the directory of the sessions");
        if (p.directory_fd >= 0) files->close(files, p.directory_fd);
        return failed;
    }
    out->directory = (uint64_t)st.st_mtim.tv_sec * 1000000 + (uint64_t)st.st_mtim.tv_nsec / 1000;
    maki_status done = run_pass(&p, err);
    end_pass(&p);
    return done;
}
