/* parts_test.c -- the parts of the summarizer one by one, in tables. */
#include <stdio.h>

#include "fake_env.h"
#include "talk.h"

#include "summary/entities.h"
#include "summary/keywords.h"
#include "summary/line_reader.h"
#include "summary/summary_items.h"
#include "summary/summary_words.h"
#include "summary/term_bitmap.h"
#include "summary/text_set.h"
#include "summary/tool_kind.h"

/* ---- paths, names, numbers ------------------------------------------------------------------------- */

static void put_entity(void *ctx, maki_fact what, maki_str text)
{
    char *out = ctx;
    size_t n = strlen(out);
    snprintf(out + n, 512 - n, "%s%c:%.*s", n ? " " : "", "PNZ"[what], (int)text.len, text.ptr);
}

static const struct {
    const char *text, *found;
} entity_rows[] = {
    { "see src/net/http.c.", "P:src/net/http.c" },
    { "src/a.tsを修正し、lib/b.goも見た", "P:src/a.ts P:lib/b.go" },
    { "`docs/設計書.md` を読む", "P:docs/設計書.md" },
    { "/etc/nginx/nginx.conf:12: bad", "P:/etc/nginx/nginx.conf Z:12" },
    { "./scripts/setup/run and ~/x/y", "P:./scripts/setup/run P:~/x/y" },
    { "either and/or both, 2024/05/01, TCP/IP", "" },
    { "https://example.com/a/b.js is a page", "" },
    { "github.com/user/repo/x", "" },
    { "Node.js and res.json() and App.js", "P:App.js" },
    { "edit Makefile and .env", "P:Makefile P:.env" },
    { "call max_row_bytes or getUserName", "N:max_row_bytes N:getUserName" },
    { "the port 8443 and 3 tries, v1.25", "Z:8443" },
    { "1204331 rows in 4.1 s", "Z:1204331 Z:4.1" },
    { "", "" },
    { "`", "" },
    { "``/", "" },
    { "мир/привет.md שלום/עולם 🎉/🎉", "" },
};

static void test_entities(void)
{
    for (size_t i = 0; i < COUNT(entity_rows); i++) {
        char out[512] = "";
        tap_row("entities in \"%s\"", entity_rows[i].text);
        maki_entities_in(maki_str_of(entity_rows[i].text), put_entity, out);
        CHECK_CSTR(out, entity_rows[i].found);
    }
}

/* ---- phrases ------------------------------------------------------------------------------------------ */

static const struct {
    const char *text;
    unsigned bits, of; /* which of these bits are expected */
} keyword_rows[] = {
    { "We decided to use Redis.", MAKI_KEYWORD_DECISION,
      MAKI_KEYWORD_DECISION | MAKI_KEYWORD_OPEN },
    { "the undecided one", 0, MAKI_KEYWORD_DECISION },
    { "TODO: write it", MAKI_KEYWORD_OPEN, MAKI_KEYWORD_OPEN | MAKI_KEYWORD_DONE },
    { "The bug is fixed.", MAKI_KEYWORD_FIXED, MAKI_KEYWORD_FIXED | MAKI_KEYWORD_NOT },
    { "The bug is not fixed.", MAKI_KEYWORD_NOT, MAKI_KEYWORD_NOT },
    { "TypeError: x is null", MAKI_KEYWORD_ERROR | MAKI_KEYWORD_ERROR_LINE,
      MAKI_KEYWORD_ERROR | MAKI_KEYWORD_ERROR_LINE },
    { "terrors of the deep", 0, MAKI_KEYWORD_ERROR },
    { "make: *** [all] Error 2", MAKI_KEYWORD_GENERIC, MAKI_KEYWORD_GENERIC },
    { "found 0 errors", MAKI_KEYWORD_NO_ERROR, MAKI_KEYWORD_NO_ERROR },
    { "Exit code: 1", MAKI_KEYWORD_EXIT, MAKI_KEYWORD_EXIT },
    { "方針を決定しました。", MAKI_KEYWORD_DECISION, MAKI_KEYWORD_DECISION },
    { "まだ直っていません。", MAKI_KEYWORD_OPEN | MAKI_KEYWORD_NOT,
      MAKI_KEYWORD_OPEN | MAKI_KEYWORD_NOT },
    { "次にテストを書きます。", MAKI_KEYWORD_NEXT, MAKI_KEYWORD_NEXT | MAKI_KEYWORD_OPEN },
    { "我们决定采用 Redis。", MAKI_KEYWORD_DECISION, MAKI_KEYWORD_DECISION },
    { "待办：写文档", MAKI_KEYWORD_OPEN, MAKI_KEYWORD_OPEN },
    { "问题已解决。", MAKI_KEYWORD_FIXED, MAKI_KEYWORD_FIXED | MAKI_KEYWORD_NOT },
    { "아직 남은 일", MAKI_KEYWORD_OPEN, MAKI_KEYWORD_OPEN },
    { "빌드 오류: 3", MAKI_KEYWORD_ERROR_LINE, MAKI_KEYWORD_ERROR_LINE },
    { "", 0, ~0u },
    { "ab", 0, ~0u },
};

