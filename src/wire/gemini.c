/* gemini.c -- Google's generateContent: contents with parts. */
#include "wire/gemini_part.h"
#include "wire/read.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

/* Answers find their call in the model's last content, after the answers that came since. */
static void look_back(const maki_reading *r, maki_gemini_ids *ids)
{
    maki_json_iter turn = maki_reading_turn(r);
    maki_json_item content, part;
    if (!maki_json_next(&turn, &content)) return;
    ids->asked = maki_gemini_parts(content.value);
    while (ids->answered < MAKI_ANSWERS_MOST && maki_json_next(&turn, &content)) {
        maki_json_iter parts = maki_gemini_parts(content.value);
        while (maki_json_next(&parts, &part))
            maki_gemini_pass(part.value, ids);
    }
}

static bool has_answers(maki_str content)
{
    maki_json_iter parts = maki_gemini_parts(content);
    maki_json_item part;
    maki_str value;
    while (maki_json_next(&parts, &part)) {
        if (maki_gemini_kind_of(part.value, &value) == MAKI_GEMINI_ANSWER) return true;
    }
    return false;
}

maki_status maki_gemini_item(maki_reading *r, maki_str item, bool single)
{
    static const maki_str but[] = { { "role", 4 }, { "parts", 5 } };
    maki_gemini_ids ids = { 0 };
    maki_json_iter parts = maki_gemini_parts(item);
    maki_json_item part;
    maki_jw w;
    if (!maki_is_object(item)) return maki_reading_wrong(r, "must be an object with parts");
    bool model = maki_is_text(maki_get(item, MAKI_LIT("role")), MAKI_LIT("model"));
    if (!model && has_answers(item)) look_back(r, &ids);
    maki_reading_begin(r, &w);
    maki_jw_object(&w);
    maki_write_field(&w, MAKI_LIT("role"),
                     model ? MAKI_LIT("\"assistant\"") : MAKI_LIT("\"user\""));
    maki_jw_key(&w, MAKI_LIT("content"));
    maki_jw_array(&w);
    while (maki_json_next(&parts, &part))
        maki_gemini_write_part(&w, part.value, &ids);
    maki_jw_end_array(&w);
    maki_write_original(&w, item, but, 2);
    maki_jw_end_object(&w);
    return maki_reading_end(r, &w, single ? (maki_str){ "", 0 } : item);
}
