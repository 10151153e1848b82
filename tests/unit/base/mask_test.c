/* mask_test.c -- what is masked in the errors of providers, and what is not. */
#include "base/mask.h"

#include "base/str_util.h"
#include "tap.h"

/* clang-format off */
static const struct mask_row { const char *name, *credential, *text, *want; } rows[] = {
    { "the request's own key",      "my-own-海苔",            "key my-own-海苔: no",             "key ***: no" },
    { "in a word",                  "abcdef",                  "xabcdefx",                         "x***x" },
    { "behind its scheme",          "Bearer abcdef",           "Bearer abcdef",                    "Bearer ***" },
    { "twice",                      "abcdef",                  "abcdefabcdef",                     "******" },
    { "one of asterisks",           "***",                     "key *** and ****",                 "key *** and ****" },
    { "OpenAI's",                   "",                        "Incorrect API key provided: sk-proj-abc123. You", "Incorrect API key provided: ***. You" },
    { "partly masked already",      "",                        "sk-ab**********yz is wrong",       "*** is wrong" },
    { "GitHub's, Google's, a JWT",  "",                        "ghp_16C7e4 AIzaSyA1 eyJhbGci",     "*** *** ***" },
    { "32 hexadecimal digits",      "",                        "海苔 0123456789abcdef0123456789abcdef 🍣", "海苔 *** 🍣" },
    { "in a JSON string",           "",                        "{\"message\":\"sk-ant-api03-x_y\"}", "{\"message\":\"***\"}" },
    { "a model is no key",          "",                        "claude-3-5-haiku-20241022 gpt-4o-mini-2024-07-18", "claude-3-5-haiku-20241022 gpt-4o-mini-2024-07-18" },
    { "nor is a number or a word",  "",                        "123456789012345678901 supercalifragilisticexpialidocious", "123456789012345678901 supercalifragilisticexpialidocious" },
    { "Japanese, Chinese, Korean",  "",                        "回数制限です。请求过多。요청이 너무 많습니다 🙇", "回数制限です。请求过多。요청이 너무 많습니다 🙇" },
    { "nothing",                    "",                        "",                                 "" },
};
/* clang-format on */

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[300];
        maki_credential c = maki_credential_of(maki_str_of(rows[i].credential));
        tap_row("%s", rows[i].name);
        CHECK(maki_str_copy(maki_str_of(rows[i].text), text, sizeof text));
        text[maki_mask(text, strlen(text), &c)] = '\0';
        CHECK_CSTR(text, rows[i].want);
    }
    return tap_end();
}
