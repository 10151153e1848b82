/* exchange.c -- begin an exchange and record its request: find the conversation that it continues and append its new
 * messages.
 *
 * In:    the request's head (begin) and its complete body (request).
 * Out:   the new messages in the log of their conversation; prefixes and cached positions for the next request.
 * Always: on a failure nothing of this request is in the log, and a conversation created for it is deleted.
 *
 * The body is read twice, each time from the longest cached position (body_cache.h): once for the prefixes of its
 * messages, and, once it is known which of them are recorded, again for the new rows.  So memory is
 * 32 bytes per message, independent of its length. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str_util.h"
#include "base/text.h"
#include "proxy/proxy_internal.h"
#include "proxy/system_prompt.h"

enum {
    RETRY_S = 600, /* an identical request within this time is a retry, though no reply was seen */
    PREFIXES_MAX = 64 << 20,
    LEADING_MAX = 64 << 20,
    FIELDS_MAX = 1 << 12
};

/* ---- begin ------------------------------------------------------------------------------------------- */

/* Truncated to the capacity.  A path may have any bytes, events are UTF-8: invalid bytes become question marks. */
static void copy_name(maki_str text, char *out, size_t capacity)
{
    size_t bad;
    (void)maki_str_copy(text, out, capacity);
    while (!maki_utf8_valid(maki_str_of(out), &bad))
        out[bad] = '?';
}

/* "agent:proxy:NAME" as a JSON string, or "" if nothing of the name is left: characters that are not allowed in a key
 * are omitted.  HTTP has bytes: a name that is not UTF-8 is Latin-1, as JavaScript's fetch sends it. */
static void write_session_key(maki_str name, char *out, size_t capacity)
{
    size_t bad, start = (size_t)snprintf(out, capacity, "\"agent:proxy:"), end = start;
    bool utf8 = maki_utf8_valid(name, &bad);
    for (size_t at = 0, len = 1; at < name.len; at += len) {
        uint32_t code = utf8 ? maki_utf8_decode(name, at, &len) : (unsigned char)name.ptr[at];
        bool allowed = code >= ' ' && !(code >= 0x7F && code < 0xA0) && code != '"' && code != '\\';
        char bytes[4];
        size_t n = allowed ? maki_utf8_encode(code, bytes) : 0;
        if (end + n + 2 > capacity) break;
        memcpy(out + end, bytes, n);
        end += n;
    }
    memcpy(out + end, "\"", 2);
    if (end == start) out[0] = '\0';
}

static maki_status init_scopes(maki_exchange *x, const maki_exchange_info *in, maki_err *err)
{
    maki_str named[] = { in->credential, MAKI_LIT("session"), in->session };
    maki_str by_client[] = { in->credential, MAKI_LIT("client"), in->client_id };
    const unsigned char *secret = x->proxy->secret;
    maki_status st = maki_scope_of(secret, named, 1, x->credential_scope, err);
    if (st != MAKI_OK) return st;
    memcpy(x->scope, x->credential_scope, sizeof x->scope);
    if (in->session.len)
        st = maki_scope_of(secret, named, 3, x->scope, err);
    else if (in->client_id.len)
        st = maki_scope_of(secret, by_client, 3, x->scope, err);
    memcpy(x->head_scope, x->scope, sizeof x->head_scope);
    x->head_scope[0] ^=
        (unsigned char)x->protocol; /* the same bytes differ in meaning between protocols */
    return st;
}

