/* conflict_test.c -- two handles on one conversation: a change that was decided
 * on an old view is decided again, not written. */
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "history/conv.h"
#include "log/verify.h"
#include "logs.h"
#include "tap.h"

static maki_conv *open_conv(logs *l)
{
    maki_conv_options options = { .create = true, .durability = MAKI_DURABILITY_SYNC };
    maki_conv *conv = NULL;
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_open(&l->env, l->path, &options, &conv, &err), MAKI_OK, &err);
    return conv;
}

typedef enum meddling { CONDENSE, PIN, NOTE, APPEND } meddling;

/* A summarizer during which another handle changes the conversation, the first `times` times. */
typedef struct interferer {
    maki_summarizer summarizer; /* must be first */
    maki_conv *other;
    meddling what;
    int times, calls;
} interferer;

static maki_status plain_run(const maki_summarizer *self, const maki_summary_request *request,
                             maki_arena *arena, maki_summary *out, maki_err *err)
{
    (void)self;
    (void)request;
    out->text = maki_arena_copy(arena, MAKI_LIT("short"));
    return maki_arena_status(arena, err);
}

static maki_status interfere(interferer *m, maki_err *err)
{
    maki_change change;
    maki_summarizer plain = { .usable = true, .run = plain_run };
    maki_str row = MAKI_LIT("{\"role\":\"user\",\"content\":\"in between\"}");
    switch (m->what) {
    case CONDENSE: return maki_conv_condense(m->other, NULL, 2, &plain, &change, err);
    case PIN: return maki_conv_pin(m->other, NULL, 3, true, &change, err);
    case NOTE: return maki_conv_add_event(m->other, "usage", MAKI_LIT(""), &change, err);
    default: return maki_conv_append(m->other, NULL, &row, 1, &change, err);
    }
}

static maki_status interfering_run(const maki_summarizer *self, const maki_summary_request *request,
                                   maki_arena *arena, maki_summary *out, maki_err *err)
{
    interferer *m = (interferer *)(uintptr_t)self;
    if (m->calls++ < m->times) CHECK_STATUS(interfere(m, err), MAKI_OK, err);
    return plain_run(self, request, arena, out, err);
}

static const struct conflict_row {
    const char *name;
    meddling what;
    bool expects;       /* the caller names the head */
    maki_status status; /* of the one that was meddled with */
    int calls;          /* of its summarizer */
    uint64_t visible;
} rows[] = {
    { "a condense in between: what is left is too little", CONDENSE, false, MAKI_REFUSED, 1, 4 },
    { "a pin in between: decided again, and the pinned one stays", PIN, false, MAKI_OK, 2, 5 },
    { "a note in between changes nothing that was decided", NOTE, false, MAKI_OK, 1, 4 },
    { "a message in between: the summary is used all the same, and one more stays", APPEND, false,
      MAKI_OK, 1, 5 },
    { "a pin in between, under an expected head: told", PIN, true, MAKI_CONFLICT, 1, 10 },
    { "a message in between, under an expected head: told", APPEND, true, MAKI_CONFLICT, 1, 11 },
};

/* Which message made a call depends on the log alone, whoever wrote what in
 * between. */
