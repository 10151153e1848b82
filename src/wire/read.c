/* read.c -- parse the body of a request: fields into the checkpoint, items of the message array to the protocol.
 *
 * The new bytes are read twice: the first pass validates the JSON, the second finds fields and messages and relies on the
 * first.  A checkpoint is always right after a message, where the same two containers are open: the body's object and
 * the array of messages.  This is all the state that the validator needs to resume. */
#include "wire/protocol.h"

#include <string.h>

#include "base/err.h"
#include "base/json_scan.h"

/* ---- fields ------------------------------------------------------------------------------------------- */

static uint64_t max_tokens_in(maki_str options)
{
    return maki_count_of(maki_member_any(options, "num_predict maxOutputTokens max_output_tokens"));
}

/* Claude Code names its session in metadata.user_id: "user_..._session_UUID", or a JSON text with a
 * session_id.  Either way the id follows "session_". */
static maki_str session_in(maki_str user_id)
{
    maki_str text = maki_json_strip_quotes(user_id);
    size_t start = maki_str_find_nocase(text, MAKI_LIT("session_"));
    if (start == text.len) return (maki_str){ "", 0 };
    text = maki_str_skip(text, start + strlen("session_"));
    if (maki_str_starts(text, MAKI_LIT("id\\\""))) text = maki_str_skip(text, 4);
    while (text.len && strchr("\\\": ", text.ptr[0]))
        text = maki_str_skip(text, 1);
    size_t n = 0;
    while (n < text.len && text.ptr[n] != '"' && text.ptr[n] != '\\' && text.ptr[n] != ',')
        n++;
    return maki_str_prefix(text, n);
}

static maki_str client_id_in(maki_str metadata)
{
    maki_str id = maki_json_string(metadata, "user_id");
    if (id.len) id = session_in(id);
    maki_str other = maki_member_any(metadata, "session_id sessionId conversation_id thread_id");
    if (!id.len && maki_is_string(other) && other.len > 2) id = maki_json_strip_quotes(other);
    return id;
}

/* Store the offset of a value in the body; {0, 0}: none. */
#define SET_SPAN(span, value)                                              \
    do {                                                                   \
        (span).at = (value).len ? (size_t)((value).ptr - r->body.ptr) : 0; \
        (span).len = (value).len;                                          \
    } while (0)

static maki_status set_field(maki_request_reader *r, maki_field field, maki_str value)
{
    maki_wire_checkpoint *m = &r->checkpoint;
    maki_str id = { "", 0 };
    bool null = maki_json_kind_of(value) == MAKI_JSON_NULL;
    if (null) value.len = 0;
    switch (field) {
    case MAKI_FIELD_MODEL:
        if (!null && !maki_is_string(value))
            return maki_fail(r->err, MAKI_INVALID, "model must be a string");
        SET_SPAN(m->model, value);
        break;
    case MAKI_FIELD_SYSTEM: SET_SPAN(m->system, value); break;
    case MAKI_FIELD_TOOLS: SET_SPAN(m->tools, value); break;
    case MAKI_FIELD_STREAM: m->stream = !null && maki_json_true(value); break;
    case MAKI_FIELD_MAX_TOKENS: m->max_tokens = maki_count_of(value); break;
    case MAKI_FIELD_OPTIONS: m->max_tokens = max_tokens_in(value); break;
    case MAKI_FIELD_METADATA:
        id = client_id_in(value);
        if (id.len && m->client_id.len == 0) SET_SPAN(m->client_id, id);
        break;
    case MAKI_FIELD_CLIENT_ID:
        if (maki_is_string(value)) id = maki_json_strip_quotes(value);
        SET_SPAN(m->client_id, id);
        break;
    case MAKI_FIELD_PREVIOUS:
        m->by_reference = m->by_reference || value.len > 0;
        if (maki_is_string(value)) SET_SPAN(m->reference, value);
        break;
    case MAKI_FIELD_CONVERSATION:
        m->by_reference = m->by_reference || value.len > 0;
        id = maki_is_string(value) ? value : maki_member(value, MAKI_LIT("id"));
        if (maki_is_string(id)) SET_SPAN(m->conversation, id);
        break;
    case MAKI_FIELD_REFERENCE: m->by_reference = m->by_reference || value.len > 0; break;
    case MAKI_FIELD_PROMPT: r->prompt = value; break;
    case MAKI_FIELD_IMAGES: r->images = value; break;
    case MAKI_FIELDS: break;
    }
    return MAKI_OK;
}