maki_status maki_exchange_begin(maki_proxy *p, const maki_exchange_info *in, maki_exchange **out,
                                maki_err *err)
{
    maki_exchange *x = maki_new(p->env.alloc, maki_exchange);
    if (!x) return maki_fail_nomem(err);
    *x = (maki_exchange){ .proxy = p, .protocol = in->protocol };
    x->began_ms = p->env.clock->now_ms(p->env.clock);
    x->credential = maki_credential_of(in->credential);
    x->named = in->session.len > 0;
    x->has_id = in->client_id.len > 0;
    copy_name(in->upstream, x->upstream, sizeof x->upstream);
    copy_name(in->path, x->path, sizeof x->path);
    copy_name(in->model, x->model, sizeof x->model);
    copy_name(in->client, x->client, sizeof x->client);
    if (x->named) write_session_key(in->session, x->name, sizeof x->name);
    maki_status st = init_scopes(x, in, err);
    if (st != MAKI_OK) {
        maki_exchange_close(x);
        return st;
    }
    *out = x;
    return MAKI_OK;
}

/* ---- reading the prefixes of its messages -------------------------------------------------------------- */

typedef struct request_reader {
    maki_exchange *x;
    maki_body_cache_checkpoint base; /* where reading began; checkpoint.at 0: at the beginning */
    unsigned char session[MAKI_SESSION_BYTES]; /* of `base` */
    maki_buf prefixes;                         /* maki_canon_prefix of each message after `base` */
    maki_buf leading;                          /* system messages before the others */
    uint64_t count; /* of messages, including those before `base`, without system messages */
    maki_canon_prefix prefix;
    maki_wire_checkpoint checkpoint; /* right after the message */
    maki_body_cache_checkpoint
        checkpoints[MAKI_BODY_CACHE_CHECKPOINTS]; /* after the last messages, a ring buffer */
    size_t checkpoint_count;
    maki_wire_request request;
} request_reader;

static maki_status read_message(void *ctx, const maki_wire_message *message, maki_err *err)
{
    request_reader *r = ctx;
    if (message->system) {
        if (r->leading.len) maki_buf_add(&r->leading, MAKI_LIT(","));
        maki_buf_add(&r->leading, message->row);
        return maki_buf_status(&r->leading, err);
    }
    maki_status st = maki_canon_add(&r->x->proxy->env, &r->prefix, message->row, err);
    if (st != MAKI_OK) return st;
    maki_buf_add(&r->prefixes, (maki_str){ (const char *)&r->prefix, sizeof r->prefix });
    r->count++;
    if (r->checkpoint.at == message->end) {
        maki_body_cache_checkpoint *checkpoint =
            &r->checkpoints[r->checkpoint_count++ % MAKI_BODY_CACHE_CHECKPOINTS];
        *checkpoint = (maki_body_cache_checkpoint){ .checkpoint = r->checkpoint,
                                                    .prefix = r->prefix,
                                                    .messages = r->count };
    }
    return maki_buf_status(&r->prefixes, err);
}

/* Read the body from `from` on. */
static maki_status read_body(request_reader *r, maki_str body,
                             const maki_body_cache_checkpoint *from, maki_err *err)
{
    const maki_env *env = &r->x->proxy->env;
    maki_buf_clear(&r->prefixes);
    maki_buf_clear(&r->leading);
    r->base = from ? *from : (maki_body_cache_checkpoint){ .messages = 0 };
    r->count = r->base.messages;
    r->checkpoint_count = 0;
    r->prefix = r->base.prefix;
    return maki_wire_read(env, r->x->protocol, body, &r->base.checkpoint, read_message, r,
                          &r->request, &r->checkpoint, err);
}

static const maki_canon_prefix *prefix_at(const request_reader *r, uint64_t message)
{
    const maki_canon_prefix *prefixes = (const void *)r->prefixes.ptr;
    return &prefixes[message - r->base.messages - 1];
}

static maki_system_fields system_of(const request_reader *r)
{
    return (maki_system_fields){ r->request.system, maki_buf_str(&r->leading), r->request.tools };
}

static uint64_t leading_hash_of(const request_reader *r)
{
    return r->base.checkpoint.at ? r->base.leading : maki_leading_hash(maki_buf_str(&r->leading));
}

