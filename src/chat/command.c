/* command.c -- see command.h. */
#include "chat/command.h"

#include <ctype.h>
#include <stdio.h>

#include "base/err.h"
#include "base/json_write.h"
#include "base/nearest.h"
#include "base/str.h"

/* clang-format off */
static const maki_command_row rows[] = {
    { "status",   "",               "how full the window is, and with what",    MAKI_COMMAND_STATUS, true, "session.status",   NULL,        { { 0 } } },
    { "condense", "[KEEP]",         "the middle behind a summary",              MAKI_COMMAND_STEP, true,   "history.condense", "Condensed", { { "keepCount", MAKI_ARGUMENT_NUMBER, true } } },
    { "pin",      "SEQ",            "a message that nothing may hide",          MAKI_COMMAND_STEP, true,   "history.pin",      "Pinned",    { { "seq", MAKI_ARGUMENT_NUMBER, false } } },
    { "rewind",   "SEQ",            "back to message SEQ, and on from there",   MAKI_COMMAND_STEP, true,   "history.rewind",   "Rewound",   { { "seq", MAKI_ARGUMENT_NUMBER, false } } },
    { "undo",     "[EVENT]",        "make the newest step void, or that one",   MAKI_COMMAND_STEP, true,   "history.undo",     "Undone",    { { "ev", MAKI_ARGUMENT_NUMBER, true } } },
    { "fork",     "[SEQ]",          "go on in a copy that shares the past",     MAKI_COMMAND_FORK, true,   "history.fork",     NULL,        { { "seq", MAKI_ARGUMENT_NUMBER, true } } },
    { "expand",   "SEQ",            "undo what hides or shortens a message",    MAKI_COMMAND_STEP, true,   "history.expand",   "Expanded",  { { "seq", MAKI_ARGUMENT_NUMBER, false } } },
    { "diff",     "A [B]",          "what two moments (SEQ or SEQ:EVENT) show differently", MAKI_COMMAND_DIFF, true, "history.diff", NULL,  { { "a", MAKI_ARGUMENT_MOMENT, false }, { "b", MAKI_ARGUMENT_MOMENT, true } } },
    { "log",      "[N]",            "the last messages and their numbers",      MAKI_COMMAND_LOG, true,    NULL,               NULL,        { { "count", MAKI_ARGUMENT_NUMBER, true } } },
    { "retry",    "",               "ask again for an answer to the last message", MAKI_COMMAND_RETRY, true, NULL,               NULL,        { { 0 } } },
    { "model",    "[[PROVIDER] NAME]", "who answers; another one from now on",  MAKI_COMMAND_MODEL, false, NULL,               NULL,        { { "a", MAKI_ARGUMENT_TEXT, true }, { "b", MAKI_ARGUMENT_TEXT, true } } },
    { "help",     "",               "this list",                                MAKI_COMMAND_HELP, false,  NULL,               NULL,        { { 0 } } },
    { "quit",     "",               "leave; so does Ctrl-D",                    MAKI_COMMAND_QUIT, false,  NULL,               NULL,        { { 0 } } },
};
/* clang-format on */
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

const maki_command_row *maki_command_at(size_t index)
{
    return index < ROW_COUNT ? &rows[index] : NULL;
}

bool maki_command_is(maki_str line)
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

static bool is_number(maki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!isdigit((unsigned char)text.ptr[i])) return false;
    }
    return text.len > 0 && text.len < 16;
}

static bool is_moment(maki_str text)
{
    const char *colon = memchr(text.ptr, ':', text.len);
    if (!colon) return is_number(text);
    size_t at = (size_t)(colon - text.ptr);
    return is_number(maki_str_to(text, at)) && is_number(maki_str_from(text, at + 1));
}

static bool fits(const maki_argument *argument, maki_str text)
{
    switch (argument->type) {
    case MAKI_ARGUMENT_NUMBER: return is_number(text);
    case MAKI_ARGUMENT_MOMENT: return is_moment(text);
    default: return true;
    }
}

