/* roster.c -- see roster.h.
 *
 * One pass over the view and the folder together.  Entries that are right are left where they are; at the
 * first one that is not, the lock is taken and a new file begun with a copy of all before it, and from there
 * on every entry is written, old or new.  So a view that is right costs no write, and one that is not is
 * read once. */
#include "store/roster.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "base/splice.h"
#include "base/str.h"
#include "log/lines.h"
#include "store/ahead.h"
#include "store/entries.h"
#include "store/names.h"
#include "store/transcript.h"

enum {
    OFTEN = 1000, /* ms between two writes of a view */
    SETTLED =
        1000, /* ms after which a folder's time is not that of a change that may still be going on */
    POLL = 5,              /* ms between two tries to get the lock */
    AHEAD_FROM = 128 << 10 /* bytes of a view from which a second thread pays */
};

/* ---- the lock -------------------------------------------------------------------------------------- */

maki_status maki_roster_take(maki_roster_lock *lock, const maki_env *env, const char *home,
                             const char *agent, unsigned wait_ms, maki_err *err)
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

void maki_roster_release(maki_roster_lock *lock, const maki_env *env)
{
    if (lock->fd) env->files->close(env->files, lock->fd - 1); /* which unlocks */
    lock->fd = 0;
}

/* ---- a pass ---------------------------------------------------------------------------------------- */

typedef struct pass {
    const maki_env *env;
    const maki_roster_in *in;
    maki_roster_report *report;
    char folder[MAKI_PATH_MAX + MAKI_ID_MAX], view[MAKI_PATH_MAX + MAKI_ID_MAX];
    int folder_fd;
    int view_fd; /* -1: there is none */
    int64_t view_ms;
    uint64_t view_size;
    maki_entries_frame frame;
    bool begun;
    bool by_names; /* the folder has changed: `names` tells which files there are */
    maki_names names;
    /* entries of the old file that stay and are not copied yet */
    uint64_t kept, kept_from, kept_to;
    /* the new file */
    enum { NOT_BEGUN, WRITING, NOT_WRITTEN } writing;
    maki_roster_lock own;
    maki_replacing file;
    maki_fd_sink sink;
    maki_jw out;
    uint64_t entries; /* written */
    maki_err failed;
    maki_ahead *ahead;         /* NULL: entries are taken as they are read */
    const maki_looked *looked; /* the file of the entry that is taken; NULL: not yet looked at */
    maki_status stopped;       /* what became of the entry looked at last */
} pass;

static int64_t now_ms(const pass *p)
{
    return p->env->clock->now_ms(p->env->clock);
}

/* Is the folder's time that of a change which is over?  Files that come within one tick of the file system's
 * clock would not be noticed else. */
static bool is_settled(const pass *p)
{
    return now_ms(p) - (int64_t)(p->report->folder / 1000) >= SETTLED;
}

static void note(pass *p, const char *what, const maki_err *why)
{
    snprintf(p->report->note, sizeof p->report->note, "%s: %s", what, why->msg);
}

/* ---- writing --------------------------------------------------------------------------------------- */

/* Is it time, do we have the lock, and is the view still the one that was read?  Somebody else who wrote it
 * meanwhile has put it right already. */
static bool may_replace(pass *p, maki_err *err)
{
    const maki_files *files = p->env->files;
    struct stat st;
    int64_t since = now_ms(p) - p->view_ms; /* below 0: the clock was set back */
    if (p->view_fd >= 0 && since >= 0 && since < OFTEN) return false;
    if (!p->in->held) {
        unsigned wait = p->in->wait_ms ? p->in->wait_ms : MAKI_ROSTER_WAIT;
        maki_status taken = maki_roster_take(&p->own, p->env, p->in->home, p->in->agent, wait, err);
        if (taken != MAKI_OK) {
            note(p, "sessions.json is out of date and was not written", err);
            return false;
        }
    }
    if (p->view_fd >= 0) return files->same(files, p->view_fd, p->view) == 1;
    return lstat(p->view, &st) != 0;
}