static void test_keywords(void)
{
    maki_keywords keywords;
    maki_keywords_init(&keywords);
    for (size_t i = 0; i < COUNT(keyword_rows); i++) {
        tap_row("phrases of \"%s\"", keyword_rows[i].text);
        CHECK_EQ(maki_keywords_in(&keywords, maki_str_of(keyword_rows[i].text)) &
                     keyword_rows[i].of,
                 keyword_rows[i].bits);
    }
}

/* ---- tools --------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    maki_tool_kind kind;
} tool_rows[] = {
    { "Read", MAKI_TOOL_READ },
    { "read_file", MAKI_TOOL_READ },
    { "view_file", MAKI_TOOL_READ },
    { "Write", MAKI_TOOL_WRITE },
    { "write_to_file", MAKI_TOOL_WRITE },
    { "create_file", MAKI_TOOL_WRITE },
    { "Edit", MAKI_TOOL_EDIT },
    { "MultiEdit", MAKI_TOOL_EDIT },
    { "str_replace_editor", MAKI_TOOL_EDIT },
    { "apply_patch", MAKI_TOOL_EDIT },
    { "apply_diff", MAKI_TOOL_EDIT },
    { "replace_in_file", MAKI_TOOL_EDIT },
    { "Bash", MAKI_TOOL_RUN },
    { "shell", MAKI_TOOL_RUN },
    { "execute_command", MAKI_TOOL_RUN },
    { "run_terminal_cmd", MAKI_TOOL_RUN },
    { "TodoWrite", MAKI_TOOL_TODO },
    { "update_plan", MAKI_TOOL_TODO },
    { "Grep", MAKI_TOOL_SEARCH },
    { "list_files", MAKI_TOOL_SEARCH },
    { "search_files", MAKI_TOOL_SEARCH },
    { "delete_file", MAKI_TOOL_DELETE },
    { "WebFetch", MAKI_TOOL_OTHER },
    { "mcp__calendar__today", MAKI_TOOL_OTHER },
    { "", MAKI_TOOL_OTHER },
    { "道具", MAKI_TOOL_OTHER },
};

static const struct {
    const char *command, *name;
} command_rows[] = {
    { "npm test", "npm test" },
    { "cd app && npm  test 2>&1 | tail -20", "npm test" },
    { "cd a && cd b && make", "make" },
    { "make test > log.txt", "make test" },
    { "python3 - <<'EOF'\nprint(1)\nEOF", "python3 -" },
    { "cargo build\ncargo test", "cargo build" },
    { "", "" },
    { "   ", "" },
    { "| tail", "| tail" },
};

static const struct {
    const char *whole, *part;
    bool covers;
} cover_rows[] = {
    { "npm test", "npm test", true },
    { "npm test", "npm test -- cart", true },
    { "pytest", "pytest tests/test_a.py -x", true },
    { "make", "make test", false },
    { "npm test -- cart", "npm test", false },
    { "npm", "npmx", false },
    { "", "x", false },
};

static void test_tools(void)
{
    for (size_t i = 0; i < COUNT(tool_rows); i++) {
        tap_row("what the tool \"%s\" does", tool_rows[i].name);
        CHECK_EQ(maki_tool_kind_of(maki_str_of(tool_rows[i].name)), tool_rows[i].kind);
    }
    for (size_t i = 0; i < COUNT(command_rows); i++) {
        char name[64];
        tap_row("the name of command \"%s\"", command_rows[i].name);
        size_t n = maki_command_name(maki_str_of(command_rows[i].command), name, sizeof name);
        CHECK_TEXT(((maki_str){ name, n }), maki_str_of(command_rows[i].name));
    }
    for (size_t i = 0; i < COUNT(cover_rows); i++) {
        tap_row("\"%s\" and \"%s\"", cover_rows[i].whole, cover_rows[i].part);
        CHECK_EQ(maki_command_includes(maki_str_of(cover_rows[i].whole),
                                       maki_str_of(cover_rows[i].part)),
                 cover_rows[i].covers);
    }
}

static void test_arguments(void)
{
    maki_tool_args args = maki_tool_args_truncated(
        MAKI_LIT("{\"file_path\": \"a \\\"b\\\".c\", \"content\":\"int main(vo"));
    tap_row("arguments that are cut still give the path");
    CHECK_STR(args.path, "\"a \\\"b\\\".c\"");
    args = maki_tool_args_truncated(MAKI_LIT("{\"path\":\"a/b"));
    tap_row("a path that is cut itself is none");
    CHECK_EQ(args.path.len, 0);
    args = maki_tool_args_of(MAKI_LIT("{\"command\":\"view\",\"path\":\"x.c\"}"));
    tap_row("an argument says what the tool does");
    CHECK_EQ(maki_tool_kind_by_command(MAKI_TOOL_EDIT, &args), MAKI_TOOL_READ);
    args = maki_tool_args_of(MAKI_LIT("[1,2]"));
    tap_row("arguments that are no object have nothing");
    CHECK_EQ(args.path.len + args.command.len + args.todos.len, 0);
}

/* ---- sets ------------------------------------------------------------------------------------------------- */

