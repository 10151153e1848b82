/* exchange.h -- helpers of the import and export tests: import a source from a string, read the view. */
#ifndef MAKI_TESTS_EXCHANGE_H
#define MAKI_TESTS_EXCHANGE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "directory.h"
#include "history/export.h"
#include "history/import.h"
#include "tap.h"

/* Import `source` into a new conversation in the test's directory.  The caller closes both. */
static inline maki_status exchange_in(const maki_env *env, const directory *f, const char *name,
                                      maki_str source, const maki_import_options *options,
                                      maki_conv **conv, maki_import_report *report, maki_err *err)
{
    static const maki_conv_options fresh = { .create = true, .durability = MAKI_DURABILITY_AT_END };
    char path[400];
    snprintf(path, sizeof path, "%s", directory_file(f, name));
    directory_write(path, source);
    *conv = NULL;
    maki_status st = maki_conv_open(env, directory_file(f, "in.jsonl"), &fresh, conv, err);
    if (st != MAKI_OK) return st;
    return maki_import(env, path, *conv, options, report, err);
}

/* What the model sees, as an array. */
static inline maki_status exchange_view(maki_conv *conv, maki_buf *out, maki_err *err)
{
    const maki_view *view;
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) st = maki_conv_write(conv, view, true, maki_buf_sink(out), err);
    return st == MAKI_OK ? maki_buf_status(out, err) : st;
}

/* Are two checked values the same?  Objects in any order, the last of two fields counts. */
static inline bool exchange_equal(maki_str a, maki_str b)
{
    maki_json_kind kind = maki_json_kind_of(a);
    maki_json_item x, y;
    maki_str other;
    if (kind != maki_json_kind_of(b)) return false;
    if (kind == MAKI_JSON_STRING) return maki_json_same_text(a, b);
    if (kind == MAKI_JSON_NUMBER) return maki_json_double(a) == maki_json_double(b);
    if (kind == MAKI_JSON_BOOL) return maki_json_true(a) == maki_json_true(b);
    if (kind == MAKI_JSON_NULL) return true;
    if (maki_json_count(a) != maki_json_count(b)) return false;
    maki_json_iter i = maki_json_items(a), j = maki_json_items(b);
    while (maki_json_next(&i, &x)) {
        char name[200];
        if (kind == MAKI_JSON_ARRAY) {
            if (!maki_json_next(&j, &y) || !exchange_equal(x.value, y.value)) return false;
            continue;
        }
        size_t n =
            maki_json_copy_text((maki_str){ x.key.ptr - 1, x.key.len + 2 }, name, sizeof name);
        if (!maki_json_get(b, (maki_str){ name, n }, &other)) return false;
        if (!exchange_equal(x.value, other)) return false;
    }
    return true;
}

#endif
