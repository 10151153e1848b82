/* count_files_test.c -- files counted in parts, on all cores, are what their text is. */
#include <stdlib.h>
#include <string.h>

#include <maki/token.h>

#include "base/str_util.h"
#include "directory.h"
#include "tap.h"

enum { LARGE = 9 << 20 };

/* Words of five scripts, with and without spaces, until there are LARGE bytes. */
static maki_str large_text(void)
{
    static const char line[] = "吾輩は猫である。名前はまだ無い。 The quick brown fox 你好，世界 "
                               "안녕하세요 🍣🍙\n  int main(void) { return 0; }\r\n";
    char *text = malloc(LARGE);
    if (!text) abort();
    for (size_t n = 0; n < LARGE; n++)
        text[n] = line[n % (sizeof line - 1)];
    return (maki_str){ text, LARGE };
}

static void told(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *most = ctx;
    CHECK(done >= *most && (total == 0 || done <= total));
    *most = done;
}

int main(void)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    directory f;
    maki_str text = large_text();
    const maki_encoding *encoding = maki_encoding_find("o200k_base");
    maki_tokenizer *t = NULL;
    char large[300], spaces[300], small[300], binary[300], missing[300];
    uint64_t done = 0;
    directory_open(&f);
    strcpy(large, directory_file(&f, "大.txt"));
    strcpy(spaces, directory_file(&f, "spaces"));
    strcpy(small, directory_file(&f, "small"));
    strcpy(binary, directory_file(&f, "binary"));
    strcpy(missing, directory_file(&f, "missing"));
    directory_write(large, text);
    directory_write(small, MAKI_LIT("吾輩は猫である"));
    directory_write(binary, (maki_str){ "a\0b", 3 });
    if (maki_tokenizer_open(&env, encoding, NULL, &t, &err) != MAKI_OK) return 1;
    uint64_t want = maki_tokenizer_count(t, text);
    memset((char *)(uintptr_t)text.ptr, ' ', LARGE); /* no place to cut */
    directory_write(spaces, text);
    uint64_t blanks = maki_tokenizer_count(t, text);

    maki_token_file files[] = { { .path = large, .size = LARGE },
                                { .path = large },
                                { .path = spaces, .size = LARGE },
                                { .path = small, .size = 21 },
                                { .path = binary, .size = 3, .skip_binary = true },
                                { .path = binary, .size = 3 },
                                { .path = missing, .size = 5 } };
    maki_token_file *list[COUNT(files)];
    for (size_t i = 0; i < COUNT(files); i++)
        list[i] = &files[i];
    maki_token_files_options options = { .size = sizeof options, .progress = told, .ctx = &done };
    CHECK_STATUS(maki_token_count_files(&env, encoding, &options, list, COUNT(files), &err),
                 MAKI_OK, &err);
    tap_row("a large file in parts");
    CHECK_EQ(files[0].tokens, want);
    CHECK_EQ(files[0].bytes, LARGE);
    tap_row("the same as a stream");
    CHECK_EQ(files[1].tokens, want);
    tap_row("one without a place to cut");
    CHECK_EQ(files[2].tokens, blanks);
    CHECK_EQ(files[2].bytes, LARGE);
    tap_row("a small one");
    CHECK_EQ(files[3].tokens, maki_tokenizer_count(t, MAKI_LIT("吾輩は猫である")));
    tap_row("a binary one is left out when that is asked for");
    CHECK(files[4].binary && files[4].tokens == 0);
    CHECK(!files[5].binary && files[5].tokens > 0);
    tap_row("one that is not there does not stop the others");
    CHECK_EQ(files[6].err.status, MAKI_NOTFOUND);
    CHECK_CSTR(files[6].err.msg, "No such file or directory");
    tap_row("the bytes that were read are reported");
    CHECK(done > 0);
    maki_tokenizer_close(t);
    free((char *)(uintptr_t)text.ptr);
    directory_close(&f);
    return tap_end();
}
