/* record_reply.c -- record a reply: parse it while it is forwarded, write it to the log when it has ended.
 *
 * In:    the reply's head, its bytes as they come, and how the exchange ended.
 * Out:   the reply's rows, a manifest and a usage event in one group; its prefixes for the next request.
 *
 * A client may send its next request before the connection of the last reply is closed.  So a complete reply is in the
 * proxy's list `unwritten`, and a request that continues it writes it first. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/json_print.h"
#include "base/mask.h"
#include "base/str_util.h"
#include "base/text.h"
#include "history/exchange_event.h"
#include "proxy/proxy_internal.h"
#include "wire/overflow.h"
#include "wire/protocol.h"

enum {
    FIELDS_MAX = 1 << 20,
    ERROR_MAX = 16 << 10 /* a longer error is omitted from the manifest */
};

maki_status maki_exchange_reply_head(maki_exchange *x, int status, maki_str content_type,
                                     maki_err *err)
{
    const maki_env *env = &x->proxy->env;
    x->status = status;
    x->first_ms = env->clock->now_ms(env->clock);
    if (!x->recorded) return MAKI_OK;
    return maki_wire_reply_open(env, x->protocol, status, content_type, &x->reply, err);
}

maki_status maki_exchange_reply(maki_exchange *x, maki_str bytes, maki_err *err)
{
    x->reply_bytes += bytes.len;
    if (!x->reply) return MAKI_OK;
    maki_status st = maki_wire_reply_add(x->reply, bytes, err);
    if (st != MAKI_OK) { /* the reply is not recorded */
        maki_wire_reply_close(x->reply);
        x->reply = NULL;
    } else if (!x->link && !x->written && maki_wire_reply_is_complete(x->reply)) {
        x->next = x->proxy->unwritten;
        if (x->next) x->next->link = &x->next;
        x->link = &x->proxy->unwritten;
        *x->link = x;
    }
    return st;
}

static void unlink_unwritten(maki_exchange *x)
{
    if (!x->link) return;
    *x->link = x->next;
    if (x->next) x->next->link = x->link;
    x->link = NULL;
}

void maki_exchange_set_reason(maki_exchange *x, maki_str reason)
{
    maki_str_copy(maki_utf8_truncate(reason, sizeof x->reason - 1), x->reason, sizeof x->reason);
}

void maki_exchange_close(maki_exchange *x)
{
    if (!x) return;
    const maki_alloc *alloc = x->proxy->env.alloc;
    unlink_unwritten(x);
    maki_wire_reply_close(x->reply);
    maki_delete(alloc, x);
}

/* ---- events about the reply ---------------------------------------------------------------------------------- */

typedef struct spans_ctx {
    const maki_live_conversation *live;
    uint64_t tip;
} spans_ctx;

/* The ranges of rows that the request consisted of. */
static void write_spans(maki_jw *w, const void *ctx)
{
    const spans_ctx *n = ctx;
    const maki_live_conversation *live = n->live;
    maki_jw_print(w, "'spans':[");
    for (size_t i = 0; i < live->path_count && live->path[i].from <= n->tip; i++)
        maki_jw_print(w, "[%i,%i]", live->path[i].from,
                      live->path[i].to < n->tip ? live->path[i].to : n->tip);
    maki_jw_end_array(w);
}

/* Was the reply discarded because it exceeds the maximum length?  (wire.h) */
static bool is_too_long(const maki_exchange *x, const maki_wire_result *result)
{
    return result->invalid && result->row_count == 0 && x->reply_bytes > MAKI_WIRE_ROW_MAX;
}

static const char *end_name(const maki_exchange *x, maki_exchange_end_kind kind,
                            const maki_wire_result *result)
{
    if (kind == MAKI_EXCHANGE_CLIENT_DISCONNECTED) return "client gone";
    if (kind == MAKI_EXCHANGE_TRUNCATED || x->status == 0) return "cut";
    if (x->status >= 400 || result->error.len) return "error";
    if (is_too_long(x, result)) return "too long";
    return result->complete ? "complete" : "incomplete";
}

