/* fuzz_wire.c -- see fuzz_wire.h.
 *
 * A request: every row is a message on one line that the log would take, and reading on from any mark gives
 * what reading in one go gave.  A reply: its rows are such messages too, and it says the same, piece by piece
 * and in all, however the bytes are cut. */
#include "fuzz_wire.h"

#include <string.h>

#include "base/buf.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "wire/canon.h"

enum { MOST = 1 << 26, MARKS = 24 };

/* Would the log take it? */
static void check_row(const maki_env *env, maki_str row)
{
    unsigned char prefix[MAKI_PREFIX_LEN] = { 0 };
    maki_str value, role;
    MUST(maki_json_check(row, &value, NULL) == MAKI_OK);
    MUST(maki_str_equal(row, value) && !memchr(row.ptr, '\n', row.len));
    MUST(maki_json_get(value, MAKI_LIT("role"), &role));
    MUST(maki_json_kind_of(role) == MAKI_JSON_STRING);
    MUST(maki_canonical_hash_next(env, prefix, value, prefix, NULL) == MAKI_OK);
}

/* ---- requests ----------------------------------------------------------------------------------------- */

typedef struct seen {
    const maki_env *env;
    maki_buf rows;
    maki_wire_checkpoint now;
    maki_wire_checkpoint marks[MARKS];
    size_t ends[MARKS]; /* of `rows`, after the message of each mark */
    size_t count;
} seen;

static maki_status take(void *ctx, const maki_wire_message *message, maki_err *err)
{
    seen *s = ctx;
    check_row(s->env, message->row);
    maki_buf_add(&s->rows, message->system ? MAKI_LIT("s") : MAKI_LIT(" "));
    maki_buf_add(&s->rows, message->row);
    maki_buf_add_byte(&s->rows, '\n');
    if (s->count < MARKS) {
        s->marks[s->count] = s->now;
        s->ends[s->count++] = s->rows.len;
    }
    return maki_buf_status(&s->rows, err);
}

static bool same_request(const maki_wire_request *a, const maki_wire_request *b)
{
    return maki_str_equal(a->model, b->model) && maki_str_equal(a->system, b->system) &&
           maki_str_equal(a->tools, b->tools) && maki_str_equal(a->client_id, b->client_id) &&
           maki_str_equal(a->reference, b->reference) &&
           maki_str_equal(a->conversation, b->conversation) && a->stream == b->stream &&
           a->by_reference == b->by_reference && a->max_tokens == b->max_tokens &&
           a->messages == b->messages;
}

static void read_on(const maki_env *env, maki_protocol protocol, maki_str body, const seen *all,
                    const maki_wire_request *whole)
{
    for (size_t i = 0; i < all->count; i++) {
        static seen s;
        const maki_wire_checkpoint *mark = &all->marks[i];
        maki_wire_request request;
        if (mark->messages > i + 1) break;
        size_t before = mark->messages ? all->ends[mark->messages - 1] : 0;
        s = (seen){ .env = env, .rows = maki_buf_new(env->alloc, MOST) };
        MUST(maki_wire_read(env, protocol, body, mark, take, &s, &request, &s.now, NULL) ==
             MAKI_OK);
        MUST(
            maki_str_equal(maki_buf_str(&s.rows), maki_str_skip(maki_buf_str(&all->rows), before)));
        MUST(same_request(whole, &request));
        maki_buf_free(&s.rows);
    }
}

static void request(const maki_env *env, maki_protocol protocol, maki_str body)
{
    static seen s;
    maki_wire_request whole;
    maki_err err = { 0 };
    s = (seen){ .env = env, .rows = maki_buf_new(env->alloc, MOST) };
    maki_status st = maki_wire_read(env, protocol, body, NULL, take, &s, &whole, &s.now, &err);
    MUST(st == MAKI_OK || (st == MAKI_INVALID && err.msg[0]));
    if (st == MAKI_OK) read_on(env, protocol, body, &s, &whole);
    maki_buf_free(&s.rows);
}

/* ---- replies ------------------------------------------------------------------------------------------ */

static void note(maki_buf *out, maki_str value)
{
    maki_str checked;
    if (value.len) MUST(maki_json_check(value, &checked, NULL) == MAKI_OK);
    maki_buf_add(out, value);
    maki_buf_add_byte(out, '\n');
}

/* Pieces are JSON too, and come the same however the bytes are cut. */
static maki_status collect_delta(void *ctx, const maki_wire_delta *piece, maki_err *err)
{
    maki_buf *out = ctx;
    (void)err;
    maki_buf_add_byte(out, (char)('a' + piece->kind));
    note(out, piece->value);
    note(out, piece->id);
    return MAKI_OK;
}

static void reply(const maki_env *env, maki_protocol protocol, maki_str type, maki_str bytes,
                  size_t most, fuzz_chance *chance, maki_buf *out)
{
    maki_wire_reply *r = NULL;
    maki_wire_result said;
    int status = bytes.len % 7 == 6 ? 500 : 200;
    MUST(maki_wire_reply_open(env, protocol, status, type, &r, NULL) == MAKI_OK);
    maki_wire_reply_on_delta(r, collect_delta, out);
    while (bytes.len) {
        size_t some = most ? 1 + fuzz_draw(chance, most) : bytes.len;
        if (some > bytes.len) some = bytes.len;
        MUST(maki_wire_reply_add(r, maki_str_prefix(bytes, some), NULL) == MAKI_OK);
        bytes = maki_str_skip(bytes, some);
    }
    MUST(maki_wire_reply_end(r, &said, NULL) == MAKI_OK);
    for (size_t i = 0; i < said.row_count; i++) {
        check_row(env, said.rows[i]);
        note(out, said.rows[i]);
    }
    note(out, said.usage_json);
    note(out, said.model);
    note(out, said.id);
    note(out, said.stop);
    note(out, said.error);
    maki_buf_add_byte(out, (char)('0' + said.complete + 2 * said.invalid));
    maki_wire_reply_close(r);
}

void fuzz_wire(maki_protocol protocol, const uint8_t *data, size_t size)
{
    maki_env env = maki_env_system();
    fuzz_chance chance = fuzz_chance_of(data, size);
    if (size == 0) return;
    maki_str bytes = { (const char *)data + 1, size - 1 }, type;
    switch (data[0]) {
    case 'e': type = MAKI_LIT("text/event-stream"); break;
    case 'l': type = MAKI_LIT("application/x-ndjson"); break;
    case 'j': type = MAKI_LIT("application/json"); break;
    default: request(&env, protocol, bytes); return;
    }
    maki_buf whole = maki_buf_new(env.alloc, MOST), parts = maki_buf_new(env.alloc, MOST);
    reply(&env, protocol, type, bytes, 0, &chance, &whole);
    reply(&env, protocol, type, bytes, 11, &chance, &parts);
    MUST(maki_str_equal(maki_buf_str(&whole), maki_buf_str(&parts)));
    maki_buf_free(&whole);
    maki_buf_free(&parts);
}
