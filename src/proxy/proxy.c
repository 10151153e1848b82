/* proxy.c -- open and close a proxy, its cache of open conversations (at most open_max, LRU), and helpers for rows
 * and events. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/files.h"
#include "base/platform.h"
#include "base/str_util.h"
#include "history/token_counter.h"
#include "proxy/proxy_internal.h"
#include "store/session.h"

enum {
    OPEN_MAX = 64,
    IDLE_MS = 60000, /* a conversation that was not used for this long is closed */
    EVENT_MAX = 2048,
    BOOT_MAX = 64
};

/* The id of this boot, from Linux; "" elsewhere. */
static maki_str boot_id(const maki_env *env, char out[BOOT_MAX])
{
    size_t got = 0;
    int fd = env->files->open(env->files, MAKI_BOOT_ID_FILE, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return (maki_str){ "", 0 };
    if (maki_file_read_at(env->files, fd, 0, out, BOOT_MAX, &got, NULL) != MAKI_OK) got = 0;
    env->files->close(env->files, fd);
    return (maki_str){ out, got };
}

static maki_status open_parts(maki_proxy *p, const char *home, maki_err *err)
{
    char directory[MAKI_PATH_MAX], secret[MAKI_PATH_MAX + 16], boot[BOOT_MAX];
    maki_status st = maki_agent_directory(p->env.files, home, "proxy", "sessions", p->sessions,
                                          sizeof p->sessions, err);
    if (st == MAKI_OK)
        st = maki_agent_directory(p->env.files, home, "proxy", "blobs", p->blobs, sizeof p->blobs,
                                  err);
    if (st == MAKI_OK)
        st =
            maki_agent_directory(p->env.files, home, "proxy", "", directory, sizeof directory, err);
    if (st != MAKI_OK) return st;
    snprintf(p->table, sizeof p->table, "%s/prefixes", directory);
    snprintf(secret, sizeof secret, "%s/secret", directory);
    st = maki_prefixes_open(&p->prefixes, &p->env, p->table, err);
    if (st == MAKI_OK) st = maki_secret_read(&p->env, secret, p->secret, err);
    maki_journal_options journal = { .directory = directory,
                                     .sessions = p->sessions,
                                     .boot = boot_id(&p->env, boot),
                                     .logger = p->options.logger };
    if (st == MAKI_OK) st = maki_journal_open(&p->env, &journal, &p->journal, NULL, err);
    if (st == MAKI_OK) st = maki_body_cache_open(&p->env, &p->body_cache, err);
    if (st == MAKI_OK)
        st = maki_tokenizer_open(&p->env, maki_encoding_find(MAKI_LOG_ENCODING), NULL,
                                 &p->tokenizer, err);
    return st;
}

maki_status maki_proxy_open(const maki_env *env, const maki_proxy_options *options,
                            maki_proxy **out, maki_err *err)
{
    maki_proxy *p = maki_new(env->alloc, maki_proxy);
    if (!p) return maki_fail_nomem(err);
    *p = (maki_proxy){ .env = *env, .options = *options, .prefixes.fd = -1 };
    if (p->options.open_max == 0) p->options.open_max = OPEN_MAX;
    size_t size = p->options.open_max * sizeof p->live[0];
    p->live = env->alloc->resize(env->alloc, NULL, 0, size);
    maki_status st = p->live ? open_parts(p, options->home, err) : maki_fail_nomem(err);
    if (st != MAKI_OK) {
        maki_proxy_close(p);
        return st;
    }
    *out = p;
    return MAKI_OK;
}

static void close_live(maki_proxy *p, size_t i)
{
    maki_live_close(p->live[i]);
    p->live[i] = p->live[--p->live_count];
}

void maki_proxy_close(maki_proxy *p)
{
    if (!p) return;
    const maki_alloc *alloc = p->env.alloc;
    while (p->live_count)
        close_live(p, p->live_count - 1);
    if (p->live) alloc->resize(alloc, p->live, p->options.open_max * sizeof p->live[0], 0);
    maki_tokenizer_close(p->tokenizer);
    maki_body_cache_close(p->body_cache);
    maki_journal_close(p->journal);
    maki_prefixes_close(&p->prefixes);
    maki_delete(alloc, p);
}

maki_status maki_proxy_sync(maki_proxy *p, maki_err *err)
{
    return maki_journal_sync(p->journal, err);
}

void maki_proxy_tick(maki_proxy *p)
{
    int64_t now = p->env.clock->now_ms(p->env.clock);
    for (size_t i = p->live_count; i > 0; i--) {
        if (now - p->live[i - 1]->used_ms > IDLE_MS) close_live(p, i - 1);
    }
}

/* ---- conversations that are open --------------------------------------------------------------------- */

/* Close the least recently used conversation. */
static void evict_oldest(maki_proxy *p)
{
    size_t oldest = 0;
    if (p->live_count < p->options.open_max) return;
    for (size_t i = 1; i < p->live_count; i++) {
        if (p->live[i]->used_ms < p->live[oldest]->used_ms) oldest = i;
    }
    close_live(p, oldest);
}

maki_status maki_proxy_open_conversation(maki_proxy *p,
                                         const unsigned char session[MAKI_SESSION_BYTES],
                                         const maki_exchange *creator, maki_live_conversation **out,
                                         maki_err *err)
{
    int64_t now = p->env.clock->now_ms(p->env.clock);
    for (size_t i = 0; i < p->live_count; i++) {
        if (memcmp(p->live[i]->session, session, MAKI_SESSION_BYTES) != 0) continue;
        if (maki_live_is_deleted(p->live[i])) {
            close_live(p, i);
            break; /* opened again: it does not exist */
        }
        p->live[i]->used_ms = now;
        *out = p->live[i];
        return MAKI_OK;
    }
    maki_live_options options = { .directory = p->sessions,
                                  .create = creator != NULL,
                                  .key = maki_str_of(creator ? creator->name : ""),
                                  .client = maki_str_of(creator ? creator->client : ""),
                                  .tokenizer = p->tokenizer,
                                  .journal = p->journal,
                                  .logger = p->options.logger };
    evict_oldest(p);
    maki_status st = maki_live_open(&p->env, session, &options, out, err);
    if (st != MAKI_OK) return st;
    (*out)->used_ms = now;
    p->live[p->live_count++] = *out;
    return MAKI_OK;
}

void maki_proxy_discard(maki_proxy *p, maki_live_conversation *live)
{
    size_t i = 0;
    while (p->live[i] != live)
        i++;
    maki_live_discard(live);
    p->live[i] = p->live[--p->live_count];
}

/* ---- rows and events ---------------------------------------------------------------------------------- */

maki_status maki_reference_key(const maki_exchange *x, const char *kind, maki_str id,
                               unsigned char out[MAKI_PREFIX_LEN], maki_err *err)
{
    maki_str parts[] = { { (const char *)x->credential_scope, sizeof x->credential_scope },
                         maki_str_of(kind),
                         id };
    return maki_scope_of(x->proxy->secret, parts, 3, out, err);
}

/* JSON has newlines only between tokens: they become spaces. */
static maki_status add_without_newlines(maki_spool *out, maki_str json, maki_err *err)
{
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && json.len) {
        size_t n = 0;
        while (n < json.len && json.ptr[n] != '\n' && json.ptr[n] != '\r')
            n++;
        if (n) st = maki_spool_add(out, maki_str_prefix(json, n), err);
        if (st == MAKI_OK && n < json.len) st = maki_spool_add(out, MAKI_LIT(" "), err);
        json = maki_str_skip(json, n < json.len ? n + 1 : n);
    }
    return st;
}

maki_status maki_proxy_row(maki_spool *out, maki_str message, maki_str fields, maki_str *row,
                           maki_err *err)
{
    maki_spool_clear(out);
    maki_str inside = maki_str_prefix(message, message.len - 1);
    bool newlines = memchr(inside.ptr, '\n', inside.len) || memchr(inside.ptr, '\r', inside.len);
    maki_status st =
        newlines ? add_without_newlines(out, inside, err) : maki_spool_add(out, inside, err);
    if (st == MAKI_OK) st = maki_spool_add(out, fields, err);
    if (st == MAKI_OK) st = maki_spool_add(out, MAKI_LIT("}"), err);
    return st == MAKI_OK ? maki_spool_text(out, row, err) : st;
}

void maki_proxy_emit(maki_proxy *p, const char *fmt, ...)
{
    char text[EVENT_MAX];
    va_list args;
    if (!p->options.on_event) return;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n > 0 && (size_t)n < sizeof text)
        p->options.on_event(p->options.on_event_ctx, (maki_str){ text, (size_t)n });
}
