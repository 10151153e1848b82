/* provider_error.c -- see provider_error.h. */
#include "send/provider_error.h"

#include <stdio.h>

#include "base/err.h"
#include "base/str_util.h"
#include "base/text.h"
#include "send/error_hint.h"
#include "wire/overflow.h"
#include "wire/protocol.h"

/* ---- what an error says --------------------------------------------------------------------------------- */

/* An error's parts, wherever its provider puts them: {"error": {...}}, {"error": "words"}, an array of one,
 * or the fields alone. */
typedef struct parts {
    maki_str message, type, code, status; /* JSON values, len 0: not said */
} parts;

static maki_str inner_of(maki_str error)
{
    maki_json_item item;
    maki_json_iter iter = maki_json_items(error);
    if (maki_is_array(error) && maki_json_next(&iter, &item)) error = item.value;
    if (!maki_is_object(error)) return error;
    maki_str inner = maki_member(error, MAKI_LIT("error"));
    if (!inner.len)
        inner = maki_member(maki_member(error, MAKI_LIT("response")), MAKI_LIT("error"));
    return inner.len ? inner : error;
}

static parts parts_of(maki_str error)
{
    enum { MESSAGE, TYPE, CODE, STATUS, COUNT };
    static const maki_str names[] = {
        { "message", 7 }, { "type", 4 }, { "code", 4 }, { "status", 6 }
    };
    maki_str v[COUNT], inner = inner_of(error);
    if (maki_is_string(inner)) return (parts){ .message = inner };
    maki_member_each(inner, names, v, COUNT);
    return (parts){ v[MESSAGE], v[TYPE], v[CODE], v[STATUS] };
}

/* ---- what it means -------------------------------------------------------------------------------------- */

/* By the words that providers use (code, status or type; in a stream they are all there is), or by HTTP's status.  To
 * teach Maki an error: a word here, or, when only the message tells that the context is full, in wire/overflow.c; where a
 * number or a pause stands in it, a row of error_hint.c. */
static const struct word_row {
    maki_provider_error_kind kind;
    const char *words;
} word_rows[] = {
    { MAKI_PROVIDER_ERROR_OVERFLOW,
      "context_length_exceeded exceed_context_size_error request_too_large" },
    { MAKI_PROVIDER_ERROR_QUOTA, "insufficient_quota billing_error" },
    { MAKI_PROVIDER_ERROR_KEY, "authentication_error invalid_api_key UNAUTHENTICATED" },
    { MAKI_PROVIDER_ERROR_DENIED, "permission_error PERMISSION_DENIED" },
    { MAKI_PROVIDER_ERROR_UNKNOWN, "not_found_error model_not_found NOT_FOUND" },
    { MAKI_PROVIDER_ERROR_LIMIT, "rate_limit_error rate_limit_exceeded RESOURCE_EXHAUSTED" },
    { MAKI_PROVIDER_ERROR_BUSY, "overloaded_error api_error timeout_error server_error" },
    { MAKI_PROVIDER_ERROR_BUSY, "INTERNAL UNAVAILABLE DEADLINE_EXCEEDED" },
    { MAKI_PROVIDER_ERROR_REQUEST, "invalid_request_error INVALID_ARGUMENT" },
};

/* The first that fits counts. */
static const struct status_row {
    int from, to;
    maki_provider_error_kind kind;
} status_rows[] = {
    { 401, 401, MAKI_PROVIDER_ERROR_KEY },      { 402, 402, MAKI_PROVIDER_ERROR_QUOTA },
    { 403, 403, MAKI_PROVIDER_ERROR_DENIED },   { 404, 404, MAKI_PROVIDER_ERROR_UNKNOWN },
    { 408, 409, MAKI_PROVIDER_ERROR_BUSY }, /* somebody holds a lock for a moment */
    { 413, 413, MAKI_PROVIDER_ERROR_OVERFLOW }, { 429, 429, MAKI_PROVIDER_ERROR_LIMIT },
    { 500, 999, MAKI_PROVIDER_ERROR_BUSY },     { 400, 499, MAKI_PROVIDER_ERROR_REQUEST },
    { 300, 399, MAKI_PROVIDER_ERROR_UNKNOWN }, /* it is somewhere else */
};

static maki_provider_error_kind kind_of_word(maki_str word)
{
    for (size_t i = 0; maki_is_string(word) && i < sizeof word_rows / sizeof word_rows[0]; i++) {
        if (maki_key_in(maki_json_inside(word), word_rows[i].words)) return word_rows[i].kind;
    }
    return MAKI_PROVIDER_ERROR_NONE;
}

static maki_provider_error_kind kind_of_status(int status)
{
    for (size_t i = 0; i < sizeof status_rows / sizeof status_rows[0]; i++) {
        if (status >= status_rows[i].from && status <= status_rows[i].to)
            return status_rows[i].kind;
    }
    return MAKI_PROVIDER_ERROR_NONE;
}