/* Add an event with the fields of the object in `fields`, and free the buffer. */
static maki_status finish_event(maki_live_conversation *live, const char *type, maki_jw *w,
                                maki_buf *fields, maki_err *err)
{
    maki_jw_end_object(w);
    maki_status st = maki_jw_end(w);
    if (st == MAKI_OK)
        st = maki_live_add_event(live, type, (maki_str){ fields->ptr + 1, fields->len - 2 }, err);
    maki_buf_free(fields);
    return st;
}

static maki_status add_manifest(maki_exchange *x, maki_live_conversation *live,
                                const maki_wire_result *result, const char *end, maki_err *err)
{
    char hash[17], error[ERROR_MAX];
    size_t error_len = result->error.len <= sizeof error ? result->error.len : 0;
    maki_jw w;
    maki_buf fields = maki_buf_new(x->proxy->env.alloc, FIELDS_MAX);
    int64_t now = x->proxy->env.clock->now_ms(x->proxy->env.clock);
    const spans_ctx n = { live, x->tip.seq };
    if (error_len) memcpy(error, result->error.ptr, error_len);
    snprintf(hash, sizeof hash, "%016" PRIx64, x->body_hash);
    maki_jw_init(&w, maki_buf_sink(&fields), err);
    maki_jw_begin_object(&w);
    maki_exchange_event_write(
        &w, &(maki_exchange_event){ .protocol = x->protocol,
                                    .upstream = x->upstream,
                                    .path = x->path,
                                    .model = x->model,
                                    .body = hash,
                                    .bytes = x->body_bytes,
                                    .write_spans = write_spans,
                                    .ctx = &n,
                                    .system_tokens = x->system_tokens,
                                    .tool_tokens = x->tool_tokens,
                                    .message_tokens = x->tip.tokens,
                                    .status = x->status,
                                    .end = end,
                                    .stop = result->stop,
                                    .error = { error, maki_mask(error, error_len, &x->credential) },
                                    .first_ms = x->first_ms ? x->first_ms - x->began_ms : 0,
                                    .ms = now - x->began_ms });
    return finish_event(live, "manifest", &w, &fields, err);
}

static maki_status add_usage(maki_exchange *x, maki_live_conversation *live,
                             const maki_wire_usage *usage, maki_err *err)
{
    maki_jw w;
    maki_buf fields = maki_buf_new(x->proxy->env.alloc, FIELDS_MAX);
    if (!usage->known) return MAKI_OK;
    maki_jw_init(&w, maki_buf_sink(&fields), err);
    maki_jw_begin_object(&w);
    maki_usage_event_write(&w, &(maki_usage_event){ .model = x->model, .usage = usage });
    return finish_event(live, "usage", &w, &fields, err);
}

/* Why there is no complete reply: the status and the message of the provider, or those of the network. */
static maki_status add_provider_error(maki_exchange *x, maki_live_conversation *live,
                                      const maki_wire_result *result, maki_err *err)
{
    enum { MESSAGE_MAX = 400, READ_MAX = 4096 };
    maki_jw w;
    char text[READ_MAX], message[MESSAGE_MAX];
    maki_str string = maki_error_message(result->error);
    maki_buf fields = maki_buf_new(x->proxy->env.alloc, FIELDS_MAX);
    size_t n = string.len ? maki_json_copy_text(string, text, sizeof text - 1) : 0;
    if (!n) n = (size_t)snprintf(text, sizeof text, "%s", x->reason);
    maki_str masked = { text, maki_mask(text, n, &x->credential) };
    maki_str_copy(maki_utf8_truncate(masked, sizeof message - 1), message, sizeof message);
    maki_jw_init(&w, maki_buf_sink(&fields), err);
    maki_jw_begin_object(&w);
    maki_provider_error_event_write(&w, &(maki_provider_error_event){ .upstream = x->upstream,
                                                                      .model = x->model,
                                                                      .status = x->status,
                                                                      .message = message });
    return finish_event(live, "provider_error", &w, &fields, err);
}

