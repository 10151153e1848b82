/* markdown_test.c -- Markdown in a terminal: a table of texts and what is shown of them.
 *
 * Every text is given whole, cut in two at every byte, and byte by byte: what is shown never differs.  Looks are
 * written here as «b:...» would be in the terminal's own sequences; see `readable`. */
#include "chat/markdown.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str_util.h"
#include "tap.h"

/* The escape sequences as short tags, so that a row can be read. */
static void readable(maki_str shown, maki_buf *out)
{
    static const struct {
        const char *sequence, *tag;
    } tags[] = {
        { "\033[0m", "<>" },  { "\033[1m", "<b>" }, { "\033[2m", "<dim>" }, { "\033[3m", "<i>" },
        { "\033[4m", "<u>" }, { "\033[9m", "<s>" }, { "\033[36m", "<c>" },  { "\033[1;35m", "<h>" },
    };
    for (size_t at = 0; at < shown.len;) {
        size_t i = 0, n = 0;
        for (; i < COUNT(tags); i++) {
            n = strlen(tags[i].sequence);
            if (n <= shown.len - at && memcmp(shown.ptr + at, tags[i].sequence, n) == 0) break;
        }
        if (i < COUNT(tags)) {
            maki_buf_add(out, maki_str_of(tags[i].tag));
            at += n;
        } else {
            maki_buf_add_byte(out, shown.ptr[at++]);
        }
    }
}

