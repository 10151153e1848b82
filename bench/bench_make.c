/* bench_make.c -- write the data of the benches: a chat log, or an array of messages.
 *
 *     bench_make log BYTES PATH      one message a line
 *     bench_make array BYTES PATH    one array of messages
 *
 * Same arguments, same bytes, on every machine: the only source of chance is the generator below.
 * The messages look like those of coding agents: prose in several languages, source code full of
 * escaped newlines and quotes, tool calls and results in the shapes of two protocols, a few rows
 * from writers that escape everything outside ASCII.  Sizes run from 50 bytes to 200 KB around a
 * median of 1 KB. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <maki/env.h>

#include "base/buf.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "base/text.h"

enum { LENGTH_MIN = 50, LENGTH_MEDIAN = 800, LENGTH_MAX = 200000, TEXT_MAX = 1 << 20 };

/* ---- chance -------------------------------------------------------------------------------- */

typedef struct chance {
    uint64_t state;
} chance;

static uint32_t draw(chance *c, uint32_t below)
{
    c->state = c->state * 6364136223846793005u + 1442695040888963407u;
    uint32_t high = (uint32_t)(c->state >> 32);
    return (uint32_t)((uint64_t)high * below >> 32);
}

/* Log-normal, from a sum of twelve draws: no libm call whose last bit may differ elsewhere decides
 * more than a length. */
static size_t draw_size(chance *c)
{
    double z = -6.0;
    for (int i = 0; i < 12; i++)
        z += draw(c, 1u << 20) / (double)(1 << 20);
    double size = floor(LENGTH_MEDIAN * exp2(2.0 * z));
    if (size < LENGTH_MIN) size = LENGTH_MIN;
    return size > LENGTH_MAX ? LENGTH_MAX : (size_t)size;
}

/* ---- words --------------------------------------------------------------------------------- */

/* clang-format off */
static const char *const english[] = {
    "I looked at the failing test and the cause is a race between the writer and the index. ",
    "Could you rename the option and keep the old name as an alias for one release? ",
    "The build is green again; the only change was the order of the two includes. ",
    "Let's not touch the public header. ",
    "When the budget is tight, old tool output goes first, because a file can be read again. ",
    "It's the third time this week that \"connection reset by peer\" shows up in the log.\n",
    "Sure.\n\n",
    "Here is what I found:\n\n- the cache key leaves out the locale\n- two callers pass NULL\n- nobody checks the return value\n\n",
    "Please write a regression test before you fix it, and run the whole suite under ASan. ",
    "I'd rather have one slow, correct path than two fast ones that disagree. ",
};
static const char *const japanese[] = {
    "テストが失敗する原因は、書き込みと索引の競合でした。",
    "設定ファイルの「予算」を変更して、もう一度ビルドしてください。\n",
    "会話の先頭と直近の三件は必ず残し、その間を要約します。",
    "了解しました。修正後に全件のテストを実行します。\n\n",
    "この関数は NULL を受け取る可能性があるため、先に確認が必要です。",
    "巻き戻しの後、隠されていたメッセージは再び表示されます。",
};
static const char *const chinese[] = {
    "失败的原因是写入线程和索引之间存在竞争。",
    "请先补一个回归测试,然后再修改实现。\n",
    "上下文超过阈值时,旧的工具输出会最先被移除。",
    "好的,我会把配置项改名,并保留旧名称作为别名。\n\n",
    "这个接口返回的是借用指针,调用者不需要释放。",
};
static const char *const korean[] = {
    "테스트가 실패하는 이유는 쓰기와 색인 사이의 경쟁 조건입니다. ",
    "설정 파일을 수정한 뒤 다시 빌드해 주세요.\n",
    "오래된 도구 출력부터 먼저 제거됩니다. ",
    "네, 알겠습니다. 전체 테스트를 다시 실행하겠습니다.\n\n",
};
static const char *const emoji[] = {
    "Done 🎉 all 214 tests pass ✅\n",
    "Hmm 🤔 that flag does nothing here… ",
    "🚀 shipped! 👩‍💻👨‍👩‍👧‍👦 ",
    "⚠️ careful: café, naïve, Zürich and 東京 sort differently. ",
};
static const char *const c_code[] = {
    "static int read_row(struct reader *r, const char *path)\n{\n",
    "    if (!r || !path) {\n        fprintf(stderr, \"usage: %s FILE\\n\", \"reader\");\n        return -1;\n    }\n",
    "    for (size_t i = 0; i < r->count; i++) {\n        total += r->items[i].len;\n    }\n",
    "    char *end = NULL;\n    long value = strtol(text, &end, 10); /* checked below */\n",
    "    memcpy(out + n, bytes, len);\n    n += len;\n",
    "\t\tcase '\\\\': state = ESCAPE; break;\n\t\tcase '\"': state = DONE; break;\n",
    "#include <stdio.h>\n#include \"base/str_util.h\"\n\n",
    "    return st;\n}\n\n",
};
static const char *const js_code[] = {
    "export async function load(path, { retries = 3 } = {}) {\n",
    "  const res = await fetch(`${base}/v1/${path}`, { headers: { \"content-type\": \"application/json\" } });\n",
    "  if (!res.ok) throw new Error(\"HTTP \" + res.status + \": \" + (await res.text()));\n",
    "  const rows = text.split(\"\\n\").filter(Boolean).map((line) => JSON.parse(line));\n",
    "  return rows.reduce((sum, row) => sum + (row.tokens ?? 0), 0);\n}\n\n",
    "  it(\"keeps the first message\", () => {\n    expect(view[0]).toEqual({ role: \"user\", content: \"hello\" });\n  });\n",
    "const pattern = /^\\s*([a-z_]+)\\s*=\\s*\"([^\"]*)\"$/i;\n",
};
static const char *const output[] = {
    "src/base/json_access.c:118:5: warning: comparison of integers of different signs [-Wsign-compare]\n",
    "-rw-r--r-- 1 user user   14314 Jan 27 09:30 json_scan.c\n",
    "{\"level\":\"info\",\"msg\":\"request done\",\"ms\":12,\"path\":\"/v1/messages\"}\n",
    "ok 17 - a torn last line is cut off\n",
    "  118 |     if (at < end && *at == '\"') return at + 1;\n",
    "\x1b[32mPASS\x1b[0m tests/view.test.js (5.1 s)\n",
    "2026-01-27T09:30:00.125Z info context_check usage=0.75 messages=214 action=compress\n",
};
/* clang-format on */

