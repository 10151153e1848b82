/* slash_command.c -- see slash_command.h. */
#include "chat/slash_command.h"

#include <ctype.h>
#include <stdio.h>

#include "base/err.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "base/suggest.h"

#define ARGS(...) ((const maki_op_argument[]){ __VA_ARGS__, { 0 } })

/* The chat's own, of which chat_command.c knows the function; an argument called `count` is a number. */
/* clang-format off */
static const maki_op_command own[] = {
    { "chat", "log",   "the last messages and their numbers",         "log",   NULL, ARGS({ "[N]", "count" }) },
    { "chat", "retry", "ask again for an answer to the last message", "retry", NULL, ARGS({ 0 }) },
    { "chat", "model", "who answers; another one from now on",        "model", NULL, ARGS({ "[[PROVIDER]", "provider" }, { "NAME]", "model" }) },
    { "chat", "help",  "this list",                                   "help",  NULL, ARGS({ 0 }) },
    { "chat", "quit",  "leave; so does Ctrl-D",                       "quit",  NULL, ARGS({ 0 }) },
};
/* clang-format on */

bool maki_slash_command_at(size_t index, maki_slash_command *out)
{
    maki_op_bound_command shown;
    size_t operations = 0;
    while (operations <= index && maki_op_command_at("chat", operations, &shown))
        operations++;
    *out = (maki_slash_command){ .count = 0 };
    if (operations > index) {
        out->row = shown.command;
        out->op = shown.op;
    } else if (index - operations < sizeof own / sizeof own[0]) {
        out->row = &own[index - operations];
    }
    return out->row != NULL;
}

/* The n-th word that it takes, or NULL: the options of a command line have no place in a chat. */
static const maki_op_argument *word_of(const maki_op_command *row, size_t n)
{
    const maki_op_argument *argument = row->arguments;
    while (argument->shape && (strchr("-=", argument->shape[0]) || n-- > 0))
        argument++;
    return argument->shape ? argument : NULL;
}

const char *maki_slash_command_has_field(const maki_op_command *row,
                                         char out[MAKI_SLASH_COMMAND_FIELDS])
{
    const maki_op_argument *word;
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; used < MAKI_SLASH_COMMAND_FIELDS && (word = word_of(row, i)) != NULL; i++)
        used += (size_t)snprintf(out + used, MAKI_SLASH_COMMAND_FIELDS - used, "%s%s", i ? " " : "",
                                 word->shape);
    return out;
}

bool maki_slash_command_is(maki_str line)
{
    return line.len > 1 && line.ptr[0] == '/' && isalpha((unsigned char)line.ptr[1]);
}

/* The next word, and what stands behind it; len 0: there is none. */
static maki_str next_word(maki_str *rest)
{
    while (rest->len && isspace((unsigned char)rest->ptr[0]))
        *rest = maki_str_from(*rest, 1);
    size_t n = 0;
    while (n < rest->len && !isspace((unsigned char)rest->ptr[n]))
        n++;
    maki_str word = maki_str_to(*rest, n);
    *rest = maki_str_from(*rest, n);
    return word;
}

/* The digits at the front, taken off *rest, without zeros before them; len 0: it is no number. */
static maki_str take_number(maki_str *rest)
{
    size_t n = 0;
    while (n < rest->len && isdigit((unsigned char)rest->ptr[n]))
        n++;
    maki_str number = maki_str_to(*rest, n < 16 ? n : 0);
    *rest = maki_str_from(*rest, n);
    while (number.len > 1 && number.ptr[0] == '0')
        number = maki_str_from(number, 1);
    return number;
}

/* Is the n-th argument what its field wants?  It is written, unless `w` is NULL. */
static bool put_argument(const maki_slash_command *command, size_t n, maki_jw *w)
{
    const char *name = word_of(command->row, n)->field;
    const maki_op_field *field = command->op ? maki_op_command_field(command->op, name) : NULL;
    const char *type = field ? field->type : name;
    bool moment = strcmp(type, "moment") == 0, number = moment || strcmp(type, "count") == 0;
    maki_str text = command->arguments[n], seq = { "", 0 }, ev = { "", 0 };
    if (number) seq = take_number(&text);
    bool more = moment && text.len && text.ptr[0] == ':';
    if (more) text = maki_str_from(text, 1);
    if (more) ev = take_number(&text);
    if (number && (!seq.len || text.len || (more && !ev.len))) return false;
    if (!w) return true;
    maki_jw_key(w, maki_str_of(name));
    if (moment) {
        maki_jw_object(w);
        maki_jw_field_raw(w, "seq", seq);
        if (more) maki_jw_field_raw(w, "ev", ev);
        maki_jw_end_object(w);
    } else if (number) {
        maki_jw_raw(w, seq);
    } else {
        maki_jw_string(w, text);
    }
    return true;
}

static maki_status find_row(maki_str name, maki_slash_command *out, maki_err *err)
{
    maki_suggest nearest = maki_suggest_for(name);
    for (size_t i = 0; maki_slash_command_at(i, out); i++) {
        if (maki_str_is(name, maki_str_of(out->row->name))) return MAKI_OK;
        maki_suggest_candidate(&nearest, maki_str_of(out->row->name));
    }
    bool near = nearest.found.len > 0;
    int len = (int)(name.len < 40 ? name.len : 40);
    return maki_fail(err, MAKI_NOTFOUND,
                     "there is no command /%.*s%s%.*s%s; /help lists them, and a space before the "
                     "slash sends it as a message",
                     len, name.ptr, near ? " (is it /" : "", (int)nearest.found.len,
                     near ? nearest.found.ptr : "", near ? "?)" : "");
}

maki_status maki_slash_command_parse(maki_str line, maki_slash_command *out, maki_err *err)
{
    char takes[MAKI_SLASH_COMMAND_FIELDS];
    maki_str rest = maki_str_from(line, 1), name = next_word(&rest), word;
    maki_status st = find_row(name, out, err);
    if (st != MAKI_OK) return st;
    bool good = true;
    while (good && (word = next_word(&rest)).len) {
        good = out->count < MAKI_SLASH_COMMAND_ARGUMENTS && word_of(out->row, out->count);
        if (!good) break;
        out->arguments[out->count++] = word;
        good = put_argument(out, out->count - 1, NULL);
    }
    const maki_op_argument *next = word_of(out->row, out->count);
    bool missing = next && next->shape[strlen(next->shape) - 1] != ']';
    if (good && !missing) return MAKI_OK;
    maki_slash_command_has_field(out->row, takes);
    return maki_fail(err, MAKI_INVALID, "it is /%s%s%s: %s%s", out->row->name, takes[0] ? " " : "",
                     takes, out->row->help, strstr(takes, "SEQ") ? "; /log tells the numbers" : "");
}

void maki_slash_command_input(const maki_slash_command *command, const char *conversation,
                              const char *path, maki_buf *out)
{
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(out), NULL);
    maki_jw_object(&w);
    maki_jw_field_string(&w, "conversation", maki_str_of(conversation));
    if (path) maki_jw_field_string(&w, "path", maki_str_of(path));
    for (size_t i = 0; i < command->count; i++)
        (void)put_argument(command, i, &w);
    maki_jw_end_object(&w);
    (void)!maki_jw_end(&w); /* the buffer tells it */
}
