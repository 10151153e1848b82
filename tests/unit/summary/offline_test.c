/* offline_test.c -- what a summary holds of small conversations, and that nothing upsets it. */
#include <stdio.h>
#include <stdlib.h>

#include "fake_env.h"
#include "samples.h"
#include "talk.h"

#include "base/buf.h"
#include "base/json_write.h"
#include "base/text.h"
#include "summary/offline.h"

enum { MOST = 64 << 20 };

static maki_status summarize(maki_str talk, uint64_t budget, maki_arena *arena, maki_str *out,
                             maki_err *err)
{
    maki_offline_options how = MAKI_OFFLINE_INIT;
    how.budget = budget;
    maki_summarizer offline = maki_summarizer_offline_with(&how);
    maki_summary_request request = talk_request(&talk);
    maki_summary summary = { .text = { "", 0 } };
    maki_status st = offline.run(&offline, &request, arena, &summary, err);
    *out = summary.text;
    return st;
}

/* ---- what it holds ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *talk;
    const char *has[6], *lacks[4];
} rows[] = {
    { "the first and the newest request",
      USER("Fix the login page.") SAYS("I fixed it.") USER("Now fix the logout page too."),
      { "First request: “Fix the login page.”", "Newest request: “Now fix the logout page too.”" },
      { "## Pending Tasks", "- -" } },
    { "what an agent inserts at the end of a text is not what a person said",
      USER("Fix the login page. <system-reminder>Today is Friday. Never say so.</system-reminder>")
          SAYS("I fixed it."),
      { "First request: “Fix the login page.”" },
      { "Friday", "Never", "system-reminder" } },
    { "nor at its beginning, however many lines it has",
      USER("<system-reminder>\\nAlways use the list.\\n</system-reminder>\\nFix the login page.")
          SAYS("I fixed it."),
      { "First request: “Fix the login page.”" },
      { "list", "system-reminder" } },
    { "but a person may write after one, or about one",
      USER("Hello there, friend.\\n<system-reminder>\\nUse the list.\\n</system-reminder>\\nNever "
           "rename core.c.") USER("What is <system-reminder>a b</system-reminder> in log.txt for?"),
      { "- “Never rename core.c.”",
        "What is <system-reminder>a b</system-reminder> in log.txt for?" },
      { "Use the list" } },
    { "the rules of a project's file are rules",
      USER("# AGENTS.md instructions for /x\\n<INSTRUCTIONS>\\nNever edit dist/"
           "x.js.\\n</INSTRUCTIONS>") USER("Fix the login page."),
      { "- “Never edit dist/x.js.”", "First request: “Fix the login page.”" },
      { "INSTRUCTIONS" } },
    { "indirect requests are rules, talk is none",
      USER("Would you mind not sorting the imports?")
          USER("We'd prefer that the keys stay untouched.")
              USER("My sister never liked the heat, by the way.")
                  USER("Could you explain why it fails?"),
      { "Rules:\n- “Would you mind not sorting the imports?”\n- “We'd prefer that the keys stay "
        "untouched.”\n\n" },
      { 0 } },
    { "two commits are two facts",
      USER("Hello there.") USER("Commit 74278d5 brought the regression.")
          USER("Commit a2be027 brought the regression."),
      { "Commit 74278d5", "Commit a2be027" },
      { "(overridden)" } },
    { "a decision with its topic before it",
      USER("Hello there.") USER("Lunch: pizza at noon.") USER("Fine by me.") USER("Lunch: soup."),
      { "- Lunch: pizza at noon. (overridden)" },
      { "soup. (overridden)" } },
    { "decisions word for word",
      USER("Hello there, friend.") SAYS("We decided to keep `max_rows` at 250. It is enough."),
      { "- “We decided to keep `max_rows` at 250.”" },
      { "“It is enough.”" } },
    { "sentences that bring a path, name or number, in the order they stood",
      USER("Hello there, friend.") SAYS("Well, that is nice of you. The cache is in src/cache.rs.")
          SAYS("在庫は max_stock の 512 件までです。") SAYS("캐시는 또 src/cache.rs 에 있습니다.")
              SAYS("Bye for now, my friend."),
      { "Replies:\n- The cache is in src/cache.rs.\n- 在庫は max_stock の 512 件までです。\n" },
      { "nice of you", "- 캐시는" } },
    { "files: which, what was done, how often",
      CALL("1", "Read", "{\"file_path\":\"src/a.c\"}") RESULT("1", "int x;")
          CALL("2", "Edit", "{\"file_path\":\"src/a.c\"}") RESULT("2", "ok")
              CALL("3", "Read", "{\"file_path\":\"src/a.c\"}") RESULT("3", "int y;")
                  CALL("4", "Write", "{\"file_path\":\"文書/b.md\",\"content\":\"x\"}")
                      RESULT("4", "ok"),
      { "- src/a.c: read 2, edited 1 (Read)", "- 文書/b.md: written 1 (Write)" },
      { 0 } },
    { "an edit that failed",
      CALL("1", "Edit", "{\"file_path\":\"src/a.c\"}")
          FAILURE("1", "String to replace not found in file."),
      { "src/a.c: edited 1, last change failed (Edit)",
        "`src/a.c`: String to replace not found in file." },
      { "Solved" } },
    { "and succeeded when tried again",
      CALL("1", "Edit", "{\"file_path\":\"src/a.c\"}")
          FAILURE("1", "String to replace not found in file.")
              CALL("2", "Edit", "{\"file_path\":\"src/a.c\"}") RESULT("2", "ok"),
      { "Solved:\n- `src/a.c`: String to replace not found in file." },
      { "Unresolved" } },
    { "words in a file that was read are no errors",
      CALL("1", "Read", "{\"path\":\"src/log.c\"}")
          RESULT("1", "log(\\\"TypeError: no\\\");\\nError: yes"),
      { "src/log.c" },
      { "TypeError", "Unresolved" } },
    { "a failed run and its error lines",
      CALL("1", "Bash", "{\"command\":\"cd app && npm test 2>&1 | tail\"}")
          FAILURE("1", "ok 1\\nTypeError: x is null\\nTests: 1 failed, 2 passed\\nExit code: 1"),
      { "Unresolved:\n- `npm test`: TypeError: x is null",
        "- `npm test`: 1 runs, failed (exit 1); Tests: 1 failed, 2 passed" },
      { "Solved", "- `npm test`: ok 1" } },
    { "a later run of the same command solves them",
      CALL("1", "Bash", "{\"command\":\"npm test -- cart\"}") FAILURE("1", "TypeError: x is null")
          CALL("2", "Edit", "{\"file_path\":\"src/x.ts\"}") RESULT("2", "ok")
              CALL("3", "Bash", "{\"command\":\"npm test\"}") RESULT("3", "Tests: 3 passed"),
      { "Solved:\n- `npm test -- cart`: TypeError: x is null → src/x.ts" },
      { "Unresolved" } },
    { "a run of another command does not",
      CALL("1", "Bash", "{\"command\":\"make test\"}") FAILURE("1", "TypeError: x is null")
          CALL("3", "Bash", "{\"command\":\"make\"}") RESULT("3", "done"),
      { "Unresolved:\n- `make test`: TypeError: x is null" },
      { "Solved" } },
    { "words can say that an error is gone",
      USER(
          "I get this:\\n```\\nTypeError: cannot read handler of router\\n```\\nPlease look into it.")
          SAYS("The TypeError about the handler of the router is fixed."),
      { "Solved:\n- TypeError: cannot read handler of router" },
      { "Unresolved" } },
    { "or that it is not",
      USER(
          "I get this:\\n```\\nTypeError: cannot read handler of router\\n```\\nPlease look into it.")
          SAYS("The TypeError about the handler of the router is not fixed."),
      { "Unresolved:\n- TypeError: cannot read handler of router" },
      { "Solved" } },
    { "OpenAI's shape, arguments in a string",
      CHAT_CALL("1", "shell", "{\\\"command\\\":[\\\"bash\\\",\\\"-lc\\\",\\\"go vet ./...\\\"]}")
          CHAT_RESULT(
              "1",
              "{\\\"output\\\":\\\"a.go:3: error: bad\\\\n\\\",\\\"metadata\\\":{\\\"exit_code\\\":2}}")
              CHAT_CALL("2", "read_file", "{\\\"path\\\":\\\"cmd/a.go\\\"}")
                  CHAT_RESULT("2", "package main"),
      { "- `go vet ./...`: a.go:3: error: bad", "failed (exit 2)", "cmd/a.go: read 1 (read_file)" },
      { 0 } },
    { "patches name their files",
      CALL("1", "apply_patch",
           "{\"input\":\"*** Begin Patch\\n*** Update File: src/p.rs\\n+x\\n*** Add File: "
           "src/q.rs\\n+y\\n*** End Patch\"}") RESULT("1", "ok"),
      { "src/p.rs: edited 1", "src/q.rs: written 1" },
      { 0 } },
    { "an editor with several verbs",
      CALL("1", "str_replace_editor", "{\"command\":\"view\",\"path\":\"src/v.py\"}")
          RESULT("1", "x") CALL("2", "str_replace_editor",
                                "{\"command\":\"create\",\"path\":\"src/w.py\"}") RESULT("2", "x"),
      { "src/v.py: read 1", "src/w.py: written 1" },
      { "`view`" } },
    { "todo lists: the newest counts",
      CALL("1", "TodoWrite",
           "{\"todos\":[{\"content\":\"write docs\",\"status\":\"pending\"},{\"content\":"
           "\"fix bug\",\"status\":\"pending\"}]}") RESULT("1", "ok")
          CALL("2", "TodoWrite",
               "{\"todos\":[{\"content\":\"write docs\",\"status\":\"pending\"},{\"content\":"
               "\"fix bug\",\"status\":\"completed\"}]}") RESULT("2", "ok"),
      { "- [ ] write docs" },
      { "fix bug" } },
    { "boxes and a plan in text",
      SAYS("Plan:\\n- [ ] port the parser\\n- [x] read the code\\n- [ ] bench it")
          SAYS("- [x] bench it"),
      { "- [ ] port the parser" },
      { "[ ] bench it", "[ ] read the code" } },
    { "open tasks in other languages",
      USER("画面のテストはまだ書いていません。") SAYS("接下来我会看配置文件。待办：补充文档"),
      { "- [ ] 画面のテストはまだ書いていません。", "待办：补充文档" },
      { 0 } },
    { "a task that was finished is closed",
      USER("We still need to write the migration for orders.")
          SAYS("The migration for orders is done now."),
      { "The migration for orders is done now." },
      { "[ ]", "Pending Tasks" } },
    { "a question nobody answered",
      USER("Please go on with it.") SAYS("Which port shall the server use?"),
      { "Unanswered: Which port shall the server use?" },
      { 0 } },
    { "one that was answered",
      SAYS("Which port shall the server use?") USER("Use port 8443 for it."),
      { "8443" },
      { "Unanswered" } },
    { "of code only its place is noted",
      SAYS(
          "In src/x.py:\\n```python\\nimport os\\nx_value = 1\\ny_value = 2\\nprint(x_value)\\n```"),
      { "Code blocks: python 4 lines (src/x.py)" },
      { "import os" } },
    { "an earlier summary is carried on",
      SUMMARY(
          "## Previous Conversation\\nMessages and tool calls: 40, 12\\nFirst request: “Build the "
          "shop.”\\n\\n## Key Technical Concepts\\nDecisions:\\n- “We use Redis.”\\n\\n## Relevant Files "
          "and Code\\n- src/a.c: read 2, edited 1 (Edit)\\n\\n## Problem Solving\\nUnresolved:\\n- `npm "
          "test`: TypeError: old\\n- `make`: error: other\\n\\n## Pending Tasks\\n- [ ] port the parser")
          CALL("1", "Edit", "{\"file_path\":\"src/a.c\"}") RESULT("1", "ok")
              CALL("2", "Bash", "{\"command\":\"npm test\"}") RESULT("2", "3 passed"),
      { "Messages and tool calls: 45, 14\nFirst request: “Build the shop.”", "- “We use Redis.”",
        "- src/a.c: read 2, edited 2 (Edit)", "Unresolved:\n- `make`: error: other",
        "Solved:\n- `npm test`: TypeError: old", "- [ ] port the parser" },
      { "“Build the shop.”\n\n## Pending" } },
    { "a summary that a model wrote",
      SUMMARY(
          "**4. Relevant Files and Code:** src/z.go holds the loop.\\n**6. Pending Tasks:**\\n- measure it"),
      { "src/z.go", "- [ ] measure it" },
      { 0 } },
    { "rules of a person, word for word, in four languages",
      USER("Hi! Never push to main without asking me. Fix the login page.") SAYS("Will do.")
          USER("テストは絶対に消さないでください。") USER("未经我同意，不得修改数据库。")
              USER("로그는 절대로 지우지 마세요.") SAYS("네."),
      { "Never push to main without asking me.", "テストは絶対に消さないでください。",
        "未经我同意，不得修改数据库。", "로그는 절대로 지우지 마세요." },
      { 0 } },
    { "what the model says is no rule",
      USER("Hello there, friend.") SAYS("You must never push."),
      { "Hello" },
      { "Rules" } },
    { "a rule with its exception is one",
      USER("Never deploy on a Friday. The only exception is a security fix. Thanks!"),
      { "Rules:\n- “Never deploy on a Friday. The only exception is a security fix.”\n" },
      { "Fridays" } },
    { "a rule that refers to another stands with what it refers to",
      USER("The directory legacy is next. The same rule applies there, do not edit it."),
      { "- “The directory legacy is next. The same rule applies there, do not edit it.”" },
      { 0 } },
    { "the items of a list of rules",
      USER("Our ground rules:\\n- two spaces\\n- コメントは英語\\n\\nNow go on."),
      { "- “Our ground rules: two spaces”\n- “Our ground rules: コメントは英語”" },
      { 0 } },
    { "the newest decision on a question overrides the one before",
      USER("Let's use MySQL for the orders service.") SAYS("Fine.") USER("The cache will be Redis.")
          SAYS("Fine.") USER("Change of plan: Postgres for the orders service."),
      { "Decisions and key points:\n- “Let's use MySQL for the orders service.” (overridden)\n- “The cache will be "
        "Redis.”\n- “Change of plan: Postgres for the orders service.”" },
      { 0 } },
    { "in other languages",
      USER("注文のデータベースはMySQLにします。") SAYS("はい。")
          USER("やっぱり注文のデータベースはPostgreSQLに変更します。"),
      { "- 「注文のデータベースはMySQLにします。」 (後の決定で取り消し)\n- "
        "「やっぱり注文のデータベースはPostgreSQLに変更します。」\n" },
      { 0 } },
    { "the model repeats what was decided: once is enough",
      USER("We decided to use Postgres for the orders service.")
          SAYS("Agreed: we use Postgres for the orders service."),
      { "Postgres" },
      { "- “Agreed", "- Agreed" } },
    { "goals and who is who",
      USER("We're building a shop for Kyoto Tea. Mina Park is our designer, Joon Park the lawyer.")
          SAYS("Nice."),
      { "Decisions and key points:\n- We're building a shop for Kyoto Tea.\n- Mina Park is our designer, "
        "Joon Park the lawyer." },
      { 0 } },
    { "a host and a port said in passing",
      USER("Hi. FYI the staging box is stg-7.internal, postgres on 6543.") SAYS("Noted."),
      { "staging box is stg-7.internal, postgres on 6543" },
      { 0 } },
    { "files of a short conversation",
      USER("Add a dark mode.") CALL("1", "Edit", "{\"file_path\":\"src/App.tsx\"}")
          RESULT("1", "ok") CALL("2", "Edit", "{\"file_path\":\"src/Button.tsx\"}")
              RESULT("2", "ok") SAYS("Done."),
      { "src/App.tsx", "src/Button.tsx" },
      { 0 } },
    { "the items of a list under a heading in any words",
      USER("**お約束**\\n・夜は静かに\\n・TODO は残す\\n\\nよろしく。"),
      { "ルール:\n- 「夜は静かに」\n- 「TODO は残す」\n" },
      { "お約束**」" } },
    { "an older value stands above the newest, whatever the words",
      USER("Hello, a new thing.") SAYS("Fine.") USER("The crate: quillpipe.") SAYS("Fine.")
          USER("quillpipe exists already, call it reedflow.") SAYS("Fine.") USER("Thanks a lot."),
      { "quillpipe.\n- quillpipe exists already, call it reedflow." },
      { 0 } },
    { "a statement overrides one on the same subject that names another value",
      USER("Hello, a new thing.") SAYS("Fine.") USER("The weekly sync is on Monday.") SAYS("Fine.")
          USER("The weekly sync shifts to Thursday.") SAYS("Fine.") USER("样机寄到西安办公室。")
              SAYS("好。") USER("西安没人,样机寄到杭州办公室。") SAYS("好。") USER("Thanks a lot."),
      { "- The weekly sync is on Monday. (overridden)\n- “The weekly sync shifts to Thursday.”",
        "- 样机寄到西安办公室。 (overridden)\n- “西安没人,样机寄到杭州办公室。”" },
      { 0 } },
    { "one that names only the old value",
      USER("Hello, a new thing.") SAYS("Fine.") USER("State in the frontend lives in Redux.")
          SAYS("Fine.") USER("Redux is out, Zustand is in.") SAYS("Fine.") USER("Thanks a lot."),
      { "- State in the frontend lives in Redux. (overridden)\n- “Redux is out, Zustand is in.”" },
      { 0 } },
    { "another subject in the same words stays",
      USER("Hello, a new thing.") SAYS("Fine.") USER("The invoice service lives in src/bills.")
          SAYS("Fine.") USER("The search service lives in src/find.") SAYS("Fine.")
              USER("Thanks a lot."),
      { "src/bills.\n- The search service lives in src/find." },
      { "overridden" } },
    { "a choice stands with what was offered, until another is made",
      USER("Hello, a new thing.") SAYS("Options for provisioning: first Chef, second Ansible.")
          USER("The first one, Chef. It rained all day.") SAYS("Fine.")
              USER("For provisioning, go with the second one after all: Ansible.") SAYS("Fine.")
                  USER("Thanks a lot."),
      { "second Ansible. → The first one, Chef. (overridden)\n", "“For provisioning, go with" },
      { 0 } },
    { "sentences without a space between them",
      USER("周末过得怎么样?发布脚本不能删。"),
      { "- 发布脚本不能删。\n" },
      { 0 } },
    { "a short answer stands with its question",
      SAYS("Which port shall the server use?") USER("8443."),
      { "Which port shall the server use? → 8443." },
      { 0 } },
    { "rules and decisions of an earlier summary stay as they stand",
      SUMMARY(
          "## Key Technical Concepts\\nRules:\\n- “Keep it in C.”\\n- “不要碰 legacy。”\\nDecisions:\\n- “MySQL it "
          "is for orders.” (overridden)\\n- “Postgres for orders.”\\n") USER("Thank you for that."),
      { "Rules:\n- “Keep it in C.”\n- “不要碰 legacy。”\n",
        "Decisions and key points:\n- “MySQL it is for orders.” (overridden)\n- “Postgres for orders.”\n" },
      { 0 } },
    { "what a client adds is not the request",
      USER(
          "Fix the login page.\\n<environment_details>\\nopen: src/secret.ts\\n</environment_details>"),
      { "“Fix the login page.”" },
      { "secret" } },
};

static void test_rows(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        maki_env env = maki_env_system();
        maki_arena arena = maki_arena_new(env.alloc, MOST);
        maki_str text;
        maki_err err = { 0 };
        tap_row("%s", rows[i].name);
        CHECK_STATUS(summarize(maki_str_of(rows[i].talk), 2000, &arena, &text, &err), MAKI_OK,
                     &err);
        bool good = true;
        for (size_t k = 0; k < COUNT(rows[i].has) && rows[i].has[k]; k++)
            good &= CHECK(maki_str_contains(text, maki_str_of(rows[i].has[k])));
        for (size_t k = 0; k < COUNT(rows[i].lacks) && rows[i].lacks[k]; k++)
            good &= CHECK(!maki_str_contains(text, maki_str_of(rows[i].lacks[k])));
        if (!good) printf("# %.*s\n", (int)text.len, text.ptr);
        maki_arena_free(&arena);
    }
}

/* ---- again and again --------------------------------------------------------------------------------------- */

