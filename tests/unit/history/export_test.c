/* export_test.c -- an imported array is exported unchanged, and views in the formats of other programs.
 *
 * Texts are JSON with ' for ". */
#include "exchange.h"
#include "fake_env.h"
#include "reference/view.h"

static maki_str q(const char *text, char *out, size_t capacity)
{
    size_t n = strlen(text);
    if (n >= capacity) abort();
    for (size_t i = 0; i <= n; i++)
        out[i] = text[i] == '\'' ? '"' : text[i];
    return (maki_str){ out, n };
}

/* ---- roo, import and export ------------------------------------------------------------------------------------ */

/* The answer of the operation history.effective for the array, without tags. */
static maki_status effective(maki_str array, maki_arena *arena, maki_buf *out, maki_err *err)
{
    maki_msgs all = { 0 }, seen = { 0 };
    maki_jw w;
    maki_status st = maki_msgs_read(array, (maki_where){ "messages", array.ptr }, arena, &all, err);
    if (st == MAKI_OK) st = maki_view_effective(all, arena, &seen, err);
    if (st != MAKI_OK) return st;
    for (size_t i = 0; i < seen.count; i++) {
        seen.at[i]->condense_parent.value = (maki_str){ 0 };
        seen.at[i]->truncation_parent.value = (maki_str){ 0 };
    }
    maki_jw_init(&w, maki_buf_sink(out), err);
    maki_msgs_write(&w, seen);
    return maki_jw_end(&w);
}

/* effective(import(x)) is effective(x) to the byte, export(import(x)) is x as JSON; and the import of
 * that export has the same view again. */
static bool check_roo(const maki_env *env, maki_str array, const char *why)
{
    static const maki_import_options roo = { .format = "roo" };
    maki_arena arena = maki_arena_new(env->alloc, 1 << 26);
    maki_buf want = maki_buf_new(env->alloc, 1 << 26), got = want, out = want, again = want;
    maki_str x = array, y = array;
    maki_err err = { 0 };
    bool good = CHECK_STATUS(effective(array, &arena, &want, &err), MAKI_OK, &err);
    for (int turn = 0; good && turn < 2; turn++) {
        directory f;
        maki_conv *conv = NULL;
        maki_import_report report;
        maki_buf *view = turn ? &again : &got;
        directory_open(&f);
        good = CHECK_STATUS(exchange_in(env, &f, "source", turn ? maki_buf_str(&out) : array, &roo,
                                        &conv, &report, &err),
                            MAKI_OK, &err);
        if (good) good = CHECK_STATUS(exchange_view(conv, view, &err), MAKI_OK, &err);
        if (good) good = CHECK_TEXT(maki_buf_str(view), maki_buf_str(&want));
        if (good && turn == 0) {
            good = CHECK_STATUS(maki_export(conv, MAKI_NEWEST, MAKI_NEWEST, MAKI_EXPORT_ROO,
                                            maki_buf_sink(&out), &err),
                                MAKI_OK, &err) &&
                   CHECK_STATUS(maki_json_check(maki_buf_str(&out), &y, &err), MAKI_OK, &err) &&
                   CHECK_STATUS(maki_json_check(array, &x, &err), MAKI_OK, &err) &&
                   CHECK(exchange_equal(x, y));
        }
        maki_conv_close(conv);
        directory_close(&f);
    }
    if (!good) {
        printf("# %s\n# in:  %.*s\n# out: %.*s\n", why, (int)array.len, array.ptr, (int)out.len,
               out.len ? out.ptr : "");
    }
    maki_buf_free(&want);
    maki_buf_free(&got);
    maki_buf_free(&out);
    maki_buf_free(&again);
    maki_arena_free(&arena);
    return good;
}

