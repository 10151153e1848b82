/* chat_command.c -- run the slash commands: operations, and the commands of the chat itself; print their answers.
 *
 * In:    a line that begins with a slash.
 * Out:   an operation of src/ops on the session of the chat, or a command of the chat itself; the answer as JSON, or as
 *        text by the table `answers`. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "chat/chat_internal.h"
#include "chat/terminal.h"

/* ---- operations ------------------------------------------------------------------------------------ */

maki_status maki_chat_run_op(maki_chat *chat, const char *op, maki_str *answer, maki_err *err)
{
    maki_status st = maki_buf_status(&chat->input, err);
    maki_buf_clear(&chat->reply);
    if (st == MAKI_OK)
        st = maki_op(chat->m, maki_str_of(op), maki_buf_str(&chat->input),
                     maki_buf_sink(&chat->reply), err);
    if (st == MAKI_OK) st = maki_buf_status(&chat->reply, err);
    return st == MAKI_OK ? maki_json_check(maki_buf_str(&chat->reply), answer, err) : st;
}

maki_status maki_chat_status(maki_chat *chat, maki_str *answer, maki_err *err)
{
    maki_jw w;
    maki_buf_clear(&chat->input);
    maki_jw_init(&w, maki_buf_sink(&chat->input), err);
    maki_jw_print(&w, "{'conversation':%s}", maki_str_of(chat->path));
    maki_status st = maki_jw_end(&w);
    if (st == MAKI_OK) st = maki_chat_run_op(chat, "session.status", answer, err);
    if (st == MAKI_OK)
        chat->usage = (maki_status_bar){ maki_json_number_field(*answer, "tokens"),
                                         maki_json_number_field(*answer, "window"),
                                         maki_json_number_field(*answer, "messagesCount"),
                                         chat->answering, true };
    return st;
}

void maki_chat_refresh_usage(maki_chat *chat)
{
    maki_str answer;
    maki_err why;
    chat->usage.known = false;
    if (maki_chat_exists(chat)) (void)!maki_chat_status(chat, &answer, &why);
}

/* ---- printing answers ---------------------------------------------------------------------------------- */

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

static void print_status(maki_chat *chat, maki_str answer)
{
    char text[120];
    maki_str parts;
    maki_json_item item;
    maki_chat_print(chat, "%s of the window: %.0f of %.0f tokens\n",
                    maki_json_text_field(answer, "contextUsage", text, sizeof text),
                    maki_json_number_field(answer, "tokens"),
                    maki_json_number_field(answer, "window"));
    if (maki_json_get(answer, MAKI_LIT("parts"), &parts)) {
        maki_json_iter iter = maki_json_items(parts);
        while (maki_json_next(&iter, &item)) {
            double tokens = maki_json_number_field(item.value, "tokens");
            double messages = maki_json_number_field(item.value, "messages");
            if (tokens == 0) continue;
            maki_chat_print(chat, "  %-15s %8.0f tokens",
                            maki_json_text_field(item.value, "part", text, sizeof text), tokens);
            if (messages > 0) /* the system prompt and the tools have none */
                maki_chat_print(chat, " in %.0f message%s", messages, plural(messages));
            maki_chat_print(chat, "\n");
        }
    }
    double visible = maki_json_number_field(answer, "messagesCount"),
           compressions = maki_json_number_field(answer, "compressionCount");
    maki_chat_print(chat, "%.0f message%s in view, %.0f pinned; ", visible, plural(visible),
                    maki_json_number_field(answer, "pinned"));
    maki_chat_print(chat, "condensed or truncated %.0f time%s, last: %s\n", compressions,
                    plural(compressions),
                    maki_json_text_field(answer, "lastCompression", text, sizeof text));
    maki_chat_print(chat, "session %s, model %s\n",
                    maki_json_text_field(answer, "id", text, sizeof text),
                    chat->answering[0] ? chat->answering : "unknown");
}

/* Format [[2,6],[9,9]] as "2-6, 9", truncated to the buffer. */
static const char *format_ranges(maki_str ranges, char *out, size_t capacity)
{
    maki_json_item pair, number;
    size_t used = 0;
    out[0] = '\0';
    for (maki_json_iter pairs = maki_json_items(ranges); maki_json_next(&pairs, &pair);) {
        maki_json_iter ends = maki_json_items(pair.value);
        double from = maki_json_next(&ends, &number) ? maki_json_double(number.value) : 0;
        double to = maki_json_next(&ends, &number) ? maki_json_double(number.value) : from;
        if (capacity - used < 64) {
            snprintf(out + used, capacity - used, " ...");
            break;
        }
        used += (size_t)snprintf(out + used, capacity - used, "%s%.0f", used ? ", " : "", from);
        if (to > from) used += (size_t)snprintf(out + used, capacity - used, "-%.0f", to);
    }
    return out;
}

