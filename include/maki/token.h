/* token.h -- exact token counts: the vocabularies of OpenAI's models and of the older Claude.
 *
 * A vocabulary is built into the library, read-only and shared by all threads; nothing is prepared at
 * start.  A tokenizer is a vocabulary with a memory of pieces seen before (4 MB, 8 MB for encoding; got
 * when it has seen some 30 KB of text), which makes it several times faster; it belongs to one thread at a
 * time: open one per thread.
 *
 * Text is bytes.  What is not UTF-8 is cut into pieces as if U+FFFD stood there, its own bytes are
 * encoded, and decoding gives them back: decode(encode(x)) = x for all bytes.
 *
 *     maki_tokenizer *t;
 *     maki_env env = maki_env_system();
 *     if (maki_tokenizer_open(&env, maki_encoding_named("o200k_base"), NULL, &t, &err) == MAKI_OK) {
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

/* ---- vocabularies -------------------------------------------------------------------------------- */

typedef struct maki_encoding maki_encoding;

/* "o200k_base", "cl100k_base" or "claude"; NULL when it is none of them. */
MAKI_API const maki_encoding *maki_encoding_named(const char *name);
/* The i-th of them from 0; NULL after the last. */
MAKI_API const maki_encoding *maki_encoding_at(size_t i);
MAKI_API const char *maki_encoding_name(const maki_encoding *encoding);
/* One more than the largest id. */
MAKI_API uint32_t maki_encoding_size(const maki_encoding *encoding);
/* The bytes of a token, special tokens included; len 0 when no token has this id. */
MAKI_API maki_str maki_encoding_token(const maki_encoding *encoding, uint32_t id);
/* The bytes of all tokens together. */
MAKI_API maki_status maki_encoding_decode(const maki_encoding *encoding, const uint32_t *ids,
                                          size_t n, maki_sink sink, maki_err *err);

/* ---- counting and encoding ----------------------------------------------------------------------- */

typedef struct maki_tokenizer maki_tokenizer;
typedef struct maki_token_cache maki_token_cache;

typedef struct maki_tokenizer_options {
    size_t size;   /* sizeof this struct */
    bool special;  /* "<|endoftext|>" and its like are one token; else they are plain text */
    bool no_cache; /* do without the memory of pieces, whatever the length of the text */
    maki_token_cache *memory; /* count with this one, which others use as well; NULL: its own */
} maki_tokenizer_options;
#define MAKI_TOKENIZER_OPTIONS_INIT                        \
    {                                                      \
        sizeof(maki_tokenizer_options), false, false, NULL \
    }

/* A memory of pieces for the tokenizers of several threads, which then learn from each other; counts
 * stay exact.  It must live as long as they.  Encoding uses a memory of its own.  On processors where it
 * cannot be shared each tokenizer goes on as if it had none of these. */
MAKI_API maki_status maki_token_cache_open(const maki_env *env, const maki_encoding *encoding,
                                           maki_token_cache **out, maki_err *err) MAKI_MUST_CHECK;
MAKI_API void maki_token_cache_close(maki_token_cache *memory); /* accepts NULL */

/* On MAKI_OK the caller owns *out.  `options` may be NULL. */
MAKI_API maki_status maki_tokenizer_open(const maki_env *env, const maki_encoding *encoding,
                                         const maki_tokenizer_options *options,
                                         maki_tokenizer **out, maki_err *err) MAKI_MUST_CHECK;
MAKI_API void maki_tokenizer_close(maki_tokenizer *tokenizer); /* accepts NULL */
/* Forget the pieces seen so far, as if it were new. */
MAKI_API void maki_tokenizer_clear_cache(maki_tokenizer *tokenizer);

/* The tokens of a text. */
MAKI_API uint64_t maki_tokenizer_count(maki_tokenizer *tokenizer, maki_str text);

/* Called with ids in order, some at a time; not MAKI_OK stops. */
typedef maki_status (*maki_ids_fn)(void *ctx, const uint32_t *ids, size_t n, maki_err *err);
MAKI_API maki_status maki_tokenizer_encode(maki_tokenizer *tokenizer, maki_str text, maki_ids_fn fn,
                                           void *ctx, maki_err *err);

/* The length of the longest beginning of `text` whose tokens do not depend on what comes after it, 0
 * when none is found: a text may be counted in parts that are cut here. */
MAKI_API size_t maki_token_cut(maki_str text);

/* ---- text that comes in parts -------------------------------------------------------------------- */

/* A text of any length, counted (fn NULL) or encoded as it comes.  What is held is the unfinished end
 * of the last part.  Zeroed is empty; end gives the memory back, whatever it answers. */
typedef struct maki_token_stream {
    char *held;
    size_t len, capacity;
    uint64_t tokens; /* so far */
} maki_token_stream;
MAKI_API maki_status maki_token_stream_add(maki_token_stream *stream, maki_tokenizer *tokenizer,
                                           maki_str part, maki_ids_fn fn, void *ctx, maki_err *err);
MAKI_API maki_status maki_token_stream_end(maki_token_stream *stream, maki_tokenizer *tokenizer,
                                           maki_ids_fn fn, void *ctx, maki_err *err);

/* ---- files --------------------------------------------------------------------------------------- */

/* A file to be counted, and what was counted.  Zeroed but for what is known of it. */
typedef struct maki_token_file {
    const char *path; /* NULL: standard input */
    uint64_t size;    /* 0: not known; then it is read once, from its beginning to its end */
    bool skip_binary; /* leave it out when there is a NUL in its first 8 KB */
    bool binary;      /* it was left out for that */
    uint64_t bytes, tokens;
    maki_err err; /* not MAKI_OK: what went wrong; set before, it is left alone */
} maki_token_file;

typedef struct maki_token_files_options {
    size_t size;  /* sizeof this struct */
    bool special; /* as in maki_tokenizer_options; files are not cut into parts then */
    /* Told in the caller's thread how many bytes were read; total 0: not known.  Or NULL. */
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
} maki_token_files_options;

/* The exact tokens of files, on all cores when there is much to count; a large file is cut where that changes nothing.
 * Memory does not grow with the files.  What is wrong with one file stands in its `err`, and the others are counted;
 * not MAKI_OK only when there is no memory for the list.  The allocator is called by several threads at once. */
MAKI_API maki_status maki_token_count_files(const maki_env *env, const maki_encoding *encoding,
                                            const maki_token_files_options *options,
                                            maki_token_file *const *files, size_t n, maki_err *err);
/* Read a file from its beginning to its end and encode it.  The status is that of file->err. */
MAKI_API maki_status maki_token_encode_file(const maki_env *env, const maki_encoding *encoding,
                                            bool special, maki_token_file *file, maki_ids_fn fn,
                                            void *ctx);

MAKI_END_DECLS

#endif
