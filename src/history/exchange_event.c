/* exchange_event.c -- write the events of an exchange with a provider, and read what the newest ones say.
 *
 * In:    the fields of an exchange or of its usage; for reading, a log and a model.
 * Out:   the fields in an open JSON object; the calibration, window and token counts that later requests start from.
 * Must stay true: the newest event wins, whoever wrote it, so that processes that share a log agree. */
#include "history/exchange_event.h"

#include <stdio.h>

#include "base/json_access.h"
#include "base/str_util.h"

void maki_exchange_event_write(maki_jw *w, const maki_exchange_event *e)
{
    maki_jw_print(w,
                  "'of':'exchange','protocol':%z,'upstream':%z,'path':%z,'model':%z,'body':%z,"
                  "'bytes':%i",
                  maki_protocol_name(e->protocol), e->upstream, e->path, e->model, e->body,
                  e->bytes);
    if (e->write_spans) e->write_spans(w, e->ctx);
    maki_jw_print(w, "'systemTokens':%i,'toolTokens':%i", e->system_tokens, e->tool_tokens);
    if (e->write_bootstrap) e->write_bootstrap(w, e->ctx);
    maki_jw_print(w,
                  "'messageTokens':%i,'status':%i,'end':%z,'stop':%v,'stop':%z,'requestId':%z,"
                  "'error':%v,'error':%z,'window':%I,'firstMs':%i,'ms':%i",
                  e->message_tokens, (int64_t)e->status, e->end, e->stop, e->stop_reason_text,
                  e->request_id, e->error, e->error_code, e->window, e->first_ms, e->ms);
}

void maki_usage_event_write(maki_jw *w, const maki_usage_event *e)
{
    const maki_wire_usage *u = e->usage;
    maki_jw_print(w,
                  "'model':%z,'input':%i,'output':%i,'cacheRead':%i,'cacheWrite':%i,"
                  "'reasoning':%i",
                  e->model, u->input, u->output, u->cache_read, u->cache_write, u->reasoning);
    maki_jw_print(w, "'window':%I,'windowFrom':%z", e->window, e->window_from);
    if (e->cost) maki_jw_print(w, "'cost':%f", *e->cost);
    if (!e->calibration) return;
    maki_jw_print(w, "'counted':%i,'calibration':", e->counted);
    maki_calibration_write(w, e->calibration);
}

void maki_provider_error_event_write(maki_jw *w, const maki_provider_error_event *e)
{
    maki_jw_print(w, "'upstream':%z,'model':%z,'status':%I,'code':%z,'requestId':%z,'message':%z",
                  e->upstream, e->model, (int64_t)e->status, e->code, e->request_id, e->message);
}

/* ---- reading the newest state ------------------------------------------------------------------------------------ */

enum {
    TAIL_BYTES = 64 << 10 /* of the end of the events file, read first: nearly always enough */
};

typedef struct state_reader {
    maki_exchange_state *out;
    const char *upstream; /* "": any */
    bool model_only;      /* true: only find the model of the newest usage */
    bool found;           /* an exchange was found */
} state_reader;

static void read_usage(state_reader *r, maki_str event)
{
    maki_exchange_state *out = r->out;
    maki_str value;
    maki_calibration calibration;
    r->found = true;
    if (r->model_only) maki_json_text_field(event, "model", out->model, sizeof out->model);
    if (r->model_only || !maki_json_field_is(event, "model", out->model)) return;
    if (maki_json_get(event, MAKI_LIT("calibration"), &value) &&
        maki_calibration_parse(value, &calibration))
        out->calibration = calibration;
    if (maki_json_number_field(event, "window") >
        0) /* others are looked up again, with today's settings */
        out->window = maki_json_field_is(event, "windowFrom", "provider")
                          ? maki_json_number_field(event, "window")
                          : 0;
    if (maki_json_number_field(event, "input") > out->reported_window) out->reported_window = 0;
}

/* A window that a provider's error named is effective until a larger request was accepted. */
static void read_exchange(state_reader *r, maki_str event)
{
    maki_exchange_state *out = r->out;
    bool same_upstream = !r->upstream[0] || maki_json_field_is(event, "upstream", r->upstream);
    r->found = true;
    out->system = maki_json_number_field(event, "systemTokens");
    out->tools = maki_json_number_field(event, "toolTokens");
    if (same_upstream && maki_json_number_field(event, "window") > 0 &&
        maki_json_field_is(event, "model", out->model))
        out->reported_window = maki_json_number_field(event, "window");
}

/* The hash and the token counts of the newest system prompt. */
static void read_system(state_reader *r, maki_str event)
{
    maki_exchange_state *out = r->out;
    maki_str tokens;
    out->has_sha = true;
    maki_json_text_field(event, "sha", out->sha, sizeof out->sha);
    if (maki_json_get(event, MAKI_LIT("tokens"), &tokens))
        out->system = maki_json_number_field(event, "tokens");
    if (maki_json_get(event, MAKI_LIT("toolTokens"), &tokens))
        out->tools = maki_json_number_field(event, "toolTokens");
}

static maki_status read_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    state_reader *r = ctx;
    maki_str event;
    (void)ev;
    (void)at;
    (void)err;
    bool relevant = maki_str_contains(row, MAKI_LIT("\"usage\"")) ||
                    (!r->model_only && (maki_str_contains(row, MAKI_LIT("\"exchange\"")) ||
                                        maki_str_contains(row, MAKI_LIT("\"system\""))));
    if (!relevant || maki_json_check(row, &event, NULL) != MAKI_OK) return MAKI_OK;
    if (maki_json_field_is(event, "type", "usage")) read_usage(r, event);
    if (r->model_only) return MAKI_OK;
    if (maki_json_field_is(event, "type", "system")) read_system(r, event);
    if (maki_json_field_is(event, "of", "exchange")) read_exchange(r, event);
    return MAKI_OK;
}

/* Read the newest events; if there is no exchange among them, all events. */
static maki_status read_events(maki_log *log, state_reader *r, maki_err *err)
{
    maki_buf rows = maki_buf_new(maki_log_env(log)->alloc, TAIL_BYTES);
    maki_status st = maki_log_newest_events(log, TAIL_BYTES, &rows, err);
    maki_str rest = maki_buf_str(&rows), row;
    uint64_t seen = 0;
    while (st == MAKI_OK && rest.len) {
        maki_str_take(&rest, '\n', &row);
        st = read_event(r, ++seen, row, 0, err);
    }
    maki_buf_free(&rows);
    if (st != MAKI_OK || r->found || seen == maki_log_events(log)) return st;
    return maki_log_each_event(log, read_event, r, err);
}

maki_status maki_exchange_state_read(maki_log *log, maki_str model, const char *upstream,
                                     maki_exchange_state *out, maki_err *err)
{
    state_reader r = { .out = out, .upstream = upstream, .model_only = model.len == 0 };
    *out = (maki_exchange_state){ .window = 0 };
    snprintf(out->model, sizeof out->model, "%.*s", MAKI_PRINTED(model));
    maki_status st = r.model_only ? read_events(log, &r, err) : MAKI_OK;
    r.model_only = r.found = false;
    return st == MAKI_OK ? read_events(log, &r, err) : st;
}
