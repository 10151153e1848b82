/* log_chaos.c -- several processes on one log: writers that are killed at random points, concurrent writers, and a
 * reader at the same time.
 *
 * The content of a row follows from its number, so that every process can check every row.  Every wait is for a
 * message, a lock or the end of a process; nothing sleeps and nothing is timed.
 *
 *     log_chaos [kills] [seed]      by default 500 and 20261115 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "directory.h"
#include "history/facts.h"
#include "history/token_counter.h"
#include "log/verify.h"
#include "tap.h"

enum {
    LONGEST = 20000,
    PATIENCE_S = 300 /* for a failure to show */
};

typedef struct place {
    directory f;
    char path[512];
} place;

static maki_recent_calls facts; /* of this process */
static maki_token_counter counter;

static maki_log_options options_of(bool read_only)
{
    maki_env env = maki_env_system();
    facts = (maki_recent_calls){ .alloc = env.alloc };
    maki_token_counter_close(&counter);
    maki_token_counter_init(&counter, &env);
    return (maki_log_options){ .create = !read_only,
                               .read_only = read_only,
                               .durability = MAKI_DURABILITY_SYNC,
                               .encoding = MAKI_INDEX_ENCODING,
                               .facts = maki_row_facts_of,
                               .facts_ctx = &facts,
                               .tokens = maki_token_counter_row,
                               .tokens_ctx = &counter };
}

/* Row `seq`, borrowed until the next call: some are short, some longer than a page, all with
 * characters of three bytes that can be torn. */
static maki_str row_of(uint64_t seq)
{
    static char text[LONGEST + 200];
    int n =
        snprintf(text, sizeof text, "{\"role\":\"user\",\"seq\":%" PRIu64 ",\"content\":\"", seq);
    size_t at = (size_t)n, more = seq % 7 == 0 ? seq * 977 % LONGEST : seq * 31 % 200;
    for (size_t i = 0; i < more / 3; i++, at += 3)
        memcpy(text + at, "\xe3\x81\x82", 3);
    memcpy(text + at, "\"}", 2);
    return (maki_str){ text, at + 2 };
}

static void die(const char *what, const maki_err *err)
{
    printf("# pid %d: %s%s%s\n", (int)getpid(), what, err ? ": " : "", err ? err->msg : "");
    fflush(stdout);
    _exit(1);
}

static bool right_row(maki_log *log, uint64_t seq, maki_buf *buf, maki_err *err)
{
    maki_buf_clear(buf);
    return maki_log_read(log, seq, buf, err) == MAKI_OK &&
           maki_str_equal(maki_buf_str(buf), row_of(seq));
}

static pid_t start(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        abort();
    }
    return pid;
}

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/* ---- the reader ----------------------------------------------------------------------------------- */

static maki_status see_event(void *ctx, uint64_t ev, maki_str row, uint64_t at, maki_err *err)
{
    maki_str event;
    (void)ctx;
    (void)ev;
    (void)at;
    return maki_json_check(row, &event, err);
}

/* Until the other end of `stop` is closed: look again, and everything must be right and only grow. */
static void read_on(const place *p, int stop, uint64_t seed, bool verifies)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    maki_log *log = NULL;
    maki_buf buf = maki_buf_new(env.alloc, LONGEST + 1000);
    tap_random random = { seed };
    uint64_t last = 0, events = 0;
    char byte;
    while (read(stop, &byte, 1) < 0 && errno == EAGAIN) {
        if (!log || tap_below(&random, 50) == 0) {
            maki_log_close(log);
            maki_log_options options = options_of(true);
            log = NULL;
            if (maki_log_open(&env, p->path, &options, &log, &err) != MAKI_OK)
                die("reader: open", &err);
            /* Without a shared index a reader also sees rows that are written but not yet
             * acknowledged; with one it does not. */
            if (maki_log_last(log) < last) last = maki_log_last(log);
        } else if (maki_log_refresh(log, &err) != MAKI_OK) {
            die("reader: refresh", &err);
        }
        uint64_t now = maki_log_last(log);
        if (now < last) die("reader: rows went away", NULL);
        for (uint64_t seq = last + 1; seq <= now; seq++) {
            if (!right_row(log, seq, &buf, &err)) die("reader: a new row is wrong", &err);
        }
        last = now;
        uint64_t any = last ? 1 + tap_below(&random, (size_t)last) : 0;
        if (any && !right_row(log, any, &buf, &err)) die("reader: a row is wrong", &err);
        if (maki_log_events(log) < events) die("reader: events went away", NULL);
        events = maki_log_events(log);
        if (tap_below(&random, 20) == 0 &&
            maki_log_each_event(log, see_event, NULL, &err) != MAKI_OK) {
            die("reader: an event is wrong", &err);
        }
        if (verifies && tap_below(&random, 30) == 0) { /* nobody has to stop for it */
            maki_log_options options = options_of(true);
            if (maki_log_verify(&env, p->path, &options, NULL, NULL, NULL, &err) != MAKI_OK) {
                die("reader: verify", &err);
            }
        }
    }
    maki_log_close(log);
    maki_buf_free(&buf);
    _exit(0);
}

