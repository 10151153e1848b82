/* sse_test.c -- parsing server-sent events, split at every offset. */
#include "net/sse.h"

#include <string.h>

#include "base/str_util.h"
#include "tap.h"

/* Each event as name=data| in a buffer. */
static maki_status note(void *ctx, const maki_sse_event *event, maki_err *err)
{
    maki_buf *out = ctx;
    maki_buf_add(out, event->name);
    maki_buf_add_byte(out, '=');
    maki_buf_add(out, event->data);
    maki_buf_add_byte(out, '|');
    return maki_buf_status(out, err);
}

/* clang-format off */
static const struct sse_row { const char *name, *sent, *told; } rows[] = {
    { "one event",                       "data: {\"a\":1}\n\n",                             "={\"a\":1}|" },
    { "a name",                          "event: ping\ndata: x\n\ndata: y\n\n",             "ping=x|=y|" },
    { "CRLF, CR and LF",                 "data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n",           "=1|=2|=3|" },
    { "several lines of data",           "data: 日本\ndata:語\ndata\ndata:  한국\n\n",      "=日本\n語\n\n 한국|" },
    { "comments, ids, unknown fields",   ": hi\nid: 7\nretry: 9\nx: y\ndata: 👋\n\n",       "=👋|" },
    { "no data, no event",               "event: e\n\n: c\n\n\n\ndata: z\n\n",              "=z|" },
    { "empty data",                      "data:\n\n",                                       "=|" },
    { "the end is missing",              "data: 1\n\ndata: 2\n",                            "=1|" },
    { "a byte order mark",               "\xEF\xBB\xBF" "data: 1\n\n",                      "=1|" },
    { "[DONE]",                          "data: [DONE]\n\n",                                "=[DONE]|" },
    { "colons in the data",              "data: a:b: c\n\n",                                "=a:b: c|" },
};
/* clang-format on */

static void run(const maki_alloc *alloc, const struct sse_row *row, size_t step)
{
    maki_sse sse = maki_sse_new(alloc, 1000);
    maki_buf out = maki_buf_new(alloc, 1000);
    maki_err err = { 0 };
    size_t len = strlen(row->sent);
    for (size_t at = 0; at < len; at += step) {
        size_t some = len - at < step ? len - at : step;
        CHECK_STATUS(maki_sse_feed(&sse, (maki_str){ row->sent + at, some }, note, &out, &err),
                     MAKI_OK, &err);
    }
    CHECK_TEXT(maki_buf_str(&out), ((maki_str){ row->told, strlen(row->told) }));
    maki_buf_free(&out);
    maki_sse_free(&sse);
}

static maki_status refuse(void *ctx, const maki_sse_event *event, maki_err *err)
{
    (void)ctx, (void)event, (void)err;
    return MAKI_CANCELLED;
}

int main(void)
{
    maki_env env = maki_env_system();
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s", rows[i].name);
        for (size_t step = 1; step <= strlen(rows[i].sent); step++)
            run(env.alloc, &rows[i], step);
    }

    tap_row("an event over the limit is refused, whether its line ends or not");
    for (int lines = 0; lines < 2; lines++) {
        maki_sse sse = maki_sse_new(env.alloc, 50);
        maki_err err = { 0 };
        maki_status st = MAKI_OK;
        for (int i = 0; st == MAKI_OK && i < 20; i++) {
            maki_str part = lines ? MAKI_LIT("data: 0123456\n") : MAKI_LIT("data: 0123456");
            st = maki_sse_feed(&sse, part, refuse, NULL, &err);
        }
        CHECK_STATUS(st, MAKI_TOOBIG, &err);
        maki_sse_free(&sse);
    }

    tap_row("the callback can stop the parser");
    maki_sse sse = maki_sse_new(env.alloc, 50);
    CHECK_STATUS(maki_sse_feed(&sse, MAKI_LIT("data: 1\n\n"), refuse, NULL, NULL), MAKI_CANCELLED,
                 NULL);
    maki_sse_free(&sse);
    return tap_end();
}
