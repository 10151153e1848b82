/* conversation_api.c -- <maki/conversation.h> on top of history/conversation.h. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <maki/maki.h>

#include "base/err.h"
#include "base/str.h"
#include "history/conversation.h"
#include "ops/op.h"

struct maki_conversation {
    const maki_alloc *alloc;
    maki_conv *conv;
    maki_conv *beside; /* a second look at the same files, made when it is needed */
    maki_env env;
    char path[4096];
};

maki_status maki_conversation_path(const char *name, char *path, size_t room, maki_err *err)
{
    struct stat st;
    size_t n = strlen(name);
    if (n == 0 || n + 20 > room) return maki_fail(err, MAKI_INVALID, "that is not a path");
    bool folder = stat(name, &st) == 0 && S_ISDIR(st.st_mode);
    snprintf(path, room, "%s%s", name, folder ? "/messages.jsonl" : "");
    return MAKI_OK;
}

maki_status maki_conversation_open(maki *m, const char *path, maki_open_mode mode,
                                   maki_conversation **out, maki_err *err)
{
    const maki_alloc *alloc = m->env.alloc;
    maki_conv_options options = { .create = mode == MAKI_OPEN_CREATE,
                                  .read_only = mode == MAKI_OPEN_READ,
                                  .durability = MAKI_SYNC };
    maki_conversation *c = alloc->resize(alloc, NULL, 0, sizeof *c);
    if (!c) return maki_fail_nomem(err);
    *c = (maki_conversation){ .alloc = alloc, .env = m->env };
    maki_status st = maki_conversation_path(path, c->path, sizeof c->path, err);
    if (st == MAKI_OK) st = maki_conv_open(&m->env, c->path, &options, &c->conv, err);
    if (st != MAKI_OK) {
        maki_conversation_close(c);
        return st;
    }
    *out = c;
    return MAKI_OK;
}

void maki_conversation_close(maki_conversation *c)
{
    if (!c) return;
    maki_conv_close(c->conv);
    maki_conv_close(c->beside);
    c->alloc->resize(c->alloc, c, sizeof *c, 0);
}

uint64_t maki_conversation_last(const maki_conversation *c)
{
    return maki_log_last(maki_conv_log(c->conv));
}

uint64_t maki_conversation_events(const maki_conversation *c)
{
    return maki_log_events(maki_conv_log(c->conv));
}

maki_status maki_conversation_append(maki_conversation *c, maki_str message, uint64_t *seq,
                                     maki_err *err)
{
    maki_change change;
    maki_status st = maki_conv_append(c->conv, NULL, &message, 1, &change, err);
    if (st == MAKI_OK && seq) *seq = change.seq;
    return st;
}

/* ---- going through it ---------------------------------------------------------------------------- */

typedef struct passing {
    const maki_view *view; /* what is visible */
    maki_each_message fn;
    void *ctx;
} passing;

static maki_status pass(void *ctx, const maki_seen *seen, maki_err *err)
{
    const passing *p = ctx;
    maki_message message = { .seq = seen->seq,
                             .ev = seen->ev,
                             .ts = seen->row.ts,
                             .tokens = seen->row.tokens,
                             .hidden = seen->seq && !maki_view_has(p->view, seen->seq),
                             .pinned = seen->seq && maki_view_pinned(p->view, seen->seq),
                             .json = seen->json };
    return p->fn(p->ctx, &message, err);
}

/* The view at a moment and everything there is, at once: two looks at the same files. */
static maki_status look_beside(maki_conversation *c, const maki_view **all, maki_err *err)
{
    maki_conv_options options = { .read_only = true };
    maki_status st = MAKI_OK;
    if (!c->beside) st = maki_conv_open(&c->env, c->path, &options, &c->beside, err);
    if (st == MAKI_OK) st = maki_conv_everything(c->beside, all, err);
    return st;
}

maki_status maki_conversation_each(maki_conversation *c, maki_moment at, bool all,
                                   maki_each_message fn, void *ctx, maki_err *err)
{
    passing p = { .fn = fn, .ctx = ctx };
    const maki_view *through;
    maki_status st = maki_conv_view(c->conv, at.seq, at.ev, &p.view, err);
    through = p.view;
    if (st == MAKI_OK && all) st = look_beside(c, &through, err);
    if (st == MAKI_OK) st = maki_conv_each(all ? c->beside : c->conv, through, pass, &p, err);
    return st;
}

typedef struct event_passing {
    maki_each_event fn;
    void *ctx;
} event_passing;

static maki_status pass_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    const event_passing *p = ctx;
    maki_str event;
    (void)at;
    maki_status st = maki_json_check(row, &event, err);
    return st == MAKI_OK ? p->fn(p->ctx, ev, event, err) : st;
}

maki_status maki_conversation_each_event(maki_conversation *c, maki_each_event fn, void *ctx,
                                         maki_err *err)
{
    event_passing p = { fn, ctx };
    return maki_log_each_event(maki_conv_log(c->conv), pass_event, &p, err);
}

maki_status maki_conversation_write(maki_conversation *c, maki_moment at, bool array, maki_sink out,
                                    maki_err *err)
{
    const maki_view *view;
    maki_status st = maki_conv_view(c->conv, at.seq, at.ev, &view, err);
    return st == MAKI_OK ? maki_conv_write(c->conv, view, array, out, err) : st;
}
