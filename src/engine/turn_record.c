/* turn_record.c -- append to the session of a turn: rows, and events about them.
 *
 * The events are those of the proxy (docs/internals/events.md): `manifest` {"of":"exchange"} for each request,
 * however it ended, and `usage`, which also has the calibration that the reply gave. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_builder.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "engine/turn_internal.h"
#include "history/exchange_event.h"
#include "wire/content_part.h"

/* ---- rows -------------------------------------------------------------------------------------------------- */

maki_status maki_turn_add_rows(maki_turn_state *w, const maki_str *rows, size_t count,
                               maki_err *err)
{
    maki_turn_result *r = w->result;
    maki_change change;
    maki_status st = maki_conv_append(w->conv, NULL, rows, count, &change, err);
    if (st != MAKI_OK) return st;
    r->rows += count;
    r->last = change.seq;
    for (size_t i = 0; st == MAKI_OK && w->callbacks->on_row && i < count; i++)
        st = w->callbacks->on_row(w->callbacks->ctx, change.seq - count + 1 + i, rows[i], err);
    return st;
}

void maki_turn_row_begin(const maki_turn_state *w, maki_turn_row *row, maki_err *err)
{
    row->spool = maki_spool_new(w->options->env, MAKI_SPOOL_MEMORY);
    maki_jw_init(&row->w, maki_spool_sink(&row->spool), err);
}

maki_status maki_turn_row_end(maki_turn_state *w, maki_turn_row *row, const char *end,
                              maki_status st, maki_err *err)
{
    const maki_clock *clock = w->options->env->clock;
    const char *model = w->result->sent.model;
    maki_str text;
    maki_jw_print(&row->w, "'createdAt':%i", clock->now_ms(clock));
    if (end)
        maki_jw_print(&row->w, "'meta':{'model':%z,'end':%z}", model[0] ? model : w->result->model,
                      end);
    maki_jw_end_object(&row->w);
    maki_status written = maki_jw_end(&row->w);
    if (st == MAKI_OK) st = written;
    if (st == MAKI_OK) st = maki_spool_text(&row->spool, &text, err);
    if (st == MAKI_OK) st = maki_turn_add_rows(w, &text, 1, err);
    maki_spool_free(&row->spool);
    return st;
}

maki_status maki_turn_add_text(maki_turn_state *w, maki_str text, maki_err *err)
{
    maki_turn_row row;
    maki_turn_row_begin(w, &row, err);
    maki_jw_print(&row.w, "{'role':'user','content':%s", text);
    return maki_turn_row_end(w, &row, NULL, MAKI_OK, err);
}

/* A row of the reply as it came, with the time and the model added. */
static maki_status add_complete(maki_turn_state *w, maki_str row, maki_err *err)
{
    maki_turn_row out;
    maki_turn_row_begin(w, &out, err);
    maki_jw_begin_object(&out.w);
    maki_jw_begin_value(&out.w);
    maki_jw_bytes(&out.w, maki_str_prefix(maki_str_skip(row, 1), row.len - 2));
    return maki_turn_row_end(w, &out, "", MAKI_OK, err);
}

/* ---- a truncated reply ------------------------------------------------------------------------------- */

static const char *end_line(const char *end)
{
    if (strcmp(end, "cancelled") == 0) return "[The answer ends here: it was stopped]";
    if (strcmp(end, "length") == 0) return "[The answer ends here: it reached its limit of tokens]";
    return "[The answer ends here: it was cut off]";
}

static maki_status add_escaped(void *ctx, maki_str bytes, maki_err *err)
{
    maki_jw *out = ctx;
    (void)err;
    maki_jw_escape(out, bytes);
    return out->status;
}

/* Append the text of a row to the open string; *any: there was some.  It may end within an escaped character. */
static maki_status write_text(maki_jw *out, maki_str row, bool *has_text, maki_err *err)
{
    maki_content_parts parts = maki_content_parts_of_row(row);
    maki_content_part part;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && maki_content_parts_next(&parts, &part)) {
        if (part.kind != MAKI_CONTENT_TEXT || maki_is_blank(part.text)) continue;
        *has_text = true;
        st = maki_json_unescape_to(maki_json_strip_quotes(part.text),
                                   (maki_sink){ add_escaped, out }, err);
    }
    return st;
}

