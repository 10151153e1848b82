/* slash_slash_command_test.c -- what is typed with a slash: which command, and the input of its operation. */
#include "chat/slash_command.h"

#include "base/str_util.h"
#include "chat/chat_options.h"
#include "tap.h"

static const struct line_row {
    const char *line;
    bool command;
} lines[] = {
    { "/status", true }, { "/x", true },     { " /status", false },
    { "/", false },      { "", false },      { "//help", false },
    { "/1", false },     { "/日本", false }, { "hello /x", false },
};

static void run_lines(void)
{
    for (size_t i = 0; i < COUNT(lines); i++) {
        tap_row("'%s' is %s", lines[i].line, lines[i].command ? "a command" : "a message");
        CHECK_EQ(maki_slash_command_is(maki_str_of(lines[i].line)), lines[i].command);
    }
}

#define IN "{\"conversation\":\"talk 会話.jsonl\""

static const struct good_row {
    const char *line, *op, *input;
} good[] = {
    { "/status", "session.status", IN "}" },
    { "/condense", "history.condense", IN "}" },
    { "/condense 4", "history.condense", IN ",\"keepCount\":4}" },
    { "/pin 12", "history.pin", IN ",\"seq\":12}" },
    { "/rewind   0012 ", "history.rewind", IN ",\"seq\":12}" },
    { "/rewind 0", "history.rewind", IN ",\"seq\":0}" },
    { "/undo", "history.undo", IN "}" },
    { "/undo 3", "history.undo", IN ",\"ev\":3}" },
    { "/fork 5", "history.fork", IN ",\"seq\":5}" },
    { "/expand\t7", "history.expand", IN ",\"seq\":7}" },
    { "/diff 8", "history.diff", IN ",\"a\":{\"seq\":8}}" },
    { "/diff 008:01", "history.diff", IN ",\"a\":{\"seq\":8,\"ev\":1}}" },
    { "/diff 8:1 9:22", "history.diff",
      IN ",\"a\":{\"seq\":8,\"ev\":1},\"b\":{\"seq\":9,\"ev\":22}}" },
};

static void run_good(void)
{
    maki_env env = maki_env_system();
    for (size_t i = 0; i < COUNT(good); i++) {
        maki_buf input = maki_buf_new(env.alloc, 4096);
        maki_slash_command command;
        maki_err err;
        tap_row("%s", good[i].line);
        if (CHECK_STATUS(maki_slash_command_parse(maki_str_of(good[i].line), &command, &err),
                         MAKI_OK, &err)) {
            maki_slash_command_input(&command, "talk 会話.jsonl", NULL, &input);
            CHECK_CSTR(command.op->name, good[i].op);
            CHECK_TEXT(maki_buf_str(&input), maki_str_of(good[i].input));
        }
        maki_buf_free(&input);
    }
}

static const struct bad_row {
    const char *line;
    maki_status status;
    const char *words;
} bad[] = {
    { "/rewin 3", MAKI_NOTFOUND, "(is it /rewind?)" },
    { "/qqqqqqqqqq", MAKI_NOTFOUND, "/help lists them" },
    { "/pin", MAKI_INVALID, "it is /pin SEQ" },
    { "/pin x", MAKI_INVALID, "/log tells the numbers" },
    { "/pin 1 2", MAKI_INVALID, "it is /pin SEQ" },
    { "/pin -1", MAKI_INVALID, "it is /pin SEQ" },
    { "/pin 99999999999999999999", MAKI_INVALID, "it is /pin SEQ" },
    { "/status now", MAKI_INVALID, "it is /status:" },
    { "/diff", MAKI_INVALID, "it is /diff A [B]" },
    { "/diff 1:", MAKI_INVALID, "it is /diff A [B]" },
    { "/diff 1:2:3", MAKI_INVALID, "it is /diff A [B]" },
    { "/model a b c", MAKI_INVALID, "it is /model [[PROVIDER] NAME]" },
};

static void run_bad(void)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        maki_slash_command command;
        maki_err err = { 0 };
        tap_row("%s is refused", bad[i].line);
        CHECK_EQ(maki_slash_command_parse(maki_str_of(bad[i].line), &command, &err), bad[i].status);
        if (!CHECK(strstr(err.msg, bad[i].words) != NULL)) CHECK_CSTR(err.msg, bad[i].words);
    }
}

/* ---- the command line ------------------------------------------------------------------------------ */

static void run_options(void)
{
    char *all[] = { "chat", "--session", "仕事", "--model=m-1", "--provider",
                    "p",    "-p",        "-",    "--json",      NULL };
    char *unknown[] = { "chat", "--modle", "x", NULL }, *missing[] = { "chat", "-p", NULL };
    char *word[] = { "chat", "hello", NULL };
    maki_chat_options o;
    maki_err err;
    tap_row("every option");
    CHECK_STATUS(maki_chat_options_read(9, all, &o, &err), MAKI_OK, &err);
    CHECK_CSTR(o.session, "仕事");
    CHECK_CSTR(o.model, "m-1");
    CHECK_CSTR(o.provider, "p");
    CHECK_CSTR(o.say, "-");
    CHECK(o.json && !o.help && !o.config);
    tap_row("an option that is none, a value that is missing, a word");
    CHECK_EQ(maki_chat_options_read(3, unknown, &o, &err), MAKI_INVALID);
    CHECK(strstr(err.msg, "--modle") != NULL);
    CHECK_EQ(maki_chat_options_read(2, missing, &o, &err), MAKI_INVALID);
    CHECK(strstr(err.msg, "-p") != NULL);
    CHECK_EQ(maki_chat_options_read(2, word, &o, &err), MAKI_INVALID);
}

int main(void)
{
    run_lines();
    run_good();
    run_bad();
    run_options();
    return tap_end();
}