typedef struct reader {
    pid_t pid;
    int stop;
} reader;

static reader start_reader(const place *p, uint64_t seed, bool verifies)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) abort();
    pid_t pid = start();
    if (pid == 0) {
        close(ends[1]);
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        read_on(p, ends[0], seed, verifies);
    }
    close(ends[0]);
    return (reader){ pid, ends[1] };
}

static void end_reader(reader r)
{
    close(r.stop);
    CHECK_EQ(wait_for(r.pid), 0);
}

/* ---- a writer that is killed ------------------------------------------------------------------------ */

typedef struct ack {
    uint64_t last, events;
} ack;

/* Groups of one to three rows, some with an event before or after, each acknowledged. */
static void write_on(const place *p, int out, uint64_t seed)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    maki_log *log = NULL;
    tap_random random = { seed };
    maki_log_options options = options_of(false);
    if (maki_log_open(&env, p->path, &options, &log, &err) != MAKI_OK) die("writer: open", &err);
    for (;;) {
        size_t rows = tap_below(&random, 4), kind = tap_below(&random, 3);
        maki_status st = maki_log_begin(log, NULL, &err);
        uint64_t seq = maki_log_last(log);
        if (st == MAKI_OK && kind == 1)
            st = maki_log_add_event(log, "usage", MAKI_LIT("\"n\":1"), NULL, &err);
        for (size_t i = 0; st == MAKI_OK && i < rows; i++) {
            st = maki_log_add_row(log, row_of(++seq), NULL, &err);
        }
        if (st == MAKI_OK && kind == 2)
            st = maki_log_add_event(log, "usage", MAKI_LIT("\"n\":2"), NULL, &err);
        if (st == MAKI_OK) st = maki_log_commit(log, &err);
        if (st != MAKI_OK) die("writer", &err);
        ack done = { maki_log_last(log), maki_log_events(log) };
        if (write(out, &done, sizeof done) != (ssize_t)sizeof done) _exit(0);
    }
}

/* The acknowledgements up to `wanted`, or up to the end. */
static void take_acks(int in, size_t wanted, ack *newest)
{
    ack a;
    while (wanted-- > 0 && read(in, &a, sizeof a) == (ssize_t)sizeof a)
        *newest = a;
}

static void spin(size_t n)
{
    for (volatile size_t i = 0; i < n; i++) {
    }
}

static void on_alarm(int signal)
{
    (void)signal; /* flock ends with EINTR */
}

/* No process keeps the lock.  The reader next to us may hold it shortly, so we wait for it; a writer that
 * was killed and still had it would keep it for ever. */
static bool lock_gets_free(const char *path)
{
    struct sigaction note = { .sa_handler = on_alarm }; /* without SA_RESTART */
    int fd = open(path, O_RDWR | O_CLOEXEC);
    sigaction(SIGALRM, &note, NULL);
    alarm(PATIENCE_S);
    bool is_free = fd >= 0 && flock(fd, LOCK_EX) == 0;
    alarm(0);
    if (fd >= 0) close(fd);
    return is_free;
}

/* What is there after a kill: all that was acknowledged, and at most one group more. */
static bool check_after(const place *p, ack known, uint64_t from, ack *found)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    maki_log *log = NULL;
    maki_buf buf = maki_buf_new(env.alloc, LONGEST + 1000);
    maki_log_options options = options_of(false);
    if (!CHECK(lock_gets_free(p->path))) return false;
    if (!CHECK_STATUS(maki_log_open(&env, p->path, &options, &log, &err), MAKI_OK, &err))
        return false;
    *found = (ack){ maki_log_last(log), maki_log_events(log) };
    bool held = CHECK(found->last >= known.last) && CHECK(found->last <= known.last + 3) &&
                CHECK(found->events >= known.events) &&
                CHECK(found->events <= known.events + 3); /* one of the group, two of torn tails */
    for (uint64_t seq = from; held && seq <= found->last; seq++) {
        held = CHECK(right_row(log, seq, &buf, &err));
    }
    held = CHECK_STATUS(maki_log_each_event(log, see_event, NULL, &err), MAKI_OK, &err) && held;
    maki_log_close(log);
    maki_buf_free(&buf);
    return held;
}

static void verify_all(const place *p)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    maki_log_options options = options_of(false);
    CHECK_STATUS(maki_log_verify(&env, p->path, &options, NULL, NULL, NULL, &err), MAKI_OK, &err);
}

