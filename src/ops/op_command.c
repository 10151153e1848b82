/* op_command.c -- operations as commands: find the command of a group, parse its arguments and options, build the
 * JSON input.
 *
 * In:   a row's column of commands, and argv.  Out: the input of the operation, or which argument is missing or unknown.
 * The types of the row decide how an argument is written as JSON; no command is special here. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/command_line.h"
#include "base/err.h"
#include "base/json_write.h"
#include "base/str_util.h"
#include "ops/operation.h"

bool maki_op_command_at(const char *group, size_t index, maki_op_bound_command *out)
{
    for (size_t i = 0; i < maki_op_table_count; i++) {
        const maki_op_info *op = &maki_op_table[i].info;
        for (const maki_op_command *c = op->commands; c->name; c++) {
            if (!maki_str_contains(maki_str_of(c->groups), maki_str_of(group)) || index--) continue;
            *out = (maki_op_bound_command){ group, op, c };
            return true;
        }
    }
    return false;
}

bool maki_op_command_find(const char *group, maki_str name, maki_op_bound_command *out)
{
    for (size_t i = 0; maki_op_command_at(group, i, out); i++) {
        if (maki_str_equal(name, maki_str_of(out->command->name))) return true;
    }
    return false;
}

const maki_op_field *maki_op_command_field(const maki_op_info *op, const char *name)
{
    const maki_op_field *field = op->forms[op->form_count - 1].input;
    while (field->name && strcmp(field->name, name) != 0)
        field++;
    return field->name ? field : NULL;
}

bool maki_op_command_takes_conversation(const maki_op_bound_command *bound)
{
    for (const maki_op_argument *a = bound->command->arguments; a->shape; a++) {
        if (strcmp(a->field, "conversation") == 0) return false;
    }
    return strcmp(bound->group, "chat") != 0 && maki_op_command_field(bound->op, "conversation");
}

/* ---- parsing arguments -------------------------------------------------------------------------------- */

static bool is_word(const maki_op_argument *argument)
{
    return argument->shape[0] != '-' && argument->shape[0] != '=';
}

static maki_status add_word(const maki_op_bound_command *bound, const char *word,
                            maki_op_parsed_args *out, maki_err *err)
{
    const maki_op_argument *a = bound->command->arguments;
    if (maki_op_command_takes_conversation(bound) && !out->conversation) {
        out->conversation = word;
        return MAKI_OK;
    }
    for (size_t i = 0; a[i].shape; i++) {
        if (!is_word(&a[i]) || out->values[i]) continue;
        out->values[i] = word;
        if (strcmp(a[i].field, "conversation") == 0) out->conversation = word;
        return MAKI_OK;
    }
    return maki_fail(err, MAKI_INVALID, "too many arguments: %.60s", word);
}

static maki_status check_words(const maki_op_bound_command *bound, const maki_op_parsed_args *args,
                               maki_err *err)
{
    const maki_op_argument *a = bound->command->arguments;
    if (maki_op_command_takes_conversation(bound) && !args->conversation)
        return maki_fail(err, MAKI_INVALID, "missing: %s",
                         strcmp(bound->group, "session") == 0 ? "ID" : "PATH");
    for (size_t i = 0; a[i].shape; i++) {
        if (is_word(&a[i]) && a[i].shape[0] != '[' && !args->values[i])
            return maki_fail(err, MAKI_INVALID, "missing: %s", a[i].shape);
    }
    return MAKI_OK;
}

maki_status maki_op_command_read(const maki_op_bound_command *bound, int argc, char **argv,
                                 maki_op_parsed_args *out, maki_err *err)
{
    const maki_op_argument *a = bound->command->arguments;
    maki_option options[MAKI_OP_ARGUMENTS + 1] = { { .shape = "--json" } };
    size_t argument_of[MAKI_OP_ARGUMENTS + 1], count = 1, row;
    const char *value;
    char command[40];
    maki_option_kind kind;
    maki_status st = MAKI_OK;
    *out = (maki_op_parsed_args){ .json = false };
    for (size_t i = 0; a[i].shape; i++) {
        if (a[i].shape[0] != '-') continue;
        argument_of[count] = i;
        options[count++].shape = a[i].shape;
    }
    snprintf(command, sizeof command, "maki %s", bound->group);
    maki_option_list list = { command, options, count, sizeof options[0], argc, argv, 0, false };
    while (st == MAKI_OK && (kind = maki_options_next(&list, &row, &value, err))) {
        if (kind == MAKI_OPTION_INVALID) return MAKI_INVALID;
        if (kind == MAKI_OPTION_POSITIONAL)
            st = add_word(bound, value, out, err);
        else if (row == 0)
            out->json = true;
        else
            out->values[argument_of[row]] = value ? value : "true";
    }
    return st == MAKI_OK ? check_words(bound, out, err) : st;
}

