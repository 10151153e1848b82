/* table_test.c -- every row of the table of operations: its examples, its fields and their checks.
 *
 *     table_test                  the examples give their answers, wrong fields are refused
 *     table_test --update DIRECTORY  write the answers into the examples; read the diff like code */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <maki/maki.h>

#include "base/buf.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "directory.h"
#include "fake_env.h"
#include "history/conv.h"
#include "tap.h"

enum { ANSWER_MAX = 1 << 20 };

/* Has the answer exactly the fields of the row, with all required ones? */
static void check_answer(const maki_op_form *op, maki_str answer)
{
    maki_json_iter iter = maki_json_items(answer);
    maki_json_item item;
    maki_str value;
    while (maki_json_next(&iter, &item)) {
        bool told = false;
        for (const maki_op_field *f = op->output; f->name; f++) {
            told |= maki_json_key_is(item.key, maki_str_of(f->name));
        }
        if (!CHECK(told)) {
            printf("# the answer has a field that is missing from the row: %.*s\n",
                   (int)item.key.len, item.key.ptr);
        }
    }
    for (const maki_op_field *f = op->output; f->name; f++) {
        if (f->required && !CHECK(maki_json_get(answer, maki_str_of(f->name), &value))) {
            printf("# missing: %s\n", f->name);
        }
    }
}

/* Two requests and their events, in asked.jsonl, as the proxy records them. */
static void begin_asked(const maki_env *env)
{
    static const char *const rows[] = {
        "{\"role\":\"user\",\"content\":\"你好\"}",
        "{\"role\":\"assistant\",\"content\":\"Hello\",\"meta\":{\"model\":\"gpt-4o\"}}",
        "{\"role\":\"user\",\"content\":\"오늘 날씨는?\"}",
        "{\"role\":\"assistant\",\"content\":\"Sunny ☀️\",\"meta\":{\"model\":\"gpt-4o\"}}",
    };
    static const char *const events[] = {
        "\"of\":\"exchange\",\"protocol\":\"openai\",\"upstream\":\"openai\",\"path\":\"/v1/chat/completions\","
        "\"model\":\"gpt-4o\",\"body\":\"0011223344556677\",\"bytes\":120,\"spans\":[[1,1]],\"systemTokens\":9,"
        "\"toolTokens\":0,\"messageTokens\":6,\"status\":200,\"end\":\"complete\",\"stop\":\"stop\",\"firstMs\":210,\"ms\":480",
        "\"model\":\"gpt-4o\",\"input\":18,\"output\":2,\"cacheRead\":0,\"cacheWrite\":0,\"reasoning\":0",
        "\"of\":\"exchange\",\"protocol\":\"openai\",\"upstream\":\"openai\",\"path\":\"/v1/chat/completions\","
        "\"model\":\"gpt-4o\",\"body\":\"8899aabbccddeeff\",\"bytes\":210,\"spans\":[[1,3]],\"systemTokens\":9,"
        "\"toolTokens\":0,\"messageTokens\":20,\"status\":200,\"end\":\"complete\",\"stop\":\"stop\",\"firstMs\":190,\"ms\":520",
        "\"model\":\"gpt-4o\",\"input\":34,\"output\":4,\"cacheRead\":18,\"cacheWrite\":0,\"reasoning\":0,\"cost\":0.0002",
    };
    maki_conv *conv = NULL;
    maki_change change;
    maki_err err = { 0 };
    CHECK_STATUS(
        maki_conv_open(env, "asked.jsonl", &(maki_conv_options){ .create = true }, &conv, &err),
        MAKI_OK, &err);
    for (size_t i = 0; i < 4; i++) {
        maki_str row = maki_str_of(rows[i]);
        CHECK_STATUS(maki_conv_append(conv, NULL, &row, 1, &change, &err), MAKI_OK, &err);
        if (i % 2 == 0) continue;
        CHECK_STATUS(
            maki_conv_add_event(conv, "manifest", maki_str_of(events[i - 1]), &change, &err),
            MAKI_OK, &err);
        CHECK_STATUS(maki_conv_add_event(conv, "usage", maki_str_of(events[i]), &change, &err),
                     MAKI_OK, &err);
    }
    maki_conv_close(conv);
}