static const struct {
    const char *name, *array;
} roo_rows[] = {
    { "no messages", "[]" },
    { "no tags, unknown fields and number spellings",
      "[{'role':'user','content':'Größe 😀','ts':1.0e3,'x':{'y':[null,true]}},{'role':'assistant',"
      "'content':[{'type':'reasoning','text':'r'},{'type':'tool_use','id':'t','name':'n','input':{}}],"
      "'reasoning_details':[1]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'t',"
      "'content':[{'type':'image','source':{}}]}]}]" },
    { "a condense",
      "[{'role':'user','content':'a'},{'role':'assistant','content':'b','condenseParent':'C'},{'role':"
      "'user','content':'c','condenseParent':'C'},{'role':'assistant','content':'S','isSummary':true,"
      "'condenseId':'C'},{'role':'user','content':'d'}]" },
    { "a condense of a condense",
      "[{'role':'user','content':'a'},{'role':'assistant','content':'b','condenseParent':'C1'},{'role':"
      "'assistant','content':'S1','isSummary':true,'condenseId':'C1','condenseParent':'C2'},{'role':"
      "'user','content':'c','condenseParent':'C2'},{'role':'assistant','content':'S2','isSummary':true,"
      "'condenseId':'C2'},{'role':'user','content':'d'}]" },
    { "a truncation after a condense hides the summary too",
      "[{'role':'user','content':'a'},{'role':'assistant','content':'b','condenseParent':'C',"
      "'truncationParent':'T'},{'role':'assistant','content':'S','isSummary':true,'condenseId':'C',"
      "'truncationParent':'T'},{'role':'user','content':'c','truncationParent':'T'},{'role':'user',"
      "'content':'[Truncation: 3 messages hidden]','isTruncationMarker':true,'truncationId':'T'},"
      "{'role':'assistant','content':'d'}]" },
    { "a condense after a truncation hides the marker",
      "[{'role':'user','content':'a'},{'role':'assistant','content':'b','truncationParent':'T',"
      "'condenseParent':'C'},{'role':'user','content':'m','isTruncationMarker':true,'truncationId':'T',"
      "'condenseParent':'C'},{'role':'assistant','content':'S','isSummary':true,'condenseId':'C'}]" },
    { "tags that name nothing are seen through and come back",
      "[{'role':'user','content':'a','condenseParent':'gone'},{'role':'user','content':'b',"
      "'truncationParent':'lost'},{'role':'assistant','content':'S','isSummary':true,'condenseId':'C',"
      "'condenseParent':'gone'},{'role':'user','content':'c','condenseParent':'gone',"
      "'truncationParent':'lost'}]" },
    { "a summary stands before what it hides",
      "[{'role':'assistant','content':'S','isSummary':true,'condenseId':'C'},{'role':'user','content':"
      "'a','condenseParent':'C'},{'role':'user','content':'b'}]" },
    { "a summary hides itself, and two hide each other",
      "[{'role':'assistant','content':'S','isSummary':true,'condenseId':'C','condenseParent':'C'},"
      "{'role':'assistant','content':'X','isSummary':true,'condenseId':'X','condenseParent':'Y'},"
      "{'role':'assistant','content':'Y','isSummary':true,'condenseId':'Y','condenseParent':'X'},"
      "{'role':'user','content':'a','condenseParent':'Y'}]" },
    { "two summaries side by side, one id twice, one message that is both",
      "[{'role':'user','content':'a','condenseParent':'C'},{'role':'assistant','content':'1','isSummary'"
      ":true,'condenseId':'C'},{'role':'assistant','content':'2','isSummary':true,'condenseId':'C'},"
      "{'role':'user','content':'b','truncationParent':'T'},{'role':'user','content':'c',"
      "'condenseParent':'D'},{'role':'user','content':'3','isSummary':true,'condenseId':'D',"
      "'isTruncationMarker':true,'truncationId':'T'}]" },
    { "summaries without an id, ids without a summary, tags that are null or empty",
      "[{'role':'user','content':'a','condenseParent':''},{'role':'assistant','content':'S','isSummary':"
      "true},{'role':'assistant','content':'s','condenseId':'C'},{'role':'user','content':'b',"
      "'condenseParent':'C','truncationParent':null},{'role':'user','content':'m','isTruncationMarker':"
      "false,'truncationId':'T'},{'truncationParent':'T','role':'user','content':'c'}]" },
    { "ids in other words: escapes, other scripts",
      "[{'role':'user','content':'a','condenseParent':'\\u0043\\u00e9'},{'role':'assistant','content':"
      "'S','isSummary':true,'condenseId':'Cé'}]" },
};

