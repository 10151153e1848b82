/* encoding.c -- the encodings by name, and the bytes of their tokens.
 *
 * In:    ids, as maki_tokenizer_encode returns them.
 * Out:   the bytes of each, special tokens included; an unknown id is MAKI_INVALID. */
#include "token/encoding.h"

#include <string.h>

#include "base/err.h"

/* In encoding_tables.c. */
extern const maki_table maki_table_o200k, maki_table_cl100k, maki_table_claude;

static const maki_special o200k_special[] = {
    { "<|endoftext|>", 199999 },
    { "<|endofprompt|>", 200018 },
    { NULL, 0 },
};
static const maki_special cl100k_special[] = {
    { "<|endoftext|>", 100257 },  { "<|fim_prefix|>", 100258 },  { "<|fim_middle|>", 100259 },
    { "<|fim_suffix|>", 100260 }, { "<|endofprompt|>", 100276 }, { NULL, 0 },
};
static const maki_special claude_special[] = {
    { "<EOT>", 0 },      { "<META>", 1 }, { "<META_START>", 2 },
    { "<META_END>", 3 }, { "<SOS>", 4 },  { NULL, 0 },
};

#if defined(__x86_64__)
#define SCANS(name) name, name##_avx2
#else
#define SCANS(name) name, name
#endif

static const maki_encoding encodings[] = {
    { "o200k_base", &maki_table_o200k, SCANS(maki_scan_o200k), o200k_special },
    { "cl100k_base", &maki_table_cl100k, SCANS(maki_scan_cl100k), cl100k_special },
    { "claude", &maki_table_claude, SCANS(maki_scan_claude), claude_special },
};

const maki_encoding *maki_encoding_at(size_t i)
{
    return i < sizeof encodings / sizeof encodings[0] ? &encodings[i] : NULL;
}

const maki_encoding *maki_encoding_find(const char *name)
{
    const maki_encoding *encoding;
    for (size_t i = 0; (encoding = maki_encoding_at(i)); i++) {
        if (strcmp(encoding->name, name) == 0) return encoding;
    }
    return NULL;
}

const char *maki_encoding_name(const maki_encoding *encoding)
{
    return encoding->name;
}

uint32_t maki_encoding_size(const maki_encoding *encoding)
{
    uint32_t size = encoding->table->first_id + encoding->table->tokens;
    for (const maki_special *s = encoding->special; s->text; s++) {
        if (s->id >= size) size = s->id + 1;
    }
    return size;
}

maki_str maki_encoding_token(const maki_encoding *encoding, uint32_t id)
{
    const maki_table *table = encoding->table;
    const uint32_t *offsets = maki_table_part(table, table->offsets);
    if (id >= table->first_id && id - table->first_id < table->tokens) {
        uint32_t i = id - table->first_id;
        const char *bytes = maki_table_part(table, table->bytes);
        return (maki_str){ bytes + offsets[i], offsets[i + 1] - offsets[i] };
    }
    for (const maki_special *s = encoding->special; s->text; s++) {
        if (s->id == id) return (maki_str){ s->text, strlen(s->text) };
    }
    return (maki_str){ "", 0 };
}

maki_status maki_encoding_decode(const maki_encoding *encoding, const uint32_t *ids, size_t n,
                                 maki_sink sink, maki_err *err)
{
    for (size_t i = 0; i < n; i++) {
        maki_str bytes = maki_encoding_token(encoding, ids[i]);
        if (bytes.len == 0) {
            return maki_fail(err, MAKI_INVALID, "%s has no token %lu", encoding->name,
                             (unsigned long)ids[i]);
        }
        maki_status st = sink.write(sink.ctx, bytes, err);
        if (st != MAKI_OK) return st;
    }
    return MAKI_OK;
}

const maki_special *maki_special_at(const maki_encoding *encoding, const char *at, size_t remaining)
{
    const maki_special *best = NULL;
    size_t best_len = 0;
    for (const maki_special *s = encoding->special; s->text; s++) {
        size_t len = strlen(s->text);
        if (len > best_len && len <= remaining && memcmp(at, s->text, len) == 0)
            best = s, best_len = len;
    }
    return best;
}