/* Fields of other programs; of more than are held nothing: the old file is put aside then. */
static maki_str others(const maki_buf *fields)
{
    return fields->status == MAKI_OK ? maki_buf_str(fields) : (maki_str){ "", 0 };
}

static void put_head(pass *p)
{
    char text[96];
    snprintf(text, sizeof text, "{\"version\":1,\"folder\":%" PRIu64 ",",
             is_settled(p) ? p->report->folder : 0);
    maki_jw_bytes(&p->out, maki_str_of(text));
    maki_jw_bytes(&p->out, others(&p->frame.before));
    maki_jw_bytes(&p->out, MAKI_LIT("\"entries\":{\n"));
}

static void next_entry(pass *p)
{
    if (p->entries++) maki_jw_bytes(&p->out, MAKI_LIT(",\n"));
}

/* Entries that stayed so far, as they stand in the old file. */
static void put_kept(pass *p)
{
    if (!p->kept) return;
    next_entry(p);
    if (maki_jw_end(&p->out) != MAKI_OK) return;
    p->out.status = maki_splice_file(p->env, p->view_fd, p->kept_from, p->kept_to, NULL, 0,
                                     maki_fd_sink_of(&p->sink), &p->failed);
}

static bool writes(pass *p)
{
    maki_err err = { 0 };
    if (p->writing != NOT_BEGUN) return p->writing == WRITING;
    p->writing = NOT_WRITTEN;
    if (!may_replace(p, &err)) return false;
    if (maki_replace_begin(&p->file, p->env, p->view, &err) != MAKI_OK) {
        note(p, "sessions.json is out of date and cannot be written", &err);
        return false;
    }
    p->sink = (maki_fd_sink){ p->env->files, p->file.fd };
    maki_jw_init(&p->out, maki_fd_sink_of(&p->sink), &p->failed);
    p->writing = WRITING;
    put_head(p);
    put_kept(p);
    return true;
}

static void put_entry(pass *p, const maki_session *s, maki_str old)
{
    next_entry(p);
    p->out.has_items = 0; /* the commas between entries are ours */
    maki_entry_write(&p->out, s, old);
}

/* An entry that is right stays as it is. */
static void keep(pass *p, const maki_entry *entry)
{
    if (p->writing == WRITING) {
        next_entry(p);
        maki_jw_bytes(&p->out, entry->id);
        maki_jw_bytes(&p->out, MAKI_LIT(":"));
        maki_jw_bytes(&p->out, entry->json);
        return;
    }
    if (p->kept++ == 0) p->kept_from = entry->start;
    p->kept_to = entry->end;
}

static void change(pass *p, const maki_session *s, maki_str old)
{
    p->report->changed++;
    if (writes(p)) put_entry(p, s, old);
}

static void drop(pass *p)
{
    p->report->changed++;
    (void)writes(p);
}

/* What is damaged is not thrown away: somebody may have had fields of his own in it. */
static maki_status put_aside(pass *p, maki_err *err)
{
    char name[MAKI_ASIDE_LEN];
    if (p->view_fd < 0 || p->frame.whole || p->view_size == 0) return MAKI_OK;
    maki_status st = maki_lines_aside(p->env, p->view_fd, p->view, 0, p->view_size, name, err);
    if (st == MAKI_OK)
        snprintf(p->report->note, sizeof p->report->note,
                 "sessions.json was damaged and was made again; what it was is in %.100s", name);
    return st;
}

static void finish_writing(pass *p)
{
    if (p->writing != WRITING) return;
    maki_str after = others(&p->frame.after);
    maki_jw_bytes(&p->out, MAKI_LIT("\n}"));
    if (after.len) maki_jw_bytes(&p->out, MAKI_LIT(","));
    if (after.len) maki_jw_bytes(&p->out, maki_str_to(after, after.len - 1)); /* its comma */
    maki_jw_bytes(&p->out, MAKI_LIT("}\n"));
    maki_status st = maki_jw_end(&p->out);
    if (st == MAKI_OK) st = put_aside(p, &p->failed);
    if (st == MAKI_OK)
        st = maki_replace_commit(&p->file, &p->failed);
    else
        maki_replace_abort(&p->file);
    p->report->written = st == MAKI_OK;
    if (st != MAKI_OK) note(p, "sessions.json is out of date and cannot be written", &p->failed);
}

