/* message_writer.c -- order rows for a protocol: results right after their calls, other rows after the call round.
 *
 * While calls wait for their results, other rows are deferred.  A call round (parallel calls and their results) ends,
 * with synthetic results for the calls without one, when the next calls come, when too many rows are deferred, or at the
 * end of the log. */
#include "wire/protocol.h"

#include <stdio.h>

#include "base/err.h"

enum {
    DEFERRED_MAX = 64,           /* rows deferred between a call and its result */
    SPOOL_MEMORY = 1 << 20,      /* bytes of each spool in memory */
    CALL_ROUND_MEMORY = 32 << 20 /* bytes for the ids of one call round */
};

static const maki_str empty = { "", 0 };

/* ---- open and close ---------------------------------------------------------------------------------------------- */

maki_status maki_wire_writer_open(const maki_env *env, const maki_wire_writer_options *options,
                                  maki_jw *w, maki_wire_writer **out, maki_err *err)
{
    const maki_request_format *request_format = maki_protocol_of(options->protocol)->request_format;
    if (!request_format)
        return maki_fail(err, MAKI_UNSUPPORTED,
                         "writing requests in protocol '%s' is not supported",
                         maki_protocol_name(options->protocol));
    maki_wire_writer *wr = env->alloc->resize(env->alloc, NULL, 0, sizeof *wr);
    if (!wr) return maki_fail_nomem(err);
    *wr = (maki_wire_writer){ .env = env,
                              .options = *options,
                              .request_format = request_format,
                              .format = &request_format->format,
                              .w = w };
    wr->arena = maki_arena_new(env->alloc, CALL_ROUND_MEMORY);
    maki_spool *spools[] = { &wr->early, &wr->deferred,  &wr->content,
                             &wr->calls, &wr->reasoning, &wr->images };
    for (size_t i = 0; i < sizeof spools / sizeof spools[0]; i++)
        *spools[i] = maki_spool_new(env, SPOOL_MEMORY);
    *out = wr;
    return MAKI_OK;
}

void maki_wire_writer_close(maki_wire_writer *wr)
{
    if (!wr) return;
    maki_spool *spools[] = { &wr->early, &wr->deferred,  &wr->content,
                             &wr->calls, &wr->reasoning, &wr->images };
    for (size_t i = 0; i < sizeof spools / sizeof spools[0]; i++)
        maki_spool_free(spools[i]);
    maki_arena_free(&wr->arena);
    wr->env->alloc->resize(wr->env->alloc, wr, sizeof *wr, 0);
}

/* ---- spools -------------------------------------------------------------------------------------------- */

void maki_writer_add_text(maki_wire_writer *wr, maki_spool *spool, bool first, maki_str string)
{
    if (!first) maki_sticky_spool_add(&wr->failure, spool, MAKI_LIT("\\n"));
    maki_sticky_spool_add(&wr->failure, spool, maki_json_strip_quotes(string));
}

void maki_writer_write_items(maki_wire_writer *wr, const char *name, maki_spool *spool)
{
    maki_str items = maki_sticky_spool_text(&wr->failure, spool);
    if (items.len) {
        maki_jw_key(wr->w, maki_str_of(name));
        maki_jw_print(wr->w, "[%v]", maki_str_prefix(items, items.len - 1));
    }
    maki_spool_clear(spool);
}

void maki_writer_clear_message(maki_wire_writer *wr)
{
    maki_spool_clear(&wr->content);
    maki_spool_clear(&wr->reasoning);
    wr->part_count = 0;
    wr->content_is_string = false;
    wr->reasoning_field = empty;
}

static bool has_pending(const maki_wire_writer *wr)
{
    return wr->next < wr->pending_count;
}

/* ---- merged messages ----------------------------------------------------------------------------------- */

static void end_message(maki_wire_writer *wr)
{
    if (wr->open_author != MAKI_AUTHOR_NONE) wr->format->end(wr);
    wr->open_author = MAKI_AUTHOR_NONE;
    wr->message_is_string = false;
}

