/* past.c -- see past.h. */
#include "manage/past.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"

#define GROWN 0.1 /* a failed run is tried again when what is sent has changed by this share */

enum {
    NEWEST = 64 << 10, /* bytes of events in which the newest note is looked for */
    FIELDS_MOST = 400,
    RUNS_MOST = 64, /* runs that are looked at in one pass over the events */
    EVENTS_MOST = 8 << 20
};

/* ---- notes ------------------------------------------------------------------------------------------------ */

typedef struct note {
    uint64_t ev;
    uint64_t first, last; /* events of the run; 0: none */
    uint64_t undone;      /* it tells that this run was taken back; 0: it is a run's own */
    bool failed;
    double tokens;
} note;

static bool text_is(maki_str event, const char *name, maki_str text)
{
    maki_str value;
    return maki_json_get(event, maki_str_of(name), &value) &&
           maki_json_kind_of(value) == MAKI_JSON_STRING && maki_json_text_is(value, text);
}

/* Is this row a note of ours?  Most are not, and are not parsed. */
static bool read_note(maki_str row, note *out)
{
    maki_str event, failed;
    if (!maki_str_has(row, MAKI_LIT("\"of\":\"manage\"")) ||
        maki_json_check(row, &event, NULL) != MAKI_OK ||
        !text_is(event, "type", MAKI_LIT("manifest")) || !text_is(event, "of", MAKI_LIT("manage")))
        return false;
    *out = (note){ .ev = maki_json_whole_field(event, MAKI_LIT("ev")),
                   .first = maki_json_whole_field(event, MAKI_LIT("first")),
                   .last = maki_json_whole_field(event, MAKI_LIT("last")),
                   .undone = maki_json_whole_field(event, MAKI_LIT("undone")),
                   .tokens = (double)maki_json_whole_field(event, MAKI_LIT("tokensAfter")) };
    out->failed = maki_json_get(event, MAKI_LIT("failed"), &failed) && maki_json_true(failed);
    return true;
}

maki_status maki_past_note(maki_conv *conv, uint64_t before, maki_manage_report *report,
                           maki_err *err)
{
    char fields[FIELDS_MOST], span[80] = "";
    maki_change change;
    uint64_t last = maki_log_events(maki_conv_log(conv));
    if (last > before)
        snprintf(span, sizeof span, ",\"first\":%" PRIu64 ",\"last\":%" PRIu64, before + 1, last);
    snprintf(fields, sizeof fields,
             "\"of\":\"manage\",\"reason\":\"%s\",\"action\":\"%s\",\"tokensBefore\":%.0f,"
             "\"tokensAfter\":%.0f,\"failed\":%s%s",
             maki_reason_name(report->reason), maki_step_name(report->action),
             report->tokens_before, report->tokens_after, report->failed ? "true" : "false", span);
    maki_status st = maki_conv_note(conv, "manifest", maki_str_of(fields), &change, err);
    report->run = change.event;
    return st;
}

maki_status maki_past_waits(maki_conv *conv, double tokens, bool *out, maki_err *err)
{
    maki_log *log = maki_conv_log(conv);
    maki_buf rows = maki_buf_new(maki_log_env(log)->alloc, NEWEST);
    maki_status st = maki_log_newest_events(log, NEWEST, &rows, err);
    maki_str rest = maki_buf_str(&rows);
    note newest = { .failed = false }, one;
    while (st == MAKI_OK && rest.len) {
        const char *newline = memchr(rest.ptr, '\n', rest.len);
        size_t len = newline ? (size_t)(newline - rest.ptr) : rest.len;
        if (read_note(maki_str_to(rest, len), &one)) newest = one;
        rest = maki_str_from(rest, newline ? len + 1 : len);
    }
    maki_buf_free(&rows);
    *out = newest.failed && fabs(tokens - newest.tokens) < GROWN * newest.tokens;
    return st;
}

/* ---- taking back ------------------------------------------------------------------------------------------- */

/* The events of a span that a run may have appended. */
typedef struct span_events {
    uint64_t before, last;
    maki_buf found; /* uint64_t each */
} span_events;

/* No step does these: somebody else was here while the run went on; or it undid a step itself. */
static bool is_of_others(maki_str event)
{
    static const char *const types[] = { "undo", "rewind", "pin", "unpin" };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (text_is(event, "type", maki_str_of(types[i]))) return true;
    }
    return false;
}

static maki_status note_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    span_events *span = ctx;
    maki_str event;
    (void)at;
    if (ev <= span->before) return MAKI_OK;
    if (ev > span->last) return MAKI_CANCELLED; /* enough */
    maki_status st = maki_json_check(row, &event, err);
    if (st != MAKI_OK) return st;
    if (!is_of_others(event))
        maki_buf_add(&span->found, (maki_str){ (const char *)&ev, sizeof ev });
    return maki_buf_status(&span->found, err);
}

