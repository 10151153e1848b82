/* chat_command.c -- commands: each is an operation of src/ops, and a few words about its answer. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "chat/chat_internal.h"
#include "chat/terminal.h"

/* ---- operations ------------------------------------------------------------------------------------ */

maki_status maki_chat_ask(maki_chat *chat, const char *op, maki_str *answer, maki_err *err)
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
    maki_jw_object(&w);
    maki_jw_field_string(&w, "conversation", maki_str_of(chat->path));
    maki_jw_end_object(&w);
    maki_status st = maki_jw_end(&w);
    if (st == MAKI_OK) st = maki_chat_ask(chat, "session.status", answer, err);
    if (st == MAKI_OK)
        chat->figures = (maki_status_bar){ maki_json_number_field(*answer, "tokens"),
                                           maki_json_number_field(*answer, "window"),
                                           maki_json_number_field(*answer, "messagesCount"),
                                           chat->answering, true };
    return st;
}

void maki_chat_measure(maki_chat *chat)
{
    maki_str answer;
    maki_err why;
    chat->figures.known = false;
    if (maki_chat_began(chat)) (void)!maki_chat_status(chat, &answer, &why);
}

/* ---- what is told ---------------------------------------------------------------------------------- */

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

static void tell_status(maki_chat *chat, maki_str answer)
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
            if (messages > 0) /* the system prompt and the tools are none */
                maki_chat_print(chat, " in %.0f message%s", messages, plural(messages));
            maki_chat_print(chat, "\n");
        }
    }
    maki_chat_print(chat, "%.0f messages in view, %.0f pinned; ",
                    maki_json_number_field(answer, "messagesCount"),
                    maki_json_number_field(answer, "pinned"));
    maki_chat_print(chat, "condensed or truncated %.0f times, last: %s\n",
                    maki_json_number_field(answer, "compressionCount"),
                    maki_json_text_field(answer, "lastCompression", text, sizeof text));
    maki_chat_print(chat, "session %s, model %s\n",
                    maki_json_text_field(answer, "id", text, sizeof text),
                    chat->answering[0] ? chat->answering : "not known");
}

/* [[2,6],[9,9]] as "2-6, 9"; as much of it as there is room for. */
static const char *ranges_in(maki_str ranges, char *out, size_t capacity)
{
    maki_json_item pair, number;
    size_t used = 0;
    out[0] = '\0';
    for (maki_json_iter all = maki_json_items(ranges); maki_json_next(&all, &pair);) {
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

static void tell_moment(maki_chat *chat, maki_str answer, char letter)
{
    char only[] = "onlyA", messages[] = "messagesA", tokens[] = "tokensA", text[800];
    maki_str ranges = MAKI_LIT("[]");
    only[4] = messages[8] = tokens[6] = letter;
    maki_json_get(answer, maki_str_of(only), &ranges);
    double count = maki_json_number_field(answer, messages);
    ranges_in(ranges, text, sizeof text);
    maki_chat_print(chat, "%c: %.0f message%s, %.0f tokens of o200k_base; only there: %s\n", letter,
                    count, plural(count), maki_json_number_field(answer, tokens),
                    text[0] ? text : "nothing");
}

/* ---- commands -------------------------------------------------------------------------------------- */

/* `path`, if not NULL, is the field of that name.  *told: it was shown as JSON. */
static maki_status run_op(maki_chat *chat, const maki_slash_command *command, const char *path,
                          maki_str *answer, bool *told, maki_err *err)
{
    maki_buf_clear(&chat->input);
    maki_slash_command_input(command, chat->path, path, &chat->input);
    maki_status st = maki_chat_ask(chat, command->op->name, answer, err);
    *told = st == MAKI_OK && maki_output_answer(&chat->showing, command->row->name, *answer);
    return st;
}

/* What a step did, and what there is now. */
static maki_status run_change(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    char type[24];
    maki_str answer;
    bool told;
    maki_status st = run_op(chat, command, NULL, &answer, &told, err);
    if (st != MAKI_OK) return st;
    double before = maki_json_number_field(answer, "tokensBefore");
    double after = maki_json_number_field(answer, "tokensAfter");
    chat->figures.tokens = after;
    chat->figures.messages = maki_json_number_field(answer, "visible");
    if (told) return MAKI_OK;
    double event = maki_json_number_field(answer, "event"),
           removed = maki_json_number_field(answer, "removed");
    double undone = maki_json_number_field(answer, "undone");
    maki_chat_print(chat, "%s", command->row->done);
    if (undone > 0)
        maki_chat_print(chat, ": the %s of event %.0f",
                        maki_json_text_field(answer, "undoneType", type, sizeof type), undone);
    if (removed > 0)
        maki_chat_print(chat, ", %.0f message%s out of view", removed, plural(removed));
    maki_chat_print(chat, "%s %.0f -> %.0f tokens (event %.0f; /undo takes it back)\n",
                    undone > 0 ? "," : ":", before, after, event);
    return MAKI_OK;
}

static maki_status run_diff(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    maki_str answer;
    bool told;
    maki_status st = run_op(chat, command, NULL, &answer, &told, err);
    if (st != MAKI_OK || told) return st;
    tell_moment(chat, answer, 'A');
    tell_moment(chat, answer, 'B');
    return MAKI_OK;
}

static maki_status run_fork(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    char path[MAKI_PATH_MAX];
    maki_str answer;
    bool told;
    maki_status st = maki_chat_new_path(chat, path, err);
    if (st == MAKI_OK) st = run_op(chat, command, path, &answer, &told, err);
    if (st != MAKI_OK) return st;
    snprintf(chat->path, sizeof chat->path, "%s", path);
    chat->name = NULL;
    if (!told)
        maki_chat_print(chat, "Forked at message %.0f; from here on it is a session of its own.\n",
                        maki_json_number_field(answer, "seq"));
    maki_chat_measure(chat);
    return MAKI_OK;
}

static maki_status run_status(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    maki_str answer;
    maki_status st = maki_chat_status(chat, &answer, err);
    if (st == MAKI_OK && !maki_output_answer(&chat->showing, command->row->name, answer))
        tell_status(chat, answer);
    return st;
}

/* One whose answer needs no words of the chat. */
static maki_status run_other(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    maki_str answer;
    bool told;
    maki_status st = run_op(chat, command, NULL, &answer, &told, err);
    if (st == MAKI_OK && !told) maki_chat_print(chat, "%.*s\n", MAKI_PRINTED(answer));
    return st;
}

static maki_status run_help(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    maki_slash_command one;
    char takes[MAKI_SLASH_COMMAND_FIELDS];
    (void)command;
    (void)err;
    for (size_t i = 0; maki_slash_command_at(i, &one); i++)
        maki_chat_print(chat, "  /%-9s %-18s %s\n", one.row->name,
                        maki_slash_command_has_field(one.row, takes), one.row->help);
    maki_chat_print(
        chat, "Ctrl-C stops an answer.  A line that ends with a backslash goes on in the next.\n"
              "A space before the slash sends the line as a message.\n");
    return MAKI_OK;
}

static maki_status run_quit(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    (void)command;
    (void)err;
    chat->leaving = true;
    return MAKI_OK;
}

/* The provider has to be one that can be asked; whether it has the model only it knows. */
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
        return maki_fail(err, MAKI_INVALID, "no model has a name that long");
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
    uint64_t from; /* the first to be told */
} listing;

/* Nothing that a terminal would obey: U+0000 to U+001F, and U+007F to U+009F, which are C2 80 and so on. */
static void blank_controls(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at; at++) {
        if (at[0] < 0x20 || at[0] == 0x7f) at[0] = ' ';
        if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) at[0] = at[1] = ' ';
    }
}