/* The persona of the system prompt.  Up to the checkpoint that reading began at, the body is unchanged, so its persona is
 * reused. */
static uint32_t persona_of(const request_reader *r)
{
    maki_system_fields now = system_of(r);
    return r->base.checkpoint.at && r->base.leading ? r->base.persona : maki_system_persona(&now);
}

/* The purpose of the request: a hash of system prompt and tools, compared until a reply was seen. */
static uint32_t purpose_of(const request_reader *r)
{
    maki_system_fields now = system_of(r);
    return (uint32_t)maki_system_masked(&now) | 1;
}

/* ---- finding the conversation ------------------------------------------------------------------------------- */

/* The parent of a request: the conversation and the point in it that the request continues. */
typedef struct parent {
    unsigned char session[MAKI_SESSION_BYTES];
    maki_point point;
    uint64_t messages; /* of the request that are in the log */
    bool replied;      /* a reply that was forwarded is among them */
    bool found;
    maki_live_conversation *live;              /* NULL: not opened */
    unsigned char deleted[MAKI_SESSION_BYTES]; /* a session that does not exist any more */
} parent;

/* Add the body's own id of the conversation to the scope.  A client that has none: the same messages to another persona
 * (Qwen Code's extraction of memories, Gemini CLI's selection of a model) are another conversation. */
static maki_status narrow_scope(maki_exchange *x, const request_reader *r, maki_err *err)
{
    uint32_t persona = persona_of(r);
    maki_str id = r->request.client_id;
    maki_str parts[] = { { (const char *)x->credential_scope, sizeof x->credential_scope },
                         id.len ? MAKI_LIT("body") : MAKI_LIT("persona"),
                         id.len ? id : (maki_str){ (const char *)&persona, sizeof persona } };
    if (x->named || x->has_id) return MAKI_OK;
    x->has_id = id.len > 0;
    return maki_scope_of(x->proxy->secret, parts, 3, x->scope, err);
}

/* May this request continue at an entry of the table? */
static bool may_continue(const maki_exchange *x, const request_reader *r, const maki_prefix *entry,
                         uint64_t message, uint32_t purpose)
{
    if (entry->purpose == 0 || x->named) return true; /* a reply was seen, or the client names it */
    if (entry->purpose != purpose)
        return false; /* the same first message for another purpose, for example a title */
    if (x->has_id) return true;
    int64_t now = x->proxy->env.clock->now_ms(x->proxy->env.clock) / 1000;
    return message == r->count && now - (int64_t)entry->used < RETRY_S;
}

/* The key of a prefix in the table: it belongs to the scope, and of the prefixes without reminders there are others. */
static void prefix_key(const maki_exchange *x, const unsigned char prefix[MAKI_PREFIX_LEN],
                       bool stripped, unsigned char out[MAKI_PREFIX_LEN])
{
    unsigned char bytes[2 * MAKI_PREFIX_LEN + 1], sha[MAKI_SHA256_LEN];
    memcpy(bytes, x->scope, MAKI_PREFIX_LEN);
    memcpy(bytes + MAKI_PREFIX_LEN, prefix, MAKI_PREFIX_LEN);
    bytes[2 * MAKI_PREFIX_LEN] = 's';
    maki_sha256_of((maki_str){ (const char *)bytes, 2 * MAKI_PREFIX_LEN + stripped }, sha);
    memcpy(out, sha, MAKI_PREFIX_LEN);
}

static maki_status lookup(maki_exchange *x, const unsigned char *prefix, bool stripped,
                          maki_prefix *entry, bool *exists, maki_err *err)
{
    unsigned char key[MAKI_PREFIX_LEN];
    prefix_key(x, prefix, stripped, key);
    return maki_prefixes_find(&x->proxy->prefixes, key, entry, exists, err);
}

