/* log_test.c -- appending, reading, torn tails, files that other programs change. */
#include "log/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "log/verify.h"
#include "logs.h"
#include "tap.h"

/* Does the newest event contain this? */
static maki_status note_last(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    char *out = ctx;
    (void)ev;
    (void)at;
    (void)err;
    snprintf(out, 4096, "%.*s", (int)row.len, row.ptr);
    return MAKI_OK;
}

static bool last_event_has(maki_log *log, const char *part)
{
    char text[4096] = "";
    maki_err err = { 0 };
    CHECK_STATUS(maki_log_each_event(log, note_last, text, &err), MAKI_OK, &err);
    bool has = strstr(text, part) != NULL;
    if (!has) printf("# %s is not in %s\n", part, text);
    return has;
}

static void test_append(void)
{
    logs l;
    maki_err err = { 0 };
    unsigned char head[MAKI_CHAIN_LEN] = { 0 };
    logs_open(&l, "messages.jsonl");

    tap_row("a missing log without `create` is not found");
    maki_log_options options = logs_options(&l);
    maki_log *log = NULL;
    options.create = false;
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_NOTFOUND, &err);
    CHECK(log == NULL);

    tap_row("a new log is empty and private");
    log = logs_get(&l);
    CHECK_EQ(maki_log_last(log), 0);
    CHECK_EQ(maki_log_events(log), 0);
    struct stat st;
    CHECK(stat(l.path, &st) == 0 && (st.st_mode & 0777) == 0600);

    tap_row("rows are counted, chained and read back");
    for (int i = 1; i <= 3; i++) {
        char text[20];
        snprintf(text, sizeof text, "message %d", i);
        CHECK_STATUS(logs_append(log, text, &err), MAKI_OK, &err);
        maki_chain_next(head, logs_row(text), head);
        CHECK_EQ(maki_log_last(log), i);
        CHECK(memcmp(maki_log_head(log), head, MAKI_CHAIN_LEN) == 0);
        CHECK(logs_has(log, (uint64_t)i, text));
    }

    tap_row("the directory of a new file is synced with it");
    CHECK(l.disk.directory_syncs > 0);
    size_t syncs = l.disk.directory_syncs;
    CHECK_STATUS(logs_append(log, "message 4", &err), MAKI_OK, &err);
    CHECK_EQ(l.disk.directory_syncs, syncs);

    tap_row("an expected head that has moved is a conflict and writes nothing");
    uint64_t size = logs_size(l.path);
    CHECK_STATUS(maki_log_begin(log, head, &err), MAKI_CONFLICT, &err);
    CHECK_EQ(logs_size(l.path), size);
    memcpy(head, maki_log_head(log), MAKI_CHAIN_LEN);
    if (CHECK_STATUS(maki_log_begin(log, head, &err), MAKI_OK, &err)) maki_log_abort(log);

    tap_row("an invalid message is refused with its whole group");
    static const struct {
        const char *row;
        maki_status status;
    } bad[] = { { "{\"role\":\"user\",\"content\":\"a\nb\"}", MAKI_INVALID },
                { "not json", MAKI_INVALID },
                { "[]", MAKI_INVALID },
                { "{\"content\":\"no role\"}", MAKI_INVALID },
                { "{\"role\":\"user\",\"content\":\"\xe3\x81\"}", MAKI_INVALID },
                { "", MAKI_INVALID } };
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (!CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_OK, &err)) break;
        CHECK_STATUS(maki_log_add_row(log, logs_row("good"), NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_add_row(log, maki_str_of(bad[i].row), NULL, &err), bad[i].status,
                     &err);
        maki_log_abort(log);
        CHECK_EQ(logs_size(l.path), size);
        CHECK_EQ(maki_log_last(log), 4);
    }

    tap_row("a row over the limit is refused");
    maki_log_close(log);
    options = logs_options(&l);
    options.max_row_bytes = 100;
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_OK, &err);
    char long_text[200];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    CHECK_STATUS(logs_append(log, long_text, &err), MAKI_TOOBIG, &err);
    CHECK_EQ(logs_size(l.path), size);
    maki_log_close(log);

    tap_row("a reader sees what a writer adds, rows and events");
    log = logs_get(&l);
    maki_log *reader = logs_read(&l);
    CHECK_STATUS(logs_append(log, "message 5", &err), MAKI_OK, &err);
    CHECK_EQ(maki_log_last(reader), 4);
    CHECK_STATUS(maki_log_refresh(reader, &err), MAKI_OK, &err);
    CHECK_EQ(maki_log_last(reader), 5);
    CHECK(logs_has(reader, 5, "message 5"));
    CHECK(memcmp(maki_log_head(reader), maki_log_head(log), MAKI_CHAIN_LEN) == 0);
    CHECK_STATUS(maki_log_begin(reader, NULL, &err), MAKI_DENIED, &err);

    tap_row("a second writer sees the first one's rows, and its old head is a conflict");
    maki_log *second = logs_get(&l);
    memcpy(head, maki_log_head(second), MAKI_CHAIN_LEN);
    CHECK_STATUS(logs_append(log, "message 6", &err), MAKI_OK, &err);
    CHECK_STATUS(maki_log_begin(second, head, &err), MAKI_CONFLICT, &err);
    CHECK_STATUS(logs_append(second, "message 7", &err), MAKI_OK, &err);
    CHECK(logs_has(second, 6, "message 6"));
    CHECK_STATUS(maki_log_refresh(log, &err), MAKI_OK, &err);
    CHECK(logs_has(log, 7, "message 7"));
    maki_log_close(second);
    maki_log_close(reader);
    maki_log_close(log);
    logs_close(&l);
}

static maki_status keep_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    maki_buf_add(ctx, bytes);
    return maki_buf_status(ctx, err);
}