static void put_json(maki_buf *out, const char *before, maki_str text, const char *after)
{
    maki_jw w;
    maki_buf_add(out, maki_str_of(before));
    maki_jw_init(&w, maki_buf_sink(out), NULL);
    maki_jw_string(&w, text);
    CHECK(maki_jw_end(&w) == MAKI_OK);
    maki_buf_add(out, maki_str_of(after));
}

static size_t times_in(maki_str text, const char *part)
{
    size_t n = 0;
    for (maki_str p = maki_str_of(part); maki_str_contains(text, p); n++)
        text = maki_str_skip(text, maki_str_find_nocase(text, p) + p.len);
    return n;
}

/* Each summary covers the one before and ten messages more. */
static void test_again(void)
{
    static const char *const kept[] = { "Never touch the billing tables.",
                                        "回答は必ず日本語で。",
                                        "一律用 UTC 时间。",
                                        "테스트 없이는 절대 배포하지 마세요.",
                                        "We decided to ship on Linux only.",
                                        "Lee Jihoon leads the shop team." };
    maki_env env = maki_env_system();
    maki_arena arena = maki_arena_new(env.alloc, MOST);
    maki_buf talk = maki_buf_new(env.alloc, MOST);
    maki_str text = { "", 0 };
    maki_err err = { 0 };
    tap_row("what was laid down stands once, as it was said, after twenty condenses");
    for (int round = 0; round < 20; round++) {
        maki_buf_clear(&talk);
        if (round)
            put_json(&talk, "{\"role\":\"assistant\",\"isSummary\":true,\"content\":", text, "}\n");
        for (size_t i = 0; round == 0 && i < COUNT(kept); i++)
            put_json(&talk, "{\"role\":\"user\",\"content\":", maki_str_of(kept[i]), "}\n");
        for (int i = 0; i < 10; i++) {
            char said[200];
            snprintf(said, sizeof said,
                     "Please look at step %d of part %d again: src/part%d/step%d.c:%d fails with "
                     "E%d%d on build-%d.internal.",
                     i, round, round, i, 100 + 7 * i, 40 + round, 10 + i, round);
            put_json(&talk,
                     i % 2 ? "{\"role\":\"assistant\",\"content\":"
                           : "{\"role\":\"user\",\"content\":",
                     maki_str_of(said), "}\n");
        }
        if (!CHECK_STATUS(summarize(maki_buf_str(&talk), 600, &arena, &text, &err), MAKI_OK, &err))
            break;
    }
    for (size_t i = 0; i < COUNT(kept); i++)
        if (!CHECK_EQ(times_in(text, kept[i]), 1)) printf("# %s\n", kept[i]);
    maki_buf_free(&talk);
    maki_arena_free(&arena);
}

