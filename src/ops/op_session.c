/* op_session.c -- session.list and session.show: the newest sessions, and excerpts of the messages of one.
 *
 * Everything is opened read-only.  A session that cannot be read is listed without the use of its window; memory is
 * bounded by the limit of the call, and by one message. */
#include <stdio.h>
#include <string.h>

#include "base/json_print.h"
#include "base/str_util.h"
#include "history/blocks.h"
#include "ops/context.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "store/sessions.h"
#include "token/family.h"

enum {
    NEWEST_BYTES = 64 << 10, /* of the events */
    LIST_DEFAULT = 50,
    LIST_MAX = 1000,
    SHOW_DEFAULT = 200,
    EXCERPT_MAX = 400 /* bytes of a block's text that are shown */
};

/* ---- texts of messages --------------------------------------------------------------------------------- */

/* The text of a block, a JSON string. */
static bool text_of(maki_str block, maki_str *string)
{
    if (maki_json_kind_of(block) == MAKI_JSON_STRING) {
        *string = block;
        return true;
    }
    return maki_json_kind_of(block) == MAKI_JSON_OBJECT &&
           maki_json_string_field(block, "text", string);
}

/* ---- session.list -------------------------------------------------------------------------------------- */

/* The context use; reads only the newest 64 KB of events, whatever the length of the session
 * (maki_conv_tokens_cached). */
static void write_use(const maki_op_call *call, maki_jw *out, maki_conv *conv,
                      const maki_session *s)
{
    maki_run_limits_options none = { .config = call->m->config };
    maki_context_use use;
    uint64_t tokens = 0;
    if (maki_context_use_of_session(conv, s, &none, &use, NULL) == MAKI_OK &&
        maki_conv_tokens_cached(conv, &tokens, NULL) == MAKI_OK)
        maki_write_context_use(out, &use, maki_context_tokens(&use, (double)tokens));
}

static void write_session(const maki_op_call *call, maki_jw *out, const maki_session *s,
                          const char *home)
{
    char path[MAKI_PATH_MAX];
    maki_conv *conv = NULL;
    maki_conv_options options = { .read_only = true, .share_index = true, .threads = 1 };
    snprintf(path, sizeof path, "%s/agents/%s/sessions/%s.jsonl", home, s->agent, s->id);
    maki_jw_begin_object(out);
    maki_write_session_fields(out, s);
    maki_jw_print(out,
                  "'title':%s,'client':%s,'updatedAt':%i,'messages':%i,'errors':%i,'lastError':%v,"
                  "'lastAction':%v",
                  maki_session_title(s), maki_str_of(s->client), s->updated, s->messages, s->errors,
                  maki_str_of(s->last_error), maki_str_of(s->last_action));
    if (maki_conv_open(&call->m->env, path, &options, &conv, NULL) == MAKI_OK)
        write_use(call, out, conv, s);
    maki_jw_end_object(out);
    maki_conv_close(conv);
}

static void write_values(maki_jw *out, const char *name, const maki_session_values *values)
{
    maki_jw_field_array(out, name);
    for (size_t i = 0; i < values->count; i++)
        maki_jw_string(out, maki_str_of(values->items[i]));
    maki_jw_end_array(out);
}

/* A field as a C string in the arena; NULL: missing or empty. */
static const char *text_or_null(const maki_op_call *call, const char *name)
{
    maki_str text = maki_input_text(call, name);
    return text.len ? maki_arena_print(call->arena, "%.*s", MAKI_PRINTED(text)).ptr : NULL;
}

static maki_status read_query(const maki_op_call *call, char home[MAKI_PATH_MAX],
                              maki_session_query *out, maki_err *err)
{
    double limit = maki_input_number(call, "limit", LIST_DEFAULT),
           offset = maki_input_number(call, "offset", 0);
    maki_str state;
    *out = (maki_session_query){ .home = home,
                                 .agent = text_or_null(call, "agent"),
                                 .client = text_or_null(call, "client"),
                                 .model = text_or_null(call, "model"),
                                 .words = maki_input_text(call, "title"),
                                 .offset = offset < 0 ? 0 : (size_t)offset,
                                 .limit = limit < 1          ? 1
                                          : limit > LIST_MAX ? LIST_MAX
                                                             : (size_t)limit };
    if (maki_input_value(call, "state", &state)) {
        if (maki_json_text_is(state, MAKI_LIT("active")))
            out->state = MAKI_SESSIONS_ACTIVE;
        else if (maki_json_text_is(state, MAKI_LIT("archived")))
            out->state = MAKI_SESSIONS_ARCHIVED;
        else if (maki_json_text_is(state, MAKI_LIT("failed")))
            out->state = MAKI_SESSIONS_FAILED;
        else
            return maki_field_invalid(call, state, err, "state must be active, archived or failed");
    }
    maki_status st = maki_arena_status(call->arena, err);
    return st == MAKI_OK ? maki_field_home(call, home, err) : st;
}

