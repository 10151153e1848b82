/* import_detect.c -- detect the format of a source from its beginning.
 *
 * In:    the first bytes of a source, which may be cut off anywhere and need not be valid JSON.
 * Out:   a format, or MAKI_UNSUPPORTED with what was found instead.
 *
 * Only the names of top-level fields, `type`, `role` and the first elements are read.  Each format has functions that
 * recognize it (maki_import_format). */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "history/import_internal.h"

bool maki_import_probe_has(const maki_import_probe *s, const char *keys)
{
    for (size_t i = 0; i < s->count; i++) {
        if (maki_str_in(s->keys[i], keys)) return true;
    }
    return false;
}

static size_t skip_space(maki_str t, size_t i)
{
    while (i < t.len && strchr(" \t\r\n,:", t.ptr[i]) && t.ptr[i])
        i++;
    return i;
}

/* One past the value at i, which may be missing; t.len when it is cut off. */
static size_t skip_value(maki_str t, size_t i)
{
    bool missing = i < t.len && (t.ptr[i] == '}' || t.ptr[i] == ']');
    return missing ? i : i + maki_import_value_len(maki_str_skip(t, i));
}

static void copy_string(char *out, size_t capacity, maki_str string)
{
    size_t n = string.len > 2 ? string.len - 2 : 0;
    if (n > capacity - 1) n = capacity - 1;
    memcpy(out, string.ptr + 1, n);
    out[n] = '\0';
}

static void probe_field(maki_import_probe *s, maki_str key, maki_str value, size_t at)
{
    if (s->count == MAKI_IMPORT_PROBE_KEYS) return;
    key = (maki_str){ key.ptr + 1, key.len - 2 };
    s->keys[s->count++] = key;
    if (value.ptr[0] == '"' && maki_str_equal(key, MAKI_LIT("type")))
        copy_string(s->type, sizeof s->type, value);
    if (value.ptr[0] == '"' && maki_str_equal(key, MAKI_LIT("role")))
        copy_string(s->role, sizeof s->role, value);
    if (maki_str_in(key, "messages|input") && value.ptr[0] == '[') s->messages = at;
}

/* Probe the object at i. */
static maki_import_probe probe(maki_str t, size_t i)
{
    maki_import_probe s = { 0 };
    i++;
    for (;;) {
        i = skip_space(t, i);
        if (i >= t.len || t.ptr[i] != '"') break;
        size_t key_end = skip_value(t, i);
        maki_str key = { t.ptr + i, key_end - i };
        size_t at = skip_space(t, key_end);
        if (at >= t.len || key.len < 2) break;
        size_t end = skip_value(t, at);
        probe_field(&s, key, (maki_str){ t.ptr + at, end - at }, at);
        if (end >= t.len) return s;
        i = end;
    }
    if (i < t.len && t.ptr[i] == '}') s.end = i + 1;
    return s;
}

/* ---- arrays ----------------------------------------------------------------------------------------- */

static const maki_import_format *format_of(const maki_import_probe *s, bool element)
{
    const maki_import_format *f;
    for (size_t i = 0; (f = maki_import_format_at(i)) != NULL; i++) {
        bool (*matches)(const maki_import_probe *) = element ? f->element : f->line;
        if (matches && matches(s)) return f;
    }
    return NULL;
}

/* The format of an array of messages; NULL: its elements are not messages. */
static const maki_import_format *array_format(maki_str t, size_t i)
{
    bool blocks = false, any = false;
    i = skip_space(t, i + 1);
    if (i < t.len && t.ptr[i] == ']')
        return &maki_import_openai; /* an empty array: every format accepts it */
    for (int n = 0; n < 64; n++) {
        i = skip_space(t, i);
        if (i >= t.len || t.ptr[i] != '{') break;
        maki_import_probe s = probe(t, i);
        const maki_import_format *f = format_of(&s, true);
        if (f) return f;
        bool is_cut = s.end == 0 && maki_import_probe_has(
                                        &s, "content"); /* the fields that decide come after it */
        if (!maki_import_probe_has(&s, "role") && !s.type[0] && !is_cut) break;
        any = true;
        maki_str object = { t.ptr + i, (s.end ? s.end : t.len) - i };
        blocks |= maki_str_contains(object, MAKI_LIT("\"tool_use\"")) ||
                  maki_str_contains(object, MAKI_LIT("\"tool_result\"")) ||
                  maki_str_contains(object, MAKI_LIT("\"thinking\""));
        if (s.end == 0) break;
        i = s.end;
    }
    return !any ? NULL : blocks ? &maki_import_anthropic : &maki_import_openai;
}

/* ---- objects --------------------------------------------------------------------------------------------- */

static const maki_import_format *object_format(maki_str t, const maki_import_probe *s)
{
    bool system = maki_import_probe_has(s, "system");
    if (s->messages) {
        const maki_import_format *f = array_format(t, s->messages);
        return f == &maki_import_openai && system ? &maki_import_anthropic : f;
    }
    if (s->end == 0 && (system || maki_import_probe_has(s, "max_tokens")))
        return &maki_import_anthropic; /* a body whose beginning has no messages yet */
    return format_of(s, false);
}

static maki_status fail_unknown(const char *found, const char *detail, maki_err *err)
{
    char names[MAKI_IMPORT_NAMES];
    return maki_fail(err, MAKI_UNSUPPORTED, "%s%.70s; the formats are %s", found, detail,
                     maki_import_names(names));
}

static maki_status fail_unknown_object(const maki_import_probe *s, maki_err *err)
{
    char names[100] = "";
    size_t n = 0;
    for (size_t i = 0; i < s->count && n + s->keys[i].len + 3 < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%.*s", n ? ", " : "",
                              (int)s->keys[i].len, s->keys[i].ptr);
    return fail_unknown("objects with the fields ", names, err);
}

maki_status maki_import_detect(maki_str t, bool all, const maki_import_format **out, maki_err *err)
{
    maki_import_probe first = { 0 };
    size_t i = skip_space(t, 0);
    if (i >= t.len) return fail_unknown(all ? "the source is empty" : "white space only", "", err);
    if (t.ptr[i] == '[') {
        *out = array_format(t, i);
        return *out ? MAKI_OK : fail_unknown("an array whose elements are not messages", "", err);
    }
    for (int n = 0; n < 64; n++) { /* the first line that decides */
        i = skip_space(t, i);
        if (i >= t.len) break;
        if (t.ptr[i] == '{') {
            maki_import_probe s = probe(t, i);
            if (!first.count) first = s;
            *out = object_format(t, &s);
            if (*out) return MAKI_OK;
            if (s.end) {
                i = s.end;
                continue;
            }
        }
        const char *newline = memchr(t.ptr + i, '\n', t.len - i);
        if (!newline) break;
        i = (size_t)(newline - t.ptr) + 1;
    }
    return first.count ? fail_unknown_object(&first, err)
                       : fail_unknown("the source is not JSON", "", err);
}
