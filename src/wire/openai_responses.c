/* openai_responses.c -- OpenAI's Responses API: a list of items (items.h). */
#include "wire/items.h"
#include "wire/read.h"
#include "wire/row.h"

/* ---- requests ----------------------------------------------------------------------------------------- */

/* Reasoning that nothing of the model's follows gets a row of its own.  Reading cannot go on after it: in
 * another body something might follow. */
static maki_status give_waiting(maki_reading *r)
{
    maki_str waiting;
    maki_jw w;
    maki_status st = maki_spool_text(&r->waiting, &waiting, r->err);
    if (st != MAKI_OK || waiting.len == 0) return st;
    maki_reading_begin(r, &w);
    maki_item_waited(&w, waiting);
    maki_spool_clear(&r->waiting);
    return maki_reading_end(r, &w, (maki_str){ "", 0 });
}

static maki_status keep_waiting(maki_reading *r, maki_str item)
{
    maki_status st = maki_spool_add(&r->waiting, item, r->err);
    return st == MAKI_OK ? maki_spool_add(&r->waiting, MAKI_LIT(","), r->err) : st;
}

static maki_status give_text(maki_reading *r, maki_str text)
{
    maki_jw w;
    maki_reading_begin(r, &w);
    maki_jw_object(&w);
    maki_write_field(&w, MAKI_LIT("role"), MAKI_LIT("\"user\""));
    maki_write_field(&w, MAKI_LIT("content"), text);
    maki_jw_end_object(&w);
    return maki_reading_end(r, &w, (maki_str){ "", 0 });
}

maki_status maki_responses_item(maki_reading *r, maki_str item, bool single)
{
    maki_str waiting = { "", 0 };
    maki_status st = MAKI_OK;
    maki_jw w;
    if (single && maki_is_string(item)) return give_text(r, item);
    if (single) return maki_reading_wrong(r, "must stand in an array");
    if (!maki_is_object(item)) return maki_reading_wrong(r, "must be an object");
    if (maki_item_waits(item)) return keep_waiting(r, item);
    if (maki_item_reference(item)) r->mark.by_reference = true;
    if (maki_item_assistant(item))
        st = maki_spool_text(&r->waiting, &waiting, r->err);
    else
        st = give_waiting(r);
    if (st != MAKI_OK) return st;
    maki_reading_begin(r, &w);
    maki_item_row(&w, item, waiting);
    maki_spool_clear(&r->waiting);
    return maki_reading_end(r, &w, item);
}

maki_status maki_responses_last(maki_reading *r)
{
    return give_waiting(r);
}
