/* forwarded_head.c -- select the header lines to forward: all, unchanged, but those of one connection (hop-by-hop)
 * and of Maki. */
#include "daemon/forwarded_head.h"

#include "base/str_util.h"

/* The unchanged line of a field, without CRLF: from its name to the end of its value. */
static maki_str line_of(const maki_http_field *field)
{
    if (field->value.len == 0) return (maki_str){ field->name.ptr, field->name.len + 1 };
    return (maki_str){ field->name.ptr,
                       (size_t)(field->value.ptr + field->value.len - field->name.ptr) };
}

static bool is_dropped(const maki_http_head *head, maki_str name)
{
    if (name.len >= 7 && maki_http_same(maki_str_prefix(name, 7), MAKI_LIT("x-maki-"))) return true;
    return maki_http_same(name, MAKI_LIT("host")) || maki_http_same(name, MAKI_LIT("expect")) ||
           maki_http_hop_field(head, name);
}

size_t maki_forward_request(const maki_http_head *head, maki_str *lines)
{
    size_t count = 0;
    for (size_t i = 0; i < head->field_count; i++) {
        const maki_http_field *field = &head->fields[i];
        if (is_dropped(head, field->name)) continue;
        if (maki_http_same(field->name, MAKI_LIT("accept-encoding"))) {
            lines[count++] = MAKI_LIT("Accept-Encoding: identity");
        } else {
            lines[count++] = line_of(field);
        }
    }
    return count;
}

maki_forward_response maki_forward_lines(const maki_http_head *fields, maki_buf *out)
{
    maki_forward_response response = { .type = { "", 0 } };
    bool chunked = maki_http_field_find(fields, MAKI_LIT("transfer-encoding")) != NULL;
    for (size_t i = 0; i < fields->field_count; i++) {
        const maki_http_field *field = &fields->fields[i];
        if (maki_http_hop_field(fields, field->name)) continue;
        if (maki_http_same(field->name, MAKI_LIT("content-length"))) {
            if (chunked || response.has_length || !maki_str_number(field->value, &response.length))
                continue;
            response.has_length = true;
        }
        if (maki_http_same(field->name, MAKI_LIT("content-type"))) response.type = field->value;
        maki_buf_add(out, line_of(field));
        maki_buf_add(out, MAKI_LIT("\r\n"));
    }
    return response;
}
