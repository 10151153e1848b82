/* logger_test.c -- exact lines; no secrets, no forged lines, no invalid characters. */
#include "base/logger.h"

#include <string.h>

#include "base/buf.h"
#include "base/str_util.h"
#include "base/text.h"
#include "fake_env.h"
#include "samples.h"
#include "tap.h"

#define S(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }
#define TIME "2023-11-14T22:13:20.000Z "

/* One event of the given values, as text; borrowed until the next call. */
static maki_str logged(fake_env *fe, const maki_kv *values, size_t count)
{
    static char bytes[4096];
    maki_buf buf = maki_buf_new(fe->env.alloc, sizeof bytes);
    maki_logger logger = { fe->env.clock, maki_buf_sink(&buf), MAKI_DEBUG };
    maki_log_event(&logger, MAKI_INFO, "turn", values, count);
    maki_str line = { bytes, buf.len };
    if (buf.len) memcpy(bytes, buf.ptr, buf.len);
    maki_buf_free(&buf);
    return line;
}

/* What follows "turn v=" when a text is logged. */
static maki_str logged_text(fake_env *fe, maki_str text)
{
    maki_str line = logged(fe, &MAKI_KV_S("v", text), 1);
    maki_str head = MAKI_LIT(TIME "info turn v=");
    if (!CHECK(maki_str_starts(line, head))) return line;
    if (!CHECK(line.ptr[line.len - 1] == '\n')) return line;
    return (maki_str){ line.ptr + head.len, line.len - head.len - 1 };
}

