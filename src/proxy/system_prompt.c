/* system_prompt.c -- hash the system prompt and the tools, write them as blobs, count their tokens.
 *
 * In:    the JSON values of a request, not decoded.
 * Out:   hashes that distinguish a change from a repetition, and the fields of the event `system`. */
#include "proxy/system_prompt.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/files.h"
#include "base/hash.h"
#include "base/json_access.h"
#include "base/limits.h"
#include "base/str_util.h"
#include "history/token_counter.h"
#include "token/content.h"
#include "token/family.h"
#include "token/tools_count.h"

enum {
    PERSONA_BYTES = 48 /* of the system prompt: they identify the persona */
};

/* ---- hashes --------------------------------------------------------------------------------- */

uint64_t maki_leading_hash(maki_str leading)
{
    return leading.len ? XXH3_64bits(leading.ptr, leading.len) : 0;
}

uint64_t maki_system_hash(const maki_system_fields *now, uint64_t leading_hash)
{
    uint64_t parts[3] = { XXH3_64bits(now->system.ptr, now->system.len), leading_hash,
                          XXH3_64bits(now->tools.ptr, now->tools.len) };
    uint64_t hash = XXH3_64bits(parts, sizeof parts);
    return hash ? hash : 1;
}

/* Prefixes of lines that differ in every request. */
static const maki_str volatile_lines[] = { { "x-anthropic-billing-header:", 27 } };

/* Where a line ends in escaped text: at the quote or at an escaped newline. */
static size_t line_end(maki_str text, size_t at)
{
    for (; at < text.len && text.ptr[at] != '"'; at++) {
        if (text.ptr[at] != '\\' || at + 1 == text.len) continue;
        if (text.ptr[at + 1] == 'n') return at;
        at++;
    }
    return at;
}

static void add_masked(XXH3_state_t *state, maki_str text)
{
    size_t from = 0;
    for (size_t i = 0; i < sizeof volatile_lines / sizeof volatile_lines[0]; i++) {
        const char *found;
        while (text.len > from && (found = memmem(text.ptr + from, text.len - from,
                                                  volatile_lines[i].ptr, volatile_lines[i].len))) {
            size_t at = (size_t)(found - text.ptr);
            XXH3_64bits_update(state, text.ptr + from, at - from);
            from = line_end(text, at);
        }
    }
    if (text.len > from) XXH3_64bits_update(state, text.ptr + from, text.len - from);
}

uint64_t maki_system_masked(const maki_system_fields *now)
{
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    add_masked(&state, now->system);
    XXH3_64bits_update(&state, "\n", 1);
    add_masked(&state, now->leading);
    XXH3_64bits_update(&state, "\n", 1);
    XXH3_64bits_update(&state, now->tools.ptr, now->tools.len);
    uint64_t hash = XXH3_64bits_digest(&state);
    return hash ? hash : 1;
}

static bool is_volatile(maki_str text)
{
    for (size_t i = 0; i < sizeof volatile_lines / sizeof volatile_lines[0]; i++) {
        if (maki_str_starts(text, volatile_lines[i])) return true;
    }
    return false;
}

/* The first text in a system prompt of any shape: a string, blocks, messages, parts.  At most `depth` levels. */
static bool first_text(maki_str value, int depth, maki_str *text)
{
    static const char *const fields[] = { "text", "content", "parts" };
    maki_json_kind kind = value.len ? maki_json_kind_of(value) : MAKI_JSON_NULL;
    maki_str inside;
    if (kind == MAKI_JSON_STRING) {
        *text = maki_json_strip_quotes(value);
        return text->len > 0 && !is_volatile(*text);
    }
    if (depth == 0) return false;
    if (kind == MAKI_JSON_ARRAY) {
        MAKI_JSON_EACH(item, maki_json_items(value)) {
            if (first_text(item.value, depth - 1, text)) return true;
        }
    }
    for (size_t i = 0; kind == MAKI_JSON_OBJECT && i < 3; i++) {
        if (maki_json_get(value, maki_str_of(fields[i]), &inside) &&
            first_text(inside, depth - 1, text))
            return true;
    }
    return false;
}

