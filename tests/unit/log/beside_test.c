/* beside_test.c -- the tokens of another family beside a log: counted once, taken up again, made again
 * when they do not fit, and the same whoever counts them and with how many threads. */
#include "log/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/str.h"
#include "history/tally.h"
#include "log/verify.h"
#include "logs.h"
#include "tap.h"

enum { CLAUDE = 2, CHARS4 = 3 };

typedef struct place {
    logs l;
    maki_tally tally;
    maki_beside_family family;
    char path[512];
} place;

static void place_open(place *p, size_t family)
{
    logs_open(&p->l, "messages.jsonl");
    maki_tally_init(&p->tally, &p->l.env, family);
    p->family = (maki_beside_family){ maki_tally_name(family), maki_tally_read, &p->tally };
    maki_beside_path(p->l.path, p->family.name, p->path, sizeof p->path);
}

static void place_close(place *p)
{
    maki_tally_close(&p->tally);
    logs_close(&p->l);
}

static void say(maki_log *log, size_t rows)
{
    maki_err err = { 0 };
    for (size_t i = 0; i < rows; i++) {
        char text[400];
        snprintf(text, sizeof text, "message %d: 日本語 and English, %.*s",
                 (int)maki_log_last(log) + 1, (int)(maki_log_last(log) * 7 % 200),
                 "The quick brown fox jumps over the lazy dog, again and again and again; then it "
                 "stops, looks back, and jumps once more over the dog, who has not moved at all, "
                 "and will not move before noon.");
        CHECK_STATUS(logs_append(log, text, &err), MAKI_OK, &err);
    }
}