/* Facts, and no space for any of them. */
static void test_empty(void)
{
    maki_arena arena = maki_arena_new(maki_env_system().alloc, MOST);
    maki_str text;
    maki_err err = { 0 };
    tap_row("a summary without any fact is refused");
    CHECK(summarize(MAKI_LIT(USER("Look at src/a.c and 漢字.md.")), 3, &arena, &text, &err) !=
          MAKI_OK);
    CHECK_CSTR(err.code, "SUMMARY_EMPTY");
    maki_arena_free(&arena);
}

/* ---- budget ---------------------------------------------------------------------------------------------- */

static const struct {
    uint64_t tokens, budget;
    double ratio;
} budget_rows[] = {
    { 0, 0, 0.75 },          { 1000, 350, 0.75 },   { 1000, 500, 0.5 },    { 1000, 200, 0.8 },
    { 6000, 2100, 0.75 },    { 10000, 2700, 0.75 }, { 30000, 2700, 0.75 }, { 30000, 2700, 0.5 },
    { 1000000, 8000, 0.75 }, { 1000, 350, 7 },      { 30000, 1500, 0.95 },
};

static void test_budget(void)
{
    maki_env env = maki_env_system();
    maki_tokenizer *t = NULL;
    maki_err err = { 0 };
    for (size_t i = 0; i < COUNT(budget_rows); i++) {
        tap_row("the budget of %d tokens", (int)budget_rows[i].tokens);
        CHECK(llabs((long long)maki_offline_budget(budget_rows[i].tokens, budget_rows[i].ratio) -
                    (long long)budget_rows[i].budget) <= 1);
    }
    CHECK_STATUS(maki_tokenizer_open(&env, maki_encoding_at(0), NULL, &t, &err), MAKI_OK, &err);
    for (uint64_t budget = 60; budget < 800; budget += 37) {
        maki_arena arena = maki_arena_new(env.alloc, MOST);
        maki_str text;
        tap_row("a summary within %d tokens", (int)budget);
        CHECK_STATUS(summarize(maki_str_of(rows[21].talk), budget, &arena, &text, &err), MAKI_OK,
                     &err);
        CHECK(maki_tokenizer_count(t, text) <= budget);
        CHECK(maki_utf8_valid(text, NULL));
        maki_arena_free(&arena);
    }
    maki_tokenizer_close(t);
}

