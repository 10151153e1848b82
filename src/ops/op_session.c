/* op_session.c -- session.list and session.show: the newest sessions, and excerpts of the messages of one.
 *
 * Everything is opened read-only.  A session that cannot be read is listed without a title; memory is bounded by the
 * limit of the call, and by one message. */
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
    EXCERPT_MAX = 400, /* bytes of a block's text that are shown */
    TITLE_ROWS = 8,    /* messages that are searched for a title */
    ROW_MAX = 64 << 20
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

/* The first text that the user wrote.  Agents insert texts of their own before it, in angle brackets. */
static bool title_of(maki_str row, char *out, size_t capacity)
{
    maki_str role, content, block, string;
    if (!maki_json_get(row, MAKI_LIT("role"), &role) ||
        !maki_json_text_is(role, MAKI_LIT("user")) ||
        !maki_json_get(row, MAKI_LIT("content"), &content))
        return false;
    maki_blocks blocks = maki_content_blocks(content);
    while (maki_blocks_next(&blocks, &block)) {
        if (!text_of(block, &string)) continue;
        out[maki_json_copy_text(string, out, capacity - 1)] = '\0';
        if (out[0] && out[0] != '<') return true;
    }
    return false;
}

void maki_session_title(maki_conv *conv, char out[MAKI_TITLE_MAX])
{
    maki_log *log = maki_conv_log(conv);
    maki_buf row = maki_buf_new(maki_log_env(log)->alloc, ROW_MAX);
    uint64_t first = maki_log_base(log) + 1, last = maki_log_last(log);
    bool found = false;
    for (uint64_t seq = first; !found && seq <= last && seq < first + TITLE_ROWS; seq++) {
        maki_buf_clear(&row);
        if (maki_log_read(log, seq, &row, NULL) == MAKI_OK)
            found = title_of(maki_buf_str(&row), out, MAKI_TITLE_MAX);
    }
    if (!found) out[0] = '\0';
    maki_buf_free(&row);
}

/* ---- session.list -------------------------------------------------------------------------------------- */

/* The context use; reads only the newest 64 KB of events, whatever the length of the session
 * (maki_conv_tokens_cached). */
static void write_use(const maki_op_call *call, maki_jw *out, maki_conv *conv,
                      const maki_session *s)
{
    maki_run_limits_in none = { .config = call->m->config };
    maki_context_use use;
    uint64_t tokens = 0;
    if (maki_context_use_of_session(conv, s, &none, &use, NULL) == MAKI_OK &&
        maki_conv_tokens_cached(conv, &tokens, NULL) == MAKI_OK)
        maki_put_usage(out, &use, maki_context_tokens(&use, (double)tokens));
}

/* Is each word in the title or in the key?  Words are separated by spaces, ideographic ones too. */
static bool has_words(maki_str words, maki_str title, maki_str key)
{
    static const maki_str ideographic_space = MAKI_LIT("\xE3\x80\x80");
    while (words.len) {
        size_t n = 0;
        while (n < words.len && words.ptr[n] != ' ' &&
               !maki_str_starts(maki_str_from(words, n), ideographic_space))
            n++;
        maki_str word = maki_str_to(words, n);
        if (!maki_str_has_nocase(title, word) && !maki_str_has_nocase(key, word)) return false;
        size_t space = n == words.len ? 0 : words.ptr[n] == ' ' ? 1 : ideographic_space.len;
        words = maki_str_from(words, n + space);
    }
    return true;
}

/* False: not written, because title and key lack one of the words. */
static bool write_session(const maki_op_call *call, maki_jw *out, const maki_session *s,
                          const char *home, maki_str words)
{
    char path[MAKI_PATH_MAX], title[MAKI_TITLE_MAX] = "";
    maki_conv *conv = NULL;
    maki_conv_options options = { .read_only = true, .share_index = true, .threads = 1 };
    snprintf(path, sizeof path, "%s/agents/%s/sessions/%s.jsonl", home, s->agent, s->id);
    bool opened = maki_conv_open(&call->m->env, path, &options, &conv, NULL) == MAKI_OK;
    if (opened) maki_session_title(conv, title);
    if (!has_words(words, maki_str_of(title), maki_str_of(s->key))) {
        maki_conv_close(conv);
        return false;
    }
    maki_jw_object(out);
    maki_put_session(out, s);
    maki_jw_print(out, "'title':%s,'updatedAt':%i,'messages':%i", maki_str_of(title), s->updated,
                  s->messages);
    if (opened) write_use(call, out, conv, s);
    maki_jw_end_object(out);
    maki_conv_close(conv);
    return true;
}

maki_status maki_op_session_list(maki_op_call *call, maki_jw *out, maki_err *err)
{
    char home[MAKI_PATH_MAX], agent[MAKI_ID_MAX];
    maki_session_list list;
    maki_str value;
    double limit = maki_in_number(call, "limit", LIST_DEFAULT);
    bool by_agent = maki_in(call, "agent", &value);
    if (by_agent) agent[maki_json_copy_text(value, agent, sizeof agent - 1)] = '\0';
    maki_status st = maki_field_home(call, home, err);
    if (st != MAKI_OK) return st;
    size_t max = limit < 1 ? 1 : limit > LIST_MAX ? LIST_MAX : (size_t)limit;
    maki_str words = maki_in_text(call, "title");
    st = maki_arena_status(call->arena, err);
    if (st == MAKI_OK)
        st = maki_sessions_newest(&call->m->env, home, by_agent ? agent : NULL,
                                  words.len ? LIST_MAX : max, &list, err);
    if (st != MAKI_OK) return st;
    size_t shown = 0;
    maki_jw_print(out, "{'sessions':[");
    for (size_t i = 0; i < list.count && shown < max; i++)
        shown += write_session(call, out, &list.items[i], home, words);
    maki_jw_print(out, "],'all':%i,'note':%z}", words.len ? shown : list.all, list.note);
    maki_session_list_free(&call->m->env, &list);
    return MAKI_OK;
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
    double limit = maki_in_number(call, "limit", SHOW_DEFAULT);
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_READ, &conv, err);
    if (st == MAKI_OK) st = maki_context_use_read(call, conv, &use, err);
    if (st == MAKI_OK) st = maki_conv_view(conv, MAKI_NOW, MAKI_NOW, &view, err);
    if (st == MAKI_OK) st = maki_conv_total(conv, view, &total, err);
    if (st == MAKI_OK) {
        uint64_t shown = limit < 0 ? 0 : (uint64_t)limit;
        show_state s = { out, total.messages > shown ? total.messages - shown : 0, use.scale };
        maki_jw_print(out, "{'messages':%i,'events':%i,'visible':%i",
                      maki_log_last(maki_conv_log(conv)), maki_log_events(maki_conv_log(conv)),
                      total.messages);
        maki_put_usage(out, &use, maki_context_tokens(&use, (double)total.tokens));
        maki_jw_print(out, "'view':[");
        st = maki_conv_each(conv, view, write_message, &s, err);
        maki_jw_print(out, "]");
        if (st == MAKI_OK) st = write_exchanges(out, maki_conv_log(conv), err);
        maki_jw_end_object(out);
    }
    maki_conv_close(conv);
    return st;
}
