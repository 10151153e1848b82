/* verify_events.c -- is each event what was written, and the messages before it those it was written after; see verify.c. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "log/verify_internal.h"

/* ---- the events ----------------------------------------------------------------------------------------------- */

typedef struct chaining {
    checking *c;
    uint64_t ev;
    unsigned char sum[MAKI_CHAIN_LEN]; /* of the event before */
    bool broken;                       /* which is not known */
    bool gone;                         /* told already */
} chaining;

static bool head_of(maki_str event, unsigned char out[MAKI_CHAIN_LEN])
{
    maki_str head;
    return maki_json_get(event, MAKI_LIT("head"), &head) && maki_chain_of(head, out);
}

/* The chain after message `at`, as the file has it or, with `stored`, the index on disk. */
static maki_status chain_at(checking *c, uint64_t at, bool stored,
                            unsigned char out[MAKI_CHAIN_LEN], maki_err *err)
{
    maki_index *index = stored ? &c->stored : c->files.index;
    uint64_t base = maki_log_base(c->log);
    maki_row row;
    memcpy(out, index->header.start, MAKI_CHAIN_LEN);
    if (at <= base) return MAKI_OK;
    maki_status st = maki_index_get(index, at - base, &row, err);
    if (st == MAKI_OK) memcpy(out, row.chain, MAKI_CHAIN_LEN);
    return st;
}

/* `head` must be the chain after message `at`. */
static maki_status check_head(chaining *ch, maki_str event, uint64_t at, const unsigned char *head,
                              uint64_t offset, maki_err *err)
{
    checking *c = ch->c;
    unsigned char due[MAKI_CHAIN_LEN];
    uint64_t last = maki_log_base(c->log) + maki_verify_row_count(c);
    maki_status st = MAKI_OK;
    if (maki_verify_excused(c, ch->ev, at)) return MAKI_OK;
    if (at > last) {
        if (ch->gone || (c->sound && c->stored.header.end > c->messages_size)) return MAKI_OK;
        ch->gone = true;
        return maki_verify_report(c, MAKI_FOUND_GONE, "messages", c->messages_size, last + 1,
                                  ch->ev, "messages that this event was written after are gone",
                                  err);
    }
    if (ch->ev == 1 && at == 0 && maki_json_field_in(event, "type", "fork")) {
        memcpy(due, c->header_chain, MAKI_CHAIN_LEN); /* written before there was a parent */
    } else {
        st = chain_at(c, at, false, due, err);
    }
    if (st != MAKI_OK || memcmp(head, due, MAKI_CHAIN_LEN) == 0) return st;
    if (c->sound && at - maki_log_base(c->log) <= c->stored.header.count) {
        st = chain_at(c, at, true, due, err); /* then a row before it was told already */
        if (st != MAKI_OK || memcmp(head, due, MAKI_CHAIN_LEN) == 0) return st;
    }
    return maki_verify_report(c, MAKI_FOUND_HEAD, "events", offset, at, ch->ev,
                              "the messages before this event are not those of then", err);
}

static maki_status check_event(void *ctx, maki_str row, uint64_t offset, maki_err *err)
{
    chaining *ch = ctx;
    unsigned char sum[MAKI_CHAIN_LEN], due[MAKI_CHAIN_LEN], head[MAKI_CHAIN_LEN];
    maki_str covered, event;
    uint64_t ev = 0, at = 0;
    if (offset >= ch->c->events_size) return MAKI_CANCELLED;
    ch->ev++;
    bool summed = maki_event_sum(row, &covered, sum);
    if (summed) maki_chain_next(ch->sum, covered, due);
    bool right = summed && (ch->broken || memcmp(sum, due, MAKI_CHAIN_LEN) == 0) &&
                 maki_line_object(row, &event) && maki_event_whole(event, "ev", &ev) &&
                 ev == ch->ev && maki_event_whole(event, "at", &at) && head_of(event, head);
    if (summed) memcpy(ch->sum, sum, MAKI_CHAIN_LEN);
    ch->broken = !summed;
    if (right) return check_head(ch, event, at, head, offset, err);
    return maki_verify_report(ch->c, MAKI_FOUND_EVENT, "events", offset, 0, ch->ev,
                              "this event is not what was written", err);
}

/* There was no events file when we opened the log: has somebody written the first event since? */
static bool made_meanwhile(const checking *c)
{
    const maki_files *files = c->env->files;
    if (c->files.events_fd >= 0) return false;
    int fd = files->open(files, c->files.events_path, O_RDONLY, 0);
    if (fd >= 0) files->close(files, fd);
    return fd >= 0;
}

maki_status maki_verify_events(checking *c, maki_err *err)
{
    chaining ch = { .c = c };
    uint64_t end = 0;
    maki_status st = maki_verify_each_event(c, check_event, &ch, &end, err);
    c->result.events = ch.ev;
    if (st == MAKI_OK && end < c->events_size) {
        st = maki_verify_report(c, MAKI_FOUND_TORN, "events", end, 0, 0,
                                "bytes after the last newline", err);
    }
    if (st == MAKI_OK && c->sound && c->stored.header.events > ch.ev && !made_meanwhile(c)) {
        st = maki_verify_report(c, MAKI_FOUND_LOST, "events", end, 0, ch.ev + 1,
                                "this event and those after it are gone", err);
    }
    return st;
}
