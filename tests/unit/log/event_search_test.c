/* event_search_test.c -- finding events by number and by message gives what reading all of them gives, whatever their
 * lengths; and what reads no more than a few lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str_util.h"
#include "logs.h"
#include "tap.h"

enum { EVENTS_MAX = 600 };

static struct known {
    uint64_t at, offset;
} known[EVENTS_MAX + 1];
static size_t known_count;

static maki_status note(void *ctx, uint64_t ev, maki_str row, uint64_t offset, maki_err *err)
{
    maki_event_head head;
    (void)ctx;
    (void)err;
    CHECK(maki_event_head_of(row, &head) && head.ev == ev);
    known[ev] = (struct known){ head.at, offset };
    known_count = ev;
    return MAKI_OK;
}

/* Random events between random messages; now and then one of 100 KB. */
static void fill(maki_log *log, tap_random *random, size_t events)
{
    maki_err err = { 0 };
    char *fields = malloc(100100);
    if (!fields) abort();
    for (size_t i = 0; i < events; i++) {
        size_t n = tap_below(random, 40) == 0 ? 100000 : tap_below(random, 300);
        for (size_t k = tap_below(random, 3); k > 0; k--)
            CHECK_STATUS(logs_append(log, "何か 🐟", &err), MAKI_OK, &err);
        int head = sprintf(fields, "\"text\":\"");
        memset(fields + head, 'x', n);
        fields[(size_t)head + n] = '"';
        CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_add_event(log, "usage", (maki_str){ fields, (size_t)head + n + 1 },
                                        NULL, &err),
                     MAKI_OK, &err);
        CHECK_STATUS(maki_log_commit(log, &err), MAKI_OK, &err);
    }
    free(fields);
}

static void check_all(maki_log *log)
{
    maki_err err = { 0 };
    uint64_t ev, offset, last = maki_log_last(log);
    known_count = 0;
    CHECK_STATUS(maki_log_each_event(log, note, NULL, &err), MAKI_OK, &err);
    for (uint64_t n = 0; n <= known_count + 1; n++) {
        uint64_t want = n ? n : known_count ? 1 : 0;
        if (n > known_count) want = 0;
        CHECK_STATUS(maki_log_find_event(log, MAKI_EVENT_BY_NUMBER, n, &ev, &offset, &err), MAKI_OK,
                     &err);
        CHECK_EQ(ev, want);
        if (want) CHECK_EQ(offset, known[want].offset);
    }
    for (uint64_t at = 0; at <= last + 1; at++) {
        uint64_t want = 1;
        while (want <= known_count && known[want].at < at)
            want++;
        if (want > known_count) want = 0;
        CHECK_STATUS(maki_log_find_event(log, MAKI_EVENT_BY_MESSAGE, at, &ev, &offset, &err),
                     MAKI_OK, &err);
        CHECK_EQ(ev, want);
        if (want) CHECK_EQ(offset, known[want].offset);
    }
}

static maki_status stop(void *ctx, uint64_t ev, maki_str row, uint64_t offset, maki_err *err)
{
    uint64_t *seen = ctx;
    (void)row;
    (void)offset;
    (void)err;
    *seen = ev;
    return MAKI_CANCELLED;
}

static const struct head_row {
    const char *name, *text;
    bool valid;
    uint64_t ev, at;
} head_rows[] = {
    { "as it is written",
      "{\"ev\":7,\"at\":41,\"ts\":1700000000000,\"type\":\"pin\",\"head\":", true, 7, 41 },
    { "other fields first", "{\"at\":41,\"ev\":7,\"ts\":1,\"type\":\"pin\"}", false, 0, 0 },
    { "spaces", "{\"ev\": 7,\"at\":41,\"ts\":1,\"type\":\"pin\"}", false, 0, 0 },
    { "no number", "{\"ev\":x,\"at\":41,\"ts\":1,\"type\":\"pin\"}", false, 0, 0 },
    { "cut in the type", "{\"ev\":7,\"at\":41,\"ts\":1,\"type\":\"pi", false, 0, 0 },
    { "nothing", "", false, 0, 0 },
};

int main(void)
{
    tap_random random = { 20260717 };
    for (size_t i = 0; i < COUNT(head_rows); i++) {
        maki_event_head head;
        tap_row("the first fields: %s", head_rows[i].name);
        CHECK_EQ(maki_event_head_of(maki_str_of(head_rows[i].text), &head), head_rows[i].valid);
        if (head_rows[i].valid) CHECK(head.ev == head_rows[i].ev && head.at == head_rows[i].at);
    }
    static const size_t counts[] = { 0, 1, 2, 40, EVENTS_MAX };
    for (size_t i = 0; i < COUNT(counts); i++) {
        logs l;
        maki_err err = { 0 };
        uint64_t ev = 0;
        tap_row("%zu events", counts[i]);
        logs_open(&l, "messages.jsonl");
        maki_log *log = logs_get(&l);
        fill(log, &random, counts[i]);
        check_all(log);
        CHECK_STATUS(
            maki_log_each_event_until(log, MAKI_EVENT_BY_NUMBER, counts[i], stop, &ev, &err),
            MAKI_OK, &err);
        CHECK_EQ(ev, counts[i]);
        maki_log_close(log);
        logs_close(&l);
    }
    tap_row("one of many events costs few reads");
    logs l;
    maki_err err = { 0 };
    uint64_t ev, offset;
    logs_open(&l, "messages.jsonl");
    maki_log *log = logs_get(&l);
    fill(log, &random, EVENTS_MAX);
    size_t before = l.fe.files.calls;
    CHECK_STATUS(maki_log_find_event(log, MAKI_EVENT_BY_NUMBER, 300, &ev, &offset, &err), MAKI_OK,
                 &err);
    printf("# %zu reads\n", l.fe.files.calls - before);
    CHECK(l.fe.files.calls - before < 120);
    maki_log_close(log);
    logs_close(&l);
    return tap_end();
}
