/* config_print.c -- list the effective settings and their sources, as values for display and as JSON.
 *
 * Always: secrets and the passwords of URLs are masked. */
#include <string.h>

#include "base/buf.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "config/config_internal.h"

static const maki_str mask = { "********", 8 };

/* ---- masking and shortening ---------------------------------------------------------------------------- */

/* The range [*from, *to) of the password in scheme://user:password@host; false: none. */
static bool find_password(maki_str text, size_t *from, size_t *to)
{
    const char *slashes = text.len ? memmem(text.ptr, text.len, "://", 3) : NULL;
    if (!slashes) return false;
    maki_str rest = maki_str_skip(text, (size_t)(slashes + 3 - text.ptr));
    size_t authority_len = 0;
    while (authority_len < rest.len && !strchr("/?#", rest.ptr[authority_len]))
        authority_len++;
    const char *at = maki_str_last(maki_str_prefix(rest, authority_len), '@');
    const char *colon = at ? memchr(rest.ptr, ':', (size_t)(at - rest.ptr)) : NULL;
    if (!colon) return false;
    *from = (size_t)(colon + 1 - text.ptr);
    *to = (size_t)(at - text.ptr);
    return true;
}

static maki_str mask_password(maki_str text, maki_arena *arena)
{
    size_t from, to;
    if (!find_password(text, &from, &to)) return text;
    return maki_arena_print(arena, "%.*s%s%.*s", (int)from, text.ptr, mask.ptr,
                            (int)(text.len - to), text.ptr + to);
}

static maki_str join(const maki_value *value, maki_arena *arena)
{
    maki_buf text = maki_buf_new(arena->alloc, MAKI_CONFIG_MEMORY);
    maki_str joined = { "", 0 };
    for (size_t i = 0; i < value->count; i++)
        maki_buf_print(&text, "%s%.*s", i ? ", " : "", MAKI_PRINTED(value->items[i]));
    maki_status st = maki_buf_to_arena(&text, arena, &joined, NULL);
    if (st != MAKI_OK) arena->status = st;
    return joined;
}

maki_str maki_value_show(const maki_value *value, maki_arena *arena)
{
    if (value->missing.len) {
        return maki_arena_print(arena, "(%.*s is not set)", MAKI_PRINTED(value->missing));
    }
    if (value->row->type == MAKI_CONFIG_SECRET) return mask;
    maki_str text = maki_value_is_list(value->row) ? join(value, arena) : value->text;
    return mask_password(maki_str_trim(maki_problem_line(arena, text)), arena);
}

/* ---- values ---------------------------------------------------------------------------------------- */

static void copy_value(const maki_value *value, maki_config_value *out)
{
    *out = (maki_config_value){ .path = value->path.ptr,
                                .setting = value->row,
                                .text = value->shown,
                                .source = value->source,
                                .line = value->at.line,
                                .column = value->at.column,
                                .variable = value->variable.len ? value->variable.ptr : NULL };
}

bool maki_config_next_value(const maki_config *config, size_t *cursor, maki_config_value *out)
{
    if (*cursor >= config->count) return false;
    copy_value(&config->values[(*cursor)++], out);
    return true;
}

bool maki_config_find_value(const maki_config *config, const char *path, maki_config_value *out)
{
    const maki_value *value = maki_config_value_at(config, maki_str_of(path));
    if (value) copy_value(value, out);
    return value != NULL;
}

/* ---- as JSON ------------------------------------------------------------------------------------------- */

static void write_typed_value(maki_jw *w, const maki_value *value)
{
    switch (value->row->type) {
    case MAKI_CONFIG_FLAG: maki_jw_bool(w, value->number != 0); break;
    case MAKI_CONFIG_INTEGER: maki_jw_int(w, (int64_t)value->number); break;
    case MAKI_CONFIG_NUMBER: maki_jw_double(w, value->number); break;
    case MAKI_CONFIG_LIST:
    case MAKI_CONFIG_ADDRESSES:
        maki_jw_begin_array(w);
        for (size_t i = 0; i < value->count; i++)
            maki_jw_string(w, value->items[i]);
        maki_jw_end_array(w);
        break;
    case MAKI_CONFIG_STRING:
        maki_jw_string(w, value->text);
        break; /* unlike `shown`, it has its newlines */
    default: maki_jw_string(w, value->shown); break;
    }
}

maki_status maki_config_write(const maki_config *config, maki_sink out, maki_err *err)
{
    static const char *const sources[] = { "default", "file", "environment" };
    maki_jw w;
    maki_jw_init(&w, out, err);
    maki_jw_print(&w, config->file ? "{'file':%z,'settings':[" : "{'file':null,'settings':[",
                  config->file);
    for (size_t i = 0; i < config->count; i++) {
        const maki_value *value = &config->values[i];
        maki_jw_print(&w, "{'path':%s,'value':", value->path);
        write_typed_value(&w, value);
        maki_jw_print(&w, "'source':%z,'line':%I,'column':%I,'variable':%S}",
                      sources[value->source], (uint64_t)value->at.line, (uint64_t)value->at.column,
                      value->variable);
    }
    maki_jw_print(&w, "]}");
    return maki_jw_end(&w);
}
