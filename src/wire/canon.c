/* canon.c -- see canon.h.
 *
 * What is hashed is a row of tokens: the byte FF, which is in no text, a letter, and what belongs to it.  A
 * run of texts is hashed apart and its digest added when it ends, because only then it is known whether it
 * is more than white space.  Memory: the keys of the object at hand, while they are sorted, and arguments that
 * are JSON inside a string. */
#include "wire/canon.h"

#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/json_scan.h"
#include "wire/content_part.h"

enum {
    DEPTH = 64,    /* JSON deeper than this counts by its bytes: each level is a walk over it */
    FEW_KEYS = 16, /* sorted on the stack */
    KEYS_MAX = 1 << 16,     /* objects with more are not sorted: nobody writes them anew */
    TEXT_MEMORY = 64 << 10, /* of arguments: longer ones wait in a file */
    TEXT_MAX = 64 << 20     /* longer ones are text, whatever is in them */
};

typedef struct canon {
    const maki_env *env;
    maki_err *err;
    maki_status status; /* the first failure; nothing is done after it */
    maki_sha256 all;
    maki_sha256 run; /* texts that follow each other */
    bool in_run, run_said;
    maki_str answered; /* the id of the result before */
} canon;

/* ---- tokens ------------------------------------------------------------------------------------------- */

static void end_run(canon *c)
{
    unsigned char digest[MAKI_SHA256_LEN];
    if (!c->in_run) return;
    c->in_run = false;
    maki_sha256_final(&c->run, digest);
    if (!c->run_said) return;
    maki_sha256_update(&c->all, MAKI_LIT("\xFFT"));
    maki_sha256_update(&c->all, (maki_str){ (const char *)digest, sizeof digest });
}

static void token(canon *c, char letter)
{
    const char bytes[] = { '\xFF', letter };
    end_run(c);
    maki_sha256_update(&c->all, (maki_str){ bytes, sizeof bytes });
}

static maki_status add_all(void *ctx, maki_str bytes, maki_err *err)
{
    (void)err;
    maki_sha256_update(&((canon *)ctx)->all, bytes);
    return MAKI_OK;
}

static maki_status add_run(void *ctx, maki_str bytes, maki_err *err)
{
    canon *c = ctx;
    (void)err;
    for (size_t i = 0; !c->run_said && i < bytes.len; i++)
        c->run_said = !strchr(" \t\r\n", bytes.ptr[i]) || bytes.ptr[i] == '\0';
    maki_sha256_update(&c->run, bytes);
    return MAKI_OK;
}

/* A token with a text: a JSON string, or nothing. */
static void token_text(canon *c, char letter, maki_str string)
{
    token(c, letter);
    if (maki_is_string(string))
        (void)maki_json_text_to(maki_json_inside(string), (maki_sink){ add_all, c }, c->err);
}

/* A text of the message. */
static void add_text(canon *c, maki_str string)
{
    if (c->status != MAKI_OK) return;
    if (!c->in_run) {
        maki_sha256_init(&c->run);
        c->in_run = true;
        c->run_said = false;
    }
    (void)maki_json_text_to(maki_json_inside(string), (maki_sink){ add_run, c }, c->err);
}

/* ---- JSON by value ------------------------------------------------------------------------------------ */

static void add_value(canon *c, maki_str value, unsigned depth);

typedef struct entry {
    maki_str key; /* with its quotes */
    maki_str value;
    size_t nth;
} entry;

static int compare(const entry *a, const entry *b)
{
    int order = maki_json_compare(a->key, b->key);
    return order ? order : a->nth < b->nth ? -1 : 1;
}

/* Shell's: in place, no recursion, and good enough for what people put into an object. */
static void sort(entry *entries, size_t n)
{
    for (size_t gap = n / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < n; i++) {
            entry moved = entries[i];
            size_t at = i;
            for (; at >= gap && compare(&moved, &entries[at - gap]) < 0; at -= gap)
                entries[at] = entries[at - gap];
            entries[at] = moved;
        }
    }
}

