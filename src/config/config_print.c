/* config_print.c -- what is in force, and where it came from, for people and as JSON.  Secrets stay inside. */
#include <string.h>

#include "base/json_write.h"
#include "base/str_util.h"
#include "base/text.h"
#include "config/config_internal.h"

static const maki_str mask = { "********", 8 };

/* ---- masking and shortening ---------------------------------------------------------------------------- */

/* The password of scheme://user:password@host, if there is one. */
static bool find_password(maki_str text, size_t *from, size_t *to)
{
    const char *slashes = text.len ? memmem(text.ptr, text.len, "://", 3) : NULL;
    if (!slashes) return false;
    maki_str rest = maki_str_from(text, (size_t)(slashes + 3 - text.ptr));
    size_t host = 0;
    while (host < rest.len && !strchr("/?#", rest.ptr[host]))
        host++;
    const char *at = maki_str_last(maki_str_to(rest, host), '@');
    const char *colon = at ? memchr(rest.ptr, ':', (size_t)(at - rest.ptr)) : NULL;
    if (!colon) return false;
    *from = (size_t)(colon + 1 - text.ptr);
    *to = (size_t)(at - text.ptr);
    return true;
}

static maki_str without_password(maki_str text, maki_arena *arena)
{
    size_t from, to;
    if (!find_password(text, &from, &to)) return text;
    return maki_arena_print(arena, "%.*s%s%.*s", (int)from, text.ptr, mask.ptr,
                            (int)(text.len - to), text.ptr + to);
}

/* Line ends and other control characters as spaces. */
static maki_str on_one_line(maki_str text, maki_arena *arena)
{
    char *line = maki_arena_get(arena, text.len);
    if (!line) return (maki_str){ "", 0 };
    if (text.len) memcpy(line, text.ptr, text.len);
    maki_utf8_one_line(line, text.len);
    return maki_str_trim((maki_str){ line, text.len });
}

static maki_str join(const maki_value *value, maki_arena *arena)
{
    size_t capacity = 1;
    for (size_t i = 0; i < value->count; i++)
        capacity += value->items[i].len + 2;
    char *text = maki_arena_get(arena, capacity);
    size_t fill = 0;
    if (!text) return (maki_str){ "", 0 };
    for (size_t i = 0; i < value->count; i++) {
        if (i) memcpy(text + fill, ", ", 2), fill += 2;
        memcpy(text + fill, value->items[i].ptr, value->items[i].len);
        fill += value->items[i].len;
    }
    return (maki_str){ text, fill };
}

maki_str maki_value_show(const maki_value *value, maki_arena *arena)
{
    if (value->missing.len) {
        return maki_arena_print(arena, "(%.*s is not set)", MAKI_PRINTED(value->missing));
    }
    if (value->row->type == MAKI_CONFIG_SECRET) return mask;
    maki_str text = maki_value_is_list(value->row) ? join(value, arena) : value->text;
    return without_password(on_one_line(text, arena), arena);
}

/* ---- one by one ---------------------------------------------------------------------------------------- */

static void hand_out(const maki_value *value, maki_config_value *out)
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
    hand_out(&config->values[(*cursor)++], out);
    return true;
}

bool maki_config_find_value(const maki_config *config, const char *path, maki_config_value *out)
{
    const maki_value *value = maki_config_value_at(config, maki_str_of(path));
    if (value) hand_out(value, out);
    return value != NULL;
}

/* ---- as JSON ------------------------------------------------------------------------------------------- */

static void write_typed(maki_jw *w, const maki_value *value)
{
    switch (value->row->type) {
    case MAKI_CONFIG_FLAG: maki_jw_bool(w, value->number != 0); break;
    case MAKI_CONFIG_INTEGER: maki_jw_int(w, (int64_t)value->number); break;
    case MAKI_CONFIG_NUMBER: maki_jw_double(w, value->number); break;
    case MAKI_CONFIG_LIST:
    case MAKI_CONFIG_ADDRESSES:
        maki_jw_array(w);
        for (size_t i = 0; i < value->count; i++)
            maki_jw_string(w, value->items[i]);
        maki_jw_end_array(w);
        break;
    case MAKI_CONFIG_TEXT: maki_jw_string(w, value->text); break; /* with its line ends */
    default: maki_jw_string(w, value->shown); break;
    }
}

static void write_source(maki_jw *w, const maki_value *value)
{
    static const char *const names[] = { "default", "file", "environment" };
    maki_jw_field_text(w, "source", names[value->source]);
    if (value->source == MAKI_CONFIG_FILE) {
        maki_jw_field_count(w, "line", value->at.line);
        maki_jw_field_count(w, "column", value->at.column);
    } else if (value->source == MAKI_CONFIG_ENVIRONMENT) {
        maki_jw_field_string(w, "variable", value->variable);
    }
}

maki_status maki_config_write(const maki_config *config, maki_sink out, maki_err *err)
{
    maki_jw w;
    maki_jw_init(&w, out, err);
    maki_jw_object(&w);
    maki_jw_key(&w, MAKI_LIT("file"));
    if (config->file) {
        maki_jw_string(&w, maki_str_of(config->file));
    } else {
        maki_jw_null(&w);
    }
    maki_jw_field_array(&w, "settings");
    for (size_t i = 0; i < config->count; i++) {
        const maki_value *value = &config->values[i];
        maki_jw_object(&w);
        maki_jw_field_string(&w, "path", value->path);
        maki_jw_key(&w, MAKI_LIT("value"));
        write_typed(&w, value);
        write_source(&w, value);
        maki_jw_end_object(&w);
    }
    maki_jw_end_array(&w);
    maki_jw_end_object(&w);
    return maki_jw_end(&w);
}
