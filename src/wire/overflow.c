/* overflow.c -- recognise a context overflow by the message of the error; find the object and the message of an error.
 *
 * Providers have no common error code for it, so the message decides.  Patterns are written
 * as parts: " " between two parts is white space or nothing, "*" is anything on the same line; "<"
 * and ">" demand the beginning or the end of a word.  Letters match in either case. */
#include "wire/overflow.h"

#include <string.h>

#include "base/ascii.h"
#include "base/str_util.h"
#include "wire/json_row.h"

static const struct pattern_row {
    unsigned applies_to; /* MAKI_OVERFLOW_*: the errors that it applies to */
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
    /* patterns that the reference does not have */
    { MAKI_OVERFLOW_ANY, "exceeds the maximum number of tokens" }, /* Gemini */
    { MAKI_OVERFLOW_ANY, "exceeds max length" },                   /* Z.ai */
    { MAKI_OVERFLOW_ANY, "exceeds the available context size" },   /* llama.cpp */
    { MAKI_OVERFLOW_ANY, "exceeds the context length" },           /* Ollama */
    { MAKI_OVERFLOW_ANY, "context overflow" },
    { MAKI_OVERFLOW_ANY, "context the overflows" }, /* LM Studio */
    { MAKI_OVERFLOW_ANY, "prompt is too long" },
};

static const char cerebras_message[] = "Please reduce the length of the messages or completion";

static bool space_char(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Does the part p[0, n) of a pattern match at text[pos]?  *end is the offset after the match. */
static bool match_part(const char *p, size_t n, maki_str text, size_t pos, size_t *end)
{
    for (size_t i = 0; i < n; i++) {
        bool before = pos > 0 && maki_is_word_char(text.ptr[pos - 1]);
        bool after = pos < text.len && maki_is_word_char(text.ptr[pos]);
        if (p[i] == '<' || p[i] == '>') {
            if (before == after) return false;
        } else if (p[i] == ' ') {
            while (pos < text.len && space_char(text.ptr[pos]))
                pos++;
        } else if (pos >= text.len || maki_lower(text.ptr[pos++]) != p[i]) {
            return false;
        }
    }
    *end = pos;
    return true;
}

/* Does the pattern match anywhere in this line?  The earliest match of each part is enough:
 * parts only have to follow each other. */
static bool match_line(const char *p, maki_str line)
{
    size_t pos = 0;
    for (;;) {
        size_t n = strcspn(p, "*");
        while (pos <= line.len && !match_part(p, n, line, pos, &pos))
            pos++;
        if (pos > line.len) return false;
        if (p[n] == '\0') return true;
        p += n + 1;
    }
}

/* A star does not match a line end, nor do Anthropic's patterns. */
static bool matches(const char *pattern, maki_str text, bool by_line)
{
    while (text.len) {
        maki_str line = by_line ? maki_str_cut(&text, '\n') : text;
        if (match_line(pattern, line)) return true;
        if (!by_line) return false;
    }
    return false;
}

bool maki_overflow_matches(maki_str message, unsigned known)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (known & rows[i].applies_to &&
            matches(rows[i].pattern, message, rows[i].applies_to == MAKI_OVERFLOW_ANTHROPIC))
            return true;
    }
    return known & MAKI_OVERFLOW_REFUSED &&
           maki_str_contains(message, maki_str_of(cerebras_message));
}

/* ---- the reference operation ------------------------------------------------------------------------------------ */

static bool is_400(maki_str error)
{
    maki_str status = maki_member_any(error, "status code");
    if (!status.len)
        status = maki_member(maki_member(error, MAKI_LIT("error")), MAKI_LIT("status"));
    if (!status.len)
        status = maki_member(maki_member(error, MAKI_LIT("response")), MAKI_LIT("status"));
    if (maki_is_string(status)) return maki_json_text_is(status, MAKI_LIT("400"));
    return status.len && maki_json_kind_of(status) == MAKI_JSON_NUMBER &&
           maki_json_double(status) == 400;
}

/* The field `message`, decoded; len 0: it is empty or not a string. */
static maki_str message_of(maki_str error, maki_arena *arena)
{
    maki_str message = maki_json_string(error, "message");
    return message.len ? maki_json_text(message, arena) : message;
}

static bool openai_overflow(maki_str error, maki_arena *arena)
{
    if (!is_400(error)) return false;
    maki_str message = message_of(error, arena);
    if (!message.len) message = message_of(maki_member(error, MAKI_LIT("error")), arena);
    return maki_overflow_matches(message, MAKI_OVERFLOW_REFUSED);
}

static bool anthropic_overflow(maki_str error, maki_arena *arena)
{
    maki_str inner = maki_member(maki_member(error, MAKI_LIT("error")), MAKI_LIT("error"));
    return maki_json_field_is(inner, "type", "invalid_request_error") &&
           maki_overflow_matches(message_of(inner, arena), MAKI_OVERFLOW_ANTHROPIC);
}

bool maki_is_overflow(maki_str error, maki_arena *arena)
{
    return maki_json_field_is(error, "name", "LengthFinishReasonError") ||
           openai_overflow(error, arena) || anthropic_overflow(error, arena);
}

/* ---- the fields of an error ----------------------------------------------------------------------------- */

maki_str maki_error_object(maki_str error)
{
    maki_json_item item;
    maki_json_iter iter = maki_array_items(error);
    if (maki_json_next(&iter, &item)) error = item.value;
    if (!maki_is_object(error)) return error;
    maki_str inner = maki_member(error, MAKI_LIT("error"));
    if (!inner.len)
        inner = maki_member(maki_member(error, MAKI_LIT("response")), MAKI_LIT("error"));
    return inner.len ? inner : error;
}

maki_str maki_error_message(maki_str error)
{
    maki_str inner = maki_error_object(error);
    if (maki_is_string(inner)) return inner;
    return maki_is_object(inner) ? maki_json_string(inner, "message") : MAKI_LIT("");
}
