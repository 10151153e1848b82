/* talk_kit.c -- append messages of every kind, run the manager, and walk the view (talk_kit.h). */
#include "talk_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "history/blocks.h"
#include "history/token_counter.h"
#include "summary/offline.h"
#include "tap.h"

void talk_open(talk_kit *t)
{
    maki_err err = { 0 };
    maki_conv_options options = { .create = true,
                                  .durability = MAKI_DURABILITY_AT_END,
                                  .threads = 1 };
    memset(t, 0, sizeof *t);
    directory_open(&t->here);
    fake_env_init(&t->fe);
    fake_random_seed(&t->fe, 11);
    t->row = maki_buf_new(maki_env_system().alloc, 64 << 20);
    t->view = t->row;
    CHECK_STATUS(
        maki_conv_open(&t->fe.env, directory_file(&t->here, "t.jsonl"), &options, &t->conv, &err),
        MAKI_OK, &err);
}

void talk_close(talk_kit *t)
{
    maki_conv_close(t->conv);
    maki_buf_free(&t->row);
    maki_buf_free(&t->view);
    CHECK_EQ(fake_alloc_live(&t->fe), 0);
    directory_close(&t->here);
}

/* ---- appending ------------------------------------------------------------------------------------ */

uint64_t talk_row(talk_kit *t, const char *json)
{
    maki_str one = maki_str_of(json);
    maki_change change = { 0 };
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_append(t->conv, NULL, &one, 1, &change, &err), MAKI_OK, &err);
    return change.seq;
}

static uint64_t append_joined(talk_kit *t, const char *const *parts, size_t count)
{
    maki_buf_clear(&t->row);
    for (size_t i = 0; i < count; i++)
        maki_buf_add(&t->row, maki_str_of(parts[i]));
    maki_buf_add_byte(&t->row, '\0');
    return talk_row(t, t->row.ptr);
}
#define APPEND(t, ...)                                       \
    append_joined((t), (const char *const[]){ __VA_ARGS__ }, \
                  COUNT(((const char *const[]){ __VA_ARGS__ })))

uint64_t talk_say(talk_kit *t, const char *role, const char *text)
{
    return APPEND(t, "{\"role\":\"", role, "\",\"content\":\"", text, "\"}");
}

static void append_call(talk_kit *t, const char *tool, const char *input, char id[16])
{
    snprintf(id, 16, "t%u", t->calls++);
    APPEND(t, "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"", id,
           "\",\"name\":\"", tool, "\",\"input\":", input, "}]}");
}

uint64_t talk_call(talk_kit *t, const char *tool, const char *input, const char *output)
{
    char id[16];
    append_call(t, tool, input, id);
    return APPEND(t, "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"",
                  id, "\",\"content\":\"", output, "\"}]}");
}

uint64_t talk_call_openai(talk_kit *t, const char *tool, const char *input, const char *output)
{
    char id[16], quoted[400];
    size_t n = 0;
    snprintf(id, sizeof id, "c%u", t->calls++);
    for (const char *c = input; *c && n + 2 < sizeof quoted; c++) {
        if (*c == '"') quoted[n++] = '\\';
        quoted[n++] = *c;
    }
    quoted[n] = '\0';
    APPEND(t, "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"", id,
           "\",\"type\":\"function\",\"function\":{\"name\":\"", tool, "\",\"arguments\":\"",
           quoted, "\"}}]}");
    return APPEND(t, "{\"role\":\"tool\",\"tool_call_id\":\"", id, "\",\"content\":\"", output,
                  "\"}");
}

uint64_t talk_image(talk_kit *t, const char *data)
{
    char id[16];
    append_call(t, "screenshot", "{}", id);
    return APPEND(
        t, "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"", id,
        "\",\"content\":[{\"type\":\"text\",\"text\":\"画面\"},{\"type\":\"image\",\"source\":"
        "{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"",
        data, "\"}}]}]}");
}

const char *talk_prose(size_t units, unsigned seed)
{
    static const char *const words[] = { "the file ", "関数を",  "修正する",     "测试失败 ",
                                         "다시 ",     "error: ", "path/to/a.c ", "なので、",
                                         "因此,",     "🐟🍣",      "42 ",          "\\n" };
    static char texts[3][1 << 18];
    static size_t turn;
    char *out = texts[turn++ % 3];
    tap_random random = { seed * 7919u + 1 };
    size_t n = 0;
    while (n < units && n + 40 < sizeof texts[0]) {
        const char *word = words[tap_below(&random, COUNT(words))];
        memcpy(out + n, word, strlen(word));
        n += strlen(word);
    }
    out[n] = '\0';
    return out;
}

const char *talk_code(const char *info, size_t lines)
{
    static char text[1 << 16];
    size_t n = (size_t)snprintf(text, sizeof text, "ここです:\\n```%s\\n", info);
    for (size_t i = 0; i < lines; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "int line_%zu(void); /* 行 */\\n", i);
    snprintf(text + n, sizeof text - n, "```\\n以上");
    return text;
}

