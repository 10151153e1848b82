/* random_rows.c -- build random messages: text, parallel calls, results with several texts, in both shapes. */
#include "random_rows.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"

static size_t chance(row_maker *r, size_t limit)
{
    return tap_below(r->random, limit);
}

/* Texts, escaped for JSON. */
static const char *const words[] = {
    "hello ",
    "please read src/a.c ",
    "日本語のテキストです。",
    "中文文本,请看。",
    "한국어 문장 ",
    "😀🎉",
    "👩‍💻 done ",
    "line\\nbreak ",
    "say \\\"yes\\\" ",
    "\\u00e9\\u4e2d ",
    "\\ud83d\\ude00 ",
    "error: it failed\\n",
    "C:\\\\dir\\t",
    "naïve café ",
    "x",
    "a longer piece of plain prose, ",
};

static void add(row_maker *r, const char *text)
{
    maki_buf_add(&r->text, maki_str_of(text));
}

static void addf(row_maker *r, const char *fmt, ...) MAKI_PRINTF(2, 3);
static void addf(row_maker *r, const char *fmt, ...)
{
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    add(r, text);
}

/* Code between fences, long or short. */
static void add_code(row_maker *r)
{
    add(r, "\\n```c src/a.c\\n");
    for (size_t i = 20 + chance(r, 60); i > 0; i--)
        add(r, "f(); \\/\\/ 行\\n");
    add(r, "```\\n");
}

/* A long text that is repeated in later rows. */
static void add_repeated(row_maker *r)
{
    size_t which = chance(r, 2);
    for (int i = 0; i < 30; i++)
        add(r, which ? "同じ出力 " : "the same output ");
}

/* Add a JSON string, and record it as a text of the row. */
static void add_part(row_maker *r, model_row *row, unsigned block, unsigned part)
{
    bool output = row->answers > 0; /* tool results are longer, and repeated */
    size_t pieces = chance(r, output ? 2 : 4) ? chance(r, 6) : 10 + chance(r, 60);
    size_t kind = chance(r, output ? 4 : 8);
    add(r, "\"");
    size_t at = r->text.len;
    for (size_t i = 0; kind != 1 && i < pieces; i++)
        add(r, words[chance(r, COUNT(words))]);
    if (kind == 0) add_code(r);
    if (kind == 1) add_repeated(r);
    if (row->text_count < MODEL_TEXTS) {
        row->texts[row->text_count++] =
            (model_text){ .block = block, .part = part, .at = at, .len = r->text.len - at };
    }
    add(r, "\"");
}

static void add_text(row_maker *r, model_row *row, unsigned block)
{
    add_part(r, row, block, 0);
}

/* Add an image, and record it as a block that a text can replace. */
static void add_image(row_maker *r, model_row *row, unsigned block, unsigned part)
{
    size_t at = r->text.len;
    addf(r,
         "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\","
         "\"data\":\"iVBORw0KGgo%zu\"}}",
         chance(r, 4));
    if (row->text_count < MODEL_TEXTS) {
        row->texts[row->text_count++] = (model_text){
            .block = block, .part = part, .whole = true, .at = at, .len = r->text.len - at
        };
    }
}

static void begin(row_maker *r, const char *role)
{
    maki_buf_clear(&r->text);
    addf(r, "{\"role\":\"%s\",\"content\":", role);
}

/* End the row; its time is sometimes missing, equal to the last one, or before it. */
static model_row *end(row_maker *r, model_row *row)
{
    size_t kind = chance(r, 8);
    if (kind > 1) r->clock += (int64_t)chance(r, 5000);
    row->ts = kind == 0 ? 0 : kind == 1 ? r->clock - 3000 : r->clock;
    if (row->ts) addf(r, ",\"ts\":%lld", (long long)row->ts);
    add(r, "}");
    row->json = model_pool_copy(maki_buf_str(&r->text));
    return row;
}