maki_status maki_op_session_list(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char home[MAKI_PATH_MAX];
    maki_session_query query;
    maki_session_list list;
    maki_status st = read_query(call, home, &query, err);
    if (st != MAKI_OK) return st;
    st = maki_sessions_find(&call->m->env, &query, &list, err);
    if (st == MAKI_OK) {
        maki_jw_print(out, "{'sessions':[");
        for (size_t i = 0; i < list.count; i++)
            write_session(call, out, list.items[i], home);
        maki_jw_print(out, "],'all':%i", list.all);
        write_values(out, "agents", &list.agents);
        write_values(out, "clients", &list.clients);
        write_values(out, "models", &list.models);
        maki_jw_print(out, "'note':%z}", list.note);
    }
    maki_session_list_free(&list);
    return st;
}

/* ---- session.show -------------------------------------------------------------------------------------- */

/* One block: its type and the start of its text. */
static void write_block(maki_jw *out, maki_str block)
{
    char text[EXCERPT_MAX];
    maki_str type = MAKI_LIT("\"text\""), string, name = { "", 0 };
    size_t n = 0;
    bool object = maki_json_kind_of(block) == MAKI_JSON_OBJECT;
    if (object) maki_json_get(block, MAKI_LIT("type"), &type);
    if (text_of(block, &string) || (object && maki_json_string_field(block, "thinking", &string)))
        n = maki_json_copy_text(string, text, sizeof text);
    if (object) (void)maki_json_string_field(block, "name", &name);
    maki_jw_print(out, "{'type':%v,'text':%S,'name':%v}", type, (maki_str){ text, n }, name);
}

static void write_content(maki_jw *out, maki_str row)
{
    maki_str content, calls, block;
    maki_jw_field_array(out, "blocks");
    if (maki_json_get(row, MAKI_LIT("content"), &content)) {
        maki_blocks blocks = maki_content_blocks(content);
        while (maki_blocks_next(&blocks, &block))
            write_block(out, block);
    }
    if (maki_json_get(row, MAKI_LIT("tool_calls"), &calls)) {
        maki_str function, name;
        MAKI_JSON_EACH(item, maki_json_items(calls)) {
            if (!maki_json_get(item.value, MAKI_LIT("function"), &function) ||
                !maki_json_get(function, MAKI_LIT("name"), &name))
                continue;
            maki_jw_print(out, "{'type':'tool_use','name':%v}", name);
        }
    }
    maki_jw_end_array(out);
}

typedef struct show_state {
    maki_jw *out;
    uint64_t skip; /* messages of the view still to be skipped */
    double scale;  /* tokens of the model for one of the index */
} show_state;

static maki_status write_message(void *ctx, const maki_view_message *seen, maki_err *err)
{
    show_state *s = ctx;
    maki_str role = { "", 0 };
    (void)err;
    if (s->skip) {
        s->skip--;
        return MAKI_OK;
    }
    maki_json_get(seen->json, MAKI_LIT("role"), &role);
    maki_jw_print(s->out, "{'seq':%i,'role':%v,'tokens':%f", seen->seq, role,
                  maki_scaled_tokens(seen->row.tokens, s->scale));
    if (seen->seq) maki_jw_print(s->out, "'at':%i", seen->row.ts);
    write_content(s->out, seen->json);
    maki_jw_end_object(s->out);
    return s->out->status;
}

/* The newest exchanges and errors of providers, as their events have them. */
static maki_status write_exchanges(maki_jw *out, maki_log *log, maki_err *err)
{
    maki_buf rows = maki_buf_new(maki_log_env(log)->alloc, NEWEST_BYTES);
    maki_status st = maki_log_newest_events(log, NEWEST_BYTES, &rows, err);
    maki_str rest = maki_buf_str(&rows), event;
    maki_jw_print(out, "'exchanges':[");
    while (st == MAKI_OK && rest.len) {
        maki_str row = maki_str_cut(&rest, '\n');
        if (maki_json_check(row, &event, NULL) == MAKI_OK &&
            (maki_json_field_in(event, "type", "provider_error|usage") ||
             maki_json_field_is(event, "of", "exchange")))
            maki_jw_raw(out, event);
    }
    maki_jw_end_array(out);
    maki_buf_free(&rows);
    return st;
}

maki_status maki_op_session_show(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_conv *conv = NULL;
    const maki_view *view;
    maki_view_totals total;
    maki_context_use use;
    double limit = maki_input_number(call, "limit", SHOW_DEFAULT);
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_READ, &conv, err);
    if (st == MAKI_OK) st = maki_context_use_read(call, conv, &use, err);
    if (st == MAKI_OK) st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) st = maki_conv_total(conv, view, &total, err);
    if (st == MAKI_OK) {
        uint64_t shown = limit < 0 ? 0 : (uint64_t)limit;
        show_state s = { out, total.messages > shown ? total.messages - shown : 0, use.scale };
        maki_jw_print(out, "{'messages':%i,'events':%i,'visible':%i",
                      maki_log_last(maki_conv_log(conv)), maki_log_events(maki_conv_log(conv)),
                      total.messages);
        maki_write_context_use(out, &use, maki_context_tokens(&use, (double)total.tokens));
        maki_jw_print(out, "'view':[");
        st = maki_conv_each(conv, view, write_message, &s, err);
        maki_jw_print(out, "]");
        if (st == MAKI_OK) st = write_exchanges(out, maki_conv_log(conv), err);
        maki_jw_end_object(out);
    }
    maki_conv_close(conv);
    return st;
}
