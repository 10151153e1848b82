/* canon.c -- hash a message as a sequence of tokens: the byte FF, which no text contains, a letter, and a value.
 *
 * Adjacent texts are hashed separately and their digest is added at their end, because only then is it known
 * whether they are more than white space.  Memory: the keys of the current object while they are sorted, and arguments
 * that are JSON inside a string.  The tokens are part of the index on disk: a change makes old prefixes unknown. */
#include "wire/canon.h"

#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/json_scan.h"
#include "wire/content_part.h"
#include "wire/reminder.h"

enum {
    DEPTH_MAX = 64,         /* JSON nested deeper is hashed as bytes: each level is another pass */
    STACK_KEYS = 16,        /* keys sorted on the stack; more are allocated */
    KEYS_MAX = 1 << 16,     /* objects with more are not sorted: clients do not reserialize them */
    TEXT_MEMORY = 64 << 10, /* bytes of arguments in memory; longer ones are spooled to a file */
    TEXT_MAX = 64 << 20     /* longer ones are hashed as text, not as JSON */
};

typedef struct canon {
    const maki_env *env;
    maki_err *err;
    maki_status status; /* the first failure; nothing is done after it */
    maki_sha256 hash;
    maki_sha256 text_hash; /* adjacent texts */
    bool in_text, text_has_content;
    maki_str last_result_id; /* the id of the previous result, when a result came last */
    bool strip;              /* leave out reminders */
    bool from_user;          /* the row is a message of the user */
    bool has_reminder,
        has_content; /* a text began with a reminder; something else than reminders was hashed */
    uint64_t skip;   /* decoded bytes of the current text to leave out */
} canon;

/* ---- tokens ------------------------------------------------------------------------------------------- */

static void end_text(canon *c)
{
    unsigned char digest[MAKI_SHA256_LEN];
    if (!c->in_text) return;
    c->in_text = false;
    maki_sha256_final(&c->text_hash, digest);
    if (!c->text_has_content) return;
    c->has_content = true;
    maki_sha256_update(&c->hash, MAKI_LIT("\xFFT"));
    maki_sha256_update(&c->hash, (maki_str){ (const char *)digest, sizeof digest });
}

static void add_token(canon *c, char letter)
{
    const char bytes[] = { '\xFF', letter };
    end_text(c);
    maki_sha256_update(&c->hash, (maki_str){ bytes, sizeof bytes });
}

static maki_status hash_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    (void)err;
    maki_sha256_update(&((canon *)ctx)->hash, bytes);
    return MAKI_OK;
}

static maki_status hash_text_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    canon *c = ctx;
    size_t skipped = c->skip < bytes.len ? (size_t)c->skip : bytes.len;
    (void)err;
    c->skip -= skipped;
    bytes = maki_str_skip(bytes, skipped);
    for (size_t i = 0; !c->text_has_content && i < bytes.len; i++)
        c->text_has_content = !strchr(" \t\r\n", bytes.ptr[i]) || bytes.ptr[i] == '\0';
    maki_sha256_update(&c->text_hash, bytes);
    return MAKI_OK;
}

/* Add a token, followed by the decoded text of `string`; any other value has no text. */
static void add_string_token(canon *c, char letter, maki_str string)
{
    add_token(c, letter);
    if (maki_is_string(string))
        (void)maki_json_unescape_to(maki_json_strip_quotes(string), (maki_sink){ hash_bytes, c },
                                    c->err);
}

/* Hash a text of the message: adjacent texts are joined. */
static void add_text(canon *c, maki_str string)
{
    if (c->status != MAKI_OK) return;
    if (!c->in_text) {
        maki_sha256_init(&c->text_hash);
        c->in_text = true;
        c->text_has_content = false;
    }
    (void)maki_json_unescape_to(maki_json_strip_quotes(string), (maki_sink){ hash_text_bytes, c },
                                c->err);
}

/* ---- JSON by value ------------------------------------------------------------------------------------ */

static void add_value(canon *c, maki_str value, unsigned depth);

typedef struct entry {
    maki_str key; /* with its quotes */
    maki_str value;
    size_t nth; /* position in the object */
} entry;

static int compare_entries(const entry *a, const entry *b)
{
    int order = maki_json_compare(a->key, b->key);
    return order ? order : a->nth < b->nth ? -1 : 1;
}