/* Undo one; one that does not count any more, or never changed a view, is passed over. */
static maki_status undo_one(maki_conv *conv, uint64_t ev, uint64_t *undone, maki_err *err)
{
    maki_change change;
    maki_err why = { 0 };
    maki_status st = maki_conv_undo(conv, NULL, ev, &change, &why);
    if (st == MAKI_OK) ++*undone;
    if (st == MAKI_REFUSED && maki_str_is(maki_str_of(why.code), MAKI_LIT("NOTHING_TO_DO")))
        return MAKI_OK;
    if (st != MAKI_OK && err) *err = why;
    return st;
}

maki_status maki_past_take_back(maki_conv *conv, uint64_t before, uint64_t last, uint64_t *undone,
                                maki_err *err)
{
    maki_log *log = maki_conv_log(conv);
    span_events span = { before, last, maki_buf_new(maki_log_env(log)->alloc, EVENTS_MOST) };
    *undone = 0;
    maki_status st = maki_log_each_event(log, note_event, &span, err);
    if (st == MAKI_CANCELLED) st = MAKI_OK;
    for (size_t i = span.found.len / sizeof(uint64_t); st == MAKI_OK && i > 0; i--) {
        uint64_t ev;
        memcpy(&ev, span.found.ptr + (i - 1) * sizeof ev, sizeof ev);
        st = undo_one(conv, ev, undone, err);
    }
    maki_buf_free(&span.found);
    return st;
}

/* ---- a whole run ------------------------------------------------------------------------------------------ */

/* The newest runs up to `most` that were not taken back, the newest last. */
typedef struct runs {
    uint64_t least, most; /* which are meant */
    uint64_t left_out;    /* the newest for which there was no room; 0: none */
    note at[RUNS_MOST];
    size_t count;
} runs;

static void drop(runs *all, size_t i)
{
    memmove(&all->at[i], &all->at[i + 1], (all->count - i - 1) * sizeof(note));
    all->count--;
}

static maki_status gather(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    runs *all = ctx;
    note one;
    (void)at;
    (void)err;
    if (!read_note(row, &one)) return MAKI_OK;
    one.ev = ev;
    for (size_t i = 0; i < all->count; i++) {
        if (all->at[i].ev == one.undone) drop(all, i);
    }
    if (one.undone || one.first == 0 || ev < all->least || ev > all->most) return MAKI_OK;
    if (all->count == RUNS_MOST) {
        all->left_out = all->at[0].ev;
        drop(all, 0);
    }
    all->at[all->count++] = one;
    return MAKI_OK;
}

static maki_status find_run(maki_conv *conv, uint64_t run, note *out, maki_err *err)
{
    runs all = { .least = run, .most = run ? run : UINT64_MAX };
    maki_status st = maki_log_each_event(maki_conv_log(conv), gather, &all, err);
    while (st == MAKI_OK && all.count == 0 && all.left_out) { /* those behind it were taken back */
        all = (runs){ .least = run, .most = all.left_out };
        st = maki_log_each_event(maki_conv_log(conv), gather, &all, err);
    }
    if (st != MAKI_OK) return st;
    if (all.count) {
        *out = all.at[all.count - 1];
        return MAKI_OK;
    }
    if (run == 0) return maki_refuse(err, "NOTHING_TO_DO", "there is no run to take back");
    return maki_refuse(err, "NOTHING_TO_DO",
                       "event %" PRIu64 " is not the note of a run, or that was taken back", run);
}

maki_status maki_past_undo(maki_conv *conv, uint64_t run, maki_past_undone *out, maki_err *err)
{
    char fields[FIELDS_MOST];
    maki_change change;
    maki_view_totals before = { 0 }, after = { 0 };
    note found = { 0 };
    *out = (maki_past_undone){ 0 };
    maki_status st = find_run(conv, run, &found, err);
    if (st == MAKI_OK) st = maki_conv_total_now(conv, &before, err);
    if (st == MAKI_OK)
        st = maki_past_take_back(conv, found.first - 1, found.last, &out->events, err);
    if (st == MAKI_OK) st = maki_conv_total_now(conv, &after, err);
    if (st != MAKI_OK) return st;
    out->run = found.ev;
    out->tokens_before = (double)before.tokens;
    out->tokens_after = (double)after.tokens;
    /* as failed: what a person took back is not done again at once */
    snprintf(fields, sizeof fields,
             "\"of\":\"manage\",\"undone\":%" PRIu64 ",\"tokensAfter\":%.0f,\"failed\":true",
             found.ev, out->tokens_after);
    return maki_conv_note(conv, "manifest", maki_str_of(fields), &change, err);
}