static const struct row {
    const char *name;
    unsigned width;
    const char *text, *shown;
} rows[] = {
    { "nothing", 40, "", "" },
    { "a line", 40, "Hello.", "Hello.\n" },
    { "lines stay lines", 40, "a\nb\n", "a\nb\n" },
    { "a long line wraps between words", 12, "one two three four", "one two\nthree four\n" },
    { "a word that just fits", 10, "12345 1234 x", "12345 1234\nx\n" },
    { "a word longer than a line is cut", 10, "a 12345678901234 b", "a\n1234567890\n1234 b\n" },
    { "paragraphs", 40, "a\n\n\n\nb", "a\n\nb\n" },
    { "no empty lines before the first", 40, "\n\na", "a\n" },
    { "carriage returns are no characters", 40, "a\r\nb\r\n", "a\nb\n" },

    { "bold", 40, "a **b c** d", "a <b>b c<> d\n" },
    { "italic, both ways", 40, "*a* _b_", "<i>a<> <i>b<>\n" },
    { "both together", 40, "***a*** b", "<b><i>a<> b\n" },
    { "one in the other", 40, "**a *b* c**", "<b>a <><b><i>b<><b> c<>\n" },
    { "struck out", 40, "~~a~~ ~b", "<s>a<> ~b\n" },
    { "a product and a name are no marks", 40, "2*3*4 snake_case_name a * b",
      "2*3*4 snake_case_name a * b\n" },
    { "bold at the beginning of a line is no list", 40, "**a**: b", "<b>a<>: b\n" },
    { "bold in Japanese needs no spaces", 40, "これは**強調**です", "これは<b>強調<>です\n" },
    { "what is never closed ends with its paragraph", 40, "**a\n\nb", "<b>a<>\n\nb\n" },
    { "an escaped mark", 40, "\\*a\\* \\q", "*a* \\q\n" },

    { "code in a line", 40, "say `a*b*` now", "say <c>a*b*<> now\n" },
    { "with backticks in it", 40, "``a`b`` c", "<c>a`b<> c\n" },
    { "a bracket in code is no link", 40, "`a[0](b)` `[`", "<c>a[0](b)<> <c>[<>\n" },
    { "three backticks inside a line", 40, "```a``` b", "<c>a<> b\n" },

    { "a link", 60, "see [the page](https://a.b/c) now",
      "see <u>the page<> <dim>(https://a.b/c)<> now\n" },
    { "a link that says its address", 60, "[http://a](http://a)", "<u>http://a<>\n" },
    { "brackets that are no link", 40, "a[0] = [b] [c", "a[0] = [b] [c\n" },
    { "marks behind such brackets", 40, "[a] **b**", "[a] <b>b<>\n" },
    { "a tick box", 40, "- [x] done", "<dim>• <>[x] done\n" },

    { "headings", 40, "# One\n## **Two**\ntext", "<h>One<>\n<b><h>Two<>\ntext\n" },
    { "no heading without its space", 40, "#tag\n#######\n####### a",
      "#tag\n#######\n####### a\n" },

    { "a list wraps under its text", 12, "- one two three\n- b",
      "<dim>• <>one two\n<dim>  <>three\n<dim>• <>b\n" },
    { "numbers", 12, "10. one two three", "<dim>10. <>one two\n<dim>    <>three\n" },
    { "a number that begins no list", 40, "3.14 is pi\n2026", "3.14 is pi\n2026\n" },
    { "lists in lists", 40, "* a\n  * b\n    1) c", "<dim>• <>a\n<dim>  • <>b\n<dim>    1) <>c\n" },
    { "a minus is no list", 40, "-1 and -", "-1 and -\n" },
    { "a line across", 12, "a\n---\n***\nb", "a\n<dim>────────────<>\n<dim>────────────<>\nb\n" },

    { "a quote wraps behind its bar", 12, "> one two three\n> b",
      "<dim>│ <>one two\n<dim>│ <>three\n<dim>│ <>b\n" },
    { "quotes in quotes, and a list", 40, "> > a\n>\n> - b",
      "<dim>│ │ <>a\n<dim>│ <>\n<dim>│ • <>b\n" },

    { "fenced code, its language, no wrapping", 12,
      "```c\nint  main(void) { return 0; }\n\n  x\n```\nb",
      "<dim>── c<>\n<c>int  main(void) { return 0; }<>\n\n<c>  x<>\n<dim>──<>\nb\n" },
    { "no language", 40, "```\n**a**\n```", "<dim>──<>\n<c>**a**<>\n<dim>──<>\n" },
    { "a longer fence holds a shorter", 40, "````\n```\n````", "<dim>──<>\n<c>```<>\n<dim>──<>\n" },
    { "fences of tildes", 40, "~~~ py\n`a`\n~~~", "<dim>── py<>\n<c>`a`<>\n<dim>──<>\n" },
    { "code that never ends", 40, "```\na", "<dim>──<>\n<c>a<>\n<dim>──<>\n" },
    { "code in a quote", 40, "> ```\n> a\n> ```\nb",
      "<dim>│ ──<>\n<dim>│ <><c>a<>\n<dim>│ ──<>\nb\n" },
    { "a quote that ends before its code", 40, "> ```\n> a\nb",
      "<dim>│ ──<>\n<dim>│ <><c>a<>\n<dim>──<>\nb\n" },

    { "tables stay as they are", 10, "| a | **b** |\n|---|---|\n", "| a | **b** |\n|---|---|\n" },

    { "Japanese wraps between characters", 10, "これは日本語です", "これは日本\n語です\n" },
    { "no line begins with a full stop", 10, "これは日本。語", "これは日\n本。語\n" },
    { "nor ends with an opening bracket", 10, "これは日「本」", "これは日\n「本」\n" },
    { "Chinese", 10, "你好，世界，再见", "你好，世\n界，再见\n" },
    { "Korean", 10, "안녕하세요 여러분", "안녕하세요\n여러분\n" },
    { "Latin between Japanese", 10, "日本のLinuxです", "日本の\nLinuxです\n" },
    { "emoji are two wide", 10, "🍣🍣🍣🍣🍣🍣", "🍣🍣🍣🍣🍣\n🍣\n" },
    { "a family stays together", 10, "aaaa 👨‍👩‍👧 b", "aaaa\n👨‍👩‍👧 b\n" },
    { "a heart made an emoji counts two", 10, "12345678 ❤️ x", "12345678\n❤️ x\n" },
    { "a combining accent has no width", 10,
      "e\xcc\x81"
      "e\xcc\x81"
      "e\xcc\x81 12345 x",
      "e\xcc\x81"
      "e\xcc\x81"
      "e\xcc\x81 12345\nx\n" },

    { "escape sequences do not get through", 40, "a\033[2Jb `\033]0;x\007`",
      "a\xef\xbf\xbd[2Jb <c>\xef\xbf\xbd]0;x\xef\xbf\xbd<>\n" },
    { "nor in code; tabs do", 40, "```\n\ta\033c\n```",
      "<dim>──<>\n<c>\ta\xef\xbf\xbd"
      "c<>\n<dim>──<>\n" },
    { "bytes that are no UTF-8", 40, "a\xff\xe3\x81z\xe3\x81",
      "a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\n" },
};

