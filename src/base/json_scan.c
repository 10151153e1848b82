/* json_scan.c -- a state machine that can stop between any two bytes.
 *
 * The bytes of a piece are first checked to be UTF-8, then walked.  The kernel skip_string passes over
 * strings, escapes and all, which is where the speed comes from: most of a chat log is string content.
 * A position in an error is the byte at which the text can no longer become right. */
#include "base/json_scan.h"
#include "base/ascii.h"

#include <assert.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"

enum state {
    VALUE,       /* a value must come */
    FIRST_ITEM,  /* after '[': a value or ']' */
    FIRST_KEY,   /* after '{': a key or '}' */
    KEY,         /* after ',' in an object */
    COLON,       /* after a key */
    AFTER_VALUE, /* inside a container: ',' or its end */
    DONE,        /* the text is complete; only white space may follow */
    ROW_DONE,    /* in a sequence: a newline must come */
    ROW_START,   /* in a sequence: a value, a blank line or the end */
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
    if (s->options.report_depth > MAKI_JSON_REPORT_MAX) {
        s->options.report_depth = MAKI_JSON_REPORT_MAX;
    }
    if (!s->options.kernels) s->options.kernels = maki_text_kernels_best();
    s->state = s->options.sequence ? ROW_START : VALUE;
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

static maki_status wrong(uint64_t at, const char *why, maki_err *err)
{
    return maki_fail(err, MAKI_INVALID, "not JSON at byte %llu: %s", (unsigned long long)at, why);
}

static inline bool reported(const maki_json_scan *s, unsigned depth)
{
    return s->options.on_span && depth <= s->options.report_depth;
}

/* Is the innermost open container an object?  Kept at hand in s->in_object. */
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
    span.index = s->open[depth].index++;
    if (s->in_object) {
        span.key_start = s->open[depth].key_start;
        span.key_end = s->open[depth].key_end;
    }
    return s->options.on_span(s->options.ctx, &span, err);
}

/* A value that began at `start` at the present depth is complete, `end` being one past it. */
static inline maki_status value_ends(maki_json_scan *s, maki_json_kind kind, uint64_t start,
                                     uint64_t end, maki_err *err)
{
    s->state = s->depth > 0 ? AFTER_VALUE : s->options.sequence ? ROW_DONE : DONE;
    return reported(s, s->depth) ? report(s, kind, start, end, err) : MAKI_OK;
}

static maki_status container_begins(maki_json_scan *s, bool object, uint64_t at, maki_err *err)
{
    if (s->depth >= s->options.max_depth) {
        return maki_fail(err, MAKI_TOOBIG, "JSON nested deeper than %u levels at byte %llu",
                         s->options.max_depth, (unsigned long long)at);
    }
    if (reported(s, s->depth)) s->open[s->depth].start = at;
    uint64_t bit = (uint64_t)1 << (s->depth % 64);
    if (object) {
        s->is_object[s->depth / 64] |= bit;
    } else {
        s->is_object[s->depth / 64] &= ~bit;
    }
    s->depth++;
    s->in_object = object;
    if (reported(s, s->depth)) s->open[s->depth].index = 0;
    s->state = object ? FIRST_KEY : FIRST_ITEM;
    return MAKI_OK;
}

static maki_status container_ends(maki_json_scan *s, bool object, uint64_t at, maki_err *err)
{
    if (s->in_object != object) {
        return wrong(at, object ? "'}' inside an array" : "']' inside an object", err);
    }
    assert(s->depth > 0); /* only inside a container can its end come */
    s->depth--;
    s->in_object = inside_object(s);
    uint64_t start = reported(s, s->depth) ? s->open[s->depth].start : 0;
    return value_ends(s, object ? MAKI_JSON_OBJECT : MAKI_JSON_ARRAY, start, at + 1, err);
}

static maki_status value_begins(maki_json_scan *s, char c, uint64_t at, maki_err *err)
{
    s->token_start = at;
    s->literal_at = 1;
    switch (c) {
    case '{': return container_begins(s, true, at, err);
    case '[': return container_begins(s, false, at, err);
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
        return wrong(at, "a value must begin here", err);
    }
    s->state = LITERAL;
    return MAKI_OK;
}

static inline void key_ends(maki_json_scan *s, uint64_t end)
{
    if (reported(s, s->depth)) {
        s->open[s->depth].key_start = s->token_start;
        s->open[s->depth].key_end = end;
    }
    s->state = COLON;
}

static void key_begins(maki_json_scan *s, uint64_t at)
{
    s->token_start = at;
    s->in_key = true;
    s->state = STRING;
}

