/* retries_test.c -- when a request is sent again, after which pause, and when it is not.  No test waits: the pauses
 * are counted. */
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "send/backoff.h"
#include "send_kit.h"
#include "tap.h"

/* The clock of the tests says 1700000000000: Tue, 14 Nov 2023 22:13:20 GMT. */
/* clang-format off */
static const struct retry_row { const char *scenario; unsigned retries; maki_status status; unsigned retried; const char *pauses; } rows[] = {
    { "429,first:2",                        4, MAKI_OK,       2, "429:1000 429:1000 " },
    { "429,first:1,after:7",                4, MAKI_OK,       1, "429:7000 " },
    { "429,first:1,afterms:350",            4, MAKI_OK,       1, "429:350 " },
    { "429,first:1,after:9,afterms:350.4",  4, MAKI_OK,       1, "429:351 " },
    { "429,first:1,after:2.5",              4, MAKI_OK,       1, "429:2500 " },
    { "429,first:1,after:Tue%2C%2014%20Nov%202023%2022:13:50%20GMT", 4, MAKI_OK, 1, "429:30000 " },
    { "429,after:61",                       4, MAKI_REFUSED,  0, "" },
    { "429,first:1,after:never,reset:1700000012000", 4, MAKI_OK, 1, "429:12000 " },
    { "429,first:1,after:3,reset:1700000012000",     4, MAKI_OK, 1, "429:3000 " },
    { "429,after:never,reset:1700003600000",         4, MAKI_REFUSED, 0, "" },
    { "429,again:false",                    4, MAKI_REFUSED,  0, "" },
    { "busy,again:false",                   4, MAKI_UPSTREAM, 0, "" },
    { "nomodel,first:1,again:true,after:1", 4, MAKI_OK,       1, "404:1000 " },
    { "overflow,again:true",                4, MAKI_REFUSED,  0, "" },
    { "429,after:1",                        2, MAKI_REFUSED,  2, "429:1000 429:1000 " },
    { "busy,first:1,after:2",               4, MAKI_OK,       1, "529:2000 " },
    { "429,first:1",                        0, MAKI_REFUSED,  0, "" },
    { "overflow",                           4, MAKI_REFUSED,  0, "" },
    { "key",                                4, MAKI_DENIED,   0, "" },
    { "forbidden",                          4, MAKI_DENIED,   0, "" },
    { "nomodel",                            4, MAKI_NOTFOUND, 0, "" },
    { "quota",                              4, MAKI_REFUSED,  0, "" },
    { "corrupt",                            4, MAKI_UPSTREAM, 0, "" },
};
/* clang-format on */

static void run_rows(send_kit *kit)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct retry_row *row = &rows[i];
        tap_row("%s, %u retries", row->scenario, row->retries);
        send_kit_is(kit, MAKI_WIRE_ANTHROPIC, row->scenario);
        CHECK_STATUS(send_kit_ask(kit, true, row->retries, "hello"), row->status, &kit->err);
        CHECK_EQ(kit->result.retried, row->retried);
        CHECK_CSTR(kit->retries, row->pauses);
        if (row->status == MAKI_OK) CHECK_CSTR(kit->text, "You said: hello");
    }
}

/* Where a provider says it in the body of its error. */
static void run_bodies(send_kit *kit)
{
    tap_row("Gemini: error.details, google.rpc.RetryInfo");
    send_kit_is(kit, MAKI_WIRE_GEMINI, "429,first:1,after:never,delay:7.3s");
    CHECK_STATUS(send_kit_ask(kit, true, 4, "海苔"), MAKI_OK, &kit->err);
    CHECK_CSTR(kit->retries, "429:7300 ");
    tap_row("Gemini: the header wins");
    send_kit_is(kit, MAKI_WIRE_GEMINI, "429,first:1,after:2,delay:7s");
    CHECK_STATUS(send_kit_ask(kit, true, 4, "海苔"), MAKI_OK, &kit->err);
    CHECK_CSTR(kit->retries, "429:2000 ");
    tap_row("Gemini: a wait of an hour is reported, not waited for");
    send_kit_is(kit, MAKI_WIRE_GEMINI, "429,after:never,delay:3600s");
    CHECK_STATUS(send_kit_ask(kit, true, 4, "海苔"), MAKI_REFUSED, &kit->err);
    CHECK(strstr(kit->err.msg, "retry after 3600 s") != NULL);
    CHECK_EQ(kit->slept, 0);
    tap_row("OpenAI: only its words say it");
    send_kit_is(kit, MAKI_WIRE_CHAT,
                "429,first:1,after:never,words:Please%20try%20again%20in%201.898s.%20Visit%20us");
    CHECK_STATUS(send_kit_ask(kit, true, 4, "海苔"), MAKI_OK, &kit->err);
    CHECK_CSTR(kit->retries, "429:1898 ");
}