/* The conversation of the examples: talk.jsonl in an empty directory, the working directory.  Eight
 * messages, the sixth a long one; the seventh is pinned, then half of them are truncated away.  And a session. */
static void begin_talk(maki *m)
{
    static const char *const steps[] = {
        "history.append",
        "{\"conversation\":\"talk.jsonl\",\"messages\":["
        "{\"role\":\"user\",\"content\":\"ログイン画面が落ちます\",\"ts\":100},"
        "{\"role\":\"assistant\",\"content\":\"見てみます\",\"ts\":200},"
        "{\"role\":\"user\",\"content\":\"修好它\",\"ts\":300},"
        "{\"role\":\"assistant\",\"content\":\"고쳤습니다 ✅\",\"ts\":400},"
        "{\"role\":\"user\",\"content\":\"Show me the log\",\"ts\":500},"
        "{\"role\":\"assistant\",\"content\":\"line 1 of the log, line 2 of the log, line 3 of the "
        "log, line 4 of the log, line 5 of the log, line 6 of the log, line 7 of the log\",\"ts\":600},"
        "{\"role\":\"user\",\"content\":\"Keep this in mind: 締め切りは金曜日\",\"ts\":700},"
        "{\"role\":\"assistant\",\"content\":\"🐟\",\"ts\":800}]}",
        "history.append",
        "{\"conversation\":\"state/agents/default/sessions/s1.jsonl\",\"messages\":[{\"role\":\"user\",\"content\":\"カレーの作り方\",\"ts\":100}]}",
        "history.pin",
        "{\"conversation\":\"talk.jsonl\",\"seq\":7}",
        "history.truncate",
        "{\"conversation\":\"talk.jsonl\",\"fraction\":0.5}",
    };
    char path[] = "/tmp/maki_table_XXXXXX";
    maki_env env = maki_env_system();
    if (!mkdtemp(path) || chdir(path) != 0) abort();
    if (mkdir("state", 0700) || mkdir("state/agents", 0700) ||
        mkdir("state/agents/default", 0700) || mkdir("state/agents/default/sessions", 0700))
        abort();
    for (size_t i = 0; i < COUNT(steps); i += 2) {
        maki_buf answer = maki_buf_new(env.alloc, ANSWER_MAX);
        maki_err err = { 0 };
        CHECK_STATUS(maki_op(m, maki_str_of(steps[i]), maki_str_of(steps[i + 1]),
                             maki_buf_sink(&answer), &err),
                     MAKI_OK, &err);
        maki_buf_free(&answer);
    }
}

/* Something that manage.undo undoes. */
static void run_manage(maki *m)
{
    maki_env env = maki_env_system();
    maki_buf answer = maki_buf_new(env.alloc, ANSWER_MAX);
    maki_err err = { 0 };
    CHECK_STATUS(
        maki_op(m, MAKI_LIT("manage.run"),
                MAKI_LIT("{\"conversation\":\"talk.jsonl\",\"force\":true,\"keepCount\":1}"),
                maki_buf_sink(&answer), &err),
        MAKI_OK, &err);
    maki_buf_free(&answer);
}

static void end_talk(void)
{
    directory f;
    if (getcwd(f.path, sizeof f.path) && chdir("/") == 0) directory_close(&f);
}

static const char *update_directory;
static const maki_env *example_env;

static void write_example(const maki_op_info *op, const maki_op_form *form, maki_str answer)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s%s", update_directory, op->name,
             form == op->forms ? "" : ".conversation");
    FILE *f = fopen(path, "w");
    if (!f) abort();
    fprintf(f, "%s\n%.*s\n", form->example, (int)answer.len, answer.ptr);
    fclose(f);
}