/* ---- the same every time, whatever fails ------------------------------------------------------------------- */

static void test_faults(void)
{
    fake_env fe;
    maki_err err = { 0 };
    maki_str talk = maki_str_of(rows[21].talk), first = { "", 0 };
    char *copy = NULL;
    fake_env_init(&fe);
    tap_row("every allocation failing in turn; the same bytes when none does");
    for (size_t nth = 0;; nth++) {
        maki_str text;
        fake_alloc_fail_at(&fe, nth);
        maki_arena arena = maki_arena_new(fe.env.alloc, MOST);
        maki_status st = summarize(talk, nth % 2 ? 700 : 2000, &arena, &text, &err);
        bool injected = fake_alloc_failed(&fe);
        CHECK_STATUS(st, injected ? MAKI_NOMEM : MAKI_OK, &err);
        if (nth == 0) {
            copy = malloc(text.len);
            memcpy(copy, text.ptr, text.len);
            first = (maki_str){ copy, text.len };
        } else if (!injected && nth % 2 == 0) {
            CHECK_TEXT(text, first);
        }
        maki_arena_free(&arena);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (nth && !injected && nth % 2 == 0) break;
    }
    free(copy);
}

/* ---- hostile input ------------------------------------------------------------------------------------------ */

static void add_message(maki_buf *out, const char *role, const char *piece, size_t times)
{
    maki_buf_add(out, MAKI_LIT("{\"role\":\""));
    maki_buf_add(out, maki_str_of(role));
    maki_buf_add(out, MAKI_LIT("\",\"content\":\""));
    for (size_t i = 0; i < times; i++)
        maki_buf_add(out, maki_str_of(piece));
    maki_buf_add(out, MAKI_LIT("\"}\n"));
}