/* Without a wish of the provider's: by chance, up to bounds that double. */
static void run_random(send_kit *kit)
{
    static const unsigned most[] = { 500, 1000, 2000, 4000, 8000, 8000 };
    tap_row("500 again and again");
    send_kit_is(kit, MAKI_WIRE_CHAT, "500");
    CHECK_STATUS(send_kit_ask(kit, true, COUNT(most), "hello"), MAKI_UPSTREAM, &kit->err);
    CHECK_EQ(kit->result.retried, COUNT(most));
    const char *at = kit->retries;
    uint64_t sum = 0;
    for (size_t i = 0; i < COUNT(most); i++) {
        int status = 0, used = 0;
        unsigned pause = 0;
        if (!CHECK_EQ(sscanf(at, "%d:%u %n", &status, &pause, &used), 2)) break;
        CHECK_EQ(status, 500);
        CHECK(pause <= most[i]);
        sum += pause;
        at += used;
    }
    CHECK_EQ(kit->slept, sum);
    CHECK(strstr(kit->log, "send_retry provider=openai model=fake status=500 retry=1") != NULL);
    CHECK(strstr(kit->log, "warn send provider=openai model=fake status=500") != NULL);
}

static void run_streams(send_kit *kit)
{
    tap_row("an error before anything was said is tried again");
    send_kit_is(kit, MAKI_WIRE_ANTHROPIC, "fail:1,first:1");
    CHECK_STATUS(send_kit_ask(kit, true, 1, "hello"), MAKI_OK, &kit->err);
    CHECK_EQ(kit->result.retried, 1);
    CHECK_EQ(kit->rows, 1);
    CHECK_CSTR(kit->text, "You said: hello");

    tap_row("a connection that breaks before anything was said too");
    send_kit_is(kit, MAKI_WIRE_ANTHROPIC, "cut:100,first:1");
    CHECK_STATUS(send_kit_ask(kit, true, 1, "hello"), MAKI_OK, &kit->err);
    CHECK_EQ(kit->result.retried, 1);
    CHECK_CSTR(kit->text, "You said: hello");

    tap_row("after a piece reached the caller it is not");
    send_kit_is(kit, MAKI_WIRE_ANTHROPIC, "fail:4,first:2");
    CHECK_STATUS(send_kit_ask(kit, true, 1, "hello"), MAKI_UPSTREAM, &kit->err);
    CHECK_EQ(kit->result.retried, 0);
    CHECK_EQ(kit->parts, 1);

    tap_row("a caller who wants rows only was not reached");
    kit->deaf = true;
    CHECK_STATUS(send_kit_ask(kit, true, 1, "hello"), MAKI_OK, &kit->err);
    kit->deaf = false;
    CHECK_EQ(kit->result.retried, 1);
    CHECK_EQ(kit->rows, 1);
    CHECK_EQ(kit->parts, 0);
}

static void run_cancel(send_kit *kit)
{
    tap_row("cancelled during a backoff");
    send_kit_is(kit, MAKI_WIRE_ANTHROPIC, "429,after:30");
    kit->cancel_after = 250;
    CHECK_STATUS(send_kit_ask(kit, true, 4, "hello"), MAKI_CANCELLED, &kit->err);
    kit->cancel_after = 0;
    CHECK(kit->slept < 400);
    CHECK_CSTR(kit->retries, "429:30000 ");
}

static void run_wait_told(send_kit *kit)
{
    tap_row("a wait of an hour is reported, not waited for");
    send_kit_is(kit, MAKI_WIRE_CHAT, "429,after:3600");
    CHECK_STATUS(send_kit_ask(kit, true, 4, "hello"), MAKI_REFUSED, &kit->err);
    CHECK(strstr(kit->err.msg, "retry after 3600 s") != NULL);
    CHECK_EQ(kit->slept, 0);
}

int main(int argc, char **argv)
{
    static send_kit kit;
    if (send_kit_open(&kit, argc, argv)) {
        run_rows(&kit);
        run_bodies(&kit);
        run_random(&kit);
        run_streams(&kit);
        run_cancel(&kit);
        run_wait_told(&kit);
    }
    send_kit_close(&kit);
    return tap_end();
}