static maki_status read_field(maki_request_reader *r, maki_str key, maki_str value)
{
    static const char *const common_names[MAKI_FIELDS] = {
        [MAKI_FIELD_MODEL] = "model", [MAKI_FIELD_TOOLS] = "tools", [MAKI_FIELD_STREAM] = "stream"
    };
    for (maki_field f = 0; f < MAKI_FIELDS; f++) {
        const char *names = common_names[f] ? common_names[f] : r->protocol->fields[f];
        if (names && maki_key_in(key, names)) return set_field(r, f, value);
    }
    return MAKI_OK;
}

/* ---- messages ----------------------------------------------------------------------------------------- */

maki_status maki_request_reader_fail(maki_request_reader *r, const char *why)
{
    return maki_fail(r->err, MAKI_INVALID, "%s[%llu] %s", r->protocol->messages,
                     (unsigned long long)r->checkpoint.messages, why);
}

maki_status maki_request_reader_wrong_type(maki_request_reader *r)
{
    return maki_request_reader_fail(r, "must be in an array");
}

maki_status maki_copy_item(maki_request_reader *r, maki_str item, bool single)
{
    return single ? maki_request_reader_wrong_type(r) : maki_request_reader_emit(r, item);
}

maki_json_iter maki_request_reader_last_turn(const maki_request_reader *r)
{
    if (r->checkpoint.turn == 0) return (maki_json_iter){ 0 };
    return (maki_json_iter){ .at = r->body.ptr + r->checkpoint.turn,
                             .end = r->body.ptr + r->checkpoint.at };
}

/* `item`: the span of the body that became the row; len 0: reading cannot resume after it. */
static maki_status emit_row(maki_request_reader *r, maki_str row, maki_str item)
{
    maki_wire_checkpoint *m = &r->checkpoint;
    maki_str role = maki_json_string(row, "role");
    if (role.len == 0) return maki_request_reader_fail(r, "must be an object with a role");
    maki_author author = maki_author_of(role);
    bool system = author == MAKI_AUTHOR_SYSTEM;
    if (!system) m->began = true;
    m->messages++;
    if (item.len) {
        size_t start = (size_t)(item.ptr - r->body.ptr);
        if (author == MAKI_AUTHOR_ASSISTANT) m->turn = start;
        m->at = start + item.len;
        if (r->caller_checkpoint) *r->caller_checkpoint = *m;
    }
    maki_wire_message message = { .row = row,
                                  .verbatim = row.ptr == item.ptr,
                                  .system = system && !m->began,
                                  .end = item.len ? m->at : r->body.len };
    return r->fn(r->ctx, &message, r->err);
}

maki_status maki_request_reader_emit(maki_request_reader *r, maki_str row)
{
    maki_jw w;
    if (!memchr(row.ptr, '\n', row.len)) return emit_row(r, row, row);
    maki_request_reader_begin(r, &w);
    maki_jw_raw(&w, row);
    return maki_request_reader_end(r, &w, row);
}

void maki_request_reader_begin(maki_request_reader *r, maki_jw *w)
{
    maki_spool_clear(&r->row);
    maki_jw_init(w, maki_row_sink(&r->row), r->err);
}

maki_status maki_request_reader_end(maki_request_reader *r, maki_jw *w, maki_str item)
{
    maki_str row;
    maki_status st = maki_jw_end(w);
    if (st == MAKI_OK) st = maki_spool_text(&r->row, &row, r->err);
    return st == MAKI_OK ? emit_row(r, row, item) : st;
}

/* ---- iterating ---------------------------------------------------------------------------------------- */

static void skip_chars(maki_json_iter *c, const char *chars)
{
    while (c->at < c->end && strchr(chars, *c->at))
        c->at++;
}

/* The items of the array with the messages, from `c` to its end. */
static maki_status read_items(maki_request_reader *r, maki_json_iter *c)
{
    maki_json_item item;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK) {
        skip_chars(c, " \t\r\n,");
        if (*c->at == ']') break;
        maki_json_next(c, &item);
        st = r->protocol->read_item(r, item.value, false);
    }
    c->at++;
    return st;
}

static maki_status read_messages(maki_request_reader *r, maki_json_iter *c)
{
    maki_json_item value;
    if (r->found) return maki_fail(r->err, MAKI_INVALID, "%s occurs twice", r->protocol->messages);
    r->found = true;
    if (*c->at == '[') {
        c->at++;
        return read_items(r, c);
    }
    maki_json_next(c, &value);
    return r->protocol->read_item(r, value.value, true);
}

