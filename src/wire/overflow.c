/* overflow.c -- see overflow.h.
 *
 * Providers have no common code for it, so the words of the message decide.  Patterns are written
 * as parts: " " between two parts is white space or nothing, "*" is anything on the same line; "<"
 * and ">" demand the beginning or the end of a word.  Letters match in either case. */
#include "wire/overflow.h"

#include <string.h>

#include "base/str.h"

/* Refused with status 400 by services that speak OpenAI's protocol. */
static const char *const openai_patterns[] = {
    "<context length>",    "<context window>",  "<maximum context>",
    "<tokens exceed",      "<token exceed",     "<input tokens exceed",
    "<input token exceed", "<too many tokens>", "<too many token>",
};

/* In an invalid_request_error of Anthropic's. */
static const char *const anthropic_patterns[] = {
    "prompt is too long", "maximum*tokens",          "context*too*long",     "exceeds*context",
    "token*limit",        "context_length_exceeded", "max_tokens_to_sample",
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

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
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
        } else if (at >= text.len || lower(text.ptr[at++]) != p[i]) {
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

static bool matches_any(const char *const *patterns, size_t n, maki_str text, bool by_line)
{
    while (text.len) {
        const char *newline = by_line ? memchr(text.ptr, '\n', text.len) : NULL;
        size_t end = newline ? (size_t)(newline - text.ptr) : text.len;
        for (size_t i = 0; i < n; i++) {
            if (match_line(patterns[i], maki_str_to(text, end))) return true;
        }
        text = maki_str_from(text, newline ? end + 1 : end);
    }
    return false;
}

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
    return matches_any(openai_patterns, sizeof openai_patterns / sizeof openai_patterns[0], message,
                       false) ||
           maki_str_has(message, maki_str_of(cerebras_words));
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
    return matches_any(anthropic_patterns, sizeof anthropic_patterns / sizeof anthropic_patterns[0],
                       text_of(message, arena), true);
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
