/* readable_part.c -- write the parts of a message for people.
 *
 * In:    a row of the log and how many characters of each text are wanted.
 * Out:   JSON; a cut text says how long it is.  Texts are decoded while they are written: nothing is copied, so a message of
 *        any size costs no memory.
 * A user's text is split where an agent inserted something (wire/inserted_text.h). */
#include "ops/readable_part.h"

#include "base/json_print.h"
#include "base/str_util.h"
#include "base/text.h"
#include "wire/content_part.h"
#include "wire/inserted_text.h"

/* ---- a text, cut ---------------------------------------------------------------------------------------------- */

typedef struct text_writer {
    maki_jw *out;
    uint64_t chars;   /* the limit */
    uint64_t written; /* characters so far, those beyond the limit included */
} text_writer;

static text_writer begin_text(maki_jw *out, const char *name, uint64_t chars)
{
    maki_jw_key(out, maki_str_of(name));
    maki_jw_begin_value(out);
    maki_jw_bytes(out, MAKI_LIT("\""));
    return (text_writer){ out, chars, 0 };
}

/* Closes the string; "length" when it was cut. */
static void end_text(text_writer *t)
{
    maki_jw_bytes(t->out, MAKI_LIT("\""));
    if (t->written > t->chars) maki_jw_field_count(t->out, "length", t->written);
}

/* How many bytes of escaped text the first `max` characters have; *count is the number of all characters. */
static size_t cut_escaped(maki_str escaped, uint64_t max, uint64_t *count)
{
    size_t at = 0, cut = escaped.len;
    uint64_t n = 0;
    for (size_t len = 1; at < escaped.len; at += len, n++) {
        unsigned char c = (unsigned char)escaped.ptr[at];
        if (n == max) cut = at;
        len = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
        if (c == '\\') maki_json_escape_code(maki_str_skip(escaped, at), &len);
    }
    *count = n;
    return cut;
}

static maki_status add_decoded(void *ctx, maki_str text, maki_err *err)
{
    maki_jw *out = ctx;
    (void)err;
    maki_jw_escape(out, text);
    return out->status;
}

/* The escaped bytes of a JSON string. */
static void add_escaped(text_writer *t, maki_str escaped)
{
    uint64_t left = t->written < t->chars ? t->chars - t->written : 0, count = 0;
    size_t cut = cut_escaped(escaped, left, &count);
    t->written += count;
    if (cut && t->out->status == MAKI_OK)
        (void)!maki_json_unescape_to(maki_str_prefix(escaped, cut),
                                     (maki_sink){ add_decoded, t->out }, NULL);
}

/* Plain text, valid UTF-8. */
static void add_plain(text_writer *t, maki_str text)
{
    for (size_t at = 0; at < text.len;) {
        size_t n = text.len - at < 4096 ? text.len - at : 4096, cut = 0;
        if (at + n < text.len) n = maki_utf8_truncate(maki_str_skip(text, at), n).len;
        maki_str piece = { text.ptr + at, n };
        for (size_t i = 0; i < n; i++) {
            bool begins = ((unsigned char)piece.ptr[i] & 0xC0) != 0x80;
            if (begins && t->written++ >= t->chars) continue;
            if (t->written <= t->chars) cut = i + 1;
        }
        maki_jw_escape(t->out, maki_str_prefix(piece, cut));
        at += n;
    }
}

/* A JSON value as text: a string decoded, anything else as it is. */
static void add_value(text_writer *t, maki_str value)
{
    if (maki_is_string(value))
        add_escaped(t, maki_json_strip_quotes(value));
    else
        add_plain(t, value);
}

static void put_value(maki_jw *out, const char *name, maki_str value, uint64_t chars)
{
    text_writer t = begin_text(out, name, chars);
    add_value(&t, value);
    end_text(&t);
}

/* A JSON string as a field; nothing when it is missing. */
static void put_string(maki_jw *out, const char *name, maki_str string)
{
    enum { NAME_CHARS = 400 };
    if (string.len) put_value(out, name, string, NAME_CHARS);
}

/* ---- images and files ----------------------------------------------------------------------------------------- */

/* The bytes that base64 stands for; it may have escaped slashes and line ends. */
static uint64_t decoded_bytes(maki_str data)
{
    uint64_t digits = 0;
    for (size_t at = 0, len = 1; at < data.len; at += len) {
        uint32_t c = (unsigned char)data.ptr[at];
        len = 1;
        if (c == '\\') c = maki_json_escape_code(maki_str_skip(data, at), &len);
        digits += c > ' ' && c != '=';
    }
    return digits * 3 / 4;
}

