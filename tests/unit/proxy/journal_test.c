/* journal_test.c -- rows that a power cut took from the logs are restored from the journal. */
#include "proxy/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "directory.h"
#include "fake_env.h"
#include "proxy/live_conversation.h"
#include "tap.h"

static unsigned char sessions[3][MAKI_SESSION_BYTES] = { { 1 }, { 2 }, { 3 } };
static directory journal_directory, log_directory;
static fake_env fe;

static const char *boot = ""; /* which start of the machine it is; "": nobody knows */

/* The log lines of the journal. */
static char told[4096];

static maki_status keep_line(void *ctx, maki_str line, maki_err *err)
{
    size_t len = strlen(told);
    (void)ctx, (void)err;
    snprintf(told + len, sizeof told - len, "%.*s", (int)line.len, line.ptr);
    return MAKI_OK;
}

static maki_status try_open(maki_journal **j, uint64_t *restored, maki_err *err)
{
    static maki_logger logger;
    logger = (maki_logger){ fe.env.clock, { keep_line, NULL }, MAKI_DEBUG };
    maki_journal_options options = { .directory = journal_directory.path,
                                     .sessions = log_directory.path,
                                     .boot = { boot, strlen(boot) },
                                     .logger = &logger };
    return maki_journal_open(&fe.env, &options, j, restored, err);
}

static maki_journal *open_journal(uint64_t *restored)
{
    maki_journal *j = NULL;
    maki_err err = { 0 };
    CHECK_STATUS(try_open(&j, restored, &err), MAKI_OK, &err);
    return j;
}

static const char *path_of(size_t i, const char *end)
{
    char name[80];
    maki_session_text(sessions[i], name);
    strcat(name, end);
    return directory_file(&log_directory, name);
}

/* Compare a file after the restore; "" for a missing one. */
static void check_file(size_t i, const char *end, const char *want)
{
    maki_str got = directory_read(path_of(i, end));
    CHECK_TEXT(got.ptr ? got : MAKI_LIT(""), ((maki_str){ want, strlen(want) }));
    char *owned = NULL;
    memcpy(&owned, &got.ptr, sizeof owned);
    free(owned);
}

/* Add to the journal what was written to a log. */
static void add(maki_journal *j, size_t i, maki_log_part part, uint64_t at, const char *text)
{
    CHECK(maki_journal_add(j, sessions[i], part, at, (maki_str){ text, strlen(text) }));
}