/* Open the conversation and check that it has the point.  NOTFOUND: it was deleted, or lost those rows. */
static maki_status open_at(maki_exchange *x, const unsigned char *session, const maki_point *point,
                           maki_live_conversation **live, maki_err *err)
{
    maki_status st = maki_proxy_open_conversation(x->proxy, session, NULL, live, err);
    return st == MAKI_OK ? maki_live_has(*live, point, err) : st;
}

/* Continue at an entry of the table, if the log still has the message that the entry was written for.  The table is
 * not synced with the logs: after a power cut it may have entries for rows that are lost, and a repaired log may have
 * other rows in their place.  Such an entry is deleted, and *f is unchanged. */
static maki_status use_entry(maki_exchange *x, const maki_prefix *entry, uint64_t messages,
                             parent *f, maki_err *err)
{
    maki_point point = { entry->seq, entry->ev, entry->tokens,
                         (uint32_t)entry->fingerprint_high << 16 | entry->fingerprint_low };
    bool deleted = memcmp(f->deleted, entry->session, sizeof f->deleted) == 0;
    maki_status st = deleted ? MAKI_NOTFOUND : open_at(x, entry->session, &point, &f->live, err);
    if (st == MAKI_NOTFOUND) {
        if (!f->live) memcpy(f->deleted, entry->session, sizeof f->deleted);
        f->live = NULL;
        return maki_prefixes_delete(&x->proxy->prefixes, entry, err);
    }
    if (st != MAKI_OK) return st;
    memcpy(f->session, entry->session, sizeof f->session);
    f->point = point;
    f->messages = messages;
    f->replied = entry->purpose == 0;
    f->found = true;
    return MAKI_OK;
}

/* The prefix of the root entry of a named conversation, from which every branch may start. */
static const maki_canon_prefix root;

/* Does the request name a reply or a stored conversation, so that its body has only the new messages? */
static maki_status read_reference(maki_exchange *x, const request_reader *r, maki_err *err)
{
    maki_str conversation = r->request.conversation;
    x->stored = conversation.len > 0;
    x->by_reference = x->stored || r->request.reference.len > 0;
    if (!x->stored) return MAKI_OK;
    return maki_reference_key(x, "conversation", conversation, x->stored_key, err);
}

static maki_status find_reference(maki_exchange *x, const request_reader *r, parent *f,
                                  maki_err *err)
{
    unsigned char key[MAKI_PREFIX_LEN];
    maki_prefix entry;
    bool exists = false;
    maki_status st = MAKI_OK;
    if (r->request.reference.len)
        st = maki_reference_key(x, "reply", r->request.reference, key, err);
    else
        memcpy(key, x->stored_key, sizeof key);
    if (st == MAKI_OK) st = maki_prefixes_find(&x->proxy->prefixes, key, &entry, &exists, err);
    return st == MAKI_OK && exists ? use_entry(x, &entry, 0, f, err) : st;
}

static bool has_reminders(const maki_canon_prefix *prefix)
{
    return memcmp(prefix->all, prefix->stripped, MAKI_PREFIX_LEN) != 0;
}

/* Continue after the reply that ends the first `k` messages, if they are in the log with other reminders. */
static maki_status find_stripped(maki_exchange *x, const request_reader *r, uint64_t k, parent *f,
                                 maki_err *err)
{
    const maki_canon_prefix *before =
        k - 1 > r->base.messages ? prefix_at(r, k - 1) : &r->base.prefix;
    const unsigned char *stripped = prefix_at(r, k)->stripped;
    maki_prefix entry;
    bool exists = false;
    if (memcmp(stripped, before->stripped, MAKI_PREFIX_LEN) == 0)
        return MAKI_OK; /* the message is a reminder: it is new, and will be recorded */
    maki_status st = lookup(x, stripped, true, &entry, &exists, err);
    if (st != MAKI_OK || !exists || entry.purpose == MAKI_PREFIX_AMBIGUOUS) return st;
    st = use_entry(x, &entry, k, f, err);
    f->replied = f->found;
    return st;
}

