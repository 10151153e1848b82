/* exchange.c -- a request: which conversation it goes on with, and what of it is new.
 *
 * The body is read twice, each time from the longest place that is known (body_cache.h): once for the prefixes of its
 * messages, and, when it is known where they leave what is recorded, once more for the rows that are new.  So
 * what is held is 16 bytes a message, whatever their length. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "base/text.h"
#include "proxy/proxy_internal.h"
#include "proxy/system_prompt.h"

enum {
    RETRY_S = 600, /* an identical request in this time is a retry, though no reply was seen */
    PREFIXES_MAX = 64 << 20,
    LEADING_MAX = 64 << 20,
    FIELDS_MAX = 1 << 12
};

/* ---- begin ------------------------------------------------------------------------------------------- */

/* As much as there is room for.  A path may have any bytes, events are UTF-8: a question mark for what is not. */
static void copy_name(maki_str text, char *out, size_t capacity)
{
    size_t n = text.len < capacity - 1 ? text.len : capacity - 1, bad;
    if (n) memcpy(out, text.ptr, n);
    out[n] = '\0';
    while (!maki_utf8_valid((maki_str){ out, n }, &bad))
        out[bad] = '?';
}

/* "agent:proxy:NAME" as a JSON string; what has no place in a key is left out. */
static void key_of_name(maki_str name, char *out, size_t capacity)
{
    int n = snprintf(out, capacity, "\"agent:proxy:");
    size_t at = (size_t)n;
    for (size_t i = 0; i < name.len && at + 2 < capacity; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c > ' ' && c < 127 && c != '"' && c != '\\') out[at++] = (char)c;
    }
    memcpy(out + at, "\"", 2);
}

static maki_status scopes(maki_exchange *x, const maki_exchange_in *in, maki_err *err)
{
    maki_str named[] = { in->credential, MAKI_LIT("session"), in->session };
    maki_str by_client[] = { in->credential, MAKI_LIT("client"), in->client_id };
    const unsigned char *secret = x->proxy->secret;
    maki_status st = maki_scope_of(secret, named, 1, x->caller, err);
    if (st != MAKI_OK) return st;
    memcpy(x->scope, x->caller, sizeof x->scope);
    if (in->session.len)
        st = maki_scope_of(secret, named, 3, x->scope, err);
    else if (in->client_id.len)
        st = maki_scope_of(secret, by_client, 3, x->scope, err);
    memcpy(x->near, x->scope, sizeof x->near);
    x->near[0] ^= (unsigned char)x->protocol; /* the same bytes mean something else in each */
    return st;
}

maki_status maki_exchange_begin(maki_proxy *p, const maki_exchange_in *in, maki_exchange **out,
                                maki_err *err)
{
    maki_exchange *x = maki_new(p->env.alloc, maki_exchange);
    if (!x) return maki_fail_nomem(err);
    *x = (maki_exchange){ .proxy = p, .protocol = in->protocol };
    x->began = p->env.clock->now_ms(p->env.clock);
    x->named = in->session.len > 0;
    x->has_id = in->client_id.len > 0;
    copy_name(in->upstream, x->upstream, sizeof x->upstream);
    copy_name(in->path, x->path, sizeof x->path);
    copy_name(in->model, x->model, sizeof x->model);
    if (x->named) key_of_name(in->session, x->name, sizeof x->name);
    maki_status st = scopes(x, in, err);
    if (st != MAKI_OK) {
        maki_exchange_close(x);
        return st;
    }
    *out = x;
    return MAKI_OK;
}

/* ---- reading: the prefixes of its messages ------------------------------------------------------------- */

typedef struct reading {
    maki_exchange *x;
    maki_body_cache_mark base;                 /* where it began; mark.at 0: at the beginning */
    unsigned char session[MAKI_SESSION_BYTES]; /* of that place */
    maki_buf prefixes;                         /* P of each message after `from` */
    maki_buf leading;                          /* system messages before the others */
    uint64_t count; /* messages that count, those before `from` included */
    unsigned char prefix[MAKI_PREFIX_LEN];
    maki_wire_mark mark;                               /* right after the message */
    maki_body_cache_mark marks[MAKI_BODY_CACHE_MARKS]; /* after the last messages, a ring */
    size_t mark_count;
    maki_wire_request request;
} reading;

