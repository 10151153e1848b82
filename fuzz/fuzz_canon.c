/* fuzz_canon.c -- a message written anew, with other spaces and escapes, has the same canon, with and without reminders. */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_scan.h"
#include "base/str_util.h"
#include "base/text.h"
#include "wire/canon.h"

enum { MOST = 1 << 26, SHALLOW = 40 }; /* deeper JSON may count by its bytes */

static void space(maki_buf *out, fuzz_chance *chance)
{
    static const char spaces[] = " \t\r\n";
    for (size_t n = fuzz_draw(chance, 4); n > 2; n--)
        maki_buf_add_byte(out, spaces[fuzz_draw(chance, 4)]);
}

/* What stands between the quotes, some characters escaped. */
static void write_text(maki_buf *out, maki_str escaped, fuzz_chance *chance)
{
    for (size_t at = 0, len = 0; at < escaped.len; at += len) {
        char escape[8];
        len = 1;
        if (escaped.ptr[at] == '\\') {
            len = maki_escape_len(escaped.ptr + at, escaped.len - at);
            maki_buf_add(out, (maki_str){ escaped.ptr + at, len });
            continue;
        }
        uint32_t code = maki_utf8_decode(escaped, at, &len);
        if (code < 0xD800 && fuzz_draw(chance, 5) == 0) {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)code);
            maki_buf_add(out, (maki_str){ escape, 6 });
        } else {
            maki_buf_add(out, (maki_str){ escaped.ptr + at, len });
        }
    }
}

static void write_string(maki_buf *out, maki_str escaped, fuzz_chance *chance)
{
    maki_buf_add_byte(out, '"');
    write_text(out, escaped, chance);
    maki_buf_add_byte(out, '"');
}

static void write_value(maki_buf *out, maki_str value, fuzz_chance *chance)
{
    maki_json_kind kind = maki_json_kind_of(value);
    maki_json_iter iter = maki_json_items(value);
    maki_json_item item;
    bool object = kind == MAKI_JSON_OBJECT, any = false;
    if (kind == MAKI_JSON_STRING) {
        write_string(out, maki_json_strip_quotes(value), chance);
        return;
    }
    if (!object && kind != MAKI_JSON_ARRAY) {
        maki_buf_add(out, value);
        return;
    }
    maki_buf_add_byte(out, object ? '{' : '[');
    while (maki_json_next(&iter, &item)) {
        if (any) maki_buf_add_byte(out, ',');
        any = true;
        space(out, chance);
        if (object) {
            write_string(out, item.key, chance);
            space(out, chance);
            maki_buf_add_byte(out, ':');
        }
        write_value(out, item.value, chance);
        space(out, chance);
    }
    maki_buf_add_byte(out, object ? '}' : ']');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const maki_json_scan_options shallow = { .max_depth = SHALLOW };
    maki_env env = maki_env_system();
    fuzz_chance chance = fuzz_chance_of(data, size);
    unsigned char zero[MAKI_PREFIX_LEN] = { 0 }, a[MAKI_PREFIX_LEN], b[MAKI_PREFIX_LEN];
    maki_canon_prefix both = { { 0 }, { 0 } }, both_again = both;
    maki_str text = { (const char *)data, size }, row, again;
    if (maki_json_check(text, &row, NULL) != MAKI_OK) return 0;
    MUST(maki_canonical_hash_next(&env, zero, row, a, NULL) == MAKI_OK);
    MUST(maki_canon_add(&env, &both, row, NULL) == MAKI_OK);
    MUST(memcmp(both.all, a, sizeof a) == 0);
    if (maki_json_scan_text(row, &shallow, NULL) != MAKI_OK) return 0;
    maki_buf out = maki_buf_new(env.alloc, MOST);
    write_value(&out, row, &chance);
    MUST(maki_json_check(maki_buf_str(&out), &again, NULL) == MAKI_OK);
    MUST(maki_canonical_hash_next(&env, zero, again, b, NULL) == MAKI_OK);
    MUST(memcmp(a, b, sizeof a) == 0);
    MUST(maki_canon_add(&env, &both_again, again, NULL) == MAKI_OK);
    MUST(memcmp(both.stripped, both_again.stripped, MAKI_PREFIX_LEN) == 0);
    maki_buf_free(&out);
    return 0;
}