static void run_example(maki *m, const maki_op_info *op, const maki_op_form *form)
{
    bool talk = strcmp(form->class_name, "conversation") == 0;
    maki_env env = maki_env_system();
    maki_buf answer = maki_buf_new(env.alloc, ANSWER_MAX);
    maki_err err = { 0 };
    maki_str value;
    tap_row("the example of %s has the recorded answer", op->name);
    if (talk) begin_talk(m);
    if (talk) begin_asked(example_env);
    if (strcmp(op->name, "manage.undo") == 0) run_manage(m);
    maki_status st =
        maki_op(m, maki_str_of(op->name), maki_str_of(form->example), maki_buf_sink(&answer), &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    if (talk) end_talk();
    if (update_directory)
        write_example(op, form, maki_buf_str(&answer));
    else
        CHECK_TEXT(maki_buf_str(&answer), maki_str_of(form->answer));
    if (CHECK(maki_json_check(maki_buf_str(&answer), &value, &err) == MAKI_OK)) {
        check_answer(form, value);
    }
    maki_buf_free(&answer);
}

static bool is_text(const char *type)
{
    return strcmp(type, "string") == 0 || strcmp(type, "path") == 0 ||
           strcmp(type, "conversation") == 0;
}

/* Leave out each required field, and give each field a value of a wrong type. */
static void break_fields(maki *m, const maki_op_info *op, const maki_op_form *form)
{
    maki_env env = maki_env_system();
    tap_row("%s: errors for missing and invalid fields name them", op->name);
    for (const maki_op_field *f = form->input; f->name; f++) {
        maki_buf input = maki_buf_new(env.alloc, ANSWER_MAX),
                 answer = maki_buf_new(env.alloc, ANSWER_MAX);
        maki_err err = { 0 };
        bool any = strcmp(f->type, "any") == 0;
        maki_buf_add(&input, MAKI_LIT("{"));
        for (const maki_op_field *g = form->input; g->name; g++) {
            maki_str value;
            maki_str example = maki_str_of(form->example);
            bool there = maki_json_get(example, maki_str_of(g->name), &value);
            if (g == f) {
                if (any) continue;
                there = true;
                value = is_text(f->type) ? MAKI_LIT("[]") : MAKI_LIT("\"ü\"");
            }
            if (!there) continue;
            if (input.len > 1) maki_buf_add(&input, MAKI_LIT(","));
            maki_buf_add(&input, MAKI_LIT("\""));
            maki_buf_add(&input, maki_str_of(g->name));
            maki_buf_add(&input, MAKI_LIT("\":"));
            maki_buf_add(&input, value);
        }
        maki_buf_add(&input, MAKI_LIT("}"));
        maki_status st =
            maki_op(m, maki_str_of(op->name), maki_buf_str(&input), maki_buf_sink(&answer), &err);
        if (!any || f->required) {
            CHECK_STATUS(st, MAKI_INVALID, &err);
            CHECK(maki_str_contains(maki_str_of(err.msg), maki_str_of(f->name)));
            CHECK(maki_str_contains(maki_str_of(err.msg), MAKI_LIT("byte")));
        }
        maki_buf_free(&input);
        maki_buf_free(&answer);
    }
}

int main(int argc, char **argv)
{
    fake_env fe;
    maki *m = NULL;
    maki_err err = { 0 };
    fake_env_init(&fe);
    maki_options options = { sizeof options, fe.env, MAKI_MAX_MEMORY, NULL };
    if (maki_open(&options, &m, &err) != MAKI_OK) return 1;

    example_env = &fe.env;
    if (argc == 3 && strcmp(argv[1], "--update") == 0) update_directory = argv[2];
    tap_row("the table is sorted by name");
    for (size_t i = 1; i < maki_op_count(); i++) {
        CHECK(strcmp(maki_op_at(i - 1)->name, maki_op_at(i)->name) < 0);
    }
    CHECK(maki_op_at(maki_op_count()) == NULL);
    for (size_t i = 0; i < maki_op_count(); i++) {
        const maki_op_info *op = maki_op_at(i);
        for (size_t k = 0; k < op->form_count; k++) {
            run_example(m, op, &op->forms[k]);
            break_fields(m, op, &op->forms[k]);
        }
    }

    tap_row("a misspelled name gets a suggestion");
    CHECK_CSTR(maki_op_suggest(MAKI_LIT("history.truncat")), "history.truncate");
    CHECK_CSTR(maki_op_suggest(MAKI_LIT("rewind")), "history.rewind");
    CHECK_CSTR(maki_op_suggest(MAKI_LIT("prune.tool")), "prune.tools");
    CHECK(maki_op_suggest(MAKI_LIT("巻き戻し、巻き戻し")) == NULL);
    CHECK(maki_op_suggest(MAKI_LIT("")) == NULL);

    maki_close(m);
    tap_row("nothing leaks");
    CHECK_EQ(fake_alloc_live(&fe), 0);
    return tap_end();
}
