/* fuzz_sse.c -- events are the same in one piece and in many, and have no line ends but those of their data. */
#include "fuzz.h"

#include <string.h>

#include "base/str_util.h"
#include "net/sse.h"

enum { EVENT_MAX = 1000 };

static maki_status note(void *ctx, const maki_sse_event *event, maki_err *err)
{
    maki_buf *out = ctx;
    MUST(!memchr(event->name.ptr, '\n', event->name.len));
    MUST(!memchr(event->data.ptr, '\r', event->data.len));
    MUST(event->data.len <= EVENT_MAX);
    maki_buf_add(out, event->name);
    maki_buf_add_byte(out, '\r');
    maki_buf_add(out, event->data);
    maki_buf_add_byte(out, '\r');
    return maki_buf_status(out, err);
}

static maki_status run(const maki_env *env, maki_str bytes, size_t most, fuzz_chance *chance,
                       maki_buf *out)
{
    maki_sse sse = maki_sse_new(env->alloc, EVENT_MAX);
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && bytes.len) {
        size_t some = most ? 1 + fuzz_draw(chance, most) : bytes.len;
        if (some > bytes.len) some = bytes.len;
        st = maki_sse_feed(&sse, maki_str_prefix(bytes, some), note, out, NULL);
        bytes = maki_str_skip(bytes, some);
    }
    maki_sse_free(&sse);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maki_env env = maki_env_system();
    fuzz_chance chance = fuzz_chance_of(data, size);
    maki_str bytes = { (const char *)data, size };
    maki_buf whole = maki_buf_new(env.alloc, 1 << 24), parts = maki_buf_new(env.alloc, 1 << 24);
    maki_status st = run(&env, bytes, 0, &chance, &whole);
    maki_status st_parts = run(&env, bytes, 7, &chance, &parts);
    MUST(st == MAKI_OK || st == MAKI_TOOBIG);
    /* a line that is in one piece need not fit the buffer for lines */
    if (st_parts == MAKI_OK)
        MUST(st == MAKI_OK && maki_str_equal(maki_buf_str(&whole), maki_buf_str(&parts)));
    maki_buf_free(&whole);
    maki_buf_free(&parts);
    return 0;
}
