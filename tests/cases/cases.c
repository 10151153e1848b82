/* cases.c -- run the cases of tests/cases: the expected answers of operations, as data.
 *
 *     cases FILE.json ...            each case once, its answer compared
 *     cases --faults FILE.json ...   each case again with the 1st, 2nd, 3rd ... allocation failing
 *
 * A case is {name, op, input, expect, note?}.  The answer must contain what `expect` holds; other
 * top-level fields are ignored.
 * In `input`:   {"$rep": [text, n]} is a string repeated, {"$cat": [a, b]} a concatenation.
 * In `expect`:  "$C1", "$T1" ...  any id: same name, same id; other name, other id
 *               "$NONEMPTY"       any non-empty string     "$CONTAINS(x)"   one that contains x
 *               "$UNCHANGED"      equal to input.messages (or input.api)
 *               "$ANY" / "$OPT"   anything that is there / anything
 *               {"$digest": ..}   a long text by its SHA-256
 *               an `error` that is a string is the code of the answer's error. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <maki/maki.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/json_access.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "derive.h"
#include "fake_env.h"
#include "tap.h"

enum { ANSWER_MAX = 1 << 30 };

/* ---- the input, expanded ---------------------------------------------------------------------- */

static bool single(maki_str value, const char *key, maki_str *inner)
{
    return maki_json_kind_of(value) == MAKI_JSON_OBJECT && maki_json_count(value) == 1 &&
           maki_json_get(value, maki_str_of(key), inner);
}

static void expand_text(maki_jw *w, maki_str value)
{
    maki_str parts;
    maki_json_item item;
    if (single(value, "$rep", &parts)) {
        maki_json_iter iter = maki_json_items(parts);
        maki_json_item count;
        if (!maki_json_next(&iter, &item) || !maki_json_next(&iter, &count)) abort();
        for (double n = maki_json_double(count.value); n > 0; n--)
            expand_text(w, item.value);
    } else if (single(value, "$cat", &parts)) {
        maki_json_iter iter = maki_json_items(parts);
        while (maki_json_next(&iter, &item))
            expand_text(w, item.value);
    } else {
        maki_jw_bytes(w, maki_json_strip_quotes(value));
    }
}

static void expand(maki_jw *w, maki_str value)
{
    maki_str ignored;
    maki_json_item item;
    maki_json_kind kind = maki_json_kind_of(value);
    if (single(value, "$rep", &ignored) || single(value, "$cat", &ignored)) {
        maki_jw_begin_value(w);
        maki_jw_bytes(w, MAKI_LIT("\""));
        expand_text(w, value);
        maki_jw_bytes(w, MAKI_LIT("\""));
        return;
    }
    if (kind != MAKI_JSON_ARRAY && kind != MAKI_JSON_OBJECT) {
        maki_jw_raw(w, value);
        return;
    }
    bool object = kind == MAKI_JSON_OBJECT;
    maki_json_iter iter = maki_json_items(value);
    if (object)
        maki_jw_begin_object(w);
    else
        maki_jw_begin_array(w);
    while (maki_json_next(&iter, &item)) {
        if (object) {
            maki_jw_begin_value(w);
            maki_jw_bytes(w, (maki_str){ item.key.ptr - 1, item.key.len + 2 });
            maki_jw_bytes(w, MAKI_LIT(":"));
            w->after_key = true;
        }
        expand(w, item.value);
    }
    if (object)
        maki_jw_end_object(w);
    else
        maki_jw_end_array(w);
}

/* ---- comparing -------------------------------------------------------------------------------- */

typedef struct matching {
    maki_str input;
    struct {
        char name[8];
        maki_str id;
    } ids[8];
    size_t id_count;
    char path[200];
    char why[400];
} matching;

static bool differ(matching *m, const char *what, maki_str got)
{
    snprintf(m->why, sizeof m->why, "%s: want %s, got %.*s", m->path, what,
             (int)(got.len < 120 ? got.len : 120), got.len ? got.ptr : "nothing");
    return false;
}

