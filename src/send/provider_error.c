/* provider_error.c -- classify an error by status and body of a reply; format its message and set its maki_status.
 *
 * Tables: the codes and types that providers use, the HTTP statuses, and the wording of each kind.  To recognise one more
 * error add its code to code_rows; if only the message reports an overflow, add a pattern to wire/overflow.c; a number
 * or a duration in it is a row of error_hint.c.
 * The key is masked in the message before anything else is done with it. */
#include "send/provider_error.h"

#include <assert.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mask.h"
#include "base/str_util.h"
#include "base/text.h"
#include "send/error_hint.h"
#include "wire/overflow.h"
#include "wire/protocol.h"

/* ---- the fields of an error --------------------------------------------------------------------------------- */

/* The fields of an error in any known format: {"error": {...}}, {"error": "text"}, an array of one, or the fields
 * alone. */
typedef struct error_fields {
    maki_str message, type, code, status; /* JSON values, len 0: missing */
} error_fields;

static error_fields fields_of(maki_str error)
{
    enum { MESSAGE, TYPE, CODE, STATUS, COUNT };
    static const maki_str names[] = {
        { "message", 7 }, { "type", 4 }, { "code", 4 }, { "status", 6 }
    };
    maki_str v[COUNT], inner = maki_error_object(error);
    if (maki_is_string(inner)) return (error_fields){ .message = inner };
    maki_member_each(inner, names, v, COUNT);
    return (error_fields){ v[MESSAGE], v[TYPE], v[CODE], v[STATUS] };
}

/* ---- the kind of an error -------------------------------------------------------------------------------------- */

/* By code, status or type; within a stream there is nothing else. */
static const struct code_row {
    maki_provider_error_kind kind;
    const char *codes;
} code_rows[] = {
    { MAKI_PROVIDER_ERROR_OVERFLOW,
      "context_length_exceeded exceed_context_size_error request_too_large" },
    { MAKI_PROVIDER_ERROR_QUOTA, "insufficient_quota billing_error" },
    { MAKI_PROVIDER_ERROR_AUTH, "authentication_error invalid_api_key UNAUTHENTICATED" },
    { MAKI_PROVIDER_ERROR_DENIED, "permission_error PERMISSION_DENIED" },
    { MAKI_PROVIDER_ERROR_NOT_FOUND, "not_found_error model_not_found NOT_FOUND" },
    { MAKI_PROVIDER_ERROR_RATE_LIMIT, "rate_limit_error rate_limit_exceeded RESOURCE_EXHAUSTED" },
    { MAKI_PROVIDER_ERROR_SERVER, "overloaded_error api_error timeout_error server_error" },
    { MAKI_PROVIDER_ERROR_SERVER, "INTERNAL UNAVAILABLE DEADLINE_EXCEEDED" },
    { MAKI_PROVIDER_ERROR_REQUEST, "invalid_request_error INVALID_ARGUMENT" },
};

/* By HTTP status; the first match wins. */
static const struct status_row {
    int from, to;
    maki_provider_error_kind kind;
} status_rows[] = {
    { 401, 401, MAKI_PROVIDER_ERROR_AUTH },      { 402, 402, MAKI_PROVIDER_ERROR_QUOTA },
    { 403, 403, MAKI_PROVIDER_ERROR_DENIED },    { 404, 404, MAKI_PROVIDER_ERROR_NOT_FOUND },
    { 408, 409, MAKI_PROVIDER_ERROR_SERVER }, /* timeout, conflict of a lock */
    { 413, 413, MAKI_PROVIDER_ERROR_OVERFLOW },  { 429, 429, MAKI_PROVIDER_ERROR_RATE_LIMIT },
    { 500, 999, MAKI_PROVIDER_ERROR_SERVER },    { 400, 499, MAKI_PROVIDER_ERROR_REQUEST },
    { 300, 399, MAKI_PROVIDER_ERROR_NOT_FOUND }, /* redirect */
};

