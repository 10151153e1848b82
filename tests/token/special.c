/* special.c -- special tokens: plain text unless they are asked for, and then one token each. */
#include <string.h>

#include <maki/token.h>

#include "ids.h"
#include "tap.h"

/* clang-format off */
static const struct special_row {
    const char *encoding, *text;
    uint32_t ids[8]; /* ends with 0, which is no token in any of these */
} rows[] = {
    { "o200k_base",  "<|endoftext|>",                    { 199999 } },
    { "o200k_base",  "<|endofprompt|>",                  { 200018 } },
    { "o200k_base",  "hello<|endoftext|>hello",          { 24912, 199999, 24912 } },
    { "o200k_base",  "<|endoftext|><|endoftext|>",       { 199999, 199999 } },
    { "o200k_base",  "<|endoftext<|endoftext|>",         { 27, 91, 419, 1440, 919, 199999 } },
    { "cl100k_base", "<|endoftext|>",                    { 100257 } },
    { "cl100k_base", "<|fim_prefix|><|fim_middle|><|fim_suffix|><|endofprompt|>",
                                                         { 100258, 100259, 100260, 100276 } },
    { "cl100k_base", "hello<|endoftext|>hello",          { 15339, 100257, 15339 } },
    { "claude",      "<META><META_START><META_END><SOS>", { 1, 2, 3, 4 } },
};
/* clang-format on */

static maki_tokenizer *open_with(const char *name, bool special)
{
    maki_tokenizer_options options = MAKI_TOKENIZER_OPTIONS_INIT;
    maki_env env = maki_env_system();
    maki_tokenizer *t = NULL;
    maki_err err = { 0 };
    options.special = special;
    CHECK_STATUS(maki_tokenizer_open(&env, maki_encoding_find(name), &options, &t, &err), MAKI_OK,
                 &err);
    return t;
}

static void check(const struct special_row *row, tap_random *random)
{
    const maki_encoding *encoding = maki_encoding_find(row->encoding);
    maki_tokenizer *special = open_with(row->encoding, true);
    maki_tokenizer *plain = open_with(row->encoding, false);
    maki_str text = { row->text, strlen(row->text) };
    id_list want = { 0 }, have = { 0 };
    for (size_t i = 0; row->ids[i]; i++)
        ids_add(&want, &row->ids[i], 1);

    tap_row("%s: %s", row->encoding, row->text);
    ids_encode(&have, special, text);
    if (!CHECK(ids_same(&want, &have)))
        ids_show_difference(encoding, "with special tokens", text, &want, &have);
    CHECK_EQ(maki_tokenizer_count(special, text), want.count);
    CHECK(ids_decode_to(encoding, &want, text));
    for (int i = 0; i < 20; i++) { /* cut anywhere, also inside a special token */
        ids_encode_parts(&have, special, text, random);
        CHECK(ids_same(&want, &have));
        CHECK_EQ(ids_count_parts(special, text, random), want.count);
    }

    ids_encode(&have, plain, text);
    CHECK(have.count > want.count);
    CHECK(ids_decode_to(encoding, &have, text));
    CHECK_EQ(maki_tokenizer_count(plain, text), have.count);
    ids_free(&want);
    ids_free(&have);
    maki_tokenizer_close(special);
    maki_tokenizer_close(plain);
}

int main(void)
{
    tap_random random = { 8 };
    for (size_t i = 0; i < COUNT(rows); i++)
        check(&rows[i], &random);
    return tap_end();
}