/* ---- writing the reply ----------------------------------------------------------------------------------------- */

/* ,"createdAt":...,"meta":{"model":...} */
static maki_status row_fields(maki_exchange *x, const maki_wire_result *result, const char *end,
                              maki_buf *out, maki_err *err)
{
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(out), err);
    maki_jw_print(&w,
                  result->model.len ? "{'createdAt':%i,'meta':{'model':%v"
                                    : "{'createdAt':%i,'meta':{'model':%S",
                  x->proxy->env.clock->now_ms(x->proxy->env.clock),
                  result->model.len ? result->model : maki_str_of(x->model));
    maki_jw_print(&w, "'end':%z}}", strcmp(end, "complete") != 0 ? end : NULL);
    maki_status st = maki_jw_end(&w);
    if (st != MAKI_OK) return st;
    out->ptr[0] = ','; /* replaces the brace: these follow other fields */
    out->len--;
    return MAKI_OK;
}

static maki_status add_rows(maki_exchange *x, maki_live_conversation *live,
                            const maki_wire_result *result, const char *end, maki_err *err)
{
    const maki_env *env = &x->proxy->env;
    maki_spool spool = maki_spool_new(env, MAKI_SPOOL_MEMORY);
    maki_buf fields = maki_buf_new(env->alloc, FIELDS_MAX);
    maki_status st = row_fields(x, result, end, &fields, err);
    for (size_t i = 0; st == MAKI_OK && i < result->row_count; i++) {
        maki_str row;
        uint64_t seq;
        st = maki_proxy_row(&spool, result->rows[i], maki_buf_str(&fields), &row, err);
        if (st == MAKI_OK) st = maki_live_add(live, row, &seq, err);
    }
    maki_buf_free(&fields);
    maki_spool_free(&spool);
    return st;
}

/* Insert the reply's rows into the table: the next request begins with them. */
static maki_status insert_reply(maki_exchange *x, maki_live_conversation *live,
                                const maki_wire_result *result, maki_err *err)
{
    maki_point tip = maki_live_tip(live), point = x->tip;
    maki_status st = MAKI_OK;
    uint64_t tokens;
    point.ev = tip.ev;
    for (size_t i = 0; st == MAKI_OK && i < result->row_count; i++) {
        point.seq = tip.seq - result->row_count + 1 + i;
        st = maki_live_row(live, point.seq, &tokens, &point.fingerprint, err);
        if (st == MAKI_OK) st = maki_canon_add(&x->proxy->env, &x->prefix, result->rows[i], err);
        if (st != MAKI_OK) break;
        point.tokens += tokens;
        if (x->by_reference) continue;
        st = maki_exchange_insert(x, &x->prefix, &point, 0, err);
        if (st == MAKI_OK) st = maki_exchange_insert_stripped(x, &x->prefix, &point, err);
    }
    if (st != MAKI_OK || !result->row_count) return st;
    if (result->id.len && maki_protocol_of(x->protocol)->continues_by_id) {
        unsigned char key[MAKI_PREFIX_LEN];
        st = maki_reference_key(x, "reply", result->id, key, err);
        if (st == MAKI_OK) st = maki_exchange_insert_key(x, key, &point, 0, err);
    }
    if (st == MAKI_OK && x->stored) st = maki_exchange_insert_key(x, x->stored_key, &point, 0, err);
    return st;
}

static maki_status write_reply(maki_exchange *x, maki_live_conversation *live,
                               const maki_wire_result *result, const char *end, maki_err *err)
{
    maki_status st = maki_live_begin(live, &x->tip, err);
    if (st != MAKI_OK) return st;
    st = add_rows(x, live, result, end, err);
    if (st == MAKI_OK) st = add_manifest(x, live, result, end, err);
    if (st == MAKI_OK && (strcmp(end, "error") == 0 || strcmp(end, "cut") == 0))
        st = add_provider_error(x, live, result, err);
    if (st == MAKI_OK) st = add_usage(x, live, &result->usage, err);
    if (st != MAKI_OK) {
        maki_live_abort(live);
        return st;
    }
    st = maki_live_commit(live, err);
    if (st == MAKI_OK) st = insert_reply(x, live, result, err);
    return st;
}