static maki_status read_message(void *ctx, const maki_wire_message *message, maki_err *err)
{
    reading *r = ctx;
    if (message->system) {
        if (r->leading.len) maki_buf_add(&r->leading, MAKI_LIT(","));
        maki_buf_add(&r->leading, message->row);
        return maki_buf_status(&r->leading, err);
    }
    maki_status st = maki_canon_next(&r->x->proxy->env, r->prefix, message->row, r->prefix, err);
    if (st != MAKI_OK) return st;
    maki_buf_add(&r->prefixes, (maki_str){ (const char *)r->prefix, sizeof r->prefix });
    r->count++;
    if (r->mark.at == message->end) {
        maki_body_cache_mark *kept = &r->marks[r->mark_count++ % MAKI_BODY_CACHE_MARKS];
        *kept = (maki_body_cache_mark){ .mark = r->mark, .messages = r->count };
        memcpy(kept->prefix, r->prefix, sizeof kept->prefix);
    }
    return maki_buf_status(&r->prefixes, err);
}

/* Read the body from `from` on. */
static maki_status read_body(reading *r, maki_str body, const maki_body_cache_mark *from,
                             maki_err *err)
{
    const maki_env *env = &r->x->proxy->env;
    maki_buf_clear(&r->prefixes);
    maki_buf_clear(&r->leading);
    r->base = from ? *from : (maki_body_cache_mark){ .messages = 0 };
    r->count = r->base.messages;
    r->mark_count = 0;
    memcpy(r->prefix, r->base.prefix, sizeof r->prefix);
    return maki_wire_read(env, r->x->protocol, body, &r->base.mark, read_message, r, &r->request,
                          &r->mark, err);
}

static const unsigned char *prefix_at(const reading *r, uint64_t message)
{
    size_t at = (size_t)(message - r->base.messages - 1) * MAKI_PREFIX_LEN;
    return (const unsigned char *)r->prefixes.ptr + at;
}

static maki_system_now system_of(const reading *r)
{
    return (maki_system_now){ r->request.system, maki_buf_str(&r->leading), r->request.tools };
}

static uint64_t leading_of(const reading *r)
{
    return r->base.mark.at ? r->base.leading : maki_leading_hash(maki_buf_str(&r->leading));
}

/* Who is asked to speak.  Of a body that was read from a mark on, what stands before it is the same. */
static uint32_t persona_of(const reading *r)
{
    maki_system_now now = system_of(r);
    return r->base.mark.at && r->base.leading ? r->base.persona : maki_system_persona(&now);
}

/* What the request is for: it counts as long as no reply was seen. */
static uint32_t kin_of(const reading *r)
{
    maki_system_now now = system_of(r);
    return (uint32_t)maki_system_masked(&now) | 1;
}

/* ---- which conversation ------------------------------------------------------------------------------- */

/* Where a request goes on. */
typedef struct found {
    unsigned char session[MAKI_SESSION_BYTES];
    maki_point point;
    uint64_t messages; /* of the request that are in the log */
    bool spoke;        /* a reply that passed through here is among them */
    bool any;
    maki_live_conversation *talk;           /* open; NULL: none yet */
    unsigned char gone[MAKI_SESSION_BYTES]; /* a session that is not there any more */
} found;

/* With the name that the body has for the conversation.  Where a client has none, the same words to somebody
 * else (Qwen Code's extraction of memories, Gemini CLI's choice of a model) are a conversation apart. */
static maki_status settle_scope(maki_exchange *x, const reading *r, maki_err *err)
{
    uint32_t persona = persona_of(r);
    maki_str id = r->request.client_id;
    maki_str parts[] = { { (const char *)x->caller, sizeof x->caller },
                         id.len ? MAKI_LIT("body") : MAKI_LIT("persona"),
                         id.len ? id : (maki_str){ (const char *)&persona, sizeof persona } };
    if (x->named || x->has_id) return MAKI_OK;
    x->has_id = id.len > 0;
    return maki_scope_of(x->proxy->secret, parts, 3, x->scope, err);
}

/* May this request go on from an entry of the table? */
static bool goes_on(const maki_exchange *x, const reading *r, const maki_prefix *entry,
                    uint64_t message, uint32_t kin)
{
    if (entry->kin == 0 || x->named) return true; /* a reply is in it, or it is said so */
    if (entry->kin != kin) return false; /* the same first words, to another end: a title, say */
    if (x->has_id) return true;
    int64_t now = x->proxy->env.clock->now_ms(x->proxy->env.clock) / 1000;
    return message == r->count && now - (int64_t)entry->used < RETRY_S;
}