static maki_status tell_message(void *ctx, const maki_message *m, maki_err *err)
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
    enum { USUALLY = 20 };
    maki_conversation *c = NULL;
    uint64_t most = USUALLY;
    if (command->count) {
        most = 0;
        for (size_t i = 0; i < command->arguments[0].len; i++)
            most = most * 10 + (uint64_t)(command->arguments[0].ptr[i] - '0');
    }
    maki_status st = maki_conversation_open(chat->m, chat->path, MAKI_OPEN_READ_SHARED, &c, err);
    if (st != MAKI_OK) return st;
    uint64_t last = maki_conversation_last(c);
    listing l = { chat, last > most ? last - most + 1 : 1 };
    st = maki_conversation_each(c, MAKI_LATEST, true, tell_message, &l, err);
    maki_conversation_close(c);
    return st;
}

/* ---- once more ------------------------------------------------------------------------------------- */

static maki_status note_answered(void *ctx, const maki_message *m, maki_err *err)
{
    bool *answered = ctx;
    char role[16];
    (void)err;
    if (!m->hidden)
        *answered = strcmp(maki_json_text_field(m->json, "role", role, sizeof role), "user") != 0;
    return MAKI_OK;
}

/* After a failure, or an answer that was stopped before it began: what was asked is in the session, without an answer. */
static maki_status run_retry(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    (void)command;
    maki_conversation *c = NULL;
    bool answered = true;
    maki_status st = maki_conversation_open(chat->m, chat->path, MAKI_OPEN, &c, err);
    if (st != MAKI_OK) return st;
    st = maki_conversation_each(c, MAKI_LATEST, true, note_answered, &answered, err);
    maki_conversation_close(c);
    if (st != MAKI_OK) return st;
    if (answered)
        return maki_refuse(err, "ANSWERED",
                           "the last message has its answer; /rewind SEQ goes back to before it");
    maki_chat_turn(chat, MAKI_LIT(""));
    return MAKI_OK;
}

/* ---- which of them --------------------------------------------------------------------------------- */

/* By how the answer of a command is shown. */
static const struct answer_row {
    const char *answer;
    maki_status (*run)(maki_chat *chat, const maki_slash_command *command, maki_err *err);
    bool conversation; /* it is about one: something was said before */
} answers[] = {
    { "change", run_change, true }, { "diff", run_diff, true },  { "fork", run_fork, true },
    { "status", run_status, true }, { "log", run_log, true },    { "retry", run_retry, true },
    { "model", run_model, false },  { "help", run_help, false }, { "quit", run_quit, false },
    { NULL, run_other, true }, /* any other */
};

static maki_status run(maki_chat *chat, const maki_slash_command *command, maki_err *err)
{
    const struct answer_row *row = answers;
    while (row->answer && strcmp(row->answer, command->row->answer) != 0)
        row++;
    if (row->conversation && !maki_chat_began(chat))
        return maki_refuse(err, "EMPTY", "nothing was said yet in this conversation");
    return row->run(chat, command, err);
}

void maki_chat_command(maki_chat *chat, maki_str line)
{
    maki_slash_command command;
    maki_err err;
    maki_terminal_take_interrupt();
    maki_status st = maki_slash_command_parse(line, &command, &err);
    if (st == MAKI_OK) st = run(chat, &command, &err);
    maki_terminal_take_interrupt(); /* it stopped the command, or came too late */
    if (st != MAKI_OK) maki_chat_fail(chat, &err);
}