/* Continue after the first `k` messages, if they are in the log. */
static maki_status find_prefix(maki_exchange *x, const request_reader *r, uint64_t k,
                               uint32_t purpose, parent *f, maki_err *err)
{
    maki_prefix entry;
    bool exists = false;
    maki_status st = lookup(x, prefix_at(r, k)->all, false, &entry, &exists, err);
    if (st == MAKI_OK && exists && may_continue(x, r, &entry, k, purpose))
        st = use_entry(x, &entry, k, f, err);
    bool done = st != MAKI_OK || f->found || !has_reminders(&r->prefix);
    return done ? st : find_stripped(x, r, k, f, err);
}

/* Find the longest prefix that is in the log. */
static maki_status find_conversation(maki_exchange *x, const request_reader *r, uint32_t purpose,
                                     parent *f, maki_err *err)
{
    maki_status st = MAKI_OK;
    maki_prefix entry;
    bool exists = false;
    if (x->by_reference) return find_reference(x, r, f, err);
    for (uint64_t k = r->count; st == MAKI_OK && !f->found && k > r->base.messages; k--)
        st = find_prefix(x, r, k, purpose, f, err);
    if (st != MAKI_OK || f->found) return st;
    if (r->base.checkpoint.at) {
        memcpy(f->session, r->session, sizeof f->session);
        f->point = r->base.point;
        f->messages = r->base.messages;
        f->replied = r->base.replied;
        f->found = true;
        st = open_at(x, f->session, &f->point, &f->live, err);
    } else if (x->named) {
        st = lookup(x, root.all, false, &entry, &exists, err);
        if (st == MAKI_OK && exists) st = use_entry(x, &entry, 0, f, err);
    }
    return st;
}

maki_status maki_exchange_insert_key(maki_exchange *x, const unsigned char key[MAKI_PREFIX_LEN],
                                     const maki_point *point, uint32_t purpose, maki_err *err)
{
    maki_prefix entry = { .seq = point->seq & MAKI_PREFIX_NUMBER_MAX,
                          .ev = point->ev & MAKI_PREFIX_NUMBER_MAX,
                          .fingerprint_low = (uint16_t)point->fingerprint,
                          .fingerprint_high = (uint16_t)(point->fingerprint >> 16),
                          .tokens = (uint32_t)point->tokens,
                          .purpose = purpose,
                          .used = (uint32_t)(x->began_ms / 1000) };
    memcpy(entry.prefix, key, sizeof entry.prefix);
    memcpy(entry.session, x->session, sizeof entry.session);
    return maki_prefixes_insert(&x->proxy->prefixes, entry, err);
}

maki_status maki_exchange_insert(maki_exchange *x, const maki_canon_prefix *prefix,
                                 const maki_point *point, uint32_t purpose, maki_err *err)
{
    unsigned char key[MAKI_PREFIX_LEN];
    prefix_key(x, prefix->all, false, key);
    return maki_exchange_insert_key(x, key, point, purpose, err);
}

/* Conversations that differ only in reminders, for instance in the directory that an agent works in, share their
 * prefix without them.  Then it is ambiguous, and continues none of them. */
maki_status maki_exchange_insert_stripped(maki_exchange *x, const maki_canon_prefix *prefix,
                                          const maki_point *point, maki_err *err)
{
    unsigned char key[MAKI_PREFIX_LEN];
    maki_prefix old;
    bool exists = false;
    uint32_t purpose;
    if (!has_reminders(prefix)) return MAKI_OK;
    memcpy(&purpose, prefix->all, sizeof purpose);
    purpose |= 1;
    prefix_key(x, prefix->stripped, true, key);
    maki_status st = maki_prefixes_find(&x->proxy->prefixes, key, &old, &exists, err);
    if (st != MAKI_OK) return st;
    bool same = exists && memcmp(old.session, x->session, sizeof old.session) == 0;
    if (exists && (old.purpose == MAKI_PREFIX_AMBIGUOUS || (!same && old.purpose != purpose)))
        purpose = MAKI_PREFIX_AMBIGUOUS;
    return maki_exchange_insert_key(x, key, point, purpose, err);
}