static size_t read_entries(maki_str object, entry *entries, size_t capacity)
{
    maki_json_iter iter = maki_json_items(object);
    maki_json_item item;
    size_t n = 0;
    for (; maki_json_next(&iter, &item) && n < capacity; n++)
        entries[n] = (entry){ { item.key.ptr - 1, item.key.len + 2 }, item.value, n };
    return n;
}

/* Of two with the same key the last counts, as in JavaScript. */
static void add_entries(canon *c, const entry *entries, size_t n, unsigned depth)
{
    for (size_t i = 0; i < n; i++) {
        bool again = i + 1 < n && maki_json_same_text(entries[i].key, entries[i + 1].key);
        if (again) continue;
        token_text(c, 'k', entries[i].key);
        add_value(c, entries[i].value, depth);
    }
}

static void add_object(canon *c, maki_str object, unsigned depth)
{
    const maki_alloc *alloc = c->env->alloc;
    entry few[FEW_KEYS], *entries = few;
    size_t n = maki_json_count(object), bytes = n * sizeof *entries;
    token(c, '{');
    if (n > KEYS_MAX) {
        maki_sha256_update(&c->all, object);
        return;
    }
    if (n > FEW_KEYS) entries = alloc->resize(alloc, NULL, 0, bytes);
    if (!entries) {
        c->status = maki_fail_nomem(c->err);
        return;
    }
    n = read_entries(object, entries, n);
    sort(entries, n);
    add_entries(c, entries, n, depth);
    if (entries != few) alloc->resize(alloc, entries, bytes, 0);
    token(c, '}');
}

static void add_number(canon *c, maki_str number)
{
    double value = maki_json_double(number) + 0.0; /* -0 becomes 0 */
    token(c, '#');
    maki_sha256_update(&c->all, (maki_str){ (const char *)&value, sizeof value });
}

static void add_array(canon *c, maki_str array, unsigned depth)
{
    maki_json_iter iter = maki_json_items(array);
    maki_json_item item;
    token(c, '[');
    while (c->status == MAKI_OK && maki_json_next(&iter, &item))
        add_value(c, item.value, depth);
    token(c, ']');
}

static void add_value(canon *c, maki_str value, unsigned depth)
{
    if (c->status != MAKI_OK) return;
    if (depth == DEPTH) {
        token(c, 'x');
        maki_sha256_update(&c->all, value);
        return;
    }
    switch (maki_json_kind_of(value)) {
    case MAKI_JSON_NULL: token(c, 'n'); break;
    case MAKI_JSON_BOOL: token(c, maki_json_true(value) ? 't' : 'f'); break;
    case MAKI_JSON_NUMBER: add_number(c, value); break;
    case MAKI_JSON_STRING: token_text(c, 's', value); break;
    case MAKI_JSON_ARRAY: add_array(c, value, depth + 1); break;
    case MAKI_JSON_OBJECT: add_object(c, value, depth + 1); break;
    }
}

/* What a tool is called with: a value, or a string whose text may be one. */
static void add_arguments(canon *c, maki_str arguments)
{
    static const maki_json_scan_options plain = { 0 };
    maki_str text;
    if (arguments.len == 0 || maki_is_text(arguments, MAKI_LIT(""))) arguments = MAKI_LIT("{}");
    if (!maki_is_string(arguments) || arguments.len > TEXT_MAX || c->status != MAKI_OK) {
        add_value(c, arguments, 0);
        return;
    }
    maki_spool spool = maki_spool_new(c->env, TEXT_MEMORY);
    maki_status st =
        maki_json_text_to(maki_json_inside(arguments), maki_spool_sink(&spool), c->err);
    if (st == MAKI_OK) st = maki_spool_text(&spool, &text, c->err);
    if (st != MAKI_OK)
        c->status = st;
    else if (maki_json_scan_text(text, &plain, NULL) == MAKI_OK)
        add_value(c, maki_trim_space(text), 0);
    else
        add_value(c, arguments, 0);
    maki_spool_free(&spool);
}

/* ---- messages ----------------------------------------------------------------------------------------- */

static void add_pieces(canon *c, maki_content_parts pieces, unsigned depth);

static void add_call(canon *c, maki_str id, maki_str name, maki_str arguments)
{
    token_text(c, 'C', id);
    token_text(c, 'N', name);
    add_arguments(c, arguments);
}