/* Row after row through one window: in order, again, with gaps, and after another program changed the file. */
static void test_read_on(void)
{
    static const uint64_t orders[][8] = { { 1, 2, 3, 4, 5, 6, 7, 8 },
                                          { 8, 7, 6, 5, 4, 3, 2, 1 },
                                          { 1, 1, 4, 5, 20, 2, 3, 19 } };
    logs l;
    maki_err err = { 0 };
    maki_log_window window = { 0 };
    maki_index_record row;
    maki_str bytes;
    logs_open(&l, "messages.jsonl");
    maki_log *log = logs_get(&l);
    char *long_text = malloc(200000);
    memset(long_text, 'y', 199999);
    long_text[199999] = '\0';
    for (int i = 0; i < 20; i++) {
        CHECK_STATUS(logs_append(log, i % 3 == 2 ? long_text : "短い short", &err), MAKI_OK, &err);
    }
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        tap_row("rows are read through the window in order %zu", i);
        for (size_t k = 0; k < 8; k++) {
            uint64_t seq = orders[i][k];
            CHECK_STATUS(maki_log_row(log, seq, &row, &err), MAKI_OK, &err);
            CHECK_STATUS(maki_log_read_buffered(log, seq, &row, &window, &bytes, &err), MAKI_OK,
                         &err);
            CHECK(maki_str_equal(bytes, logs_row(seq % 3 == 0 ? long_text : "短い short")));
        }
    }
    CHECK(window.block.size <= MAKI_LOG_WINDOW_MAX + 2 * MAKI_PAGE);
    maki_log_window_free(&window);
    tap_row("a truncated row is detected");
    CHECK_STATUS(maki_log_row(log, 20, &row, &err), MAKI_OK, &err);
    logs_cut(l.path, row.offset + 5);
    CHECK_STATUS(maki_log_read_buffered(log, 20, &row, &window, &bytes, &err), MAKI_CORRUPT, &err);
    maki_log_window_free(&window);
    free(long_text);
    maki_log_close(log);
    logs_close(&l);
}

static void test_copy(void)
{
    logs l;
    maki_err err = { 0 };
    logs_open(&l, "messages.jsonl");
    maki_log *log = logs_get(&l);
    tap_row("a range of rows is copied byte for byte, also across blocks");
    char *long_text = malloc(200000);
    memset(long_text, 'y', 199999);
    long_text[199999] = '\0';
    for (int i = 0; i < 20; i++) {
        CHECK_STATUS(logs_append(log, i % 3 ? long_text : "short", &err), MAKI_OK, &err);
    }
    maki_buf out = maki_buf_new(maki_env_system().alloc, 64 << 20);
    CHECK_STATUS(maki_log_copy(log, 1, 20, (maki_sink){ keep_bytes, &out }, &err), MAKI_OK, &err);
    maki_str file = directory_read(l.path);
    CHECK(maki_str_equal(maki_buf_str(&out), file));
    maki_buf_clear(&out);
    CHECK_STATUS(maki_log_copy(log, 4, 4, (maki_sink){ keep_bytes, &out }, &err), MAKI_OK, &err);
    CHECK(maki_str_equal(maki_str_prefix(maki_buf_str(&out), out.len - 1), logs_row("short")));
    CHECK_STATUS(maki_log_copy(log, 20, 21, (maki_sink){ keep_bytes, &out }, &err), MAKI_NOTFOUND,
                 &err);
    maki_buf_free(&out);
    free((void *)(uintptr_t)file.ptr);
    free(long_text);
    maki_log_close(log);
    logs_close(&l);
}

static void test_events(void)
{
    logs l;
    maki_err err = { 0 };
    logs_open(&l, "messages.jsonl");
    maki_log *log = logs_get(&l);
    tap_row("events are counted and name the message they follow and its chain");
    CHECK_STATUS(logs_append(log, "one", &err), MAKI_OK, &err);
    CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_OK, &err);
    uint64_t ev = 0, seq = 0;
    CHECK_STATUS(maki_log_add_event(log, "pin", MAKI_LIT("\"seq\":1"), &ev, &err), MAKI_OK, &err);
    CHECK_EQ(ev, 1);
    CHECK_STATUS(maki_log_add_row(log, logs_row("two"), &seq, &err), MAKI_OK, &err);
    CHECK_EQ(seq, 2);
    CHECK_STATUS(maki_log_add_event(log, "usage", MAKI_LIT(""), &ev, &err), MAKI_OK, &err);
    CHECK_EQ(ev, 2);
    CHECK_STATUS(maki_log_commit(log, &err), MAKI_OK, &err);
    CHECK_EQ(maki_log_events(log), 2);
    char head[2 * MAKI_CHAIN_LEN + 1];
    maki_hex(maki_log_head(log), MAKI_CHAIN_LEN, head);
    CHECK(last_event_has(log, head));
    CHECK(last_event_has(log, "\"at\":2"));
    CHECK_EQ(logs_events(log, "pin"), 1);

    tap_row("an aborted group leaves no event");
    uint64_t size = logs_size(l.events);
    CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_log_add_event(log, "pin", MAKI_LIT("\"seq\":2"), &ev, &err), MAKI_OK, &err);
    maki_log_abort(log);
    CHECK_EQ(logs_size(l.events), size);
    CHECK_EQ(maki_log_events(log), 2);

    tap_row("an event that is cut off while the log is open is reported");
    logs_cut(l.events, size - 10);
    char text[4096];
    CHECK_STATUS(maki_log_each_event(log, note_last, text, &err), MAKI_CORRUPT, &err);
    CHECK_STATUS(maki_log_refresh(log, &err), MAKI_CORRUPT, &err);
    CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_CORRUPT, &err);
    maki_log_close(log);
    logs_close(&l);
}

