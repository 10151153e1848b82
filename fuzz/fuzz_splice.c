/* fuzz_splice.c -- items cut from a container leave JSON that holds exactly the others.
 *
 * The input: bytes that only make chance (the low four bits of the first say how many times five), then the
 * text. */
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/splice.h"
#include "base/str.h"

enum { EDIT_BYTES = 5, OUT_MAX = 1 << 24, ITEMS_MAX = 256 };

static void apply(maki_str text, const maki_edit *cuts, size_t count, maki_buf *out)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        MUST(cuts[i].start >= at && cuts[i].end <= text.len && cuts[i].text.len == 0);
        maki_buf_add(out, (maki_str){ text.ptr + at, (size_t)cuts[i].start - at });
        at = (size_t)cuts[i].end;
    }
    maki_buf_add(out, maki_str_from(text, at));
}

static bool same_bytes(const maki_buf *a, const maki_buf *b)
{
    return maki_str_is(maki_buf_str(a), maki_buf_str(b));
}

/* ---- the file, which gives a few bytes at a time ------------------------------------------- */

typedef struct slow_files {
    maki_files files;
    size_t most;
} slow_files;

static ssize_t slow_pread(const maki_files *self, int fd, void *out, size_t n, off_t at)
{
    size_t most = ((const slow_files *)(const void *)self)->most;
    return pread(fd, out, n < most ? n : most, at);
}

static int file_of(maki_str text)
{
    int fd = memfd_create("fuzz_splice", MFD_CLOEXEC);
    MUST(fd >= 0);
    MUST(write(fd, text.ptr, text.len) == (ssize_t)text.len);
    return fd;
}

/* ---- items out of a container -------------------------------------------------------------- */

typedef struct entry {
    maki_str bytes; /* key and value */
    bool kept;
} entry;

static size_t read_items(maki_str container, entry *entries, fuzz_chance *chance)
{
    maki_json_iter iter = maki_json_items(container);
    maki_json_item item;
    size_t count = 0;
    while (count < ITEMS_MAX && maki_json_next(&iter, &item)) {
        const char *end = item.value.ptr + item.value.len;
        entries[count].bytes = (maki_str){ item.start, (size_t)(end - item.start) };
        entries[count++].kept = fuzz_draw(chance, 3) != 0;
    }
    return count;
}

static size_t make_cuts(maki_str container, const entry *entries, size_t count, maki_edit *cuts)
{
    bool any_kept = false;
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t start = (uint64_t)(entries[i].bytes.ptr - container.ptr);
        uint64_t end = start + entries[i].bytes.len;
        uint64_t previous = 0, next = 0;
        if (i > 0) {
            maki_str before = entries[i - 1].bytes;
            previous = (uint64_t)(before.ptr + before.len - container.ptr);
        }
        if (i + 1 < count) next = (uint64_t)(entries[i + 1].bytes.ptr - container.ptr);
        if (!entries[i].kept) cuts[made++] = maki_splice_cut(previous, start, end, next, any_kept);
        any_kept |= entries[i].kept;
    }
    return made;
}

static void cut_items(maki_str container, fuzz_chance *chance, const maki_env *env)
{
    static entry entries[ITEMS_MAX]; /* off the stack: the caller calls itself */
    static maki_edit cuts[ITEMS_MAX];
    maki_str value;
    maki_json_item item;
    size_t count = read_items(container, entries, chance);
    if (count == ITEMS_MAX) return;
    size_t made = make_cuts(container, entries, count, cuts);

    maki_buf out = maki_buf_new(env->alloc, OUT_MAX);
    apply(container, cuts, made, &out);
    MUST(maki_json_check(maki_buf_str(&out), &value, NULL) == MAKI_OK);
    MUST(maki_json_kind_of(value) == maki_json_kind_of(container));
    maki_json_iter iter = maki_json_items(value);
    for (size_t i = 0; i < count; i++) {
        if (!entries[i].kept) continue;
        MUST(maki_json_next(&iter, &item));
        size_t len = (size_t)(item.value.ptr + item.value.len - item.start);
        MUST(maki_str_is(entries[i].bytes, (maki_str){ item.start, len }));
    }
    MUST(!maki_json_next(&iter, &item));
    maki_buf_free(&out);
}

/* One item out of an array in a file, in one pass: the comma before it goes too. */
static void cut_in_file(maki_str text, maki_str array, fuzz_chance *chance, const maki_env *system)
{
    slow_files slow = { *system->files, 1 + fuzz_draw(chance, 100) };
    maki_env env = *system;
    size_t count = maki_json_count(array), index = 1 + fuzz_draw(chance, count + 1);
    maki_buf want = maki_buf_new(env.alloc, OUT_MAX), have = maki_buf_new(env.alloc, OUT_MAX);
    maki_json_iter iter = maki_json_items(array);
    maki_json_item item = { 0 };
    slow.files.pread = slow_pread;
    env.files = &slow.files;

    int fd = file_of(text);
    maki_status st = maki_splice_item(&env, fd, index, maki_buf_sink(&have), NULL);
    MUST(st == (index < count ? MAKI_OK : MAKI_NOTFOUND));
    for (size_t i = 0; st == MAKI_OK && i < index; i++) {
        MUST(maki_json_next(&iter, &item));
    }
    if (st == MAKI_OK) {
        const char *end = item.value.ptr + item.value.len;
        MUST(maki_json_next(&iter, &item));
        size_t after = (size_t)(item.value.ptr + item.value.len - text.ptr);
        maki_buf_add(&want, (maki_str){ text.ptr, (size_t)(end - text.ptr) });
        maki_buf_add(&want, maki_str_from(text, after));
        MUST(same_bytes(&want, &have));
    }
    close(fd);
    maki_buf_free(&want);
    maki_buf_free(&have);
}

/* The value itself and every container in it. */
static void cut_everywhere(maki_str value, fuzz_chance *chance, const maki_env *env)
{
    maki_json_kind kind = maki_json_kind_of(value);
    maki_json_iter iter = maki_json_items(value);
    maki_json_item item;
    if (kind != MAKI_JSON_ARRAY && kind != MAKI_JSON_OBJECT) return;
    cut_items(value, chance, env);
    for (size_t i = 0; i < 20 && maki_json_next(&iter, &item); i++) {
        if (fuzz_draw(chance, 4)) cut_everywhere(item.value, chance, env);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maki_env env = maki_env_system();
    maki_str value;
    fuzz_chance chance = fuzz_chance_of(data, size);
    size_t skip = size ? 1 + EDIT_BYTES * (*data & 15u) : 0;
    maki_str text =
        maki_str_from((maki_str){ (const char *)data, size }, skip < size ? skip : size);
    if (maki_json_check(text, &value, NULL) != MAKI_OK) return 0;
    if (maki_json_kind_of(value) == MAKI_JSON_ARRAY) cut_in_file(text, value, &chance, &env);
    cut_everywhere(value, &chance, &env);
    return 0;
}
