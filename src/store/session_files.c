/* session_files.c -- the names of messages files: which are valid, sorted lists of them, and the lookup in a list. */
#include "store/session_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/sort.h"
#include "base/str_util.h"
#include "base/text.h"
#include "store/session.h"

enum { NAMES_MEMORY_MAX = 1 << 30 };

bool maki_file_name_stem(const char *file, maki_str *stem)
{
    static const maki_str messages = { ".jsonl", 6 }, events = { ".events.jsonl", 13 };
    maki_str name = maki_str_of(file);
    size_t bad;
    if (name.ptr[0] == '.' || !maki_str_ends(name, messages) || maki_str_ends(name, events))
        return false;
    *stem = maki_str_prefix(name, name.len - messages.len);
    for (size_t i = 0; i < stem->len; i++) {
        if ((unsigned char)stem->ptr[i] < 0x20 || stem->ptr[i] == 0x7f) return false;
    }
    return stem->len > 0 && stem->len < MAKI_ID_MAX && maki_utf8_valid(*stem, &bad);
}

bool maki_file_name_alternative(maki_str text, char *out, size_t capacity)
{
    static const maki_str prefix = { "session-", 8 };
    bool has_prefix = maki_str_starts(text, prefix);
    maki_str stem = has_prefix ? maki_str_skip(text, prefix.len) : text;
    int n = snprintf(out, capacity, "%s%.*s", has_prefix ? "" : prefix.ptr, MAKI_PRINTED(stem));
    return stem.len > 0 && n > 0 && (size_t)n < capacity;
}

static int compare(maki_str a, maki_str b)
{
    int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static bool is_less(const void *a, const void *b)
{
    return compare(((const maki_file_name *)a)->text, ((const maki_file_name *)b)->text) < 0;
}

static int compare_to_name(const void *text, const void *name)
{
    return compare(*(const maki_str *)text, ((const maki_file_name *)name)->text);
}

maki_file_name *maki_file_names_find(const maki_file_names *names, maki_str text)
{
    return names->count
               ? bsearch(&text, names->items, names->count, sizeof *names->items, compare_to_name)
               : NULL;
}

/* False: out of memory. */
static bool add_name(void *ctx, const char *file)
{
    maki_file_names *names = ctx;
    maki_str stem;
    if (!maki_file_name_stem(file, &stem)) return true;
    void *grown = maki_arena_grow(&names->arena, names->items, names->count, &names->capacity,
                                  sizeof *names->items);
    char *copy = maki_arena_get(&names->arena, stem.len + 1);
    if (!grown || !copy) return false;
    memcpy(copy, stem.ptr, stem.len);
    names->items = grown;
    names->items[names->count++] = (maki_file_name){ { copy, stem.len }, false };
    return true;
}

maki_status maki_file_names_read(maki_file_names *names, const maki_env *env, const char *directory,
                                 maki_err *err)
{
    *names = (maki_file_names){ .arena = maki_arena_new(env->alloc, NAMES_MEMORY_MAX) };
    if (env->files->list(env->files, directory, add_name, names) != 0)
        return maki_fail_errno(err, "cannot read the directory of the sessions");
    maki_status st = maki_arena_status(&names->arena, err);
    if (st != MAKI_OK || !names->count) return st;
    return maki_sort(names->items, names->count, sizeof *names->items, is_less, &names->arena, err);
}

void maki_file_names_free(maki_file_names *names)
{
    maki_arena_free(&names->arena);
    *names = (maki_file_names){ 0 };
}
