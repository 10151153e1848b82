/* token_reference.c -- see token_reference.h.
 *
 * A byte that is not part of a well-formed character is a character of its own, of class REST. */
#include "token_reference.h"

#include <stdlib.h>
#include <string.h>

typedef enum unit_class { REST, UPPER, LOWER, OTHER_LETTER, MARK, NUMBER, SPACE } unit_class;

/* One character, or one byte that is none (code 0x110000). */
typedef struct unit {
    uint32_t code;
    unit_class class;
    size_t at; /* byte offset */
} unit;

enum { NO_CHARACTER = 0x110000 };

static void *must(void *memory)
{
    if (!memory) abort();
    return memory;
}

/* ---- characters ---------------------------------------------------------------------------- */

static unit_class class_of(uint32_t code)
{
    static const struct {
        unit_class class;
        uint32_t from, to;
    } rows[] = {
#include "token_classes.h"
    };
    static unsigned char classes[NO_CHARACTER + 1], ready;
    if (!ready) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            for (uint32_t c = rows[i].from; c <= rows[i].to; c++)
                classes[c] = (unsigned char)rows[i].class;
        }
        ready = 1;
    }
    return (unit_class)classes[code];
}

/* The bytes of the well-formed character at the start of `text`, or 0. */
static size_t character(maki_str text, uint32_t *code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    unsigned char lead = (unsigned char)text.ptr[0];
    size_t len = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (len == 0 || len > text.len || lead >= 0xf8) return 0;
    *code = len == 1 ? lead : lead & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if ((byte & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (byte & 0x3fu);
    }
    bool surrogate = *code >= 0xd800 && *code < 0xe000;
    return *code < least[len] || *code >= NO_CHARACTER || surrogate ? 0 : len;
}

/* One more unit than there are characters: the last stands for the end. */
static unit *units_of(maki_str text, size_t *count)
{
    unit *units = must(malloc((text.len + 1) * sizeof *units));
    size_t n = 0, at = 0;
    while (at < text.len) {
        uint32_t code = NO_CHARACTER;
        size_t len = character((maki_str){ text.ptr + at, text.len - at }, &code);
        if (len == 0) code = NO_CHARACTER;
        units[n++] = (unit){ code, class_of(code), at };
        at += len ? len : 1;
    }
    units[n] = (unit){ NO_CHARACTER, REST, text.len };
    *count = n;
    return units;
}

/* ---- the expressions ----------------------------------------------------------------------- */

static bool is_newline(const unit *u)
{
    return u->code == '\r' || u->code == '\n';
}

static bool is_letter(const unit *u)
{
    return u->class == UPPER || u->class == LOWER || u->class == OTHER_LETTER;
}

static bool is_number(const unit *u)
{
    return u->class == NUMBER;
}

static bool is_space(const unit *u)
{
    return u->class == SPACE;
}

static bool is_blank(const unit *u)
{
    return u->code == ' ';
}

static bool is_not_newline_letter_number(const unit *u)
{
    return !is_newline(u) && !is_letter(u) && !is_number(u);
}

static bool is_not_space_letter_number(const unit *u)
{
    return !is_space(u) && !is_letter(u) && !is_number(u);
}

static bool is_upper_or_other(const unit *u) /* [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}] */
{
    return u->class == UPPER || u->class == OTHER_LETTER || u->class == MARK;
}

static bool is_lower_or_other(const unit *u) /* [\p{Ll}\p{Lm}\p{Lo}\p{M}] */
{
    return u->class == LOWER || u->class == OTHER_LETTER || u->class == MARK;
}

static bool is_newline_or_slash(const unit *u)
{
    return is_newline(u) || u->code == '/';
}

enum { ANY = 1 << 30, PARTS_MAX = 5, ALTERNATIVES_MAX = 8 };

/* A set of characters so many times, or one of the other two. */
typedef struct part {
    enum { END, SET, CONTRACTION, ANY_CASE_CONTRACTION, NOT_BEFORE_NON_SPACE } kind;
    bool (*is)(const unit *u);
    size_t least, most; /* of a contraction: 0 or 1 */
} part;

typedef part expression[ALTERNATIVES_MAX][PARTS_MAX];

/* clang-format off */
static const expression o200k = {
    { { SET, is_not_newline_letter_number, 0, 1 }, { SET, is_upper_or_other, 0, ANY },
      { SET, is_lower_or_other, 1, ANY }, { ANY_CASE_CONTRACTION, NULL, 0, 1 } },
    { { SET, is_not_newline_letter_number, 0, 1 }, { SET, is_upper_or_other, 1, ANY },
      { SET, is_lower_or_other, 0, ANY }, { ANY_CASE_CONTRACTION, NULL, 0, 1 } },
    { { SET, is_number, 1, 3 } },
    { { SET, is_blank, 0, 1 }, { SET, is_not_space_letter_number, 1, ANY },
      { SET, is_newline_or_slash, 0, ANY } },
    { { SET, is_space, 0, ANY }, { SET, is_newline, 1, ANY } },
    { { SET, is_space, 1, ANY }, { NOT_BEFORE_NON_SPACE, NULL, 1, 1 } },
    { { SET, is_space, 1, ANY } },
};

static const expression cl100k = {
    { { ANY_CASE_CONTRACTION, NULL, 1, 1 } },
    { { SET, is_not_newline_letter_number, 0, 1 }, { SET, is_letter, 1, ANY } },
    { { SET, is_number, 1, 3 } },
    { { SET, is_blank, 0, 1 }, { SET, is_not_space_letter_number, 1, ANY },
      { SET, is_newline, 0, ANY } },
    { { SET, is_space, 0, ANY }, { SET, is_newline, 1, ANY } },
    { { SET, is_space, 1, ANY }, { NOT_BEFORE_NON_SPACE, NULL, 1, 1 } },
    { { SET, is_space, 1, ANY } },
};

static const expression claude = {
    { { CONTRACTION, NULL, 1, 1 } },
    { { SET, is_blank, 0, 1 }, { SET, is_letter, 1, ANY } },
    { { SET, is_blank, 0, 1 }, { SET, is_number, 1, ANY } },
    { { SET, is_blank, 0, 1 }, { SET, is_not_space_letter_number, 1, ANY } },
    { { SET, is_space, 1, ANY }, { NOT_BEFORE_NON_SPACE, NULL, 1, 1 } },
    { { SET, is_space, 1, ANY } },
};
/* clang-format on */

static bool same_letter(uint32_t code, char letter, bool any_case)
{
    if (code == (uint32_t)letter) return true;
    if (!any_case) return false;
    return code == (uint32_t)letter - 'a' + 'A' || (letter == 's' && code == 0x17f);
}

/* 's|'t|'re|'ve|'m|'ll|'d: how many characters, or 0. */
static size_t contraction(const unit *u, size_t left, bool any_case)
{
    static const char *const words[] = { "s", "t", "re", "ve", "m", "ll", "d" };
    if (left == 0 || u->code != '\'') return 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i]), n = 0;
        while (n < len && 1 + n < left && same_letter(u[1 + n].code, words[i][n], any_case))
            n++;
        if (n == len) return 1 + len;
    }
    return 0;
}