void maki_writer_begin(maki_wire_writer *wr, maki_author author)
{
    const maki_content_parts beginning = {
        .author = MAKI_AUTHOR_USER,
        .single = MAKI_LIT("\"[The conversation goes on from here]\""),
    };
    bool first = !wr->any_message;
    wr->any_message = true;
    if (wr->open_author == author) return;
    if (first && author == MAKI_AUTHOR_ASSISTANT && !wr->options.no_synthetic)
        wr->format->write_row(wr, &beginning, MAKI_AUTHOR_USER);
    end_message(wr);
    wr->open_author = author;
    wr->format->begin(wr, author);
}

/* ---- calls --------------------------------------------------------------------------------------------- */

static void begin_call_round(maki_wire_writer *wr)
{
    if (wr->collecting) return;
    maki_arena_free(&wr->arena);
    wr->arena = maki_arena_new(wr->env->alloc, CALL_ROUND_MEMORY);
    wr->pending = NULL;
    wr->pending_count = wr->pending_capacity = wr->next = 0;
    maki_spool_clear(&wr->early);
    maki_spool_clear(&wr->calls);
    wr->collecting = true;
    wr->call_rounds++;
}

/* The synthetic id of a call without one, as in reading (json_row.h). */
static maki_str synthetic_id(maki_wire_writer *wr, maki_str name)
{
    unsigned same_name_count = 0;
    for (size_t i = 0; i < wr->pending_count; i++)
        same_name_count += maki_json_same_text(wr->pending[i].name, name);
    maki_str inside = maki_json_strip_quotes(name);
    return maki_arena_print(&wr->arena, "\"call_%.*s_%u\"", (int)inside.len, inside.ptr,
                            same_name_count);
}

static bool is_id_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* Adapt an id to the protocol.  Where ids must be unique, synthetic ids, which restart in every message, get the
 * number of the call round appended. */
static maki_str adapt_call_id(maki_wire_writer *wr, maki_str id, maki_str name)
{
    const maki_request_format *format = wr->request_format;
    maki_str inside = maki_json_strip_quotes(id), tool = maki_json_strip_quotes(name),
             prefix = MAKI_LIT("call_");
    char suffix[32] = "\"";
    if (format->ids_unique && maki_str_starts(inside, prefix) &&
        maki_str_starts(maki_str_skip(inside, prefix.len), tool))
        snprintf(suffix, sizeof suffix, "_%llu\"", (unsigned long long)wr->call_rounds);
    size_t len = 1 + inside.len + strlen(suffix);
    char *adapted = maki_arena_get(&wr->arena, len);
    if (!adapted) return empty;
    adapted[0] = '"';
    for (size_t i = 0; i < inside.len; i++)
        adapted[1 + i] =
            !format->ids_alphanumeric || is_id_char(inside.ptr[i]) ? inside.ptr[i] : '_';
    memcpy(adapted + 1 + inside.len, suffix, strlen(suffix));
    maki_str out = { adapted, len };
    if (!format->id_max || len - 2 <= format->id_max) return out;
    return maki_arena_print(&wr->arena, "\"call_%016llx\"",
                            (unsigned long long)maki_json_text_hash(out));
}

maki_pending_call *maki_writer_add_call(maki_wire_writer *wr, maki_content_part *call)
{
    begin_call_round(wr);
    if (call->name.len == 0) call->name = MAKI_LIT("\"tool\"");
    if (call->id.len <= 2) call->id = synthetic_id(wr, call->name);
    maki_pending_call *grown = maki_arena_grow(&wr->arena, wr->pending, wr->pending_count,
                                               &wr->pending_capacity, sizeof(maki_pending_call));
    if (!grown) return NULL;
    wr->pending = grown;
    maki_pending_call *pending = &wr->pending[wr->pending_count];
    *pending = (maki_pending_call){ 0 };
    pending->id = adapt_call_id(wr, call->id, call->name);
    pending->original_id = maki_arena_copy(&wr->arena, call->id);
    pending->name = maki_arena_copy(&wr->arena, call->name);
    pending->type = maki_arena_copy(&wr->arena, maki_json_string(call->original, "type"));
    if (maki_arena_status(&wr->arena, NULL) != MAKI_OK) return NULL;
    wr->pending_count++;
    return pending;
}

/* ---- results ------------------------------------------------------------------------------------------- */

