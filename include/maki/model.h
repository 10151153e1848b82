/* model.h -- a model that answers one request with one text, as a table of functions handed in (maki_set_model).
 *
 * Maki asks it for summaries where the setting summary.provider names one; when it is unavailable or fails, the summary is
 * written without a model.  The callee reads the prompt while it sends it, so the prompt may be larger than memory and is
 * read again for a retry; the reply is streamed to a sink. */
#ifndef MAKI_MODEL_H
#define MAKI_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <maki/config.h>
#include <maki/env.h>

MAKI_BEGIN_DECLS

/* Which model.  Texts are borrowed for the call; len 0: not given. */
typedef struct maki_model_name {
    maki_str agent;    /* of the conversation: its own settings win */
    maki_str provider; /* one of `llm` in the configuration */
    maki_str model;    /* len 0: the provider's own */
} maki_model_name;

/* What is known without a request. */
typedef struct maki_model_found {
    char model[96];
    uint64_t window; /* in tokens; 0: unknown */
} maki_model_found;

/* A text that is read in pieces: up to `capacity` bytes from `offset` on; *got 0 only at its end. */
typedef struct maki_model_text {
    uint64_t size;
    maki_status (*read)(const void *ctx, uint64_t offset, char *out, size_t capacity, size_t *got,
                        maki_err *err);
    const void *ctx;
} maki_model_text;

typedef struct maki_model_request {
    maki_model_name name;
    maki_str system;        /* instructions, not escaped; len 0: none */
    maki_model_text prompt; /* the one user message: UTF-8, not escaped */
    uint64_t prompt_tokens; /* as Maki counts, with the instructions */
    uint64_t max_tokens;    /* of the reply */
    uint64_t window;        /* of the model, in tokens; 0: unknown */
    int64_t timeout_ms;     /* for the whole call */
    /* Called while waiting; true: return MAKI_CANCELLED.  NULL: never cancelled. */
    bool (*cancelled)(void *ctx);
    void *cancelled_ctx;
} maki_model_request;

typedef struct maki_model_usage {
    uint64_t input_tokens, output_tokens; /* 0: unknown */
    double cost;                          /* in dollars; 0: unknown, or none */
    bool truncated;                       /* the reply was truncated at max_tokens */
} maki_model_usage;

typedef struct maki_model maki_model;
struct maki_model {
    /* Is it configured?  If not, the error says what is missing (MAKI_NOTFOUND: no provider of that name, or it has no
     * model). */
    maki_status (*find)(const maki_model *self, const maki_model_name *name, maki_model_found *out,
                        maki_err *err);
    /* The context window that its provider reports, by a request; 0: it does not report one. */
    maki_status (*window)(const maki_model *self, const maki_model_name *name,
                          bool (*cancelled)(void *ctx), void *cancelled_ctx, uint64_t *tokens,
                          maki_err *err);
    /* Writes the reply's text to `reply` in pieces, UTF-8 that may be cut anywhere, and fills in *usage as far as it is
     * known, also on failure.  When `reply` fails it stops and returns that status; MAKI_UPSTREAM, MAKI_TIMEOUT ... when
     * the provider fails. */
    maki_status (*complete)(const maki_model *self, const maki_model_request *request,
                            maki_sink reply, maki_model_usage *usage, maki_err *err);
    void *ctx;
};

/* ---- the providers of a configuration, as such a table -------------------------------------------------------- */

/* maki-send.so exports one function, of this name, so that only a program that asks a provider loads the HTTP client.
 * `version` is the caller's maki_version(): another one is refused.  The configuration is borrowed as long as the model is
 * used; log lines go to `log`, or nowhere when its `write` is NULL.  Nothing to close. */
#define MAKI_SEND_MODULE "maki-send.so"
#define MAKI_SEND_OPEN   "maki_send_open"
typedef maki_status maki_send_open_fn(const char *version, const maki_env *env,
                                      const maki_config *config, maki_sink log, maki_model *out,
                                      maki_err *err);
MAKI_API maki_send_open_fn maki_send_open;

MAKI_END_DECLS

#endif