static void show(const struct row *row, const size_t *cuts, size_t cut_count, maki_buf *out)
{
    maki_env env = maki_env_system();
    maki_buf shown = maki_buf_new(env.alloc, 1 << 20);
    maki_markdown md;
    maki_err err;
    size_t from = 0, len = strlen(row->text);
    maki_markdown_begin(&md, maki_buf_sink(&shown), row->width, true);
    for (size_t i = 0; i <= cut_count; i++) {
        size_t to = i < cut_count ? cuts[i] : len;
        CHECK_STATUS(maki_markdown_add(&md, (maki_str){ row->text + from, to - from }, &err),
                     MAKI_OK, &err);
        from = to;
    }
    CHECK_STATUS(maki_markdown_end(&md, &err), MAKI_OK, &err);
    readable(maki_buf_str(&shown), out);
    maki_buf_free(&shown);
}

static void test_row(const struct row *row)
{
    maki_env env = maki_env_system();
    maki_buf out = maki_buf_new(env.alloc, 1 << 20);
    size_t len = strlen(row->text), each[512];
    tap_row("%s", row->name);
    show(row, NULL, 0, &out);
    CHECK_TEXT(maki_buf_str(&out), maki_str_of(row->shown));
    for (size_t cut = 0; cut <= len; cut++) {
        maki_buf_clear(&out);
        show(row, &cut, 1, &out);
        if (!CHECK_TEXT(maki_buf_str(&out), maki_str_of(row->shown))) break;
    }
    for (size_t i = 0; i < len && i < COUNT(each); i++)
        each[i] = i;
    maki_buf_clear(&out);
    show(row, each, len < COUNT(each) ? len : 0, &out);
    CHECK_TEXT(maki_buf_str(&out), maki_str_of(row->shown));
    maki_buf_free(&out);
}

static void test_plain(void)
{
    maki_env env = maki_env_system();
    maki_buf shown = maki_buf_new(env.alloc, 1 << 20);
    maki_markdown md;
    maki_err err;
    tap_row("without styles there are no escape sequences");
    maki_markdown_begin(&md, maki_buf_sink(&shown), 40, false);
    CHECK_STATUS(maki_markdown_add(&md, MAKI_LIT("# A\n- **b** `c`\n"), &err), MAKI_OK, &err);
    CHECK_STATUS(maki_markdown_end(&md, &err), MAKI_OK, &err);
    CHECK_STR(maki_buf_str(&shown), "A\n• b c\n");
    maki_buf_free(&shown);
}

static maki_status refuse(void *ctx, maki_str bytes, maki_err *err)
{
    (void)bytes;
    ++*(int *)ctx;
    *err = (maki_err){ .status = MAKI_IO };
    return MAKI_IO;
}

static void test_failure(void)
{
    maki_markdown md;
    maki_err err;
    int calls = 0;
    tap_row("a sink that fails is told, once");
    maki_markdown_begin(&md, (maki_sink){ refuse, &calls }, 40, true);
    CHECK_EQ(maki_markdown_add(&md, MAKI_LIT("a b"), &err), MAKI_IO);
    CHECK_EQ(err.status, MAKI_IO);
    CHECK_EQ(maki_markdown_end(&md, &err), MAKI_IO);
    CHECK_EQ(calls, 1);
}

/* Whatever comes, it ends, and no line is wider than the terminal unless it is code or a table. */
static void test_noise(void)
{
    static const char bits[] = "*_`~#>-+|[]()!\\ \n\n 1. ab日\xe3\x81🍣";
    maki_env env = maki_env_system();
    tap_random random = { 7 };
    tap_row("noise gives the same, however it is cut");
    for (int round = 0; round < 300; round++) {
        char text[200];
        size_t len = tap_below(&random, sizeof text - 1), cuts[3];
        for (size_t i = 0; i < len; i++)
            text[i] = bits[tap_below(&random, sizeof bits - 1)];
        text[len] = '\0';
        struct row row = { "noise", 12, text, "" };
        for (size_t i = 0; i < 3; i++)
            cuts[i] = (i + 1) * len / 4;
        maki_buf whole = maki_buf_new(env.alloc, 1 << 20), cut = maki_buf_new(env.alloc, 1 << 20);
        show(&row, NULL, 0, &whole);
        show(&row, cuts, 3, &cut);
        CHECK_TEXT(maki_buf_str(&cut), maki_buf_str(&whole));
        maki_buf_free(&whole);
        maki_buf_free(&cut);
    }
}

int main(void)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        test_row(&rows[i]);
    test_plain();
    test_failure();
    test_noise();
    return tap_end();
}