/* The most telling word first: OpenAI's type of a full context is invalid_request_error, its code says which.  A status
 * says more than a general word; quota and a full context hide behind statuses of others. */
static maki_provider_error_kind meaning_of(const parts *p, int status)
{
    const maki_str words[] = { p->code, p->status, p->type };
    maki_provider_error_kind kind = MAKI_PROVIDER_ERROR_NONE;
    for (size_t i = 0; kind == MAKI_PROVIDER_ERROR_NONE && i < sizeof words / sizeof words[0]; i++)
        kind = kind_of_word(words[i]);
    bool telling = kind == MAKI_PROVIDER_ERROR_QUOTA || kind == MAKI_PROVIDER_ERROR_OVERFLOW;
    return status && !telling ? kind_of_status(status) : kind;
}

/* Does the message say that the context is full, whatever the status was? */
static bool is_full(const parts *p, int status, maki_str words)
{
    bool anthropic = maki_is_text(p->type, MAKI_LIT("invalid_request_error"));
    bool refused = status == 0 || status == 400 || status >= 500;
    return maki_overflow_matches(words, MAKI_OVERFLOW_ANY | (refused ? MAKI_OVERFLOW_REFUSED : 0) |
                                            (anthropic ? MAKI_OVERFLOW_ANTHROPIC : 0));
}

/* ---- its words ------------------------------------------------------------------------------------------- */

/* Providers like to quote the key.  Looked for behind what was put in its place: a key may be made of stars. */
static void mask(char *words, maki_str key)
{
    size_t stars = key.len < 3 ? key.len : 3;
    char *at = words;
    while (key.len && (at = memmem(at, strlen(at), key.ptr, key.len))) {
        memset(at, '*', stars);
        memmove(at + stars, at + key.len, strlen(at + key.len) + 1);
        at += stars;
    }
}

/* Longer than what is kept, so that a key is whole when it is looked for, and hints are there. */
enum { WORDS_READ = 4096 };

static maki_str read_words(maki_str message, char out[WORDS_READ], maki_str key)
{
    size_t n = maki_is_string(message) ? maki_json_copy_text(message, out, WORDS_READ - 1) : 0;
    out[n] = '\0';
    mask(out, key);
    return maki_str_of(out);
}

static void keep_words(maki_provider_error *t, maki_str text)
{
    maki_str cut = maki_utf8_truncate(text, sizeof t->words - 1);
    memcpy(t->words, cut.ptr, cut.len);
    t->words[cut.len] = '\0';
}

/* ---- reading --------------------------------------------------------------------------------------------- */

/* A number that a stream has in the place of a status (OpenRouter, Gemini). */
static int status_in(const parts *p)
{
    uint64_t code = maki_count_of(p->code);
    return code >= 300 && code < 600 ? (int)code : 0;
}

maki_provider_error maki_provider_error_read(const maki_provider *provider, int http_status,
                                             maki_str error, int64_t now_ms)
{
    parts p = parts_of(error);
    char text[WORDS_READ];
    maki_str words = read_words(p.message, text, provider->key);
    maki_provider_error t = { .http_status = http_status >= 300 ? http_status : 0 };
    int status = t.http_status ? t.http_status : status_in(&p);
    t.kind = meaning_of(&p, status);
    if (t.kind == MAKI_PROVIDER_ERROR_NONE && error.len) t.kind = MAKI_PROVIDER_ERROR_BUSY;
    keep_words(&t, words);
    bool vague = t.kind == MAKI_PROVIDER_ERROR_REQUEST || t.kind == MAKI_PROVIDER_ERROR_BUSY;
    if (vague && is_full(&p, status, words)) t.kind = MAKI_PROVIDER_ERROR_OVERFLOW;
    if (t.kind == MAKI_PROVIDER_ERROR_OVERFLOW)
        t.window = maki_error_hint_window(inner_of(error), words);
    t.wait_ms = maki_error_hint_wait(inner_of(error), words, now_ms);
    return t;
}

maki_provider_error maki_provider_error_of(maki_provider_error_kind kind, const char *words)
{
    maki_provider_error t = { .kind = kind, .wait_ms = -1 };
    snprintf(t.words, sizeof t.words, "%s", words);
    return t;
}

bool maki_provider_error_is_transient(const maki_provider_error *t)
{
    return t->kind == MAKI_PROVIDER_ERROR_LIMIT || t->kind == MAKI_PROVIDER_ERROR_BUSY ||
           t->kind == MAKI_PROVIDER_ERROR_UNREACHABLE || t->kind == MAKI_PROVIDER_ERROR_CUT;
}

/* ---- saying it ------------------------------------------------------------------------------------------- */

/* What there is room for in a message, which may have more to say: whole words where a space is near. */
static maki_str shortened(const char *words)
{
    enum { MOST = 90, NEAR = 20 };
    maki_str all = maki_str_of(words), cut = maki_utf8_truncate(all, MOST);
    if (cut.len == all.len) return all;
    for (size_t n = cut.len; n > 0 && n + NEAR > cut.len; n--) {
        if (cut.ptr[n - 1] == ' ') return maki_str_to(cut, n - 1);
    }
    return cut;
}