static void test_header(void)
{
    logs l;
    maki_err err = { 0 };
    maki_log *log = NULL;
    maki_str header = MAKI_LIT("{\"type\":\"header\",\"id\":\"s1\"}");
    logs_open(&l, "s1.jsonl");

    tap_row("a session's header row is not a message, and the chain begins with it");
    maki_log_options options = logs_options(&l);
    options.header = header;
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_OK, &err);
    CHECK_EQ(maki_log_last(log), 0);
    CHECK_STATUS(logs_append(log, "one", &err), MAKI_OK, &err);
    CHECK(logs_has(log, 1, "one"));
    unsigned char head[MAKI_CHAIN_LEN] = { 0 };
    maki_chain_next(head, header, head);
    maki_chain_next(head, logs_row("one"), head);
    CHECK(memcmp(head, maki_log_head(log), MAKI_CHAIN_LEN) == 0);
    maki_log_close(log);

    tap_row("the header is recognised, and not written twice");
    uint64_t size = logs_size(l.path);
    options = logs_options(&l);
    options.header = header;
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_OK, &err);
    CHECK_EQ(logs_size(l.path), size);
    CHECK_EQ(maki_log_last(log), 1);
    maki_log_close(log);

    tap_row("a header torn by a crash is cut off, kept, and written again");
    logs_cut(l.path, 7);
    unlink(l.index);
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_OK, &err);
    CHECK_EQ(logs_size(l.path), header.len + 1);
    CHECK_EQ(logs_events(log, "damage"), 1);
    CHECK_STATUS(logs_append(log, "two", &err), MAKI_OK, &err);
    CHECK(logs_has(log, 1, "two"));
    maki_log_close(log);
    log = logs_get(&l);
    CHECK(logs_has(log, 1, "two"));
    maki_log_close(log);
    logs_close(&l);
}

static void test_fork(void)
{
    logs l;
    maki_err err = { 0 };
    logs_open(&l, "child.jsonl");
    tap_row("a fork continues the numbers and the hash chain of its parent");
    unsigned char start[MAKI_CHAIN_LEN];
    memset(start, 0xab, sizeof start);
    maki_log *log = logs_get(&l);
    CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_log_add_event(log, "fork",
                                    MAKI_LIT("\"parent\":\"p\",\"seq\":41,\"chain\":"
                                             "\"abababababababababababababababab\""),
                                    NULL, &err),
                 MAKI_OK, &err);
    CHECK_STATUS(maki_log_commit(log, &err), MAKI_OK, &err);
    maki_log_close(log);
    log = logs_get(&l);
    CHECK_EQ(maki_log_base(log), 41);
    CHECK_EQ(maki_log_last(log), 41);
    CHECK(memcmp(maki_log_head(log), start, MAKI_CHAIN_LEN) == 0);
    CHECK_STATUS(logs_append(log, "forty-two", &err), MAKI_OK, &err);
    CHECK(logs_has(log, 42, "forty-two"));
    maki_index_record row;
    CHECK_STATUS(maki_log_row(log, 41, &row, &err), MAKI_NOTFOUND, &err);
    CHECK_STATUS(maki_log_row(log, 43, &row, &err), MAKI_NOTFOUND, &err);
    maki_log_close(log);
    log = logs_get(&l);
    CHECK(logs_has(log, 42, "forty-two"));
    maki_chain_next(start, logs_row("forty-two"), start);
    CHECK(memcmp(maki_log_head(log), start, MAKI_CHAIN_LEN) == 0);
    maki_log_close(log);

    tap_row("an invalid fork event is reported");
    static const char *const senseless[] = {
        "\"seq\":-1,\"chain\":\"abababababababababababababababab\"",
        "\"seq\":1e300,\"chain\":\"abababababababababababababababab\"",
        "\"seq\":\"x\",\"chain\":\"abababababababababababababababab\"",
        "\"seq\":3,\"chain\":\"ab\"",
        "\"seq\":3",
    };
    for (size_t i = 0; i < COUNT(senseless); i++) {
        logs other;
        logs_open(&other, "child.jsonl");
        log = logs_get(&other);
        CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_add_event(log, "fork", maki_str_of(senseless[i]), NULL, &err),
                     MAKI_OK, &err);
        CHECK_STATUS(maki_log_commit(log, &err), MAKI_OK, &err);
        maki_log_close(log);
        maki_log_options options = logs_options(&other);
        log = NULL;
        CHECK_STATUS(maki_log_open(&other.env, other.path, &options, &log, &err), MAKI_CORRUPT,
                     &err);
        maki_log_close(log);
        logs_close(&other);
    }
    logs_close(&l);
}

/* ---- torn tails ----------------------------------------------------------------------------------- */

static const struct torn_row {
    const char *name;
    maki_str bytes;
    const char *kept; /* base64 */
} torn_rows[] = {
    { "half a row", { "{\"role\":\"us", 11 }, "eyJyb2xlIjoidXM=" },
    { "one byte", { "{", 1 }, "ew==" },
    { "half a Japanese character", { "{\"role\":\"user\",\"content\":\"\xe3\x81", 28 }, "4" },
    { "a block of NUL", { "\0\0\0\0\0\0\0\0\0\0\0\0", 12 }, "AAAAAAAAAAAAAAAA" },
    { "a whole row without its newline",
      { "{\"role\":\"user\",\"content\":\"x\"}", 29 },
      "eyJyb2xlIjoidXNlciIsImNvbnRlbnQiOiJ4In0=" },
};