/* The parts from here on at the beginning of u: the characters matched, or NO_MATCH. */
#define NO_MATCH SIZE_MAX
static size_t match(const part *p, const unit *u, size_t left)
{
    size_t most = 0, rest;
    switch (p->kind) {
    case END: return 0;
    case SET:
        while (most < p->most && most < left && p->is(u + most))
            most++;
        for (size_t n = most + 1; n-- > p->least;) { /* greedy: gives back one by one */
            if ((rest = match(p + 1, u + n, left - n)) != NO_MATCH) return n + rest;
        }
        return NO_MATCH;
    case CONTRACTION:
    case ANY_CASE_CONTRACTION:
        most = contraction(u, left, p->kind == ANY_CASE_CONTRACTION);
        if (most > 0 && (rest = match(p + 1, u + most, left - most)) != NO_MATCH)
            return most + rest;
        return p->least == 0 ? match(p + 1, u, left) : NO_MATCH;
    case NOT_BEFORE_NON_SPACE: return left == 0 || is_space(u) ? match(p + 1, u, left) : NO_MATCH;
    }
    abort();
}

static size_t first_match(const expression *e, const unit *u, size_t left)
{
    for (size_t i = 0; i < ALTERNATIVES_MAX && (*e)[i][0].kind != END; i++) {
        size_t n = match((*e)[i], u, left);
        if (n != NO_MATCH && n > 0) return n;
    }
    abort(); /* each of the three matches any character */
}

/* ---- the encoding   ------------------------------------------------------------------------ */

enum { NO_ID = UINT32_MAX };

struct token_reference {
    const maki_encoding *encoding;
    const expression *expression;
    uint32_t *slots; /* ids by a hash of their bytes, or NO_ID */
    size_t mask;
};

/* Which tokens are special, and what the expression is, is not in the interface. */
static const struct known {
    const char *name;
    const expression *expression;
    uint32_t first, end; /* ids that text is merged to */
} known[] = {
    { "o200k_base", &o200k, 0, 199998 },
    { "cl100k_base", &cl100k, 0, 100256 },
    { "claude", &claude, 5, 65000 },
};