/* Create a conversation, and its root entry if it is named. */
static maki_status create_conversation(maki_exchange *x, parent *f, maki_err *err)
{
    static const maki_point beginning;
    maki_proxy *p = x->proxy;
    *f = (parent){ .found = true };
    maki_status st = p->env.random->fill(p->env.random, f->session, sizeof f->session, err);
    if (st != MAKI_OK) return st;
    f->session[6] = (unsigned char)((f->session[6] & 0x0f) | 0x40); /* a UUID, version 4 */
    f->session[8] = (unsigned char)((f->session[8] & 0x3f) | 0x80);
    st = maki_proxy_open_conversation(p, f->session, x, &f->live, err);
    if (st != MAKI_OK) return st;
    memcpy(x->session, f->session, sizeof x->session);
    if (x->named) st = maki_exchange_insert(x, &root, &beginning, 1, err);
    if (st == MAKI_OK && x->stored)
        st = maki_exchange_insert_key(x, x->stored_key, &beginning, 0, err);
    return st;
}

/* Read the body and open the conversation that it continues.  `from` is where reading may begin: NOTFOUND
 * when that conversation was deleted. */
static maki_status find_parent(request_reader *r, maki_str body,
                               const maki_body_cache_checkpoint *from, parent *f, maki_err *err)
{
    maki_exchange *x = r->x;
    *f = (parent){ .found = false };
    maki_status st = read_body(r, body, from, err);
    if (st == MAKI_OK) st = narrow_scope(x, r, err);
    if (st == MAKI_OK) st = read_reference(x, r, err);
    if (st == MAKI_OK && from && x->by_reference) return MAKI_NOTFOUND; /* all messages are new */
    if (st == MAKI_OK && x->proxy->unwritten) {
        const void *prefixes = r->prefixes.ptr;
        maki_exchange_write_continued(x, prefixes, r->prefixes.len / sizeof r->prefix);
        maki_exchange_write_continued(x, &r->base.prefix, 1);
    }
    if (st == MAKI_OK) st = find_conversation(x, r, purpose_of(r), f, err);
    return st == MAKI_OK && !f->found ? create_conversation(x, f, err) : st;
}

/* ---- writing the new messages ------------------------------------------------------------------------------ */

typedef struct row_writer {
    maki_exchange *x;
    maki_live_conversation *live;
    maki_spool row;
    uint64_t message;  /* the number of the next one */
    uint64_t recorded; /* messages that are already in the log */
    char fields[64];
} row_writer;

static maki_status write_message(void *ctx, const maki_wire_message *message, maki_err *err)
{
    row_writer *w = ctx;
    maki_str row;
    uint64_t seq;
    if (message->system || w->message++ < w->recorded) return MAKI_OK;
    maki_status st = maki_proxy_row(&w->row, message->row, maki_str_of(w->fields), &row, err);
    return st == MAKI_OK ? maki_live_add(w->live, row, &seq, err) : st;
}

static maki_status write_rows(request_reader *r, maki_str body, maki_live_conversation *live,
                              uint64_t recorded, maki_err *err)
{
    maki_proxy *p = r->x->proxy;
    maki_wire_request request;
    row_writer w = { .x = r->x,
                     .live = live,
                     .row = maki_spool_new(&p->env, MAKI_SPOOL_MEMORY),
                     .message = r->base.messages,
                     .recorded = recorded };
    snprintf(w.fields, sizeof w.fields, ",\"createdAt\":%" PRId64, r->x->began_ms);
    maki_status st = maki_wire_read(&p->env, r->x->protocol, body, &r->base.checkpoint,
                                    write_message, &w, &request, NULL, err);
    maki_spool_free(&w.row);
    return st;
}