/* The fields of the body, from `c` to its end. */
static maki_status read_fields(maki_request_reader *r, maki_json_iter *c)
{
    maki_str messages = maki_str_of(r->protocol->messages);
    maki_json_item key, value;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_json_next(c, &key)) {
        maki_str name = maki_json_strip_quotes(key.value);
        skip_chars(c, " \t\r\n:");
        if (messages.len && maki_json_key_is(name, messages)) {
            st = read_messages(r, c);
        } else {
            maki_json_next(c, &value);
            st = read_field(r, name, value.value);
        }
    }
    return st;
}

/* Validate the JSON after the checkpoint. */
static maki_status check_json(maki_request_reader *r)
{
    static const maki_json_scan_options plain = { 0 };
    maki_json_scan scan;
    size_t start = r->checkpoint.at;
    if (start)
        maki_json_scan_resume(&scan, &plain, start, "{[");
    else
        maki_json_scan_init(&scan, &plain);
    maki_status st = maki_json_scan_push(&scan, maki_str_skip(r->body, start), r->err);
    if (st == MAKI_OK) st = maki_json_scan_end(&scan, r->err);
    if (st == MAKI_TOOBIG) return maki_fail(r->err, MAKI_INVALID, "the request is nested too deep");
    return st;
}

static maki_status read_body(maki_request_reader *r)
{
    maki_str text = r->body;
    maki_status st = check_json(r);
    if (st != MAKI_OK) return st;
    while (strchr(" \t\r\n", text.ptr[text.len - 1]))
        text.len--;
    maki_json_iter c = { .at = text.ptr + r->checkpoint.at, .end = text.ptr + text.len - 1 };
    if (r->checkpoint.at) {
        r->found = true;
        st = read_items(r, &c);
    } else {
        skip_chars(&c, " \t\r\n");
        if (*c.at != '{') return maki_fail(r->err, MAKI_INVALID, "the request is not an object");
        c.at++;
    }
    return st == MAKI_OK ? read_fields(r, &c) : st;
}

/* Fail when the messages are missing, unless the request refers to stored ones. */
static maki_status check_messages(maki_request_reader *r)
{
    const maki_protocol_spec *p = r->protocol;
    if (p->messages[0] && !r->found && !r->checkpoint.by_reference)
        return maki_fail(r->err, MAKI_INVALID, "the request has no %s", p->messages);
    return p->read_end ? p->read_end(r) : MAKI_OK;
}

#define SPAN(span) \
    ((span).len ? (maki_str){ r->body.ptr + (span).at, (span).len } : (maki_str){ "", 0 })

static maki_wire_request request_of(const maki_request_reader *r)
{
    const maki_wire_checkpoint *m = &r->checkpoint;
    return (maki_wire_request){ .model = SPAN(m->model),
                                .system = SPAN(m->system),
                                .tools = SPAN(m->tools),
                                .client_id = SPAN(m->client_id),
                                .stream = m->stream,
                                .by_reference = m->by_reference,
                                .reference = SPAN(m->reference),
                                .conversation = SPAN(m->conversation),
                                .max_tokens = m->max_tokens,
                                .messages = m->messages };
}

maki_status maki_wire_read(const maki_env *env, maki_protocol protocol, maki_str body,
                           const maki_wire_checkpoint *from, maki_wire_message_fn fn, void *ctx,
                           maki_wire_request *out, maki_wire_checkpoint *checkpoint, maki_err *err)
{
    maki_request_reader r = { .env = env,
                              .protocol = maki_protocol_of(protocol),
                              .body = body,
                              .fn = fn,
                              .ctx = ctx,
                              .err = err,
                              .caller_checkpoint = checkpoint,
                              .row = maki_spool_new(env, MAKI_SPOOL_MEMORY),
                              .reasoning = maki_spool_new(env, MAKI_SPOOL_MEMORY) };
    r.checkpoint.stream = r.protocol->streams_by_default; /* the default */
    if (from && from->at) r.checkpoint = *from;
    if (checkpoint) *checkpoint = r.checkpoint;
    maki_status st = MAKI_OK;
    if (!r.protocol->read_item && !r.protocol->read_end)
        st = maki_fail(err, MAKI_INVALID, "not a protocol that can be read");
    else if (r.checkpoint.at > body.len)
        st = maki_fail(err, MAKI_INVALID, "the body is shorter than what was read of it before");
    else
        st = read_body(&r);
    if (st == MAKI_OK) st = check_messages(&r);
    if (st == MAKI_OK) *out = request_of(&r);
    maki_spool_free(&r.row);
    maki_spool_free(&r.reasoning);
    return st;
}
