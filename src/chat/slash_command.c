/* slash_command.c -- find the row of a command, check its arguments by their types, write the input of its operation.
 *
 * In:    a line; the rows of the operations and of `chat_commands`.
 * Out:   a maki_slash_command whose arguments are all valid: writing them can fail only by lack of memory. */
#include "chat/slash_command.h"

#include <ctype.h>
#include <stdio.h>

#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "base/suggest.h"

#define ARGS(...) ((const maki_op_argument[]){ __VA_ARGS__, { 0 } })

/* Commands of the chat itself, run by chat_command.c; the type of an argument is its field. */
/* clang-format off */
static const maki_op_command chat_commands[] = {
    { "chat", "log",   "the last messages and their numbers",         "log",   NULL, ARGS({ "[N]", "count" }) },
    { "chat", "retry", "ask again for an answer to the last message", "retry", NULL, ARGS({ 0 }) },
    { "chat", "model", "print or change the model that answers",       "model", NULL, ARGS({ "[[PROVIDER]", "provider" }, { "NAME]", "model" }) },
    { "chat", "help",  "this list",                                   "help",  NULL, ARGS({ 0 }) },
    { "chat", "quit",  "end the chat, like Ctrl-D",                    "quit",  NULL, ARGS({ 0 }) },
};
/* clang-format on */

bool maki_slash_command_at(size_t index, maki_slash_command *out)
{
    maki_op_bound_command bound;
    size_t operations = 0;
    while (operations <= index && maki_op_command_at("chat", operations, &bound))
        operations++;
    *out = (maki_slash_command){ .count = 0 };
    if (operations > index) {
        out->row = bound.command;
        out->op = bound.op;
    } else if (index - operations < sizeof chat_commands / sizeof chat_commands[0]) {
        out->row = &chat_commands[index - operations];
    }
    return out->row != NULL;
}

/* The n-th positional argument, or NULL; a chat has no options. */
static const maki_op_argument *positional(const maki_op_command *row, size_t n)
{
    const maki_op_argument *argument = row->arguments;
    while (argument->shape && (strchr("-=", argument->shape[0]) || n-- > 0))
        argument++;
    return argument->shape ? argument : NULL;
}

const char *maki_slash_command_usage(const maki_op_command *row,
                                     char out[MAKI_SLASH_COMMAND_FIELDS])
{
    const maki_op_argument *argument;
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; used < MAKI_SLASH_COMMAND_FIELDS && (argument = positional(row, i)) != NULL;
         i++)
        used += (size_t)snprintf(out + used, MAKI_SLASH_COMMAND_FIELDS - used, "%s%s", i ? " " : "",
                                 argument->shape);
    return out;
}

bool maki_slash_command_is(maki_str line)
{
    return line.len > 1 && line.ptr[0] == '/' && isalpha((unsigned char)line.ptr[1]);
}

/* Remove the next word from *rest; len 0: none. */
static maki_str next_word(maki_str *rest)
{
    while (rest->len && isspace((unsigned char)rest->ptr[0]))
        *rest = maki_str_skip(*rest, 1);
    size_t n = 0;
    while (n < rest->len && !isspace((unsigned char)rest->ptr[n]))
        n++;
    maki_str word = maki_str_prefix(*rest, n);
    *rest = maki_str_skip(*rest, n);
    return word;
}

/* Cut the digits from the start of *rest, and return them without leading zeros; len 0: not a number. */
static maki_str cut_number(maki_str *rest)
{
    size_t n = 0;
    while (n < rest->len && isdigit((unsigned char)rest->ptr[n]))
        n++;
    maki_str number = maki_str_prefix(*rest, n < 16 ? n : 0);
    *rest = maki_str_skip(*rest, n);
    while (number.len > 1 && number.ptr[0] == '0')
        number = maki_str_skip(number, 1);
    return number;
}

/* Check the n-th argument against the type of its field, and write it unless `w` is NULL. */
static bool put_argument(const maki_slash_command *command, size_t n, maki_jw *w)
{
    const char *name = positional(command->row, n)->field;
    const maki_op_field *field = command->op ? maki_op_command_field(command->op, name) : NULL;
    const char *type = field ? field->type : name;
    bool revision = strcmp(type, "revision") == 0, number = revision || strcmp(type, "count") == 0;
    maki_str text = command->arguments[n], seq = { "", 0 }, ev = { "", 0 };
    if (number) seq = cut_number(&text);
    bool has_ev = revision && text.len && text.ptr[0] == ':';
    if (has_ev) text = maki_str_skip(text, 1);
    if (has_ev) ev = cut_number(&text);
    if (number && (!seq.len || text.len || (has_ev && !ev.len))) return false;
    if (!w) return true;
    maki_jw_key(w, maki_str_of(name));
    if (revision)
        maki_jw_print(w, "{'seq':%v,'ev':%v}", seq, ev);
    else
        maki_jw_print(w, number ? "%v" : "%s", number ? seq : text);
    return true;
}

static maki_status find_row(maki_str name, maki_slash_command *out, maki_err *err)
{
    maki_suggest nearest = maki_suggest_for(name);
    for (size_t i = 0; maki_slash_command_at(i, out); i++) {
        if (maki_str_equal(name, maki_str_of(out->row->name))) return MAKI_OK;
        maki_suggest_candidate(&nearest, maki_str_of(out->row->name));
    }
    bool near = nearest.found.len > 0;
    int len = (int)(name.len < 40 ? name.len : 40);
    return maki_fail(err, MAKI_NOTFOUND,
                     "unknown command /%.*s%s%.*s%s; /help lists them, and a space before the "
                     "slash sends it as a message",
                     len, name.ptr, near ? " (did you mean /" : "", (int)nearest.found.len,
                     near ? nearest.found.ptr : "", near ? "?)" : "");
}

maki_status maki_slash_command_parse(maki_str line, maki_slash_command *out, maki_err *err)
{
    char usage[MAKI_SLASH_COMMAND_FIELDS];
    maki_str rest = maki_str_skip(line, 1), name = next_word(&rest), word;
    maki_status st = find_row(name, out, err);
    if (st != MAKI_OK) return st;
    bool valid = true;
    while (valid && (word = next_word(&rest)).len) {
        valid = out->count < MAKI_SLASH_COMMAND_ARGUMENTS && positional(out->row, out->count);
        if (!valid) break;
        out->arguments[out->count++] = word;
        valid = put_argument(out, out->count - 1, NULL);
    }
    const maki_op_argument *next = positional(out->row, out->count);
    bool missing = next && next->shape[strlen(next->shape) - 1] != ']';
    if (valid && !missing) return MAKI_OK;
    maki_slash_command_usage(out->row, usage);
    return maki_fail(err, MAKI_INVALID, "usage: /%s%s%s: %s%s", out->row->name, usage[0] ? " " : "",
                     usage, out->row->help,
                     strstr(usage, "SEQ") ? "; /log prints the numbers" : "");
}

void maki_slash_command_input(const maki_slash_command *command, const char *conversation,
                              const char *path, maki_buf *out)
{
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(out), NULL);
    maki_jw_print(&w, "{'conversation':%s,'path':%z", maki_str_of(conversation), path);
    for (size_t i = 0; i < command->count; i++)
        (void)put_argument(command, i, &w);
    maki_jw_end_object(&w);
    (void)!maki_jw_end(&w); /* the buffer has the status */
}