static void print_revision(maki_chat *chat, maki_str answer, char letter)
{
    char only[] = "onlyA", messages[] = "messagesA", tokens[] = "tokensA", text[800];
    maki_str ranges = MAKI_LIT("[]");
    only[4] = messages[8] = tokens[6] = letter;
    maki_json_get(answer, maki_str_of(only), &ranges);
    double count = maki_json_number_field(answer, messages);
    format_ranges(ranges, text, sizeof text);
    maki_chat_print(chat, "%c: %.0f message%s, %.0f tokens; only there: %s\n", letter, count,
                    plural(count), maki_json_number_field(answer, tokens),
                    text[0] ? text : "nothing");
}

/* ---- commands -------------------------------------------------------------------------------------- */

/* Run the operation of a command; `path`, if not NULL, is the field of that name. */
static maki_status run_op(maki_chat *chat, const maki_slash_command *command, const char *path,
                          maki_str *answer, maki_err *err)
{
    maki_buf_clear(&chat->input);
    maki_slash_command_input(command, chat->path, path, &chat->input);
    return maki_chat_run_op(chat, command->op->name, answer, err);
}

/* Print the effect of a step, and the tokens before and after. */
static void print_change(maki_chat *chat, const maki_slash_command *command, maki_str answer)
{
    char type[24], effect[240], reason[200];
    maki_str fallback;
    double undone = maki_json_number_field(answer, "undone");
    maki_chat_print(chat, "%s", command->row->done);
    if (undone > 0)
        maki_chat_print(chat, ": the %s of event %.0f",
                        maki_json_text_field(answer, "undoneType", type, sizeof type), undone);
    if (maki_json_text_field(answer, "effect", effect, sizeof effect)[0])
        maki_chat_print(chat, ", %s", effect);
    maki_chat_print(chat, "%s %.0f -> %.0f tokens (event %.0f; /undo reverts it)\n",
                    undone > 0 ? "," : ":", maki_json_number_field(answer, "tokensBefore"),
                    maki_json_number_field(answer, "tokensAfter"),
                    maki_json_number_field(answer, "event"));
    if (maki_json_get(answer, MAKI_LIT("fallback"), &fallback))
        maki_chat_print(chat, "(offline summary: %s)\n",
                        maki_json_text_field(fallback, "message", reason, sizeof reason));
}

static void print_diff(maki_chat *chat, const maki_slash_command *command, maki_str answer)
{
    (void)command;
    print_revision(chat, answer, 'A');
    print_revision(chat, answer, 'B');
}

static void print_answer(maki_chat *chat, const maki_slash_command *command, maki_str answer)
{
    (void)command;
    maki_chat_print(chat, "%.*s\n", MAKI_PRINTED(answer));
}

static maki_status run_fork(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    char path[MAKI_PATH_MAX];
    maki_str answer;
    maki_status st = maki_chat_new_path(chat, path, err);
    if (st == MAKI_OK) st = run_op(chat, command, path, &answer, err);
    if (st != MAKI_OK) return st;
    snprintf(chat->path, sizeof chat->path, "%s", path);
    chat->name = NULL;
    if (!maki_output_answer(&chat->output, command->row->name, answer))
        maki_chat_print(chat, "Forked at message %.0f; the chat continues in the new session.\n",
                        maki_json_number_field(answer, "seq"));
    maki_chat_refresh_usage(chat);
    return MAKI_OK;
}

static maki_status run_status(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    maki_str answer;
    maki_status st = maki_chat_status(chat, &answer, err);
    if (st == MAKI_OK && !maki_output_answer(&chat->output, command->row->name, answer))
        print_status(chat, answer);
    return st;
}

static maki_status run_help(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    maki_slash_command one;
    char usage[MAKI_SLASH_COMMAND_FIELDS];
    (void)command;
    (void)err;
    for (size_t i = 0; maki_slash_command_at(i, &one); i++)
        maki_chat_print(chat, "  /%-9s %-18s %s\n", one.row->name,
                        maki_slash_command_usage(one.row, usage), one.row->help);
    maki_chat_print(
        chat,
        "Ctrl-C stops an answer.  A line that ends with a backslash is continued by the next one.\n"
        "A space before the slash sends the line as a message.\n");
    return MAKI_OK;
}

static maki_status run_quit(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    (void)command;
    (void)err;
    chat->quit = true;
    return MAKI_OK;
}

/* The provider must be configured; an unknown model is an error of the next turn. */
static maki_status run_model(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    maki_provider provider;
    maki_str name = command->count == 2 ? command->arguments[0] : maki_str_of(chat->provider);
    maki_str model =
        command->count ? command->arguments[command->count - 1] : maki_str_of(chat->model);
    maki_status st = maki_provider_from_config(chat->config, MAKI_LIT(MAKI_AGENT_DEFAULT), name,
                                               model, &provider, err);
    if (st != MAKI_OK) return st;
    if (model.len == 0) model = provider.model;
    if (model.len >= sizeof chat->model)
        return maki_fail(err, MAKI_INVALID, "the name of the model is too long");
    if (command->count) {
        snprintf(chat->provider, sizeof chat->provider, "%s", provider.name);
        snprintf(chat->model, sizeof chat->model, "%.*s", MAKI_PRINTED(model));
    }
    snprintf(chat->answering, sizeof chat->answering, "%.*s", MAKI_PRINTED(model));
    maki_chat_print(chat, "%s of %s answers.\n", chat->answering, provider.name);
    return MAKI_OK;
}