/* The same result twice in a row counts once: a client that resumes may repeat it. */
static void add_result(canon *c, const maki_content_part *result, unsigned depth)
{
    bool again = result->id.len && c->answered.len && maki_json_same_text(result->id, c->answered);
    if (again) return;
    token_text(c, 'A', result->id);
    if (result->error) token(c, 'E');
    if (depth < DEPTH)
        add_pieces(c, maki_content_parts_in(result->content), depth);
    else
        add_value(c, result->content, DEPTH);
    token(c, 'Z');
    c->answered = result->id;
}

/* The data, or where it is: escaped, without quotes. */
static void add_image(canon *c, maki_str where)
{
    token(c, 'P');
    (void)maki_json_text_to(where, (maki_sink){ add_all, c }, c->err);
}

/* A block of a kind we do not know: its first fields, but for those that say nothing. */
static void add_other(canon *c, maki_str block, unsigned depth)
{
    maki_json_iter iter = maki_json_items(block);
    maki_json_item item;
    entry few[FEW_KEYS];
    size_t n = 0;
    while (maki_json_next(&iter, &item) && n < FEW_KEYS) {
        if (maki_json_kind_of(item.value) == MAKI_JSON_NULL ||
            maki_among(item.key, "cache_control id status original"))
            continue;
        few[n] = (entry){ { item.key.ptr - 1, item.key.len + 2 }, item.value, n };
        n++;
    }
    token(c, 'B');
    sort(few, n);
    add_entries(c, few, n, depth);
}

static void add_piece(canon *c, const maki_content_part *piece, unsigned depth)
{
    bool document = maki_is_text(piece->type, MAKI_LIT("document"));
    if (piece->kind == MAKI_CONTENT_THINKING) return;
    if (piece->kind != MAKI_CONTENT_RESULT) c->answered = (maki_str){ "", 0 };
    if (piece->kind == MAKI_CONTENT_TEXT && !document)
        add_text(c, piece->text);
    else if (piece->kind == MAKI_CONTENT_CALL)
        add_call(c, piece->id, piece->name, piece->input);
    else if (piece->kind == MAKI_CONTENT_RESULT)
        add_result(c, piece, depth);
    else if (piece->kind == MAKI_CONTENT_IMAGE)
        add_image(c, piece->media.data.len ? piece->media.data : piece->media.url);
    else
        add_other(c, piece->block, depth);
}

static void add_pieces(canon *c, maki_content_parts pieces, unsigned depth)
{
    maki_content_part piece;
    while (c->status == MAKI_OK && maki_content_parts_next(&pieces, &piece))
        add_piece(c, &piece, depth + 1);
}

static void add_role(canon *c, maki_str role)
{
    static const struct role_row {
        maki_str other, role;
    } rows[] = { { { "developer", 9 }, { "\"system\"", 8 } },
                 { { "model", 5 }, { "\"assistant\"", 11 } },
                 { { "function", 8 }, { "\"tool\"", 6 } } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (maki_is_text(role, rows[i].other)) role = rows[i].role;
    }
    token_text(c, 'R', role);
}

static void add_message(canon *c, maki_str row)
{
    const maki_content_parts pieces = maki_content_parts_of(row);
    add_role(c, pieces.role);
    add_pieces(c, pieces, 0);
    if (maki_is_string(pieces.refusal)) add_text(c, pieces.refusal);
    end_run(c);
}

maki_status maki_canon_next(const maki_env *env, const unsigned char before[MAKI_PREFIX_LEN],
                            maki_str row, unsigned char out[MAKI_PREFIX_LEN], maki_err *err)
{
    unsigned char digest[MAKI_SHA256_LEN];
    canon c = { .env = env, .err = err };
    maki_sha256_init(&c.all);
    maki_sha256_update(&c.all, (maki_str){ (const char *)before, MAKI_PREFIX_LEN });
    add_message(&c, row);
    maki_sha256_final(&c.all, digest);
    if (c.status == MAKI_OK) memcpy(out, digest, MAKI_PREFIX_LEN);
    return c.status;
}
