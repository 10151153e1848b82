/* overflow.c -- see overflow.h.
 *
 * Providers have no common code for it, so the words of the message decide.  Patterns are written
 * as parts: " " between two parts is white space or nothing, "*" is anything on the same line; "<"
 * and ">" demand the beginning or the end of a word.  Letters match in either case. */
#include "wire/overflow.h"

#include <string.h>

#include "base/ascii.h"
#include "base/str.h"

static const struct pattern_row {
    unsigned where; /* it counts where this is known */
    const char *pattern;
} rows[] = {
    /* services that speak OpenAI's protocol */
    { MAKI_OVERFLOW_REFUSED, "<context length>" },
    { MAKI_OVERFLOW_REFUSED, "<context window>" },
    { MAKI_OVERFLOW_REFUSED, "<maximum context>" },
    { MAKI_OVERFLOW_REFUSED, "<tokens exceed" },
    { MAKI_OVERFLOW_REFUSED, "<token exceed" },
    { MAKI_OVERFLOW_REFUSED, "<input tokens exceed" },
    { MAKI_OVERFLOW_REFUSED, "<input token exceed" },
    { MAKI_OVERFLOW_REFUSED, "<too many tokens>" },
    { MAKI_OVERFLOW_REFUSED, "<too many token>" },
    /* Anthropic */
    { MAKI_OVERFLOW_ANTHROPIC, "prompt is too long" },
    { MAKI_OVERFLOW_ANTHROPIC, "maximum*tokens" },
    { MAKI_OVERFLOW_ANTHROPIC, "context*too*long" },
    { MAKI_OVERFLOW_ANTHROPIC, "exceeds*context" },
    { MAKI_OVERFLOW_ANTHROPIC, "token*limit" },
    { MAKI_OVERFLOW_ANTHROPIC, "context_length_exceeded" },
    { MAKI_OVERFLOW_ANTHROPIC, "max_tokens_to_sample" },
    /* what the reference does not know */
    { MAKI_OVERFLOW_ANY, "exceeds the maximum number of tokens" }, /* Gemini */
    { MAKI_OVERFLOW_ANY, "exceeds max length" },                   /* Z.ai */
    { MAKI_OVERFLOW_ANY, "exceeds the available context size" },   /* llama.cpp */
    { MAKI_OVERFLOW_ANY, "exceeds the context length" },           /* Ollama */
    { MAKI_OVERFLOW_ANY, "context overflow" },
    { MAKI_OVERFLOW_ANY, "context the overflows" }, /* LM Studio */
    { MAKI_OVERFLOW_ANY, "prompt is too long" },
};

static const char cerebras_words[] = "Please reduce the length of the messages or completion";

static bool word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool space_char(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Does the part p[0, n) of a pattern match at text[at]?  *end is one past what it matched. */
static bool match_part(const char *p, size_t n, maki_str text, size_t at, size_t *end)
{
    for (size_t i = 0; i < n; i++) {
        bool before = at > 0 && word_char(text.ptr[at - 1]);
        bool here = at < text.len && word_char(text.ptr[at]);
        if (p[i] == '<' || p[i] == '>') {
            if (before == here) return false;
        } else if (p[i] == ' ') {
            while (at < text.len && space_char(text.ptr[at]))
                at++;
        } else if (at >= text.len || maki_lower(text.ptr[at++]) != p[i]) {
            return false;
        }
    }
    *end = at;
    return true;
}

/* Does the pattern match anywhere in this line?  Taking each part as early as it comes is enough,
 * because nothing but its place ties it to the part before. */
static bool match_line(const char *p, maki_str line)
{
    size_t at = 0;
    for (;;) {
        size_t n = strcspn(p, "*");
        while (at <= line.len && !match_part(p, n, line, at, &at))
            at++;
        if (at > line.len) return false;
        if (p[n] == '\0') return true;
        p += n + 1;
    }
}

/* A star does not pass a line's end, nor do Anthropic's patterns. */
static bool matches(const char *pattern, maki_str text, bool by_line)
{
    while (text.len) {
        maki_str line = by_line ? maki_str_cut(&text, '\n') : text;
        if (match_line(pattern, line)) return true;
        if (!by_line) return false;
    }
    return false;
}

bool maki_overflow_says(maki_str words, unsigned known)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (known & rows[i].where &&
            matches(rows[i].pattern, words, rows[i].where == MAKI_OVERFLOW_ANTHROPIC))
            return true;
    }
    return known & MAKI_OVERFLOW_REFUSED && maki_str_has(words, maki_str_of(cerebras_words));
}

/* ---- the reference ------------------------------------------------------------------------------------ */

static bool field(maki_str object, const char *name, maki_str *value)
{
    return maki_json_get(object, maki_str_of(name), value) &&
           maki_json_kind_of(*value) != MAKI_JSON_NULL;
}

static bool nested(maki_str object, const char *outer, const char *inner, maki_str *value)
{
    maki_str middle;
    return field(object, outer, &middle) && field(middle, inner, value);
}

static bool is_400(maki_str error)
{
    maki_str status;
    if (!field(error, "status", &status) && !field(error, "code", &status) &&
        !nested(error, "error", "status", &status) &&
        !nested(error, "response", "status", &status)) {
        return false;
    }
    if (maki_json_kind_of(status) == MAKI_JSON_STRING) {
        return maki_json_text_is(status, MAKI_LIT("400"));
    }
    return maki_json_kind_of(status) == MAKI_JSON_NUMBER && maki_json_double(status) == 400;
}

/* A non-empty string as text, else nothing. */
static maki_str text_of(maki_str value, maki_arena *arena)
{
    if (maki_json_kind_of(value) != MAKI_JSON_STRING) return (maki_str){ "", 0 };
    return maki_json_text(value, arena);
}

static bool openai_overflow(maki_str error, maki_arena *arena)
{
    maki_str value, message = { "", 0 };
    if (!is_400(error)) return false;
    if (field(error, "message", &value)) message = text_of(value, arena);
    if (message.len == 0 && nested(error, "error", "message", &value)) {
        message = text_of(value, arena);
    }
    return maki_overflow_says(message, MAKI_OVERFLOW_REFUSED);
}

static bool anthropic_overflow(maki_str error, maki_arena *arena)
{
    maki_str inner, type, message;
    if (!nested(error, "error", "error", &inner) || !field(inner, "type", &type)) return false;
    if (maki_json_kind_of(type) != MAKI_JSON_STRING ||
        !maki_json_text_is(type, MAKI_LIT("invalid_request_error"))) {
        return false;
    }
    if (!field(inner, "message", &message)) return false;
    return maki_overflow_says(text_of(message, arena), MAKI_OVERFLOW_ANTHROPIC);
}

bool maki_is_overflow(maki_str error, maki_arena *arena)
{
    maki_str name;
    if (maki_json_kind_of(error) != MAKI_JSON_OBJECT) return false;
    if (field(error, "name", &name) && maki_json_kind_of(name) == MAKI_JSON_STRING &&
        maki_json_text_is(name, MAKI_LIT("LengthFinishReasonError"))) {
        return true;
    }
    return openai_overflow(error, arena) || anthropic_overflow(error, arena);
}