static const struct {
    const char *name, *piece;
    size_t times;
} hostile_rows[] = {
    { "a line of 4 MB", "a", 4 << 20 },
    { "kana without a space", "あ", 1 << 20 },
    { "emoji with joiners", "👩‍👩‍👧‍👦", 1 << 16 },
    { "right to left", "שלום עולם مرحبا ", 1 << 16 },
    { "escaped surrogates, lone ones too", "\\ud83d\\ude00\\ud800x", 1 << 16 },
    { "fences without end", "```\\n", 1 << 16 },
    { "back quotes", "`a/b.c", 1 << 16 },
    { "slashes", "/", 1 << 18 },
    { "questions", "why? ", 1 << 16 },
    { "NUL and control characters", "\\u0000\\u0001 - \\u0000", 1 << 15 },
    { "boxes", "- [ ] x\\n", 1 << 15 },
    { "many paths", "src/a/b.c ", 1 << 16 },
    { "error lines", "TypeError: bad\\n", 1 << 15 },
};

static void test_hostile(void)
{
    for (size_t i = 0; i < COUNT(hostile_rows); i++) {
        fake_env fe;
        maki_err err = { 0 };
        maki_str text;
        fake_env_init(&fe);
        maki_env env = maki_env_system();
        maki_buf talk = maki_buf_new(env.alloc, MOST);
        add_message(&talk, "user", hostile_rows[i].piece, hostile_rows[i].times);
        add_message(&talk, "assistant", hostile_rows[i].piece, hostile_rows[i].times);
        maki_arena arena = maki_arena_new(fe.env.alloc, MOST);
        tap_row("%s: valid text, little memory", hostile_rows[i].name);
        CHECK_STATUS(summarize(maki_buf_str(&talk), 1500, &arena, &text, &err), MAKI_OK, &err);
        CHECK(maki_utf8_valid(text, NULL) && text.len > 0);
        CHECK(fe.peak_bytes < 12 << 20);
        maki_arena_free(&arena);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        maki_buf_free(&talk);
    }
}

