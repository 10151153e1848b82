/* ahead.c -- see ahead.h. */
#include "store/ahead.h"

#include <fcntl.h>
#include <string.h>

#include "base/err.h"
#include "base/work.h"

enum { BATCHES = 3, ROWS = 128, TEXT_MAX = 16 << 20 };

typedef struct row {
    size_t id_at, id_len, json_at, json_len; /* in the batch's text */
    uint64_t start, end;
    maki_looked looked;
} row;

typedef struct batch {
    maki_buf text;
    int folder_fd;
    size_t count;
    bool handed;     /* to the worker, under */
    uint64_t ticket; /* this one */
    row rows[ROWS];
} batch;

struct maki_ahead {
    const maki_alloc *alloc;
    maki_work *work;
    maki_ahead_fn fn;
    void *ctx;
    size_t filling; /* the others are older the further they are behind it */
    batch batches[BATCHES];
};

bool maki_look_at(int folder_fd, const char *id, struct stat *st)
{
    char file[MAKI_ID_MAX + 8];
    size_t n = strlen(id);
    memcpy(file, id, n);
    memcpy(file + n, ".jsonl", sizeof ".jsonl");
    return fstatat(folder_fd, file, st, 0) == 0 && S_ISREG(st->st_mode);
}

static void look(void *ctx, size_t worker)
{
    batch *b = ctx;
    (void)worker;
    for (size_t i = 0; i < b->count; i++) {
        maki_looked *l = &b->rows[i].looked;
        if (l->id[0]) l->there = maki_look_at(b->folder_fd, l->id, &l->file);
    }
}

maki_status maki_ahead_open(const maki_env *env, int folder_fd, maki_ahead_fn fn, void *ctx,
                            maki_ahead **out, maki_err *err)
{
    maki_ahead *a = env->alloc->resize(env->alloc, NULL, 0, sizeof *a);
    if (!a) return maki_fail_nomem(err);
    a->alloc = env->alloc;
    a->work = NULL;
    a->fn = fn;
    a->ctx = ctx;
    a->filling = 0;
    for (size_t i = 0; i < BATCHES; i++) {
        a->batches[i].text = maki_buf_new(env->alloc, TEXT_MAX);
        a->batches[i].folder_fd = folder_fd;
        a->batches[i].count = 0;
        a->batches[i].handed = false;
    }
    maki_status st = maki_work_open(env->alloc, 2, &a->work, err);
    if (st != MAKI_OK) {
        maki_ahead_close(a);
        return st;
    }
    *out = a;
    return MAKI_OK;
}

/* The batch is looked at and handed out, and empty again. */
static maki_status take(maki_ahead *a, batch *b, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (b->handed) maki_work_wait(a->work, b->ticket);
    for (size_t i = 0; st == MAKI_OK && i < b->count; i++) {
        const row *r = &b->rows[i];
        maki_entry entry = { { b->text.ptr + r->id_at, r->id_len },
                             { b->text.ptr + r->json_at, r->json_len },
                             r->start,
                             r->end };
        st = a->fn(a->ctx, &entry, &r->looked, err);
    }
    b->count = 0;
    b->handed = false;
    maki_buf_clear(&b->text);
    return st;
}

/* A full batch goes to the worker, and the oldest makes room. */
static maki_status turn(maki_ahead *a, maki_err *err)
{
    batch *full = &a->batches[a->filling];
    full->ticket = maki_work_add(a->work, look, full);
    full->handed = true;
    a->filling = (a->filling + 1) % BATCHES;
    return take(a, &a->batches[a->filling], err);
}

maki_status maki_ahead_add(maki_ahead *a, const maki_entry *entry, maki_err *err)
{
    batch *b = &a->batches[a->filling];
    row *r = &b->rows[b->count++];
    r->start = entry->start;
    r->end = entry->end;
    r->id_at = b->text.len;
    r->id_len = entry->id.len;
    maki_buf_add(&b->text, entry->id);
    r->json_at = b->text.len;
    r->json_len = entry->json.len;
    maki_buf_add(&b->text, entry->json);
    if (!maki_entry_id(entry, r->looked.id)) r->looked.id[0] = '\0';
    maki_status st = maki_buf_status(&b->text, err);
    bool full = b->count == ROWS || b->text.len > TEXT_MAX / 4;
    return st == MAKI_OK && full ? turn(a, err) : st;
}

maki_status maki_ahead_flush(maki_ahead *a, maki_err *err)
{
    maki_status st = turn(a, err);
    for (size_t i = 1; st == MAKI_OK && i < BATCHES; i++)
        st = take(a, &a->batches[(a->filling + i) % BATCHES], err);
    return st;
}

void maki_ahead_close(maki_ahead *a)
{
    if (!a) return;
    maki_work_close(a->work); /* which waits for what is being looked at */
    for (size_t i = 0; i < BATCHES; i++)
        maki_buf_free(&a->batches[i].text);
    a->alloc->resize(a->alloc, a, sizeof *a, 0);
}