/* Only the text: an incomplete call cannot be run, and incomplete reasoning cannot be sent again.  The line at its end
 * marks it as incomplete in every later request. */
static maki_status add_truncated(maki_turn_state *w, maki_str row, maki_err *err)
{
    maki_turn_row out;
    bool has_text = false;
    maki_turn_row_begin(w, &out, err);
    maki_jw_print(&out.w, "{'role':'assistant','content':");
    maki_jw_begin_value(&out.w);
    maki_jw_bytes(&out.w, MAKI_LIT("\""));
    maki_status st = write_text(&out.w, row, &has_text, err);
    maki_jw_escape(&out.w, MAKI_LIT("\n\n"));
    maki_jw_escape(&out.w, maki_str_of(end_line(w->end)));
    maki_jw_bytes(&out.w, MAKI_LIT("\""));
    if (st != MAKI_OK || has_text) return maki_turn_row_end(w, &out, w->end, st, err);
    maki_spool_free(&out.spool); /* there was no text */
    return MAKI_OK;
}

/* How the request ended: the values of the proxy, and "cancelled", "length". */
static const char *end_of(const maki_turn_state *w, maki_status st)
{
    const maki_send_result *sent = &w->result->sent;
    if (st == MAKI_CANCELLED) return "cancelled";
    if (st != MAKI_OK) return sent->http_status >= 300 ? "error" : "cut";
    return sent->stop == MAKI_STOP_LENGTH && sent->calls ? "length" : "complete";
}

/* ---- events -------------------------------------------------------------------------------------------------- */

maki_status maki_turn_add_event(maki_turn_state *w, const char *type, maki_json_builder *fields,
                                maki_err *err)
{
    maki_str object;
    maki_change change;
    maki_jw_end_object(&fields->w);
    maki_status st = maki_json_builder_end(fields, &w->arena, &object, err);
    if (st != MAKI_OK) return st;
    return maki_conv_add_event(w->conv, type, maki_json_strip_quotes(object), &change, err);
}

/* The outcome for each bootstrap file that was requested. */
static void write_bootstrap(maki_jw *out, const void *ctx)
{
    const maki_turn_result *r = ctx;
    uint64_t trimmed = 0;
    maki_jw_print(out, "'bootstrap':[");
    for (size_t i = 0; i < MAKI_BOOTSTRAP_COUNT; i++) {
        const maki_bootstrap_report *report = &r->bootstrap[i];
        if (report->state == MAKI_BOOTSTRAP_NOT_REQUESTED) continue;
        trimmed += report->state == MAKI_BOOTSTRAP_TRIMMED;
        maki_jw_print(out, "{'file':%z,'state':%z,'chars':%I,'bytes':%I,'why':%z}", report->name,
                      maki_bootstrap_state_name(report->state), report->units, report->bytes,
                      report->why);
    }
    maki_jw_print(out, "],'trimmed':%i", trimmed);
}

static maki_status add_exchange(maki_turn_state *w, const maki_err *why, maki_err *err)
{
    const maki_turn_result *r = w->result;
    const maki_send_result *sent = &r->sent;
    maki_json_builder fields;
    maki_json_builder_begin(&fields, &w->arena, err);
    maki_jw_begin_object(&fields.w);
    maki_exchange_event_write(
        &fields.w,
        &(maki_exchange_event){ .protocol = w->turns->provider.protocol,
                                .upstream = w->turns->provider.name,
                                .model = r->model,
                                .bytes = w->body.size,
                                .write_bootstrap = r->has_bootstrap ? write_bootstrap : NULL,
                                .ctx = r,
                                .system_tokens = w->system_tokens,
                                .tool_tokens = w->tool_tokens,
                                .message_tokens = (uint64_t)(w->counted - maki_turn_other(w)),
                                .status = sent->http_status,
                                .end = w->end,
                                .stop_reason_text = sent->stop_reason,
                                .request_id = sent->request_id,
                                .error_code = why ? why->code : NULL,
                                .window = sent->window,
                                .first_ms = sent->first_ms > 0 ? sent->first_ms : 0,
                                .ms = sent->total_ms });
    return maki_turn_add_event(w, "manifest", &fields, err);
}