/* The key of a prefix in the table: it belongs to the scope. */
static void prefix_key(const maki_exchange *x, const unsigned char prefix[MAKI_PREFIX_LEN],
                       unsigned char out[MAKI_PREFIX_LEN])
{
    unsigned char both[2 * MAKI_PREFIX_LEN], sha[MAKI_SHA256_LEN];
    memcpy(both, x->scope, MAKI_PREFIX_LEN);
    memcpy(both + MAKI_PREFIX_LEN, prefix, MAKI_PREFIX_LEN);
    maki_sha256_of((maki_str){ (const char *)both, sizeof both }, sha);
    memcpy(out, sha, MAKI_PREFIX_LEN);
}

static maki_status look_up(maki_exchange *x, const unsigned char *prefix, maki_prefix *entry,
                           bool *is, maki_err *err)
{
    unsigned char key[MAKI_PREFIX_LEN];
    prefix_key(x, prefix, key);
    return maki_prefixes_find(&x->proxy->prefixes, key, entry, is, err);
}

/* Open the conversation at a point.  NOTFOUND: it is gone, or has lost the rows in question. */
static maki_status open_at(maki_exchange *x, const unsigned char *session, const maki_point *point,
                           maki_live_conversation **talk, maki_err *err)
{
    maki_status st =
        maki_proxy_open_conversation(x->proxy, session, false, (maki_str){ "", 0 }, talk, err);
    return st == MAKI_OK ? maki_live_has(*talk, point, err) : st;
}

/* An entry is believed when the log has that very message.  The table is not synced with the logs, so after a
 * power cut it may know more than they do; and a log that was repaired may have others in their place.  Then
 * the entry is dropped, and *f is what it was. */
static maki_status take(maki_exchange *x, const maki_prefix *entry, uint64_t messages, found *f,
                        maki_err *err)
{
    maki_point point = { entry->seq, entry->ev, entry->tokens,
                         (uint32_t)entry->trace_high << 16 | entry->trace_low };
    bool gone = memcmp(f->gone, entry->session, sizeof f->gone) == 0;
    maki_status st = gone ? MAKI_NOTFOUND : open_at(x, entry->session, &point, &f->talk, err);
    if (st == MAKI_NOTFOUND) {
        if (!f->talk) memcpy(f->gone, entry->session, sizeof f->gone);
        f->talk = NULL;
        return maki_prefixes_drop(&x->proxy->prefixes, entry, err);
    }
    if (st != MAKI_OK) return st;
    memcpy(f->session, entry->session, sizeof f->session);
    f->point = point;
    f->messages = messages;
    f->spoke = entry->kin == 0;
    f->any = true;
    return MAKI_OK;
}

/* A named conversation has a root, from which everything may branch. */
static const unsigned char root[MAKI_PREFIX_LEN];

/* Which reply or conversation the request names, so that it has only what is new. */
static maki_status read_reference(maki_exchange *x, const reading *r, maki_err *err)
{
    maki_str conversation = r->request.conversation;
    x->kept = conversation.len > 0;
    x->by_reference = x->kept || r->request.reference.len > 0;
    if (!x->kept) return MAKI_OK;
    return maki_reference_key(x, "conversation", conversation, x->kept_key, err);
}

static maki_status find_reference(maki_exchange *x, const reading *r, found *f, maki_err *err)
{
    unsigned char key[MAKI_PREFIX_LEN];
    maki_prefix entry;
    bool is = false;
    maki_status st = MAKI_OK;
    if (r->request.reference.len)
        st = maki_reference_key(x, "reply", r->request.reference, key, err);
    else
        memcpy(key, x->kept_key, sizeof key);
    if (st == MAKI_OK) st = maki_prefixes_find(&x->proxy->prefixes, key, &entry, &is, err);
    return st == MAKI_OK && is ? take(x, &entry, 0, f, err) : st;
}

