/* write_values.c -- JSON values that several protocols write: URLs, arguments, texts.  Strings stay escaped, except
 * arguments that are JSON in a string, which are decoded and validated in one pass. */
#include "wire/message_writer_internal.h"

#include "base/json_print.h"
#include "base/json_scan.h"

void maki_write_joined(maki_jw *w, const maki_str *parts, size_t count)
{
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    for (size_t i = 0; i < count; i++)
        maki_jw_bytes(w, parts[i]);
    maki_jw_bytes(w, MAKI_LIT("\""));
}

void maki_write_url(maki_jw *w, const maki_media *media)
{
    const maki_str data[] = { MAKI_LIT("data:"), media->type, MAKI_LIT(";base64,"), media->data };
    if (media->url.len)
        maki_write_joined(w, &media->url, 1);
    else
        maki_write_joined(w, data, 4);
}

void maki_write_fields(maki_jw *w, maki_str block, maki_str known, const char *names)
{
    maki_json_iter iter = maki_json_items(block);
    maki_json_item item;
    while (maki_json_next_known(&iter, &item, known)) {
        if (maki_key_in(item.key, names) && maki_json_kind_of(item.value) != MAKI_JSON_NULL)
            maki_write_field(w, item.key, item.value);
    }
}

/* ---- JSON in strings ------------------------------------------------------------------------------------ */

/* Validates the text of a string.  A short text is buffered, so that it is decoded once. */
typedef struct json_check {
    maki_json_scan scan;
    char first; /* first character that is not white space */
    uint64_t size;
    char text[32 << 10]; /* the text, when `size` fits */
} json_check;

static maki_status check_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    json_check *check = ctx;
    maki_str text = maki_trim_space(bytes);
    if (!check->first && text.len) check->first = text.ptr[0];
    if (check->size + bytes.len <= sizeof check->text)
        memcpy(check->text + check->size, bytes.ptr, bytes.len);
    check->size += bytes.len;
    return maki_json_scan_push(&check->scan, bytes, err);
}

static maki_status write_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    maki_jw *w = ctx;
    (void)err;
    maki_jw_bytes(w, bytes);
    return w->status;
}

bool maki_write_parsed_object(maki_jw *w, maki_str string)
{
    maki_str escaped = maki_json_strip_quotes(string);
    json_check check;
    check.first = 0;
    check.size = 0;
    maki_json_scan_init(&check.scan, &(maki_json_scan_options){ 0 });
    maki_status st = maki_json_unescape_to(escaped, (maki_sink){ check_bytes, &check }, NULL);
    if (st == MAKI_OK) st = maki_json_scan_end(&check.scan, NULL);
    if (st != MAKI_OK || check.first != '{') return false;
    maki_jw_begin_value(w);
    if (check.size <= sizeof check.text)
        maki_jw_bytes(w, (maki_str){ check.text, (size_t)check.size });
    else
        (void)!maki_json_unescape_to(escaped, (maki_sink){ write_bytes, w },
                                     NULL); /* the error sticks to `w` */
    return true;
}

void maki_write_input(maki_jw *w, maki_str input)
{
    if (maki_is_object(input)) {
        maki_jw_raw(w, input);
        return;
    }
    if (maki_is_string(input) && maki_write_parsed_object(w, input)) return;
    bool blank = maki_is_string(input) && maki_is_blank(input);
    maki_jw_print(w, "{'arguments':%v}", blank ? MAKI_LIT("") : input);
}

void maki_write_arguments(maki_jw *w, maki_str input)
{
    bool none = input.len == 0 || (maki_is_string(input) && maki_is_blank(input));
    maki_write_quoted(w, none ? MAKI_LIT("{}") : input); /* an empty string is not valid JSON */
}

/* ---- texts ---------------------------------------------------------------------------------------------- */

void maki_write_content_text(maki_jw *w, maki_str content)
{
    maki_content_parts parts = maki_content_parts_of_content(content);
    maki_content_part part;
    bool any = false;
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("\""));
    while (maki_content_parts_next(&parts, &part)) {
        bool image = part.kind == MAKI_CONTENT_IMAGE;
        if (part.kind != MAKI_CONTENT_TEXT && !image) continue;
        if (any) maki_jw_bytes(w, MAKI_LIT("\\n"));
        maki_jw_bytes(w, image ? MAKI_LIT("[image]") : maki_json_strip_quotes(part.text));
        any = true;
    }
    maki_jw_bytes(w, MAKI_LIT("\""));
}