static void test_text_set(void)
{
    fake_env fe;
    maki_text_set notes;
    maki_err err = { 0 };
    fake_env_init(&fe);
    maki_arena arena = maki_arena_new(fe.env.alloc, 1 << 20);
    tap_row("a full set gives up its less important half");
    CHECK_STATUS(maki_text_set_init(&notes, &arena, 16, 32, 8, &err), MAKI_OK, &err);
    for (uint32_t i = 0; i < 1000; i++) {
        char text[16];
        snprintf(text, sizeof text, "note %u", i);
        maki_str t = maki_str_of(text);
        maki_text_set_add(&notes, maki_text_item_key(t), t, i % 100 == 0 ? 5 : 1, i);
        CHECK(notes.count <= 16);
    }
    CHECK(maki_text_set_find(&notes, maki_text_item_key(MAKI_LIT("note 999"))) != NULL);
    CHECK(maki_text_set_find(&notes, maki_text_item_key(MAKI_LIT("note 900"))) != NULL);
    CHECK(maki_text_set_find(&notes, maki_text_item_key(MAKI_LIT("note 901"))) == NULL);
    for (size_t i = 0; i < notes.count; i++)
        CHECK(maki_text_set_find(&notes, notes.at[i].key) == &notes.at[i]);
    tap_row("a text that is too long ends with a mark, not inside a character");
    maki_text_item *note =
        maki_text_set_add(&notes, 7, MAKI_LIT("日本語日本語日本語日本語日本語"), 1, 1);
    CHECK_STR(maki_text_item_text(note), "日本語日本語日本語…");
    maki_arena_free(&arena);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

typedef struct lines {
    size_t count, bytes, longest;
    bool split;
} lines;

static void count_line(void *ctx, maki_str line, bool more)
{
    lines *l = ctx;
    (void)more;
    l->count++;
    l->bytes += line.len;
    if (line.len > l->longest) l->longest = line.len;
    l->split |= line.len > 0 && ((unsigned char)line.ptr[0] & 0xC0) == 0x80;
}

static void test_line_reader(void)
{
    static maki_line_reader reader;
    static char text[60002];
    lines l = { 0 };
    tap_row("lines of a JSON string");
    maki_line_reader_string(&reader, MAKI_LIT("\"a\\nb\\n\\nc\\u3042\""), count_line, &l);
    CHECK_EQ(l.count, 4);
    CHECK_EQ(l.bytes, 6);
    tap_row("a line without end comes in parts and no character is cut");
    text[0] = '"';
    for (size_t i = 1; i < 60001; i += 3)
        memcpy(text + i, "あ", 3);
    text[60001] = '"';
    l = (lines){ 0 };
    maki_line_reader_string(&reader, (maki_str){ text, sizeof text }, count_line, &l);
    CHECK_EQ(l.bytes, 60000);
    CHECK(l.longest <= MAKI_LINE_READER_LINE && !l.split);
}

/* ---- terms and words ------------------------------------------------------------------------------------------ */

static const struct {
    const char *a, *b;
    unsigned terms, shared; /* of a; at least of both */
} term_bitmap_rows[] = {
    { "The payment is late", "late PAYMENT", 3, 2 },
    { "在庫の引き当て", "在庫を見る", 6, 1 },
    { "まだです", "まだです", 0, 0 },
    { "결제 오류", "결제를 고쳤다", 2, 1 },
    { "", "ab", 0, 0 },
};

static void test_term_bitmap(void)
{
    for (size_t i = 0; i < COUNT(term_bitmap_rows); i++) {
        maki_term_bitmap a = maki_term_bitmap_of(maki_str_of(term_bitmap_rows[i].a));
        maki_term_bitmap b = maki_term_bitmap_of(maki_str_of(term_bitmap_rows[i].b));
        tap_row("terms of \"%s\"", term_bitmap_rows[i].a);
        CHECK_EQ(maki_term_bitmap_shared(&a, &a), term_bitmap_rows[i].terms);
        CHECK_EQ(maki_term_bitmap_shared(&a, &b), term_bitmap_rows[i].shared);
    }
}

static const struct {
    const char *text;
    maki_lang lang;
} lang_rows[] = {
    { "Please fix the build.", MAKI_EN },
    { "ビルドを直してください。src/a.ts と npm test を見て。", MAKI_JA },
    { "请修复构建，看一下 src/a.ts 里的 parseConfig 函数为什么会失败。", MAKI_ZH },
    { "빌드를 고쳐 주세요. npm test 결과를 확인하세요.", MAKI_KO },
    { "", MAKI_EN },
    { "🎉🎉", MAKI_EN },
};

static const struct {
    const char *line;
    maki_section section;
} heading_rows[] = {
    { "## Current Work", MAKI_SEC_CURRENT },
    { "2. Current Work: x", MAKI_SEC_CURRENT },
    { "**Pending Tasks:**", MAKI_SEC_PENDING },
    { "## 未完了のタスク", MAKI_SEC_PENDING },
    { "## 相关文件和代码", MAKI_SEC_FILES },
    { "Current Workers", MAKI_SECTIONS },
    { "", MAKI_SECTIONS },
};

static void test_wording(void)
{
    for (size_t i = 0; i < COUNT(lang_rows); i++) {
        maki_script_counts letters = { 0 };
        tap_row("the language of \"%s\"", lang_rows[i].text);
        maki_script_counts_add(&letters, maki_str_of(lang_rows[i].text));
        CHECK_EQ(maki_script_counts_lang(&letters), lang_rows[i].lang);
    }
    for (size_t i = 0; i < COUNT(heading_rows); i++) {
        maki_str rest;
        tap_row("the heading \"%s\"", heading_rows[i].line);
        CHECK_EQ(maki_heading_of(maki_str_of(heading_rows[i].line), &rest),
                 heading_rows[i].section);
    }
}

static void test_items(void)
{
    static const struct {
        const char *text, *items;
    } rows[] = {
        { "## Previous Conversation\nRules:\n- Never touch the audit log\nReplies:\n- no\n",
          "rule=Never touch the audit log;" },
        { "## これまでの会話\nルール：\n- 監査ログに触らない\n決定と要点：\n- 「SQLite を使う」\n- 要点だけ\n",
          "rule=監査ログに触らない;decision=「SQLite を使う」;" },
        { "Decisions:\n- Redis\n## Pending Tasks\n- write the tests\nCommands:\n- make\n",
          "decision=Redis;open=write the tests;" },
        { "目标和人员：\n- 小王负责评审\n未解决：\n- 测试失败",
          "goal=小王负责评审;open=测试失败;" },
        { "- an item under nothing\n규칙: 하나, 둘\n- ", "" },
        { "", "" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char got[512] = "";
        maki_summary_items items = { maki_str_of(rows[i].text), MAKI_SECTIONS, MAKI_LABELS };
        maki_summary_item item;
        tap_row("the items of \"%s\"", rows[i].text);
        while (maki_summary_items_next(&items, &item)) {
            size_t n = strlen(got);
            snprintf(got + n, sizeof got - n, "%s=%.*s;", item.kind, (int)item.text.len,
                     item.text.ptr);
        }
        CHECK(strcmp(got, rows[i].items) == 0);
    }
}

int main(void)
{
    test_entities();
    test_keywords();
    test_tools();
    test_arguments();
    test_text_set();
    test_line_reader();
    test_term_bitmap();
    test_wording();
    test_items();
    return tap_end();
}