static void test_lines(void)
{
    fake_env fe;
    fake_env_init(&fe);
    tap_row("the line of logger.h");
    fe.now_ms = 1769506200125;
    maki_buf buf = maki_buf_new(fe.env.alloc, 1000);
    maki_logger logger = { fe.env.clock, maki_buf_sink(&buf), MAKI_INFO };
    maki_kv values[] = { MAKI_KV_S("session", MAKI_LIT("abc")), MAKI_KV_N("usage", 0.75),
                         MAKI_KV_S("action", MAKI_LIT("compress")) };
    maki_log_event(&logger, MAKI_INFO, "context_check", values, 3);
    CHECK_STR(maki_buf_str(&buf), "2026-01-27T09:30:00.125Z info context_check session=abc "
                                  "usage=0.75 action=compress\n");

    tap_row("numbers of all kinds");
    maki_kv numbers[] = { MAKI_KV_I("zero", 0), MAKI_KV_I("least", INT64_MIN),
                          MAKI_KV_I("most", INT64_MAX), MAKI_KV_N("small", 1e-9),
                          MAKI_KV_N("minus", -2.5) };
    maki_buf_clear(&buf);
    fe.now_ms = 0;
    maki_log_event(&logger, MAKI_ERROR, "e", numbers, 5);
    CHECK_STR(maki_buf_str(&buf), "1970-01-01T00:00:00.000Z error e zero=0 "
                                  "least=-9223372036854775808 most=9223372036854775807 "
                                  "small=1e-09 minus=-2.5\n");

    tap_row("levels: each has its name, lower ones than asked for are not written");
    maki_buf_clear(&buf);
    fe.now_ms = 1700000000000;
    maki_log_event(&logger, MAKI_DEBUG, "not written", NULL, 0);
    CHECK_STR(maki_buf_str(&buf), "");
    maki_log_event(&logger, MAKI_WARN, "w", NULL, 0);
    logger.min_level = MAKI_DEBUG;
    maki_log_event(&logger, MAKI_DEBUG, "d", NULL, 0);
    CHECK_STR(maki_buf_str(&buf), TIME "warn w\n" TIME "debug d\n");
    maki_buf_free(&buf);

    tap_row("no logger, no line, no crash");
    maki_log_event(NULL, MAKI_ERROR, "e", values, 3);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

/* clang-format off */
static const struct value_row { const char *name; maki_str in, out; } value_rows[] = {
    { "a word",                         S("abc-1.5/x"),               S("abc-1.5/x") },
    { "an empty text is visible",  S(""),                        S("\"\"") },
    { "spaces are put in quotes",       S("two words"),               S("\"two words\"") },
    { "an equals sign",                 S("a=b"),                     S("\"a=b\"") },
    { "quotes and backslashes",         S("say \"a\\b\""),            S("\"say \\\"a\\\\b\\\"\"") },
    { "a newline cannot forge a line",  S("a\n2023 error b"),         S("\"a\\x0a2023 error b\"") },
    { "carriage return, tab, escape",   S("\r\t\033[31m"),            S("\"\\x0d\\x09\\x1b[31m\"") },
    { "NUL and delete",                 S("a\0b\177"),                S("\"a\\x00b\\x7f\"") },
    { "controls of U+0080 to U+009F are shown as bytes", S("a\xC2\x9B" "31mb\xC2\x85"), S("\"a\\xc2\\x9b31mb\\xc2\\x85\"") },
    { "U+00A0, just after them, stays", S("a\u00A0b"),                S("a\u00A0b") },
    { "Japanese",                       S("会話"),                    S("会話") },
    { "Korean with a space",            S("대화 하나"),               S("\"대화 하나\"") },
    { "Arabic",                         S("محادثة"),                  S("محادثة") },
    { "emoji",                          S("👩\u200D🚀"),              S("👩\u200D🚀") },
    { "invalid UTF-8 is only counted",  S("ab\xFF" "cd"),             S("\"(not UTF-8, 5 bytes)\"") },
    { "a character cut in the middle",  S("日本\xE8\xAA"),            S("\"(not UTF-8, 8 bytes)\"") },
    { "an OpenAI key",                  S("sk-proj-abc123"),          S("***") },
    { "a key inside a sentence",        S("used key sk-ant-1 today"), S("***") },
    { "a key among Japanese",           S("鍵はSK-abcです"),          S("***") },
    { "a bearer token",                 S("Bearer abc.def"),          S("***") },
    { "authorization, any case",        S("AUTHORIZATION: BEARER X"), S("***") },
    { "basic authorization",            S("Basic dXNlcjpwYXNz"),      S("***") },
    { "a key in a URL",                 S("https://x/?key=abc"),      S("***") },
    { "an api key header",              S("x-api-key: abc"),          S("***") },
    { "a GitHub token",                 S("ghp_0123456789"),          S("***") },
    { "a Slack token",                  S("xoxb-1-2"),                S("***") },
    { "a Google key",                   S("AIzaSyA"),                 S("***") },
    { "a JSON web token",               S("eyJhbGciOi.J9"),           S("***") },
    { "a password",                     S("password: 暗号"),          S("***") },
};
/* clang-format on */

static void test_values(void)
{
    fake_env fe;
    fake_env_init(&fe);
    for (size_t i = 0; i < COUNT(value_rows); i++) {
        tap_row("value: %s", value_rows[i].name);
        CHECK_TEXT(logged_text(&fe, value_rows[i].in), value_rows[i].out);
    }
    tap_row("a key at the end of a long value is found before the value is truncated");
    char body[1000];
    memset(body, 'x', sizeof body);
    memcpy(body + 900, "sk-abc", 6);
    CHECK_STR(logged_text(&fe, (maki_str){ body, sizeof body }), "***");

    tap_row("a NULL string");
    CHECK_STR(logged_text(&fe, (maki_str){ NULL, 0 }), "\"\"");
}

static void test_cuts(void)
{
    fake_env fe;
    fake_env_init(&fe);
    for (size_t i = 0; i < sample_count; i++) {
        maki_str text = samples[i].text;
        if (text.len == 0) continue;
        tap_row("a long value is cut on a character boundary: %s", samples[i].name);
        for (size_t lead = 0; lead < 6; lead++) {
            char body[600] = "xxxxxx";
            size_t n = lead;
            for (; n + text.len <= 400; n += text.len)
                memcpy(body + n, text.ptr, text.len);
            maki_str line = logged_text(&fe, (maki_str){ body, n });
            CHECK(maki_utf8_valid(line, NULL));
            CHECK(line.len > 3 && memcmp(line.ptr + line.len - 3, "...", 3) == 0);
            CHECK(memchr(line.ptr, '\n', line.len) == NULL);
        }
    }
    tap_row("120 bytes are written whole, 121 are cut");
    char body[121];
    memset(body, 'x', sizeof body);
    CHECK_EQ(logged_text(&fe, (maki_str){ body, 120 }).len, 120);
    CHECK_EQ(logged_text(&fe, (maki_str){ body, 121 }).len, 123);
}

/* Too many values for one line: it is cut, but remains one line of valid UTF-8. */
static void test_long_lines(void)
{
    fake_env fe;
    fake_env_init(&fe);
    for (size_t i = 0; i < sample_count; i++) {
        maki_str text = samples[i].text;
        if (text.len == 0) continue;
        tap_row("a line of too many values is cut on a character boundary: %s", samples[i].name);
        for (size_t lead = 0; lead < 6; lead++) {
            char body[120] = "xxxxxx";
            maki_kv values[200];
            size_t n = lead;
            for (; n + text.len <= sizeof body; n += text.len)
                memcpy(body + n, text.ptr, text.len);
            for (size_t k = 0; k < 200; k++)
                values[k] = MAKI_KV_S("v", ((maki_str){ body, n }));
            maki_str line = logged(&fe, values, 200);
            CHECK(line.len > 1000 && line.len <= 2048);
            CHECK(maki_utf8_valid(line, NULL));
            CHECK(memchr(line.ptr, '\n', line.len) == line.ptr + line.len - 1);
        }
    }
}

static maki_status failing_write(void *ctx, maki_str bytes, maki_err *err)
{
    (void)bytes;
    (void)err; /* the logger passes NULL */
    ++*(int *)ctx;
    return MAKI_FULL;
}

static void test_failing_sink(void)
{
    fake_env fe;
    int calls = 0;
    fake_env_init(&fe);
    tap_row("a failing sink does not stop the caller, and the next event is written again");
    maki_logger logger = { fe.env.clock, { failing_write, &calls }, MAKI_DEBUG };
    maki_log_event(&logger, MAKI_INFO, "a", NULL, 0);
    maki_log_event(&logger, MAKI_INFO, "b", NULL, 0);
    CHECK_EQ(calls, 2);
}

int main(void)
{
    test_lines();
    test_values();
    test_cuts();
    test_long_lines();
    test_failing_sink();
    return tap_end();
}