/* The longest prefix that is in the log.  `kin` is the request's system prompt and tools. */
static maki_status find_conversation(maki_exchange *x, const reading *r, uint32_t kin, found *f,
                                     maki_err *err)
{
    maki_status st = MAKI_OK;
    maki_prefix entry;
    bool is = false;
    if (x->by_reference) return find_reference(x, r, f, err);
    for (uint64_t k = r->count; st == MAKI_OK && !f->any && k > r->base.messages; k--) {
        st = look_up(x, prefix_at(r, k), &entry, &is, err);
        if (st == MAKI_OK && is && goes_on(x, r, &entry, k, kin)) st = take(x, &entry, k, f, err);
    }
    if (st != MAKI_OK || f->any) return st;
    if (r->base.mark.at) {
        memcpy(f->session, r->session, sizeof f->session);
        f->point = r->base.point;
        f->messages = r->base.messages;
        f->spoke = r->base.spoke;
        f->any = true;
        st = open_at(x, f->session, &f->point, &f->talk, err);
    } else if (x->named) {
        st = look_up(x, root, &entry, &is, err);
        if (st == MAKI_OK && is) st = take(x, &entry, 0, f, err);
    }
    return st;
}

maki_status maki_exchange_know_key(maki_exchange *x, const unsigned char key[MAKI_PREFIX_LEN],
                                   const maki_point *point, uint32_t kin, maki_err *err)
{
    maki_prefix entry = { .seq = point->seq & MAKI_PREFIX_NUMBER,
                          .ev = point->ev & MAKI_PREFIX_NUMBER,
                          .trace_low = (uint16_t)point->trace,
                          .trace_high = (uint16_t)(point->trace >> 16),
                          .tokens = (uint32_t)point->tokens,
                          .kin = kin,
                          .used = (uint32_t)(x->began / 1000) };
    memcpy(entry.prefix, key, sizeof entry.prefix);
    memcpy(entry.session, x->session, sizeof entry.session);
    return maki_prefixes_put(&x->proxy->prefixes, entry, err);
}

maki_status maki_exchange_know(maki_exchange *x, const unsigned char prefix[MAKI_PREFIX_LEN],
                               const maki_point *point, uint32_t kin, maki_err *err)
{
    unsigned char key[MAKI_PREFIX_LEN];
    prefix_key(x, prefix, key);
    return maki_exchange_know_key(x, key, point, kin, err);
}

/* A new conversation. */
static maki_status new_talk(maki_exchange *x, found *f, maki_err *err)
{
    static const maki_point beginning;
    maki_proxy *p = x->proxy;
    *f = (found){ .any = true };
    maki_status st = p->env.random->fill(p->env.random, f->session, sizeof f->session, err);
    if (st != MAKI_OK) return st;
    f->session[6] = (unsigned char)((f->session[6] & 0x0f) | 0x40); /* a UUID, version 4 */
    f->session[8] = (unsigned char)((f->session[8] & 0x3f) | 0x80);
    st = maki_proxy_open_conversation(p, f->session, true, maki_str_of(x->name), &f->talk, err);
    if (st != MAKI_OK) return st;
    memcpy(x->session, f->session, sizeof x->session);
    if (x->named) st = maki_exchange_know(x, root, &beginning, 1, err);
    if (st == MAKI_OK && x->kept) st = maki_exchange_know_key(x, x->kept_key, &beginning, 0, err);
    return st;
}

/* Read the body and open the conversation it goes on with.  `from` is where reading may begin: NOTFOUND
 * when that conversation is gone. */
static maki_status recognise(reading *r, maki_str body, const maki_body_cache_mark *from, found *f,
                             maki_err *err)
{
    maki_exchange *x = r->x;
    *f = (found){ .any = false };
    maki_status st = read_body(r, body, from, err);
    if (st == MAKI_OK) st = settle_scope(x, r, err);
    if (st == MAKI_OK) st = read_reference(x, r, err);
    if (st == MAKI_OK && from && x->by_reference) return MAKI_NOTFOUND; /* all of it is new */
    if (st == MAKI_OK && x->proxy->said) {
        const void *prefixes = r->prefixes.ptr;
        maki_exchange_write_said(x, prefixes, r->prefixes.len / MAKI_PREFIX_LEN);
        maki_exchange_write_said(x, (const void *)r->base.prefix, 1);
    }
    if (st == MAKI_OK) st = find_conversation(x, r, kin_of(r), f, err);
    return st == MAKI_OK && !f->any ? new_talk(x, f, err) : st;
}

/* ---- writing what is new ------------------------------------------------------------------------------ */

typedef struct writing {
    maki_exchange *x;
    maki_live_conversation *talk;
    maki_spool row;
    uint64_t message; /* the number of the one that comes next */
    uint64_t known;   /* those up to this one are in the log */
    char fields[64];
} writing;