static const char *const odd_rows[] = {
    "{}",
    "[]",
    "null",
    "7",
    "{\"role\":7}",
    "{\"role\":\"user\"}",
    "{\"role\":\"user\",\"content\":null}",
    "{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}",
    "{\"role\":\"user\",\"content\":[1,null,\"x\",[\"y\"],{\"type\":\"text\"},{\"type\":\"text\",\"text\":7}]}",
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\"},{\"type\":\"tool_use\",\"id\":7,\"name\":[],"
    "\"input\":\"x\"}]}",
    "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\"},{\"type\":\"tool_result\",\"tool_use_id\":{},"
    "\"content\":[1,{\"text\":7}]}]}",
    "{\"role\":\"assistant\",\"tool_calls\":7}",
    "{\"role\":\"assistant\",\"tool_calls\":[7,{},{\"function\":7},{\"function\":{\"name\":7,\"arguments\":{}}},"
    "{\"id\":\"a\",\"function\":{\"name\":\"shell\",\"arguments\":\"{\\\"command\\\":[7,\"}}]}",
    "{\"role\":\"tool\",\"content\":{\"a\":1}}",
    "{\"role\":\"assistant\",\"isSummary\":true,\"content\":[[[[[[[[\"## Pending Tasks\"]]]]]]]]}",
    "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"name\":\"TodoWrite\",\"input\":{\"todos\":[7,{},"
    "{\"content\":7},{\"content\":\"deep\",\"status\":7}]}}]}",
};