static bool match_id(matching *m, const char *name, maki_str got)
{
    if (maki_json_kind_of(got) != MAKI_JSON_STRING || got.len <= 2) return differ(m, "an id", got);
    for (size_t i = 0; i < m->id_count; i++) {
        bool same_name = strcmp(m->ids[i].name, name) == 0;
        bool same_id = maki_json_same_text(m->ids[i].id, got);
        if (same_name != same_id) return differ(m, same_name ? "the same id" : "another id", got);
        if (same_name) return true;
    }
    if (m->id_count == COUNT(m->ids)) abort();
    snprintf(m->ids[m->id_count].name, sizeof m->ids[0].name, "%.7s", name);
    m->ids[m->id_count++].id = got;
    return true;
}

static bool match(matching *m, maki_str want, maki_str got, bool top);

/* A pattern that begins with $; *held is its answer.  False: it is an ordinary string. */
static bool match_pattern(matching *m, maki_str want, maki_str got, bool *held)
{
    char pattern[300];
    maki_str same;
    size_t n = maki_json_copy_text(want, pattern, sizeof pattern - 1);
    pattern[n] = '\0';
    if (pattern[0] != '$') return false;
    bool text = maki_json_kind_of(got) == MAKI_JSON_STRING && got.len > 2;
    if (strcmp(pattern, "$OPT") == 0) {
        *held = true;
    } else if (strcmp(pattern, "$ANY") == 0) {
        *held = got.len > 0 || differ(m, "anything", got);
    } else if (strcmp(pattern, "$NONEMPTY") == 0) {
        *held = text || differ(m, "a non-empty string", got);
    } else if (strcmp(pattern, "$UNCHANGED") == 0) {
        bool api = strstr(m->path, ".api") != NULL;
        *held = maki_json_get(m->input, api ? MAKI_LIT("api") : MAKI_LIT("messages"), &same) &&
                match(m, same, got, false);
    } else if (strncmp(pattern, "$CONTAINS(", 10) == 0) {
        maki_str part = { pattern + 10, n - 11 };
        *held = (text && maki_str_contains(maki_json_strip_quotes(got), part)) ||
                differ(m, pattern, got);
    } else if ((pattern[1] == 'C' || pattern[1] == 'T') && pattern[2] >= '0' && pattern[2] <= '9') {
        *held = match_id(m, pattern, got);
    } else {
        return false;
    }
    return true;
}

static bool match_digest(matching *m, maki_str digest, maki_str got)
{
    unsigned char hash[MAKI_SHA256_LEN];
    char hex[2 * MAKI_SHA256_LEN + 1];
    maki_env env = maki_env_system();
    maki_arena arena = maki_arena_new(env.alloc, ANSWER_MAX);
    maki_str want;
    if (maki_json_kind_of(got) != MAKI_JSON_STRING) return differ(m, "a long text", got);
    maki_sha256_of(maki_json_text(got, &arena), hash);
    maki_hex(hash, sizeof hash, hex);
    maki_arena_free(&arena);
    return (maki_json_get(digest, MAKI_LIT("sha256"), &want) &&
            maki_json_text_is(want, maki_str_of(hex))) ||
           differ(m, "a text with another hash", got);
}

static void step_into(matching *m, size_t *mark, const char *fmt, maki_str key, size_t index)
{
    *mark = strlen(m->path);
    if (key.len)
        snprintf(m->path + *mark, sizeof m->path - *mark, fmt, (int)key.len, key.ptr);
    else
        snprintf(m->path + *mark, sizeof m->path - *mark, fmt, index);
}