static maki_status write_message(void *ctx, const maki_wire_message *message, maki_err *err)
{
    writing *w = ctx;
    maki_str row;
    uint64_t seq;
    if (message->system || w->message++ < w->known) return MAKI_OK;
    maki_status st = maki_proxy_row(&w->row, message->row, maki_str_of(w->fields), &row, err);
    return st == MAKI_OK ? maki_live_add(w->talk, row, &seq, err) : st;
}

static maki_status write_rows(reading *r, maki_str body, maki_live_conversation *talk,
                              uint64_t known, maki_err *err)
{
    maki_proxy *p = r->x->proxy;
    maki_wire_request request;
    writing w = { .x = r->x,
                  .talk = talk,
                  .row = maki_spool_new(&p->env, MAKI_SPOOL_MEMORY),
                  .message = r->base.messages,
                  .known = known };
    snprintf(w.fields, sizeof w.fields, ",\"createdAt\":%" PRId64, r->x->began);
    maki_status st = maki_wire_read(&p->env, r->x->protocol, body, &r->base.mark, write_message, &w,
                                    &request, NULL, err);
    maki_spool_free(&w.row);
    return st;
}

static uint64_t system_as_sent(const reading *r)
{
    maki_system_now now = system_of(r);
    return maki_system_hash(&now, leading_of(r));
}

/* Note the system prompt and the tools, if they changed; *seen is what is in force then. */
static maki_status write_system(reading *r, maki_live_conversation *talk, maki_system_seen *seen,
                                maki_err *err)
{
    maki_proxy *p = r->x->proxy;
    maki_system_now now = system_of(r);
    uint64_t as_sent = system_as_sent(r);
    *seen = talk->system;
    if (seen->as_sent == as_sent) return MAKI_OK;
    seen->as_sent = as_sent;
    seen->masked = maki_system_masked(&now);
    if (seen->masked == talk->system.masked) return MAKI_OK;
    maki_buf fields = maki_buf_new(p->env.alloc, FIELDS_MAX);
    maki_status st = maki_system_keep(&p->env, p->blobs, p->tokenizer, &now, seen, &fields, err);
    if (st == MAKI_OK && fields.len)
        st = maki_live_note(talk, "system", maki_buf_str(&fields), err);
    maki_buf_free(&fields);
    return st;
}

/* One group: back to where the client goes on, the system prompt, the rows that are new. */
static maki_status write_group(reading *r, maki_str body, maki_live_conversation *talk,
                               const found *f, maki_err *err)
{
    maki_system_seen seen;
    maki_status st = maki_live_begin(talk, &f->point, err);
    if (st != MAKI_OK) return st;
    st = write_system(r, talk, &seen, err);
    if (st == MAKI_OK && r->count > f->messages) st = write_rows(r, body, talk, f->messages, err);
    if (st != MAKI_OK) {
        maki_live_abort(talk);
        return st;
    }
    st = maki_live_commit(talk, err);
    if (st == MAKI_OK) talk->system = seen;
    return st;
}

/* Put the new rows into the table, so that the next request finds them. */
static maki_status know_rows(reading *r, maki_live_conversation *talk, const found *f, uint32_t kin,
                             maki_err *err)
{
    maki_point tip = maki_live_tip(talk);
    uint64_t count = r->count - f->messages, first = tip.seq - count + 1;
    maki_point point = { first, tip.ev, f->point.tokens, 0 };
    maki_status st = MAKI_OK;
    uint64_t tokens;
    if (r->x->by_reference) return MAKI_OK;
    for (uint64_t i = 0; st == MAKI_OK && i < count; i++) {
        point.seq = first + i;
        st = maki_live_row(talk, point.seq, &tokens, &point.trace, err);
        point.tokens += tokens;
        if (st == MAKI_OK)
            st = maki_exchange_know(r->x, prefix_at(r, f->messages + 1 + i), &point,
                                    f->spoke ? 0 : kin, err);
    }
    return st;
}

/* Keep places in it for the next body: the one that it was read from, and those after messages whose
 * rows are known here. */