static void test_torn(void)
{
    for (size_t i = 0; i < COUNT(torn_rows); i++) {
        const struct torn_row *t = &torn_rows[i];
        for (int events = 0; events < 2; events++) {
            logs l;
            maki_err err = { 0 };
            logs_open(&l, "messages.jsonl");
            tap_row("torn %s: %s is cut off and kept", events ? "events" : "messages", t->name);
            maki_log *log = logs_get(&l);
            CHECK_STATUS(logs_append(log, "one", &err), MAKI_OK, &err);
            CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_OK, &err);
            CHECK_STATUS(maki_log_add_event(log, "usage", MAKI_LIT(""), NULL, &err), MAKI_OK, &err);
            CHECK_STATUS(maki_log_commit(log, &err), MAKI_OK, &err);
            maki_log_close(log);
            const char *file = events ? l.events : l.path;
            uint64_t size = logs_size(file);
            logs_add_bytes(file, t->bytes);

            maki_log *reader = logs_read(&l); /* sees nothing of it and leaves it */
            CHECK_EQ(maki_log_last(reader), 1);
            CHECK_EQ(maki_log_events(reader), 1);
            CHECK_EQ(logs_size(file), size + t->bytes.len);
            maki_log_close(reader);

            log = logs_get(&l);
            CHECK_EQ(maki_log_last(log), 1);
            CHECK_EQ(maki_log_events(log), 2);
            CHECK(last_event_has(log, "\"type\":\"damage\""));
            CHECK(last_event_has(log, events ? "\"file\":\"events\"" : "\"file\":\"messages\""));
            CHECK(last_event_has(log, t->kept));
            if (!events) CHECK_EQ(logs_size(l.path), size);
            CHECK_STATUS(logs_append(log, "two", &err), MAKI_OK, &err);
            CHECK(logs_has(log, 1, "one"));
            CHECK(logs_has(log, 2, "two"));
            maki_log_close(log);
            logs_close(&l);
        }
    }
}

static void test_torn_more(void)
{
    logs l;
    maki_err err = { 0 };
    tap_row("a tail that appears while the log is open is cut at the next write");
    logs_open(&l, "messages.jsonl");
    maki_log *log = logs_get(&l);
    CHECK_STATUS(logs_append(log, "one", &err), MAKI_OK, &err);
    logs_add_bytes(l.path, MAKI_LIT("{\"role"));
    CHECK_STATUS(logs_append(log, "two", &err), MAKI_OK, &err);
    CHECK(logs_has(log, 2, "two"));
    CHECK_EQ(logs_events(log, "damage"), 1);

    tap_row("a complete row that another program added is indexed");
    logs_add_bytes(l.path, MAKI_LIT("{\"role\":\"user\",\"content\":\"three\"}\n"));
    CHECK_STATUS(logs_append(log, "four", &err), MAKI_OK, &err);
    CHECK(logs_has(log, 3, "three"));
    CHECK(logs_has(log, 4, "four"));

    tap_row("a row of NULs with a newline is indexed as a bad row");
    logs_add_bytes(l.path, (maki_str){ "\0\0\0\0\n", 5 });
    CHECK_STATUS(logs_append(log, "six", &err), MAKI_OK, &err);
    maki_index_record row;
    CHECK_STATUS(maki_log_row(log, 5, &row, &err), MAKI_OK, &err);
    CHECK_EQ(row.flags, MAKI_ROW_NOT_MESSAGE);
    CHECK(logs_has(log, 6, "six"));

    tap_row("a long tail is kept whole, in a file next to it");
    maki_log_close(log);
    size_t n = 300000;
    char *tail = malloc(n);
    memset(tail, 'z', n);
    size_t files = directory_count(&l.f);
    logs_add_bytes(l.path, (maki_str){ tail, n });
    log = logs_get(&l);
    CHECK_EQ(directory_count(&l.f), files + 1);
    CHECK(last_event_has(log, "messages.jsonl.damaged-1"));
    maki_str kept = directory_read(directory_file(&l.f, "messages.jsonl.damaged-1"));
    CHECK_TEXT(kept, ((maki_str){ tail, n }));
    free((void *)(uintptr_t)kept.ptr);
    maki_log_close(log);

    tap_row("when the damage event cannot be written, nothing is cut");
    uint64_t size = logs_size(l.path);
    logs_add_bytes(l.path, MAKI_LIT("{\"torn"));
    l.disk.full = true;
    l.disk.capacity = 20;
    maki_log_options options = logs_options(&l);
    log = NULL;
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_FULL, &err);
    maki_log_close(log);
    CHECK_EQ(logs_size(l.path), size + 6);
    l.disk.full = false;
    log = logs_get(&l);
    CHECK_EQ(logs_size(l.path), size);
    CHECK_EQ(logs_events(log, "damage"), 3);
    maki_log_close(log);

    tap_row("damaged events are reported at open, not read past");
    logs_add_bytes(l.events, MAKI_LIT("{\"ev\":99}\n"));
    options = logs_options(&l);
    log = NULL;
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_CORRUPT, &err);
    maki_log_close(log);
    free(tail);
    logs_close(&l);
}

/* ---- the index ------------------------------------------------------------------------------------ */

static void put_index(const char *path, const void *bytes, size_t n)
{
    directory_write(path, (maki_str){ bytes, n });
}

static void corrupt_index(const logs *l, size_t how)
{
    maki_str old = directory_read(l->index);
    char *bytes = malloc(old.len + 64);
    memcpy(bytes, old.ptr, old.len);
    switch (how) {
    case 0: unlink(l->index); break;
    case 1: put_index(l->index, "", 0); break;
    case 2: put_index(l->index, bytes, 100); break;
    case 3: put_index(l->index, bytes, old.len - 1); break;
    case 4: memset(bytes, 0x5a, old.len), put_index(l->index, bytes, old.len); break;
    case 5: memset(bytes + 128, 0x5a, old.len - 128), put_index(l->index, bytes, old.len); break;
    case 6: bytes[8]++, put_index(l->index, bytes, old.len); break;         /* the version */
    case 7: bytes[16 + 7] ^= 4, put_index(l->index, bytes, old.len); break; /* count + 2^58 */
    case 8: bytes[16]++, put_index(l->index, bytes, old.len); break;
    case 9: bytes[16]--, put_index(l->index, bytes, old.len); break;
    case 10: bytes[24]++, put_index(l->index, bytes, old.len); break; /* the end */
    default: break;
    }
    free(bytes);
    free((void *)(uintptr_t)old.ptr);
}