static bool match_object(matching *m, maki_str want, maki_str got, bool top)
{
    maki_json_iter iter = maki_json_items(want);
    maki_json_item item;
    if (maki_json_kind_of(got) != MAKI_JSON_OBJECT) return differ(m, "an object", got);
    size_t wanted = 0;
    while (maki_json_next(&iter, &item)) {
        maki_str value = { "", 0 }, code;
        size_t mark;
        bool there = maki_json_get(got, item.key, &value);
        wanted += there;
        if (top && there && maki_str_equal(item.key, MAKI_LIT("error")) &&
            maki_json_kind_of(value) == MAKI_JSON_OBJECT &&
            maki_json_get(value, MAKI_LIT("code"), &code)) {
            value = code;
        }
        step_into(m, &mark, ".%.*s", item.key, 0);
        if (!match(m, item.value, value, false)) return false;
        m->path[mark] = '\0';
    }
    if (!top && maki_json_count(got) != wanted) return differ(m, "no other fields", got);
    return true;
}

static bool match_array(matching *m, maki_str want, maki_str got)
{
    maki_json_iter left = maki_json_items(want), right = maki_json_items(got);
    maki_json_item a, b;
    if (maki_json_kind_of(got) != MAKI_JSON_ARRAY ||
        maki_json_count(want) != maki_json_count(got)) {
        return differ(m, "an array of another length", got);
    }
    for (size_t i = 0; maki_json_next(&left, &a) && maki_json_next(&right, &b); i++) {
        size_t mark;
        step_into(m, &mark, "[%zu]", (maki_str){ "", 0 }, i);
        if (!match(m, a.value, b.value, false)) return false;
        m->path[mark] = '\0';
    }
    return true;
}

static bool match(matching *m, maki_str want, maki_str got, bool top)
{
    maki_str digest;
    bool held = false;
    maki_json_kind kind = maki_json_kind_of(want);
    if (single(want, "$digest", &digest)) return match_digest(m, digest, got);
    if (kind == MAKI_JSON_STRING && match_pattern(m, want, got, &held)) return held;
    if (kind == MAKI_JSON_OBJECT) return match_object(m, want, got, top);
    if (kind == MAKI_JSON_ARRAY) return match_array(m, want, got);
    if (got.len == 0) return kind == MAKI_JSON_NULL || differ(m, "something", got);
    if (kind != maki_json_kind_of(got)) return differ(m, maki_json_kind_name(kind), got);
    if (kind == MAKI_JSON_NUMBER) {
        double apart = fabs(maki_json_double(want) - maki_json_double(got));
        return apart < 1e-9 || differ(m, "another number", got);
    }
    if (kind == MAKI_JSON_STRING) {
        return maki_json_same_text(want, got) || differ(m, "another string", got);
    }
    return maki_str_equal(want, got) || differ(m, "another value", got);
}

/* ---- running ---------------------------------------------------------------------------------- */

typedef struct test_case {
    char name[160], op[60];
    maki_buf input; /* expanded */
    maki_str expect;
} test_case;

static void copy_text(maki_str object, const char *name, char *out, size_t room)
{
    maki_str value = MAKI_LIT("\"\"");
    maki_json_get(object, maki_str_of(name), &value);
    out[maki_json_copy_text(value, out, room - 1)] = '\0';
}

static test_case read_case(maki_str object)
{
    maki_env env = maki_env_system();
    test_case c = { .input = maki_buf_new(env.alloc, ANSWER_MAX) };
    maki_str input = MAKI_LIT("{}");
    maki_jw w;
    copy_text(object, "name", c.name, sizeof c.name);
    copy_text(object, "op", c.op, sizeof c.op);
    maki_json_get(object, MAKI_LIT("input"), &input);
    maki_json_get(object, MAKI_LIT("expect"), &c.expect);
    maki_jw_init(&w, maki_buf_sink(&c.input), NULL);
    expand(&w, input);
    if (maki_jw_end(&w) != MAKI_OK) abort();
    return c;
}

/* Run the case in `fe`; the answer is in *out, which lives in ordinary memory. */
static maki_status run(const test_case *c, fake_env *fe, maki_buf *out, maki_err *err)
{
    maki_options options = { sizeof options, fe->env, MAKI_MAX_MEMORY, NULL };
    maki *m = NULL;
    maki_status st = maki_open(&options, &m, err);
    if (st != MAKI_OK) return st;
    st = maki_op(m, maki_str_of(c->op), maki_buf_str(&c->input), maki_buf_sink(out), err);
    maki_close(m);
    return st;
}