static maki_status add_usage_event(maki_turn_state *w, maki_err *err)
{
    const maki_send_result *sent = &w->result->sent;
    maki_json_builder fields;
    if (!sent->usage.known) return MAKI_OK;
    maki_json_builder_begin(&fields, &w->arena, err);
    maki_jw_begin_object(&fields.w);
    maki_usage_event_write(
        &fields.w, &(maki_usage_event){ .model = w->result->model,
                                        .usage = &sent->usage,
                                        .cost = sent->has_cost ? &sent->cost : NULL,
                                        .calibration = sent->calibrated ? &w->calibration : NULL,
                                        .counted = (uint64_t)w->counted,
                                        .window = (uint64_t)w->limits.window,
                                        .window_from = w->limits.window_from });
    return maki_turn_add_event(w, "usage", &fields, err);
}

static maki_status add_provider_error(maki_turn_state *w, const maki_err *why, maki_err *err)
{
    const maki_send_result *sent = &w->result->sent;
    maki_json_builder fields;
    maki_json_builder_begin(&fields, &w->arena, err);
    maki_jw_begin_object(&fields.w);
    maki_provider_error_event_write(
        &fields.w, &(maki_provider_error_event){ .upstream = w->turns->provider.name,
                                                 .model = w->result->model,
                                                 .status = sent->http_status,
                                                 .code = why->code,
                                                 .request_id = sent->request_id,
                                                 .message = sent->message });
    return maki_turn_add_event(w, "provider_error", &fields, err);
}

static void sum_usage(maki_turn_result *r)
{
    const maki_send_result *sent = &r->sent;
    r->attempts += 1 + sent->retried;
    r->usage.known |= sent->usage.known;
    r->usage.input += sent->usage.input;
    r->usage.output += sent->usage.output;
    r->usage.cache_read += sent->usage.cache_read;
    r->usage.cache_write += sent->usage.cache_write;
    r->usage.reasoning += sent->usage.reasoning;
    r->has_cost |= sent->has_cost;
    if (sent->has_cost) r->cost += sent->cost;
}

/* The stop reason: CALLS for a reply with calls when the server gives none, never for a reply without them. */
static maki_stop stop_of(const maki_send_result *sent)
{
    if (sent->stop == MAKI_STOP_CALLS && !sent->calls) return MAKI_STOP_END;
    bool reason_given = sent->stop != MAKI_STOP_NONE && sent->stop != MAKI_STOP_OTHER;
    return reason_given || !sent->calls ? sent->stop : MAKI_STOP_CALLS;
}

maki_status maki_turn_record(maki_turn_state *w, maki_status st, const maki_err *why, maki_err *err)
{
    const maki_send_result *sent = &w->result->sent;
    w->end = end_of(w, st);
    bool complete = strcmp(w->end, "complete") == 0;
    w->result->stop = stop_of(sent);
    w->result->truncated = !complete && w->reply.size > 0;
    sum_usage(w->result);
    maki_status done = maki_turn_each_reply(w, complete ? add_complete : add_truncated, err);
    if (done == MAKI_OK) done = add_exchange(w, st == MAKI_OK ? NULL : why, err);
    if (done == MAKI_OK && sent->failed) done = add_provider_error(w, why, err);
    return done == MAKI_OK ? add_usage_event(w, err) : done;
}

/* ---- from earlier turns ------------------------------------------------------------------------------------------- */

maki_status maki_turn_read_state(maki_turn_state *w, maki_err *err)
{
    maki_exchange_state recalled;
    maki_status st = maki_exchange_state_read(maki_conv_log(w->conv), w->model,
                                              w->turns->provider.name, &recalled, err);
    w->calibration = recalled.calibration;
    w->reported_window = recalled.reported_window;
    if (recalled.has_sha) memcpy(w->turns->system_sha, recalled.sha, MAKI_SYSTEM_SHA);
    return st;
}