/* Shell sort: in place, no recursion, fast enough for the keys of an object. */
static void sort_entries(entry *entries, size_t n)
{
    for (size_t gap = n / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < n; i++) {
            entry moved = entries[i];
            size_t position = i;
            for (; position >= gap && compare_entries(&moved, &entries[position - gap]) < 0;
                 position -= gap)
                entries[position] = entries[position - gap];
            entries[position] = moved;
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

/* Of duplicate keys the last one is used, as in JavaScript. */
static void add_entries(canon *c, const entry *entries, size_t n, unsigned depth)
{
    for (size_t i = 0; i < n; i++) {
        bool duplicate = i + 1 < n && maki_json_same_text(entries[i].key, entries[i + 1].key);
        if (duplicate) continue;
        add_string_token(c, 'k', entries[i].key);
        add_value(c, entries[i].value, depth);
    }
}

static void add_object(canon *c, maki_str object, unsigned depth)
{
    const maki_alloc *alloc = c->env->alloc;
    entry on_stack[STACK_KEYS], *entries = on_stack;
    size_t n = maki_json_count(object), bytes = n * sizeof *entries;
    add_token(c, '{');
    if (n > KEYS_MAX) {
        maki_sha256_update(&c->hash, object);
        return;
    }
    if (n > STACK_KEYS) entries = alloc->resize(alloc, NULL, 0, bytes);
    if (!entries) {
        c->status = maki_fail_nomem(c->err);
        return;
    }
    n = read_entries(object, entries, n);
    sort_entries(entries, n);
    add_entries(c, entries, n, depth);
    if (entries != on_stack) alloc->resize(alloc, entries, bytes, 0);
    add_token(c, '}');
}

static void add_number(canon *c, maki_str number)
{
    double value = maki_json_double(number) + 0.0; /* -0 becomes 0 */
    add_token(c, '#');
    maki_sha256_update(&c->hash, (maki_str){ (const char *)&value, sizeof value });
}

static void add_array(canon *c, maki_str array, unsigned depth)
{
    add_token(c, '[');
    MAKI_JSON_EACH_WHILE(c->status == MAKI_OK, item, maki_json_items(array))
        add_value(c, item.value, depth);
    add_token(c, ']');
}

static void add_value(canon *c, maki_str value, unsigned depth)
{
    if (c->status != MAKI_OK) return;
    if (depth == DEPTH_MAX) {
        add_token(c, 'x');
        maki_sha256_update(&c->hash, value);
        return;
    }
    switch (maki_json_kind_of(value)) {
    case MAKI_JSON_NULL: add_token(c, 'n'); break;
    case MAKI_JSON_BOOL: add_token(c, maki_json_true(value) ? 't' : 'f'); break;
    case MAKI_JSON_NUMBER: add_number(c, value); break;
    case MAKI_JSON_STRING: add_string_token(c, 's', value); break;
    case MAKI_JSON_ARRAY: add_array(c, value, depth + 1); break;
    case MAKI_JSON_OBJECT: add_object(c, value, depth + 1); break;
    }
}

/* The arguments of a call: a JSON value, or a string that may contain one. */
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
        maki_json_unescape_to(maki_json_strip_quotes(arguments), maki_spool_sink(&spool), c->err);
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

static void add_parts(canon *c, maki_content_parts parts, unsigned depth);

static void add_call(canon *c, maki_str id, maki_str name, maki_str arguments)
{
    add_string_token(c, 'C', id);
    add_string_token(c, 'N', name);
    add_arguments(c, arguments);
}

/* A result that repeats the previous one is skipped: a client that resumes may repeat it. */
static void add_result(canon *c, const maki_content_part *result, unsigned depth)
{
    bool duplicate = result->id.len && c->last_result_id.len &&
                     maki_json_same_text(result->id, c->last_result_id);
    if (duplicate) return;
    add_string_token(c, 'A', result->id);
    if (result->error) add_token(c, 'E');
    if (depth < DEPTH_MAX)
        add_parts(c, maki_content_parts_of_content(result->content), depth);
    else
        add_value(c, result->content, DEPTH_MAX);
    add_token(c, 'Z');
    c->last_result_id = result->id;
}

/* `location`: the data or the URL, escaped, without quotes. */
static void add_image(canon *c, maki_str location)
{
    add_token(c, 'P');
    (void)maki_json_unescape_to(location, (maki_sink){ hash_bytes, c }, c->err);
}

/* A block of an unknown type: its first STACK_KEYS fields, except null and those that do not change its meaning. */
static void add_other(canon *c, maki_str block, unsigned depth)
{
    maki_json_iter iter = maki_json_items(block);
    maki_json_item item;
    entry on_stack[STACK_KEYS];
    size_t n = 0;
    while (maki_json_next(&iter, &item) && n < STACK_KEYS) {
        if (maki_json_kind_of(item.value) == MAKI_JSON_NULL ||
            maki_key_in(item.key, "cache_control id status original"))
            continue;
        on_stack[n] = (entry){ { item.key.ptr - 1, item.key.len + 2 }, item.value, n };
        n++;
    }
    add_token(c, 'B');
    sort_entries(on_stack, n);
    add_entries(c, on_stack, n, depth);
}

/* A text of the message itself: in the user's, reminders are found at its beginning. */
static void add_own_text(canon *c, maki_str text)
{
    uint64_t reminders = c->from_user ? maki_reminders_len(text) : 0;
    c->has_reminder = c->has_reminder || reminders > 0;
    c->skip = c->strip ? reminders : 0;
    add_text(c, text);
    c->skip = 0;
}

static void add_part(canon *c, const maki_content_part *part, unsigned depth)
{
    bool document = maki_is_text(part->type, MAKI_LIT("document"));
    if (part->kind == MAKI_CONTENT_THINKING) return;
    if (part->kind != MAKI_CONTENT_TEXT || document) c->has_content = true;
    if (part->kind != MAKI_CONTENT_RESULT) c->last_result_id = (maki_str){ "", 0 };
    if (part->kind == MAKI_CONTENT_TEXT && !document && depth == 1)
        add_own_text(c, part->text);
    else if (part->kind == MAKI_CONTENT_TEXT && !document)
        add_text(c, part->text);
    else if (part->kind == MAKI_CONTENT_CALL)
        add_call(c, part->id, part->name, part->input);
    else if (part->kind == MAKI_CONTENT_RESULT)
        add_result(c, part, depth);
    else if (part->kind == MAKI_CONTENT_IMAGE)
        add_image(c, part->media.data.len ? part->media.data : part->media.url);
    else
        add_other(c, part->block, depth);
}

static void add_parts(canon *c, maki_content_parts parts, unsigned depth)
{
    maki_content_part part;
    while (c->status == MAKI_OK && maki_content_parts_next(&parts, &part))
        add_part(c, &part, depth + 1);
}

static void add_role(canon *c, maki_str role)
{
    static const struct role_row {
        maki_str alias, role;
    } rows[] = { { { "developer", 9 }, { "\"system\"", 8 } },
                 { { "model", 5 }, { "\"assistant\"", 11 } },
                 { { "function", 8 }, { "\"tool\"", 6 } } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (maki_is_text(role, rows[i].alias)) role = rows[i].role;
    }
    add_string_token(c, 'R', role);
}

static void add_message(canon *c, maki_str row)
{
    const maki_content_parts parts = maki_content_parts_of_row(row);
    c->from_user = parts.author == MAKI_AUTHOR_USER;
    add_role(c, parts.role);
    add_parts(c, parts, 0);
    if (maki_is_string(parts.refusal)) add_text(c, parts.refusal);
    end_text(c);
}

/* `c`: env, err and strip are filled in. */
static maki_status hash_row(canon *c, const unsigned char before[MAKI_PREFIX_LEN], maki_str row,
                            unsigned char out[MAKI_PREFIX_LEN])
{
    unsigned char digest[MAKI_SHA256_LEN];
    maki_sha256_init(&c->hash);
    maki_sha256_update(&c->hash, (maki_str){ (const char *)before, MAKI_PREFIX_LEN });
    add_message(c, row);
    maki_sha256_final(&c->hash, digest);
    if (c->status == MAKI_OK) memcpy(out, digest, MAKI_PREFIX_LEN);
    return c->status;
}

maki_status maki_canonical_hash_next(const maki_env *env,
                                     const unsigned char before[MAKI_PREFIX_LEN], maki_str row,
                                     unsigned char out[MAKI_PREFIX_LEN], maki_err *err)
{
    canon c = { .env = env, .err = err };
    return hash_row(&c, before, row, out);
}

maki_status maki_canon_add(const maki_env *env, maki_canon_prefix *prefix, maki_str row,
                           maki_err *err)
{
    canon all = { .env = env, .err = err }, stripped = { .env = env, .err = err, .strip = true };
    maki_canon_prefix next = *prefix;
    bool differ = memcmp(prefix->all, prefix->stripped, MAKI_PREFIX_LEN) != 0;
    maki_status st = hash_row(&all, prefix->all, row, next.all);
    if (st == MAKI_OK && (differ || all.has_reminder)) {
        st = hash_row(&stripped, prefix->stripped, row, next.stripped);
        bool only_reminders = stripped.has_reminder && !stripped.has_content;
        if (only_reminders) memcpy(next.stripped, prefix->stripped, MAKI_PREFIX_LEN);
    } else {
        memcpy(next.stripped, next.all, MAKI_PREFIX_LEN);
    }
    if (st == MAKI_OK) *prefix = next;
    return st;
}
