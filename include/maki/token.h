/* token.h -- exact tokenizers: the encodings of OpenAI's models and of the older Claude.
 *
 * The table of an encoding is built into the library, read-only and shared by all threads; nothing is initialized at start.
 * A tokenizer is an encoding with a cache of spans (8 MB, 16 MB for encoding; allocated after some 30 KB of text), which
 * makes it several times faster; it belongs to one thread at a time: open one per thread.
 *
 * Text is bytes.  Invalid UTF-8 is split as if it were U+FFFD, but its own bytes are encoded:
 * decode(encode(x)) = x for all bytes.
 *
 *     maki_tokenizer *t;
 *     maki_env env = maki_env_system();
 *     if (maki_tokenizer_open(&env, maki_encoding_find("o200k_base"), NULL, &t, &err) == MAKI_OK) {
 *         uint64_t n = maki_tokenizer_count(t, text);
 *         maki_tokenizer_close(t);
 *     } */
#ifndef MAKI_TOKEN_H
#define MAKI_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <maki/env.h>

MAKI_BEGIN_DECLS

/* ---- encodings ----------------------------------------------------------------------------------- */

typedef struct maki_encoding maki_encoding;

/* "o200k_base", "cl100k_base" or "claude"; NULL for any other name. */
MAKI_API const maki_encoding *maki_encoding_find(const char *name);
/* By index, from 0; NULL after the last. */
MAKI_API const maki_encoding *maki_encoding_at(size_t i);
MAKI_API const char *maki_encoding_name(const maki_encoding *encoding);
/* One more than the largest id. */
MAKI_API uint32_t maki_encoding_size(const maki_encoding *encoding);
/* The bytes of a token, special tokens included; len 0 when no token has this id. */
MAKI_API maki_str maki_encoding_token(const maki_encoding *encoding, uint32_t id);
/* Decode ids: the bytes of all tokens are written to `sink`. */
MAKI_API maki_status maki_encoding_decode(const maki_encoding *encoding, const uint32_t *ids,
                                          size_t n, maki_sink sink, maki_err *err);

/* ---- counting and encoding ----------------------------------------------------------------------- */

typedef struct maki_tokenizer maki_tokenizer;
typedef struct maki_token_cache maki_token_cache;

typedef struct maki_tokenizer_options {
    size_t size; /* sizeof this struct */
    bool
        special; /* "<|endoftext|>" and other special tokens are one token; by default they are plain text */
    bool no_cache;           /* use no cache, whatever the length of the text */
    maki_token_cache *cache; /* a shared cache, for counting; NULL: its own */
} maki_tokenizer_options;
#define MAKI_TOKENIZER_OPTIONS_INIT                        \
    {                                                      \
        sizeof(maki_tokenizer_options), false, false, NULL \
    }

/* A cache shared by the tokenizers of several threads; counts stay exact.  It must outlive them.  Encoding always uses the
 * tokenizer's own cache, and so does counting on processors where a cache cannot be shared. */
MAKI_API maki_status maki_token_cache_open(const maki_env *env, const maki_encoding *encoding,
                                           maki_token_cache **out, maki_err *err) MAKI_MUST_CHECK;
MAKI_API void maki_token_cache_close(maki_token_cache *cache); /* accepts NULL */

/* On MAKI_OK the caller owns *out.  `options` may be NULL. */
MAKI_API maki_status maki_tokenizer_open(const maki_env *env, const maki_encoding *encoding,
                                         const maki_tokenizer_options *options,
                                         maki_tokenizer **out, maki_err *err) MAKI_MUST_CHECK;
MAKI_API void maki_tokenizer_close(maki_tokenizer *tokenizer); /* accepts NULL */
/* Clear its own cache. */
MAKI_API void maki_tokenizer_clear_cache(maki_tokenizer *tokenizer);

/* The tokens of a text. */
MAKI_API uint64_t maki_tokenizer_count(maki_tokenizer *tokenizer, maki_str text);

/* Called with ids in order, a batch at a time; any status but MAKI_OK stops. */
typedef maki_status (*maki_ids_fn)(void *ctx, const uint32_t *ids, size_t n, maki_err *err);
MAKI_API maki_status maki_tokenizer_encode(maki_tokenizer *tokenizer, maki_str text, maki_ids_fn fn,
                                           void *ctx, maki_err *err);

/* The length of the longest prefix of `text` whose tokens do not depend on what comes after it, 0 if it is empty: a text
 * may be counted in parts that are cut here. */
MAKI_API size_t maki_token_cut(maki_str text);

/* ---- streams -------------------------------------------------------------------------------------- */

/* Count (fn NULL) or encode a text of any length in parts.  The buffer has the end of the last part, whose tokens are not
 * certain yet.  Zeroed is empty; maki_token_stream_end frees the buffer, whatever it returns. */
typedef struct maki_token_stream {
    char *buffer;
    size_t len, capacity;
    uint64_t tokens; /* so far */
} maki_token_stream;
MAKI_API maki_status maki_token_stream_add(maki_token_stream *stream, maki_tokenizer *tokenizer,
                                           maki_str part, maki_ids_fn fn, void *ctx, maki_err *err);
MAKI_API maki_status maki_token_stream_end(maki_token_stream *stream, maki_tokenizer *tokenizer,
                                           maki_ids_fn fn, void *ctx, maki_err *err);

/* ---- files --------------------------------------------------------------------------------------- */

/* A file to count, and its counts.  Zeroed except what is known of it. */
typedef struct maki_token_file {
    const char *path; /* NULL: standard input */
    uint64_t size;    /* 0: unknown; then it is read sequentially, once */
    bool skip_binary; /* skip it if there is a NUL in its first 8 KB */
    bool binary;      /* it was skipped for that */
    uint64_t bytes, tokens;
    maki_err
        err; /* not MAKI_OK: what went wrong; a file whose err is set before the call is skipped */
} maki_token_file;

typedef struct maki_token_files_options {
    size_t size;  /* sizeof this struct */
    bool special; /* as in maki_tokenizer_options; then files are not split into parts */
    /* Called in the caller's thread with the bytes read so far; total 0: unknown.  May be NULL. */
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
} maki_token_files_options;

/* The exact tokens of files, on all cores when there is much to count; a large file is split where that does not change
 * the count.  Memory does not grow with the files.  A file that fails has its `err` set, and the others are counted; the
 * status is MAKI_NOMEM only if there is no memory for the list.  The allocator is called by several threads at once. */
MAKI_API maki_status maki_token_count_files(const maki_env *env, const maki_encoding *encoding,
                                            const maki_token_files_options *options,
                                            maki_token_file *const *files, size_t n, maki_err *err);
/* Read a file sequentially and encode it.  The status is that of file->err. */
MAKI_API maki_status maki_token_encode_file(const maki_env *env, const maki_encoding *encoding,
                                            bool special, maki_token_file *file, maki_ids_fn fn,
                                            void *ctx);

MAKI_END_DECLS

#endif