static void test_roo(void)
{
    static char text[1 << 14];
    maki_env env = maki_env_system();
    for (size_t i = 0; i < COUNT(roo_rows); i++) {
        tap_row("roo round trip: %s", roo_rows[i].name);
        check_roo(&env, q(roo_rows[i].array, text, sizeof text), roo_rows[i].name);
    }
}

/* ---- random arrays ----------------------------------------------------------------------------------------- */

static void add(maki_buf *out, const char *format, size_t n)
{
    char text[200];
    snprintf(text, sizeof text, format, n);
    maki_buf_add(out, maki_str_of(text));
}

static void random_array(tap_random *r, maki_buf *out)
{
    size_t count = tap_below(r, 24), ids = 1 + tap_below(r, 4);
    size_t tagged = tap_below(r, 5); /* how many of five carry tags */
    maki_buf_add_byte(out, '[');
    for (size_t i = 0; i < count; i++) {
        bool summary = tap_below(r, 5) == 0, marker = tap_below(r, 6) == 0;
        if (i) maki_buf_add_byte(out, ',');
        maki_buf_add_byte(out, '{');
        if (tap_below(r, 5) < tagged && tap_below(r, 2))
            add(out, "\"condenseParent\":\"c%zu\",", tap_below(r, ids + 2));
        add(out,
            tap_below(r, 2)
                ? "\"role\":\"user\",\"content\":\"%zu\""
                : "\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"%zu\"}]",
            i);
        if (tap_below(r, 2))
            add(out, ", \"ts\":%zu", i * 10);
        else if (tap_below(r, 5) < tagged)
            add(out, ",\"truncationParent\" : \"t%zu\"", tap_below(r, ids + 2));
        if (summary) add(out, ",\"isSummary\":true,\"condenseId\":\"c%zu\"", tap_below(r, ids));
        if (marker)
            add(out, ",\"isTruncationMarker\":true,\"truncationId\":\"t%zu\"", tap_below(r, ids));
        if (tap_below(r, 4) == 0) add(out, ",\"x%zu\":[1, 2]", i);
        maki_buf_add_byte(out, '}');
    }
    maki_buf_add_byte(out, ']');
}

static void test_random(void)
{
    maki_env env = maki_env_system();
    maki_buf array = maki_buf_new(env.alloc, 1 << 20);
    tap_row("roo round trip: 1,000 arrays with random tags");
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        tap_random random = { seed * 0x9E3779B97F4A7C15u };
        char why[40];
        maki_buf_clear(&array);
        random_array(&random, &array);
        snprintf(why, sizeof why, "seed %llu", (unsigned long long)seed);
        if (!check_roo(&env, maki_buf_str(&array), why)) break;
    }
    maki_buf_free(&array);
}

/* ---- UI messages ---------------------------------------------------------------------------------------------- */

