/* journal_test.c -- what a power cut takes from the logs is put back from the journal. */
#include "proxy/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_env.h"
#include "folder.h"
#include "proxy/talk.h"
#include "tap.h"

static unsigned char sessions[3][MAKI_SESSION_BYTES] = { { 1 }, { 2 }, { 3 } };
static folder journal_folder, log_folder;
static fake_env fe;

static maki_journal *open_journal(uint64_t *restored)
{
    maki_journal *j = NULL;
    maki_err err = { 0 };
    CHECK_STATUS(
        maki_journal_open(&fe.env, journal_folder.path, log_folder.path, &j, restored, &err),
        MAKI_OK, &err);
    return j;
}

static const char *path_of(size_t i, const char *end)
{
    char name[80];
    maki_session_text(sessions[i], name);
    strcat(name, end);
    return folder_file(&log_folder, name);
}

/* The file afterwards, as text; "" when there is none. */
static void check_file(size_t i, const char *end, const char *want)
{
    maki_str got = folder_read(path_of(i, end));
    CHECK_TEXT(got.ptr ? got : MAKI_LIT(""), ((maki_str){ want, strlen(want) }));
    char *owned = NULL;
    memcpy(&owned, &got.ptr, sizeof owned);
    free(owned);
}

/* Whoever adds has written before. */
static void add(maki_journal *j, size_t i, maki_log_part part, uint64_t at, const char *text)
{
    CHECK(maki_journal_add(j, sessions[i], part, at, (maki_str){ text, strlen(text) }));
}

/* The power goes: the journal is as it was synced, its owner is gone without a word.  A child does it. */
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

static void three_pieces(maki_journal *j)
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
    folder_write(path_of(1, ".jsonl"), MAKI_LIT("ab\nd"));
    cut_power(three_pieces);
    maki_journal *j = open_journal(&restored);
    CHECK_EQ(restored, 4);
    check_file(0, ".jsonl", "{\"role\":\"user\",\"content\":\"こんにちは\"}\n{\"b\":2}\n");
    check_file(0, ".events.jsonl", "{\"ev\":1}\n");
    check_file(1, ".jsonl", "ab\nd🐟\n");
    maki_journal_close(j);

    tap_row("it is empty afterwards: nothing is put back twice");
    unlink(path_of(0, ".jsonl"));
    j = open_journal(&restored);
    CHECK_EQ(restored, 0);
    check_file(0, ".jsonl", "");
    maki_journal_close(j);

    tap_row("a log that went on differently is left alone, and so is one with a gap");
    folder_write(path_of(0, ".jsonl"), MAKI_LIT("another beginning\n"));
    folder_write(path_of(1, ".jsonl"), MAKI_LIT("a"));
    unlink(path_of(0, ".events.jsonl"));
    cut_power(three_pieces);
    j = open_journal(&restored);
    CHECK_EQ(restored, 1); /* the events */
    check_file(0, ".jsonl", "another beginning\n");
    check_file(1, ".jsonl", "a");
    maki_journal_close(j);

    tap_row("a log of which the journal has no beginning is not made");
    unlink(path_of(1, ".jsonl"));
    cut_power(three_pieces);
    maki_journal_close(open_journal(NULL));
    CHECK_EQ(access(path_of(1, ".jsonl"), F_OK), -1);
}

static void torn(maki_journal *j)
{
    three_pieces(j);
    FILE *f = fopen(folder_file(&journal_folder, "journal.0"), "r+");
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
    tap_row("a piece that is damaged ends the journal");
    unlink(path_of(0, ".jsonl"));
    unlink(path_of(0, ".events.jsonl"));
    folder_write(path_of(1, ".jsonl"), MAKI_LIT("ab\n"));
    cut_power(torn);
    maki_journal *j = open_journal(&restored);
    CHECK_EQ(restored, 3);
    check_file(1, ".jsonl", "ab\n");
    maki_journal_close(j);
}

enum { ROUNDS = 400, PIECE = 100 << 10 };

/* 40 MB: each half is used more than once.  The log is written too, as it would be. */
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
    tap_row("both halves in turn, forty megabytes");
    cut_power(many);
    maki_journal *j = open_journal(&restored);
    CHECK_EQ(restored, 10);
    CHECK(stat(path_of(2, ".jsonl"), &st) == 0 && st.st_size == (off_t)ROUNDS * PIECE);
    maki_str all = folder_read(path_of(2, ".jsonl"));
    bool same = all.len == (size_t)ROUNDS * PIECE;
    for (size_t i = 0; same && i < all.len; i += PIECE)
        same = all.ptr[i] == 'a' + (char)(i / PIECE % 26) && all.ptr[i + PIECE - 1] == '\n';
    CHECK(same);
    char *owned = NULL;
    memcpy(&owned, &all.ptr, sizeof owned);
    free(owned);

    tap_row("a piece that is too long is refused: its log syncs itself");
    static char large[MAKI_JOURNAL_MOST + 1];
    CHECK(
        !maki_journal_add(j, sessions[0], MAKI_LOG_MESSAGES, 0, (maki_str){ large, sizeof large }));
    maki_journal_close(j);
}

static void check_faults(void)
{
    maki_err err = { 0 };
    tap_row("a journal that cannot be written says so once, then refuses");
    maki_journal *j = open_journal(NULL);
    add(j, 0, MAKI_LOG_MESSAGES, 0, "x\n");
    fake_files_fail_at(&fe, 1, ENOSPC);
    CHECK(maki_journal_sync(j, &err) != MAKI_OK);
    fake_files_fail_at(&fe, 0, 0);
    CHECK(!maki_journal_add(j, sessions[0], MAKI_LOG_MESSAGES, 2, MAKI_LIT("y\n")));
    CHECK_STATUS(maki_journal_sync(j, &err), MAKI_OK, &err);
    maki_journal_close(j);

    tap_row("each allocation fails in turn");
    for (size_t nth = 1;; nth++) {
        fake_alloc_fail_at(&fe, nth);
        j = NULL;
        maki_status st =
            maki_journal_open(&fe.env, journal_folder.path, log_folder.path, &j, NULL, &err);
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
    folder_open(&journal_folder);
    folder_open(&log_folder);
    check_restore();
    check_torn();
    check_many();
    check_faults();
    CHECK_EQ(fake_files_live(&fe), 0);
    folder_close(&journal_folder);
    folder_close(&log_folder);
    return tap_end();
}