/* ---- the last messages ------------------------------------------------------------------------------ */

typedef struct listing {
    maki_chat *chat;
    uint64_t from; /* the first to be printed */
} listing;

/* Replace control characters: U+0000 to U+001F, and U+007F to U+009F, which are C2 80 to C2 9F. */
static void blank_controls(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        if (c[0] < 0x20 || c[0] == 0x7f) c[0] = ' ';
        if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) c[0] = c[1] = ' ';
    }
}

static maki_status print_message(void *ctx, const maki_message *m, maki_err *err)
{
    listing *l = ctx;
    char role[16], text[200];
    (void)err;
    if (m->seq == 0 || m->seq < l->from) return MAKI_OK;
    maki_json_text_field(m->json, "content", text, 80);
    maki_json_text_field(m->json, "role", role, sizeof role);
    blank_controls(text);
    blank_controls(role);
    maki_chat_print(l->chat, "%6llu%s %-9s %s\n", (unsigned long long)m->seq,
                    m->hidden   ? " ·"
                    : m->pinned ? " *"
                                : "  ",
                    role, text[0] ? text : "[...]");
    return MAKI_OK;
}

static maki_status run_log(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    maki_conversation *c = NULL;
    uint64_t max = 20;
    if (command->count) (void)maki_str_number(command->arguments[0], &max);
    maki_status st = maki_conversation_open(chat->m, chat->path, MAKI_OPEN_READ_SHARED, &c, err);
    if (st != MAKI_OK) return st;
    uint64_t last = maki_conversation_last(c);
    listing l = { chat, last > max ? last - max + 1 : 1 };
    st = maki_conversation_each(c, MAKI_LATEST, true, print_message, &l, err);
    maki_conversation_close(c);
    return st;
}

/* ---- retry ------------------------------------------------------------------------------------- */

static maki_status check_answered(void *ctx, const maki_message *m, maki_err *err)
{
    bool *answered = ctx;
    char role[16];
    (void)err;
    if (!m->hidden)
        *answered = strcmp(maki_json_text_field(m->json, "role", role, sizeof role), "user") != 0;
    return MAKI_OK;
}

/* After an error, or an answer that was stopped before it began, the last message has no answer. */
static maki_status run_retry(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    (void)command;
    maki_conversation *c = NULL;
    bool answered = true;
    maki_status st = maki_conversation_open(chat->m, chat->path, MAKI_OPEN, &c, err);
    if (st != MAKI_OK) return st;
    st = maki_conversation_each(c, MAKI_LATEST, true, check_answered, &answered, err);
    maki_conversation_close(c);
    if (st != MAKI_OK) return st;
    if (answered)
        return maki_refuse(err, "ANSWERED",
                           "the last message has its answer; /rewind SEQ goes back to before it");
    maki_chat_turn(chat, MAKI_LIT(""));
    return MAKI_OK;
}

/* ---- the table --------------------------------------------------------------------------------- */

/* For each answer format: a function that runs the command, or one that prints the answer of its operation. */
static const struct answer_row {
    const char *answer;
    maki_status (*run)(maki_chat *chat, const maki_slash_command *command, maki_err *err);
    void (*print)(maki_chat *chat, const maki_slash_command *command, maki_str answer);
    bool conversation; /* needs an existing conversation */
} answers[] = {
    { "change", NULL, print_change, true }, { "diff", NULL, print_diff, true },
    { "fork", run_fork, NULL, true },       { "status", run_status, NULL, true },
    { "log", run_log, NULL, true },         { "retry", run_retry, NULL, true },
    { "model", run_model, NULL, false },    { "help", run_help, NULL, false },
    { "quit", run_quit, NULL, false },      { NULL, NULL, print_answer, true },
};

static maki_status run(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    const struct answer_row *row = answers;
    maki_str answer;
    while (row->answer && strcmp(row->answer, command->row->answer) != 0)
        row++;
    if (row->conversation && !maki_chat_exists(chat))
        return maki_refuse(err, "EMPTY", "the conversation has no message yet");
    if (row->run) return row->run(chat, command, err);
    maki_status st = run_op(chat, command, NULL, &answer, err);
    if (st != MAKI_OK) return st;
    if (row->print == print_change) {
        chat->usage.tokens = maki_json_number_field(answer, "tokensAfter");
        chat->usage.messages = maki_json_number_field(answer, "visible");
    }
    if (!maki_output_answer(&chat->output, command->row->name, answer))
        row->print(chat, command, answer);
    return MAKI_OK;
}

void maki_chat_command(maki_chat *chat, maki_str line)
{
    maki_slash_command command;
    maki_err err;
    maki_terminal_take_interrupt();
    maki_status st = maki_slash_command_parse(line, &command, &err);
    if (st == MAKI_OK) st = run(chat, &command, &err);
    maki_terminal_take_interrupt(); /* clear the flag: the command has ended */
    if (st != MAKI_OK) maki_chat_fail(chat, &err);
}