static void emit_event(maki_exchange *x, const maki_live_conversation *live,
                       const maki_wire_result *result, const char *end)
{
    char id[37];
    maki_session_text(x->session, id);
    maki_proxy_emit(x->proxy,
                    "{\"type\":\"exchange\",\"session\":\"%s\",\"seq\":%" PRIu64
                    ",\"messageTokens\":%" PRIu64 ",\"input\":%" PRIu64 ",\"output\":%" PRIu64
                    ",\"status\":%d,\"end\":\"%s\"}",
                    id, maki_live_tip(live).seq, live->tokens, result->usage.input,
                    result->usage.output, x->status, end);
}

/* The conversation of the exchange; NULL: it was deleted meanwhile, and nothing more of it is to be recorded. */
static maki_status open_conversation(maki_exchange *x, maki_live_conversation **live, maki_err *err)
{
    maki_status st = maki_proxy_open_conversation(x->proxy, x->session, NULL, live, err);
    if (st != MAKI_NOTFOUND) return st;
    *live = NULL;
    return MAKI_OK;
}

/* Finish the reply and write it to the log. */
static maki_status write_to_log(maki_exchange *x, maki_exchange_end_kind kind,
                                maki_live_conversation **live, maki_err *err)
{
    maki_wire_result result = { .rows = NULL };
    unlink_unwritten(x);
    maki_status st = x->reply ? maki_wire_reply_end(x->reply, &result, err) : MAKI_OK;
    if (st == MAKI_OK) st = open_conversation(x, live, err);
    if (st != MAKI_OK || !*live) return st;
    const char *end = end_name(x, kind, &result);
    st = write_reply(x, *live, &result, end, err);
    x->written = st == MAKI_OK;
    x->too_long = is_too_long(x, &result);
    if (st == MAKI_OK) emit_event(x, *live, &result, end);
    return st;
}

void maki_exchange_write_continued(maki_exchange *x, const maki_canon_prefix *prefixes,
                                   size_t count)
{
    maki_live_conversation *live;
    for (maki_exchange *other = x->proxy->unwritten, *next; other; other = next) {
        bool continued = false;
        next = other->next;
        for (size_t i = 0; i < count && !continued; i++)
            continued = memcmp(prefixes[i].all, other->prefix.all, MAKI_PREFIX_LEN) == 0;
        if (!continued || memcmp(other->scope, x->scope, sizeof x->scope) != 0) continue;
        (void)write_to_log(other, MAKI_EXCHANGE_DONE, &live,
                           &other->failure); /* reported when the exchange ends */
        maki_wire_reply_close(other->reply);
        other->reply = NULL;
    }
}

maki_status maki_exchange_end(maki_exchange *x, maki_exchange_end_kind kind,
                              maki_exchange_sync *sync, maki_err *err)
{
    maki_live_conversation *live = NULL;
    *sync = (maki_exchange_sync){ { -1, -1, -1 }, false };
    if (!x->recorded) return MAKI_OK;
    if (x->failure.status != MAKI_OK) {
        *err = x->failure;
        return err->status;
    }
    maki_status st =
        x->written ? open_conversation(x, &live, err) : write_to_log(x, kind, &live, err);
    sync->journal = live != NULL;
    if (st == MAKI_OK && live) st = maki_live_files(live, sync->fds, err);
    if (st == MAKI_OK && x->too_long)
        st = maki_fail(err, MAKI_TOOBIG,
                       "a reply of %" PRIu64 " bytes; a message of the log has at most %d",
                       x->reply_bytes, MAKI_WIRE_ROW_MAX);
    return st;
}