/* Find the call of a result: by id, else by name, else the next.  NULL: none in this call round. */
static maki_pending_call *find_call(maki_wire_writer *wr, const maki_content_part *result)
{
    for (size_t i = 0; i < wr->pending_count; i++) {
        size_t index = (wr->next + i) % wr->pending_count; /* results mostly come in order */
        maki_pending_call *pending = &wr->pending[index];
        if (result->id.len > 2) {
            if (maki_json_same_text(pending->original_id, result->id)) return pending;
        } else if (!pending->answered) {
            if (!result->name.len || maki_json_same_text(pending->name, result->name))
                return pending;
        }
    }
    return NULL;
}

static void end_calls(maki_wire_writer *wr)
{
    if (wr->collecting && wr->format->end_calls) wr->format->end_calls(wr);
    wr->collecting = false;
}

static void before_result(maki_wire_writer *wr, const maki_pending_call *pending)
{
    wr->any_message = true;
    end_calls(wr);
    if (wr->format->merges) maki_writer_begin(wr, MAKI_AUTHOR_USER);
    if (wr->format->before_result) wr->format->before_result(wr, pending);
}

/* Write the results that arrived early and are next in order. */
static void flush_early(maki_wire_writer *wr)
{
    while (has_pending(wr) && wr->pending[wr->next].answered) {
        maki_pending_call *pending = &wr->pending[wr->next];
        maki_str early = maki_sticky_spool_text(&wr->failure, &wr->early);
        if (early.len == 0) return;
        before_result(wr, pending);
        maki_jw_raw(wr->w,
                    (maki_str){ early.ptr + pending->early_offset, (size_t)pending->early_len });
        wr->next++;
    }
}

static void store_early(maki_wire_writer *wr, maki_pending_call *pending,
                        const maki_content_part *result)
{
    maki_jw w;
    maki_sticky_jw_begin(&wr->failure, maki_spool_sink(&wr->early), &w);
    pending->early_offset = wr->early.size;
    wr->format->write_result(wr, &w, pending, result);
    maki_sticky_jw_end(&wr->failure, &w, empty);
    pending->early_len = wr->early.size - pending->early_offset;
}

static void write_result(maki_wire_writer *wr, maki_pending_call *pending,
                         const maki_content_part *result)
{
    if (pending->answered) return; /* a duplicate */
    pending->answered = true;
    if (pending != &wr->pending[wr->next]) {
        store_early(wr, pending, result);
        return;
    }
    before_result(wr, pending);
    wr->format->write_result(wr, wr->w, pending, result);
    wr->next++;
    flush_early(wr);
}

/* Write the results in a row; true: it has other parts. */
static bool write_results(maki_wire_writer *wr, const maki_content_parts *row)
{
    maki_content_parts parts = *row;
    maki_content_part part;
    bool has_other_parts = false;
    while (maki_content_parts_next(&parts, &part)) {
        maki_pending_call *pending = part.kind == MAKI_CONTENT_RESULT ? find_call(wr, &part) : NULL;
        if (pending)
            write_result(wr, pending, &part);
        else
            has_other_parts = true;
    }
    return has_other_parts;
}

