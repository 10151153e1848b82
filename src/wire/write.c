/* write.c -- the order of what is written; see write.h.
 *
 * While calls wait for their results, only results pass: whatever else comes is held and follows them.
 * A turn is given up, and its missing results made, when the next calls come, when too much was held, or
 * at the end. */
#include "wire/protocol.h"

#include <stdio.h>

#include "base/err.h"

enum {
    HELD_MAX = 64,            /* rows that may stand between a call and its result */
    WAITING_MEMORY = 1 << 20, /* of each spool */
    TURN_MAX = 32 << 20       /* memory for the ids of one turn */
};

static const maki_str none = { "", 0 };

/* ---- life ---------------------------------------------------------------------------------------------- */

maki_status maki_wire_writer_open(const maki_env *env, const maki_wire_style *style, maki_jw *w,
                                  maki_wire_writer **out, maki_err *err)
{
    const maki_protocol_writing *writing = maki_protocol_of(style->protocol)->writing;
    if (!writing)
        return maki_fail(err, MAKI_UNSUPPORTED, "no request is written in the protocol '%s'",
                         maki_protocol_name(style->protocol));
    maki_wire_writer *wr = env->alloc->resize(env->alloc, NULL, 0, sizeof *wr);
    if (!wr) return maki_fail_nomem(err);
    *wr = (maki_wire_writer){
        .env = env, .style = *style, .writing = writing, .shape = &writing->shape, .w = w
    };
    wr->arena = maki_arena_new(env->alloc, TURN_MAX);
    maki_spool *spools[] = { &wr->early, &wr->held, &wr->content, &wr->calls, &wr->thoughts };
    for (size_t i = 0; i < sizeof spools / sizeof spools[0]; i++)
        *spools[i] = maki_spool_new(env, WAITING_MEMORY);
    *out = wr;
    return MAKI_OK;
}

void maki_wire_writer_close(maki_wire_writer *wr)
{
    if (!wr) return;
    maki_spool *spools[] = { &wr->early, &wr->held, &wr->content, &wr->calls, &wr->thoughts };
    for (size_t i = 0; i < sizeof spools / sizeof spools[0]; i++)
        maki_spool_free(spools[i]);
    maki_arena_free(&wr->arena);
    wr->env->alloc->resize(wr->env->alloc, wr, sizeof *wr, 0);
}

/* ---- what waits ---------------------------------------------------------------------------------------- */

void maki_writer_add_text(maki_wire_writer *wr, maki_spool *spool, bool first, maki_str string)
{
    if (!first) maki_sticky_add(&wr->failure, spool, MAKI_LIT("\\n"));
    maki_sticky_add(&wr->failure, spool, maki_json_inside(string));
}

void maki_writer_put_items(maki_wire_writer *wr, const char *name, maki_spool *spool)
{
    maki_str items = maki_sticky_text(&wr->failure, spool);
    if (items.len) {
        maki_jw_key(wr->w, maki_str_of(name));
        maki_jw_print(wr->w, "[%v]", maki_str_to(items, items.len - 1));
    }
    maki_spool_clear(spool);
}

static bool is_waiting(const maki_wire_writer *wr)
{
    return wr->next < wr->asked_count;
}

/* ---- messages that are open ---------------------------------------------------------------------------- */

static void end_message(maki_wire_writer *wr)
{
    if (wr->open != MAKI_BY_NOBODY) wr->shape->end(wr);
    wr->open = MAKI_BY_NOBODY;
    wr->lone = false;
}

void maki_writer_begin(maki_wire_writer *wr, maki_speaker by)
{
    const maki_content_parts beginning = {
        .by = MAKI_BY_USER,
        .single = MAKI_LIT("\"[The conversation goes on from here]\""),
    };
    bool first = !wr->any;
    wr->any = true;
    if (wr->open == by) return;
    if (first && by == MAKI_BY_ASSISTANT && !wr->style.as_it_is)
        wr->shape->say(wr, &beginning, MAKI_BY_USER);
    end_message(wr);
    wr->open = by;
    wr->shape->begin(wr, by);
}

/* ---- calls --------------------------------------------------------------------------------------------- */

static void begin_turn(maki_wire_writer *wr)
{
    if (wr->calling) return;
    maki_arena_free(&wr->arena);
    wr->arena = maki_arena_new(wr->env->alloc, TURN_MAX);
    wr->asked = NULL;
    wr->asked_count = wr->asked_capacity = wr->next = 0;
    maki_spool_clear(&wr->early);
    maki_spool_clear(&wr->calls);
    wr->calling = true;
    wr->turns++;
}

