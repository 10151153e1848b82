/* summarizer.c -- add up what summaries cost, and write cost and fact coverage as fields of events and answers. */
#include "history/summarizer.h"

#include <string.h>

#include "base/json_print.h"
#include "base/str_util.h"

void maki_summary_usage_add(maki_summary_usage *sum, const maki_summary_usage *more)
{
    if (more->model[0]) memcpy(sum->model, more->model, sizeof sum->model);
    sum->input += more->input;
    sum->output += more->output;
    sum->cost += more->cost;
}

void maki_summary_usage_write(maki_jw *w, const maki_summary_usage *usage)
{
    maki_jw_field_number(w, "cost", usage->cost);
    if (!usage->model[0]) return;
    maki_jw_field_object(w, "summarizer");
    maki_jw_field_text(w, "model", usage->model);
    maki_jw_field_number(w, "input", usage->input);
    maki_jw_field_number(w, "output", usage->output);
    maki_jw_end_object(w);
}

void maki_fact_coverage_write(maki_jw *w, const maki_fact_coverage *coverage)
{
    maki_jw_field_count(w, "factsKept", coverage->kept);
    maki_jw_field_count(w, "factsLost", coverage->lost);
    maki_jw_key(w, MAKI_LIT("lost"));
    maki_jw_begin_value(w);
    maki_jw_bytes(w, MAKI_LIT("["));
    maki_jw_bytes(w, (maki_str){ coverage->list, coverage->list_len });
    maki_jw_bytes(w, MAKI_LIT("]"));
}

void maki_fallback_write(maki_jw *w, const maki_err *fallback_reason)
{
    if (fallback_reason->status != MAKI_OK)
        maki_jw_print(w, "'fallback':{'summarizer':'offline','code':%z,'message':%z}",
                      fallback_reason->code, fallback_reason->msg);
}
