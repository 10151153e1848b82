/* json_scan.c -- validate JSON incrementally: a state machine that can stop between any two bytes.
 *
 * A chunk is first checked to be UTF-8, then scanned.  The kernel skip_string skips the content of strings with their
 * escapes; the speed comes from there, because most of a chat log is string content.  The offset of an error is the byte
 * at which the text can no longer become valid. */
#include "base/json_scan.h"
#include "base/ascii.h"

#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "base/str_util.h"

enum state {
    VALUE,       /* a value is expected */
    FIRST_ITEM,  /* after '[': a value or ']' */
    FIRST_KEY,   /* after '{': a key or '}' */
    KEY,         /* after ',' in an object */
    COLON,       /* after a key */
    AFTER_VALUE, /* inside a container: ',' or its end */
    DONE,        /* the text is complete; only white space may follow */
    ROW_DONE,    /* in JSON lines: a newline is expected */
    ROW_START,   /* in JSON lines: a value, a blank line or the end */
    STRING,      /* inside a string */
    ESCAPE,      /* after a backslash */
    HEX,         /* in \uXXXX */
    LITERAL,     /* in true, false or null */
    MINUS,       /* number states, named by what was read last */
    ZERO,
    INTEGER,
    POINT,
    FRACTION,
    EXPONENT,
    EXP_SIGN,
    EXP_DIGIT
};

void maki_json_scan_init(maki_json_scan *s, const maki_json_scan_options *options)
{
    memset(s, 0, sizeof *s);
    s->options = *options;
    if (s->options.max_depth == 0) s->options.max_depth = MAKI_JSON_DEPTH;
    if (s->options.max_depth > MAKI_JSON_DEPTH_MAX) s->options.max_depth = MAKI_JSON_DEPTH_MAX;
    if (s->options.report_depth > MAKI_JSON_REPORT_MAX)
        s->options.report_depth = MAKI_JSON_REPORT_MAX;
    if (!s->options.kernels) s->options.kernels = maki_text_kernels_best();
    s->state = s->options.json_lines ? ROW_START : VALUE;
}

void maki_json_scan_resume(maki_json_scan *s, const maki_json_scan_options *options, uint64_t at,
                           const char *open)
{
    maki_json_scan_init(s, options);
    s->at = at;
    for (; *open; open++, s->depth++) {
        assert(s->depth < s->options.max_depth);
        s->in_object = *open == '{';
        s->is_object[s->depth / 64] |= (uint64_t)s->in_object << (s->depth % 64);
    }
    s->state = AFTER_VALUE;
}

static maki_status fail_at(uint64_t at, const char *reason, maki_err *err)
{
    return maki_fail(err, MAKI_INVALID, "invalid JSON at byte %llu: %s", (unsigned long long)at,
                     reason);
}

static inline bool is_reported(const maki_json_scan *s, unsigned depth)
{
    return s->options.on_span && depth <= s->options.report_depth;
}

/* Is the innermost open container an object?  Cached in s->in_object. */
static inline bool inside_object(const maki_json_scan *s)
{
    unsigned level = s->depth - 1;
    return s->depth > 0 && (s->is_object[level / 64] >> (level % 64) & 1);
}

static maki_status report(maki_json_scan *s, maki_json_kind kind, uint64_t start, uint64_t end,
                          maki_err *err)
{
    unsigned depth = s->depth;
    maki_json_span span = { .kind = kind, .depth = depth, .start = start, .end = end };
    span.index = s->stack[depth].index++;
    if (s->in_object) {
        span.key_start = s->stack[depth].key_start;
        span.key_end = s->stack[depth].key_end;
    }
    return s->options.on_span(s->options.ctx, &span, err);
}

/* The value [start, end) at the current depth is complete. */
static inline maki_status end_value(maki_json_scan *s, maki_json_kind kind, uint64_t start,
                                    uint64_t end, maki_err *err)
{
    s->state = s->depth > 0 ? AFTER_VALUE : s->options.json_lines ? ROW_DONE : DONE;
    return is_reported(s, s->depth) ? report(s, kind, start, end, err) : MAKI_OK;
}