typedef struct pool {
    const char *const *texts;
    uint32_t count;
} pool;
#define POOL(array)                               \
    {                                             \
        array, sizeof(array) / sizeof((array)[0]) \
    }
static const pool prose[] = { POOL(english), POOL(english), POOL(english), POOL(japanese),
                              POOL(chinese), POOL(korean),  POOL(emoji) };
static const pool sources[] = { POOL(c_code), POOL(js_code) };
static const pool results[] = { POOL(output), POOL(c_code), POOL(js_code) };

static void fill(maki_buf *text, chance *c, const pool *from, size_t size)
{
    while (text->len < size) {
        maki_buf_add(text, maki_str_of(from->texts[draw(c, from->count)]));
    }
}

/* Prose, half of the time with code in a fence. */
static maki_str say(maki_buf *text, chance *c, size_t size)
{
    maki_buf_clear(text);
    const pool *words = &prose[draw(c, sizeof prose / sizeof prose[0])];
    if (draw(c, 2) == 0) {
        fill(text, c, words, size);
        return maki_buf_str(text);
    }
    fill(text, c, words, size / 3);
    maki_buf_add(text, MAKI_LIT("\n```c\n"));
    fill(text, c, &sources[draw(c, 2)], size);
    maki_buf_add(text, MAKI_LIT("```\n"));
    return maki_buf_str(text);
}

static maki_str result(maki_buf *text, chance *c, size_t size)
{
    maki_buf_clear(text);
    fill(text, c, &results[draw(c, 3)], size);
    return maki_buf_str(text);
}

/* ---- messages ------------------------------------------------------------------------------ */

typedef struct maker {
    chance chance;
    maki_buf text;
    maki_buf inner; /* JSON inside a string */
    maki_jw out;
    uint64_t number; /* of the message, for ids and times */
} maker;

static void field(maki_jw *w, const char *key, const char *value)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_string(w, maki_str_of(value));
}

static void field_text(maki_jw *w, const char *key, maki_str value)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_string(w, value);
}

