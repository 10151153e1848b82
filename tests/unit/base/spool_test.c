/* spool_test.c -- bytes in memory, in a file, and back in memory when the file cannot grow. */
#include "base/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

enum { SMALL = 1000, PIECE = 300 };

/* The n-th byte of what is spooled. */
static char byte_at(uint64_t n)
{
    return (char)('a' + n * 7 % 23);
}

static maki_status add_piece(maki_spool *s, size_t n, maki_err *err)
{
    char *piece = malloc(n);
    for (size_t i = 0; i < n; i++)
        piece[i] = byte_at(s->size + i);
    maki_status st = maki_spool_add(s, (maki_str){ piece, n }, err);
    free(piece);
    return st;
}

/* Is this all, by both ways to read? */
static bool holds(maki_spool *s, uint64_t size)
{
    maki_str text;
    maki_err err;
    char some[97];
    if (s->size != size || maki_spool_text(s, &text, &err) != MAKI_OK || text.len != size)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != byte_at(i)) return false;
    }
    for (uint64_t at = 0; at < size;) {
        size_t got = 0;
        if (maki_spool_read(s, at, some, sizeof some, &got, &err) != MAKI_OK || got == 0)
            return false;
        if (memcmp(some, text.ptr + at, got) != 0) return false;
        at += got;
    }
    return true;
}

static void test_moves(void)
{
    fake_env fe;
    maki_err err;
    fake_env_init(&fe);
    tap_row("few bytes stay in memory, more move to a file");
    maki_spool s = maki_spool_new(&fe.env, SMALL);
    for (uint64_t size = PIECE; size < 20 * PIECE; size += PIECE) {
        CHECK_STATUS(add_piece(&s, PIECE, &err), MAKI_OK, &err);
        CHECK(holds(&s, size));
        CHECK(size > SMALL ? s.fd >= 0 : s.fd < 0);
    }
    CHECK(fe.live_bytes <= SMALL);
    tap_row("a cleared spool is empty");
    maki_spool_clear(&s);
    CHECK_STATUS(add_piece(&s, PIECE, &err), MAKI_OK, &err);
    CHECK(holds(&s, PIECE) && s.fd < 0);
    maki_spool_free(&s);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    CHECK_EQ(fake_files_live(&fe), 0);
}

/* The n-th file call fails: nothing is lost, and the spool can be used on. */
static void test_fallback(void)
{
    tap_row("a file that cannot be created or grow: the data stays in memory");
    for (size_t nth = 1;; nth++) {
        fake_env fe;
        maki_err err;
        fake_env_init(&fe);
        maki_spool s = maki_spool_new(&fe.env, SMALL);
        fake_files_fail_at(&fe, nth, ENOSPC);
        for (int i = 0; i < 20; i++)
            CHECK_STATUS(add_piece(&s, PIECE, &err), MAKI_OK, &err);
        bool injected = fake_files_failed(&fe);
        fake_files_fail_at(&fe, 0, 0);
        CHECK(holds(&s, 20 * PIECE));
        CHECK_EQ(s.fallback, injected);
        maki_spool_clear(&s);
        CHECK_STATUS(add_piece(&s, 2 * SMALL, &err), MAKI_OK, &err);
        CHECK(s.fd >= 0 && holds(&s, 2 * SMALL)); /* the next one tries the disk again */
        maki_spool_free(&s);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        CHECK_EQ(fake_files_live(&fe), 0);
        if (!injected) break;
    }
}

static void test_fallback_ends(void)
{
    fake_env fe;
    maki_err err;
    fake_env_init(&fe);
    tap_row("more than that goes to the disk again, which has space now");
    maki_spool s = maki_spool_new(&fe.env, SMALL);
    fake_files_fail_at(&fe, 1, ENOSPC);
    CHECK_STATUS(add_piece(&s, MAKI_SPOOL_FALLBACK, &err), MAKI_OK, &err);
    CHECK(s.fallback && s.fd < 0);
    CHECK_STATUS(add_piece(&s, PIECE, &err), MAKI_OK, &err);
    CHECK(!s.fallback && s.fd >= 0 && holds(&s, MAKI_SPOOL_FALLBACK + PIECE));

    tap_row("or it is an error, with the reason");
    maki_spool_clear(&s);
    fake_files_fail_at(&fe, 1, ENOSPC);
    CHECK_STATUS(add_piece(&s, MAKI_SPOOL_FALLBACK, &err), MAKI_OK, &err);
    fake_files_fail_at(&fe, 1, ENOSPC);
    CHECK_STATUS(add_piece(&s, PIECE, &err), MAKI_FULL, &err);
    CHECK(strstr(err.msg, "No space") != NULL);
    fake_files_fail_at(&fe, 1, EMFILE);
    maki_spool_clear(&s);
    CHECK_STATUS(add_piece(&s, MAKI_SPOOL_FALLBACK + 1, &err), MAKI_IO, &err);
    maki_spool_free(&s);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    CHECK_EQ(fake_files_live(&fe), 0);
}

/* A write that fails after a part of the bytes, with no memory for the data: an error, and all is written when it is tried
 * again. */
static void test_short_writes(void)
{
    tap_row("a failed write leaves no gap");
    for (size_t nth = 1;; nth++) {
        fake_env fe;
        maki_err err;
        fake_env_init(&fe);
        maki_spool s = maki_spool_new(&fe.env, SMALL);
        CHECK_STATUS(add_piece(&s, 2 * SMALL, &err), MAKI_OK, &err);
        fake_files_short(&fe, PIECE / 4);
        fake_files_fail_at(&fe, nth, ENOSPC);
        fake_alloc_fail_at(&fe, 1);
        maki_status st = add_piece(&s, PIECE, &err);
        bool injected = fake_files_failed(&fe);
        CHECK_STATUS(st, injected ? MAKI_FULL : MAKI_OK, &err);
        CHECK_EQ(s.size, 2 * SMALL + (injected ? 0 : PIECE));
        fake_files_fail_at(&fe, 0, 0);
        CHECK_STATUS(add_piece(&s, PIECE, &err), MAKI_OK, &err);
        CHECK(s.fd >= 0 && holds(&s, s.size));
        maki_spool_free(&s);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        CHECK_EQ(fake_files_live(&fe), 0);
        if (!injected) break;
    }
}

static void test_memory(void)
{
    tap_row("out of memory: an error, nothing leaks");
    for (size_t nth = 1;; nth++) {
        fake_env fe;
        maki_err err;
        fake_env_init(&fe);
        maki_spool s = maki_spool_new(&fe.env, SMALL);
        fake_files_fail_at(&fe, 3, ENOSPC); /* when some of it is in the file */
        fake_alloc_fail_at(&fe, nth);
        maki_status st = MAKI_OK;
        for (int i = 0; st == MAKI_OK && i < 8; i++)
            st = add_piece(&s, PIECE, &err);
        bool injected = fake_alloc_failed(&fe);
        CHECK(st == MAKI_OK || injected);
        CHECK(st == MAKI_OK || st == MAKI_NOMEM || st == MAKI_FULL);
        maki_spool_free(&s);
        CHECK_EQ(fake_alloc_live(&fe), 0);
        CHECK_EQ(fake_files_live(&fe), 0);
        if (!injected) break;
    }
}

int main(void)
{
    test_moves();
    test_fallback();
    test_fallback_ends();
    test_short_writes();
    test_memory();
    return tap_end();
}
