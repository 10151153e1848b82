/* yaml_test.c -- what is too much, and what only bytes can say; other mistakes are in tests/cases/config. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/str_util.h"
#include "config/yaml.h"
#include "config_kit.h"
#include "tap.h"

static config_kit kit;

static void refused(const char *name, maki_str text, const char *words)
{
    maki_env env = maki_env_system();
    tap_row("%s", name);
    CHECK_STATUS(config_read(&kit, &env, NULL, text), MAKI_INVALID, &kit.err);
    if (!CHECK(strstr(kit.problems, words) != NULL)) printf("# %s", kit.problems);
}

static void repeated(const char *name, const char *head, const char *part, size_t times,
                     const char *words)
{
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, 4 << 20);
    maki_buf_add(&text, maki_str_of(head));
    for (size_t i = 0; i < times; i++)
        maki_buf_add(&text, maki_str_of(part));
    refused(name, maki_buf_str(&text), words);
    maki_buf_free(&text);
}

/* Nine anchors, each nine times the one before: 387 million values when written out. */
static void run_bomb(void)
{
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, 1 << 16);
    maki_buf_add(&text, MAKI_LIT("memory:\n  paths: &a0 [x, x, x, x, x, x, x, x, x]\npolicies:\n"));
    for (int i = 1; i < 10; i++) {
        char line[120];
        int n = snprintf(line, sizeof line,
                         "  p%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i,
                         i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
        maki_buf_add(&text, (maki_str){ line, (size_t)n });
    }
    refused("a bomb of aliases", maki_buf_str(&text), "policies.p1.0 must be a mapping");
    maki_buf_free(&text);
}

/* Aliases where the table takes them, too many all the same. */
static void run_wide(void)
{
    maki_env env = maki_env_system();
    maki_buf text = maki_buf_new(env.alloc, 1 << 20);
    maki_buf_add(&text, MAKI_LIT("agents:\n  a: &a {tools: {allow: ["));
    for (int i = 0; i < 200; i++)
        maki_buf_add(&text, MAKI_LIT("x,"));
    maki_buf_add(&text, MAKI_LIT("]}}\n"));
    for (int i = 0; i < 200; i++) {
        char line[40];
        int n = snprintf(line, sizeof line, "  b%d: *a\n", i);
        maki_buf_add(&text, (maki_str){ line, (size_t)n });
    }
    refused("more values than can be, by aliases", maki_buf_str(&text),
            "with its aliases written out");
    maki_buf_free(&text);
}

int main(void)
{
    config_kit_open(&kit);
    repeated("more than a megabyte", "# ", "0123456789", 110000, "0:0: more than 1024 KB");
    repeated("more than 32 levels", "agents: ", "[", 40, "1:40: more than 32 levels");
    repeated("levels without end", "", "[", 100000, "more than 32 levels");
    repeated("more than 10,000 values", "memory: {paths: [", "a, ", 11000,
             "more than 10000 values");
    repeated("more than 100 mistakes", "", "a: 1\n", 300, "a stands twice, first on line 1");
    run_bomb();
    run_wide();
    refused("UTF-16",
            MAKI_LIT("\xff\xfe"
                     "a\0:\0"),
            "1:1: this is UTF-16; save the file as UTF-8");
    refused("no UTF-8", MAKI_LIT("# 設定\n  \xe8\xa8\n"), "2:3: this is no UTF-8 (byte 0xe8)");
    refused("Shift JIS", MAKI_LIT("\x90\xdd\x92\xe8: 1\n"), "1:1: this is no UTF-8 (byte 0x90)");
    refused("a NUL", MAKI_LIT("policy: \0\n"), "1:9: no YAML");
    refused("a control character",
            MAKI_LIT("# 一\npolicy: a\x01"
                     "b\n"),
            "2:10: no YAML: control characters are not allowed");
    refused("a NUL that is escaped", MAKI_LIT("policy: \"a\\0b\"\n"),
            "1:9: policy must not contain a NUL character");
    refused("an escape in a name does not reach the terminal", MAKI_LIT("\"a\\e[31m\\n\": 1\n"),
            "there is no setting a [31m ;");
    config_kit_close(&kit);
    return tap_end();
}