static void put_media(maki_jw *out, const maki_content_part *part, uint64_t chars)
{
    enum { DATA_PER_CHAR = 16, URL_CHARS = 2000 };
    const maki_media *media = &part->media;
    bool web = maki_str_starts(media->url, MAKI_LIT("http://")) ||
               maki_str_starts(media->url, MAKI_LIT("https://"));
    maki_jw_print(out, "{'type':%z", part->kind == MAKI_CONTENT_IMAGE ? "image" : "file");
    text_writer type = begin_text(out, "mediaType", URL_CHARS);
    add_escaped(&type, media->type);
    end_text(&type);
    maki_jw_field_count(out, "bytes", decoded_bytes(media->data));
    if (web) {
        text_writer url = begin_text(out, "url", URL_CHARS);
        add_escaped(&url, media->url);
        end_text(&url);
    }
    if (media->data.len && media->data.len <= chars * DATA_PER_CHAR) {
        text_writer data = begin_text(out, "data", UINT64_MAX);
        add_escaped(&data, media->data);
        end_text(&data);
    }
    maki_jw_end_object(out);
}

/* ---- parts ---------------------------------------------------------------------------------------------------- */

static void put_text(maki_jw *out, maki_str escaped, uint64_t chars)
{
    maki_jw_print(out, "{'type':'text'");
    text_writer t = begin_text(out, "text", chars);
    add_escaped(&t, escaped);
    end_text(&t);
    maki_jw_end_object(out);
}

/* A piece of a user's text, decoded. */
static void put_piece(maki_jw *out, maki_str text, bool inserted, uint64_t chars)
{
    if (text.len == 0) return;
    maki_jw_print(out, "{'type':'text'");
    text_writer t = begin_text(out, "text", chars);
    add_plain(&t, text);
    end_text(&t);
    if (inserted) maki_jw_field_bool(out, "inserted", true);
    maki_jw_end_object(out);
}

/* What an agent inserted before and after the words of a person becomes parts of its own. */
static maki_status put_user_text(const maki_env *env, maki_jw *out, maki_str escaped,
                                 uint64_t chars, maki_err *err)
{
    maki_str text = escaped;
    maki_status st = MAKI_OK;
    maki_spool decoded = maki_spool_new(env, MAKI_SPOOL_MEMORY);
    if (escaped.len && memchr(escaped.ptr, '\\', escaped.len)) {
        st = maki_json_unescape_to(escaped, maki_spool_sink(&decoded), err);
        if (st == MAKI_OK) st = maki_spool_text(&decoded, &text, err);
    }
    if (st == MAKI_OK) {
        size_t head = maki_inserted_head(text);
        maki_str rest = maki_str_skip(text, head);
        size_t own = rest.len - maki_inserted_tail(rest);
        put_piece(out, maki_str_prefix(text, head), true, chars);
        put_piece(out, maki_str_prefix(rest, own), false, chars);
        put_piece(out, maki_str_skip(rest, own), true, chars);
    }
    maki_spool_free(&decoded);
    return st;
}

/* The texts of a list of blocks ({"type", "text"}), an empty line between them. */
static void add_texts(text_writer *t, maki_str list)
{
    MAKI_JSON_EACH(item, maki_array_items(list)) {
        maki_str text = maki_json_string(item.value, "text");
        if (!text.len) continue;
        if (t->written) add_plain(t, MAKI_LIT("\n\n"));
        add_value(t, text);
    }
}

/* Items of Responses have their reasoning in lists. */
static void put_thinking(maki_jw *out, const maki_content_part *part, uint64_t chars)
{
    maki_jw_print(out, "{'type':'thinking'");
    text_writer t = begin_text(out, "text", chars);
    if (part->text.len) {
        add_value(&t, part->text);
    } else if (part->block.len) {
        add_texts(&t, maki_member(part->block, MAKI_LIT("summary")));
        add_texts(&t, maki_member(part->block, MAKI_LIT("content")));
    }
    end_text(&t);
    maki_jw_end_object(out);
}

static void put_call(maki_jw *out, const maki_content_part *part, uint64_t chars)
{
    maki_jw_print(out, "{'type':'call'");
    put_string(out, "id", part->id);
    put_string(out, "name", part->name);
    put_value(out, "input", part->input, chars);
    maki_jw_end_object(out);
}

