/* table_test.c -- every row of the table of operations keeps what it promises. */
#include <stdio.h>
#include <string.h>

#include <maki/maki.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "fake_env.h"
#include "tap.h"

enum { MOST = 1 << 20 };

/* Is every field of the answer told in the row, and every promised one there? */
static void check_answer(const maki_op_info *op, maki_str answer)
{
    maki_json_iter iter = maki_json_items(answer);
    maki_json_item item;
    maki_str value;
    while (maki_json_next(&iter, &item)) {
        bool told = false;
        for (const maki_op_field *f = op->output; f->name; f++) {
            told |= maki_json_key_is(item.key, maki_str_of(f->name));
        }
        if (!CHECK(told)) {
            printf("# the answer has a field that the row does not tell: %.*s\n",
                   (int)item.key.len, item.key.ptr);
        }
    }
    for (const maki_op_field *f = op->output; f->name; f++) {
        if (f->required && !CHECK(maki_json_get(answer, maki_str_of(f->name), &value))) {
            printf("# missing: %s\n", f->name);
        }
    }
}

static void run_example(maki *m, const maki_op_info *op)
{
    maki_env env = maki_env_system();
    maki_buf answer = maki_buf_new(env.alloc, MOST);
    maki_err err = { 0 };
    maki_str value;
    tap_row("the example of %s gives its answer", op->name);
    maki_status st = maki_op(m, maki_str_of(op->name), maki_str_of(op->example),
                             maki_buf_sink(&answer), &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    CHECK_TEXT(maki_buf_str(&answer), maki_str_of(op->answer));
    if (CHECK(maki_json_check(maki_buf_str(&answer), &value, &err) == MAKI_OK)) {
        check_answer(op, value);
    }
    maki_buf_free(&answer);
}

/* Leave out each required field, and give each field a value of a wrong type. */
static void break_fields(maki *m, const maki_op_info *op)
{
    maki_env env = maki_env_system();
    tap_row("%s refuses missing and wrong fields by name", op->name);
    for (const maki_op_field *f = op->input; f->name; f++) {
        maki_buf input = maki_buf_new(env.alloc, MOST), answer = maki_buf_new(env.alloc, MOST);
        maki_err err = { 0 };
        bool any = strcmp(f->type, "any") == 0;
        maki_buf_add(&input, MAKI_LIT("{"));
        for (const maki_op_field *g = op->input; g->name; g++) {
            maki_str value;
            maki_str example = maki_str_of(op->example);
            bool there = maki_json_get(example, maki_str_of(g->name), &value);
            if (g == f) {
                if (any) continue;
                there = true;
                value = strcmp(f->type, "string") == 0 ? MAKI_LIT("[]") : MAKI_LIT("\"ü\"");
            }
            if (!there) continue;
            if (input.len > 1) maki_buf_add(&input, MAKI_LIT(","));
            maki_buf_add(&input, MAKI_LIT("\""));
            maki_buf_add(&input, maki_str_of(g->name));
            maki_buf_add(&input, MAKI_LIT("\":"));
            maki_buf_add(&input, value);
        }
        maki_buf_add(&input, MAKI_LIT("}"));
        maki_status st = maki_op(m, maki_str_of(op->name), maki_buf_str(&input),
                                 maki_buf_sink(&answer), &err);
        if (!any || f->required) {
            CHECK_STATUS(st, MAKI_INVALID, &err);
            CHECK(maki_str_has(maki_str_of(err.msg), maki_str_of(f->name)));
            CHECK(maki_str_has(maki_str_of(err.msg), MAKI_LIT("byte")));
        }
        maki_buf_free(&input);
        maki_buf_free(&answer);
    }
}

int main(void)
{
    fake_env fe;
    maki *m = NULL;
    maki_err err = { 0 };
    fake_env_init(&fe);
    maki_options options = { sizeof options, fe.env, MAKI_MAX_MEMORY };
    if (maki_open(&options, &m, &err) != MAKI_OK) return 1;

    tap_row("the table is in the order of names");
    for (size_t i = 1; i < maki_op_count(); i++) {
        CHECK(strcmp(maki_op_at(i - 1)->name, maki_op_at(i)->name) < 0);
    }
    CHECK(maki_op_at(maki_op_count()) == NULL);
    for (size_t i = 0; i < maki_op_count(); i++) {
        run_example(m, maki_op_at(i));
        break_fields(m, maki_op_at(i));
    }

    tap_row("a slip finds the name that was meant");
    CHECK_CSTR(maki_op_nearest(MAKI_LIT("history.truncat")), "history.truncate");
    CHECK_CSTR(maki_op_nearest(MAKI_LIT("rewind")), "history.rewind");
    CHECK_CSTR(maki_op_nearest(MAKI_LIT("prune.tool")), "prune.tools");
    CHECK(maki_op_nearest(MAKI_LIT("巻き戻し、巻き戻し")) == NULL);
    CHECK(maki_op_nearest(MAKI_LIT("")) == NULL);

    maki_close(m);
    tap_row("everything is given back");
    CHECK_EQ(fake_alloc_live(&fe), 0);
    return tap_end();
}
