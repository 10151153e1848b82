/* fuzz_markdown.c -- Markdown in a terminal: any bytes are shown the same wherever they are cut, and no control
 * character of theirs gets through. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/str_util.h"
#include "chat/markdown.h"

static void show(maki_str bytes, unsigned width, size_t most, fuzz_chance *chance, maki_buf *out)
{
    maki_markdown md;
    maki_markdown_begin(&md, maki_buf_sink(out), width, false);
    while (bytes.len) {
        size_t some = most ? 1 + fuzz_draw(chance, most) : bytes.len;
        if (some > bytes.len) some = bytes.len;
        MUST(maki_markdown_add(&md, maki_str_prefix(bytes, some), NULL) == MAKI_OK);
        bytes = maki_str_skip(bytes, some);
    }
    MUST(maki_markdown_end(&md, NULL) == MAKI_OK);
}

/* Without styles there is no escape sequence of ours either. */
static void check_clean(maki_str shown)
{
    for (size_t i = 0; i < shown.len; i++) {
        unsigned char c = (unsigned char)shown.ptr[i];
        MUST(c >= 0x20 || c == '\n' || c == '\t');
        MUST(c != 0x7f);
        if (c == 0xc2 && i + 1 < shown.len) MUST((unsigned char)shown.ptr[i + 1] >= 0xa0);
    }
    MUST(shown.len == 0 || shown.ptr[shown.len - 1] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maki_env env = maki_env_system();
    fuzz_chance chance = fuzz_chance_of(data, size);
    maki_str bytes = { (const char *)data, size };
    maki_buf whole = maki_buf_new(env.alloc, 1 << 26), parts = maki_buf_new(env.alloc, 1 << 26);
    unsigned width = 5 + (unsigned)fuzz_draw(&chance, 100);
    show(bytes, width, 0, &chance, &whole);
    show(bytes, width, 7, &chance, &parts);
    MUST(maki_str_equal(maki_buf_str(&whole), maki_buf_str(&parts)));
    check_clean(maki_buf_str(&whole));
    maki_buf_free(&whole);
    maki_buf_free(&parts);
    return 0;
}
