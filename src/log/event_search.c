/* event_search.c -- find an event by its number or by its message, without reading the events before it.
 *
 * In:    a log and a number.
 * Out:   the first event with at least that number, or written when at least that message was the newest.
 * Must stay true: of each probe only the first bytes of one line are read, so the cost does not grow with the history.
 *        A line that does not begin like ours (edited by hand) ends the search early: the rest is read line by line. */
#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/files.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "log/lines.h"
#include "log/log_internal.h"

enum {
    HEAD_BYTES = 256, /* of a line: enough for the first fields */
    PROBE = 4096,     /* read at a time to find the start of a line */
    SMALL = 4096      /* fewer bytes are read line by line */
};

/* Skip `name` and the digits after it. */
static bool take_number(maki_str *rest, maki_str name, uint64_t *out)
{
    size_t n = 0;
    if (!maki_str_starts(*rest, name)) return false;
    *rest = maki_str_skip(*rest, name.len);
    while (n < rest->len && maki_is_digit(rest->ptr[n]))
        n++;
    bool valid = maki_str_number(maki_str_prefix(*rest, n), out);
    *rest = maki_str_skip(*rest, n);
    return valid;
}

bool maki_event_head_of(maki_str row, maki_event_head *out)
{
    static const maki_str type = MAKI_LIT(",\"type\":\"");
    maki_str rest = row;
    uint64_t ts = 0;
    *out = (maki_event_head){ .ev = 0 };
    if (!take_number(&rest, MAKI_LIT("{\"ev\":"), &out->ev) ||
        !take_number(&rest, MAKI_LIT(",\"at\":"), &out->at) ||
        !take_number(&rest, MAKI_LIT(",\"ts\":"), &ts) || !maki_str_starts(rest, type))
        return false;
    out->ts = (int64_t)ts;
    rest = maki_str_skip(rest, type.len);
    return maki_str_take(&rest, '"', &out->type);
}

/* The start of the first line after `from`; events_end when there is none before it. */
static maki_status next_line(maki_log *log, uint64_t from, uint64_t *start, maki_err *err)
{
    char bytes[PROBE];
    while (from < log->events_end) {
        size_t got = 0;
        maki_status st =
            maki_file_read_at(log->env.files, log->events_fd, from, bytes, sizeof bytes, &got, err);
        if (st != MAKI_OK) return st;
        if (got == 0) break;
        const char *newline = memchr(bytes, '\n', got);
        if (newline) {
            *start = from + (uint64_t)(newline - bytes) + 1;
            return MAKI_OK;
        }
        from += got;
    }
    *start = log->events_end;
    return MAKI_OK;
}

static uint64_t key_of(const maki_event_head *head, maki_event_key key)
{
    return key == MAKI_EVENT_BY_NUMBER ? head->ev : head->at;
}

typedef struct event_search {
    maki_event_key key;
    uint64_t value;
    uint64_t end; /* of the known events */
    uint64_t ev, offset;
} event_search;

/* The last step: the first line that matches.  MAKI_CANCELLED: it was found. */
static maki_status match_line(void *ctx, maki_str line, uint64_t offset, maki_err *err)
{
    event_search *s = ctx;
    maki_event_head head;
    maki_str event;
    (void)err;
    if (offset >= s->end) return MAKI_CANCELLED;
    if (!maki_event_head_of(line, &head)) {
        if (maki_json_check(line, &event, NULL) != MAKI_OK) return MAKI_OK;
        head.ev = maki_json_uint_field(event, MAKI_LIT("ev"));
        head.at = maki_json_uint_field(event, MAKI_LIT("at"));
    }
    if (key_of(&head, s->key) < s->value) return MAKI_OK;
    s->ev = head.ev;
    s->offset = offset;
    return MAKI_CANCELLED;
}

/* Narrow [*low, *high]: the match begins there, or at the line after *high. */
static maki_status narrow(maki_log *log, const event_search *s, uint64_t *low, maki_err *err)
{
    uint64_t high = log->events_end;
    while (high > *low + SMALL) {
        uint64_t middle = *low + (high - *low) / 2, start = 0;
        char bytes[HEAD_BYTES];
        size_t got = 0;
        maki_event_head head;
        maki_status st = next_line(log, middle, &start, err);
        if (st != MAKI_OK) return st;
        if (start >= high) { /* no line begins between them */
            high = middle;
            continue;
        }
        st = maki_file_read_at(log->env.files, log->events_fd, start, bytes, sizeof bytes, &got,
                               err);
        if (st != MAKI_OK) return st;
        if (!maki_event_head_of((maki_str){ bytes, got }, &head)) return MAKI_OK;
        if (key_of(&head, s->key) < s->value)
            *low = start;
        else
            high = middle;
    }
    return MAKI_OK;
}

maki_status maki_log_find_event(maki_log *log, maki_event_key key, uint64_t value, uint64_t *ev,
                                uint64_t *offset, maki_err *err)
{
    event_search s = { key, value, log->events_end, 0, log->events_end };
    uint64_t low = 0, end = 0;
    *ev = 0;
    *offset = log->events_end;
    if (log->events_fd < 0 || log->ev == 0) return MAKI_OK;
    maki_status st = narrow(log, &s, &low, err);
    if (st == MAKI_OK)
        st = maki_lines_each(&log->env, log->events_fd, low, EVENT_MAX, match_line, &s, &end, err);
    if (st != MAKI_OK && st != MAKI_CANCELLED) return st;
    *ev = s.ev;
    *offset = s.offset;
    return MAKI_OK;
}

maki_status maki_log_each_event_until(maki_log *log, maki_event_key key, uint64_t value,
                                      maki_event_fn fn, void *ctx, maki_err *err)
{
    uint64_t ev = 0, offset = 0;
    maki_status st = maki_log_find_event(log, key, value, &ev, &offset, err);
    if (st != MAKI_OK || ev == 0) return st;
    st = maki_log_each_event_from(log, ev - 1, offset, fn, ctx, err);
    return st == MAKI_CANCELLED ? MAKI_OK : st;
}