/* " (HTTP 429: the words)", as much of it as there is. */
static const char *aside(const maki_provider_error *t, char out[MAKI_PROVIDER_ERROR_WORDS])
{
    maki_str words = shortened(t->words);
    const char *more = words.len < strlen(t->words) ? " ..." : "";
    if (t->http_status && words.len)
        snprintf(out, MAKI_PROVIDER_ERROR_WORDS, " (HTTP %d: %.*s%s)", t->http_status,
                 (int)words.len, words.ptr, more);
    else if (t->http_status)
        snprintf(out, MAKI_PROVIDER_ERROR_WORDS, " (HTTP %d)", t->http_status);
    else if (words.len)
        snprintf(out, MAKI_PROVIDER_ERROR_WORDS, " (%.*s%s)", (int)words.len, words.ptr, more);
    else
        out[0] = '\0';
    return out;
}

static maki_status tell_reach(const maki_provider *p, const char *why, maki_err *err)
{
    if (maki_provider_is_local(p))
        return maki_fail(err, MAKI_UPSTREAM, "cannot reach %.40s at %.60s; is it running?%s",
                         p->name, p->origin, why);
    return maki_fail(err, MAKI_UPSTREAM, "cannot reach %.40s at %.60s; check the network%s",
                     p->name, p->origin, why);
}

static maki_status tell_unknown(const maki_provider *p, maki_str model, const char *why,
                                maki_err *err)
{
    int len = model.len < 60 ? (int)model.len : 60;
    const char *pull = maki_protocol_of(p->protocol)->pull;
    if (pull)
        return maki_fail(err, MAKI_NOTFOUND, "%.30s has no model %.*s; `%s %.*s` gets it%s",
                         p->name, len, model.ptr, pull, len, model.ptr, why);
    return maki_fail(err, MAKI_NOTFOUND,
                     "%.30s knows no model %.*s; check llm.%.30s.model and base_url%s", p->name,
                     len, model.ptr, p->name, why);
}

maki_status maki_provider_error_fail(const maki_provider_error *t, const maki_provider *p,
                                     maki_str model, maki_err *err)
{
    char capacity[MAKI_PROVIDER_ERROR_WORDS];
    const char *name = p->name, *why = aside(t, capacity);
    switch (t->kind) {
    case MAKI_PROVIDER_ERROR_OVERFLOW:
        return maki_refuse(err, "CONTEXT_OVERFLOW", "the request is too long for %.*s%s",
                           model.len < 60 ? (int)model.len : 60, model.ptr, why);
    case MAKI_PROVIDER_ERROR_KEY: /* without its words: they may have parts of the key */
        return maki_fail(err, MAKI_DENIED,
                         "%.40s does not take the key; check llm.%.40s.api_key and the variable "
                         "that it comes from",
                         name, name);
    case MAKI_PROVIDER_ERROR_DENIED:
        return maki_fail(err, MAKI_DENIED, "%.40s does not allow this with this key%s", name, why);
    case MAKI_PROVIDER_ERROR_UNKNOWN: return tell_unknown(p, model, why, err);
    case MAKI_PROVIDER_ERROR_QUOTA:
        return maki_refuse(err, "QUOTA", "nothing is left to pay %.40s with; check the account%s",
                           name, why);
    case MAKI_PROVIDER_ERROR_REQUEST:
        return maki_fail(err, MAKI_INVALID, "%.40s refused the request%s", name, why);
    case MAKI_PROVIDER_ERROR_LIMIT:
        return maki_refuse(err, "RATE_LIMITED", "too many requests for %.40s; try again later%s",
                           name, why);
    case MAKI_PROVIDER_ERROR_BUSY:
        return maki_fail(err, MAKI_UPSTREAM, "%.40s has trouble of its own; try again later%s",
                         name, why);
    case MAKI_PROVIDER_ERROR_UNREACHABLE: return tell_reach(p, why, err);
    case MAKI_PROVIDER_ERROR_CUT:
        return maki_fail(err, MAKI_UPSTREAM,
                         "%.40s stopped in the middle of its answer; try again%s", name, why);
    case MAKI_PROVIDER_ERROR_TIMEOUT:
        return maki_fail(err, MAKI_TIMEOUT,
                         "%.40s took too long; try again, or raise llm.%.40s.timeout%s", name, name,
                         why);
    case MAKI_PROVIDER_ERROR_GARBAGE:
        return maki_fail(
            err, MAKI_UPSTREAM,
            "what %.30s answers is not its protocol (%s); check llm.%.30s.base_url and "
            "protocol%s",
            name, maki_protocol_name(p->protocol), name, why);
    case MAKI_PROVIDER_ERROR_NONE: break;
    }
    return MAKI_OK;
}
