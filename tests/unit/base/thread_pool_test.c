/* thread_pool_test.c -- every task is run once, on any number of threads, and waiting for one is enough. */
#include "base/thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "fake_env.h"
#include "tap.h"

enum { TASKS = 1000 };

typedef struct part {
    uint64_t number, result;
    size_t worker;
    atomic_size_t times;
} part;

static void add_up(void *ctx, size_t worker)
{
    part *p = ctx;
    p->result = 0;
    for (uint64_t i = 1; i <= p->number; i++)
        p->result += i;
    p->worker = worker;
    atomic_fetch_add(&p->times, 1);
}

static bool is_done(part *p)
{
    return p->result == p->number * (p->number + 1) / 2 && atomic_load(&p->times) == 1;
}

static part parts[TASKS];

static void prepare(void)
{
    memset(parts, 0, sizeof parts);
    for (size_t i = 0; i < TASKS; i++)
        parts[i].number = 1 + i * 7919 % 5000;
}

/* Tasks are added faster than they are run: more than fit into the ring. */
static void test_all(size_t workers)
{
    maki_env env = maki_env_system();
    maki_thread_pool *pool = NULL;
    maki_err err = { 0 };
    uint64_t tickets[TASKS];
    size_t wrong = 0;
    tap_row("%zu workers: every task is run once", workers);
    prepare();
    if (!CHECK_STATUS(maki_thread_pool_open(env.alloc, workers, &pool, &err), MAKI_OK, &err))
        return;
    CHECK(workers == 0 || maki_thread_pool_workers(pool) == workers);
    for (size_t i = 0; i < TASKS; i++)
        tickets[i] = maki_thread_pool_add(pool, add_up, &parts[i]);
    for (size_t i = TASKS; i > 0; i--) { /* in any order */
        maki_thread_pool_wait(pool, tickets[i - 1]);
        wrong += !is_done(&parts[i - 1]) || parts[i - 1].worker >= maki_thread_pool_workers(pool);
    }
    CHECK_EQ(wrong, 0);
    maki_thread_pool_wait(pool, tickets[0]); /* again, long after */
    maki_thread_pool_close(pool);
}

/* A task that waits until another thread runs one: with two workers that takes two threads. */
typedef struct meeting {
    atomic_size_t *there;
    size_t worker;
} meeting;

static void meet(void *ctx, size_t worker)
{
    meeting *m = ctx;
    m->worker = worker;
    atomic_fetch_add(m->there, 1);
    while (atomic_load(m->there) < 2)
        sched_yield();
}

static void test_side_by_side(void)
{
    maki_env env = maki_env_system();
    maki_thread_pool *pool = NULL;
    maki_err err = { 0 };
    atomic_size_t there = 0;
    meeting a = { &there, 99 }, b = { &there, 99 };
    tap_row("the owner runs tasks while it waits");
    if (!CHECK_STATUS(maki_thread_pool_open(env.alloc, 2, &pool, &err), MAKI_OK, &err)) return;
    uint64_t first = maki_thread_pool_add(pool, meet, &a),
             second = maki_thread_pool_add(pool, meet, &b);
    maki_thread_pool_wait(pool, first);
    maki_thread_pool_wait(pool, second);
    CHECK(a.worker + b.worker == 1);
    maki_thread_pool_close(pool);
}

static void test_left(void)
{
    maki_env env = maki_env_system();
    maki_thread_pool *pool = NULL;
    maki_err err = { 0 };
    size_t wrong = 0;
    tap_row("closed with pending tasks: each is run once or not at all");
    prepare();
    if (!CHECK_STATUS(maki_thread_pool_open(env.alloc, 3, &pool, &err), MAKI_OK, &err)) return;
    for (size_t i = 0; i < MAKI_THREAD_POOL_TASKS; i++)
        maki_thread_pool_add(pool, add_up, &parts[i]);
    maki_thread_pool_close(pool);
    for (size_t i = 0; i < MAKI_THREAD_POOL_TASKS; i++)
        wrong += !is_done(&parts[i]) && atomic_load(&parts[i].times) != 0;
    CHECK_EQ(wrong, 0);
    maki_thread_pool_close(NULL);
}

static void test_memory(void)
{
    fake_env fe;
    maki_thread_pool *pool = NULL;
    maki_err err = { 0 };
    tap_row("out of memory");
    fake_env_init(&fe);
    fake_alloc_fail_at(&fe, 1);
    CHECK_STATUS(maki_thread_pool_open(fe.env.alloc, 2, &pool, &err), MAKI_NOMEM, &err);
    CHECK(!pool);
    CHECK_STATUS(maki_thread_pool_open(fe.env.alloc, 100, &pool, &err), MAKI_OK, &err);
    CHECK_EQ(maki_thread_pool_workers(pool), MAKI_THREADS_MAX);
    maki_thread_pool_close(pool);
    CHECK_EQ(fake_alloc_live(&fe), 0);
}

int main(void)
{
    tap_row("this machine has some cores");
    CHECK(maki_thread_pool_cores() >= 1 && maki_thread_pool_cores() <= MAKI_THREADS_MAX);
    test_all(1);
    test_all(2);
    test_all(5);
    test_all(0);
    test_side_by_side();
    test_left();
    test_memory();
    return tap_end();
}
