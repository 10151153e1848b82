/* async_writer_test.c -- every byte reaches the sink once and in order, whoever calls it; failures are reported. */
#include "base/async_writer.h"

#include <string.h>

#include "base/err.h"
#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

/* Checks that every byte is the one its offset demands, and fails after `max` bytes. */
typedef struct reader {
    uint64_t seen, max;
    bool wrong;
} reader;

static char letter(uint64_t at)
{
    return (char)('a' + at / 7 % 26);
}

static maki_status read_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    reader *r = ctx;
    for (size_t i = 0; i < bytes.len; i++)
        r->wrong |= bytes.ptr[i] != letter(r->seen + i);
    r->seen += bytes.len;
    return r->seen > r->max ? maki_fail(err, MAKI_FULL, "no space for 満杯") : MAKI_OK;
}

/* Write a text of `size` bytes in pieces of up to `max`, some longer than a buffer. */
static maki_status write_text(const maki_alloc *alloc, reader *r, uint64_t size, size_t max,
                              maki_err *err)
{
    static char piece[4 * MAKI_ASYNC_BUFFER];
    static maki_jw w;
    maki_async_writer writer;
    tap_random random = { 7 };
    maki_status st =
        maki_async_writer_begin(&writer, alloc, true, (maki_sink){ read_bytes, r }, &w, err);
    if (st != MAKI_OK) return st;
    for (uint64_t at = 0; at < size && w.status == MAKI_OK;) {
        size_t n = 1 + tap_below(&random, (uint32_t)max);
        if (n > size - at) n = (size_t)(size - at);
        for (size_t i = 0; i < n; i++)
            piece[i] = letter(at + i);
        maki_jw_bytes(&w, (maki_str){ piece, n });
        at += n;
    }
    return maki_async_writer_end(&writer, maki_jw_end(&w), err);
}

static void test_order(void)
{
    static const struct {
        const char *name;
        uint64_t size;
        size_t max;
    } rows[] = {
        { "nothing", 0, 10 },
        { "a few bytes", 100, 10 },
        { "one buffer exactly", MAKI_ASYNC_BUFFER, 1000 },
        { "short of the second thread", MAKI_ASYNC_MIN_BYTES - 1, 9000 },
        { "long, in small pieces", 3 * MAKI_ASYNC_MIN_BYTES, 3000 },
        { "long, pieces longer than a buffer among them", 6 * MAKI_ASYNC_MIN_BYTES,
          4 * MAKI_ASYNC_BUFFER },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake_env fe;
        maki_err err = { 0 };
        reader r = { .max = UINT64_MAX };
        fake_env_init(&fe);
        tap_row("%s", rows[i].name);
        CHECK_STATUS(write_text(fe.env.alloc, &r, rows[i].size, rows[i].max, &err), MAKI_OK, &err);
        CHECK_EQ(r.seen, rows[i].size);
        CHECK(!r.wrong);
        CHECK_EQ(fake_alloc_live(&fe), 0);
    }
}

static void test_failures(void)
{
    static const uint64_t max[] = { 1000, MAKI_ASYNC_MIN_BYTES + MAKI_ASYNC_BUFFER,
                                    2 * MAKI_ASYNC_MIN_BYTES - 1 };
    for (size_t i = 0; i < sizeof max / sizeof max[0]; i++) {
        fake_env fe;
        maki_err err = { 0 };
        reader r = { .max = max[i] };
        fake_env_init(&fe);
        tap_row("a sink that fails after %llu bytes", (unsigned long long)max[i]);
        CHECK_STATUS(write_text(fe.env.alloc, &r, 2 * MAKI_ASYNC_MIN_BYTES, 5000, &err), MAKI_FULL,
                     &err);
        CHECK_CSTR(err.msg, "no space for 満杯");
        CHECK_EQ(fake_alloc_live(&fe), 0);
    }
    tap_row("no memory for the second buffer or thread: the text is written all the same");
    for (size_t nth = 1;; nth++) {
        fake_env fe;
        maki_err err = { 0 };
        reader r = { .max = UINT64_MAX };
        fake_env_init(&fe);
        fake_alloc_fail_at(&fe, nth);
        maki_status st = write_text(fe.env.alloc, &r, 2 * MAKI_ASYNC_MIN_BYTES, 5000, &err);
        CHECK_STATUS(st, nth == 1 ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(r.seen, nth == 1 ? 0 : 2 * MAKI_ASYNC_MIN_BYTES);
        CHECK(!r.wrong);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (!fake_alloc_failed(&fe)) break;
    }
}

int main(void)
{
    test_order();
    test_failures();
    return tap_end();
}
