/* index_test.c -- writing and reading records across blocks, and an index that changes while it is read. */
#include "log/index.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "logs.h"
#include "tap.h"

static maki_index_record row_of(uint64_t n)
{
    maki_index_record row = {
        .offset = n * 100, .length = 99, .tokens = (uint32_t)n, .ts = (int64_t)n
    };
    memset(row.chain, (int)n, sizeof row.chain);
    return row;
}

static bool is_row(maki_index *index, uint64_t n)
{
    maki_index_record row, due = row_of(n);
    maki_err err = { 0 };
    return CHECK_STATUS(maki_index_get(index, n, &row, &err), MAKI_OK, &err) &&
           memcmp(&row, &due, sizeof row) == 0;
}

static void add(maki_index *index, uint64_t from, uint64_t to)
{
    maki_err err = { 0 };
    for (uint64_t n = from; n <= to; n++) {
        maki_index_record row = row_of(n);
        CHECK_STATUS(maki_index_add(index, &row, 1, n * 100 + 100, &err), MAKI_OK, &err);
    }
}

static void test_records(logs *l)
{
    maki_index writer, reader;
    maki_index_header header;
    maki_err err = { 0 };
    maki_index_record row;
    unsigned char start[MAKI_CHAIN_LEN] = { 1, 2, 3 };
    maki_index_header_init(&header, "a family name that is too long", 7, start);

    tap_row("a missing index");
    CHECK_STATUS(maki_index_open(&reader, &l->env, l->index, false, &err), MAKI_NOTFOUND, &err);
    CHECK_EQ(reader.fd, -1);

    tap_row("an empty index has no records");
    if (!CHECK_STATUS(maki_index_create(&writer, &l->env, l->index, &header, &err), MAKI_OK, &err))
        return;
    CHECK_STATUS(maki_index_open(&reader, &l->env, l->index, false, &err), MAKI_OK, &err);
    CHECK_EQ(reader.header.base, 7);
    CHECK_EQ(reader.header.count, 0);
    CHECK_CSTR(reader.header.encoding, "a family name t");
    CHECK_STATUS(maki_index_get(&reader, 0, &row, &err), MAKI_NOTFOUND, &err);
    CHECK_STATUS(maki_index_get(&reader, 1, &row, &err), MAKI_NOTFOUND, &err);

    tap_row("records are found in every block, in any order");
    add(&writer, 1, 200);
    CHECK_STATUS(maki_index_get(&reader, 1, &row, &err), MAKI_NOTFOUND, &err);
    CHECK_STATUS(maki_index_refresh(&reader, &err), MAKI_OK, &err);
    static const uint64_t numbers[] = { 1, 64, 65, 128, 129, 200, 2, 199, 63, 130 };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        CHECK(is_row(&reader, numbers[i]));
        CHECK(is_row(&writer, numbers[i]));
    }
    CHECK_STATUS(maki_index_get(&reader, 201, &row, &err), MAKI_NOTFOUND, &err);

    tap_row("a block that was partly filled is reread");
    CHECK(is_row(&reader, 200));
    add(&writer, 201, 210);
    CHECK_STATUS(maki_index_refresh(&reader, &err), MAKI_OK, &err);
    CHECK(is_row(&reader, 210));
    CHECK_EQ(reader.header.end, 21100);

    tap_row("truncated while in use: get and refresh report it");
    maki_str whole = directory_read(l->index);
    logs_cut(l->index, whole.len - 64);
    CHECK(is_row(&reader, 1));
    CHECK_STATUS(maki_index_get(&reader, 210, &row, &err), MAKI_CORRUPT, &err);
    CHECK_STATUS(maki_index_refresh(&reader, &err), MAKI_CORRUPT, &err);
    directory_write(l->index, whole);
    CHECK_STATUS(maki_index_refresh(&reader, &err), MAKI_OK, &err);
    CHECK(is_row(&reader, 210));

    tap_row("a count that would not fit into any file is an error");
    char *bytes = (char *)(uintptr_t)whole.ptr;
    for (unsigned bit = 8; bit < 64; bit++) {
        bytes[offsetof(maki_index_header, count) + bit / 8] ^= (char)(1 << bit % 8);
        directory_write(l->index, whole);
        CHECK_STATUS(maki_index_refresh(&reader, &err), MAKI_CORRUPT, &err);
        bytes[offsetof(maki_index_header, count) + bit / 8] ^= (char)(1 << bit % 8);
    }

    tap_row("a changed byte in the rest of the header is an error");
    for (size_t i = 0; i < sizeof header; i++) {
        bool counted =
            i >= offsetof(maki_index_header, count) && i < offsetof(maki_index_header, base);
        if (counted) continue;
        bytes[i] ^= 0x10;
        directory_write(l->index, whole);
        CHECK_STATUS(maki_index_refresh(&reader, &err), MAKI_CORRUPT, &err);
        bytes[i] ^= 0x10;
    }
    free(bytes);
    maki_index_close(&reader);
    maki_index_close(&reader);
    maki_index_close(&writer);
}

static void test_private(logs *l)
{
    maki_index index;
    maki_index_header header;
    maki_err err = { 0 };
    unsigned char start[MAKI_CHAIN_LEN] = { 0 };
    tap_row("a private index is invisible to others");
    size_t files = directory_count(&l->f);
    maki_index_header_init(&header, "x", 0, start);
    CHECK_STATUS(maki_index_create(&index, &l->env, NULL, &header, &err), MAKI_OK, &err);
    CHECK(index.is_private);
    add(&index, 1, 3);
    CHECK(is_row(&index, 2));
    CHECK_EQ(directory_count(&l->f), files);
    maki_index_close(&index);
}

static void test_short(logs *l)
{
    maki_index index;
    maki_index_header header;
    maki_err err = { 0 };
    unsigned char start[MAKI_CHAIN_LEN] = { 0 };
    tap_row("short and interrupted transfers change nothing");
    fake_files_short(&l->fe, 7);
    fake_files_interrupt(&l->fe, 3);
    maki_index_header_init(&header, "x", 0, start);
    CHECK_STATUS(maki_index_create(&index, &l->env, l->index, &header, &err), MAKI_OK, &err);
    add(&index, 1, 70);
    CHECK_STATUS(maki_index_refresh(&index, &err), MAKI_OK, &err);
    for (uint64_t n = 1; n <= 70; n++)
        CHECK(is_row(&index, n));
    maki_index_close(&index);

    tap_row("a full disk does not change the count");
    fake_files_short(&l->fe, 0);
    fake_files_interrupt(&l->fe, 0);
    CHECK_STATUS(maki_index_open(&index, &l->env, l->index, true, &err), MAKI_OK, &err);
    l->disk.full = true;
    for (l->disk.capacity = 0; l->disk.capacity < 64; l->disk.capacity++) {
        uint64_t capacity = l->disk.capacity;
        maki_index_record row = row_of(71);
        CHECK_STATUS(maki_index_add(&index, &row, 1, 7200, &err), MAKI_FULL, &err);
        CHECK_EQ(index.header.count, 70);
        CHECK_STATUS(maki_index_refresh(&index, &err), MAKI_OK, &err);
        CHECK_EQ(index.header.count, 70);
        CHECK(is_row(&index, 70));
        l->disk.capacity = capacity;
    }
    l->disk.full = false;
    maki_index_close(&index);
}

int main(void)
{
    logs l;
    logs_open(&l, "messages.jsonl");
    test_records(&l);
    test_private(&l);
    test_short(&l);
    logs_close(&l);
    return tap_end();
}