static const char *const corruptions[] = { "missing",
                                           "empty",
                                           "cut inside its header",
                                           "cut inside a record",
                                           "corrupt",
                                           "corrupt after its header",
                                           "of another version",
                                           "with a huge count",
                                           "with a count too large",
                                           "with a count too small",
                                           "with a wrong end" };

static void check_rows(maki_log *log, uint64_t n)
{
    CHECK_EQ(maki_log_last(log), n);
    for (uint64_t i = 1; i <= n; i++) {
        char text[20];
        snprintf(text, sizeof text, "%d", (int)i);
        CHECK(logs_has(log, i, text));
    }
}

static void fill(maki_log *log, int from, int to)
{
    maki_err err = { 0 };
    for (int i = from; i <= to; i++) {
        char text[20];
        snprintf(text, sizeof text, "%d", i);
        CHECK_STATUS(logs_append(log, text, &err), MAKI_OK, &err);
    }
}

static void test_corrupt_index(void)
{
    for (size_t how = 0; how < COUNT(corruptions); how++) {
        logs l;
        logs_open(&l, "messages.jsonl");
        tap_row("an index that is %s loses nothing, for readers and writers", corruptions[how]);
        maki_log *log = logs_get(&l);
        fill(log, 1, 5);
        maki_log_close(log);
        corrupt_index(&l, how);
        maki_log *reader = logs_read(&l);
        check_rows(reader, 5);
        maki_log_close(reader);
        log = logs_get(&l);
        check_rows(log, 5);

        corrupt_index(&l, how); /* and while it is open */
        maki_err err = { 0 };
        CHECK_STATUS(maki_log_refresh(log, &err), MAKI_OK, &err);
        check_rows(log, 5);
        corrupt_index(&l, how);
        fill(log, 6, 6);
        check_rows(log, 6);
        maki_log_close(log);
        log = logs_get(&l);
        check_rows(log, 6);
        maki_log_close(log);
        CHECK_EQ(directory_count(&l.f), 2);
        logs_close(&l);
    }
}

static void test_other_index(void)
{
    logs l, other;
    maki_err err = { 0 };
    logs_open(&l, "messages.jsonl");
    logs_open(&other, "messages.jsonl");
    maki_log *log = logs_get(&l);
    fill(log, 1, 5);
    maki_log_close(log);

    tap_row("the index of another log is not used");
    log = logs_get(&other);
    fill(log, 11, 15);
    maki_log_close(log);
    maki_str bytes = directory_read(other.index);
    directory_write(l.index, bytes);
    log = logs_get(&l);
    check_rows(log, 5);
    maki_log_close(log);
    free((void *)(uintptr_t)bytes.ptr);

    tap_row("an index of another encoding is not used");
    maki_log_options options = logs_options(&l);
    options.encoding = "other";
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_OK, &err);
    check_rows(log, 5);
    maki_log_close(log);
    log = logs_get(&l);
    check_rows(log, 5);
    maki_log_close(log);

    tap_row(
        "a stale index is brought up to date by a writer; a reader sees the rows and leaves it");
    bytes = directory_read(l.index);
    log = logs_get(&l);
    fill(log, 6, 8);
    maki_log_close(log);
    directory_write(l.index, bytes);
    maki_log *reader = logs_read(&l);
    check_rows(reader, 8);
    maki_str left = directory_read(l.index);
    CHECK(left.len == bytes.len && memcmp(left.ptr, bytes.ptr, left.len) == 0);
    free((void *)(uintptr_t)left.ptr);
    log = logs_get(&l);
    check_rows(log, 8);
    CHECK_STATUS(maki_log_refresh(reader, &err), MAKI_OK, &err);
    check_rows(reader, 8);
    maki_log_close(reader);
    maki_log_close(log);
    free((void *)(uintptr_t)bytes.ptr);
    logs_close(&other);
    logs_close(&l);
}

/* ---- files that other programs change -------------------------------------------------------------- */

static void test_changed_files(void)
{
    static const char *const what[] = { "removed", "replaced", "cut" };
    for (int events = 0; events < 2; events++) {
        for (size_t how = 0; how < COUNT(what); how++) {
            for (int reads = 0; reads < 2; reads++) {
                logs l;
                maki_err err = { 0 };
                logs_open(&l, "messages.jsonl");
                maki_log *log = logs_get(&l);
                fill(log, 1, 3);
                CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_OK, &err);
                CHECK_STATUS(maki_log_add_event(log, "usage", MAKI_LIT(""), NULL, &err), MAKI_OK,
                             &err);
                CHECK_STATUS(maki_log_commit(log, &err), MAKI_OK, &err);
                if (reads) {
                    maki_log_close(log);
                    log = logs_read(&l);
                }
                const char *file = events ? l.events : l.path;
                tap_row("%s %s while a %s has the log open: reported",
                        events ? "events" : "messages", what[how], reads ? "reader" : "writer");
                maki_str bytes = directory_read(file);
                if (how == 0) unlink(file);
                if (how == 1) unlink(file), directory_write(file, bytes);
                if (how == 2) logs_cut(file, bytes.len - 3);
                CHECK_STATUS(maki_log_refresh(log, &err), MAKI_CORRUPT, &err);
                CHECK_STATUS(maki_log_begin(log, NULL, &err), reads ? MAKI_DENIED : MAKI_CORRUPT,
                             &err);
                free((void *)(uintptr_t)bytes.ptr);
                maki_log_close(log);
                logs_close(&l);
            }
        }
    }

    logs l;
    maki_err err = { 0 };
    maki_log *log = NULL;
    logs_open(&l, "messages.jsonl");
    tap_row("a messages file that is shorter than its index is refused, except for a repair");
    log = logs_get(&l);
    fill(log, 1, 3);
    maki_log_close(log);
    logs_cut(l.path, logs_size(l.path) - 5);
    maki_log_options options = logs_options(&l);
    log = NULL;
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_CORRUPT, &err);
    options = logs_options(&l);
    options.read_only = true;
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_CORRUPT, &err);
    options = logs_options(&l);
    options.repair = true;
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_OK, &err);
    check_rows(log, 2);
    CHECK_EQ(logs_events(log, "damage"), 1);
    maki_log_close(log);

    tap_row("a changed row is reported when it is read");
    maki_str bytes = directory_read(l.path);
    char *spoiled = (char *)(uintptr_t)bytes.ptr;
    *strchr(spoiled, '1') = '7';
    directory_write(l.path, bytes);
    log = logs_get(&l);
    maki_buf row = maki_buf_new(l.env.alloc, 1000);
    CHECK_STATUS(maki_log_read(log, 1, &row, &err), MAKI_CORRUPT, &err);
    CHECK(logs_has(log, 2, "2"));
    maki_buf_free(&row);
    free(spoiled);
    maki_log_close(log);
    logs_close(&l);
}