static uint64_t system_as_sent(const request_reader *r)
{
    maki_system_fields now = system_of(r);
    return maki_system_hash(&now, leading_hash_of(r));
}

/* Add an event if the system prompt or the tools changed; *seen is the effective one afterwards. */
static maki_status write_system(request_reader *r, maki_live_conversation *live,
                                maki_system_hashes *seen, maki_err *err)
{
    maki_proxy *p = r->x->proxy;
    maki_system_fields now = system_of(r);
    uint64_t as_sent = system_as_sent(r);
    *seen = live->system;
    if (seen->as_sent == as_sent) return MAKI_OK;
    seen->as_sent = as_sent;
    seen->masked = maki_system_masked(&now);
    if (seen->masked == live->system.masked) return MAKI_OK;
    maki_buf fields = maki_buf_new(p->env.alloc, FIELDS_MAX);
    maki_status st = maki_system_store(&p->env, p->blobs, p->tokenizer, &now, seen, &fields, err);
    if (st == MAKI_OK && fields.len)
        st = maki_live_add_event(live, "system", maki_buf_str(&fields), err);
    maki_buf_free(&fields);
    return st;
}

/* One group: a rewind to the point that the client continues, the system prompt, the new rows. */
static maki_status write_group(request_reader *r, maki_str body, maki_live_conversation *live,
                               const parent *f, maki_err *err)
{
    maki_system_hashes seen;
    maki_status st = maki_live_begin(live, &f->point, err);
    if (st != MAKI_OK) return st;
    st = write_system(r, live, &seen, err);
    if (st == MAKI_OK && r->count > f->messages) st = write_rows(r, body, live, f->messages, err);
    if (st != MAKI_OK) {
        maki_live_abort(live);
        return st;
    }
    st = maki_live_commit(live, err);
    if (st == MAKI_OK) live->system = seen;
    return st;
}

/* Insert the new rows into the table, so that the next request finds them. */
static maki_status insert_rows(request_reader *r, maki_live_conversation *live, const parent *f,
                               uint32_t purpose, maki_err *err)
{
    maki_point tip = maki_live_tip(live);
    uint64_t count = r->count - f->messages, first = tip.seq - count + 1;
    maki_point point = { first, tip.ev, f->point.tokens, 0 };
    maki_status st = MAKI_OK;
    uint64_t tokens;
    if (r->x->by_reference) return MAKI_OK;
    for (uint64_t i = 0; st == MAKI_OK && i < count; i++) {
        point.seq = first + i;
        st = maki_live_row(live, point.seq, &tokens, &point.fingerprint, err);
        point.tokens += tokens;
        if (st == MAKI_OK)
            st = maki_exchange_insert(r->x, prefix_at(r, f->messages + 1 + i), &point,
                                      f->replied ? 0 : purpose, err);
    }
    return st;
}

/* Cache positions in the body for the next one: where reading began, and those after messages whose
 * rows are known here. */
