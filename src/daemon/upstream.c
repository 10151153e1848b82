/* upstream.c -- parse and look up upstreams; join an upstream's path and a request's target. */
#include "daemon/upstream.h"

#include <ctype.h>

#include "base/err.h"
#include "base/str_util.h"
#include "net/url.h"

static maki_status fail_line(maki_err *err, const char *what)
{
    return maki_fail(err, MAKI_INVALID,
                     "%s; write NAME=URL, for example openai=https://api.openai.com or "
                     "\"local=http://127.0.0.1:8000/v1 models=qwen*\"",
                     what);
}

/* Names appear in paths and in logs: letters, digits, - and _ only. */
static bool is_name(maki_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (!isalnum(c) && c != '-' && c != '_') return false;
    }
    return name.len > 0 && name.len < sizeof((maki_upstream *)0)->name;
}

static bool set_url(maki_upstream *row, maki_str url)
{
    maki_url parts;
    return maki_url_parse(url, &parts) &&
           maki_str_copy(parts.origin, row->origin, sizeof row->origin) &&
           maki_str_copy(parts.path, row->path, sizeof row->path);
}

static maki_str next_word(maki_str *rest)
{
    maki_str word = { "", 0 };
    while (rest->len && word.len == 0)
        word = maki_str_cut(rest, ' ');
    return word;
}

const maki_upstream *maki_upstream_find(const maki_upstreams *list, maki_str name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (maki_str_equal(maki_str_of(list->rows[i].name), name)) return &list->rows[i];
    }
    return NULL;
}

maki_status maki_upstreams_add(maki_upstreams *list, maki_str line, maki_err *err)
{
    maki_upstream row = { .name = "" };
    maki_str first = next_word(&line), word;
    const char *equals = first.len ? memchr(first.ptr, '=', first.len) : NULL;
    maki_str name = maki_str_prefix(first, equals ? (size_t)(equals - first.ptr) : 0);
    if (!is_name(name)) return fail_line(err, "the upstream's name is missing or invalid");
    if (!set_url(&row, maki_str_skip(first, name.len + 1))) {
        return fail_line(err, "the upstream's URL is not http or https");
    }
    (void)maki_str_copy(name, row.name, sizeof row.name);
    while ((word = next_word(&line)).len) {
        bool models = maki_str_starts(word, MAKI_LIT("models="));
        if (!models || !maki_str_copy(maki_str_skip(word, 7), row.models, sizeof row.models)) {
            return fail_line(err, "only models=PATTERN may follow the URL");
        }
    }
    const maki_upstream *old = maki_upstream_find(list, name);
    if (!old && list->count == MAKI_UPSTREAMS_MAX)
        return maki_fail(err, MAKI_TOOBIG, "more than %d upstreams", MAKI_UPSTREAMS_MAX);
    list->rows[old ? (size_t)(old - list->rows) : list->count++] = row;
    list->by_model = false;
    for (size_t i = 0; i < list->count; i++)
        list->by_model = list->by_model || list->rows[i].models[0];
    return MAKI_OK;
}

const maki_upstream *maki_upstream_for_model(const maki_upstreams *list, maki_str model)
{
    for (size_t i = 0; model.len && i < list->count; i++) {
        maki_str rest = maki_str_of(list->rows[i].models);
        while (rest.len) {
            maki_str pattern = maki_str_cut(&rest, ',');
            if (pattern.len && maki_str_glob(pattern, model, false)) return &list->rows[i];
        }
    }
    return NULL;
}

void maki_upstream_target(const maki_upstream *upstream, maki_str target, maki_buf *out)
{
    maki_str base = maki_str_of(upstream->path);
    const char *slash = maki_str_last(base, '/');
    maki_str last = slash ? maki_str_skip(base, (size_t)(slash - base.ptr)) : (maki_str){ "", 0 };
    bool repeated = last.len && maki_str_starts(target, last) &&
                    (target.len == last.len || strchr("/?", target.ptr[last.len]));
    maki_buf_add(out, repeated ? maki_str_prefix(base, base.len - last.len) : base);
    maki_buf_add(out, target);
}