static maki_provider_error_kind kind_of_code(maki_str code)
{
    for (size_t i = 0; maki_is_string(code) && i < sizeof code_rows / sizeof code_rows[0]; i++) {
        if (maki_key_in(maki_json_strip_quotes(code), code_rows[i].codes)) return code_rows[i].kind;
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

/* The most specific field first: OpenAI's type of a context overflow is invalid_request_error, its code is specific.  The
 * HTTP status wins, except over a quota and an overflow, which share the status of other errors. */
static maki_provider_error_kind kind_of(const error_fields *p, int status)
{
    const maki_str codes[] = { p->code, p->status, p->type };
    maki_provider_error_kind kind = MAKI_PROVIDER_ERROR_NONE;
    for (size_t i = 0; kind == MAKI_PROVIDER_ERROR_NONE && i < sizeof codes / sizeof codes[0]; i++)
        kind = kind_of_code(codes[i]);
    bool specific = kind == MAKI_PROVIDER_ERROR_QUOTA || kind == MAKI_PROVIDER_ERROR_OVERFLOW;
    return status && !specific ? kind_of_status(status) : kind;
}

/* Does the message report that the context is too long?  The status decides which patterns apply. */
static bool is_overflow(const error_fields *p, int status, maki_str message)
{
    bool anthropic = maki_is_text(p->type, MAKI_LIT("invalid_request_error"));
    bool refused = status == 0 || status == 400 || status >= 500;
    return maki_overflow_matches(message, MAKI_OVERFLOW_ANY |
                                              (refused ? MAKI_OVERFLOW_REFUSED : 0) |
                                              (anthropic ? MAKI_OVERFLOW_ANTHROPIC : 0));
}

/* ---- the message ------------------------------------------------------------------------------------------- */

/* Longer than the stored message, so that a key is complete when it is masked, and hints are found. */
enum { RAW_MESSAGE_MAX = 4096 };

static maki_str read_message(maki_str message, char out[RAW_MESSAGE_MAX], maki_str key)
{
    size_t n = maki_is_string(message) ? maki_json_copy_text(message, out, RAW_MESSAGE_MAX - 1) : 0;
    maki_credential credential = maki_credential_of(key);
    out[maki_mask(out, n, &credential)] = '\0';
    return maki_str_of(out);
}

/* ---- reading --------------------------------------------------------------------------------------------- */

/* Within a stream the code may be an HTTP status (OpenRouter, Gemini). */
static int status_in(const error_fields *p)
{
    uint64_t code = maki_count_of(p->code);
    return code >= 300 && code < 600 ? (int)code : 0;
}

maki_provider_error maki_provider_error_read(const maki_provider *provider, int http_status,
                                             maki_str error, int64_t now_ms)
{
    error_fields p = fields_of(error);
    char text[RAW_MESSAGE_MAX];
    maki_str message = read_message(p.message, text, provider->key);
    maki_provider_error t = { .http_status = http_status >= 300 ? http_status : 0 };
    int status = t.http_status ? t.http_status : status_in(&p);
    t.kind = kind_of(&p, status);
    if (t.kind == MAKI_PROVIDER_ERROR_NONE && error.len) t.kind = MAKI_PROVIDER_ERROR_SERVER;
    maki_str_copy(maki_utf8_truncate(message, sizeof t.message - 1), t.message, sizeof t.message);
    bool unspecific = t.kind == MAKI_PROVIDER_ERROR_REQUEST || t.kind == MAKI_PROVIDER_ERROR_SERVER;
    if (unspecific && is_overflow(&p, status, message)) t.kind = MAKI_PROVIDER_ERROR_OVERFLOW;
    if (t.kind == MAKI_PROVIDER_ERROR_OVERFLOW)
        t.window = maki_error_hint_window(maki_error_object(error), message);
    t.retry_delay_ms = maki_error_hint_retry_delay(maki_error_object(error), message, now_ms);
    return t;
}

maki_provider_error maki_provider_error_of(maki_provider_error_kind kind, const char *message)
{
    maki_provider_error t = { .kind = kind, .retry_delay_ms = -1 };
    snprintf(t.message, sizeof t.message, "%s", message);
    return t;
}

bool maki_provider_error_is_transient(const maki_provider_error *t)
{
    return t->kind == MAKI_PROVIDER_ERROR_RATE_LIMIT || t->kind == MAKI_PROVIDER_ERROR_SERVER ||
           t->kind == MAKI_PROVIDER_ERROR_UNREACHABLE || t->kind == MAKI_PROVIDER_ERROR_INCOMPLETE;
}

/* ---- the message for the user ------------------------------------------------------------------------------------ */

/* Truncate to 90 bytes, at a space if one of the last 20 is one. */
static maki_str shorten(const char *message)
{
    enum { BYTES_MAX = 90, NEAR = 20 };
    maki_str all = maki_str_of(message), cut = maki_utf8_truncate(all, BYTES_MAX);
    if (cut.len == all.len) return all;
    for (size_t n = cut.len; n > 0 && n + NEAR > cut.len; n--) {
        if (cut.ptr[n - 1] == ' ') return maki_str_prefix(cut, n - 1);
    }
    return cut;
}

/* " (HTTP 429: the message)", without what is missing. */
static const char *format_details(const maki_provider_error *t,
                                  char out[MAKI_PROVIDER_ERROR_MESSAGE_MAX])
{
    maki_str message = shorten(t->message);
    const char *more = message.len < strlen(t->message) ? " ..." : "";
    char status[24] = "";
    if (t->http_status)
        snprintf(status, sizeof status, "HTTP %d%s", t->http_status, message.len ? ": " : "");
    out[0] = '\0';
    if (status[0] || message.len)
        snprintf(out, MAKI_PROVIDER_ERROR_MESSAGE_MAX, " (%s%.*s%s)", status, MAKI_PRINTED(message),
                 more);
    return out;
}

/* The kinds whose message needs only the provider (%1$) and the details (%2$); code NULL: that of the status.  An error
 * about the key has no details: they may have parts of it. */
/* clang-format off */
static const struct wording_row { maki_status status; const char *code, *format; } wording_rows[] = {
    [MAKI_PROVIDER_ERROR_AUTH] =       { MAKI_DENIED,   NULL,           "401: invalid API key for %1$.40s; check llm.%1$.40s.api_key and the variable that it comes from" },
    [MAKI_PROVIDER_ERROR_DENIED] =     { MAKI_DENIED,   NULL,           "the key has no permission for this at %1$.40s%2$s" },
    [MAKI_PROVIDER_ERROR_QUOTA] =      { MAKI_REFUSED,  "QUOTA",        "no credit left at %1$.40s; check the account%2$s" },
    [MAKI_PROVIDER_ERROR_REQUEST] =    { MAKI_INVALID,  NULL,           "%1$.40s rejected the request as invalid%2$s" },
    [MAKI_PROVIDER_ERROR_RATE_LIMIT] = { MAKI_REFUSED,  "RATE_LIMITED", "too many requests for %1$.40s; try again later%2$s" },
    [MAKI_PROVIDER_ERROR_SERVER] =     { MAKI_UPSTREAM, NULL,           "server error at %1$.40s; try again later%2$s" },
    [MAKI_PROVIDER_ERROR_INCOMPLETE] = { MAKI_UPSTREAM, NULL,           "%1$.40s closed the connection before the end of its answer; try again%2$s" },
    [MAKI_PROVIDER_ERROR_TIMEOUT] =    { MAKI_TIMEOUT,  NULL,           "%1$.40s timed out; try again, or raise llm.%1$.40s.timeout%2$s" },
};
/* clang-format on */

maki_status maki_provider_error_fail(const maki_provider_error *t, const maki_provider *p,
                                     maki_str model, maki_err *err)
{
    char buffer[MAKI_PROVIDER_ERROR_MESSAGE_MAX];
    const char *name = p->name, *why = format_details(t, buffer);
    const char *pull = maki_protocol_of(p->protocol)->pull;
    if (model.len > 60) model.len = 60;
    switch (t->kind) {
    case MAKI_PROVIDER_ERROR_NONE: return MAKI_OK;
    case MAKI_PROVIDER_ERROR_OVERFLOW:
        return maki_refuse(err, "CONTEXT_OVERFLOW", "the request is too long for %.*s%s",
                           MAKI_PRINTED(model), why);
    case MAKI_PROVIDER_ERROR_NOT_FOUND:
        if (pull)
            return maki_fail(err, MAKI_NOTFOUND,
                             "%.30s has no model %.*s; `%s %.*s` downloads it%s", name,
                             MAKI_PRINTED(model), pull, MAKI_PRINTED(model), why);
        return maki_fail(err, MAKI_NOTFOUND,
                         "%.30s has no model %.*s; check llm.%.30s.model and base_url%s", name,
                         MAKI_PRINTED(model), name, why);
    case MAKI_PROVIDER_ERROR_UNREACHABLE:
        return maki_fail(err, MAKI_UPSTREAM, "cannot reach %.40s at %.60s; %s%s", name, p->origin,
                         maki_provider_is_local(p) ? "is it running?" : "check the network", why);
    case MAKI_PROVIDER_ERROR_PROTOCOL:
        return maki_fail(err, MAKI_UPSTREAM,
                         "the reply of %.30s is not valid in its protocol (%s); check "
                         "llm.%.30s.base_url and protocol%s",
                         name, maki_protocol_name(p->protocol), name, why);
    default: break;
    }
    const struct wording_row *row = &wording_rows[t->kind];
    assert(row->format);
    if (row->code) return maki_refuse(err, row->code, row->format, name, why);
    return maki_fail(err, row->status, row->format, name, why);
}