/* ---- disks that refuse ---------------------------------------------------------------------------- */

static void test_read_only(void)
{
    static const int denials[] = { EACCES, EROFS };
    for (size_t i = 0; i < COUNT(denials); i++) {
        logs l;
        maki_err err = { 0 };
        logs_open(&l, "messages.jsonl");
        maki_log *log = logs_get(&l);
        fill(log, 1, 3);
        maki_log_close(log);
        tap_row("where nothing may be written (errno %d) the log is opened read-only", denials[i]);
        l.disk.denies = denials[i];
        log = logs_get(&l);
        CHECK(maki_log_read_only(log));
        check_rows(log, 3);
        CHECK_STATUS(logs_append(log, "4", &err), MAKI_DENIED, &err);
        maki_log_close(log);

        tap_row("and without an index it builds a private one (errno %d)", denials[i]);
        unlink(l.index);
        log = logs_get(&l);
        check_rows(log, 3);
        l.disk.denies = 0;
        maki_log *writer = logs_get(&l);
        fill(writer, 4, 5);
        maki_log_close(writer);
        CHECK_STATUS(maki_log_refresh(log, &err), MAKI_OK, &err);
        check_rows(log, 5);
        maki_log_close(log);
        logs_close(&l);
    }
}

/* Open read-only with `share_index`. */
static maki_status open_shared(logs *l, maki_log **log, maki_err *err)
{
    maki_log_options options = logs_options(l);
    options.create = false;
    options.share_index = true;
    *log = NULL;
    return maki_log_open(&l->env, l->path, &options, log, err);
}

static void test_shared(void)
{
    static const char more[] = "{\"role\":\"user\",\"content\":\"4\"}\n{\"role\":\"us";
    for (int denied = 0; denied < 2; denied++) {
        for (int gone = 0; gone < 2; gone++) {
            logs l;
            maki_err err = { 0 };
            maki_log *log = NULL;
            logs_open(&l, "messages.jsonl");
            log = logs_get(&l);
            fill(log, 1, 3);
            maki_log_close(log);
            tap_row("a read-only open sees rows that %s has, and cuts no torn end%s",
                    gone ? "no index" : "the index not",
                    denied ? ", where nothing may be written" : "");
            logs_add_bytes(l.path, maki_str_of(more));
            if (gone) unlink(l.index);
            uint64_t size = logs_size(l.path);
            l.disk.denies = denied ? EROFS : 0;
            CHECK_STATUS(open_shared(&l, &log, &err), MAKI_OK, &err);
            check_rows(log, 4);
            CHECK_EQ(maki_log_read_only(log), denied);
            CHECK_EQ(logs_events(log, "damage"), 0);
            CHECK_STATUS(logs_append(log, "5", &err), MAKI_DENIED, &err);
            CHECK_EQ(logs_size(l.path), size);
            l.disk.denies = 0;
            maki_log *writer = logs_get(&l);
            fill(writer, 5, 6);
            maki_log_close(writer);
            CHECK_STATUS(maki_log_refresh(log, &err), MAKI_OK, &err);
            check_rows(log, 6);
            maki_log_close(log);
            CHECK_STATUS(open_shared(&l, &log, &err), MAKI_OK, &err);
            size_t changes = l.disk.changes;
            check_rows(log, 6);
            maki_log_close(log);
            CHECK_EQ(l.disk.changes, changes);
            logs_close(&l);
        }
    }
}

static void test_shared_faults(void)
{
    for (int gone = 0; gone < 2; gone++) {
        tap_row("a read-only open without %s, each allocation failing in turn",
                gone ? "an index" : "the newest rows");
        for (size_t nth = 1;; nth++) {
            logs l;
            maki_err err = { 0 };
            maki_log *log = NULL;
            logs_open(&l, "messages.jsonl");
            log = logs_get(&l);
            fill(log, 1, 3);
            maki_log_close(log);
            logs_add_bytes(l.path, MAKI_LIT("{\"role\":\"user\",\"content\":\"4\"}\n"));
            if (gone) unlink(l.index);
            l.disk.denies = EACCES;
            fake_alloc_fail_at(&l.fe, nth);
            maki_status st = open_shared(&l, &log, &err);
            bool injected = fake_alloc_failed(&l.fe);
            fake_alloc_fail_at(&l.fe, 0);
            CHECK_STATUS(st, injected ? MAKI_NOMEM : MAKI_OK, &err);
            if (st == MAKI_OK) check_rows(log, 4);
            maki_log_close(log);
            logs_close(&l);
            if (!injected) break;
        }
    }
    tap_row("a full disk: a read-only open keeps a private index");
    for (uint64_t capacity = 0; capacity < 400; capacity += 13) {
        logs l;
        maki_err err = { 0 };
        maki_log *log = NULL;
        logs_open(&l, "messages.jsonl");
        log = logs_get(&l);
        fill(log, 1, 3);
        maki_log_close(log);
        logs_add_bytes(l.path, MAKI_LIT("{\"role\":\"user\",\"content\":\"4\"}\n"));
        l.disk.full = true;
        l.disk.capacity = capacity;
        maki_status st = open_shared(&l, &log, &err); /* its own file may be on the same disk */
        CHECK(st == MAKI_OK || st == MAKI_FULL);
        if (st == MAKI_OK) check_rows(log, 4);
        maki_log_close(log);
        l.disk.full = false;
        CHECK_STATUS(open_shared(&l, &log, &err), MAKI_OK, &err);
        check_rows(log, 4);
        maki_log_close(log);
        logs_close(&l);
    }
}

