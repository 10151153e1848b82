/* event_memory_test.c -- libevent with our allocator: events of many descriptors, blocks that grow, blocks that are reused. */
#include "net/event_memory.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

enum { DESCRIPTORS = 500, ROUNDS = 3 };

static void on_ready(evutil_socket_t fd, short what, void *ctx)
{
    int *count = ctx;
    (void)fd, (void)what;
    (*count)++;
}

/* Every descriptor that was ever watched keeps a small block, which must be unchanged when it is watched again. */
static void test_descriptors(void)
{
    struct event_base *base = event_base_new();
    struct event *events[DESCRIPTORS];
    int received = 0, ends[2];
    CHECK(base != NULL);
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(write(ends[1], "x", 1), 1); /* never read: every copy of the end is ready */
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < DESCRIPTORS; i++) {
            events[i] = event_new(base, dup(ends[0]), EV_READ, on_ready, &received);
            CHECK_EQ(event_add(events[i], NULL), 0);
        }
        event_base_loop(base, EVLOOP_ONCE);
        while (event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED) > 0)
            event_base_loop(base, EVLOOP_ONCE);
        CHECK_EQ(received, DESCRIPTORS * (round + 1));
        for (int i = 0; i < DESCRIPTORS; i++) {
            close(event_get_fd(events[i]));
            event_free(events[i]);
        }
    }
    close(ends[0]);
    close(ends[1]);
    event_base_free(base);
}

/* Buffers allocate blocks of every size and grow them. */
static void test_buffers(void)
{
    struct evbuffer *buffer = evbuffer_new();
    const char *words = "巻物 마키 🍣 roll";
    size_t len = strlen(words);
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(evbuffer_add(buffer, words, len), 0);
    char *all = (char *)evbuffer_pullup(buffer, -1);
    for (size_t i = 0; i < 1000; i++)
        CHECK(memcmp(all + i * len, words, len) == 0);
    evbuffer_free(buffer);
}

int main(void)
{
    maki_event_memory_install();
    tap_row("events of many descriptors");
    test_descriptors();
    tap_row("buffers");
    test_buffers();
    return tap_end();
}