/* ---- building the input ----------------------------------------------------------------------- */

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* JSON allows no leading zeros. */
static maki_str skip_zeros(maki_str number)
{
    while (number.len > 1 && number.ptr[0] == '0' && isdigit((unsigned char)number.ptr[1]))
        number = maki_str_skip(number, 1);
    return number;
}

/* `shape`: SEQ, [SEQ] or --limit N. */
static maki_status write_number(maki_jw *w, const char *shape, const char *value, maki_err *err)
{
    size_t n = digits(value);
    if (n && value[n] == '.') n += 1 + digits(value + n + 1);
    if (n == 0 || value[n] || value[n - 1] == '.')
        return maki_fail(err, MAKI_INVALID, "%.*s: not a number: %.60s",
                         (int)strcspn(shape + (shape[0] == '['), "]"), shape + (shape[0] == '['),
                         value);
    maki_jw_raw(w, skip_zeros(maki_str_of(value)));
    return MAKI_OK;
}

/* SEQ, or SEQ:EVENT. */
static maki_status write_revision(maki_jw *w, const char *value, maki_err *err)
{
    size_t n = digits(value), m = value[n] == ':' ? digits(value + n + 1) : 0;
    if (n == 0 || value[n + m + (m > 0)])
        return maki_fail(err, MAKI_INVALID, "not SEQ or SEQ:EVENT: %.60s", value);
    maki_jw_begin_object(w);
    maki_jw_field_raw(w, "seq", skip_zeros((maki_str){ value, n }));
    if (m) maki_jw_field_raw(w, "ev", skip_zeros((maki_str){ value + n + 1, m }));
    maki_jw_end_object(w);
    return MAKI_OK;
}

static maki_status write_value(maki_jw *w, const maki_op_argument *argument, const char *type,
                               const char *value, maki_err *err)
{
    if (strcmp(value, "default") == 0 && strstr(argument->shape, "|default")) {
        maki_jw_null(w);
        return MAKI_OK;
    }
    if (strcmp(type, "count") == 0 || strcmp(type, "number") == 0)
        return write_number(w, argument->shape, value, err);
    if (strcmp(type, "revision") == 0) return write_revision(w, value, err);
    if (strcmp(type, "boolean") == 0)
        maki_jw_raw(w, maki_str_of(value));
    else
        maki_jw_string(w, maki_str_of(value));
    return MAKI_OK;
}

static maki_status write_argument(maki_jw *w, const maki_op_info *op,
                                  const maki_op_argument *argument, const char *value,
                                  maki_err *err)
{
    const char *type = maki_op_command_field(op, argument->field)->type;
    bool message = strcmp(type, "message") == 0;
    if (argument->shape[0] == '=') value = argument->shape + 1;
    if (!value) return MAKI_OK;
    if (message && value[0] == '{') { /* else it is the text alone */
        maki_jw_field_raw(w, argument->field, maki_str_of(value));
        return MAKI_OK;
    }
    maki_jw_key(w, message ? MAKI_LIT("text") : maki_str_of(argument->field));
    return write_value(w, argument, type, value, err);
}

maki_status maki_op_command_input(const maki_op_bound_command *bound,
                                  const maki_op_parsed_args *args, maki_sink out, maki_err *err)
{
    const maki_op_argument *a = bound->command->arguments;
    maki_status st = MAKI_OK;
    maki_jw w;
    maki_jw_init(&w, out, err);
    maki_jw_begin_object(&w);
    if (args->conversation)
        maki_jw_field_string(&w, "conversation", maki_str_of(args->conversation));
    for (size_t i = 0; st == MAKI_OK && a[i].shape; i++) {
        if (strcmp(a[i].field, "conversation") != 0)
            st = write_argument(&w, bound->op, &a[i], args->values[i], err);
    }
    if (st != MAKI_OK) return st;
    maki_jw_end_object(&w);
    return maki_jw_end(&w);
}