static void test_full(void)
{
    logs l;
    maki_err err = { 0 };
    logs_open(&l, "messages.jsonl");
    maki_log *log = logs_get(&l);
    fill(log, 1, 3);
    tap_row("on a full disk a group is written completely or not at all, wherever the space ends");
    uint64_t rows = 3, events = 0;
    for (uint64_t capacity = 0; capacity < 500; capacity += 7) {
        uint64_t size = logs_size(l.path), events_size = logs_size(l.events);
        l.disk.full = true;
        l.disk.capacity = capacity;
        maki_status st = maki_log_begin(log, NULL, &err);
        if (st == MAKI_OK) {
            st = maki_log_add_event(log, "usage", MAKI_LIT("\"n\":1"), NULL, &err);
            if (st == MAKI_OK) st = maki_log_add_row(log, logs_row("a"), NULL, &err);
            if (st == MAKI_OK) st = maki_log_add_row(log, logs_row("b"), NULL, &err);
            if (st == MAKI_OK)
                st = maki_log_commit(log, &err);
            else
                maki_log_abort(log);
        }
        l.disk.full = false;
        if (st == MAKI_OK) {
            rows += 2;
            events++;
        } else {
            CHECK_STATUS(st, MAKI_FULL, &err);
            CHECK_EQ(logs_size(l.path), size);
            CHECK_EQ(logs_size(l.events), events_size);
        }
        maki_log *reader = logs_read(&l);
        CHECK_EQ(maki_log_last(reader), rows);
        CHECK_EQ(maki_log_events(reader), events);
        maki_log_close(reader);
    }
    CHECK(rows > 3);
    CHECK_STATUS(logs_append(log, "last", &err), MAKI_OK, &err);
    CHECK(logs_has(log, rows + 1, "last"));
    maki_log_close(log);
    logs_close(&l);
}

/* A row of `n` letters between others, in one group. */
static maki_status add_long(maki_log *log, maki_str row, bool commits, maki_err *err)
{
    maki_status st = maki_log_begin(log, NULL, err);
    if (st != MAKI_OK) return st;
    st = maki_log_add_row(log, logs_row("before"), NULL, err);
    if (st == MAKI_OK) st = maki_log_add_row(log, row, NULL, err);
    if (st == MAKI_OK) st = maki_log_add_row(log, logs_row("after"), NULL, err);
    if (st == MAKI_OK) st = maki_log_add_event(log, "usage", MAKI_LIT("\"n\":1"), NULL, err);
    if (st == MAKI_OK && commits) return maki_log_commit(log, err);
    maki_log_abort(log);
    return st;
}

static void test_long(void)
{
    static const char start[] = "{\"role\":\"user\",\"content\":\"";
    enum { LONG = 12 << 20 };
    logs l;
    maki_err err = { 0 };
    char *bytes = malloc(LONG);
    maki_str row = { bytes, LONG };
    memset(bytes, 'a', LONG);
    memcpy(bytes, start, sizeof start - 1);
    memcpy(bytes + LONG - 2, "\"}", 2);
    for (maki_durability class = MAKI_DURABILITY_SYNC; class <= MAKI_DURABILITY_AT_END; class ++) {
        logs_open(&l, "messages.jsonl");
        maki_log_options options = logs_options(&l);
        maki_log *log = NULL;
        options.durability = class;
        options.threads = 1;
        CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_OK, &err);
        tap_row("durability %d: a long row is not held in memory", class);
        l.fe.peak_bytes = l.fe.live_bytes;
        CHECK_STATUS(add_long(log, row, true, &err), MAKI_OK, &err);
        CHECK(l.fe.peak_bytes < LONG / 2);
        CHECK_EQ(maki_log_last(log), 3);
        CHECK(logs_has(log, 1, "before") && logs_has(log, 3, "after"));

        tap_row("durability %d: an aborted one leaves nothing", class);
        uint64_t size = logs_size(l.path);
        if (class != MAKI_DURABILITY_AT_END) { /* which publishes on the way */
            CHECK_STATUS(add_long(log, row, false, &err), MAKI_OK, &err);
            CHECK_EQ(logs_size(l.path), size);
            l.disk.full = true;
            l.disk.capacity = LONG / 2;
            CHECK_STATUS(add_long(log, row, true, &err), MAKI_FULL, &err);
            l.disk.full = false;
            CHECK_EQ(logs_size(l.path), size);
        }

        tap_row("durability %d: opening reads a long row piece by piece", class);
        CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_add_row(log, row, NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_commit(log, &err), MAKI_OK, &err);
        maki_log_close(log);
        l.fe.peak_bytes = l.fe.live_bytes;
        log = logs_get(&l);
        CHECK(l.fe.peak_bytes < LONG / 2);
        CHECK_EQ(maki_log_last(log), 4);
        maki_log_close(log);
        CHECK_STATUS(maki_log_verify(&l.env, l.path, &options, NULL, NULL, NULL, &err), MAKI_OK,
                     &err);
        logs_close(&l);
    }
    free(bytes);
}