static void compare(const test_case *c, fake_env *fe)
{
    maki_env env = maki_env_system();
    maki_buf answer = maki_buf_new(env.alloc, ANSWER_MAX),
             derived = maki_buf_new(env.alloc, ANSWER_MAX);
    maki_err err = { 0 };
    maki_str got = { "", 0 };
    matching m = { .path = "$" };
    maki_status st = run(c, fe, &answer, &err);
    bool no_tokenizer = st == MAKI_UNSUPPORTED && strcmp(c->op, "tokens.count") == 0;
    tap_row("%s: %s%s", c->op, c->name, no_tokenizer ? " # SKIP needs the tokenizer" : "");
    if (!CHECK_STATUS(maki_json_check(maki_buf_str(&answer), &got, &err), MAKI_OK, &err)) goto done;
    CHECK_STATUS(maki_json_check(maki_buf_str(&c->input), &m.input, &err), MAKI_OK, &err);
    if (no_tokenizer) goto done;
    if (derive_answer(c->op, m.input, got, &derived)) {
        CHECK_STATUS(maki_json_check(maki_buf_str(&derived), &got, &err), MAKI_OK, &err);
    }
    if (!CHECK(match(&m, c->expect, got, true))) printf("# %s\n", m.why);
done:
    maki_buf_free(&answer);
    maki_buf_free(&derived);
}

/* Each allocation failing in turn: MAKI_NOMEM, an error answer, and everything given back. */
static void break_it(const test_case *c, fake_env *fe)
{
    maki_env env = maki_env_system();
    tap_row("%s: %s", c->op, c->name);
    for (size_t nth = 1;; nth++) {
        maki_buf answer = maki_buf_new(env.alloc, ANSWER_MAX);
        maki_err err = { 0 };
        maki_str got;
        fake_alloc_fail_at(fe, nth);
        maki_status st = run(c, fe, &answer, &err);
        bool injected = fake_alloc_failed(fe);
        if (injected) {
            CHECK_STATUS(st, MAKI_NOMEM, &err);
            if (answer.len) CHECK(maki_json_check(maki_buf_str(&answer), &got, NULL) == MAKI_OK);
        }
        CHECK_EQ(fake_alloc_live(fe), 0);
        maki_buf_free(&answer);
        if (!injected) break;
    }
}

static void read_file(const char *path, maki_buf *out)
{
    FILE *f = fopen(path, "rb");
    char block[65536];
    size_t n;
    if (!f) {
        perror(path);
        exit(2);
    }
    while ((n = fread(block, 1, sizeof block, f)) > 0)
        maki_buf_add(out, (maki_str){ block, n });
    fclose(f);
}

int main(int argc, char **argv)
{
    bool faults = argc > 1 && strcmp(argv[1], "--faults") == 0;
    maki_env env = maki_env_system();
    fake_env fe;
    fake_env_init(&fe);
    fake_random_seed(&fe, 2026);
    for (int i = faults ? 2 : 1; i < argc; i++) {
        maki_buf file = maki_buf_new(env.alloc, ANSWER_MAX);
        maki_str all;
        maki_err err;
        maki_json_item item;
        read_file(argv[i], &file);
        if (maki_json_check(maki_buf_str(&file), &all, &err) != MAKI_OK) {
            fprintf(stderr, "%s: %s\n", argv[i], err.msg);
            return 2;
        }
        maki_json_iter iter = maki_json_items(all);
        while (maki_json_next(&iter, &item)) {
            test_case c = read_case(item.value);
            if (faults)
                break_it(&c, &fe);
            else
                compare(&c, &fe);
            maki_buf_free(&c.input);
        }
        maki_buf_free(&file);
    }
    return tap_end();
}
