/* splice_cut_test.c -- items taken out of arrays and objects leave JSON with exactly the others. */
#include "base/splice.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "fake_env.h"
#include "tap.h"

enum { ITEMS = 5 };

static const char *const values[ITEMS] = { "1", "\"a,]}\\\"日本\"", "[ 3 , [ ] ]",
                                           "{ \"x\" : null }", "\"👨\u200D👩\u200D👧\"" };
static const char *const keys[ITEMS] = { "a", "名前", "\\u0061", "이름", "مفتاح" };

/* How the white space stands: before an item, after an item, and inside an empty container. */
static const struct style {
    const char *name, *before, *after, *colon;
} styles[] = {
    { "compact", "", "", ":" },
    { "a space after commas", " ", "", ": " },
    { "a space before commas", "", " ", " :" },
    { "white space everywhere", "\n\t ", " \r\n", " \n:\t " },
};

/* A container of the items in `chosen` (a bit each), the first `count` of them. */
static maki_str write_container(char *out, bool object, size_t count, const struct style *style)
{
    char *at = out;
    *at++ = object ? '{' : '[';
    at = stpcpy(at, count ? "" : style->before);
    for (size_t i = 0; i < count; i++) {
        if (i) *at++ = ',';
        at = stpcpy(at, style->before);
        if (object) at += sprintf(at, "\"%s\"%s", keys[i], style->colon);
        at = stpcpy(at, values[i]);
        at = stpcpy(at, style->after);
    }
    *at++ = object ? '}' : ']';
    return (maki_str){ out, (size_t)(at - out) };
}

/* The edits that remove the items whose bit is set; returns how many. */
static size_t cut_items(maki_str text, unsigned removed, maki_edit *edits)
{
    maki_json_item items[ITEMS + 1];
    maki_json_iter iter = maki_json_items(text);
    size_t count = 0, n = 0;
    bool kept = false;
    while (maki_json_next(&iter, &items[count]))
        count++;
    for (size_t i = 0; i < count; i++) {
        const char *end = items[i].value.ptr + items[i].value.len;
        if (!(removed >> i & 1)) {
            kept = true;
            continue;
        }
        const char *before = i ? items[i - 1].value.ptr + items[i - 1].value.len : text.ptr;
        edits[n++] =
            maki_splice_cut(i ? (uint64_t)(before - text.ptr) : 0,
                            (uint64_t)(items[i].start - text.ptr), (uint64_t)(end - text.ptr),
                            i + 1 < count ? (uint64_t)(items[i + 1].start - text.ptr) : 0, kept);
    }
    return n;
}

static void apply(maki_str text, const maki_edit *cuts, size_t count, maki_buf *out)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        CHECK(cuts[i].start >= at && cuts[i].end <= text.len && cuts[i].text.len == 0);
        maki_buf_add(out, (maki_str){ text.ptr + at, (size_t)cuts[i].start - at });
        at = (size_t)cuts[i].end;
    }
    maki_buf_add(out, maki_str_from(text, at));
}

static void check_subset(fake_env *fe, maki_str text, unsigned removed, size_t count, bool object)
{
    maki_edit edits[ITEMS];
    maki_err err;
    maki_str value = { "", 0 };
    maki_buf out = maki_buf_new(fe->env.alloc, 4096);
    size_t n = cut_items(text, removed, edits);
    apply(text, edits, n, &out);
    if (CHECK_STATUS(maki_json_check(maki_buf_str(&out), &value, &err), MAKI_OK, &err)) {
        maki_json_iter iter = maki_json_items(value);
        maki_json_item item;
        for (size_t i = 0; i < count; i++) {
            if (removed >> i & 1) continue;
            if (!CHECK(maki_json_next(&iter, &item))) break;
            CHECK_TEXT(item.value, maki_str_of(values[i]));
            CHECK_TEXT(item.key, object ? maki_str_of(keys[i]) : MAKI_LIT(""));
        }
        CHECK(!maki_json_next(&iter, &item));
    }
    if (removed == 0) CHECK_TEXT(maki_buf_str(&out), text);
    maki_buf_free(&out);
}

int main(void)
{
    fake_env fe;
    fake_env_init(&fe);
    for (size_t s = 0; s < COUNT(styles); s++) {
        for (int object = 0; object < 2; object++) {
            for (size_t count = 0; count <= ITEMS; count++) {
                char bytes[1000];
                maki_str text = write_container(bytes, object, count, &styles[s]);
                tap_row("every subset of %s of %zu items, %s", object ? "an object" : "an array",
                        count, styles[s].name);
                for (unsigned removed = 0; removed < 1u << count; removed++) {
                    check_subset(&fe, text, removed, count, object);
                }
            }
        }
    }
    tap_row("compact containers stay compact");
    maki_buf out = maki_buf_new(fe.env.alloc, 100);
    maki_edit edits[ITEMS];
    maki_str text = MAKI_LIT("[1,2,3,4,5]");
    static const struct {
        unsigned removed;
        const char *want;
    } rows[] = {
        { 0x01, "[2,3,4,5]" }, { 0x10, "[1,2,3,4]" }, { 0x0E, "[1,5]" },
        { 0x13, "[3,4]" },     { 0x1F, "[]" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        maki_buf_clear(&out);
        size_t n = cut_items(text, rows[i].removed, edits);
        apply(text, edits, n, &out);
        CHECK_TEXT(maki_buf_str(&out), maki_str_of(rows[i].want));
    }
    maki_buf_free(&out);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    return tap_end();
}