/* A group that a killed process left: either the whole group is there, or rows without the events that
 * would have come after them; never an event about rows that are not there. */
static void test_killed(void)
{
    tap_row("after a kill at any call the next process can read the log");
    for (int half = 0; half < 2; half++) {
        for (size_t dies = 1; dies < 200; dies++) {
            logs l;
            maki_err err = { 0 };
            logs_open(&l, "messages.jsonl");
            maki_log *log = logs_get(&l);
            fill(log, 1, 2);
            l.disk.changes = 0;
            l.disk.dies_at = dies;
            l.disk.half = half;
            maki_status st = maki_log_begin(log, NULL, &err);
            if (st == MAKI_OK) {
                st = maki_log_add_row(log, logs_row("3"), NULL, &err);
                if (st == MAKI_OK) {
                    st = maki_log_add_event(log, "usage", MAKI_LIT("\"n\":1"), NULL, &err);
                }
                if (st == MAKI_OK) st = maki_log_commit(log, &err);
            }
            bool died = l.disk.changes >= dies;
            maki_log_close(log);
            l.disk.dies_at = 0;
            log = logs_get(&l);
            if (!log) break;
            uint64_t last = maki_log_last(log);
            CHECK(last == 2 || last == 3);
            check_rows(log, last);
            if (logs_events(log, "usage")) CHECK_EQ(last, 3);
            if (!died) CHECK(last == 3 && logs_events(log, "usage") == 1);
            if (st == MAKI_OK) CHECK(last == 3 && logs_events(log, "usage") == 1);
            fill(log, (int)last + 1, 4);
            check_rows(log, 4);
            maki_log_close(log);
            logs_close(&l);
            if (!died) break;
        }
    }
}

static void test_paths(void)
{
    maki_err err = { 0 };
    logs l;
    tap_row("only a .jsonl file can be a messages file");
    logs_open(&l, "messages.jsonl");
    maki_log_options options = logs_options(&l);
    maki_log *log = NULL;
    CHECK_STATUS(maki_log_open(&l.env, "/tmp/x.json", &options, &log, &err), MAKI_INVALID, &err);
    CHECK_STATUS(maki_log_open(&l.env, ".jsonl", &options, &log, &err), MAKI_INVALID, &err);
    char *path = malloc(5001);
    memset(path, 'a', 5000);
    strcpy(path + 4990, ".jsonl");
    CHECK_STATUS(maki_log_open(&l.env, path, &options, &log, &err), MAKI_INVALID, &err);
    free(path);
    logs_close(&l);
}

/* MAKI_DURABILITY_BY_CALLER: rows are readable at once. */
static void test_reply(void)
{
    logs l;
    maki_err err = { 0 };
    tap_row("MAKI_DURABILITY_BY_CALLER: rows are readable at once");
    logs_open(&l, "messages.jsonl");
    maki_log_options options = logs_options(&l);
    maki_log *log = NULL;
    options.durability = MAKI_DURABILITY_BY_CALLER;
    CHECK_STATUS(maki_log_open(&l.env, l.path, &options, &log, &err), MAKI_OK, &err);
    CHECK_STATUS(logs_append(log, "質問", &err), MAKI_OK, &err);
    CHECK_STATUS(logs_append(log, "答え", &err), MAKI_OK, &err);
    maki_log *reader = logs_read(&l);
    CHECK_EQ(maki_log_last(reader), 2);
    CHECK(logs_has(reader, 2, "答え"));
    maki_log_close(reader);
    maki_log_close(log);
    logs_close(&l);
}

/* A group of rows alone does not look for an events file that was not there. */
static void test_rows_alone(void)
{
    logs l;
    maki_err err = { 0 };
    logs_open(&l, "messages.jsonl");
    for (int noted = 1; noted >= 0; noted--) {
        tap_row("rows alone, and events of another handle that the index %s",
                noted ? "shows" : "does not show");
        maki_log *one = logs_get(&l), *other = logs_get(&l);
        CHECK_STATUS(maki_log_begin_rows(one, NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_add_row(one, logs_row("a"), NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_commit(one, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_begin(other, NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_add_event(other, "usage", MAKI_LIT(""), NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_commit(other, &err), MAKI_OK, &err);
        if (!noted) maki_index_store_event_count(maki_log_open_files(other).index, 0, &err);
        CHECK_STATUS(maki_log_begin_rows(one, NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_add_row(one, logs_row("b"), NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_commit(one, &err), MAKI_OK, &err);
        CHECK_EQ(maki_log_events(one), noted);
        uint64_t ev = 0;
        CHECK_STATUS(maki_log_begin(one, NULL, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_add_event(one, "usage", MAKI_LIT(""), &ev, &err), MAKI_OK, &err);
        CHECK_STATUS(maki_log_commit(one, &err), MAKI_OK, &err);
        CHECK_EQ(ev, 2);
        CHECK_EQ(logs_events(one, "usage"), 2);
        maki_log_close(one);
        maki_log_close(other);
        maki_log_options options = logs_options(&l);
        CHECK_STATUS(maki_log_verify(&l.env, l.path, &options, NULL, NULL, NULL, &err), MAKI_OK,
                     &err);
        unlink(l.path);
        unlink(l.events);
        unlink(l.index);
    }
    logs_close(&l);
}

int main(void)
{
    test_append();
    test_reply();
    test_read_on();
    test_copy();
    test_events();
    test_header();
    test_fork();
    test_torn();
    test_torn_more();
    test_corrupt_index();
    test_other_index();
    test_changed_files();
    test_read_only();
    test_shared();
    test_shared_faults();
    test_full();
    test_long();
    test_killed();
    test_paths();
    test_rows_alone();
    return tap_end();
}