static void id_field(maki_jw *w, const char *key, const char *prefix, uint64_t number)
{
    char id[64];
    snprintf(id, sizeof id, "%s_%016llx", prefix,
             (unsigned long long)(number * 0x9E3779B97F4A7C15u));
    field(w, key, id);
}

/* As JSON writers do that escape everything outside ASCII. */
static void ascii_string(maki_jw *w, maki_str text)
{
    size_t len = 0;
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    for (size_t at = 0; at < text.len; at += len) {
        char escape[16];
        uint32_t code = maki_utf8_decode(text, at, &len);
        if (code < 0x80) {
            maki_jw_escape(w, (maki_str){ text.ptr + at, 1 });
        } else if (code < 0x10000) {
            snprintf(escape, sizeof escape, "\\u%04x", code);
            maki_jw_bytes(w, maki_str_of(escape));
        } else {
            snprintf(escape, sizeof escape, "\\u%04x\\u%04x", 0xD7C0 + (code >> 10),
                     0xDC00 + (code & 0x3FF));
            maki_jw_bytes(w, maki_str_of(escape));
        }
    }
    maki_jw_bytes(w, MAKI_LIT("\""));
}

static void times(maker *m)
{
    maki_jw_key(&m->out, MAKI_LIT("ts"));
    maki_jw_int(&m->out, 1769500000000 + (int64_t)m->number * 1373);
}

static void plain_message(maker *m, const char *role, size_t size, bool ascii)
{
    field(&m->out, "role", role);
    maki_str text = say(&m->text, &m->chance, size);
    if (ascii) {
        maki_jw_key(&m->out, MAKI_LIT("content"));
        ascii_string(&m->out, text);
    } else {
        field_text(&m->out, "content", text);
    }
    times(m);
}

static void anthropic_call(maker *m, size_t size)
{
    maki_jw *w = &m->out;
    field(w, "role", "assistant");
    maki_jw_key(w, MAKI_LIT("content"));
    maki_jw_begin_array(w);
    maki_jw_begin_object(w);
    field(w, "type", "text");
    field_text(w, "text", say(&m->text, &m->chance, size / 4));
    maki_jw_end_object(w);
    maki_jw_begin_object(w);
    field(w, "type", "tool_use");
    id_field(w, "id", "toolu", m->number);
    field(w, "name", "write_file");
    maki_jw_key(w, MAKI_LIT("input"));
    maki_jw_begin_object(w);
    field(w, "path", "src/base/reader.c");
    maki_buf_clear(&m->text);
    fill(&m->text, &m->chance, &sources[0], size);
    field_text(w, "content", maki_buf_str(&m->text));
    maki_jw_key(w, MAKI_LIT("mode"));
    maki_jw_int(w, 420);
    maki_jw_key(w, MAKI_LIT("append"));
    maki_jw_bool(w, false);
    maki_jw_end_object(w);
    maki_jw_end_object(w);
    maki_jw_end_array(w);
    times(m);
}

static void anthropic_result(maker *m, size_t size)
{
    maki_jw *w = &m->out;
    field(w, "role", "user");
    maki_jw_key(w, MAKI_LIT("content"));
    maki_jw_begin_array(w);
    maki_jw_begin_object(w);
    field(w, "type", "tool_result");
    id_field(w, "tool_use_id", "toolu", m->number - 1);
    maki_jw_key(w, MAKI_LIT("content"));
    maki_jw_begin_array(w);
    maki_jw_begin_object(w);
    field(w, "type", "text");
    field_text(w, "text", result(&m->text, &m->chance, size));
    maki_jw_end_object(w);
    maki_jw_end_array(w);
    maki_jw_key(w, MAKI_LIT("is_error"));
    maki_jw_bool(w, draw(&m->chance, 10) == 0);
    maki_jw_end_object(w);
    maki_jw_end_array(w);
    times(m);
}

/* The arguments of an OpenAI call are JSON in a string: every quote is escaped, some twice. */
static maki_str arguments(maker *m, size_t size)
{
    maki_jw inner;
    maki_buf_clear(&m->inner);
    maki_buf_clear(&m->text);
    fill(&m->text, &m->chance, &sources[1], size);
    maki_jw_init(&inner, maki_buf_sink(&m->inner), NULL);
    maki_jw_begin_object(&inner);
    field(&inner, "file", "web/view.js");
    field_text(&inner, "patch", maki_buf_str(&m->text));
    maki_jw_end_object(&inner);
    if (maki_jw_end(&inner) != MAKI_OK) return (maki_str){ "{}", 2 };
    return maki_buf_str(&m->inner);
}