static void cache_body(request_reader *r, maki_str body, maki_live_conversation *live,
                       const parent *f)
{
    maki_exchange *x = r->x;
    maki_body_cache_checkpoint checkpoints[MAKI_BODY_CACHE_CHECKPOINTS + 1];
    maki_point tip = x->tip;
    uint64_t tokens;
    size_t n = MAKI_BODY_CACHE_CHECKPOINTS + 1;
    /* without a reply the next body is always read from its beginning */
    size_t usable = f->replied && !x->by_reference ? r->checkpoint_count : 0;
    for (size_t i = usable; n > 1 && i > 0 && r->checkpoint_count - i < MAKI_BODY_CACHE_CHECKPOINTS;
         i--) {
        maki_body_cache_checkpoint checkpoint =
            r->checkpoints[(i - 1) % MAKI_BODY_CACHE_CHECKPOINTS];
        if (checkpoint.messages < f->messages) break;
        checkpoint.point = tip;
        checkpoint.point.seq = tip.seq - (r->count - checkpoint.messages);
        if (checkpoint.messages == f->messages) checkpoint.point = f->point;
        checkpoint.leading = leading_hash_of(r);
        checkpoint.persona = persona_of(r);
        memcpy(checkpoint.scope, x->scope, sizeof checkpoint.scope);
        checkpoint.replied = f->replied;
        if (maki_live_row(live, checkpoint.point.seq, &tokens, &checkpoint.point.fingerprint,
                          NULL) != MAKI_OK)
            break;
        tip.tokens -= tokens < tip.tokens ? tokens : tip.tokens;
        checkpoints[--n] = checkpoint;
    }
    if (r->base.checkpoint.at && n > 1) checkpoints[--n] = r->base;
    size_t count = MAKI_BODY_CACHE_CHECKPOINTS + 1 - n;
    if (count > MAKI_BODY_CACHE_CHECKPOINTS) { /* without the oldest */
        count = MAKI_BODY_CACHE_CHECKPOINTS;
        n++;
    }
    maki_body_cache_insert(x->proxy->body_cache, x->head_scope, body, x->session, checkpoints + n,
                           count, &x->body_hash);
}

/* ---- the request --------------------------------------------------------------------------------------- */

static void copy_model(maki_exchange *x, maki_str model)
{
    if (model.len < 2 || model.ptr[0] != '"') return;
    x->model[maki_json_copy_text(model, x->model, sizeof x->model - 1)] = '\0';
}

/* Must the body be read again from its beginning?  Yes if something in the skipped part is needed, or if the position
 * was cached for another scope. */
static bool needs_beginning(const request_reader *r, const maki_live_conversation *live)
{
    if (memcmp(r->base.scope, r->x->scope, sizeof r->base.scope) != 0) return true;
    return r->base.leading && live->system.as_sent != system_as_sent(r);
}

static maki_status write_request(request_reader *r, maki_str body, const parent *f,
                                 maki_live_conversation *live, maki_err *err)
{
    maki_exchange *x = r->x;
    maki_status st = MAKI_OK;
    memcpy(x->session, f->session, sizeof x->session);
    x->prefix = r->prefix;
    x->tip = f->point;
    if (r->count > f->messages || live->system.as_sent != system_as_sent(r)) {
        st = write_group(r, body, live, f, err);
        if (st == MAKI_OK) st = insert_rows(r, live, f, purpose_of(r), err);
        if (st != MAKI_OK) return st;
        x->tip = maki_live_tip(live);
    } /* else a retry: the rewind is written with the reply */
    cache_body(r, body, live, f);
    x->system_tokens = live->system.system_tokens;
    x->tool_tokens = live->system.tool_tokens;
    return MAKI_OK;
}

static maki_status record(request_reader *r, maki_str body, maki_err *err)
{
    maki_exchange *x = r->x;
    parent f;
    const maki_body_cache_checkpoint *from =
        maki_body_cache_find(x->proxy->body_cache, x->head_scope, body, r->session);
    if (from && !from->replied)
        from = NULL; /* a short body, and its purpose is needed: read from the beginning */
    maki_status st = find_parent(r, body, from, &f, err);
    if (from && (st == MAKI_NOTFOUND || (st == MAKI_OK && needs_beginning(r, f.live))))
        st = find_parent(r, body, NULL, &f, err);
    if (st == MAKI_OK) st = write_request(r, body, &f, f.live, err);
    if (st != MAKI_OK && f.live && maki_live_is_empty(f.live)) maki_proxy_discard(x->proxy, f.live);
    return st;
}

maki_status maki_exchange_request(maki_exchange *x, maki_str body, maki_err *err)
{
    const maki_env *env = &x->proxy->env;
    request_reader r = { .x = x,
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