static size_t hash(maki_str bytes)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < bytes.len; i++)
        h = (h ^ (unsigned char)bytes.ptr[i]) * 1099511628211u;
    return (size_t)(h ^ h >> 29);
}

/* The slot of these bytes, or the free one where they belong. */
static uint32_t *slot_of(const token_reference *r, maki_str bytes)
{
    for (size_t i = hash(bytes);; i++) {
        uint32_t *slot = r->slots + (i & r->mask);
        if (*slot == NO_ID) return slot;
        maki_str token = maki_encoding_token(r->encoding, *slot);
        if (token.len == bytes.len && memcmp(token.ptr, bytes.ptr, bytes.len) == 0) return slot;
    }
}

token_reference *token_reference_open(const maki_encoding *encoding)
{
    token_reference *r = must(calloc(1, sizeof *r));
    const struct known *k = known;
    while (strcmp(k->name, maki_encoding_name(encoding)) != 0)
        k++;
    r->encoding = encoding;
    r->expression = k->expression;
    r->mask = (1 << 19) - 1;
    r->slots = must(malloc((r->mask + 1) * sizeof *r->slots));
    memset(r->slots, 0xff, (r->mask + 1) * sizeof *r->slots);
    for (uint32_t id = k->first; id < k->end && id < maki_encoding_size(encoding); id++) {
        maki_str token = maki_encoding_token(encoding, id);
        if (token.len) *slot_of(r, token) = id;
    }
    return r;
}

void token_reference_close(token_reference *r)
{
    if (r) free(r->slots);
    free(r);
}

/* ---- merging ------------------------------------------------------------------------------- */

/* Parts of a piece: where each begins, and the id of it together with the next. */
typedef struct merging {
    size_t *starts; /* one more than there are parts: the end */
    uint32_t *joined;
    size_t parts;
} merging;

static uint32_t id_of(const token_reference *r, maki_str piece, const merging *m, size_t at,
                      size_t parts)
{
    if (at + parts > m->parts) return NO_ID;
    size_t from = m->starts[at], end = m->starts[at + parts];
    return *slot_of(r, (maki_str){ piece.ptr + from, end - from });
}

static void join(const token_reference *r, maki_str piece, merging *m, size_t at)
{
    size_t after = m->parts - at - 1;
    memmove(m->starts + at + 1, m->starts + at + 2, after * sizeof *m->starts);
    memmove(m->joined + at, m->joined + at + 1, after * sizeof *m->joined);
    m->parts--;
    m->joined[at] = id_of(r, piece, m, at, 2);
    if (at > 0) m->joined[at - 1] = id_of(r, piece, m, at - 1, 2);
}

/* The pair whose id is lowest, the leftmost of several. */
static size_t best_pair(const merging *m)
{
    size_t best = 0;
    for (size_t i = 1; i < m->parts; i++) {
        if (m->joined[i] < m->joined[best]) best = i;
    }
    return best;
}

void token_reference_merge(const token_reference *r, maki_str piece, maki_ids_fn fn, void *ctx)
{
    merging m = { must(malloc((piece.len + 1) * sizeof *m.starts)),
                  must(malloc((piece.len + 1) * sizeof *m.joined)), piece.len };
    for (size_t i = 0; i <= piece.len; i++)
        m.starts[i] = i;
    for (size_t i = 0; i < piece.len; i++)
        m.joined[i] = id_of(r, piece, &m, i, 2);
    if (*slot_of(r, piece) != NO_ID) { /* as the official one does: no merging then */
        m.parts = 1;
        m.starts[1] = piece.len;
        m.joined[0] = NO_ID;
    }
    for (size_t best; m.joined[best = best_pair(&m)] != NO_ID;)
        join(r, piece, &m, best);
    uint32_t *ids = must(malloc(m.parts * sizeof *ids));
    for (size_t i = 0; i < m.parts; i++)
        ids[i] = id_of(r, piece, &m, i, 1);
    if (fn(ctx, ids, m.parts, NULL) != MAKI_OK) abort();
    free(ids);
    free(m.starts);
    free(m.joined);
}

void token_reference_encode(const token_reference *r, maki_str text, maki_ids_fn fn, void *ctx)
{
    size_t count;
    unit *units = units_of(text, &count);
    for (size_t at = 0; at < count;) {
        size_t n = first_match(r->expression, units + at, count - at);
        size_t from = units[at].at, end = units[at + n].at;
        token_reference_merge(r, (maki_str){ text.ptr + from, end - from }, fn, ctx);
        at += n;
    }
    free(units);
}