static maki_status find_row(maki_str name, const maki_command_row **out, maki_err *err)
{
    maki_nearest nearest = maki_nearest_to(name);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (maki_str_is(name, maki_str_of(rows[i].name))) {
            *out = &rows[i];
            return MAKI_OK;
        }
        maki_nearest_offer(&nearest, maki_str_of(rows[i].name));
    }
    bool near = nearest.found.len > 0;
    int len = (int)(name.len < 40 ? name.len : 40);
    return maki_fail(err, MAKI_NOTFOUND,
                     "there is no command /%.*s%s%.*s%s; /help lists them, and a space before the "
                     "slash sends it as a message",
                     len, name.ptr, near ? " (is it /" : "", (int)nearest.found.len,
                     near ? nearest.found.ptr : "", near ? "?)" : "");
}

maki_status maki_command_parse(maki_str line, maki_command *out, maki_err *err)
{
    maki_command made = { .count = 0 };
    maki_str rest = maki_str_from(line, 1), name = next_word(&rest), word;
    maki_status st = find_row(name, &made.row, err);
    if (st != MAKI_OK) return st;
    const maki_argument *takes = made.row->arguments;
    bool good = true;
    while (good && (word = next_word(&rest)).len) {
        size_t n = made.count;
        good = n < MAKI_COMMAND_ARGUMENTS && takes[n].field && fits(&takes[n], word);
        if (good) made.arguments[made.count++] = word;
    }
    bool missing = made.count < MAKI_COMMAND_ARGUMENTS && takes[made.count].field &&
                   !takes[made.count].optional;
    if (!good || missing) {
        return maki_fail(err, MAKI_INVALID, "it is /%s%s%s: %s%s", made.row->name,
                         made.row->takes[0] ? " " : "", made.row->takes, made.row->help,
                         strstr(made.row->takes, "SEQ") ? "; /log tells the numbers" : "");
    }
    *out = made;
    return MAKI_OK;
}

/* As JSON has it: without zeros before it. */
static maki_str without_zeros(maki_str number)
{
    while (number.len > 1 && number.ptr[0] == '0')
        number = maki_str_from(number, 1);
    return number;
}

static void write_moment(maki_jw *w, maki_str text)
{
    const char *colon = memchr(text.ptr, ':', text.len);
    size_t at = colon ? (size_t)(colon - text.ptr) : text.len;
    maki_jw_object(w);
    maki_jw_key(w, MAKI_LIT("seq"));
    maki_jw_raw(w, without_zeros(maki_str_to(text, at)));
    if (colon) {
        maki_jw_key(w, MAKI_LIT("ev"));
        maki_jw_raw(w, without_zeros(maki_str_from(text, at + 1)));
    }
    maki_jw_end_object(w);
}

void maki_command_input(const maki_command *command, const char *conversation, const char *path,
                        maki_buf *out)
{
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(out), NULL);
    maki_jw_object(&w);
    maki_jw_key(&w, MAKI_LIT("conversation"));
    maki_jw_string(&w, maki_str_of(conversation));
    if (path) {
        maki_jw_key(&w, MAKI_LIT("path"));
        maki_jw_string(&w, maki_str_of(path));
    }
    for (size_t i = 0; i < command->count; i++) {
        const maki_argument *argument = &command->row->arguments[i];
        maki_jw_key(&w, maki_str_of(argument->field));
        switch (argument->type) {
        case MAKI_ARGUMENT_NUMBER: maki_jw_raw(&w, without_zeros(command->arguments[i])); break;
        case MAKI_ARGUMENT_MOMENT: write_moment(&w, command->arguments[i]); break;
        case MAKI_ARGUMENT_TEXT: maki_jw_string(&w, command->arguments[i]); break;
        }
    }
    maki_jw_end_object(&w);
    if (maki_jw_end(&w) != MAKI_OK) return; /* the buffer tells it */
}