static void test_ui(void)
{
    maki_env env = maki_env_system();
    directory f;
    maki_conv *conv = NULL;
    maki_import_report report;
    maki_err err = { 0 };
    maki_buf out = maki_buf_new(env.alloc, 1 << 20);
    static char api[4000], ui[4000];
    maki_str api_text =
        q("[{'role':'user','content':'a','condenseParent':'C'},{'role':'assistant','content':"
          "'S','isSummary':true,'condenseId':'C'}]",
          api, sizeof api);
    maki_str ui_text =
        q("[{'ts':1,'type':'say','say':'text','text':'日本'},{'ts':2,'say':'condense_context',"
          "'contextCondense':{'condenseId':'C','summary':'S','cost':0.5}}]",
          ui, sizeof ui);
    tap_row("UI messages next to roo's file are imported and exported unchanged");
    directory_open(&f);
    directory_write(directory_file(&f, "ui_messages.json"), ui_text);
    CHECK_STATUS(exchange_in(&env, &f, "api_conversation_history.json", api_text, NULL, &conv,
                             &report, &err),
                 MAKI_OK, &err);
    CHECK_EQ(report.events, 4);
    CHECK_STATUS(maki_export_ui(conv, MAKI_NEWEST, MAKI_NEWEST, maki_buf_sink(&out), &err), MAKI_OK,
                 &err);
    CHECK_TEXT(maki_buf_str(&out), ui_text);
    maki_conv_close(conv);
    directory_close(&f);

    tap_row("a condense and a truncation take effect at the time of their UI messages");
    api_text =
        q("[{'role':'user','content':'一','ts':1000},{'role':'assistant','content':'二','ts':2000,"
          "'condenseParent':'C'},{'role':'assistant','content':'S','ts':2999,'isSummary':true,"
          "'condenseId':'C','truncationParent':'T'},{'role':'user','content':'三','ts':3000,"
          "'truncationParent':'T'},{'role':'user','content':'M','ts':4999,"
          "'isTruncationMarker':true,'truncationId':'T'},{'role':'user','content':'네','ts':5000},"
          "{'role':'user','content':'다섯','ts':7000}]",
          api, sizeof api);
    ui_text = q(
        "[{'ts':1000,'say':'text'},{'ts':4000,'say':'condense_context','contextCondense':{'condenseId':"
        "'C'}},{'ts':6000,'say':'sliding_window_truncation','contextTruncation':{'truncationId':'T'}}]",
        ui, sizeof ui);
    static const size_t then[] = { 1, 2, 3, 3, 4 }; /* messages in view, by the newest message */
    directory_open(&f);
    maki_buf_clear(&out);
    directory_write(directory_file(&f, "ui_messages.json"), ui_text);
    CHECK_STATUS(exchange_in(&env, &f, "api_conversation_history.json", api_text, NULL, &conv,
                             &report, &err),
                 MAKI_OK, &err);
    for (uint64_t seq = 1; seq <= 5; seq++) {
        const maki_view *view;
        CHECK_STATUS(maki_conv_view(conv, seq, MAKI_NEWEST, &view, &err), MAKI_OK, &err);
        CHECK_EQ(maki_view_count(view), then[seq - 1]);
    }
    CHECK_STATUS(
        maki_export(conv, MAKI_NEWEST, MAKI_NEWEST, MAKI_EXPORT_ROO, maki_buf_sink(&out), &err),
        MAKI_OK, &err);
    CHECK_TEXT(maki_buf_str(&out), api_text);
    uint64_t seq = 0, ev = 0;
    CHECK_STATUS(maki_conv_before(conv, 6500, false, &seq, &ev, &err), MAKI_OK, &err);
    CHECK(seq == 4 && ev == 5);
    CHECK_STATUS(maki_conv_before(conv, 5500, false, &seq, &ev, &err), MAKI_OK, &err);
    CHECK(seq == 4 && ev == 3);
    maki_conv_close(conv);
    directory_close(&f);

    tap_row("without them, each condense and truncation is written");
    api_text =
        q("[{'role':'user','content':'a','condenseParent':'C'},{'role':'assistant','content':"
          "'S','isSummary':true,'condenseId':'C'}]",
          api, sizeof api);
    directory_open(&f);
    maki_buf_clear(&out);
    CHECK_STATUS(exchange_in(&env, &f, "x.json", api_text, NULL, &conv, &report, &err), MAKI_OK,
                 &err);
    CHECK_STATUS(maki_export_ui(conv, MAKI_NEWEST, MAKI_NEWEST, maki_buf_sink(&out), &err), MAKI_OK,
                 &err);
    CHECK(strstr(out.ptr ? out.ptr : "",
                 "\"contextCondense\":{\"condenseId\":\"C\",\"summary\":\"S\"") != NULL);
    maki_conv_close(conv);
    directory_close(&f);
    maki_buf_free(&out);
}