static void test_odd(void)
{
    maki_env env = maki_env_system();
    maki_buf all = maki_buf_new(env.alloc, MOST);
    maki_arena arena = maki_arena_new(env.alloc, MOST);
    maki_err err = { 0 };
    maki_str text;
    tap_row("messages of odd shapes");
    for (size_t i = 0; i < COUNT(odd_rows); i++) {
        maki_buf_add(&all, maki_str_of(odd_rows[i]));
        maki_buf_add(&all, MAKI_LIT("\n"));
    }
    maki_buf_add(
        &all,
        MAKI_LIT(
            "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"name\":\"x\",\"input\":"));
    for (int i = 0; i < 200; i++)
        maki_buf_add(&all, MAKI_LIT("{\"path\":["));
    for (int i = 0; i < 200; i++)
        maki_buf_add(&all, MAKI_LIT("]}"));
    maki_buf_add(&all, MAKI_LIT("}]}\n"));
    CHECK_STATUS(summarize(maki_buf_str(&all), 500, &arena, &text, &err), MAKI_OK, &err);
    CHECK(maki_str_contains(text, MAKI_LIT("deep")));
    tap_row("no message at all");
    CHECK_STATUS(summarize((maki_str){ "", 0 }, 500, &arena, &text, &err), MAKI_OK, &err);
    CHECK(maki_str_contains(text, MAKI_LIT("Messages and tool calls: 0, 0")));
    maki_arena_free(&arena);
    maki_buf_free(&all);
}

