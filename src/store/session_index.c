/* session_index.c -- see session_index.h.
 *
 * One pass over the view and the folder together.  Entries that are right stay as they stand; from the first
 * one that is not, a new view is made in memory, which begins with a copy of all before it.  So a view that is right
 * costs no write, and one that is not is read once. */
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
#include "base/str.h"
#include "base/thread_pool.h"
#include "log/lines.h"
#include "store/entries.h"
#include "store/session_files.h"
#include "store/transcript.h"

enum {
    OFTEN = 1000, /* ms between two writes of a view */
    SETTLED =
        1000, /* ms after which a folder's time is not that of a change that may still be going on */
    POLL = 5,           /* ms between two tries to get the lock */
    VIEW_MAX = 1 << 30, /* bytes: three million sessions */
    BATCH = 128,
    AHEAD_FROM = 128 << 10 /* bytes of a view from which a second thread pays */
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
    if (fd < 0) return maki_fail_errno(err, "opening the lock of the sessions");
    for (unsigned waited = 0; files->lock(files, fd, LOCK_EX | LOCK_NB) != 0; waited += POLL) {
        bool held = errno == EWOULDBLOCK || errno == EINTR;
        if (held && waited < wait_ms) {
            nanosleep(&pause, NULL);
            continue;
        }
        maki_status st = held ? maki_fail(err, MAKI_TIMEOUT, "another process holds its lock")
                              : maki_fail_errno(err, "locking the sessions");
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

/* ---- a pass ---------------------------------------------------------------------------------------- */

typedef struct pass {
    const maki_env *env;
    const maki_session_index_in *in;
    maki_session_index_report *report;
    char directory[MAKI_PATH_MAX + MAKI_ID_MAX], view[MAKI_PATH_MAX + MAKI_ID_MAX];
    int directory_fd;
    int view_fd;   /* -1: there is none */
    maki_buf text; /* of the view */
    maki_entries entries;
    bool whole;    /* the text is a view */
    bool leave;    /* the view is not to be written now */
    bool by_names; /* the folder has changed: `names` tells which files there are */
    maki_names names;
    /* the new view */
    bool writing;
    maki_buf made;
    maki_jw out;
    maki_str kept; /* entries that stay and are not copied yet, as they stand in the text */
    uint64_t written;
} pass;

static int64_t now_ms(const pass *p)
{
    return p->env->clock->now_ms(p->env->clock);
}

/* Is the folder's time that of a change which is over?  Files that come within one tick of the file system's
 * clock would not be noticed else. */
static bool is_settled(const pass *p)
{
    return now_ms(p) - (int64_t)(p->report->directory / 1000) >= SETTLED;
}

static void note(pass *p, const char *what, const maki_err *why)
{
    snprintf(p->report->note, sizeof p->report->note, "%s: %s", what, why->msg);
}

/* ---- writing --------------------------------------------------------------------------------------- */

static void put_head(pass *p)
{
    maki_jw_print(&p->out, "{'version':1,'folder':%i", is_settled(p) ? p->report->directory : 0);
    if (p->whole) maki_entries_write_others(&p->out, &p->entries);
    maki_jw_field_object(&p->out, "entries");
}

static void next_entry(pass *p)
{
    maki_jw_bytes(&p->out, p->written++ ? MAKI_LIT(",\n") : MAKI_LIT("\n"));
    p->out.has_items = 0; /* the commas between entries are ours */
}

static void put_kept(pass *p)
{
    if (!p->kept.len) return;
    next_entry(p);
    maki_jw_bytes(&p->out, p->kept);
    p->kept.len = 0;
}

/* The view is not right: a new one is made, unless it is left for now. */
static bool writes(pass *p)
{
    if (p->leave || p->writing) return p->writing;
    p->writing = true;
    maki_jw_init(&p->out, maki_buf_sink(&p->made), NULL);
    put_head(p);
    return true;
}

static void keep(pass *p, const maki_json_item *entry)
{
    const char *end = entry->value.ptr + entry->value.len;
    if (!p->kept.len) p->kept.ptr = entry->start;
    p->kept.len = (size_t)(end - p->kept.ptr);
}

/* An entry that stood in the old view is not in the new one as it was. */
static void drop(pass *p)
{
    p->report->changed++;
    if (writes(p)) put_kept(p);
}

static void change(pass *p, const maki_session *s, maki_str old)
{
    drop(p);
    if (!p->writing) return;
    next_entry(p);
    maki_entry_write(&p->out, s, old);
}

/* Is the view still the one that was read?  Somebody else who wrote it meanwhile has put it right already. */
static bool is_same(const pass *p)
{
    const maki_files *files = p->env->files;
    if (p->view_fd >= 0) return maki_file_same(files, p->view_fd, p->view) == 1;
    return !maki_file_exists(files, p->view);
}

/* What is damaged is not thrown away: somebody may have had fields of his own in it. */
static maki_status put_aside(pass *p, maki_err *err)
{
    char name[MAKI_QUARANTINE_NAME_LEN];
    if (p->view_fd < 0 || p->whole || p->text.len == 0) return MAKI_OK;
    maki_status st = maki_lines_quarantine(p->env, p->view_fd, p->view, 0, p->text.len, name, err);
    if (st == MAKI_OK)
        snprintf(p->report->note, sizeof p->report->note,
                 "sessions.json was damaged and was made again; what it was is in %.100s", name);
    return st;
}

static maki_status replace(pass *p, maki_err *err)
{
    maki_status st = put_aside(p, err);
    if (st == MAKI_OK) st = maki_file_replace(p->env, p->view, maki_buf_str(&p->made), err);
    p->report->written = st == MAKI_OK;
    return st;
}

static void finish_writing(pass *p)
{
    maki_session_index_lock own = { 0 };
    maki_err err = { 0 };
    if (!p->writing) return;
    put_kept(p);
    maki_jw_bytes(&p->out, MAKI_LIT("\n"));
    maki_jw_end_object(&p->out);
    maki_jw_end_object(&p->out);
    maki_jw_bytes(&p->out, MAKI_LIT("\n"));
    (void)!maki_jw_end(&p->out);
    maki_status st = maki_buf_status(&p->made, &err);
    if (st == MAKI_OK && !p->in->held) {
        unsigned wait = p->in->wait_ms ? p->in->wait_ms : MAKI_SESSION_INDEX_WAIT;
        st = maki_session_index_lock_acquire(&own, p->env, p->in->home, p->in->agent, wait, &err);
    }
    if (st == MAKI_OK && is_same(p)) st = replace(p, &err);
    if (st != MAKI_OK) note(p, "sessions.json is out of date and was not written", &err);
    maki_session_index_lock_release(&own, p->env);
}

/* ---- one session ----------------------------------------------------------------------------------- */

static maki_status hand_out(pass *p, const maki_session *s, maki_err *err)
{
    if (p->in->key && strcmp(s->key, p->in->key) != 0) return MAKI_OK;
    p->report->all++;
    return p->in->fn ? p->in->fn(p->in->ctx, s, err) : MAKI_OK;
}

/* An entry, and its file if it was looked at. */
typedef struct looked {
    maki_json_item entry;
    bool known, there;
    uint64_t size;
    int64_t changed; /* ms */
} looked;

static bool look(const pass *p, const char *id, looked *l)
{
    char file[MAKI_ID_MAX + 8];
    struct stat st;
    snprintf(file, sizeof file, "%s.jsonl", id);
    l->known = true;
    l->size = 0;
    l->changed = 0;
    if (p->env->files->stat(p->env->files, p->directory_fd, file, &st) != 0)
        return l->there = errno != ENOENT; /* one that cannot be looked at now is read */
    l->size = (uint64_t)st.st_size;
    l->changed = maki_file_mtime_ms(&st);
    return l->there = S_ISREG(st.st_mode);
}

/* Has no entry before taken the file of this name?  The list of names tells, when there is one. */
static bool claim(pass *p, const char *id)
{
    if (!p->by_names) return true;
    maki_name *name = maki_names_find(&p->names, maki_str_of(id));
    if (!name || name->seen) return false;
    return name->seen = true;
}

/* The file of an entry, which may be named with or without `session-`: its name into s->id.  It is looked at when
 * the entry is `asked` for. */
static bool find_file(pass *p, looked *l, maki_session *s, bool asked)
{
    char other[MAKI_ID_MAX];
    if (!maki_entry_id(&l->entry, s->id)) return false;
    if (claim(p, s->id) && (!asked || (l->known ? l->there : look(p, s->id, l)))) return true;
    if (!maki_name_other(maki_str_of(s->id), other, sizeof other)) return false;
    memcpy(s->id, other, sizeof other);
    return claim(p, s->id) && (!asked || look(p, s->id, l));
}

static bool is_fresh(const pass *p, const maki_session *s, const looked *l)
{
    if (s->read_messages != l->size || s->updated != l->changed) return false;
    bool close = p->in->key || (p->in->about && strcmp(p->in->about, s->id) == 0);
    return !close || !maki_transcript_has_events(p->env, p->directory, s);
}

static bool same_facts(const maki_session *a, const maki_session *b)
{
    return a->created == b->created && a->updated == b->updated && a->messages == b->messages &&
           a->input == b->input && a->output == b->output && a->archived == b->archived &&
           a->read_messages == b->read_messages && a->read_events == b->read_events &&
           strcmp(a->key, b->key) == 0 && strcmp(a->channel, b->channel) == 0 &&
           strcmp(a->model, b->model) == 0 && strcmp(a->overrides, b->overrides) == 0;
}

/* What came of looking at an entry. */
typedef enum finding { GONE, RIGHT, NEW } finding;

/* Read what is new since the entry was written.  One that cannot be read now stays as it was. */
static maki_status check(pass *p, const looked *l, maki_session *s, finding *found, maki_err *err)
{
    maki_err why = { 0 };
    maki_session before;
    bool good = maki_entry_read(l->entry.value, s);
    *found = good && maki_json_key_is(l->entry.key, maki_str_of(s->id)) ? RIGHT : NEW;
    if (good && is_fresh(p, s, l)) return MAKI_OK;
    if (!good) maki_session_forget(s);
    before = *s;
    maki_status st = maki_transcript_read(p->env, p->directory, s, &why);
    if (st == MAKI_NOMEM) return maki_fail_nomem(err);
    if (st == MAKI_NOTFOUND) *found = GONE;
    if (st == MAKI_OK && !same_facts(&before, s)) *found = NEW;
    if (st != MAKI_OK) *s = before;
    return MAKI_OK;
}

static maki_status take_entry(pass *p, looked *l, maki_err *err)
{
    maki_session s = { 0 };
    finding found = GONE;
    bool asked = !p->in->key || maki_entry_has_key(l->entry.value, maki_str_of(p->in->key));
    bool there = (!asked && !p->by_names) || find_file(p, l, &s, asked);
    if (!asked && there) { /* it stays, right or not */
        keep(p, &l->entry);
        return MAKI_OK;
    }
    memcpy(s.agent, p->in->agent, strlen(p->in->agent) + 1);
    maki_status st = there ? check(p, l, &s, &found, err) : MAKI_OK;
    if (st != MAKI_OK) return st;
    if (found == GONE) drop(p);
    if (found == RIGHT) keep(p, &l->entry);
    if (found == NEW) change(p, &s, l->entry.value);
    return found == GONE ? MAKI_OK : hand_out(p, &s, err);
}

/* Entries whose files another thread looks at: ten thousand sessions are ten thousand looks, and each waits for the
 * kernel. */
typedef struct batch {
    const pass *pass;
    uint64_t ticket;
    size_t count;
    looked rows[BATCH];
    struct batch *next;
} batch;

static void look_at_all(void *ctx, size_t worker)
{
    batch *b = ctx;
    char id[MAKI_ID_MAX];
    (void)worker;
    for (size_t i = 0; i < b->count; i++) {
        if (maki_entry_id(&b->rows[i].entry, id)) (void)look(b->pass, id, &b->rows[i]);
    }
}

static maki_status take_looked(pass *p, maki_thread_pool *work, maki_arena *arena, maki_err *err)
{
    maki_json_iter iter = maki_json_items(p->entries.all);
    batch *first = NULL, **last = &first;
    for (bool more = true; more; last = &(*last)->next) {
        batch *b = *last = maki_arena_get(arena, sizeof *b);
        if (!b) break;
        b->pass = p;
        while (b->count < BATCH && (more = maki_json_next(&iter, &b->rows[b->count].entry)))
            b->count++;
        b->ticket = maki_thread_pool_add(work, look_at_all, b);
    }
    maki_status st = maki_arena_status(arena, err);
    for (batch *b = first; st == MAKI_OK && b; b = b->next) {
        maki_thread_pool_wait(work, b->ticket);
        for (size_t i = 0; st == MAKI_OK && i < b->count; i++)
            st = take_entry(p, &b->rows[i], err);
    }
    return st;
}

static maki_status take_each(pass *p, maki_err *err)
{
    maki_status st = MAKI_OK;
    maki_json_iter iter = maki_json_items(p->entries.all);
    for (looked l = { 0 }; st == MAKI_OK && maki_json_next(&iter, &l.entry); l.known = false)
        st = take_entry(p, &l, err);
    return st;
}

/* Who wants one key looks at few files; and for few sessions a thread does not pay. */
static maki_status take_entries(pass *p, maki_err *err)
{
    maki_thread_pool *work = NULL;
    bool pays = !p->in->key && p->text.len >= AHEAD_FROM;
    if (!pays || maki_thread_pool_open(p->env->alloc, 2, &work, NULL) != MAKI_OK)
        return take_each(p, err);
    maki_arena arena = maki_arena_new(p->env->alloc, VIEW_MAX);
    maki_status st = take_looked(p, work, &arena, err);
    maki_thread_pool_close(work);
    maki_arena_free(&arena);
    return st;
}

/* Those that the view did not have. */
static maki_status add_missing(pass *p, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < p->names.count; i++) {
        maki_session s = { 0 };
        maki_err why = { 0 };
        if (p->names.at[i].seen) continue;
        snprintf(s.agent, sizeof s.agent, "%s", p->in->agent);
        snprintf(s.id, sizeof s.id, "%s", p->names.at[i].text.ptr);
        maki_status got = maki_transcript_read(p->env, p->directory, &s, &why);
        if (got == MAKI_NOMEM) return maki_fail_nomem(err);
        if (got != MAKI_OK) continue; /* no file, or one that cannot be read now */
        change(p, &s, (maki_str){ "", 0 });
        st = hand_out(p, &s, err);
    }
    return st;
}

/* ---- all of them ----------------------------------------------------------------------------------- */

static maki_status read_text(pass *p, const struct stat *st, maki_err *err)
{
    size_t size = st->st_size < VIEW_MAX ? (size_t)st->st_size : VIEW_MAX, got = 0;
    char *at = maki_buf_reserve(&p->text, size + 1);
    if (!at) return maki_buf_status(&p->text, err);
    maki_status read = maki_file_read_at(p->env->files, p->view_fd, 0, at, size, &got, err);
    if (read == MAKI_OK) p->text.len = got;
    return read;
}

/* What cannot be read is never written over: nobody knows what it is. */
static maki_status open_view(pass *p, maki_err *err)
{
    struct stat st;
    maki_err why = { 0 };
    maki_status read = MAKI_OK;
    snprintf(p->view, sizeof p->view, "%s/agents/%s/sessions.json", p->in->home, p->in->agent);
    p->view_fd = p->env->files->open(p->env->files, p->view, O_RDONLY | O_NONBLOCK, 0);
    if (p->view_fd < 0 && errno == ENOENT) return MAKI_OK;
    if (p->view_fd < 0) {
        read = maki_fail_errno(&why, "opening it");
    } else if (p->env->files->stat(p->env->files, p->view_fd, NULL, &st) != 0 ||
               !S_ISREG(st.st_mode)) {
        read = maki_fail(&why, MAKI_IO, "it is not a file; move it away");
    } else {
        int64_t written = maki_file_mtime_ms(&st);
        int64_t since = now_ms(p) - written; /* below 0: the clock was set back */
        p->leave = since >= 0 && since < OFTEN;
        read = read_text(p, &st, &why);
    }
    if (read == MAKI_NOMEM) return maki_fail_nomem(err);
    p->whole = read == MAKI_OK && maki_entries_read(maki_buf_str(&p->text), &p->entries);
    if (read == MAKI_OK) return MAKI_OK;
    note(p, "sessions.json cannot be used", &why);
    p->leave = true;
    return MAKI_OK;
}

static maki_status run(pass *p, maki_err *err)
{
    maki_status st = open_view(p, err);
    p->by_names =
        !p->whole || p->entries.directory == 0 || p->entries.directory != p->report->directory;
    if (st == MAKI_OK && p->by_names) st = maki_names_read(&p->names, p->env, p->directory, err);
    if (st != MAKI_OK) return st;
    p->report->made_again = !p->whole && (p->view_fd >= 0 || p->names.count > 0);
    if (p->whole) st = take_entries(p, err);
    if (st == MAKI_OK) st = add_missing(p, err);
    if (st != MAKI_OK) return st;
    /* a listed folder is noted, so that the next one need not list it */
    if (p->view_fd >= 0 && !p->whole) (void)writes(p);
    if (p->by_names && p->names.count && is_settled(p)) (void)writes(p);
    finish_writing(p);
    return MAKI_OK;
}

static void end(pass *p)
{
    maki_names_free(&p->names);
    maki_buf_free(&p->text);
    maki_buf_free(&p->made);
    if (p->view_fd >= 0) p->env->files->close(p->env->files, p->view_fd);
    p->env->files->close(p->env->files, p->directory_fd);
}

maki_status maki_session_index_each(const maki_env *env, const maki_session_index_in *in,
                                    maki_session_index_report *out, maki_err *err)
{
    pass p = { .env = env,
               .in = in,
               .report = out,
               .view_fd = -1,
               .text = maki_buf_new(env->alloc, VIEW_MAX),
               .made = maki_buf_new(env->alloc, VIEW_MAX) };
    const maki_files *files = env->files;
    struct stat st;
    *out = (maki_session_index_report){ 0 };
    if (!maki_id_ok(in->agent)) return MAKI_OK;
    snprintf(p.directory, sizeof p.directory, "%s/agents/%s/sessions", in->home, in->agent);
    p.directory_fd = files->open(files, p.directory, O_RDONLY | O_DIRECTORY, 0);
    if (p.directory_fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return MAKI_OK;
    if (p.directory_fd < 0 || files->stat(files, p.directory_fd, NULL, &st) != 0) {
        maki_status failed = maki_fail_errno(err, "opening the folder of the sessions");
        if (p.directory_fd >= 0) files->close(files, p.directory_fd);
        return failed;
    }
    out->directory = (uint64_t)st.st_mtim.tv_sec * 1000000 + (uint64_t)st.st_mtim.tv_nsec / 1000;
    maki_status done = run(&p, err);
    end(&p);
    return done;
}
