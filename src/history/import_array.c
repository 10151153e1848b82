/* import_array.c -- sources that are one JSON text: arrays of messages and request bodies.
 *
 * In:    an array of messages, or a body with one in `messages` or `input`; roo's UI messages.
 * Out:   a row for each message, after one for `system`; the other small fields of a body in the note of the import.
 *
 * A body is read twice: its fields may be in any order, and the row of `system` comes before the messages. */
#include <math.h>
#include <string.h>

#include "base/json_access.h"
#include "history/import_internal.h"

/* ---- bodies ------------------------------------------------------------------------------------------ */

static maki_status system_row(maki_importer *im, maki_str content, maki_err *err)
{
    maki_str value;
    bool added = false;
    if (maki_json_check(content, &value, NULL) != MAKI_OK) {
        maki_import_skip(im, "`system` is not valid JSON");
        return MAKI_OK;
    }
    maki_json_kind kind = maki_json_kind_of(value);
    if (kind != MAKI_JSON_STRING && kind != MAKI_JSON_ARRAY) return MAKI_OK;
    maki_jw_print(maki_draft_begin(&im->row), "{'role':'system','content':%v}", value);
    return maki_import_synthetic_row(im, &added, err);
}

/* Add a field of the body other than the messages to the note, if it is small and valid JSON. */
static void add_note_field(maki_importer *im, maki_str key, maki_str value, bool *any)
{
    enum { SMALL = 4096 };
    maki_jw *w = &im->notes.w;
    maki_str checked;
    if (value.len > SMALL || maki_json_check(value, &checked, NULL) != MAKI_OK) return;
    if (maki_json_check(key, &checked, NULL) != MAKI_OK || key.ptr[0] != '"') return;
    if (!*any) maki_jw_field_object(w, "body");
    *any = true;
    maki_jw_raw_key(w, maki_json_strip_quotes(key));
    maki_jw_raw(w, value);
}

/* Find the offset of the messages in a body (0: none), write the row of `system`, and note the other fields. */
static maki_status find_messages(maki_importer *im, uint64_t *at, maki_err *err)
{
    maki_source *src = &im->src;
    char name[32], next = 0;
    bool any = false;
    maki_status st = MAKI_OK;
    maki_source_enter(src);
    while (st == MAKI_OK) {
        maki_str item;
        bool more = true;
        char key[64];
        st = maki_source_item(src, &item, &more, err);
        if (st != MAKI_OK || !more) break;
        size_t n = item.len > 1 && item.ptr[0] == '"' ? item.len : 0;
        maki_str key_text = { key, n < sizeof key ? n : 0 };
        memcpy(key, item.ptr, key_text.len);
        maki_str checked;
        bool valid = key_text.len && maki_json_check(key_text, &checked, NULL) == MAKI_OK;
        name[valid ? maki_json_copy_text(key_text, name, sizeof name - 1) : 0] = '\0';
        st = maki_source_peek(src, &next, err);
        bool is_list = next == '[' && maki_str_in(maki_str_of(name), "messages|input");
        if (st == MAKI_OK && is_list && *at == 0) {
            *at = maki_source_position(src);
            st = maki_source_skip(src, err);
        } else if (st == MAKI_OK && next != '\0') {
            st = maki_source_item(src, &item, &more, err);
            bool system = maki_str_in(maki_str_of(name), "system|instructions");
            if (st == MAKI_OK && more && system)
                st = system_row(im, item, err);
            else if (st == MAKI_OK && more && key_text.len)
                add_note_field(im, key_text, item, &any);
        }
    }
    if (any) maki_jw_end_object(&im->notes.w);
    return st;
}

/* ---- elements ------------------------------------------------------------------------------------------- */

static maki_status read_elements(maki_importer *im, maki_import_object_fn fn, void *ctx,
                                 maki_err *err)
{
    maki_status st = MAKI_OK;
    bool more = true;
    im->line = 0;
    maki_source_enter(&im->src);
    while (st == MAKI_OK) {
        maki_str item, object;
        st = maki_source_item(&im->src, &item, &more, err);
        if (st != MAKI_OK || !more) break;
        im->line++;
        if (maki_import_object(im, item, &object, &st, err)) st = fn(ctx, object, err);
    }
    return st;
}

