/* random_test.c -- UUIDs: the shape, the version and the variant, from any random bytes. */
#include "base/random.h"

#include <string.h>

#include "fake_env.h"
#include "tap.h"

static void check_shape(const char *id)
{
    CHECK_EQ(strlen(id), MAKI_UUID_LEN);
    for (size_t i = 0; i < MAKI_UUID_LEN; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        CHECK(dash ? id[i] == '-' : strchr("0123456789abcdef", id[i]) != NULL);
    }
    CHECK_EQ(id[14], '4');                 /* version 4 */
    CHECK(strchr("89ab", id[19]) != NULL); /* the variant of RFC 4122 */
}

int main(void)
{
    fake_env fe;
    maki_err err;
    char id[MAKI_UUID_LEN + 1], other[MAKI_UUID_LEN + 1];
    fake_env_init(&fe);

    tap_row("from zeros");
    CHECK_STATUS(maki_uuid(fe.env.random, id, &err), MAKI_OK, &err);
    CHECK_CSTR(id, "00000000-0000-4000-8000-000000000000");

    tap_row("from 0, 1, 2 ...: each byte in its place");
    fake_random_counter(&fe);
    CHECK_STATUS(maki_uuid(fe.env.random, id, &err), MAKI_OK, &err);
    CHECK_CSTR(id, "00010203-0405-4607-8809-0a0b0c0d0e0f");

    tap_row("from any bytes: the shape, the version, the variant, and no two alike");
    fake_random_seed(&fe, 42);
    for (int round = 0; round < 1000; round++) {
        memcpy(other, id, sizeof id);
        CHECK_STATUS(maki_uuid(fe.env.random, id, &err), MAKI_OK, &err);
        check_shape(id);
        CHECK(strcmp(id, other) != 0);
    }

    tap_row("from the system");
    CHECK_STATUS(maki_uuid(maki_env_system().random, id, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_uuid(maki_env_system().random, other, &err), MAKI_OK, &err);
    check_shape(id);
    CHECK(strcmp(id, other) != 0);

    tap_row("no random bytes, no id");
    fake_random_fail_at(&fe, 1);
    strcpy(id, "untouched");
    CHECK_STATUS(maki_uuid(fe.env.random, id, &err), MAKI_IO, &err);
    CHECK_CSTR(id, "untouched");
    return tap_end();
}