static void know_body(reading *r, maki_str body, maki_live_conversation *talk, const found *f)
{
    maki_exchange *x = r->x;
    maki_body_cache_mark marks[MAKI_BODY_CACHE_MARKS + 1];
    maki_point tip = x->tip;
    uint64_t tokens;
    size_t n = MAKI_BODY_CACHE_MARKS + 1;
    /* without a reply it would be read as a whole in any case */
    size_t have = f->spoke && !x->by_reference ? r->mark_count : 0;
    for (size_t i = have; n > 1 && i > 0 && r->mark_count - i < MAKI_BODY_CACHE_MARKS; i--) {
        maki_body_cache_mark mark = r->marks[(i - 1) % MAKI_BODY_CACHE_MARKS];
        if (mark.messages < f->messages) break;
        mark.point = tip;
        mark.point.seq = tip.seq - (r->count - mark.messages);
        if (mark.messages == f->messages) mark.point = f->point;
        mark.leading = leading_of(r);
        mark.persona = persona_of(r);
        memcpy(mark.scope, x->scope, sizeof mark.scope);
        mark.spoke = f->spoke;
        if (maki_live_row(talk, mark.point.seq, &tokens, &mark.point.trace, NULL) != MAKI_OK) break;
        tip.tokens -= tokens < tip.tokens ? tokens : tip.tokens;
        marks[--n] = mark;
    }
    if (r->base.mark.at && n > 1) marks[--n] = r->base;
    size_t count = MAKI_BODY_CACHE_MARKS + 1 - n;
    if (count > MAKI_BODY_CACHE_MARKS) { /* the oldest falls off */
        count = MAKI_BODY_CACHE_MARKS;
        n++;
    }
    maki_body_cache_add(x->proxy->known, x->near, body, x->session, marks + n, count,
                        &x->body_hash);
}

/* ---- the request --------------------------------------------------------------------------------------- */

static void copy_model(maki_exchange *x, maki_str model)
{
    if (model.len < 2 || model.ptr[0] != '"') return;
    x->model[maki_json_copy_text(model, x->model, sizeof x->model - 1)] = '\0';
}

/* Was the beginning of the body passed over, though something in it is needed?  Or was it known from
 * somebody else's conversation? */
static bool passed_over(const reading *r, const maki_live_conversation *talk)
{
    if (memcmp(r->base.scope, r->x->scope, sizeof r->base.scope) != 0) return true;
    return r->base.leading && talk->system.as_sent != system_as_sent(r);
}

static maki_status record_in(reading *r, maki_str body, const found *f,
                             maki_live_conversation *talk, maki_err *err)
{
    maki_exchange *x = r->x;
    maki_status st = MAKI_OK;
    memcpy(x->session, f->session, sizeof x->session);
    memcpy(x->prefix, r->prefix, sizeof x->prefix);
    x->tip = f->point;
    if (r->count > f->messages || talk->system.as_sent != system_as_sent(r)) {
        st = write_group(r, body, talk, f, err);
        if (st == MAKI_OK) st = know_rows(r, talk, f, kin_of(r), err);
        if (st != MAKI_OK) return st;
        x->tip = maki_live_tip(talk);
    } /* else it is a retry: where it branches off is written with the reply */
    know_body(r, body, talk, f);
    x->system_tokens = talk->system.system_tokens;
    x->tool_tokens = talk->system.tool_tokens;
    return MAKI_OK;
}

static maki_status record(reading *r, maki_str body, maki_err *err)
{
    maki_exchange *x = r->x;
    found f;
    const maki_body_cache_mark *from =
        maki_body_cache_find(x->proxy->known, x->near, body, r->session);
    if (from && !from->spoke) from = NULL; /* it is short, and what it is for has to be known */
    maki_status st = recognise(r, body, from, &f, err);
    if (from && (st == MAKI_NOTFOUND || (st == MAKI_OK && passed_over(r, f.talk))))
        st = recognise(r, body, NULL, &f, err);
    if (st == MAKI_OK) st = record_in(r, body, &f, f.talk, err);
    if (st != MAKI_OK && f.talk && maki_live_is_blank(f.talk)) maki_proxy_discard(x->proxy, f.talk);
    return st;
}

maki_status maki_exchange_request(maki_exchange *x, maki_str body, maki_err *err)
{
    const maki_env *env = &x->proxy->env;
    reading r = { .x = x,
                  .prefixes = maki_buf_new(env->alloc, PREFIXES_MAX),
                  .leading = maki_buf_new(env->alloc, LEADING_MAX) };
    maki_status st = record(&r, body, err);
    x->body_bytes = body.len;
    x->recorded = st == MAKI_OK;
    copy_model(x, r.request.model);
    maki_buf_free(&r.prefixes);
    maki_buf_free(&r.leading);
    return st;
}
