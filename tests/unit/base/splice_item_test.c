/* splice_item_test.c -- one item out of an array in a file, in one pass. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/splice.h"
#include "base/str.h"
#include "fake_env.h"
#include "tap.h"

enum { MOST = 1 << 24 };

static int file_with(const maki_env *env, maki_str text)
{
    int fd = env->files->temp(env->files);
    size_t done = 0;
    while (done < text.len) {
        ssize_t n = pwrite(fd, text.ptr + done, text.len - done, (off_t)done);
        if (n <= 0) break;
        done += (size_t)n;
    }
    return fd;
}

static maki_status splice(fake_env *fe, maki_str text, uint64_t index, maki_buf *out, maki_err *err)
{
    maki_env real = maki_env_system();
    int fd = file_with(&real, text);
    maki_status st = maki_splice_item(&fe->env, fd, index, maki_buf_sink(out), err);
    close(fd);
    return st;
}

static const struct item_row {
    const char *name, *text;
    uint64_t index;
    maki_status status;
    const char *want;
} rows[] = {
    { "the second of three", "[\"一\",\"二\",\"三\"]", 1, MAKI_OK, "[\"一\",\"三\"]" },
    { "the last", "[1, {\"a\":[2]} ]", 1, MAKI_OK, "[1 ]" },
    { "white space around it stays", " [ 1 , 2 , 3 ] \n", 1, MAKI_OK, " [ 1 , 3 ] \n" },
    { "the first cannot be taken this way", "[1,2]", 0, MAKI_INVALID, "" },
    { "fewer items", "[1,2]", 2, MAKI_NOTFOUND, NULL },
    { "an object", "{\"a\":1,\"b\":2}", 1, MAKI_INVALID, NULL },
    { "not JSON behind the item", "[1,2,,3]", 1, MAKI_INVALID, NULL },
};

/* An array of `count` numbered strings with Japanese in them, over several blocks. */
static void long_array(maki_buf *out, size_t count, size_t without)
{
    maki_buf_add(out, MAKI_LIT("["));
    for (size_t i = 0; i < count; i++) {
        char item[80];
        if (i == without) continue;
        snprintf(item, sizeof item, "%s\"%zu 吾輩は猫である。名前はまだ無い 🐈 \\\" \\n\"",
                 i ? "," : "", i);
        maki_buf_add(out, maki_str_of(item));
    }
    maki_buf_add(out, MAKI_LIT("]"));
}

int main(void)
{
    maki_env env = maki_env_system();
    fake_env fe;
    fake_env_init(&fe);
    for (size_t i = 0; i < COUNT(rows); i++) {
        maki_buf out = maki_buf_new(env.alloc, MOST);
        maki_err err = { 0 };
        tap_row("%s", rows[i].name);
        maki_status st = splice(&fe, maki_str_of(rows[i].text), rows[i].index, &out, &err);
        CHECK_STATUS(st, rows[i].status, &err);
        if (rows[i].want) CHECK_TEXT(maki_buf_str(&out), maki_str_of(rows[i].want));
        maki_buf_free(&out);
    }
    tap_row("over the edges of blocks, whatever the reads bring");
    maki_buf whole = maki_buf_new(env.alloc, MOST);
    long_array(&whole, 60000, SIZE_MAX);
    for (size_t index = 1; index < 60000; index += 5999) {
        maki_buf out = maki_buf_new(env.alloc, MOST), want = maki_buf_new(env.alloc, MOST);
        maki_err err = { 0 };
        fake_files_short(&fe, index % 2 ? 0 : 10007);
        long_array(&want, 60000, index);
        CHECK_STATUS(splice(&fe, maki_buf_str(&whole), index, &out, &err), MAKI_OK, &err);
        CHECK(maki_str_is(maki_buf_str(&out), maki_buf_str(&want)));
        maki_buf_free(&out);
        maki_buf_free(&want);
    }
    fake_files_short(&fe, 0);
    tap_row("each read and each allocation failing in turn");
    for (size_t nth = 1; nth <= 6; nth++) {
        maki_buf out = maki_buf_new(env.alloc, MOST);
        maki_err err = { 0 };
        fake_files_fail_at(&fe, nth, EIO);
        maki_status st = splice(&fe, maki_buf_str(&whole), 7, &out, &err);
        CHECK_STATUS(st, fake_files_failed(&fe) ? MAKI_IO : MAKI_OK, &err);
        maki_buf_free(&out);
    }
    fake_files_fail_at(&fe, 0, 0);
    fake_alloc_fail_at(&fe, 1);
    CHECK_STATUS(splice(&fe, maki_buf_str(&whole), 7, &whole, NULL), MAKI_NOMEM, NULL);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    maki_buf_free(&whole);
    return tap_end();
}
