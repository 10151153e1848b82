/* logger.c -- write log lines: each is formatted on the stack and written with one call of the sink.
 *
 * A line is always valid UTF-8 without control characters: a hostile value cannot forge a second event. */
#include "base/logger.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/str_util.h"
#include "base/text.h"

enum { LINE_CAPACITY = 2048 }; /* a longer line is truncated */

typedef struct line {
    char text[LINE_CAPACITY];
    size_t len;
} line;

static void append(line *l, const char *fmt, ...) MAKI_PRINTF(2, 3);

static void append(line *l, const char *fmt, ...)
{
    size_t capacity = sizeof l->text - 1 - l->len; /* one byte is reserved for the newline */
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(l->text + l->len, capacity, fmt, args);
    va_end(args);
    if (n > 0) l->len += (size_t)n < capacity ? (size_t)n : capacity - 1;
}

/* Prefixes and names of API keys.  A false positive costs a log value, a false negative leaks a key. */
static bool looks_secret(maki_str value)
{
    const char *patterns =
        "sk-|sk_|bearer |basic |api_key|api-key|apikey|token=|key=|ghp_|glpat-|xoxb-|"
        "AIza|eyJ|secret|password";
    maki_str pattern;
    while (maki_words_next(&patterns, &pattern)) {
        if (maki_str_contains_nocase(value, pattern)) return true;
    }
    return false;
}

/* Is this byte (part of) a control character?  U+0080 to U+009F control a terminal too. */
static bool is_control(maki_str text, size_t i)
{
    unsigned char c = (unsigned char)text.ptr[i];
    if (c == 0xC2) return (text.ptr[i + 1] & 0xE0) == 0x80; /* text is valid: i + 1 exists */
    if ((c & 0xE0) == 0x80) return (unsigned char)text.ptr[i - 1] == 0xC2;
    return c < ' ' || c == 0x7F;
}

static void append_text(line *l, maki_str value)
{
    if (!maki_utf8_valid(value, NULL)) {
        append(l, "\"(not UTF-8, %zu bytes)\"", value.len);
        return;
    }
    if (looks_secret(value)) {
        append(l, "***");
        return;
    }
    maki_str shown = maki_utf8_truncate(value, MAKI_LOG_VALUE_MAX);
    bool plain = shown.len > 0;
    for (size_t i = 0; i < shown.len; i++) {
        unsigned char c = (unsigned char)shown.ptr[i];
        if (c <= ' ' || c == '"' || c == '=' || c == '\\' || is_control(shown, i)) plain = false;
    }
    if (plain) {
        append(l, "%.*s", (int)shown.len, shown.ptr);
    } else {
        append(l, "\"");
        for (size_t i = 0; i < shown.len; i++) {
            unsigned char c = (unsigned char)shown.ptr[i];
            if (c == '"' || c == '\\')
                append(l, "\\%c", c);
            else if (is_control(shown, i))
                append(l, "\\x%02x", c);
            else
                append(l, "%c", c);
        }
        append(l, "\"");
    }
    if (shown.len < value.len) append(l, "...");
}

static void append_time(line *l, int64_t ms)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    char text[32];
    if (!gmtime_r(&seconds, &tm)) memset(&tm, 0, sizeof tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    append(l, "%s.%03dZ", text, (int)(ms % 1000));
}

static const char *const level_names[] = { "debug", "info", "warn", "error" };

bool maki_level_parse(maki_str name, maki_level *out)
{
    size_t level = maki_str_index(name, "debug|info|warn|error");
    if (level != SIZE_MAX) *out = (maki_level)level;
    return level != SIZE_MAX;
}

const char *maki_level_name(maki_level level)
{
    return level_names[level];
}

void maki_log_event(const maki_logger *logger, maki_level level, const char *event,
                    const maki_kv *values, size_t count)
{
    line l = { .len = 0 };
    if (!logger || level < logger->min_level) return;
    append_time(&l, logger->clock->now_ms(logger->clock));
    append(&l, " %s %s", maki_level_name(level), event);
    for (size_t i = 0; i < count; i++) {
        append(&l, " %s=", values[i].key);
        if (values[i].type == MAKI_KV_INT) append(&l, "%lld", (long long)values[i].integer);
        if (values[i].type == MAKI_KV_NUM) append(&l, "%g", values[i].number);
        if (values[i].type == MAKI_KV_STR) append_text(&l, values[i].str);
    }
    l.len -= maki_utf8_incomplete(
        (maki_str){ l.text, l.len }); /* a long line may end inside a character */
    l.text[l.len++] = '\n';
    (void)logger->sink.write(logger->sink.ctx, (maki_str){ l.text, l.len }, NULL);
}