/* End the call round: the remaining calls get a synthetic result, unless no_synthetic. */
static void end_call_round(maki_wire_writer *wr)
{
    static const maki_content_part interrupted = {
        .kind = MAKI_CONTENT_RESULT,
        .content = { "\"[No result: the call was interrupted]\"", 39 },
    };
    flush_early(wr);
    while (has_pending(wr) && wr->failure.status == MAKI_OK) {
        if (wr->options.no_synthetic) {
            wr->pending[wr->next].answered = true;
            wr->next++;
        } else {
            write_result(wr, &wr->pending[wr->next], &interrupted);
        }
        flush_early(wr);
    }
    end_calls(wr);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

maki_row_parts maki_row_parts_of(maki_wire_writer *wr, const maki_content_parts *row)
{
    return (maki_row_parts){ .wr = wr, .row = *row };
}

bool maki_row_parts_next(maki_row_parts *iter, maki_content_part *out)
{
    for (;;) {
        if (iter->in_result && maki_content_parts_next(&iter->result, out)) return true;
        iter->in_result = false;
        if (!maki_content_parts_next(&iter->row, out)) return false;
        if (out->kind != MAKI_CONTENT_RESULT) return true;
        if (find_call(iter->wr, out)) continue;
        iter->result = maki_content_parts_of_content(out->content);
        iter->in_result = true;
    }
}

static void write_row(maki_wire_writer *wr, const maki_content_parts *row)
{
    maki_author author = row->author;
    if (author == MAKI_AUTHOR_NONE) return;
    if (author == MAKI_AUTHOR_SYSTEM &&
        wr->request_format->system_location == MAKI_SYSTEM_SEPARATE) {
        if (!wr->any_message) return; /* it is written by maki_wire_write_system */
        author = MAKI_AUTHOR_USER;
    }
    wr->format->write_row(wr, row, author);
}

static void defer(maki_wire_writer *wr, maki_str row)
{
    maki_sink sink = maki_row_sink(&wr->deferred);
    if (wr->failure.status == MAKI_OK)
        wr->failure.status = sink.write(sink.ctx, row, wr->failure.err);
    maki_sticky_spool_add(&wr->failure, &wr->deferred, MAKI_LIT("\n"));
    wr->deferred_count++;
}

/* Write the rows between a call and its result. */
static void flush_deferred(maki_wire_writer *wr)
{
    maki_str rows =
        wr->deferred_count ? maki_sticky_spool_text(&wr->failure, &wr->deferred) : empty;
    while (rows.len) {
        maki_content_parts row = maki_content_parts_of_row(maki_str_cut(&rows, '\n'));
        write_row(wr, &row);
    }
    maki_spool_clear(&wr->deferred);
    wr->deferred_count = 0;
}

static void add_row(maki_wire_writer *wr, maki_str json)
{
    const maki_content_parts row = maki_content_parts_of_row(json);
    bool same_call_round =
        row.author == MAKI_AUTHOR_ASSISTANT && wr->collecting && wr->deferred_count == 0;
    if (!has_pending(wr) || same_call_round) {
        write_row(wr, &row);
        return;
    }
    if (maki_content_parts_has_call(&row) || wr->deferred_count == DEFERRED_MAX) {
        end_call_round(wr);
        flush_deferred(wr);
        write_row(wr, &row);
        return;
    }
    if (write_results(wr, &row)) defer(wr, json);
    if (!has_pending(wr)) flush_deferred(wr);
}

static maki_status current_status(maki_wire_writer *wr, maki_err *err)
{
    if (wr->failure.status != MAKI_OK) return wr->failure.status;
    if (wr->w->status != MAKI_OK) return wr->w->status;
    return maki_arena_status(&wr->arena, err);
}

maki_status maki_wire_writer_add(maki_wire_writer *wr, maki_str row, maki_err *err)
{
    wr->failure.err = err;
    add_row(wr, row);
    return current_status(wr, err);
}

maki_status maki_wire_writer_end(maki_wire_writer *wr, bool *any, maki_err *err)
{
    wr->failure.err = err;
    end_call_round(wr);
    flush_deferred(wr);
    end_message(wr);
    *any = wr->any_message;
    return current_status(wr, err);
}

/* ---- the system prompt ---------------------------------------------------------------------------------- */

bool maki_wire_is_system(maki_str row)
{
    return maki_content_parts_of_row(row).author == MAKI_AUTHOR_SYSTEM;
}

bool maki_wire_system_is_separate(maki_protocol protocol)
{
    const maki_request_format *format = maki_protocol_of(protocol)->request_format;
    return format && format->system_location == MAKI_SYSTEM_SEPARATE;
}

void maki_wire_write_system(maki_jw *w, maki_protocol protocol, maki_str row)
{
    bool blocks = maki_protocol_of(protocol)->request_format->system_blocks;
    maki_content_parts parts = maki_content_parts_of_row(row);
    maki_content_part part;
    while (maki_content_parts_next(&parts, &part)) {
        if (part.kind != MAKI_CONTENT_TEXT || maki_is_blank(part.text)) continue;
        if (blocks)
            maki_jw_print(w, "{'type':'text','text':%v,'cache_control':%v}", part.text, part.cache);
        else
            maki_jw_print(w, "{'text':%v}", part.text);
    }
}