static void test_kills(size_t kills, uint64_t seed)
{
    place p;
    tap_random random = { seed };
    ack known = { 0 };
    size_t torn = 0;
    directory_open(&p.f);
    snprintf(p.path, sizeof p.path, "%s/messages.jsonl", p.f.path);
    directory_write(p.path, MAKI_LIT(""));
    tap_row(
        "%zu writers killed anywhere: what was acknowledged is there, and readers saw only that",
        kills);
    reader r = start_reader(&p, seed ^ 0x9e3779b9, false);
    for (size_t i = 0; i < kills; i++) {
        int ends[2];
        ack found = known;
        if (pipe2(ends, O_CLOEXEC) < 0) abort();
        uint64_t writer_seed = tap_next(&random) | 1;
        pid_t pid = start();
        if (pid == 0) write_on(&p, ends[1], writer_seed);
        close(ends[1]);
        uint64_t from = known.last + 1;
        take_acks(ends[0], tap_below(&random, 8), &known);
        spin(tap_below(&random, 300000));
        kill(pid, SIGKILL);
        int status = wait_for(pid);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        take_acks(ends[0], SIZE_MAX, &known);
        close(ends[0]);
        if (!check_after(&p, known, from, &found)) {
            printf("# kill %zu\n", i);
            break;
        }
        torn += found.events > known.events;
        known = found;
        if (i % 100 == 99) verify_all(&p);
    }
    end_reader(r);
    verify_all(&p);
    printf("# %" PRIu64 " rows, %" PRIu64 " events, %zu kills left more events than acknowledged\n",
           known.last, known.events, torn);
    if (kills > 10) CHECK(known.last > 0);
    directory_close(&p.f);
}

/* ---- writers that race ------------------------------------------------------------------------------- */

/* `count` rows, each decided on the newest one: the number after its number.  A head that moved in
 * between is a conflict; decided again. */
static void count_up(const place *p, size_t count)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    maki_log *log = NULL;
    maki_buf buf = maki_buf_new(env.alloc, LONGEST + 1000);
    maki_log_options options = options_of(false);
    if (maki_log_open(&env, p->path, &options, &log, &err) != MAKI_OK) die("racer: open", &err);
    for (size_t done = 0; done < count;) {
        unsigned char head[MAKI_CHAIN_LEN];
        if (maki_log_refresh(log, &err) != MAKI_OK) die("racer: refresh", &err);
        memcpy(head, maki_log_head(log), MAKI_CHAIN_LEN);
        uint64_t last = maki_log_last(log);
        if (last && !right_row(log, last, &buf, &err)) die("racer: the newest row is wrong", &err);
        maki_status st = maki_log_begin(log, head, &err);
        if (st == MAKI_CONFLICT) continue;
        if (st != MAKI_OK) die("racer: begin", &err);
        st = maki_log_add_row(log, row_of(last + 1), NULL, &err);
        if (st == MAKI_OK && done % 5 == 0) {
            st = maki_log_add_event(log, "usage", MAKI_LIT(""), NULL, &err);
        }
        if (st == MAKI_OK) st = maki_log_commit(log, &err);
        if (st != MAKI_OK) die("racer: commit", &err);
        done++;
        if (done % 100 == 0) unlink(directory_file(&p->f, "messages.idx")); /* it is made again */
    }
    maki_log_close(log);
    maki_buf_free(&buf);
    _exit(0);
}

static void test_races(size_t count, uint64_t seed)
{
    place p;
    directory_open(&p.f);
    snprintf(p.path, sizeof p.path, "%s/messages.jsonl", p.f.path);
    directory_write(p.path, MAKI_LIT(""));
    tap_row("two writers of %zu rows each, and a reader: no update is lost", count);
    reader r = start_reader(&p, seed | 1, true);
    pid_t writers[2];
    for (size_t i = 0; i < 2; i++) {
        writers[i] = start();
        if (writers[i] == 0) count_up(&p, count);
    }
    for (size_t i = 0; i < 2; i++)
        CHECK_EQ(wait_for(writers[i]), 0);
    end_reader(r);
    ack found = { 0 };
    check_after(&p, (ack){ 2 * count, 2 * ((count + 4) / 5) }, 1, &found);
    CHECK_EQ(found.last, 2 * count);
    CHECK_EQ(found.events, 2 * ((count + 4) / 5));
    verify_all(&p);
    directory_close(&p.f);
}

int main(int argc, char **argv)
{
    size_t kills = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : 500;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) | 1 : 20261115;
    printf("# seed %" PRIu64 "\n", seed);
    test_races(400, seed);
    test_kills(kills, seed);
    maki_token_counter_close(&counter);
    return tap_end();
}