static maki_status begin_container(maki_json_scan *s, bool object, uint64_t at, maki_err *err)
{
    if (s->depth >= s->options.max_depth) {
        return maki_fail(err, MAKI_TOOBIG, "JSON nested deeper than %u levels at byte %llu",
                         s->options.max_depth, (unsigned long long)at);
    }
    if (is_reported(s, s->depth)) s->stack[s->depth].start = at;
    uint64_t bit = (uint64_t)1 << (s->depth % 64);
    uint64_t *word = &s->is_object[s->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    s->depth++;
    s->in_object = object;
    if (is_reported(s, s->depth)) s->stack[s->depth].index = 0;
    s->state = object ? FIRST_KEY : FIRST_ITEM;
    return MAKI_OK;
}

static maki_status end_container(maki_json_scan *s, bool object, uint64_t at, maki_err *err)
{
    if (s->in_object != object) {
        return fail_at(at, object ? "'}' inside an array" : "']' inside an object", err);
    }
    assert(s->depth > 0); /* true in every state that leads here */
    s->depth--;
    s->in_object = inside_object(s);
    uint64_t start = is_reported(s, s->depth) ? s->stack[s->depth].start : 0;
    return end_value(s, object ? MAKI_JSON_OBJECT : MAKI_JSON_ARRAY, start, at + 1, err);
}

static maki_status begin_value(maki_json_scan *s, char c, uint64_t at, maki_err *err)
{
    s->token_start = at;
    s->matched = 1;
    switch (c) {
    case '{': return begin_container(s, true, at, err);
    case '[': return begin_container(s, false, at, err);
    case '"':
        s->in_key = false;
        s->state = STRING;
        return MAKI_OK;
    case 't': s->literal = "true"; break;
    case 'f': s->literal = "false"; break;
    case 'n': s->literal = "null"; break;
    case '-': s->state = MINUS; return MAKI_OK;
    case '0': s->state = ZERO; return MAKI_OK;
    default:
        if (c >= '1' && c <= '9') {
            s->state = INTEGER;
            return MAKI_OK;
        }
        return fail_at(at, "expected a value", err);
    }
    s->state = LITERAL;
    return MAKI_OK;
}

static inline void end_key(maki_json_scan *s, uint64_t end)
{
    if (is_reported(s, s->depth)) {
        s->stack[s->depth].key_start = s->token_start;
        s->stack[s->depth].key_end = end;
    }
    s->state = COLON;
}

static void begin_key(maki_json_scan *s, uint64_t at)
{
    s->token_start = at;
    s->in_key = true;
    s->state = STRING;
}

/* Scan the first byte of a token. */
static maki_status scan_token(maki_json_scan *s, char c, uint64_t at, maki_err *err)
{
    switch ((enum state)s->state) {
    case FIRST_ITEM:
        if (c == ']') return end_container(s, false, at, err);
        return begin_value(s, c, at, err);
    case FIRST_KEY:
        if (c == '}') return end_container(s, true, at, err);
        if (c == '"') return begin_key(s, at), MAKI_OK;
        return fail_at(at, "expected a key in quotes or '}'", err);
    case KEY:
        if (c == '"') return begin_key(s, at), MAKI_OK;
        return fail_at(at, "expected a key in quotes", err);
    case COLON:
        if (c != ':') return fail_at(at, "expected ':' after a key", err);
        s->state = VALUE;
        return MAKI_OK;
    case AFTER_VALUE:
        if (c == ',') {
            s->state = s->in_object ? KEY : VALUE;
            return MAKI_OK;
        }
        if (c == '}') return end_container(s, true, at, err);
        if (c == ']') return end_container(s, false, at, err);
        return fail_at(at, "expected ',' or the end of the container", err);
    case DONE: return fail_at(at, "unexpected bytes after the value", err);
    case ROW_DONE: return fail_at(at, "expected a newline after the value", err);
    default: return begin_value(s, c, at, err);
    }
}

/* The state after `c`, or DONE when c is not part of the number. */
static enum state number_step(enum state state, char c)
{
    bool digit = maki_is_digit(c);
    switch (state) {
    case MINUS: return c == '0' ? ZERO : digit ? INTEGER : DONE;
    case ZERO: return c == '.' ? POINT : c == 'e' || c == 'E' ? EXPONENT : DONE;
    case INTEGER:
        return digit ? INTEGER : c == '.' ? POINT : c == 'e' || c == 'E' ? EXPONENT : DONE;
    case POINT: return digit ? FRACTION : DONE;
    case FRACTION: return digit ? FRACTION : c == 'e' || c == 'E' ? EXPONENT : DONE;
    case EXPONENT: return digit ? EXP_DIGIT : c == '+' || c == '-' ? EXP_SIGN : DONE;
    case EXP_SIGN: return digit ? EXP_DIGIT : DONE;
    case EXP_DIGIT: return digit ? EXP_DIGIT : DONE;
    default: return DONE;
    }
}

static inline bool number_may_end(enum state state)
{
    return state == ZERO || state == INTEGER || state == FRACTION || state == EXP_DIGIT;
}

static maki_status end_number(maki_json_scan *s, uint64_t at, maki_err *err)
{
    if (!number_may_end(s->state)) return fail_at(at, "a digit is missing in this number", err);
    return end_value(s, MAKI_JSON_NUMBER, s->token_start, at, err);
}

/* Continue a number at p: returns how many of n bytes are part of it.  The byte after it is left to the caller. */
static size_t scan_number(maki_json_scan *s, const char *p, size_t n, uint64_t at, maki_status *st,
                          maki_err *err)
{
    enum state state = s->state;
    for (size_t i = 0; i < n; i++) {
        if (state == INTEGER && maki_is_digit(p[i])) continue;
        enum state next = number_step(state, p[i]);
        if (next == DONE) {
            s->state = state;
            *st = end_number(s, at + i, err);
            return i;
        }
        state = next;
    }
    s->state = state;
    return n;
}

/* skip_string stopped at p[0]: at the end of the string, an escape or an error.  Returns how many of n bytes were scanned.
 * :" and ,", which follow in compact JSON, are scanned here too: one at a time they would cost more than most strings. */
static inline size_t leave_string(maki_json_scan *s, const char *p, size_t n, uint64_t at,
                                  maki_status *st, maki_err *err)
{
    if (p[0] == '\\') {
        s->state = ESCAPE;
        return 1;
    }
    if (p[0] != '"') {
        *st = fail_at(at, "a control character must be escaped inside a string", err);
        return 1;
    }
    if (s->in_key) {
        end_key(s, at + 1);
        if (n < 3 || p[1] != ':') return 1;
        s->state = VALUE;
        if (p[2] != '"') return 2;
    } else {
        *st = end_value(s, MAKI_JSON_STRING, s->token_start, at + 1, err);
        if (*st != MAKI_OK || !s->in_object || n < 3 || p[1] != ',' || p[2] != '"') return 1;
    }
    s->in_key = !s->in_key;
    s->token_start = at + 2;
    s->state = STRING;
    return 3;
}

static maki_status scan_escape(maki_json_scan *s, char c, uint64_t at, maki_err *err)
{
    if (c == 'u') {
        s->state = HEX;
        s->matched = 0;
        return MAKI_OK;
    }
    if (c == '\0' || !strchr("\"\\/bfnrt", c)) return fail_at(at, "invalid escape", err);
    s->state = STRING;
    return MAKI_OK;
}

static maki_status scan_hex(maki_json_scan *s, char c, uint64_t at, maki_err *err)
{
    if (!maki_is_hex(c)) return fail_at(at, "\\u needs four hexadecimal digits", err);
    if (++s->matched == 4) s->state = STRING;
    return MAKI_OK;
}

/* Continue a literal at p: returns how many of n bytes are part of it. */
static size_t scan_literal(maki_json_scan *s, const char *p, size_t n, uint64_t at, maki_status *st,
                           maki_err *err)
{
    size_t i = 0;
    while (i < n && p[i] == s->literal[s->matched]) {
        i++;
        if (s->literal[++s->matched] != '\0') continue;
        maki_json_kind kind = s->literal[0] == 'n' ? MAKI_JSON_NULL : MAKI_JSON_BOOL;
        *st = end_value(s, kind, s->token_start, at + i, err);
        return i;
    }
    if (i < n) *st = fail_at(at + i, "expected true, false or null", err);
    return i;
}

/* White space between tokens. */
static maki_status scan_space(maki_json_scan *s, char c, uint64_t at, maki_err *err)
{
    if (c == '\n' && s->state == ROW_DONE) {
        s->state = ROW_START;
    } else if (c == '\n' && s->options.json_lines && s->depth > 0) {
        return fail_at(at, "a row may not contain a newline", err);
    }
    return MAKI_OK;
}

/* Scan bytes that are valid UTF-8. */
static maki_status scan_valid(maki_json_scan *s, const char *p, size_t n, maki_err *err)
{
    const maki_text_kernels *kernels = s->options.kernels;
    maki_status st = MAKI_OK;
    size_t i = 0;
    while (i < n && st == MAKI_OK) {
        if (s->state == STRING) {
            i += kernels->skip_string(p + i, n - i);
            if (i < n) i += leave_string(s, p + i, n - i, s->at + i, &st, err);
            continue;
        }
        char c = p[i];
        uint64_t at = s->at + i;
        if (s->state < STRING) {
            st = maki_is_space(c) ? scan_space(s, c, at, err) : scan_token(s, c, at, err);
        } else if (s->state == ESCAPE) {
            st = scan_escape(s, c, at, err);
        } else if (s->state == HEX) {
            st = scan_hex(s, c, at, err);
        } else if (s->state == LITERAL) {
            i += scan_literal(s, p + i, n - i, at, &st, err);
            continue;
        } else {
            i += scan_number(s, p + i, n - i, at, &st, err);
            continue;
        }
        i++;
    }
    s->at += i;
    return st;
}

/* Complete a character that was split after the last chunk.  Returns how many bytes of `chunk` were consumed. */
static size_t finish_pending(maki_json_scan *s, maki_str chunk, maki_status *st, maki_err *err)
{
    unsigned char lead = s->pending[0];
    unsigned char_len = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    size_t consumed = 0;
    while (s->pending_len < char_len && consumed < chunk.len) {
        s->pending[s->pending_len++] = (unsigned char)chunk.ptr[consumed++];
        maki_str prefix = { (const char *)s->pending, s->pending_len };
        if (s->pending_len < char_len && maki_utf8_incomplete(prefix) < s->pending_len) {
            *st = fail_at(s->at, "invalid UTF-8", err); /* no more bytes can make it valid */
            return consumed;
        }
    }
    if (s->pending_len < char_len) return consumed;
    maki_str complete = { (const char *)s->pending, char_len };
    s->pending_len = 0;
    if (!maki_utf8_valid(complete, NULL)) {
        *st = fail_at(s->at, "invalid UTF-8", err);
    } else {
        *st = scan_valid(s, complete.ptr, complete.len, err);
    }
    return consumed;
}

maki_status maki_json_scan_push(maki_json_scan *s, maki_str chunk, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (chunk.len == 0) return MAKI_OK; /* its pointer may be NULL */
    if (s->pending_len > 0) {
        chunk = maki_str_skip(chunk, finish_pending(s, chunk, &st, err));
        if (st != MAKI_OK || s->pending_len > 0) return st;
    }
    size_t incomplete = maki_utf8_incomplete(chunk);
    size_t complete = chunk.len - incomplete;
    size_t valid = s->options.kernels->utf8_valid_len(chunk.ptr, complete);

    st = scan_valid(s, chunk.ptr, valid, err);
    if (st != MAKI_OK) return st;
    if (valid < complete) return fail_at(s->at, "invalid UTF-8", err);
    memcpy(s->pending, chunk.ptr + complete, incomplete);
    s->pending_len = (unsigned)incomplete;
    return MAKI_OK;
}

maki_status maki_json_scan_end(maki_json_scan *s, maki_err *err)
{
    if (s->pending_len > 0)
        return fail_at(s->at, "the text ends with an incomplete character", err);
    if (s->state >= MINUS) {
        maki_status st = end_number(s, s->at, err);
        if (st != MAKI_OK) return st;
    }
    if (s->state == DONE || s->state == ROW_DONE || s->state == ROW_START) return MAKI_OK;
    if (s->state == VALUE && s->depth == 0) return fail_at(s->at, "the text is empty", err);
    return fail_at(s->at, "unexpected end of the text", err);
}

maki_status maki_json_scan_text(maki_str text, const maki_json_scan_options *options, maki_err *err)
{
    maki_json_scan scan;
    maki_json_scan_init(&scan, options);
    maki_status st = maki_json_scan_push(&scan, text, err);
    if (st == MAKI_OK) st = maki_json_scan_end(&scan, err);
    return st;
}
