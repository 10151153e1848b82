/* verify_events.c -- verifies each event: its number, its sum, and that the messages before it are those it was written
 * after.  After a wrong sum the next event is verified against the stored one, so that one changed event is one finding. */
#include <fcntl.h>
#include <string.h>

#include "base/json_access.h"
#include "log/verify_internal.h"

/* ---- the events ----------------------------------------------------------------------------------------------- */

typedef struct event_chain {
    verifier *c;
    uint64_t ev;
    unsigned char sum[MAKI_CHAIN_LEN]; /* of the event before */
    bool broken;                       /* `sum` is unknown: that event had none */
    bool gone_reported;
} event_chain;

static bool parse_head(maki_str event, unsigned char out[MAKI_CHAIN_LEN])
{
    maki_str head;
    return maki_json_get(event, MAKI_LIT("head"), &head) && maki_chain_parse(head, out);
}

/* The chain after message `at`, as the file has it or, with `stored`, the index on disk. */
static maki_status chain_at(verifier *c, uint64_t at, bool stored,
                            unsigned char out[MAKI_CHAIN_LEN], maki_err *err)
{
    maki_index *index = stored ? &c->stored : c->files.index;
    uint64_t base = maki_log_base(c->log);
    maki_index_record row;
    memcpy(out, index->header.start, MAKI_CHAIN_LEN);
    if (at <= base) return MAKI_OK;
    maki_status st = maki_index_get(index, at - base, &row, err);
    if (st == MAKI_OK) memcpy(out, row.chain, MAKI_CHAIN_LEN);
    return st;
}

/* `head` must be the chain after message `at`. */
static maki_status check_head(event_chain *ch, maki_str event, uint64_t at,
                              const unsigned char *head, uint64_t offset, maki_err *err)
{
    verifier *c = ch->c;
    unsigned char expected[MAKI_CHAIN_LEN];
    uint64_t last = maki_log_base(c->log) + maki_verify_row_count(c);
    maki_status st = MAKI_OK;
    if (maki_verify_is_known_event(c, ch->ev, at)) return MAKI_OK;
    if (at > last) {
        if (ch->gone_reported || (c->index_valid && c->stored.header.end > c->messages_size))
            return MAKI_OK;
        ch->gone_reported = true;
        return maki_verify_report(c, MAKI_FINDING_GONE, "messages", c->messages_size, last + 1,
                                  ch->ev, "messages that this event was written after are gone",
                                  err);
    }
    if (ch->ev == 1 && at == 0 && maki_json_field_in(event, "type", "fork")) {
        memcpy(expected, c->header_chain,
               MAKI_CHAIN_LEN); /* written before the log knew its parent */
    } else {
        st = chain_at(c, at, false, expected, err);
    }
    if (st == MAKI_OK && memcmp(head, expected, MAKI_CHAIN_LEN) == 0) c->proven = at;
    if (st != MAKI_OK || c->proven == at) return st;
    if (c->index_valid && at - maki_log_base(c->log) <= c->stored.header.count) {
        st = chain_at(c, at, true, expected, err); /* then a row before it was reported already */
        if (st != MAKI_OK || memcmp(head, expected, MAKI_CHAIN_LEN) == 0) return st;
    }
    return maki_verify_report(c, MAKI_FINDING_HEAD, "events", offset, at, ch->ev,
                              "changed since this event was written", err);
}

static maki_status check_event(void *ctx, maki_str row, uint64_t offset, maki_err *err)
{
    event_chain *ch = ctx;
    unsigned char sum[MAKI_CHAIN_LEN], expected[MAKI_CHAIN_LEN], head[MAKI_CHAIN_LEN];
    maki_str covered, event;
    uint64_t ev = 0, at = 0;
    if (offset >= ch->c->events_size) return MAKI_CANCELLED;
    ch->ev++;
    bool has_sum = maki_event_parse_sum(row, &covered, sum);
    if (has_sum) maki_chain_next(ch->sum, covered, expected);
    bool ok = has_sum && (ch->broken || memcmp(sum, expected, MAKI_CHAIN_LEN) == 0) &&
              maki_line_parse_object(row, &event) && maki_event_integer(event, "ev", &ev) &&
              ev == ch->ev && maki_event_integer(event, "at", &at) && parse_head(event, head);
    if (has_sum) memcpy(ch->sum, sum, MAKI_CHAIN_LEN);
    ch->broken = !has_sum;
    if (ok) return check_head(ch, event, at, head, offset, err);
    return maki_verify_report(ch->c, MAKI_FINDING_EVENT, "events", offset, 0, ch->ev,
                              "this event is not what was written", err);
}

/* There was no events file when the log was opened: has the first event been written since? */
static bool events_created_since(const verifier *c)
{
    const maki_files *files = c->env->files;
    if (c->files.events_fd >= 0) return false;
    int fd = files->open(files, c->files.events_path, O_RDONLY, 0);
    if (fd >= 0) files->close(files, fd);
    return fd >= 0;
}

maki_status maki_verify_events(verifier *c, maki_err *err)
{
    event_chain ch = { .c = c };
    uint64_t end = 0;
    maki_status st = maki_verify_each_event(c, check_event, &ch, &end, err);
    c->result.events = ch.ev;
    if (st == MAKI_OK && end < c->events_size) {
        st = maki_verify_report(c, MAKI_FINDING_TORN, "events", end, 0, 0,
                                "bytes after the last newline", err);
    }
    if (st == MAKI_OK && c->index_valid && c->stored.header.events > ch.ev &&
        !events_created_since(c)) {
        st = maki_verify_report(c, MAKI_FINDING_LOST, "events", end, 0, ch.ev + 1,
                                "this event and those after it are gone", err);
    }
    return st;
}