static maki_beside *open_beside(place *p, maki_log *log, bool keep_private)
{
    maki_beside *b = NULL;
    maki_err err = { 0 };
    maki_status st = maki_beside_open(log, &p->family, keep_private, -1, &b, &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    return b;
}

static uint64_t last_of(maki_beside *b)
{
    maki_err err = { 0 };
    uint64_t last = 0;
    CHECK_STATUS(maki_beside_last(b, &last, &err), MAKI_OK, &err);
    return last;
}

static maki_status count(maki_beside *b, maki_err *err)
{
    maki_beside_how how = { .threads = 1, .wait = true };
    return maki_beside_count(b, &how, err);
}

/* Every record is the log's with the family's tokens. */
static bool is_right(place *p, maki_log *log, maki_beside *b)
{
    maki_env env = maki_env_system();
    maki_buf bytes = maki_buf_new(env.alloc, 1 << 20);
    maki_err err = { 0 };
    uint64_t sum = 0;
    bool right = last_of(b) == maki_log_last(log);
    for (uint64_t seq = 1; right && seq <= maki_log_last(log); seq++) {
        maki_row first, other;
        uint32_t tokens = 0;
        maki_buf_clear(&bytes);
        right = maki_log_row(log, seq, &first, &err) == MAKI_OK &&
                maki_beside_row(b, seq, &other, &err) == MAKI_OK &&
                maki_log_read(log, seq, &bytes, &err) == MAKI_OK &&
                maki_tally_read(&p->tally, 0, maki_buf_str(&bytes), NULL, &tokens, &err) == MAKI_OK;
        sum += tokens;
        first.tokens = tokens;
        first.tokens_so_far = sum;
        right = right && memcmp(&first, &other, sizeof first) == 0;
    }
    maki_buf_free(&bytes);
    return right;
}

/* ---- counting ---------------------------------------------------------------------------------- */

static void test_counting(void)
{
    place p;
    maki_err err = { 0 };
    place_open(&p, CLAUDE);
    maki_log *log = logs_get(&p.l);
    maki_beside *b = open_beside(&p, log, false);

    tap_row("nothing is counted before somebody asks");
    say(log, 20);
    CHECK_EQ(last_of(b), 0);
    CHECK_EQ(folder_count(&p.l.f), 2);
    CHECK_CSTR(p.path + strlen(p.l.f.path), "/messages.idx.claude");

    tap_row("counted: the records of the log with other tokens");
    CHECK_STATUS(count(b, &err), MAKI_OK, &err);
    CHECK(is_right(&p, log, b));
    CHECK_EQ(folder_count(&p.l.f), 3);

    tap_row("what came later is taken in, by another handle too");
    say(log, 7);
    CHECK_EQ(last_of(b), 20);
    maki_beside *other = open_beside(&p, log, false);
    CHECK_EQ(last_of(other), 20);
    CHECK_STATUS(count(other, &err), MAKI_OK, &err);
    CHECK(is_right(&p, log, b));
    CHECK(is_right(&p, log, other));
    CHECK_STATUS(count(b, &err), MAKI_OK, &err); /* nothing to do */
    CHECK(is_right(&p, log, b));

    tap_row("somebody else is counting: told, or waited for");
    int fd = open(p.path, O_RDWR | O_CLOEXEC);
    CHECK_EQ(flock(fd, LOCK_EX), 0);
    say(log, 1);
    maki_beside_how how = { .threads = 1 };
    CHECK_STATUS(maki_beside_count(b, &how, &err), MAKI_CONFLICT, &err);
    CHECK_EQ(last_of(b), 27);
    close(fd);
    CHECK_STATUS(maki_beside_count(b, &how, &err), MAKI_OK, &err);
    CHECK(is_right(&p, log, b));
    maki_beside_close(other);

    tap_row("who knows less of the log leaves what others have counted beyond it");
    maki_log *early = logs_read(&p.l);
    say(log, 5);
    CHECK_STATUS(count(b, &err), MAKI_OK, &err);
    maki_str before = folder_read(p.path);
    other = open_beside(&p, early, false);
    CHECK_EQ(last_of(other), maki_log_last(early));
    CHECK_STATUS(count(other, &err), MAKI_OK, &err);
    CHECK(is_right(&p, early, other));
    maki_str after = folder_read(p.path);
    CHECK(maki_str_is(before, after));
    free((void *)(uintptr_t)before.ptr);
    free((void *)(uintptr_t)after.ptr);
    maki_beside_close(other);
    maki_log_close(early);
    maki_beside_close(b);
    maki_beside_close(NULL);
    maki_log_close(log);

    tap_row("a session's is named after it");
    char path[100];
    CHECK(maki_beside_path("x/abc.jsonl", "cl100k_base", path, sizeof path));
    CHECK_CSTR(path, "x/abc.idx.cl100k_base");
    CHECK(!maki_beside_path("x/abc.jsonl", "cl100k_base", path, 10));
    place_close(&p);
}

static void test_bad_rows(void)
{
    place p;
    maki_err err = { 0 };
    place_open(&p, CHARS4);
    tap_row("a row that is no message has no tokens");
    maki_log *log = logs_get(&p.l);
    say(log, 2);
    maki_log_close(log);
    logs_add_bytes(p.l.path, MAKI_LIT("not a message\n\n{\"role\":\"user\",\"content\":\"x\"}\n"));
    log = logs_get(&p.l);
    maki_beside *b = open_beside(&p, log, false);
    maki_row row;
    CHECK_STATUS(count(b, &err), MAKI_OK, &err);
    CHECK_EQ(last_of(b), 5);
    CHECK_STATUS(maki_beside_row(b, 3, &row, &err), MAKI_OK, &err);
    CHECK_EQ(row.tokens, 0);
    CHECK_STATUS(maki_beside_row(b, 4, &row, &err), MAKI_OK, &err);
    CHECK_EQ(row.tokens, 0);
    CHECK_STATUS(maki_beside_row(b, 5, &row, &err), MAKI_OK, &err);
    CHECK_EQ(row.tokens, 5);
    maki_beside_close(b);

    tap_row("a row that was changed on disk is not counted");
    say(log, 3);
    b = open_beside(&p, log, false);
    CHECK_STATUS(maki_log_row(log, 6, &row, &err), MAKI_OK, &err);
    int fd = open(p.l.path, O_WRONLY | O_CLOEXEC);
    CHECK_EQ(pwrite(fd, "#", 1, (off_t)row.offset + 20), 1);
    close(fd);
    CHECK_STATUS(count(b, &err), MAKI_CORRUPT, &err);
    CHECK_EQ(last_of(b), 5);
    maki_beside_close(b);
    maki_log_close(log);
    place_close(&p);
}

/* ---- one that does not fit ------------------------------------------------------------------------- */

static void test_stale(void)
{
    static const char *const ways[] = { "empty",
                                        "cut short",
                                        "another log's",
                                        "a flipped bit in its header",
                                        "another family's",
                                        "that of a log that was here before",
                                        "garbage" };
    for (size_t i = 0; i < COUNT(ways); i++) {
        place p;
        maki_err err = { 0 };
        place_open(&p, CLAUDE);
        tap_row("made again: %s", ways[i]);
        maki_log *log = logs_get(&p.l);
        say(log, 10);
        maki_beside *b = open_beside(&p, log, false);
        CHECK_STATUS(count(b, &err), MAKI_OK, &err);
        maki_beside_close(b);
        maki_str whole = folder_read(p.path);
        char *bytes = (char *)(uintptr_t)whole.ptr;
        switch (i) {
        case 0: logs_cut(p.path, 0); break;
        case 1: logs_cut(p.path, 300); break;
        case 2: bytes[128 + 64 * 9 + 48] ^= 1; break; /* the chain of its last record */
        case 3: bytes[45] ^= 1; break;
        case 4: {
            maki_str first = folder_read(p.l.index);
            folder_write(p.path, first);
            free((void *)(uintptr_t)first.ptr);
            break;
        }
        case 5:
            maki_log_close(log);
            unlink(p.l.path);
            unlink(p.l.index);
            log = logs_get(&p.l);
            CHECK_STATUS(logs_append(log, "another conversation", &err), MAKI_OK, &err);
            say(log, 3);
            break;
        default: memset(bytes, 'x', whole.len); break;
        }
        if (i == 2 || i == 3 || i == 6) folder_write(p.path, whole);
        b = open_beside(&p, log, false);
        CHECK_EQ(last_of(b), 0);
        CHECK_STATUS(count(b, &err), MAKI_OK, &err);
        CHECK(is_right(&p, log, b));
        CHECK_EQ(folder_count(&p.l.f), 3);
        free(bytes);
        maki_beside_close(b);
        maki_log_close(log);
        place_close(&p);
    }
}

/* ---- private ------------------------------------------------------------------------------------------ */

static void test_private(void)
{
    place p;
    maki_err err = { 0 };
    int fd = -1;
    place_open(&p, CLAUDE);
    maki_log *log = logs_get(&p.l);
    say(log, 10);

    tap_row("kept private: nobody else sees it");
    maki_beside *b = open_beside(&p, log, true);
    CHECK_EQ(last_of(b), 0);
    CHECK_STATUS(count(b, &err), MAKI_OK, &err);
    CHECK(is_right(&p, log, b));
    say(log, 3);
    CHECK_STATUS(count(b, &err), MAKI_OK, &err);
    CHECK(is_right(&p, log, b));
    CHECK_EQ(folder_count(&p.l.f), 2);

    tap_row("lent to another handle, which goes on with it");
    say(log, 3);
    CHECK_STATUS(maki_beside_fd(b, &fd, &err), MAKI_OK, &err);
    CHECK(fd >= 0);
    maki_beside *lent = NULL;
    CHECK_STATUS(maki_beside_open(log, &p.family, true, fd, &lent, &err), MAKI_OK, &err);
    CHECK_EQ(last_of(lent), 13);
    CHECK_STATUS(count(lent, &err), MAKI_OK, &err);
    maki_beside_close(lent);
    CHECK(is_right(&p, log, b));
    maki_beside_close(b);

    tap_row("private too where nothing may be written");
    p.l.disk.denies = EACCES;
    b = open_beside(&p, log, false);
    CHECK_STATUS(count(b, &err), MAKI_OK, &err);
    CHECK(is_right(&p, log, b));
    CHECK_STATUS(maki_beside_fd(b, &fd, &err), MAKI_OK, &err);
    CHECK(fd >= 0);
    maki_beside_close(b);
    b = open_beside(&p, log, false);
    CHECK_STATUS(maki_beside_fd(b, &fd, &err), MAKI_OK, &err);
    CHECK(fd >= 0);
    maki_beside_close(b);
    p.l.disk.denies = 0;
    CHECK_EQ(folder_count(&p.l.f), 2);

    tap_row("shared where it may");
    b = open_beside(&p, log, false);
    CHECK_STATUS(maki_beside_fd(b, &fd, &err), MAKI_OK, &err);
    CHECK_EQ(fd, -1);
    CHECK_EQ(last_of(b), 0);
    CHECK_STATUS(count(b, &err), MAKI_OK, &err);
    maki_beside_close(b);

    tap_row("what others have counted is read where nothing may be written");
    b = open_beside(&p, log, true);
    CHECK(is_right(&p, log, b));
    say(log, 2);
    CHECK_EQ(last_of(b), maki_log_last(log) - 2);
    CHECK_STATUS(count(b, &err), MAKI_OK, &err);
    CHECK(is_right(&p, log, b));
    maki_beside *shared = open_beside(&p, log, false);
    CHECK_EQ(last_of(shared), maki_log_last(log) - 2);
    maki_beside_close(shared);
    maki_beside_close(b);
    maki_log_close(log);
    place_close(&p);
}

/* ---- many rows ------------------------------------------------------------------------------------------- */

/* About 5 MB; some rows long, one longer than a batch. */
static void say_much(maki_log *log)
{
    static char text[700 << 10];
    maki_err err = { 0 };
    tap_random random = { 4711 };
    for (size_t n = 0; n < 3000;) {
        CHECK_STATUS(maki_log_begin(log, NULL, &err), MAKI_OK, &err);
        for (size_t i = 0; i < 1000; i++, n++) {
            size_t len = tap_below(&random, 3000), at = 0;
            if (n % 997 == 0) len = 30000;
            if (n == 1500) len = 600 << 10;
            at = (size_t)snprintf(text, sizeof text, "{\"role\":\"user\",\"content\":\"");
            while (at < len + 30)
                text[at++] = "etaoin shrdlu.\xc3\xa9"[tap_below(&random, 14)];
            memcpy(text + at, "\"}", 2);
            maki_status st = maki_log_add_row(log, (maki_str){ text, at + 2 }, NULL, &err);
            CHECK_STATUS(st, MAKI_OK, &err);
        }
        CHECK_STATUS(maki_log_commit(log, &err), MAKI_OK, &err);
    }
}

typedef struct watching {
    uint64_t calls, done, total, stop_at;
} watching;

static maki_status watch(void *ctx, uint64_t done, uint64_t total)
{
    watching *w = ctx;
    w->calls++;
    CHECK(done >= w->done && done <= total);
    w->done = done;
    w->total = total;
    return w->stop_at && w->calls >= w->stop_at ? MAKI_CANCELLED : MAKI_OK;
}

static void test_many(void)
{
    place p;
    maki_err err = { 0 };
    place_open(&p, CLAUDE);
    p.l.env = maki_env_system(); /* the fake one is for one thread */
    p.tally.env = p.l.env;
    maki_log_options options = logs_options(&p.l);
    options.durability = MAKI_LAZY;
    options.threads = 1;
    maki_log *log = NULL;
    CHECK_STATUS(maki_log_open(&p.l.env, p.l.path, &options, &log, &err), MAKI_OK, &err);
    say_much(log);

    tap_row("5 MB by one thread");
    watching w = { 0 };
    maki_beside_how how = { .threads = 1, .progress = watch, .ctx = &w };
    maki_beside *b = open_beside(&p, log, false);
    CHECK_STATUS(maki_beside_count(b, &how, &err), MAKI_OK, &err);
    CHECK(is_right(&p, log, b));
    CHECK(w.calls >= 3 && w.done > 0 && w.total > 4 << 20);
    maki_str serial = folder_read(p.path);
    maki_beside_close(b);

    for (size_t threads = 2; threads <= 5; threads++) {
        tap_row("the same bytes by %zu", threads);
        unlink(p.path);
        b = open_beside(&p, log, false);
        how = (maki_beside_how){ .threads = threads };
        CHECK_STATUS(maki_beside_count(b, &how, &err), MAKI_OK, &err);
        maki_str now = folder_read(p.path);
        CHECK(maki_str_is(now, serial));
        free((void *)(uintptr_t)now.ptr);
        maki_beside_close(b);
    }

    tap_row("stopped again and again, it goes on where it was, and the bytes are the same");
    unlink(p.path);
    b = open_beside(&p, log, false);
    uint64_t before = 0;
    size_t stops = 0;
    maki_status st = MAKI_CANCELLED;
    while (st == MAKI_CANCELLED && stops < 100) {
        w = (watching){ .stop_at = 1 };
        how = (maki_beside_how){ .threads = 1 + stops % 3, .progress = watch, .ctx = &w };
        st = maki_beside_count(b, &how, &err);
        uint64_t last = last_of(b);
        CHECK(last > before);
        before = last;
        stops++;
    }
    CHECK_STATUS(st, MAKI_OK, &err);
    CHECK(stops > 3);
    maki_str now = folder_read(p.path);
    CHECK(maki_str_is(now, serial));
    free((void *)(uintptr_t)now.ptr);
    maki_beside_close(b);

    tap_row("the log's own index is the same too, however many threads make it again");
    maki_str first = folder_read(p.l.index);
    for (size_t threads = 1; threads <= 4; threads++) {
        maki_log_close(log);
        log = NULL;
        unlink(p.l.index);
        options = logs_options(&p.l);
        options.threads = threads;
        w = (watching){ 0 };
        options.progress = watch;
        options.progress_ctx = &w;
        CHECK_STATUS(maki_log_open(&p.l.env, p.l.path, &options, &log, &err), MAKI_OK, &err);
        now = folder_read(p.l.index);
        CHECK(maki_str_is(now, first));
        CHECK(w.calls >= 3);
        free((void *)(uintptr_t)now.ptr);
    }

    tap_row("making it again can be stopped; the old one is not there, and nothing half is");
    maki_log_close(log);
    log = NULL;
    unlink(p.l.index);
    options = logs_options(&p.l);
    options.threads = 2;
    w = (watching){ .stop_at = 2 };
    options.progress = watch;
    options.progress_ctx = &w;
    CHECK_STATUS(maki_log_open(&p.l.env, p.l.path, &options, &log, &err), MAKI_CANCELLED, &err);
    CHECK_EQ(folder_count(&p.l.f), 2);
    free((void *)(uintptr_t)first.ptr);
    free((void *)(uintptr_t)serial.ptr);
    maki_tally_close(&p.l.tally);
    place_close(&p);
}

/* ---- proof ---------------------------------------------------------------------------------------------- */

typedef struct seen {
    size_t n;
    char file[32];
} seen;

static maki_status see(void *ctx, const maki_finding *finding, maki_err *err)
{
    seen *s = ctx;
    (void)err;
    s->n++;
    snprintf(s->file, sizeof s->file, "%s", finding->file);
    return MAKI_OK;
}

static maki_status verify(place *p, seen *s, bool repair, maki_err *err)
{
    maki_log_options options = logs_options(&p->l);
    options.beside = &p->family;
    options.beside_count = 1;
    *s = (seen){ 0 };
    maki_status st = repair ? maki_log_fsck(&p->l.env, p->l.path, &options, true, see, s, NULL, err)
                            : maki_log_verify(&p->l.env, p->l.path, &options, see, s, NULL, err);
    maki_tally_close(&p->l.tally);
    maki_tally_close(&p->tally);
    return st;
}

static void test_proof(void)
{
    place p;
    seen s;
    maki_err err = { 0 };
    place_open(&p, CHARS4);
    maki_log *log = logs_get(&p.l);
    say(log, 12);
    maki_beside *b = open_beside(&p, log, false);
    CHECK_STATUS(count(b, &err), MAKI_OK, &err);
    maki_beside_close(b);
    say(log, 3);
    maki_log_close(log);

    tap_row("one that is right, as far as it goes, is no finding");
    CHECK_STATUS(verify(&p, &s, false, &err), MAKI_OK, &err);

    tap_row("a changed bit in any byte is found, or means that it is made again");
    maki_str whole = folder_read(p.path);
    char *bytes = (char *)(uintptr_t)whole.ptr;
    size_t found = 0, remade = 0, missed = 0;
    for (size_t i = 0; i < whole.len; i++) {
        bytes[i] ^= (char)(1 << i % 8);
        folder_write(p.path, whole);
        maki_status st = verify(&p, &s, false, &err);
        if (st == MAKI_CORRUPT && s.n == 1 && strcmp(s.file, "index chars4") == 0) {
            found++;
        } else {
            log = logs_get(&p.l);
            b = open_beside(&p, log, false);
            remade += last_of(b) == 0;
            missed += last_of(b) != 0;
            maki_beside_close(b);
            maki_log_close(log);
        }
        bytes[i] ^= (char)(1 << i % 8);
    }
    CHECK_EQ(missed, 0);
    CHECK(found > 700 && remade < 60);

    tap_row("a repair takes it away");
    bytes[128 + 64 * 3 + 12] ^= 1; /* tokens of the 4th */
    folder_write(p.path, whole);
    CHECK_STATUS(verify(&p, &s, false, &err), MAKI_CORRUPT, &err);
    CHECK_CSTR(s.file, "index chars4");
    CHECK_STATUS(verify(&p, &s, true, &err), MAKI_OK, &err);
    CHECK_EQ(logs_size(p.path), 0);
    CHECK_STATUS(verify(&p, &s, false, &err), MAKI_OK, &err);
    CHECK_EQ(s.n, 0);
    free(bytes);

    tap_row("an index of the estimate, from before there were vocabularies, is no finding, and is "
            "made again");
    maki_log_options options = logs_options(&p.l);
    options.family = MAKI_FAMILY_ESTIMATE;
    options.tokens_ctx = &p.tally;
    unlink(p.l.index);
    CHECK_STATUS(maki_log_open(&p.l.env, p.l.path, &options, &log, &err), MAKI_OK, &err);
    maki_log_close(log);
    maki_str old = folder_read(p.l.index);
    CHECK_STATUS(verify(&p, &s, false, &err), MAKI_OK, &err);
    CHECK_STATUS(verify(&p, &s, true, &err), MAKI_OK, &err);
    log = logs_get(&p.l);
    maki_str now = folder_read(p.l.index);
    CHECK(!maki_str_is(old, now) && old.len == now.len);
    CHECK_CSTR(maki_log_inside(log).index->header.family, MAKI_FAMILY);
    maki_log_close(log);
    CHECK_STATUS(verify(&p, &s, false, &err), MAKI_OK, &err);
    free((void *)(uintptr_t)old.ptr);
    free((void *)(uintptr_t)now.ptr);
    place_close(&p);
}

/* ---- faults ------------------------------------------------------------------------------------------------ */

/* Count in two steps, with rows in between. */
static maki_status work(place *p, maki_err *err)
{
    maki_log *log = NULL;
    maki_beside *b = NULL;
    maki_log_options options = logs_options(&p->l);
    maki_status st = maki_log_open(&p->l.env, p->l.path, &options, &log, err);
    if (st == MAKI_OK) st = maki_beside_open(log, &p->family, false, -1, &b, err);
    uint64_t last = 0;
    if (st == MAKI_OK) st = maki_beside_last(b, &last, err);
    if (st == MAKI_OK) st = count(b, err);
    if (st == MAKI_OK) st = logs_append(log, "one more", err);
    if (st == MAKI_OK) st = count(b, err);
    if (st == MAKI_OK) st = maki_beside_last(b, &last, err);
    maki_beside_close(b);
    maki_log_close(log);
    maki_tally_close(&p->l.tally);
    maki_tally_close(&p->tally);
    return st;
}

static void prepare(place *p)
{
    place_open(p, CLAUDE);
    maki_log *log = logs_get(&p->l);
    say(log, 5);
    maki_log_close(log);
    maki_tally_close(&p->l.tally);
}

static void check_after(place *p, size_t nth)
{
    maki_err err = { 0 };
    maki_log *log = logs_get(&p->l);
    maki_beside *b = open_beside(p, log, false);
    bool ok = CHECK_STATUS(count(b, &err), MAKI_OK, &err) && CHECK(is_right(p, log, b));
    if (!ok) printf("# call %zu\n", nth);
    maki_beside_close(b);
    maki_log_close(log);
}

static void test_faults(void)
{
    tap_row("every allocation fails once");
    for (size_t nth = 1;; nth++) {
        place p;
        maki_err err = { 0 };
        prepare(&p);
        fake_alloc_fail_at(&p.l.fe, nth);
        maki_status st = work(&p, &err);
        bool injected = fake_alloc_failed(&p.l.fe);
        fake_alloc_fail_at(&p.l.fe, 0);
        CHECK_STATUS(st, injected ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(&p.l.fe), 0);
        CHECK_EQ(fake_files_live(&p.l.fe), 0);
        check_after(&p, nth);
        place_close(&p);
        if (!injected) break;
    }
    static const int codes[] = { EIO, ENOSPC, EACCES };
    for (size_t i = 0; i < COUNT(codes); i++) {
        tap_row("every file call fails once, with errno %d", codes[i]);
        for (size_t nth = 1;; nth++) {
            place p;
            maki_err err = { 0 };
            prepare(&p);
            fake_files_fail_at(&p.l.fe, nth, codes[i]);
            maki_status st = work(&p, &err);
            bool injected = fake_files_failed(&p.l.fe);
            fake_files_fail_at(&p.l.fe, 0, 0);
            if (!injected) CHECK_STATUS(st, MAKI_OK, &err);
            CHECK_EQ(fake_alloc_live(&p.l.fe), 0);
            CHECK_EQ(fake_files_live(&p.l.fe), 0);
            check_after(&p, nth);
            CHECK_EQ(folder_count(&p.l.f), 3); /* nothing half is left */
            place_close(&p);
            if (!injected) break;
        }
    }
    tap_row("the process dies at every change of a file");
    for (size_t nth = 1;; nth++) {
        place p;
        maki_err err = { 0 };
        prepare(&p);
        p.l.disk.changes = 0;
        p.l.disk.dies_at = nth;
        p.l.disk.half = nth % 2;
        maki_status st = work(&p, &err);
        bool died = p.l.disk.changes >= nth;
        p.l.disk.dies_at = 0;
        if (!died) CHECK_STATUS(st, MAKI_OK, &err);
        check_after(&p, nth);
        place_close(&p);
        if (!died) break;
    }
}

/* ---- names ---------------------------------------------------------------------------------------- */

/* The rows of a log, all counted, in `family`; how many rows were counted to get there. */
static uint64_t counted_now(place *p, const char *path, uint64_t rows)
{
    maki_err err = { 0 };
    maki_log *log = NULL;
    maki_log_options options = logs_options(&p->l);
    CHECK_STATUS(maki_log_open(&p->l.env, path, &options, &log, &err), MAKI_OK, &err);
    CHECK_EQ(maki_log_last(log), rows);
    maki_beside *b = open_beside(p, log, false);
    uint64_t before = last_of(b);
    CHECK_STATUS(count(b, &err), MAKI_OK, &err);
    CHECK_EQ(last_of(b), rows);
    maki_beside_close(b);
    maki_log_close(log);
    return rows - before;
}

static void fill_log(place *p, const char *path, size_t rows)
{
    maki_err err = { 0 };
    maki_log *log = NULL;
    maki_log_options options = logs_options(&p->l);
    CHECK_STATUS(maki_log_open(&p->l.env, path, &options, &log, &err), MAKI_OK, &err);
    say(log, rows);
    maki_log_close(log);
}

static void test_names(void)
{
    place p;
    char talk[600], other[600], former[600], now[600], index[600];
    place_open(&p, CLAUDE);
    snprintf(talk, sizeof talk, "%s/talk.jsonl", p.l.f.path);
    snprintf(other, sizeof other, "%s/talk.claude.jsonl", p.l.f.path);
    snprintf(former, sizeof former, "%s/talk.claude.idx", p.l.f.path);
    snprintf(now, sizeof now, "%s/talk.idx.claude", p.l.f.path);
    snprintf(index, sizeof index, "%s/talk.claude.idx", p.l.f.path);
    fill_log(&p, talk, 5);
    fill_log(&p, other, 7);

    tap_row("talk.jsonl and talk.claude.jsonl keep their indexes apart");
    maki_str first = folder_read(index);
    CHECK_EQ(counted_now(&p, talk, 5), 5);
    CHECK_EQ(counted_now(&p, other, 7), 7);
    CHECK_EQ(counted_now(&p, talk, 5), 0);
    CHECK_EQ(counted_now(&p, other, 7), 0);
    maki_str again = folder_read(index);
    CHECK(first.len == again.len && memcmp(first.ptr, again.ptr, first.len) == 0);
    free((void *)(uintptr_t)first.ptr);
    free((void *)(uintptr_t)again.ptr);

    tap_row("one with the former name is not taken when it is another log's first index");
    unlink(now);
    CHECK_EQ(counted_now(&p, talk, 5), 5);
    CHECK_EQ(maki_beside_remove(&p.l.env, talk, "claude", NULL), MAKI_OK);
    CHECK_EQ(access(now, F_OK), -1);
    CHECK_EQ(access(index, F_OK), 0);

    tap_row("one with the former name is taken over");
    CHECK_EQ(counted_now(&p, talk, 5), 5);
    unlink(other);
    CHECK_EQ(rename(now, former), 0);
    CHECK_EQ(counted_now(&p, talk, 5), 0);
    CHECK_EQ(access(former, F_OK), -1);
    CHECK_EQ(access(now, F_OK), 0);

    tap_row("or read where it is, where nothing may be written");
    CHECK_EQ(rename(now, former), 0);
    maki_err err = { 0 };
    maki_log *log = NULL;
    maki_log_options options = logs_options(&p.l);
    options.create = false;
    options.read_only = true;
    CHECK_STATUS(maki_log_open(&p.l.env, talk, &options, &log, &err), MAKI_OK, &err);
    maki_beside *b = open_beside(&p, log, true);
    CHECK_EQ(last_of(b), 5);
    maki_beside_close(b);
    maki_log_close(log);
    CHECK_EQ(access(former, F_OK), 0);
    CHECK_EQ(access(now, F_OK), -1);

    tap_row("and removed under either name");
    CHECK_EQ(maki_beside_remove(&p.l.env, talk, "claude", NULL), MAKI_OK);
    CHECK_EQ(access(former, F_OK), -1);
    place_close(&p);
}

int main(void)
{
    test_counting();
    test_names();
    test_bad_rows();
    test_stale();
    test_private();
    test_many();
    test_proof();
    test_faults();
    return tap_end();
}
