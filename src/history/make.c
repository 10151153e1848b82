/* make.c -- see make.h. */
#include "history/make.h"

#include "base/made.h"
#include "base/random.h"
#include "base/str.h"

static void string_field(maki_jw *w, const char *key, maki_str text)
{
    maki_jw_key(w, maki_str_of(key));
    maki_jw_string(w, text);
}

maki_status maki_make_text(maki_str role, maki_str text, maki_arena *arena, maki_str *json,
                           maki_err *err)
{
    maki_made made;
    maki_made_begin(&made, arena, err);
    maki_jw_object(&made.w);
    string_field(&made.w, "role", role);
    string_field(&made.w, "content", text);
    maki_jw_end_object(&made.w);
    return maki_made_end(&made, arena, json, err);
}

maki_status maki_make_marker(size_t hidden, maki_str id, double ts, maki_arena *arena,
                             maki_str *json, maki_err *err)
{
    maki_made made;
    maki_str text = maki_arena_print(arena, "[Truncation: %zu messages hidden]", hidden);
    maki_made_begin(&made, arena, err);
    maki_jw_object(&made.w);
    string_field(&made.w, "role", MAKI_LIT("user"));
    string_field(&made.w, "content", text);
    maki_jw_key(&made.w, MAKI_LIT("ts"));
    maki_jw_double(&made.w, ts);
    maki_jw_key(&made.w, MAKI_LIT("isTruncationMarker"));
    maki_jw_bool(&made.w, true);
    maki_jw_key(&made.w, MAKI_LIT("truncationId"));
    maki_jw_raw(&made.w, id);
    maki_jw_end_object(&made.w);
    return maki_made_end(&made, arena, json, err);
}

static void text_block(maki_jw *w, const char *type, maki_str text)
{
    maki_jw_object(w);
    string_field(w, "type", maki_str_of(type));
    string_field(w, "text", text);
    maki_jw_end_object(w);
}

maki_status maki_make_summary(const maki_summary_parts *parts, maki_arena *arena, maki_str *json,
                              maki_err *err)
{
    maki_made made;
    maki_jw *w = &made.w;
    maki_made_begin(&made, arena, err);
    maki_jw_object(w);
    string_field(w, "role", MAKI_LIT("assistant"));
    maki_jw_key(w, MAKI_LIT("content"));
    maki_jw_array(w);
    text_block(w, "reasoning", MAKI_LIT(MAKI_SUMMARY_REASONING));
    for (size_t i = 0; i < parts->reasoning_count; i++)
        maki_jw_raw(w, parts->reasoning[i]);
    text_block(w, "text", parts->text);
    for (size_t i = 0; i < parts->call_count; i++)
        maki_jw_raw(w, parts->calls[i]);
    maki_jw_end_array(w);
    maki_jw_key(w, MAKI_LIT("ts"));
    maki_jw_double(w, parts->ts);
    maki_jw_key(w, MAKI_LIT("isSummary"));
    maki_jw_bool(w, true);
    maki_jw_key(w, MAKI_LIT("condenseId"));
    maki_jw_raw(w, parts->id);
    maki_jw_end_object(&made.w);
    return maki_made_end(&made, arena, json, err);
}

maki_status maki_make_id(const maki_random *random, maki_arena *arena, maki_str *id, maki_err *err)
{
    char uuid[MAKI_UUID_LEN + 1];
    maki_status st = maki_uuid(random, uuid, err);
    if (st != MAKI_OK) return st;
    *id = maki_arena_print(arena, "\"%s\"", uuid);
    return maki_arena_status(arena, err);
}
