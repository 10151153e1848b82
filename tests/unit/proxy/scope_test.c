/* scope_test.c -- scopes: HMAC-SHA-256 against published vectors, and the secret is created once. */
#include "proxy/scope.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "directory.h"
#include "fake_env.h"
#include "tap.h"

static void check_scope(void)
{
    unsigned char secret[MAKI_SECRET_LEN], a[MAKI_PREFIX_LEN], b[MAKI_PREFIX_LEN];
    char hex[33];
    maki_err err = { 0 };
    memset(secret, 0x0b, sizeof secret);
    maki_str parts[] = { MAKI_LIT("key-1"), MAKI_LIT("会話") };

    tap_row("no parts: the HMAC of nothing");
    CHECK_STATUS(maki_scope_of(secret, parts, 0, a, &err), MAKI_OK, &err);
    maki_hex(a, sizeof a, hex);
    CHECK_CSTR(hex, "5177e637aaac0b50e5dca8bb05b0b571");

    tap_row("the boundary between parts counts");
    maki_str one[] = { MAKI_LIT("ab"), MAKI_LIT("c") }, other[] = { MAKI_LIT("a"), MAKI_LIT("bc") };
    CHECK_STATUS(maki_scope_of(secret, one, 2, a, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_scope_of(secret, other, 2, b, &err), MAKI_OK, &err);
    CHECK(memcmp(a, b, sizeof a) != 0);

    tap_row("another secret, another scope");
    CHECK_STATUS(maki_scope_of(secret, parts, 2, a, &err), MAKI_OK, &err);
    secret[0]++;
    CHECK_STATUS(maki_scope_of(secret, parts, 2, b, &err), MAKI_OK, &err);
    CHECK(memcmp(a, b, sizeof a) != 0);
}

static void check_secret(fake_env *fe, const directory *f)
{
    unsigned char first[MAKI_SECRET_LEN], again[MAKI_SECRET_LEN];
    char path[300];
    struct stat st;
    maki_err err = { 0 };
    strcpy(path, directory_file(f, "secret"));
    fake_random_seed(fe, 7);

    tap_row("the secret is created once, readable by its owner only");
    CHECK_STATUS(maki_secret_read(&fe->env, path, first, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_secret_read(&fe->env, path, again, &err), MAKI_OK, &err);
    CHECK(memcmp(first, again, sizeof first) == 0);
    CHECK(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);

    tap_row("a secret that cannot be opened is not replaced");
    fake_files_fail_at(fe, 1, EMFILE);
    CHECK_STATUS(maki_secret_read(&fe->env, path, again, &err), MAKI_IO, &err);
    fake_files_fail_at(fe, 0, 0);
    CHECK_STATUS(maki_secret_read(&fe->env, path, again, &err), MAKI_OK, &err);
    CHECK(memcmp(first, again, sizeof first) == 0);

    tap_row("a truncated secret is replaced");
    directory_write(path, MAKI_LIT("short"));
    CHECK_STATUS(maki_secret_read(&fe->env, path, again, &err), MAKI_OK, &err);
    CHECK(memcmp(first, again, sizeof first) != 0);
}

int main(void)
{
    static fake_env fe;
    directory f;
    fake_env_init(&fe);
    directory_open(&f);
    check_scope();
    check_secret(&fe, &f);
    directory_close(&f);
    return tap_end();
}