static model_row *new_row(void)
{
    model_row *row = model_pool_get(sizeof *row);
    memset(row, 0, sizeof *row);
    return row;
}

model_row *row_plain(row_maker *r, const char *role)
{
    model_row *row = new_row();
    row->system = strcmp(role, "system") == 0;
    begin(r, role);
    if (chance(r, 3)) {
        add_text(r, row, 0);
    } else {
        add(r, "[{\"type\":\"text\",\"text\":");
        add_text(r, row, 0);
        add(r, "},{\"type\":\"text\",\"text\":");
        add_text(r, row, 1);
        add(r, "}");
        if (!row->system && chance(r, 3) == 0) {
            add(r, ",");
            add_image(r, row, 2, 0);
        }
        add(r, "]");
    }
    return end(r, row);
}

model_row *row_call(row_maker *r)
{
    static const char *const tools[] = { "ls", "read_file", "Bash" };
    model_row *row = new_row();
    bool openai = chance(r, 2);
    row->calls = 1 + (unsigned)chance(r, 3);
    row->call = r->next_call;
    r->next_call += row->calls;
    begin(r, "assistant");
    if (openai) {
        if (chance(r, 2))
            add_text(r, row, 0);
        else
            add(r, "null");
        add(r, ",\"tool_calls\":[");
    } else {
        add(r, "[{\"type\":\"text\",\"text\":");
        add_text(r, row, 0);
        add(r, "},");
    }
    for (unsigned i = 0; i < row->calls; i++) {
        unsigned id = row->call + i;
        r->openai[id] = openai;
        if (i) add(r, ",");
        if (openai) {
            addf(r,
                 "{\"id\":\"call_%u\",\"type\":\"function\",\"function\":{\"name\":\"%s\","
                 "\"arguments\":\"{\\\"path\\\":\\\"f%zu.c\\\"}\"}}",
                 id, tools[chance(r, COUNT(tools))], chance(r, 3));
        } else {
            addf(r,
                 "{\"type\":\"tool_use\",\"id\":\"toolu_%u\",\"name\":\"%s\",\"input\":{"
                 "\"path\":\"f%zu.c\"}}",
                 id, tools[chance(r, COUNT(tools))], chance(r, 3));
        }
    }
    add(r, "]");
    return end(r, row);
}

/* A result's list: perhaps an image, a text, perhaps another one.  The first text is part 0. */
static void add_list(row_maker *r, model_row *row, unsigned block)
{
    unsigned part = 1;
    add(r, "[");
    if (chance(r, 4) == 0) {
        add_image(r, row, block, part++);
        add(r, ",");
    }
    add(r, "{\"type\":\"text\",\"text\":");
    add_part(r, row, block, 0);
    add(r, "}");
    if (chance(r, 4) == 0) {
        add(r, ",{\"type\":\"text\",\"text\":");
        add_part(r, row, block, part + 1);
        add(r, "}");
    }
    add(r, "]");
}

/* One row that answers a call, or, in Anthropic's shape, all that wait. */
model_row *row_answer(row_maker *r, unsigned first, unsigned waiting)
{
    model_row *row = new_row();
    row->answer = first;
    row->answers = r->openai[first] ? 1 : waiting;
    if (r->openai[first]) {
        begin(r, "tool");
        add_text(r, row, 0);
        addf(r, ",\"tool_call_id\":\"call_%u\"", first);
        return end(r, row);
    }
    begin(r, "user");
    add(r, "[");
    for (unsigned i = 0; i < waiting; i++) {
        bool nested = chance(r, 2);
        addf(r,
             "%s{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_%u\",\"content\":", i ? "," : "",
             first + i);
        if (nested) {
            add_list(r, row, i);
        } else {
            add_text(r, row, i);
        }
        add(r, "}");
    }
    if (chance(r, 4) == 0) {
        add(r, ",{\"type\":\"text\",\"text\":");
        add_text(r, row, waiting);
        add(r, "}");
    }
    add(r, "]");
    return end(r, row);
}