static void test_languages(void)
{
    for (size_t i = 0; i < sample_count; i++) {
        maki_env env = maki_env_system();
        maki_buf talk = maki_buf_new(env.alloc, MOST);
        maki_arena arena = maki_arena_new(env.alloc, MOST);
        maki_err err = { 0 };
        maki_str text;
        maki_jw w;
        maki_jw_init(&w, maki_buf_sink(&talk), &err);
        maki_jw_begin_object(&w);
        maki_jw_key(&w, MAKI_LIT("role"));
        maki_jw_string(&w, MAKI_LIT("user"));
        maki_jw_key(&w, MAKI_LIT("content"));
        maki_jw_string(&w, samples[i].text);
        maki_jw_end_object(&w);
        tap_row("sample %s", samples[i].name);
        CHECK_STATUS(maki_jw_end(&w), MAKI_OK, &err);
        CHECK_STATUS(summarize(maki_buf_str(&talk), 800, &arena, &text, &err), MAKI_OK, &err);
        CHECK(maki_utf8_valid(text, NULL));
        maki_arena_free(&arena);
        maki_buf_free(&talk);
    }
}

int main(void)
{
    test_rows();
    test_again();
    test_empty();
    test_budget();
    test_faults();
    test_hostile();
    test_odd();
    test_languages();
    return tap_end();
}