/* ---- one session ----------------------------------------------------------------------------------- */

static maki_status hand_out(pass *p, const maki_session *s, maki_err *err)
{
    if (p->in->key && strcmp(s->key, p->in->key) != 0) return MAKI_OK;
    p->report->all++;
    return p->in->fn ? p->in->fn(p->in->ctx, s, err) : MAKI_OK;
}

static bool look_at(const pass *p, const char *id, struct stat *st)
{
    const maki_looked *known = p->looked;
    if (!known || strcmp(known->id, id) != 0) return maki_look_at(p->folder_fd, id, st);
    *st = known->file;
    return known->there;
}

/* Is there a file of this name that no entry before had?  The list of names tells, when there is one. */
static bool claim(pass *p, const char *id, struct stat *st)
{
    if (p->by_names) {
        size_t place = maki_names_find(&p->names, maki_str_of(id));
        if (place == MAKI_NO_NAME || p->names.at[place].seen) return false;
        p->names.at[place].seen = true;
    }
    return !st || look_at(p, id, st);
}

/* The file of an entry, which may be named with or without `session-`: its name into s->id.  `st` NULL: it is not
 * looked at. */
static bool find_file(pass *p, const maki_entry *entry, maki_session *s, struct stat *st)
{
    char other[MAKI_ID_MAX];
    if (!maki_entry_id(entry, s->id)) return false;
    if (claim(p, s->id, st)) return true;
    if (!maki_name_other(maki_str_of(s->id), other, sizeof other)) return false;
    memcpy(s->id, other, sizeof other);
    return claim(p, s->id, st);
}

static bool is_fresh(const pass *p, const maki_session *s, const struct stat *st)
{
    int64_t changed = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
    if (s->read_messages != (uint64_t)st->st_size || s->updated != changed) return false;
    bool close = p->in->key || (p->in->about && strcmp(p->in->about, s->id) == 0);
    return !close || !maki_transcript_has_events(p->folder, s);
}

static bool same_facts(const maki_session *a, const maki_session *b)
{
    return a->created == b->created && a->updated == b->updated && a->messages == b->messages &&
           a->input == b->input && a->output == b->output && a->archived == b->archived &&
           a->read_messages == b->read_messages && a->read_events == b->read_events &&
           strcmp(a->key, b->key) == 0 && strcmp(a->channel, b->channel) == 0 &&
           strcmp(a->model, b->model) == 0 && strcmp(a->overrides, b->overrides) == 0;
}

/* The folder is as it was when the view was written, or its files have to be listed. */
static maki_status begin(pass *p, maki_err *err)
{
    if (p->begun) return MAKI_OK;
    p->begun = true;
    p->by_names = p->frame.folder == 0 || p->frame.folder != p->report->folder;
    return p->by_names ? maki_names_read(&p->names, p->env, p->folder_fd, err) : MAKI_OK;
}

/* What came of looking at an entry. */
typedef enum finding { GONE, RIGHT, NEW } finding;

/* Read what is new since the entry was written.  One that cannot be read now stays as it was. */
static maki_status check(pass *p, const maki_entry *entry, const struct stat *file, maki_session *s,
                         finding *found, maki_err *err)
{
    maki_err why = { 0 };
    maki_session before;
    bool good = maki_entry_read(entry->json, s);
    *found = good && maki_json_text_is(entry->id, maki_str_of(s->id)) ? RIGHT : NEW;
    if (good && is_fresh(p, s, file)) return MAKI_OK;
    if (!good) maki_session_forget(s);
    before = *s;
    maki_status st = maki_transcript_read(p->env, p->folder, s, &why);
    if (st == MAKI_NOMEM) return maki_fail_nomem(err);
    if (st == MAKI_NOTFOUND) *found = GONE;
    if (st == MAKI_OK && !same_facts(&before, s)) *found = NEW;
    if (st != MAKI_OK) *s = before;
    return MAKI_OK;
}

