/* prefixes_test.c -- the table of prefixes: entries are found after growth, damage and failed writes. */
#include "proxy/prefixes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "directory.h"
#include "fake_env.h"
#include "tap.h"

static void number(unsigned char out[16], uint64_t n)
{
    uint64_t words[2] = { n * 0x9e3779b97f4a7c15u, n };
    memcpy(out, words, sizeof words);
}

static maki_prefix entry_of(uint64_t n)
{
    maki_prefix entry = { .seq = n & MAKI_PREFIX_NUMBER_MAX,
                          .ev = n / 2 & MAKI_PREFIX_NUMBER_MAX,
                          .fingerprint_low = n & 0xffff,
                          .tokens = (uint32_t)n * 3,
                          .used = 7 };
    number(entry.prefix, n);
    number(entry.session, ~n);
    return entry;
}

static bool finds(maki_prefixes *t, uint64_t n)
{
    maki_prefix want = entry_of(n), got;
    maki_err err = { 0 };
    bool found = false;
    CHECK_STATUS(maki_prefixes_find(t, want.prefix, &got, &found, &err), MAKI_OK, &err);
    want.check = got.check;
    return found && memcmp(&want, &got, sizeof got) == 0;
}

static size_t count_found(maki_prefixes *t, uint64_t max)
{
    size_t n = 0;
    for (uint64_t i = 1; i <= max; i++)
        n += finds(t, i);
    return n;
}

static void check_many(fake_env *fe, const char *path)
{
    maki_prefixes t;
    maki_err err = { 0 };
    tap_row("ten thousand entries: the table grows");
    CHECK_STATUS(maki_prefixes_open(&t, &fe->env, path, &err), MAKI_OK, &err);
    for (uint64_t i = 1; i <= 10000; i++)
        CHECK_STATUS(maki_prefixes_insert(&t, entry_of(i), &err), MAKI_OK, &err);
    CHECK_EQ(t.count, 10000);
    CHECK_EQ(count_found(&t, 10000), 10000);
    CHECK(!finds(&t, 10001));

    tap_row("another daemon on the same directory is refused");
    maki_prefixes second;
    CHECK_STATUS(maki_prefixes_open(&second, &fe->env, path, &err), MAKI_CONFLICT, &err);
    maki_prefixes_close(&t);

    tap_row("they are found after a reopen");
    CHECK_STATUS(maki_prefixes_open(&t, &fe->env, path, &err), MAKI_OK, &err);
    CHECK_EQ(t.count, 10000);
    CHECK_EQ(count_found(&t, 10000), 10000);

    tap_row("the newest entry of a prefix is found");
    maki_prefix newer = entry_of(5), got;
    bool found;
    newer.seq = 99;
    CHECK_STATUS(maki_prefixes_insert(&t, newer, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_prefixes_find(&t, newer.prefix, &got, &found, &err), MAKI_OK, &err);
    CHECK(found && got.seq == 99);
    CHECK_EQ(t.count, 10000);

    tap_row("a dropped entry is not found; it can be inserted again in the same slot");
    CHECK_STATUS(maki_prefixes_delete(&t, &got, &err), MAKI_OK, &err);
    CHECK(!finds(&t, 5));
    CHECK_EQ(count_found(&t, 10000), 9999);
    CHECK_STATUS(maki_prefixes_insert(&t, entry_of(5), &err), MAKI_OK, &err);
    CHECK_EQ(count_found(&t, 10000), 10000);
    CHECK_EQ(t.count, 10000);
    maki_prefixes_close(&t);
}

static void check_damage(fake_env *fe, const char *path)
{
    maki_prefixes t;
    maki_err err = { 0 };
    tap_row("a damaged entry is not found, the others are");
    unlink(path);
    CHECK_STATUS(maki_prefixes_open(&t, &fe->env, path, &err), MAKI_OK, &err);
    for (uint64_t i = 1; i <= 100; i++)
        CHECK_STATUS(maki_prefixes_insert(&t, entry_of(i), &err), MAKI_OK, &err);
    uint64_t first;
    maki_prefix hit = entry_of(1);
    memcpy(&first, hit.prefix, sizeof first);
    off_t at = (off_t)(((first & (t.capacity - 1)) + 1) * sizeof hit);
    CHECK_EQ(pwrite(t.fd, "x", 1, at + 40), 1);
    CHECK(!finds(&t, 1));
    CHECK_EQ(count_found(&t, 100), 99);
    maki_prefixes_close(&t);

    tap_row("a file that is not a table is replaced by an empty one");
    directory_write(path, MAKI_LIT("日本語 not a table"));
    CHECK_STATUS(maki_prefixes_open(&t, &fe->env, path, &err), MAKI_OK, &err);
    CHECK_EQ(t.count, 0);
    CHECK_STATUS(maki_prefixes_insert(&t, entry_of(3), &err), MAKI_OK, &err);
    CHECK(finds(&t, 3));
    maki_prefixes_close(&t);
}

/* Each file call fails in turn: an error, and earlier entries are still found. */
static void check_faults(fake_env *fe, const char *path)
{
    tap_row(
        "file calls fail while the table grows: each of the first, then ever fewer of thousands");
    for (size_t nth = 1;; nth += 1 + nth / 16) {
        maki_prefixes t;
        maki_err err = { 0 };
        maki_status st;
        unlink(path);
        CHECK_STATUS(maki_prefixes_open(&t, &fe->env, path, &err), MAKI_OK, &err);
        for (uint64_t i = 1; i <= 2048; i++)
            CHECK_STATUS(maki_prefixes_insert(&t, entry_of(i), &err), MAKI_OK, &err);
        fake_files_fail_at(fe, nth, EIO);
        st = maki_prefixes_insert(&t, entry_of(2049), &err);
        bool injected = fake_files_failed(fe);
        fake_files_fail_at(fe, 0, EIO);
        if (!injected) CHECK_STATUS(st, MAKI_OK, &err);
        CHECK_EQ(count_found(&t, 2048), 2048);
        maki_prefixes_close(&t);
        CHECK_EQ(fake_files_live(fe), 0);
        if (!injected) break;
    }
}

int main(void)
{
    static fake_env fe;
    directory f;
    char path[300];
    fake_env_init(&fe);
    directory_open(&f);
    strcpy(path, directory_file(&f, "prefixes"));
    check_many(&fe, path);
    check_damage(&fe, path);
    check_faults(&fe, path);
    directory_close(&f);
    return tap_end();
}