/* One byte that stands between tokens. */
static maki_status between(maki_json_scan *s, char c, uint64_t at, maki_err *err)
{
    switch ((enum state)s->state) {
    case FIRST_ITEM:
        if (c == ']') return container_ends(s, false, at, err);
        return value_begins(s, c, at, err);
    case FIRST_KEY:
        if (c == '}') return container_ends(s, true, at, err);
        if (c == '"') return key_begins(s, at), MAKI_OK;
        return wrong(at, "a key in quotes or '}' must stand here", err);
    case KEY:
        if (c == '"') return key_begins(s, at), MAKI_OK;
        return wrong(at, "a key in quotes must stand here", err);
    case COLON:
        if (c != ':') return wrong(at, "':' must follow a key", err);
        s->state = VALUE;
        return MAKI_OK;
    case AFTER_VALUE:
        if (c == ',') {
            s->state = s->in_object ? KEY : VALUE;
            return MAKI_OK;
        }
        if (c == '}') return container_ends(s, true, at, err);
        if (c == ']') return container_ends(s, false, at, err);
        return wrong(at, "',' or the end of the container must follow a value", err);
    case DONE: return wrong(at, "something follows the end of the value", err);
    case ROW_DONE: return wrong(at, "a newline must follow each value", err);
    default: return value_begins(s, c, at, err);
    }
}

/* The number state after `c`, or DONE when c does not belong to the number. */
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

static maki_status number_ends(maki_json_scan *s, uint64_t at, maki_err *err)
{
    if (!number_may_end(s->state)) return wrong(at, "a digit is missing in this number", err);
    return value_ends(s, MAKI_JSON_NUMBER, s->token_start, at, err);
}

/* Inside a number, from p: returns how many bytes belong to it, of n.  The byte after it is looked at
 * again. */
static size_t in_number(maki_json_scan *s, const char *p, size_t n, uint64_t at, maki_status *st,
                        maki_err *err)
{
    enum state state = s->state;
    for (size_t i = 0; i < n; i++) {
        if (state == INTEGER && maki_is_digit(p[i])) continue;
        enum state next = number_step(state, p[i]);
        if (next == DONE) {
            s->state = state;
            *st = number_ends(s, at + i, err);
            return i;
        }
        state = next;
    }
    s->state = state;
    return n;
}

/* A string has stopped at p[0]: at its end or at something to be looked at.  Returns how many bytes
 * were taken, of n.  What follows the end in compact JSON, :" and ,", is taken along: the walk would
 * do the same with them one at a time, which costs more than most strings do. */
static inline size_t string_stops(maki_json_scan *s, const char *p, size_t n, uint64_t at,
                                  maki_status *st, maki_err *err)
{
    if (p[0] == '\\') {
        s->state = ESCAPE;
        return 1;
    }
    if (p[0] != '"') {
        *st = wrong(at, "a control character must be escaped inside a string", err);
        return 1;
    }
    if (s->in_key) {
        key_ends(s, at + 1);
        if (n < 3 || p[1] != ':') return 1;
        s->state = VALUE;
        if (p[2] != '"') return 2;
    } else {
        *st = value_ends(s, MAKI_JSON_STRING, s->token_start, at + 1, err);
        if (*st != MAKI_OK || !s->in_object || n < 3 || p[1] != ',' || p[2] != '"') return 1;
    }
    s->in_key = !s->in_key;
    s->token_start = at + 2;
    s->state = STRING;
    return 3;
}

static maki_status in_escape(maki_json_scan *s, char c, uint64_t at, maki_err *err)
{
    if (c == 'u') {
        s->state = HEX;
        s->literal_at = 0;
        return MAKI_OK;
    }
    if (c == '\0' || !strchr("\"\\/bfnrt", c)) return wrong(at, "no such escape", err);
    s->state = STRING;
    return MAKI_OK;
}

static maki_status in_hex(maki_json_scan *s, char c, uint64_t at, maki_err *err)
{
    if (!maki_is_hex(c)) return wrong(at, "\\u needs four hexadecimal digits", err);
    if (++s->literal_at == 4) s->state = STRING;
    return MAKI_OK;
}

/* Inside a literal, from p: returns how many bytes were taken, of n. */
static size_t in_literal(maki_json_scan *s, const char *p, size_t n, uint64_t at, maki_status *st,
                         maki_err *err)
{
    size_t i = 0;
    while (i < n && p[i] == s->literal[s->literal_at]) {
        i++;
        if (s->literal[++s->literal_at] != '\0') continue;
        maki_json_kind kind = s->literal[0] == 'n' ? MAKI_JSON_NULL : MAKI_JSON_BOOL;
        *st = value_ends(s, kind, s->token_start, at + i, err);
        return i;
    }
    if (i < n) *st = wrong(at + i, "only true, false or null fit here", err);
    return i;
}