/* Texts are joined; images follow as parts of their own. */
static void put_result(maki_jw *out, const maki_content_part *part, uint64_t chars)
{
    maki_content_part inner;
    maki_content_parts parts = maki_content_parts_of_content(part->content);
    maki_jw_print(out, "{'type':'result'");
    put_string(out, "id", part->id);
    put_string(out, "name", part->name);
    text_writer t = begin_text(out, "text", chars);
    bool media = false;
    while (maki_content_parts_next(&parts, &inner)) {
        media |= inner.kind == MAKI_CONTENT_IMAGE || inner.kind == MAKI_CONTENT_FILE;
        if (inner.kind == MAKI_CONTENT_IMAGE || inner.kind == MAKI_CONTENT_FILE) continue;
        if (t.written) add_plain(&t, MAKI_LIT("\n"));
        add_value(&t, inner.kind == MAKI_CONTENT_TEXT ? inner.text : inner.block);
    }
    end_text(&t);
    if (part->error) maki_jw_field_bool(out, "error", true);
    if (media) {
        maki_jw_field_array(out, "parts");
        parts = maki_content_parts_of_content(part->content);
        while (maki_content_parts_next(&parts, &inner)) {
            if (inner.kind == MAKI_CONTENT_IMAGE || inner.kind == MAKI_CONTENT_FILE)
                put_media(out, &inner, chars);
        }
        maki_jw_end_array(out);
    }
    maki_jw_end_object(out);
}

static void put_other(maki_jw *out, maki_str name, maki_str json, uint64_t chars)
{
    maki_jw_print(out, "{'type':'other'");
    put_value(out, "name", name, chars);
    put_value(out, "text", json, chars);
    maki_jw_end_object(out);
}

static maki_status put_part(const maki_env *env, maki_jw *out, const maki_content_part *part,
                            bool user, uint64_t chars, maki_err *err)
{
    maki_str text = part->text.len ? maki_json_strip_quotes(part->text) : part->text;
    switch (part->kind) {
    case MAKI_CONTENT_TEXT:
        if (user) return put_user_text(env, out, text, chars, err);
        put_text(out, text, chars);
        break;
    case MAKI_CONTENT_IMAGE:
    case MAKI_CONTENT_FILE: put_media(out, part, chars); break;
    case MAKI_CONTENT_THINKING: put_thinking(out, part, chars); break;
    case MAKI_CONTENT_CALL: put_call(out, part, chars); break;
    case MAKI_CONTENT_RESULT: put_result(out, part, chars); break;
    case MAKI_CONTENT_OTHER: put_other(out, part->type, part->block, chars); break;
    }
    return out->status;
}

maki_status maki_put_parts(const maki_env *env, maki_jw *out, maki_str row, uint64_t chars,
                           maki_err *err)
{
    maki_content_parts parts = maki_content_parts_of_row(row);
    maki_content_part part;
    maki_status st = MAKI_OK;
    maki_jw_begin_array(out);
    while (st == MAKI_OK && maki_content_parts_next(&parts, &part))
        st = put_part(env, out, &part, parts.author == MAKI_AUTHOR_USER, chars, err);
    if (maki_is_string(parts.refusal)) put_text(out, maki_json_strip_quotes(parts.refusal), chars);
    if (parts.audio.len) put_other(out, MAKI_LIT("\"audio\""), parts.audio, chars);
    maki_jw_end_array(out);
    return st;
}

void maki_put_damaged(maki_jw *out, maki_str bytes, uint64_t chars)
{
    maki_jw_print(out, "[{'type':'other','name':'damaged'");
    maki_jw_key(out, MAKI_LIT("text"));
    maki_str cut = maki_str_prefix(bytes, bytes.len < chars ? bytes.len : (size_t)chars);
    cut.len -= maki_utf8_incomplete(cut);
    maki_jw_string_lossy(out, cut);
    if (cut.len < bytes.len) maki_jw_field_count(out, "length", bytes.len);
    maki_jw_print(out, "}]");
}

void maki_put_row_text(maki_jw *out, const char *name, maki_str row, uint64_t chars)
{
    maki_content_parts parts = maki_content_parts_of_row(row);
    maki_content_part part;
    text_writer t = begin_text(out, name, chars);
    while (maki_content_parts_next(&parts, &part)) {
        if (part.kind != MAKI_CONTENT_TEXT) continue;
        if (t.written) add_plain(&t, MAKI_LIT("\n"));
        add_value(&t, part.text);
    }
    end_text(&t);
}

void maki_put_role(maki_jw *out, maki_str row)
{
    put_value(out, "role", maki_json_string(row, "role"), 40);
}
