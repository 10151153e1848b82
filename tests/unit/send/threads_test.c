/* threads_test.c -- a sender a thread, all at once; and a request that another thread cancels. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "send_kit.h"
#include "tap.h"

enum { THREADS = 4, REQUESTS = 25 };

typedef struct talker {
    const maki_provider *provider;
    maki_env env;
    unsigned good;
    maki_status status;
    maki_err err;
} talker;

static maki_status on_row(void *ctx, maki_str row, bool whole, maki_err *err)
{
    talker *t = ctx;
    (void)err;
    t->good += whole && maki_str_contains(row, MAKI_LIT("You said: hello"));
    return MAKI_OK;
}

static void *talk(void *ctx)
{
    talker *t = ctx;
    maki_sender *sender = NULL;
    maki_send_options options = { .env = &t->env, .provider = t->provider };
    maki_str body = maki_str_of(send_kit_body(t->provider->protocol, true, "hello"));
    maki_send_request request = { .stream = true, .body = maki_send_text(&body), .retries = 1 };
    maki_send_callbacks calls = { .ctx = t, .on_row = on_row };
    maki_send_result result;
    t->status = maki_sender_open(&options, &sender, &t->err);
    for (int i = 0; t->status == MAKI_OK && i < REQUESTS; i++)
        t->status = maki_send(sender, &request, &calls, &result, &t->err);
    maki_sender_close(sender);
    return NULL;
}

static void run_many(send_kit *kit)
{
    pthread_t threads[THREADS];
    talker talkers[THREADS];
    tap_row("%d threads, %d requests each", THREADS, REQUESTS);
    send_kit_is(kit, MAKI_WIRE_ANTHROPIC, "");
    for (size_t i = 0; i < THREADS; i++) {
        talkers[i] = (talker){ .provider = &kit->provider, .env = maki_env_system() };
        CHECK_EQ(pthread_create(&threads[i], NULL, talk, &talkers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_STATUS(talkers[i].status, MAKI_OK, &talkers[i].err);
        CHECK_EQ(talkers[i].good, REQUESTS);
    }
}

static atomic_bool flag, begun;

static bool is_set(void *ctx)
{
    (void)ctx;
    atomic_store(&begun, true);
    return atomic_load(&flag);
}

static void *wait_for_ever(void *ctx)
{
    talker *t = ctx;
    maki_sender *sender = NULL;
    maki_send_options options = { .env = &t->env, .provider = t->provider };
    maki_str body = maki_str_of(send_kit_body(t->provider->protocol, true, "hello"));
    maki_send_request request = { .stream = true,
                                  .body = maki_send_text(&body),
                                  .retries = MAKI_SEND_RETRIES,
                                  .cancelled = is_set };
    maki_send_result result;
    t->status = maki_sender_open(&options, &sender, &t->err);
    if (t->status == MAKI_OK) t->status = maki_send(sender, &request, NULL, &result, &t->err);
    maki_sender_close(sender);
    return NULL;
}

static void run_cancel(send_kit *kit)
{
    pthread_t thread;
    talker t = { .provider = &kit->provider, .env = maki_env_system() };
    tap_row("cancelled from another thread");
    send_kit_is(kit, MAKI_WIRE_CHAT, "silent");
    if (!CHECK_EQ(pthread_create(&thread, NULL, wait_for_ever, &t), 0)) return;
    while (!atomic_load(&begun))
        sched_yield();
    atomic_store(&flag, true);
    pthread_join(thread, NULL);
    CHECK_STATUS(t.status, MAKI_CANCELLED, &t.err);
}

int main(int argc, char **argv)
{
    static send_kit kit;
    if (send_kit_open(&kit, argc, argv)) {
        run_many(&kit);
        run_cancel(&kit);
    }
    send_kit_close(&kit);
    return tap_end();
}
