/* queue_test.c -- items from several threads: all arrive, those of one thread in order. */
#include "base/queue.h"

#include <poll.h>
#include <stddef.h>

#include "tap.h"

enum { WRITERS = 4, EACH = 5000 };

typedef struct numbered {
    maki_queue_item item;
    int writer, number;
} numbered;

static numbered items[WRITERS][EACH];
static maki_queue queue;

static void *write_items(void *ctx)
{
    numbered *mine = ctx;
    for (int i = 0; i < EACH; i++) {
        if (i % 3 == 0) {
            maki_queue_push(&queue, &mine[i].item);
        } else if (maki_queue_push_no_wake(&queue, &mine[i].item)) {
            maki_queue_wake(&queue);
        }
    }
    return NULL;
}

static void start_writers(pthread_t *threads)
{
    for (int w = 0; w < WRITERS; w++) {
        for (int i = 0; i < EACH; i++)
            items[w][i] = (numbered){ .writer = w, .number = i };
        CHECK_EQ(pthread_create(&threads[w], NULL, write_items, items[w]), 0);
    }
}

static void join_writers(pthread_t *threads)
{
    for (int w = 0; w < WRITERS; w++)
        pthread_join(threads[w], NULL);
}

/* Count items, and check that those of each writer are in order. */
static int count(maki_queue_item *item, int *next)
{
    int n = 0;
    for (; item; item = item->next, n++) {
        numbered *got = MAKI_CONTAINER_OF(item, numbered, item);
        CHECK(got->number == next[got->writer]);
        next[got->writer] = got->number + 1;
    }
    return n;
}

static void run_waiting(void)
{
    pthread_t threads[WRITERS];
    int next[WRITERS] = { 0 }, got = 0;
    bool ended = false;
    maki_err err;
    tap_row("a consumer that waits");
    CHECK_STATUS(maki_queue_open(&queue, false, &err), MAKI_OK, &err);
    start_writers(threads);
    while (got < WRITERS * EACH)
        got += count(maki_queue_wait_all(&queue, 60000, &ended), next);
    join_writers(threads);
    CHECK(!ended);
    CHECK(maki_queue_wait_all(&queue, 1, &ended) == NULL);
    CHECK(!ended);
    maki_queue_shutdown(&queue);
    CHECK(maki_queue_wait_all(&queue, 60000, &ended) == NULL);
    CHECK(ended);
    maki_queue_close(&queue);
}

static void run_descriptor(void)
{
    pthread_t threads[WRITERS];
    int next[WRITERS] = { 0 }, got = 0;
    maki_err err;
    tap_row("a consumer with an event loop");
    CHECK_STATUS(maki_queue_open(&queue, true, &err), MAKI_OK, &err);
    start_writers(threads);
    while (got < WRITERS * EACH) {
        struct pollfd ready = { .fd = queue.fd, .events = POLLIN };
        if (!CHECK(poll(&ready, 1, 60000) == 1)) break;
        got += count(maki_queue_take_all(&queue), next);
    }
    join_writers(threads);
    maki_queue_close(&queue);
}

static int taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *take_items(void *ctx)
{
    int n = 0;
    (void)ctx;
    while (maki_queue_pop(&queue, true))
        n++;
    pthread_mutex_lock(&lock);
    taken += n;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void run_pool(void)
{
    pthread_t threads[WRITERS], pool[3];
    maki_err err;
    tap_row("a pool of consumers: each item once, and all end");
    CHECK_STATUS(maki_queue_open(&queue, false, &err), MAKI_OK, &err);
    for (size_t i = 0; i < COUNT(pool); i++)
        CHECK_EQ(pthread_create(&pool[i], NULL, take_items, NULL), 0);
    start_writers(threads);
    join_writers(threads);
    maki_queue_shutdown(&queue);
    for (size_t i = 0; i < COUNT(pool); i++)
        pthread_join(pool[i], NULL);
    CHECK_EQ(taken, WRITERS * EACH);
    maki_queue_close(&queue);
}

int main(void)
{
    run_waiting();
    run_descriptor();
    run_pool();
    return tap_end();
}