static maki_status take_entry(pass *p, const maki_entry *entry, maki_err *err)
{
    maki_session s = { 0 };
    struct stat file;
    finding found = GONE;
    maki_status st = begin(p, err);
    if (st != MAKI_OK) return st;
    bool other = p->in->key && !maki_entry_has_key(entry->json, maki_str_of(p->in->key));
    bool there = (other && !p->by_names) || find_file(p, entry, &s, other ? NULL : &file);
    if (other && there) { /* not what is asked for: it stays, right or not */
        keep(p, entry);
        return MAKI_OK;
    }
    memcpy(s.agent, p->in->agent, strlen(p->in->agent) + 1);
    if (there) st = check(p, entry, &file, &s, &found, err);
    if (st != MAKI_OK) return st;
    if (found == GONE) drop(p);
    if (found == RIGHT) keep(p, entry);
    if (found == NEW) change(p, &s, entry->json);
    return found == GONE ? MAKI_OK : hand_out(p, &s, err);
}

static maki_status take_looked(void *ctx, const maki_entry *entry, const maki_looked *looked,
                               maki_err *err)
{
    pass *p = ctx;
    p->looked = looked;
    p->stopped = take_entry(p, entry, err);
    p->looked = NULL;
    return p->stopped;
}

static maki_status on_entry(void *ctx, const maki_entry *entry, maki_err *err)
{
    pass *p = ctx;
    if (!p->ahead) return take_looked(p, entry, NULL, err);
    return p->stopped = maki_ahead_add(p->ahead, entry, err);
}

/* Who wants one key looks at few files; and for few sessions a thread does not pay. */
static void begin_ahead(pass *p)
{
    if (p->in->key || p->view_size < AHEAD_FROM) return;
    if (maki_ahead_open(p->env, p->folder_fd, take_looked, p, &p->ahead, NULL) != MAKI_OK)
        p->ahead = NULL; /* then one after the other */
}

static maki_status end_ahead(pass *p, maki_status st, maki_err *err)
{
    if (p->ahead && p->stopped == MAKI_OK && st != MAKI_NOMEM) {
        maki_status last = p->stopped = maki_ahead_flush(p->ahead, err);
        if (last != MAKI_OK) st = last;
    }
    maki_ahead_close(p->ahead);
    p->ahead = NULL;
    return st;
}

/* Those that the view did not have. */
static maki_status add_missing(pass *p, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (size_t i = 0; p->by_names && st == MAKI_OK && i < p->names.count; i++) {
        maki_session s = { 0 };
        maki_err why = { 0 };
        if (p->names.at[i].seen) continue;
        snprintf(s.agent, sizeof s.agent, "%s", p->in->agent);
        snprintf(s.id, sizeof s.id, "%s", p->names.at[i].text.ptr);
        maki_status got = maki_transcript_read(p->env, p->folder, &s, &why);
        if (got == MAKI_NOMEM) return maki_fail_nomem(err);
        if (got != MAKI_OK) continue; /* no file, or one that cannot be read now */
        change(p, &s, (maki_str){ "", 0 });
        st = hand_out(p, &s, err);
    }
    return st;
}

/* ---- all of them ----------------------------------------------------------------------------------- */

static void open_view(pass *p)
{
    struct stat st;
    maki_err err = { 0 };
    snprintf(p->view, sizeof p->view, "%s/agents/%s/sessions.json", p->in->home, p->in->agent);
    p->view_fd = p->env->files->open(p->env->files, p->view, O_RDONLY | O_NONBLOCK, 0);
    if (p->view_fd >= 0 && fstat(p->view_fd, &st) == 0 && S_ISREG(st.st_mode)) {
        p->view_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
        p->view_size = (uint64_t)st.st_size;
        return;
    }
    if (p->view_fd >= 0 || errno != ENOENT) {
        /* never written over: who cannot read it does not know what it is */
        if (p->view_fd < 0)
            maki_fail_errno(&err, "opening it");
        else
            maki_fail(&err, MAKI_IO, "it is not a file; move it away");
        note(p, "sessions.json cannot be used", &err);
        p->writing = NOT_WRITTEN;
    }
    if (p->view_fd >= 0) p->env->files->close(p->env->files, p->view_fd);
    p->view_fd = -1;
}