static void test_facts(void)
{
    logs l;
    maki_err err = { 0 };
    maki_change change;
    maki_index_record row;
    logs_open(&l, "messages.jsonl");
    tap_row("a call of another process, or of an aborted group, is seen "
            "as it stands");
    maki_conv *one = open_conv(&l), *other = open_conv(&l);
    static const char call[] = "{\"role\":\"assistant\",\"content\":[{\"type\":"
                               "\"tool_use\",\"id\":\"%s\"}]}";
    static const char result[] = "{\"role\":\"user\",\"content\":[{\"type\":"
                                 "\"tool_result\",\"tool_use_id\":\"%s\"}]}";
    static const struct {
        int who; /* 2: given up */
        const char *form, *id;
        uint32_t call_seq;
    } said[] = { { 0, call, "a", 0 },   { 0, result, "a", 1 }, { 1, call, "b", 0 },
                 { 0, result, "b", 3 }, { 2, call, "c", 0 },   { 1, call, "d", 0 },
                 { 0, result, "c", 0 }, { 1, result, "d", 5 } };
    uint64_t seq = 0;
    for (size_t i = 0; i < COUNT(said); i++) {
        char text[200];
        snprintf(text, sizeof text, said[i].form, said[i].id);
        maki_str message = maki_str_of(text);
        maki_log *log = maki_conv_log(one);
        if (said[i].who == 2) {
            CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_OK, &err);
            CHECK_STATUS(maki_log_add_row(log, message, NULL, &err), MAKI_OK, &err);
            maki_log_abort(log);
            continue;
        }
        maki_conv *who = said[i].who ? other : one;
        CHECK_STATUS(maki_conv_append(who, NULL, &message, 1, &change, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_row(maki_conv_log(who), ++seq, &row, &err), MAKI_OK, &err);
        CHECK_EQ(row.call_seq, said[i].call_seq);
    }
    for (int far = 62; far <= 65; far++) { /* opened again in between */
        char text[200];
        snprintf(text, sizeof text, call, "far");
        maki_str message = maki_str_of(text);
        CHECK_STATUS(maki_conv_append(one, NULL, &message, 1, &change, &err), MAKI_OK, &err);
        uint64_t made = change.seq;
        for (int i = 1; i < far; i++) {
            message = MAKI_LIT("{\"role\":\"user\",\"content\":\"x\"}");
            CHECK_STATUS(maki_conv_append(one, NULL, &message, 1, &change, &err), MAKI_OK, &err);
        }
        if (far % 2) {
            maki_conv_close(one);
            one = open_conv(&l);
        }
        snprintf(text, sizeof text, result, "far");
        message = maki_str_of(text);
        CHECK_STATUS(maki_conv_append(one, NULL, &message, 1, &change, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_row(maki_conv_log(one), change.seq, &row, &err), MAKI_OK, &err);
        CHECK_EQ(row.call_seq, far <= 64 ? made : 0);
    }
    maki_conv_close(one);
    maki_conv_close(other);
    maki_log_options options = logs_options(&l);
    CHECK_STATUS(maki_log_verify(&l.env, l.path, &options, NULL, NULL, NULL, &err), MAKI_OK, &err);
    logs_close(&l);
}

int main(void)
{
    test_facts();
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct conflict_row *r = &rows[i];
        logs l;
        maki_err err = { 0 };
        maki_change change;
        unsigned char head[MAKI_CHAIN_LEN];
        logs_open(&l, "messages.jsonl");
        tap_row("%s", r->name);
        maki_conv *one = open_conv(&l), *other = open_conv(&l);
        for (int n = 0; n < 10; n++) {
            maki_str row = MAKI_LIT("{\"role\":\"user\",\"content\":\"a message that "
                                    "is not short, so that "
                                    "a summary of it is\"}");
            CHECK_STATUS(maki_conv_append(one, NULL, &row, 1, &change, &err), MAKI_OK, &err);
        }
        interferer m = { { .usable = true, .run = interfering_run }, other, r->what, 1, 0 };
        memcpy(head, change.head, MAKI_CHAIN_LEN);
        CHECK_STATUS(
            maki_conv_condense(one, r->expects ? head : NULL, 2, &m.summarizer, &change, &err),
            r->status, &err);
        CHECK_EQ(m.calls, r->calls);
        const maki_view *view;
        maki_view_totals totals = { 0 };
        CHECK_STATUS(maki_log_refresh(maki_conv_log(one), &err), MAKI_OK, &err);
        CHECK_STATUS(maki_conv_view(one, MAKI_NEWEST, MAKI_NEWEST, &view, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_conv_total(one, view, &totals, &err), MAKI_OK, &err);
        CHECK_EQ(totals.messages, r->visible);
        maki_conv_close(one);
        maki_conv_close(other);
        maki_log_options options = logs_options(&l);
        CHECK_STATUS(maki_log_verify(&l.env, l.path, &options, NULL, NULL, NULL, &err), MAKI_OK,
                     &err);
        logs_close(&l);
    }
    return tap_end();
}