/* ---- the view -------------------------------------------------------------------------------------- */

const char *talk_view(talk_kit *t)
{
    const maki_view *view;
    maki_err err = { 0 };
    maki_buf_clear(&t->view);
    maki_status st = maki_conv_view(t->conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err);
    if (st == MAKI_OK) st = maki_conv_write(t->conv, view, false, maki_buf_sink(&t->view), &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    maki_buf_add_byte(&t->view, '\0');
    return t->view.ptr;
}

bool talk_view_has(talk_kit *t, const char *words)
{
    return strstr(talk_view(t), words) != NULL;
}

uint64_t talk_recounted(talk_kit *t)
{
    maki_env env = maki_env_system();
    maki_token_counter counter;
    maki_err err = { 0 };
    uint64_t sum = 0, one = 0;
    maki_token_counter_init(&counter, &env);
    for (const char *line = talk_view(t), *end; (end = strchr(line, '\n')); line = end + 1) {
        maki_str json;
        maki_status st = maki_json_check((maki_str){ line, (size_t)(end - line) }, &json, &err);
        if (st == MAKI_OK) st = maki_token_counter_message(&counter, 0, json, &one, &err);
        CHECK_STATUS(st, MAKI_OK, &err);
        sum += one;
    }
    maki_token_counter_close(&counter);
    return sum;
}

uint64_t talk_tokens(talk_kit *t)
{
    maki_view_totals totals = { 0 };
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_total_now(t->conv, &totals, &err), MAKI_OK, &err);
    return totals.tokens;
}

typedef struct inspection {
    char pending[64]; /* the id of the call in the message before; "" for none */
    const uint64_t *needed;
    uint64_t seen[8];
    talk_inspection out;
} inspection;

static void id_in(maki_str object, const char *name, char out[64])
{
    maki_str value;
    if (maki_json_kind_of(object) == MAKI_JSON_OBJECT &&
        maki_json_get(object, maki_str_of(name), &value) &&
        maki_json_kind_of(value) == MAKI_JSON_STRING)
        out[maki_json_copy_text(value, out, 63)] = '\0';
}

static maki_status inspect_message(void *ctx, const maki_view_message *seen, maki_err *err)
{
    inspection *l = ctx;
    maki_str content, calls, block;
    char call[64] = "", answer[64] = "";
    maki_json_item item;
    (void)err;
    if (l->out.messages++ == 0) l->out.first = seen->seq;
    for (size_t i = 0; l->needed && l->needed[i]; i++) {
        if (seen->seq == l->needed[i]) l->seen[i] = 1;
    }
    if (maki_json_get(seen->json, MAKI_LIT("content"), &content)) {
        maki_blocks blocks = maki_content_blocks(content);
        while (maki_blocks_next(&blocks, &block)) {
            if (maki_json_field_in(block, "type", "tool_use")) id_in(block, "id", call);
            if (maki_json_field_in(block, "type", "tool_result"))
                id_in(block, "tool_use_id", answer);
        }
    }
    if (maki_json_get(seen->json, MAKI_LIT("tool_calls"), &calls)) {
        maki_json_iter iter = maki_json_items(calls);
        while (maki_json_next(&iter, &item))
            id_in(item.value, "id", call);
    }
    id_in(seen->json, "tool_call_id", answer);
    if (strcmp(answer, l->pending) != 0)
        l->out.broken++; /* a result right after its call, and only there */
    strcpy(l->pending, call);
    return MAKI_OK;
}

talk_inspection talk_inspect(maki_conv *conv, const uint64_t *needed)
{
    inspection l = { .needed = needed, .out.all = true };
    const maki_view *view;
    maki_err err = { 0 };
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err);
    if (st == MAKI_OK) st = maki_conv_each(conv, view, inspect_message, &l, &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    for (size_t i = 0; needed && needed[i]; i++)
        l.out.all = l.out.all && l.seen[i];
    return l.out;
}

bool talk_valid(talk_kit *t, const uint64_t *needed)
{
    talk_inspection view = talk_inspect(t->conv, needed);
    return view.all && view.broken == 0;
}

/* ---- a run -------------------------------------------------------------------------------------------- */

maki_manage_report talk_manage(talk_kit *t, const maki_policy *policy, double window)
{
    maki_summarizer offline = maki_summarizer_offline_with(NULL);
    maki_manage_report report = { 0 };
    maki_err err = { 0 };
    maki_manage_options in = { .window = window,
                               .max_tokens = 100,
                               .threshold = 75,
                               .force = t->force,
                               .policy = policy,
                               .summarizer = &offline };
    CHECK_STATUS(maki_manage_conversation(t->conv, &in, &report, &err), MAKI_OK, &err);
    return report;
}

const char *talk_steps(const maki_manage_report *report)
{
    static char text[2000];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; i < report->taken_count; i++) {
        const maki_step_result *taken = &report->taken[i];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%s%s%s", n ? " " : "",
                              maki_step_name(taken->kind), taken->undone ? "-" : "",
                              taken->refused[0] ? ":" : "", taken->refused);
    }
    return text;
}
