/* fuzz_http_chunk.c -- a body in chunks is the same in one piece and in many; what is written is read back. */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "base/str_util.h"
#include "net/http_chunk.h"

typedef struct told {
    maki_buf body;
    maki_status status;
    bool end;
    size_t used;
} told;

/* `most` bytes at a time, at the most; 0: all at once. */
static told run(const maki_env *env, maki_str bytes, size_t most, fuzz_chance *chance)
{
    told t = { .body = maki_buf_new(env->alloc, 1 << 24) };
    maki_chunks chunks = { 0 };
    while (t.status == MAKI_OK && !t.end && t.used < bytes.len) {
        size_t some = bytes.len - t.used, used = 0;
        maki_str body;
        if (most) {
            size_t piece = 1 + fuzz_draw(chance, most);
            if (piece < some) some = piece;
        }
        maki_str piece = { bytes.ptr + t.used, some };
        t.status = maki_chunks_parse(&chunks, piece, &used, &body, &t.end, NULL);
        if (t.status != MAKI_OK) break;
        MUST(used > 0 && used <= some && body.len <= used);
        maki_buf_add(&t.body, body);
        t.used += used;
    }
    MUST(t.body.status == MAKI_OK);
    return t;
}

/* The bytes as a body, in chunks of chance sizes. */
static void write_and_read(const maki_env *env, maki_str bytes, fuzz_chance *chance)
{
    maki_buf sent = maki_buf_new(env->alloc, 1 << 24);
    for (size_t at = 0; at < bytes.len;) {
        size_t n = 1 + fuzz_draw(chance, 300);
        char head[20];
        if (n > bytes.len - at) n = bytes.len - at;
        maki_buf_add(&sent, (maki_str){ head, maki_chunk_head(n, head) });
        maki_buf_add(&sent, (maki_str){ bytes.ptr + at, n });
        maki_buf_add(&sent, MAKI_LIT("\r\n"));
        at += n;
    }
    maki_buf_add(&sent, MAKI_LIT(MAKI_CHUNKS_END));
    told t = run(env, maki_buf_str(&sent), 40, chance);
    MUST(t.status == MAKI_OK && t.end && t.used == sent.len);
    MUST(maki_str_equal(maki_buf_str(&t.body), bytes));
    maki_buf_free(&t.body);
    maki_buf_free(&sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maki_env env = maki_env_system();
    fuzz_chance chance = fuzz_chance_of(data, size);
    maki_str bytes = { (const char *)data, size };
    told whole = run(&env, bytes, 0, &chance), parts = run(&env, bytes, 9, &chance);
    MUST(whole.status == parts.status && whole.end == parts.end);
    if (whole.status == MAKI_OK) {
        MUST(whole.used == parts.used);
        MUST(maki_str_equal(maki_buf_str(&whole.body), maki_buf_str(&parts.body)));
    }
    maki_buf_free(&whole.body);
    maki_buf_free(&parts.body);
    write_and_read(&env, bytes, &chance);
    return 0;
}