/* White space between tokens. */
static maki_status in_space(maki_json_scan *s, char c, uint64_t at, maki_err *err)
{
    if (c == '\n' && s->state == ROW_DONE) {
        s->state = ROW_START;
    } else if (c == '\n' && s->options.sequence && s->depth > 0) {
        return wrong(at, "a row may not contain a newline", err);
    }
    return MAKI_OK;
}

/* Walk valid UTF-8 bytes. */
static maki_status walk(maki_json_scan *s, const char *p, size_t n, maki_err *err)
{
    const maki_text_kernels *kernels = s->options.kernels;
    maki_status st = MAKI_OK;
    size_t i = 0;
    while (i < n && st == MAKI_OK) {
        if (s->state == STRING) {
            i += kernels->skip_string(p + i, n - i);
            if (i < n) i += string_stops(s, p + i, n - i, s->at + i, &st, err);
            continue;
        }
        char c = p[i];
        uint64_t at = s->at + i;
        if (s->state < STRING) {
            st = maki_is_space(c) ? in_space(s, c, at, err) : between(s, c, at, err);
        } else if (s->state == ESCAPE) {
            st = in_escape(s, c, at, err);
        } else if (s->state == HEX) {
            st = in_hex(s, c, at, err);
        } else if (s->state == LITERAL) {
            i += in_literal(s, p + i, n - i, at, &st, err);
            continue;
        } else {
            i += in_number(s, p + i, n - i, at, &st, err);
            continue;
        }
        i++;
    }
    s->at += i;
    return st;
}

/* A character cut by the end of the last piece: finish it.  Returns the bytes taken from `piece`. */
static size_t finish_pending(maki_json_scan *s, maki_str piece, maki_status *st, maki_err *err)
{
    unsigned char lead = s->pending[0];
    unsigned need = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    size_t taken = 0;
    while (s->pending_len < need && taken < piece.len) {
        s->pending[s->pending_len++] = (unsigned char)piece.ptr[taken++];
        maki_str so_far = { (const char *)s->pending, s->pending_len };
        if (s->pending_len < need && maki_utf8_incomplete(so_far) < s->pending_len) {
            *st = wrong(s->at, "invalid UTF-8", err); /* it cannot become a character any more */
            return taken;
        }
    }
    if (s->pending_len < need) return taken;
    maki_str whole = { (const char *)s->pending, need };
    s->pending_len = 0;
    if (!maki_utf8_valid(whole, NULL)) {
        *st = wrong(s->at, "invalid UTF-8", err);
    } else {
        *st = walk(s, whole.ptr, whole.len, err);
    }
    return taken;
}

maki_status maki_json_scan_push(maki_json_scan *s, maki_str piece, maki_err *err)
{
    maki_status st = MAKI_OK;
    if (piece.len == 0) return MAKI_OK; /* it may point nowhere */
    if (s->pending_len > 0) {
        piece = maki_str_from(piece, finish_pending(s, piece, &st, err));
        if (st != MAKI_OK || s->pending_len > 0) return st;
    }
    size_t cut = maki_utf8_incomplete(piece);
    size_t whole = piece.len - cut;
    size_t good = s->options.kernels->utf8_valid_len(piece.ptr, whole);

    st = walk(s, piece.ptr, good, err);
    if (st != MAKI_OK) return st;
    if (good < whole) return wrong(s->at, "invalid UTF-8", err);
    memcpy(s->pending, piece.ptr + whole, cut);
    s->pending_len = (unsigned)cut;
    return MAKI_OK;
}

maki_status maki_json_scan_end(maki_json_scan *s, maki_err *err)
{
    if (s->pending_len > 0) return wrong(s->at, "the text ends inside a character", err);
    if (s->state >= MINUS) {
        maki_status st = number_ends(s, s->at, err);
        if (st != MAKI_OK) return st;
    }
    if (s->state == DONE || s->state == ROW_DONE || s->state == ROW_START) return MAKI_OK;
    if (s->state == VALUE && s->depth == 0) return wrong(s->at, "there is nothing here", err);
    return wrong(s->at, "the text ends too early", err);
}

maki_status maki_json_scan_text(maki_str text, const maki_json_scan_options *options, maki_err *err)
{
    maki_json_scan scan;
    maki_json_scan_init(&scan, options);
    maki_status st = maki_json_scan_push(&scan, text, err);
    if (st == MAKI_OK) st = maki_json_scan_end(&scan, err);
    return st;
}
