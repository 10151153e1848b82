/* synthetic.c -- build the JSON of synthetic messages: a truncation marker, a summary, plain text.
 *
 * In:    texts, ids and times.  Out: one validated JSON object in the arena.
 * The formats are those of roo, field by field. */
#include "history/synthetic.h"

#include "base/json_builder.h"
#include "base/random.h"

maki_status maki_synthetic_text(maki_str role, maki_str text, maki_arena *arena, maki_str *json,
                                maki_err *err)
{
    return maki_json_build_print(arena, json, err, "{'role':%s,'content':%s}", role, text);
}

maki_status maki_synthetic_marker(size_t hidden, maki_str id, double ts, maki_arena *arena,
                                  maki_str *json, maki_err *err)
{
    maki_str text = maki_arena_print(arena, "[Truncation: %zu messages hidden]", hidden);
    return maki_json_build_print(arena, json, err,
                                 "{'role':'user','content':%s,'ts':%f,'isTruncationMarker':true,"
                                 "'truncationId':%v}",
                                 text, ts, id);
}

maki_status maki_synthetic_summary(const maki_summary_parts *parts, maki_arena *arena,
                                   maki_str *json, maki_err *err)
{
    maki_json_builder build;
    maki_jw *w = &build.w;
    maki_json_builder_begin(&build, arena, err);
    maki_jw_print(w, "{'role':'assistant','content':[{'type':'reasoning','text':%z}",
                  MAKI_SUMMARY_REASONING);
    for (size_t i = 0; i < parts->reasoning_count; i++)
        maki_jw_raw(w, parts->reasoning[i]);
    maki_jw_print(w, "{'type':'text','text':%s}", parts->text);
    for (size_t i = 0; i < parts->call_count; i++)
        maki_jw_raw(w, parts->calls[i]);
    maki_jw_print(w, "],'ts':%f,'isSummary':true,'condenseId':%v}", parts->ts, parts->id);
    return maki_json_builder_end(&build, arena, json, err);
}

maki_status maki_synthetic_id(const maki_random *random, maki_arena *arena, maki_str *id,
                              maki_err *err)
{
    char uuid[MAKI_UUID_LEN + 1];
    maki_status st = maki_uuid(random, uuid, err);
    if (st != MAKI_OK) return st;
    *id = maki_arena_print(arena, "\"%s\"", uuid);
    return maki_arena_status(arena, err);
}
