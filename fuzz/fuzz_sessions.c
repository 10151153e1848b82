/* fuzz_sessions.c -- any bytes as a sessions.json: what can be read of it is written as JSON that reads the same. */
#include "fuzz.h"

#include <string.h>

#include <maki/json.h>

#include "base/buf.h"
#include "base/str.h"
#include "store/entries.h"

/* One file, in memory. */
typedef struct memory_file {
    maki_files table;
    maki_str text;
} memory_file;

static ssize_t file_pread(const maki_files *self, int fd, void *out, size_t n, off_t at)
{
    maki_str text = ((const memory_file *)(const void *)self)->text;
    (void)fd;
    if ((size_t)at >= text.len) return 0;
    if (n > text.len - (size_t)at) n = text.len - (size_t)at;
    memcpy(out, text.ptr + at, n);
    return (ssize_t)n;
}

typedef struct checking {
    const maki_env *env;
    uint64_t end; /* of the entry before */
} checking;

static maki_status on_entry(void *ctx, const maki_entry *entry, maki_err *err)
{
    checking *c = ctx;
    maki_session first = { 0 }, again = { 0 };
    maki_buf out = maki_buf_new(c->env->alloc, 1 << 22);
    maki_jw w;
    maki_str value, inside;
    (void)err;
    MUST(entry->start >= c->end && entry->end > entry->start);
    c->end = entry->end;
    if (!maki_entry_id(entry, first.id)) return MAKI_OK;
    MUST(!strchr(first.id, '/'));
    bool good = maki_entry_read(entry->json, &first);
    if (good) {
        maki_jw_init(&w, maki_buf_sink(&out), NULL);
        maki_jw_object(&w);
        maki_entry_write(&w, &first, entry->json);
        maki_jw_end_object(&w);
        MUST(maki_jw_end(&w) == MAKI_OK);
        MUST(maki_json_check(maki_buf_str(&out), &value, NULL) == MAKI_OK);
        MUST(maki_json_get(value, maki_str_of(first.id), &inside) &&
             maki_entry_read(inside, &again));
        MUST(first.messages == again.messages && first.updated == again.updated &&
             first.input == again.input && first.output == again.output &&
             first.archived == again.archived && first.read_messages == again.read_messages);
        MUST(strcmp(first.key, again.key) == 0 && strcmp(first.model, again.model) == 0);
    }
    maki_buf_free(&out);
    return MAKI_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maki_env env = maki_env_system();
    memory_file file = { *env.files, { (const char *)data, size } };
    maki_entries_frame frame;
    checking c = { &env, 0 };
    file.table.pread = file_pread;
    env.files = &file.table;
    MUST(maki_entries_each(&env, 3, on_entry, &c, &frame, NULL) == MAKI_OK);
    if (frame.whole) {
        maki_str value;
        MUST(maki_json_check((maki_str){ (const char *)data, size }, &value, NULL) == MAKI_OK);
    }
    maki_entries_free(&frame);
    return 0;
}