/* The folder's time told nothing, because the view broke off: list the files, less those that were handed out. */
static maki_status mark_entry(void *ctx, const maki_entry *entry, maki_err *err)
{
    maki_session s;
    (void)err;
    (void)find_file(ctx, entry, &s, NULL);
    return MAKI_OK;
}

static maki_status list_after_all(pass *p, maki_err *err)
{
    maki_entries_frame ignored;
    p->by_names = true;
    maki_status st = maki_names_read(&p->names, p->env, p->folder_fd, err);
    if (st != MAKI_OK) return st;
    st = maki_entries_each(p->env, p->view_fd, mark_entry, p, &ignored, err);
    maki_entries_free(&ignored);
    return st;
}

static maki_status read_view(pass *p, maki_err *err)
{
    maki_err why = { 0 };
    begin_ahead(p);
    maki_status st = maki_entries_each(p->env, p->view_fd, on_entry, p, &p->frame, &why);
    st = end_ahead(p, st, &why);
    if (p->stopped != MAKI_OK || st == MAKI_NOMEM) {
        if (err) *err = why;
        return st;
    }
    if (st != MAKI_OK) { /* never written over: who could not read it does not know what it is */
        note(p, "sessions.json cannot be read", &why);
        if (p->writing == WRITING) maki_replace_abort(&p->file);
        p->writing = NOT_WRITTEN;
    }
    if (!p->frame.whole && p->begun && !p->by_names) return list_after_all(p, err);
    return MAKI_OK;
}

static maki_status run(pass *p, maki_err *err)
{
    maki_status st = p->view_fd >= 0 ? read_view(p, err) : MAKI_OK;
    if (st == MAKI_OK) st = begin(p, err);
    if (st != MAKI_OK) return st;
    p->report->made_again = !p->frame.whole && (p->view_fd >= 0 || p->names.count > 0);
    if (p->view_fd >= 0 && !p->frame.whole) (void)writes(p);
    st = add_missing(p, err);
    /* so that the next one need not list the folder */
    if (st == MAKI_OK && p->by_names && p->names.count && is_settled(p)) (void)writes(p);
    return st;
}

static void end(pass *p, maki_status st)
{
    if (st == MAKI_OK)
        finish_writing(p);
    else if (p->writing == WRITING)
        maki_replace_abort(&p->file);
    maki_roster_release(&p->own, p->env);
    maki_names_free(&p->names);
    maki_entries_free(&p->frame);
    if (p->view_fd >= 0) p->env->files->close(p->env->files, p->view_fd);
    close(p->folder_fd);
}

maki_status maki_roster_each(const maki_env *env, const maki_roster_in *in, maki_roster_report *out,
                             maki_err *err)
{
    pass p = { .env = env, .in = in, .report = out, .view_fd = -1, .file.fd = -1 };
    struct stat st;
    *out = (maki_roster_report){ 0 };
    if (!maki_id_ok(in->agent)) return MAKI_OK;
    snprintf(p.folder, sizeof p.folder, "%s/agents/%s/sessions", in->home, in->agent);
    p.folder_fd = open(p.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p.folder_fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return MAKI_OK;
    if (p.folder_fd < 0 || fstat(p.folder_fd, &st) != 0) {
        maki_status failed = maki_fail_errno(err, "opening the folder of the sessions");
        if (p.folder_fd >= 0) close(p.folder_fd);
        return failed;
    }
    out->folder = (uint64_t)st.st_mtim.tv_sec * 1000000 + (uint64_t)st.st_mtim.tv_nsec / 1000;
    open_view(&p);
    maki_status done = run(&p, err);
    end(&p, done);
    return done;
}
