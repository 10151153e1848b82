/* http_head.c -- find the end of the head, split it into lines, then derive framing and keep-alive from the fields.
 * Ambiguous heads, which another program might parse differently, are refused. */
#include "net/http_head.h"

#include <string.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/str_util.h"

/* The characters of a token (RFC 9110, 5.6.2). */
static bool is_token_char(unsigned char c)
{
    return maki_is_alnum((char)c) || (c != 0 && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token(maki_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!is_token_char((unsigned char)text.ptr[i])) return false;
    return text.len > 0;
}

bool maki_http_same(maki_str a, maki_str b)
{
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++)
        if (maki_lower(a.ptr[i]) != maki_lower(b.ptr[i])) return false;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static maki_str trim(maki_str text)
{
    while (text.len && is_blank(text.ptr[0]))
        text.ptr++, text.len--;
    while (text.len && is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Remove the next non-empty item from a comma-separated list; false at its end. */
static bool next_list_item(maki_str *list, maki_str *item)
{
    while (list->len) {
        *item = trim(maki_str_cut(list, ','));
        if (item->len) return true;
    }
    return false;
}

/* Does a list ("gzip, chunked") contain this item, ignoring case? */
static bool list_has(maki_str list, maki_str wanted)
{
    maki_str item;
    while (next_list_item(&list, &item))
        if (maki_http_same(item, wanted)) return true;
    return false;
}

const maki_str *maki_http_field_find(const maki_http_head *head, maki_str name)
{
    for (size_t i = 0; i < head->field_count; i++)
        if (maki_http_same(head->fields[i].name, name)) return &head->fields[i].value;
    return NULL;
}

maki_str maki_http_value(const maki_http_head *head, const char *name)
{
    const maki_str *value = maki_http_field_find(head, maki_str_of(name));
    return value ? *value : (maki_str){ "", 0 };
}

bool maki_http_hop_field(const maki_http_head *head, maki_str name)
{
    static const char *const hop[] = { "connection", "keep-alive",        "proxy-connection",
                                       "te",         "trailer",           "proxy-authorization",
                                       "upgrade",    "transfer-encoding", "proxy-authenticate" };
    for (size_t i = 0; i < sizeof hop / sizeof hop[0]; i++)
        if (maki_http_same(name, (maki_str){ hop[i], strlen(hop[i]) })) return true;
    for (size_t i = 0; i < head->field_count; i++)
        if (maki_http_same(head->fields[i].name, MAKI_LIT("connection")) &&
            list_has(head->fields[i].value, name))
            return true;
    return false;
}

/* ---- parsing -------------------------------------------------------------------------------------- */

/* Remove the first line from `rest`; *line is it without CRLF. */
static maki_status next_line(maki_str *rest, maki_str *line, maki_err *err)
{
    const char *end = memchr(rest->ptr, '\n', rest->len);
    size_t len = (size_t)(end - rest->ptr); /* the caller has checked that there is a line end */
    if (len == 0 || rest->ptr[len - 1] != '\r')
        return maki_fail(err, MAKI_INVALID, "a line of the head does not end with CR LF");
    *line = (maki_str){ rest->ptr, len - 1 };
    for (size_t i = 0; i < line->len; i++) {
        unsigned char c = (unsigned char)line->ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return maki_fail(err, MAKI_INVALID, "a control character in the head");
    }
    rest->ptr += len + 1;
    rest->len -= len + 1;
    return MAKI_OK;
}

static maki_status parse_request_line(maki_str line, maki_http_head *out, maki_err *err)
{
    const char *first = memchr(line.ptr, ' ', line.len);
    const char *last = maki_str_last(line, ' ');
    if (!first || first == last) return maki_fail(err, MAKI_INVALID, "malformed request line");
    out->method = (maki_str){ line.ptr, (size_t)(first - line.ptr) };
    out->target = (maki_str){ first + 1, (size_t)(last - first - 1) };
    maki_str version = { last + 1, line.len - (size_t)(last + 1 - line.ptr) };
    if (!is_token(out->method) || out->target.len == 0 ||
        memchr(out->target.ptr, ' ', out->target.len))
        return maki_fail(err, MAKI_INVALID, "malformed request line");
    if (maki_str_equal(version, MAKI_LIT("HTTP/1.1")))
        out->minor = 1;
    else if (maki_str_equal(version, MAKI_LIT("HTTP/1.0")))
        out->minor = 0;
    else if (version.len == 8 && memcmp(version.ptr, "HTTP/", 5) == 0)
        return maki_fail(err, MAKI_UNSUPPORTED, "only HTTP/1.1 and 1.0 are supported");
    else
        return maki_fail(err, MAKI_INVALID, "malformed request line");
    return MAKI_OK;
}

static maki_status parse_field(maki_str line, maki_http_head *out, maki_err *err)
{
    const char *colon = memchr(line.ptr, ':', line.len);
    maki_str name = { line.ptr, colon ? (size_t)(colon - line.ptr) : 0 };
    if (!colon || !is_token(name))
        return maki_fail(err, MAKI_INVALID, "a header field has no valid name");
    if (out->field_count == MAKI_HTTP_FIELDS)
        return maki_fail(err, MAKI_TOOBIG, "more than %d fields in the head", MAKI_HTTP_FIELDS);
    maki_str value = trim((maki_str){ colon + 1, line.len - name.len - 1 });
    out->fields[out->field_count++] = (maki_http_field){ name, value };
    return MAKI_OK;
}

/* ---- framing, keep-alive -------------------------------------------------------------------------- */

static maki_status parse_content_length(maki_str value, maki_http_head *out, maki_err *err)
{
    uint64_t length;
    if (!maki_str_number(value, &length))
        return maki_fail(err, MAKI_INVALID, "the length of the body is not a number");
    if (out->has_length && out->body_length != length)
        return maki_fail(err, MAKI_INVALID, "two different Content-Lengths");
    out->has_length = true;
    out->body_length = length;
    return MAKI_OK;
}

static maki_status apply_field(const maki_http_field *field, maki_http_head *out, maki_err *err)
{
    if (maki_http_same(field->name, MAKI_LIT("content-length")))
        return parse_content_length(field->value, out, err);
    if (maki_http_same(field->name, MAKI_LIT("transfer-encoding"))) {
        if (out->chunked || !maki_http_same(field->value, MAKI_LIT("chunked")))
            return maki_fail(err, MAKI_UNSUPPORTED, "a transfer coding other than chunked");
        out->chunked = true;
    } else if (maki_http_same(field->name, MAKI_LIT("connection"))) {
        if (list_has(field->value, MAKI_LIT("close"))) out->keep_alive = false;
        if (out->minor == 0 && list_has(field->value, MAKI_LIT("keep-alive")))
            out->keep_alive = true;
    } else if (maki_http_same(field->name, MAKI_LIT("expect"))) {
        if (!maki_http_same(field->value, MAKI_LIT("100-continue")))
            return maki_fail(err, MAKI_UNSUPPORTED, "an expectation other than 100-continue");
        out->expect_continue = out->minor == 1;
    }
    return MAKI_OK;
}

static maki_status apply_fields(maki_http_head *out, maki_err *err)
{
    size_t hosts = 0;
    out->keep_alive = out->minor == 1;
    for (size_t i = 0; i < out->field_count; i++) {
        maki_status st = apply_field(&out->fields[i], out, err);
        if (st != MAKI_OK) return st;
        hosts += maki_http_same(out->fields[i].name, MAKI_LIT("host"));
    }
    if (out->chunked && (out->has_length || out->minor == 0))
        return maki_fail(err, MAKI_INVALID, "a chunked body with a Content-Length");
    if (hosts > 1 || (hosts == 0 && out->minor == 1))
        return maki_fail(err, MAKI_INVALID, "the head must have one Host");
    return MAKI_OK;
}

maki_status maki_http_head_parse(maki_str bytes, size_t max, maki_http_head *out, size_t *used,
                                 maki_err *err)
{
    maki_str rest = bytes, line;
    *used = 0;
    while (rest.len >= 2 && rest.ptr[0] == '\r' &&
           rest.ptr[1] == '\n') /* allowed between requests */
        rest.ptr += 2, rest.len -= 2;
    const char *end = rest.len ? memmem(rest.ptr, rest.len, "\r\n\r\n", 4) : NULL;
    size_t len = end ? (size_t)(end - bytes.ptr) + 4 : bytes.len;
    if (len > max) return maki_fail(err, MAKI_TOOBIG, "a head of more than %zu bytes", max);
    if (!end) return MAKI_OK;
    rest.len = (size_t)(end - rest.ptr) + 2;
    out->field_count = 0;
    out->chunked = out->expect_continue = out->has_length = out->keep_alive = false;
    out->body_length = 0;
    maki_status st = next_line(&rest, &line, err);
    if (st == MAKI_OK) st = parse_request_line(line, out, err);
    while (st == MAKI_OK && rest.len) {
        st = next_line(&rest, &line, err);
        if (st == MAKI_OK) st = parse_field(line, out, err);
    }
    if (st == MAKI_OK) st = apply_fields(out, err);
    if (st == MAKI_OK) *used = len;
    return st;
}