maki_status maki_import_elements(maki_importer *im, maki_import_object_fn fn, void *ctx,
                                 maki_err *err)
{
    uint64_t at = 0;
    char first = 0;
    maki_status st = maki_source_peek(&im->src, &first, err);
    if (st == MAKI_OK && first == '{') {
        st = find_messages(im, &at, err);
        if (st == MAKI_OK && at == 0) {
            maki_import_skip(im, "there are no messages in it");
            return MAKI_OK;
        }
        maki_source_seek(&im->src, at);
        if (st == MAKI_OK) st = maki_source_peek(&im->src, &first, err);
    }
    if (st == MAKI_OK && first == '[') return read_elements(im, fn, ctx, err);
    if (st == MAKI_OK) maki_import_skip(im, "not an array");
    return st;
}

/* ---- messages --------------------------------------------------------------------------------------------- */

static maki_status add_message(void *ctx, maki_str object, maki_err *err)
{
    maki_importer *im = ctx;
    maki_str role;
    bool added = false, known = false;
    if (!maki_import_id(object, "role", &role)) {
        maki_status st = maki_import_item(im, object, object, &known, err);
        if (st != MAKI_OK || known) return st;
    }
    return im->tags ? maki_tags_row(im, object, err) : maki_import_row(im, object, &added, err);
}

static maki_status read_messages(maki_importer *im, maki_err *err)
{
    maki_status st = MAKI_OK;
    /* unless another format was given: tags may come long after what detection has read */
    bool find_tags = im->format == &maki_import_roo || !im->options->format;
    if (find_tags) st = maki_tags_open(im, err);
    if (st == MAKI_OK) st = maki_import_elements(im, add_message, im, err);
    if (st == MAKI_OK) st = maki_import_ui(im, INFINITY, err);
    if (st == MAKI_OK && find_tags) st = maki_tags_end(im, err);
    return st;
}

/* An element that was cut off after a long content may be a message too. */
static bool is_cut(const maki_import_probe *s)
{
    return s->end == 0 && maki_import_probe_has(s, "content");
}

static bool is_roo(const maki_import_probe *s)
{
    bool role = maki_import_probe_has(s, "role");
    if (!role && !s->type[0] && !is_cut(s)) return false;
    return maki_import_probe_has(s,
                                 "condenseParent|truncationParent|isSummary|isTruncationMarker") ||
           (role && maki_import_probe_has(s, "ts"));
}

static bool is_openai(const maki_import_probe *s)
{
    if (!maki_import_probe_has(s, "role") && !is_cut(s)) return s->type[0] != '\0';
    return maki_str_in(maki_str_of(s->role), "system|developer|tool") ||
           maki_import_probe_has(s, "tool_calls|tool_call_id");
}

const maki_import_format maki_import_roo = { "roo", NULL, is_roo, read_messages };
const maki_import_format maki_import_openai = { "openai", NULL, is_openai, read_messages };
/* Detected by its blocks, or by the fields of the body (import_detect.c). */
const maki_import_format maki_import_anthropic = { "anthropic", NULL, NULL, read_messages };

/* ---- roo's UI messages -------------------------------------------------------------------------------------- */

/* Read the next UI message that is valid JSON into im->ui_next. */
static maki_status next_ui(maki_importer *im, maki_err *err)
{
    maki_str item;
    bool more = true;
    maki_status st = MAKI_OK;
    im->ui_next = (maki_str){ 0 };
    while (st == MAKI_OK && more && !im->ui_next.len) {
        st = maki_source_item(&im->ui, &item, &more, err);
        if (st != MAKI_OK || !more) break;
        im->ui_line++;
        if (maki_json_check(item, &im->ui_next, NULL) == MAKI_OK) break;
        uint64_t line = im->line;
        im->line = im->ui_line;
        im->ui_next = (maki_str){ 0 };
        maki_import_skip(im, "a UI message is not valid JSON");
        im->line = line;
    }
    return st;
}

maki_status maki_import_ui_open(maki_importer *im, int fd, maki_err *err)
{
    char first = 0;
    maki_status st = maki_source_open(&im->ui, im->env, fd, err);
    if (st == MAKI_OK) st = maki_source_peek(&im->ui, &first, err);
    if (st != MAKI_OK || first != '[') return st;
    maki_source_enter(&im->ui);
    return next_ui(im, err);
}

maki_status maki_import_ui(maki_importer *im, double ms, maki_err *err)
{
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && im->ui_next.len) {
        maki_str ui = im->ui_next;
        if (maki_json_number_field(ui, "ts") > ms) return MAKI_OK;
        maki_jw_print(maki_draft_begin(&im->fields), "'of':'ui','ui':%v", ui);
        st = maki_import_event(im, "manifest", err);
        if (st == MAKI_OK && im->tags) st = maki_tags_ui(im, ui, err);
        if (st == MAKI_OK) st = next_ui(im, err);
    }
    return st == MAKI_OK && im->tags ? maki_tags_ui(im, (maki_str){ 0 }, err) : st;
}