/* ---- events of Maki itself -------------------------------------------------------------------------------------- */

static void test_own(void)
{
    maki_env env = maki_env_system();
    directory f;
    maki_conv *conv = NULL, *fork = NULL;
    maki_err err = { 0 };
    maki_change change;
    maki_conv_options options = { .create = true };
    maki_buf out = maki_buf_new(env.alloc, 1 << 20), view = out, again = out;
    char path[300];
    tap_row("truncations, a rewind and a fork by Maki become tags");
    directory_open(&f);
    CHECK_STATUS(maki_conv_open(&env, directory_file(&f, "a.jsonl"), &options, &conv, &err),
                 MAKI_OK, &err);
    for (int i = 0; i < 12; i++) {
        char text[80];
        snprintf(text, sizeof text, "{\"role\":\"%s\",\"content\":\"%d\"}",
                 i % 2 ? "assistant" : "user", i);
        maki_str row = maki_str_of(text);
        CHECK_STATUS(maki_conv_append(conv, NULL, &row, 1, &change, &err), MAKI_OK, &err);
        if (i == 7) CHECK_STATUS(maki_conv_truncate(conv, NULL, 0.5, &change, &err), MAKI_OK, &err);
        if (i == 9)
            CHECK_STATUS(maki_conv_rewind(conv, NULL, 9, MAKI_NEWEST, &change, &err), MAKI_OK,
                         &err);
    }
    snprintf(path, sizeof path, "%s", directory_file(&f, "b.jsonl"));
    CHECK_STATUS(maki_conv_fork(conv, 12, MAKI_NEWEST, path, (maki_str){ "", 0 }, &err), MAKI_OK,
                 &err);
    CHECK_STATUS(maki_conv_open(&env, path, &options, &fork, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_conv_truncate(fork, NULL, 0.5, &change, &err), MAKI_OK, &err);
    maki_conv *both[] = { conv, fork };
    for (int i = 0; i < 2; i++) {
        directory g;
        maki_conv *back = NULL;
        maki_import_report report;
        maki_import_options roo = { .format = "roo" };
        maki_buf_clear(&out);
        maki_buf_clear(&view);
        maki_buf_clear(&again);
        directory_open(&g);
        CHECK_STATUS(maki_export(both[i], MAKI_NEWEST, MAKI_NEWEST, MAKI_EXPORT_ROO,
                                 maki_buf_sink(&out), &err),
                     MAKI_OK, &err);
        CHECK_STATUS(exchange_view(both[i], &view, &err), MAKI_OK, &err);
        CHECK_STATUS(exchange_in(&env, &g, "s", maki_buf_str(&out), &roo, &back, &report, &err),
                     MAKI_OK, &err);
        CHECK_STATUS(exchange_view(back, &again, &err), MAKI_OK, &err);
        CHECK_TEXT(maki_buf_str(&again), maki_buf_str(&view));
        maki_conv_close(back);
        directory_close(&g);
    }
    maki_buf_clear(&out);
    CHECK_STATUS(maki_export_ui(conv, MAKI_NEWEST, MAKI_NEWEST, maki_buf_sink(&out), &err), MAKI_OK,
                 &err);
    CHECK(out.len > 2 && strstr(out.ptr, "sliding_window_truncation") != NULL);
    maki_buf_clear(&out);
    CHECK_STATUS(
        maki_export(conv, MAKI_NEWEST, MAKI_NEWEST, MAKI_EXPORT_LINES, maki_buf_sink(&out), &err),
        MAKI_OK, &err);
    size_t lines = 0;
    for (size_t i = 0; i < out.len; i++)
        lines += out.ptr[i] == '\n';
    CHECK_EQ(lines, 12);
    maki_conv_close(fork);
    maki_conv_close(conv);
    directory_close(&f);
    maki_buf_free(&out);
    maki_buf_free(&view);
    maki_buf_free(&again);
}

/* ---- chat shapes --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *lines, *openai, *anthropic;
} chat_rows[] = {
    { "plain words",
      "{'role':'user','content':'a','ts':1,'x':2}\n{'role':'assistant','content':'b'}\n",
      "[{'role':'user','content':'a'},{'role':'assistant','content':'b'}]",
      "[{'role':'user','content':'a'},{'role':'assistant','content':'b'}]" },
    { "system messages", "{'role':'system','content':'s'}\n{'role':'user','content':'a'}\n",
      "[{'role':'system','content':'s'},{'role':'user','content':'a'}]",
      "{'system':[{'type':'text','text':'s'}],'messages':[{'role':'user','content':'a'}]}" },
    { "calls of Anthropic's shape",
      "{'role':'assistant','content':[{'type':'reasoning','text':'r'},{'type':'text','text':'t'},"
      "{'type':'tool_use','id':'1','name':'f','input':{'a':'b'}}]}\n"
      "{'role':'user','content':[{'type':'tool_result','tool_use_id':'1','content':[{'type':'text',"
      "'text':'ok'}],'is_error':true},{'type':'text','text':'go on'}]}\n",
      "[{'role':'assistant','content':[{'type':'text','text':'t'}],'tool_calls':[{'id':'1','type':"
      "'function','function':{'name':'f','arguments':'{\\'a\\':\\'b\\'}'}}]},{'role':'tool',"
      "'tool_call_id':'1','content':[{'type':'text','text':'ok'}]},{'role':'user','content':[{'type':"
      "'text','text':'go on'}]}]",
      "[{'role':'assistant','content':[{'type':'text','text':'t'},{'type':'tool_use','id':'1','name':"
      "'f','input':{'a':'b'}}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'1',"
      "'content':[{'type':'text','text':'ok'}],'is_error':true},{'type':'text','text':'go on'}]}]" },
    { "calls of OpenAI's shape, made side by side",
      "{'role':'assistant','content':null,'tool_calls':[{'id':'1','type':'function','function':{'name':"
      "'f','arguments':'{\\'a\\':1}'}},{'id':'2','type':'function','function':{'name':'g','arguments':"
      "'torn{'}}]}\n{'role':'tool','tool_call_id':'1','content':'x'}\n{'role':'tool','tool_call_id':"
      "'2','content':'y'}\n{'role':'user','content':'next'}\n",
      "[{'role':'assistant','content':null,'tool_calls':[{'id':'1','type':'function','function':{'name':"
      "'f','arguments':'{\\'a\\':1}'}},{'id':'2','type':'function','function':{'name':'g','arguments':"
      "'torn{'}}]},{'role':'tool','tool_call_id':'1','content':'x'},{'role':'tool','tool_call_id':'2',"
      "'content':'y'},{'role':'user','content':'next'}]",
      "[{'role':'assistant','content':[{'type':'tool_use','id':'1','name':'f','input':{'a':1}},{'type':"
      "'tool_use','id':'2','name':'g','input':{'arguments':'torn{'}}]},{'role':'user','content':"
      "[{'type':'tool_result','tool_use_id':'1','content':'x'},{'type':'tool_result','tool_use_id':'2',"
      "'content':'y'},{'type':'text','text':'next'}]}]" },
    { "images, both ways",
      "{'role':'user','content':[{'type':'image','source':{'type':'base64','media_type':'image/png',"
      "'data':'AA=='}},{'type':'image_url','image_url':{'url':'data:image/gif;base64,BB=='}},"
      "{'type':'image_url','image_url':{'url':'https://x/y.png'}}]}\n",
      "[{'role':'user','content':[{'type':'image_url','image_url':{'url':'data:image/png;base64,AA=='}},"
      "{'type':'image_url','image_url':{'url':'data:image/gif;base64,BB=='}},{'type':'image_url',"
      "'image_url':{'url':'https://x/y.png'}}]}]",
      "[{'role':'user','content':[{'type':'image','source':{'type':'base64','media_type':'image/png',"
      "'data':'AA=='}},{'type':'image','source':{'type':'base64','media_type':'image/gif','data':'BB=='"
      "}},{'type':'image','source':{'type':'url','url':'https://x/y.png'}}]}]" },
    { "thinking with a signature goes back to whom it is from, empty texts are left out",
      "{'role':'assistant','content':[{'type':'thinking','thinking':'t','signature':'s','x':1},{'type':"
      "'text','text':''}]}\n{'role':'assistant','content':[{'type':'reasoning','text':'r'}]}\n"
      "{'role':'user','content':''}\n",
      "[]",
      "[{'role':'assistant','content':[{'type':'thinking','thinking':'t','signature':'s'}]}]" },
};

static void test_chat(void)
{
    static char text[1 << 14], want[1 << 14];
    maki_env env = maki_env_system();
    for (size_t i = 0; i < COUNT(chat_rows); i++) {
        directory f;
        maki_conv *conv = NULL;
        maki_import_report report;
        maki_err err = { 0 };
        maki_import_options lines = { .format = "lines" };
        tap_row("chat: %s", chat_rows[i].name);
        directory_open(&f);
        maki_str source = q(chat_rows[i].lines, text, sizeof text);
        CHECK_STATUS(exchange_in(&env, &f, "s", source, &lines, &conv, &report, &err), MAKI_OK,
                     &err);
        CHECK_EQ(report.skipped, 0);
        for (int k = 0; k < 2; k++) {
            maki_buf out = maki_buf_new(env.alloc, 1 << 20);
            maki_str expect =
                q(k ? chat_rows[i].anthropic : chat_rows[i].openai, want, sizeof want);
            maki_export_format format = k ? MAKI_EXPORT_ANTHROPIC : MAKI_EXPORT_OPENAI;
            CHECK_STATUS(
                maki_export(conv, MAKI_NEWEST, MAKI_NEWEST, format, maki_buf_sink(&out), &err),
                MAKI_OK, &err);
            CHECK_TEXT(maki_buf_str(&out), expect);
            maki_buf_free(&out);
        }
        maki_conv_close(conv);
        directory_close(&f);
    }
}

/* Each allocation fails in turn. */
static void test_faults(void)
{
    static char text[1 << 14];
    maki_env env = maki_env_system();
    directory f;
    maki_conv *conv = NULL;
    maki_import_report report;
    maki_err err = { 0 };
    directory_open(&f);
    CHECK_STATUS(exchange_in(&env, &f, "s", q(roo_rows[5].array, text, sizeof text), NULL, &conv,
                             &report, &err),
                 MAKI_OK, &err);
    maki_conv_close(conv);
    for (int format = 0; format < 5; format++) {
        tap_row("each allocation fails in turn: export %d", format);
        for (size_t nth = 1;; nth++) {
            fake_env fe;
            fake_env_init(&fe);
            maki_conv_options options = { .read_only = true };
            maki_buf out = maki_buf_new(env.alloc, 1 << 20);
            conv = NULL;
            fake_alloc_fail_at(&fe, nth);
            maki_status st =
                maki_conv_open(&fe.env, directory_file(&f, "in.jsonl"), &options, &conv, &err);
            if (st == MAKI_OK) {
                st = format < 4 ? maki_export(conv, MAKI_NEWEST, MAKI_NEWEST,
                                              (maki_export_format)format, maki_buf_sink(&out), &err)
                                : maki_export_ui(conv, MAKI_NEWEST, MAKI_NEWEST,
                                                 maki_buf_sink(&out), &err);
            }
            maki_conv_close(conv);
            bool failed = fake_alloc_failed(&fe);
            CHECK_STATUS(st, failed ? MAKI_NOMEM : MAKI_OK, &err);
            CHECK_EQ(fake_alloc_live(&fe), 0);
            maki_buf_free(&out);
            if (!failed) break;
        }
    }
    directory_close(&f);
}

int main(void)
{
    test_roo();
    test_random();
    test_ui();
    test_own();
    test_chat();
    test_faults();
    return tap_end();
}
