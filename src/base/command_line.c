/* command_line.c -- parse options by a table and store their values; strings are borrowed from argv. */
#include "base/command_line.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/str_util.h"
#include "base/suggest.h"

enum { HELP_COLUMN = 28 };

static const maki_option *row_at(const maki_option_list *o, size_t i)
{
    return (const maki_option *)(const void *)((const char *)o->rows + i * o->row_size);
}

/* "--keep" of "--keep N". */
static maki_str name_of(const maki_option *option)
{
    return (maki_str){ option->shape, strcspn(option->shape, " ") };
}

static maki_status unknown_option(const maki_option_list *o, maki_str name, maki_err *err)
{
    maki_suggest similar = maki_suggest_for(name);
    for (size_t i = 0; i < o->count; i++)
        maki_suggest_candidate(&similar, name_of(row_at(o, i)));
    int len = (int)(name.len < 60 ? name.len : 60);
    return maki_fail(err, MAKI_INVALID, "unknown option %.*s%s%.*s; see %s --help", len, name.ptr,
                     similar.found.len ? ": did you mean " : "", (int)similar.found.len,
                     similar.found.len ? similar.found.ptr : "", o->command);
}

maki_option_kind maki_options_next(maki_option_list *o, size_t *row, const char **value,
                                   maki_err *err)
{
    if (o->next < o->argc && !o->positional_only && strcmp(o->argv[o->next], "--") == 0) {
        o->positional_only = true;
        o->next++;
    }
    if (o->next >= o->argc) return MAKI_OPTION_END;
    const char *arg = o->argv[o->next++];
    *value = arg;
    if (o->positional_only || arg[0] != '-' || arg[1] == '\0') return MAKI_OPTION_POSITIONAL;
    const char *equals = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    maki_str name = { arg, equals ? (size_t)(equals - arg) : strlen(arg) };
    size_t i = 0;
    while (i < o->count && !maki_str_equal(name, name_of(row_at(o, i))))
        i++;
    if (i == o->count) return unknown_option(o, name, err), MAKI_OPTION_INVALID;
    const maki_option *option = row_at(o, i);
    bool flag = !strchr(option->shape, ' ');
    *row = i;
    *value = equals ? equals + 1 : NULL;
    if (!flag && !equals && o->next < o->argc) *value = o->argv[o->next++];
    if (flag == !*value) return MAKI_OPTION_NAMED;
    maki_fail(err, MAKI_INVALID, "%s: %s; see %s --help",
              flag ? "it takes no value" : "a value is missing", option->shape, o->command);
    return MAKI_OPTION_INVALID;
}

maki_status maki_options_read(maki_option_list *o, void *out, char **arguments, size_t max,
                              size_t *count, maki_err *err)
{
    size_t row;
    const char *value;
    maki_option_kind kind;
    *count = 0;
    while ((kind = maki_options_next(o, &row, &value, err)) != MAKI_OPTION_END) {
        if (kind == MAKI_OPTION_INVALID) return MAKI_INVALID;
        if (kind == MAKI_OPTION_NAMED) {
            char *member = (char *)out + row_at(o, row)->at;
            if (value)
                *(const char **)(void *)member = value;
            else
                *(bool *)(void *)member = true;
        } else if (*count < max) {
            arguments[(*count)++] = o->argv[o->next - 1];
        } else {
            return maki_fail(err, MAKI_INVALID, "too many arguments: %.60s; see %s --help", value,
                             o->command);
        }
    }
    return MAKI_OK;
}

void maki_options_help(const maki_option_list *o, maki_sink out)
{
    char line[400];
    for (size_t i = 0; i < o->count; i++) {
        const maki_option *option = row_at(o, i);
        const char *help = option->help, *shape = option->shape;
        while (help) {
            int width = (int)strcspn(help, "\n");
            int n = snprintf(line, sizeof line, "  %-*s %.*s\n", HELP_COLUMN, shape, width, help);
            (void)out.write(out.ctx, (maki_str){ line, (size_t)n }, NULL);
            help = help[width] ? help + width + 1 : NULL;
            shape = "";
        }
    }
}
