/* fuzz_sessions.c -- any bytes as a sessions.json: what can be read of it is written as JSON that reads the same. */
#include "fuzz.h"

#include <string.h>

#include <maki/json.h>

#include "base/buf.h"
#include "base/str_util.h"
#include "store/entries.h"

static void check_entry(const maki_alloc *alloc, const maki_json_item *entry)
{
    maki_session first = { 0 }, again = { 0 };
    maki_buf out = maki_buf_new(alloc, 1 << 22);
    maki_jw w;
    maki_str value, inside;
    if (!maki_entry_id(entry, first.id)) return;
    MUST(!strchr(first.id, '/'));
    bool good = maki_entry_read(entry->value, &first);
    if (good) {
        maki_jw_init(&w, maki_buf_sink(&out), NULL);
        maki_jw_begin_object(&w);
        maki_entry_write(&w, &first, entry->value);
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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maki_env env = maki_env_system();
    maki_entries entries;
    maki_json_item entry;
    if (!maki_entries_read((maki_str){ (const char *)data, size }, &entries)) return 0;
    maki_json_iter iter = maki_json_items(entries.all);
    while (maki_json_next(&iter, &entry))
        check_entry(env.alloc, &entry);
    return 0;
}