/* Simulate a power cut: a child process writes and exits without closing; only synced bytes remain. */
static void cut_power(void (*life)(maki_journal *j))
{
    pid_t child = fork();
    if (child == 0) {
        maki_journal *j = open_journal(NULL);
        life(j);
        _exit(0);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static void add_three_groups(maki_journal *j)
{
    maki_err err = { 0 };
    add(j, 0, MAKI_LOG_MESSAGES, 0, "{\"role\":\"user\",\"content\":\"こんにちは\"}\n");
    add(j, 0, MAKI_LOG_EVENTS, 0, "{\"ev\":1}\n");
    if (maki_journal_sync(j, &err) != MAKI_OK) _exit(1);
    add(j, 0, MAKI_LOG_MESSAGES, 44, "{\"b\":2}\n");
    add(j, 1, MAKI_LOG_MESSAGES, 3, "d🐟\n");
    if (maki_journal_sync(j, &err) != MAKI_OK) _exit(1);
    add(j, 1, MAKI_LOG_MESSAGES, 9, "never synced\n");
}

static void check_restore(void)
{
    uint64_t restored = 0;
    tap_row(
        "what is gone is put back, what is half there is completed, what was not synced is not there");
    directory_write(path_of(1, ".jsonl"), MAKI_LIT("ab\nd"));
    cut_power(add_three_groups);
    maki_journal *j = open_journal(&restored);
    CHECK_EQ(restored, 4);
    check_file(0, ".jsonl", "{\"role\":\"user\",\"content\":\"こんにちは\"}\n{\"b\":2}\n");
    check_file(0, ".events.jsonl", "{\"ev\":1}\n");
    check_file(1, ".jsonl", "ab\nd🐟\n");
    maki_journal_close(j);

    tap_row("the journal is empty after a restore: nothing is written twice");
    unlink(path_of(0, ".jsonl"));
    j = open_journal(&restored);
    CHECK_EQ(restored, 0);
    check_file(0, ".jsonl", "");
    maki_journal_close(j);

    tap_row("a log with other bytes at that offset, or with a gap before it, is not changed");
    directory_write(path_of(0, ".jsonl"), MAKI_LIT("another beginning\n"));
    directory_write(path_of(1, ".jsonl"), MAKI_LIT("a"));
    unlink(path_of(0, ".events.jsonl"));
    cut_power(add_three_groups);
    j = open_journal(&restored);
    CHECK_EQ(restored, 1); /* the events */
    check_file(0, ".jsonl", "another beginning\n");
    check_file(1, ".jsonl", "a");
    maki_journal_close(j);

    tap_row("a missing log is not created unless the journal has its beginning");
    unlink(path_of(1, ".jsonl"));
    cut_power(add_three_groups);
    maki_journal_close(open_journal(NULL));
    CHECK_EQ(access(path_of(1, ".jsonl"), F_OK), -1);
}

static void torn(maki_journal *j)
{
    add_three_groups(j);
    FILE *f = fopen(directory_file(&journal_directory, "journal.0"), "r+");
    if (!f || fseek(f, -9, SEEK_END) != 0) _exit(1);
    /* the file is as long as it may be: look for the last piece and break it */
    char text[4096];
    rewind(f);
    size_t n = fread(text, 1, sizeof text, f);
    char *at = memmem(text, n, "d\xf0\x9f\x90\x9f", 5);
    if (!at || fseek(f, at - text, SEEK_SET) != 0 || fputc('x', f) == EOF) _exit(1);
    fclose(f);
}

static void check_torn(void)
{
    uint64_t restored = 0;
    tap_row("a damaged group ends the journal");
    unlink(path_of(0, ".jsonl"));
    unlink(path_of(0, ".events.jsonl"));
    directory_write(path_of(1, ".jsonl"), MAKI_LIT("ab\n"));
    cut_power(torn);
    maki_journal *j = open_journal(&restored);
    CHECK_EQ(restored, 3);
    check_file(1, ".jsonl", "ab\n");
    maki_journal_close(j);
}

enum { ROUNDS = 400, PIECE = 100 << 10 };

/* 40 MB: each of the two files is used more than once.  The log is written as well. */
static void many(maki_journal *j)
{
    static char bytes[PIECE];
    maki_err err = { 0 };
    FILE *f = fopen(path_of(2, ".jsonl"), "w");
    for (uint64_t i = 0; i < ROUNDS; i++) {
        memset(bytes, 'a' + (int)(i % 26), sizeof bytes);
        bytes[PIECE - 1] = '\n';
        if (!f || fwrite(bytes, 1, PIECE, f) != PIECE || fflush(f) != 0) _exit(1);
        if (!maki_journal_add(j, sessions[2], MAKI_LOG_MESSAGES, i * PIECE,
                              (maki_str){ bytes, PIECE }) ||
            maki_journal_sync(j, &err) != MAKI_OK)
            _exit(1);
    }
    /* the last megabyte never reached the disk */
    if (ftruncate(fileno(f), (off_t)(ROUNDS - 10) * PIECE) != 0) _exit(1);
}

static void check_many(void)
{
    struct stat st;
    uint64_t restored = 0;
    tap_row("forty megabytes, alternating between the two files");
    cut_power(many);
    maki_journal *j = open_journal(&restored);
    CHECK_EQ(restored, 10);
    CHECK(stat(path_of(2, ".jsonl"), &st) == 0 && st.st_size == (off_t)ROUNDS * PIECE);
    maki_str all = directory_read(path_of(2, ".jsonl"));
    bool same = all.len == (size_t)ROUNDS * PIECE;
    for (size_t i = 0; same && i < all.len; i += PIECE)
        same = all.ptr[i] == 'a' + (char)(i / PIECE % 26) && all.ptr[i + PIECE - 1] == '\n';
    CHECK(same);
    char *owned = NULL;
    memcpy(&owned, &all.ptr, sizeof owned);
    free(owned);

    tap_row("a group that is too long is refused: its log is synced directly");
    static char large[MAKI_JOURNAL_MAX + 1];
    CHECK(
        !maki_journal_add(j, sessions[0], MAKI_LOG_MESSAGES, 0, (maki_str){ large, sizeof large }));
    maki_journal_close(j);
}

/* ---- a disk that fills up ---------------------------------------------------------------------------- */

static ssize_t (*real_pwrite)(const maki_files *, int, const void *, size_t, off_t);
static int (*real_sync)(const maki_files *, int);
static bool no_writing, no_syncing;
static size_t syncs;

static ssize_t full_pwrite(const maki_files *self, int fd, const void *bytes, size_t n, off_t at)
{
    if (!no_writing) return real_pwrite(self, fd, bytes, n, at);
    errno = ENOSPC;
    return -1;
}

static int full_sync(const maki_files *self, int fd)
{
    syncs++;
    if (!no_syncing) return real_sync(self, fd);
    errno = ENOSPC;
    return -1;
}

static void break_disk(bool writing, bool syncing)
{
    maki_files *table = &fe.files_table.table;
    if (!real_pwrite) {
        real_pwrite = table->pwrite;
        real_sync = table->sync;
        table->pwrite = full_pwrite;
        table->sync = full_sync;
    }
    no_writing = writing;
    no_syncing = syncing;
}

static size_t count_reports(const char *event)
{
    size_t n = 0;
    for (const char *at = told; (at = strstr(at, event)) != NULL; at++)
        n++;
    return n;
}

#define MUST(x)                                 \
    do {                                        \
        if (!(x)) {                             \
            printf("# %d: %s\n", __LINE__, #x); \
            fflush(stdout);                     \
            _exit(1);                           \
        }                                       \
    } while (0)

/* The disk is full for a while: logs are synced directly; then there is space, and the journal continues. */
static void full_for_a_while(maki_journal *j)
{
    maki_str row = MAKI_LIT("{\"b\":\"満杯\"}\n");
    uint64_t end = 9;
    MUST(maki_journal_add(j, sessions[0], MAKI_LOG_MESSAGES, 0, MAKI_LIT("{\"a\": 1}\n")));
    MUST(maki_journal_sync(j, NULL) == MAKI_OK);
    MUST(maki_journal_add(j, sessions[0], MAKI_LOG_MESSAGES, end, row));
    end += row.len;
    break_disk(true, false);
    syncs = 0;
    MUST(maki_journal_sync(j, NULL) == MAKI_OK); /* durable all the same: in the log */
    MUST(syncs >= 1);
    for (int i = 0; i < 10; i++) {
        fe.now_ms += 700;
        MUST(!maki_journal_add(j, sessions[0], MAKI_LOG_MESSAGES, end, row));
        MUST(maki_journal_sync(j, NULL) == MAKI_OK);
    }
    MUST(count_reports("journal_off") == 1 && count_reports("journal_on") == 0);
    MUST(strstr(told, "No space left on device"));
    break_disk(false, false);
    fe.now_ms += 2000;
    MUST(maki_journal_sync(j, NULL) == MAKI_OK);
    MUST(count_reports("journal_off") == 1 && count_reports("journal_on") == 1);
    MUST(maki_journal_add(j, sessions[0], MAKI_LOG_MESSAGES, end, row));
    MUST(maki_journal_sync(j, NULL) == MAKI_OK);
}

static void check_full(void)
{
    uint64_t restored = 0;
    tap_row("off while the disk is full, on again when there is space: reported once each");
    told[0] = '\0';
    directory_write(path_of(0, ".jsonl"), MAKI_LIT("{\"a\": 1}\n{\"b\":\"満杯\"}\n"));
    cut_power(full_for_a_while);
    maki_journal *j = open_journal(&restored);
    CHECK_EQ(restored, 1); /* what came after: the rest was synced in the log */
    check_file(0, ".jsonl", "{\"a\": 1}\n{\"b\":\"満杯\"}\n{\"b\":\"満杯\"}\n");
    maki_journal_close(j);
}

/* ---- sessions that are deleted ----------------------------------------------------------------------- */

static void check_deleted(void)
{
    uint64_t restored = 0;
    tap_row(
        "a session that was deleted stays so: the machine did not stop, nothing can be missing");
    unlink(path_of(0, ".jsonl"));
    unlink(path_of(0, ".events.jsonl"));
    directory_write(path_of(1, ".jsonl"), MAKI_LIT("ab\nd"));
    boot = "5a0d";
    cut_power(add_three_groups); /* they are not there: somebody deleted them meanwhile */
    maki_journal *j = open_journal(&restored);
    CHECK_EQ(restored, 1);
    check_file(1, ".jsonl", "ab\nd🐟\n");
    CHECK_EQ(access(path_of(0, ".jsonl"), F_OK), -1);
    CHECK_EQ(access(path_of(0, ".events.jsonl"), F_OK), -1);
    maki_journal_close(j);

    tap_row(
        "after a reboot a missing log is restored: the power cut may have lost its directory entry");
    cut_power(add_three_groups);
    boot = "77c1";
    j = open_journal(&restored);
    CHECK_EQ(restored, 3);
    check_file(0, ".events.jsonl", "{\"ev\":1}\n");
    maki_journal_close(j);
    boot = "";
}

static void check_faults(void)
{
    maki_err err = { 0 };
    tap_row(
        "neither the journal nor the log can be written: it is said, and the journal stays off");
    maki_journal *j = open_journal(NULL);
    directory_write(path_of(0, ".jsonl"), MAKI_LIT("x\n"));
    add(j, 0, MAKI_LOG_MESSAGES, 0, "x\n");
    break_disk(true, true);
    CHECK_STATUS(maki_journal_sync(j, &err), MAKI_FULL, &err);
    break_disk(false, false);
    fe.now_ms += 60000;
    CHECK_STATUS(maki_journal_sync(j, &err), MAKI_OK, &err);
    CHECK(!maki_journal_add(j, sessions[0], MAKI_LOG_MESSAGES, 2, MAKI_LIT("y\n")));
    maki_journal_close(j);

    tap_row("each allocation fails in turn");
    for (size_t nth = 1;; nth++) {
        fake_alloc_fail_at(&fe, nth);
        j = NULL;
        maki_status st = try_open(&j, NULL, &err);
        if (st == MAKI_OK &&
            maki_journal_add(j, sessions[0], MAKI_LOG_MESSAGES, 0, MAKI_LIT("z\n")))
            st = maki_journal_sync(j, &err);
        bool injected = fake_alloc_failed(&fe);
        fake_alloc_fail_at(&fe, 0);
        CHECK(injected || st == MAKI_OK);
        maki_journal_close(j);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        if (!injected) break;
    }
}

int main(void)
{
    fake_env_init(&fe);
    directory_open(&journal_directory);
    directory_open(&log_directory);
    check_restore();
    check_torn();
    check_many();
    check_full();
    check_deleted();
    check_faults();
    CHECK_EQ(fake_files_live(&fe), 0);
    directory_close(&journal_directory);
    directory_close(&log_directory);
    return tap_end();
}