/* The id that a call without one gets, as in reading (json_row.h). */
static maki_str made_id(maki_wire_writer *wr, maki_str name)
{
    unsigned same = 0;
    for (size_t i = 0; i < wr->asked_count; i++)
        same += maki_json_same_text(wr->asked[i].name, name);
    maki_str inside = maki_json_inside(name);
    return maki_arena_print(&wr->arena, "\"call_%.*s_%u\"", (int)inside.len, inside.ptr, same);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* The id as the protocol takes it.  Where none may stand twice, made ids, which begin again in every message, get the
 * number of the turn. */
static maki_str own_id(maki_wire_writer *wr, maki_str id, maki_str name)
{
    const maki_protocol_writing *rule = wr->writing;
    maki_str inside = maki_json_inside(id), tool = maki_json_inside(name), made = MAKI_LIT("call_");
    char end[32] = "\"";
    if (rule->ids_once && maki_str_starts(inside, made) &&
        maki_str_starts(maki_str_from(inside, made.len), tool))
        snprintf(end, sizeof end, "_%llu\"", (unsigned long long)wr->turns);
    size_t len = 1 + inside.len + strlen(end);
    char *own = maki_arena_get(&wr->arena, len);
    if (!own) return none;
    own[0] = '"';
    for (size_t i = 0; i < inside.len; i++)
        own[1 + i] = !rule->ids_plain || is_plain(inside.ptr[i]) ? inside.ptr[i] : '_';
    memcpy(own + 1 + inside.len, end, strlen(end));
    maki_str out = { own, len };
    if (!rule->id_most || len - 2 <= rule->id_most) return out;
    return maki_arena_print(&wr->arena, "\"call_%016llx\"",
                            (unsigned long long)maki_json_text_hash(out));
}

maki_asked *maki_writer_asked(maki_wire_writer *wr, maki_content_part *call)
{
    begin_turn(wr);
    if (call->name.len == 0) call->name = MAKI_LIT("\"tool\"");
    if (call->id.len <= 2) call->id = made_id(wr, call->name);
    maki_asked *moved = maki_arena_grow(&wr->arena, wr->asked, wr->asked_count, &wr->asked_capacity,
                                        sizeof(maki_asked));
    if (!moved) return NULL;
    wr->asked = moved;
    maki_asked *asked = &wr->asked[wr->asked_count];
    *asked = (maki_asked){ 0 };
    asked->id = own_id(wr, call->id, call->name);
    asked->said_id = maki_arena_copy(&wr->arena, call->id);
    asked->name = maki_arena_copy(&wr->arena, call->name);
    asked->type = maki_arena_copy(&wr->arena, maki_member_string(call->original, MAKI_LIT("type")));
    if (maki_arena_status(&wr->arena, NULL) != MAKI_OK) return NULL;
    wr->asked_count++;
    return asked;
}

/* ---- results ------------------------------------------------------------------------------------------- */

/* The call that a result answers: by its id, else by its name, else the next.  NULL: none of this turn. */
static maki_asked *asked_by(maki_wire_writer *wr, const maki_content_part *result)
{
    for (size_t i = 0; i < wr->asked_count; i++) {
        size_t at = (wr->next + i) % wr->asked_count; /* they mostly come in order */
        maki_asked *asked = &wr->asked[at];
        if (result->id.len > 2) {
            if (maki_json_same_text(asked->said_id, result->id)) return asked;
        } else if (!asked->answered) {
            if (!result->name.len || maki_json_same_text(asked->name, result->name)) return asked;
        }
    }
    return NULL;
}

static void end_calls(maki_wire_writer *wr)
{
    if (wr->calling && wr->shape->called) wr->shape->called(wr);
    wr->calling = false;
}

static void before_result(maki_wire_writer *wr, const maki_asked *asked)
{
    wr->any = true;
    end_calls(wr);
    if (wr->shape->merges) maki_writer_begin(wr, MAKI_BY_USER);
    if (wr->shape->before_result) wr->shape->before_result(wr, asked);
}

/* The next ones are here already. */
static void write_early(maki_wire_writer *wr)
{
    while (is_waiting(wr) && wr->asked[wr->next].answered) {
        maki_asked *asked = &wr->asked[wr->next];
        maki_str early = maki_sticky_text(&wr->failure, &wr->early);
        if (early.len == 0) return;
        before_result(wr, asked);
        maki_jw_raw(wr->w, (maki_str){ early.ptr + asked->at, (size_t)asked->len });
        wr->next++;
    }
}

static void keep_early(maki_wire_writer *wr, maki_asked *asked, const maki_content_part *result)
{
    maki_jw w;
    maki_sticky_begin(&wr->failure, maki_spool_sink(&wr->early), &w);
    asked->at = wr->early.size;
    wr->shape->result(wr, &w, asked, result);
    maki_sticky_end(&wr->failure, &w, none);
    asked->len = wr->early.size - asked->at;
}

static void answer(maki_wire_writer *wr, maki_asked *asked, const maki_content_part *result)
{
    if (asked->answered) return; /* once is enough */
    asked->answered = true;
    if (asked != &wr->asked[wr->next]) {
        keep_early(wr, asked, result);
        return;
    }
    before_result(wr, asked);
    wr->shape->result(wr, wr->w, asked, result);
    wr->next++;
    write_early(wr);
}

/* Write the results in a row.  Does it say anything else? */
static bool take_results(maki_wire_writer *wr, const maki_content_parts *row)
{
    maki_content_parts pieces = *row;
    maki_content_part piece;
    bool more = false;
    while (maki_content_parts_next(&pieces, &piece)) {
        maki_asked *asked = piece.kind == MAKI_CONTENT_RESULT ? asked_by(wr, &piece) : NULL;
        if (asked)
            answer(wr, asked, &piece);
        else
            more = true;
    }
    return more;
}

/* Nobody will answer the rest. */
static void end_turn(maki_wire_writer *wr)
{
    static const maki_content_part interrupted = {
        .kind = MAKI_CONTENT_RESULT,
        .content = { "\"[No result: the call was interrupted]\"", 39 },
    };
    write_early(wr);
    while (is_waiting(wr) && wr->failure.status == MAKI_OK) {
        if (wr->style.as_it_is) {
            wr->asked[wr->next].answered = true;
            wr->next++;
        } else {
            answer(wr, &wr->asked[wr->next], &interrupted);
        }
        write_early(wr);
    }
    end_calls(wr);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

maki_turn_text maki_turn_text_of(maki_wire_writer *wr, const maki_content_parts *row)
{
    return (maki_turn_text){ .wr = wr, .row = *row };
}

bool maki_turn_text_next(maki_turn_text *s, maki_content_part *out)
{
    for (;;) {
        if (s->inner && maki_content_parts_next(&s->result, out)) return true;
        s->inner = false;
        if (!maki_content_parts_next(&s->row, out)) return false;
        if (out->kind != MAKI_CONTENT_RESULT) return true;
        if (asked_by(s->wr, out)) continue;
        s->result = maki_content_parts_in(out->content);
        s->inner = true;
    }
}

static void say(maki_wire_writer *wr, const maki_content_parts *row)
{
    maki_speaker by = row->by;
    if (by == MAKI_BY_NOBODY) return;
    if (by == MAKI_BY_SYSTEM && wr->writing->system_place == MAKI_SYSTEM_APART) {
        if (!wr->any) return; /* it stands outside */
        by = MAKI_BY_USER;
    }
    wr->shape->say(wr, row, by);
}

static void hold(maki_wire_writer *wr, maki_str row)
{
    maki_sink line = maki_row_sink(&wr->held);
    if (wr->failure.status == MAKI_OK)
        wr->failure.status = line.write(line.ctx, row, wr->failure.err);
    maki_sticky_add(&wr->failure, &wr->held, MAKI_LIT("\n"));
    wr->held_count++;
}

/* What stood between a call and its result. */
static void release(maki_wire_writer *wr)
{
    maki_str rows = wr->held_count ? maki_sticky_text(&wr->failure, &wr->held) : none;
    while (rows.len) {
        maki_content_parts row = maki_content_parts_of(maki_str_cut(&rows, '\n'));
        say(wr, &row);
    }
    maki_spool_clear(&wr->held);
    wr->held_count = 0;
}

static void add(maki_wire_writer *wr, maki_str json)
{
    const maki_content_parts row = maki_content_parts_of(json);
    bool same_turn = row.by == MAKI_BY_ASSISTANT && wr->calling && wr->held_count == 0;
    if (!is_waiting(wr) || same_turn) {
        say(wr, &row);
        return;
    }
    if (maki_content_parts_call(&row) || wr->held_count == HELD_MAX) {
        end_turn(wr);
        release(wr);
        say(wr, &row);
        return;
    }
    if (take_results(wr, &row)) hold(wr, json);
    if (!is_waiting(wr)) release(wr);
}

static maki_status status_of(maki_wire_writer *wr, maki_err *err)
{
    if (wr->failure.status != MAKI_OK) return wr->failure.status;
    if (wr->w->status != MAKI_OK) return wr->w->status;
    return maki_arena_status(&wr->arena, err);
}

maki_status maki_wire_writer_add(maki_wire_writer *wr, maki_str row, maki_err *err)
{
    wr->failure.err = err;
    add(wr, row);
    return status_of(wr, err);
}

maki_status maki_wire_writer_end(maki_wire_writer *wr, bool *any, maki_err *err)
{
    wr->failure.err = err;
    end_turn(wr);
    release(wr);
    end_message(wr);
    *any = wr->any;
    return status_of(wr, err);
}

/* ---- the system prompt ---------------------------------------------------------------------------------- */

bool maki_wire_is_system(maki_str row)
{
    return maki_content_parts_of(row).by == MAKI_BY_SYSTEM;
}

bool maki_wire_system_apart(maki_protocol protocol)
{
    const maki_protocol_writing *writing = maki_protocol_of(protocol)->writing;
    return writing && writing->system_place == MAKI_SYSTEM_APART;
}

void maki_wire_write_system(maki_jw *w, maki_protocol protocol, maki_str row)
{
    bool blocks = maki_protocol_of(protocol)->writing->system_blocks;
    maki_content_parts pieces = maki_content_parts_of(row);
    maki_content_part piece;
    while (maki_content_parts_next(&pieces, &piece)) {
        if (piece.kind != MAKI_CONTENT_TEXT || maki_blank(piece.text)) continue;
        if (blocks)
            maki_jw_print(w, "{'type':'text','text':%v,'cache_control':%v}", piece.text,
                          piece.cache);
        else
            maki_jw_print(w, "{'text':%v}", piece.text);
    }
}