static void openai_call(maker *m, size_t size)
{
    maki_jw *w = &m->out;
    field(w, "role", "assistant");
    maki_jw_key(w, MAKI_LIT("content"));
    maki_jw_null(w);
    maki_jw_key(w, MAKI_LIT("tool_calls"));
    maki_jw_begin_array(w);
    maki_jw_begin_object(w);
    id_field(w, "id", "call", m->number);
    field(w, "type", "function");
    maki_jw_key(w, MAKI_LIT("function"));
    maki_jw_begin_object(w);
    field(w, "name", "apply_patch");
    field_text(w, "arguments", arguments(m, size));
    maki_jw_end_object(w);
    maki_jw_end_object(w);
    maki_jw_end_array(w);
    times(m);
}

static void openai_result(maker *m, size_t size)
{
    field(&m->out, "role", "tool");
    id_field(&m->out, "tool_call_id", "call", m->number - 1);
    field(&m->out, "name", "apply_patch");
    field_text(&m->out, "content", result(&m->text, &m->chance, size));
    times(m);
}

static void message(maker *m)
{
    size_t size = draw_size(&m->chance);
    maki_jw_begin_object(&m->out);
    switch (m->number % 8) {
    case 0: plain_message(m, "user", size, draw(&m->chance, 8) == 0); break;
    case 1:
    case 3: anthropic_call(m, size); break;
    case 2:
    case 4: anthropic_result(m, size); break;
    case 5: openai_call(m, size); break;
    case 6: openai_result(m, size); break;
    default: plain_message(m, "assistant", size, false); break;
    }
    maki_jw_end_object(&m->out);
    m->number++;
}

/* ---- files --------------------------------------------------------------------------------- */

static maki_status to_stream(void *ctx, maki_str bytes, maki_err *err)
{
    if (err) err->status = MAKI_IO;
    return fwrite(bytes.ptr, 1, bytes.len, ctx) == bytes.len ? MAKI_OK : MAKI_IO;
}

static maki_status write_log(maker *m, FILE *file, uint64_t bytes)
{
    maki_status st = MAKI_OK;
    uint64_t written = 0;
    while (st == MAKI_OK && written < bytes) {
        maki_jw_init(&m->out, (maki_sink){ to_stream, file }, NULL);
        message(m);
        maki_jw_bytes(&m->out, MAKI_LIT("\n"));
        st = maki_jw_end(&m->out);
        written += m->out.written;
    }
    return st;
}

static maki_status write_array(maker *m, FILE *file, uint64_t bytes)
{
    maki_jw_init(&m->out, (maki_sink){ to_stream, file }, NULL);
    maki_jw_begin_array(&m->out);
    while (m->out.written < bytes && m->out.status == MAKI_OK)
        message(m);
    maki_jw_end_array(&m->out);
    return maki_jw_end(&m->out);
}

int main(int argc, char **argv)
{
    bool log = argc == 4 && strcmp(argv[1], "log") == 0;
    if (argc != 4 || (!log && strcmp(argv[1], "array") != 0)) {
        fprintf(stderr, "usage: bench_make log|array BYTES PATH\n");
        return 2;
    }
    maki_env env = maki_env_system();
    maker m = { .chance = { 20260127 },
                .text = maki_buf_new(env.alloc, TEXT_MAX),
                .inner = maki_buf_new(env.alloc, 4 * TEXT_MAX) };
    FILE *file = fopen(argv[3], "wb");
    if (!file) {
        perror(argv[3]);
        return 1;
    }
    uint64_t bytes = strtoull(argv[2], NULL, 10);
    maki_status st = log ? write_log(&m, file, bytes) : write_array(&m, file, bytes);
    bool closed = fclose(file) == 0;
    maki_buf_free(&m.text);
    maki_buf_free(&m.inner);
    if (st != MAKI_OK || !closed) {
        fprintf(stderr, "bench_make: could not write %s\n", argv[3]);
        return 1;
    }
    return 0;
}