uint32_t maki_system_persona(const maki_system_fields *now)
{
    maki_str text;
    if (!first_text(now->leading, 3, &text) && !first_text(now->system, 3, &text)) return 0;
    return (uint32_t)XXH3_64bits(text.ptr, text.len < PERSONA_BYTES ? text.len : PERSONA_BYTES) | 1;
}

/* ---- blobs -------------------------------------------------------------------------------------- */

/* Write a blob unless it exists; `name` is its SHA-256 in hex. */
static maki_status write_blob(const maki_env *env, const char *directory, maki_str bytes,
                              char name[65], maki_err *err)
{
    unsigned char sha[MAKI_SHA256_LEN];
    char path[MAKI_PATH_MAX];
    maki_sha256_of(bytes, sha);
    maki_hex(sha, sizeof sha, name);
    snprintf(path, sizeof path, "%s/%s.json", directory, name);
    int fd = env->files->open(env->files, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0) {
        env->files->close(env->files, fd);
        return MAKI_OK;
    }
    return maki_file_replace(env, path, bytes, err);
}

static maki_status count_leading(maki_tokenizer *t, maki_str array, uint64_t *tokens, maki_err *err)
{
    maki_status st = MAKI_OK;
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(array)) {
        maki_str content = { "", 0 }, none = { "", 0 };
        uint64_t n = 0;
        maki_json_get(item.value, MAKI_LIT("content"), &content);
        st = maki_count_message(t, MAKI_LIT("\"system\""), content, none, &n, err);
        *tokens += n;
    }
    return st;
}

static void add_fields(maki_buf *fields, const char *name, const char *sha, const char *counted,
                       uint64_t tokens)
{
    maki_buf_print(fields, "%s\"%s\":\"%s\",\"%s\":%" PRIu64, fields->len ? "," : "", name, sha,
                   counted, tokens);
}

static maki_status store_system(const maki_env *env, const char *directory, maki_tokenizer *t,
                                const maki_system_fields *now, maki_system_hashes *seen,
                                maki_buf *fields, maki_err *err)
{
    char sha[65];
    maki_str none = { "", 0 };
    maki_buf blob = maki_buf_new(env->alloc, now->system.len + now->leading.len + 16);
    maki_status st = MAKI_OK;
    maki_str bytes = now->system;
    if (now->leading.len) { /* all of it as one array */
        maki_buf_add(&blob, MAKI_LIT("["));
        maki_buf_add(&blob, now->leading);
        maki_buf_add(&blob, MAKI_LIT("]"));
        st = maki_buf_status(&blob, err);
        bytes = maki_buf_str(&blob);
    }
    if (st == MAKI_OK) st = write_blob(env, directory, bytes, sha, err);
    if (st == MAKI_OK && now->leading.len)
        st = count_leading(t, bytes, &seen->system_tokens, err);
    else if (st == MAKI_OK)
        st = maki_count_message(t, MAKI_LIT("\"system\""), now->system, none, &seen->system_tokens,
                                err);
    if (st == MAKI_OK) add_fields(fields, "sha", sha, "tokens", seen->system_tokens);
    maki_buf_free(&blob);
    return st;
}

maki_status maki_system_store(const maki_env *env, const char *directory, maki_tokenizer *tokenizer,
                              const maki_system_fields *now, maki_system_hashes *seen,
                              maki_buf *fields, maki_err *err)
{
    char sha[65];
    maki_status st = MAKI_OK;
    seen->system_tokens = seen->tool_tokens = 0;
    if (now->system.len || now->leading.len)
        st = store_system(env, directory, tokenizer, now, seen, fields, err);
    if (st == MAKI_OK && now->tools.len) {
        st = write_blob(env, directory, now->tools, sha, err);
        if (st == MAKI_OK)
            st = maki_count_tools(tokenizer,
                                  maki_family_of_encoding(maki_encoding_find(MAKI_LOG_ENCODING)),
                                  now->tools, &seen->tool_tokens, err);
        if (st == MAKI_OK) add_fields(fields, "tools", sha, "toolTokens", seen->tool_tokens);
    }
    return st == MAKI_OK ? maki_buf_status(fields, err) : st;
}
