/* model.h -- a model that answers one request with one text, handed in by whoever can reach one.
 *
 * The request is read by the callee as it sends it, so it may be larger than memory and may be read again
 * for another try; the reply is handed over as it comes. */
#ifndef MAKI_SUMMARY_MODEL_H
#define MAKI_SUMMARY_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/env.h>

/* A text that is read in pieces: up to `room` bytes from `at` on; *got 0 only at its end. */
typedef struct maki_model_text {
    uint64_t size;
    maki_status (*read)(const void *ctx, uint64_t at, char *out, size_t room, size_t *got,
                        maki_err *err);
    const void *ctx;
} maki_model_text;

typedef struct maki_model_request {
    maki_str model;         /* len 0: the one that the callee is for */
    maki_str system;        /* instructions, not escaped; len 0: none */
    maki_model_text prompt; /* the one user message: UTF-8, not escaped */
    uint64_t prompt_tokens; /* as we count, instructions included */
    uint64_t max_tokens;    /* of the reply */
    int64_t timeout_ms;     /* for all of it */
    bool (*cancelled)(
        void *ctx); /* to be asked while waiting: then end with MAKI_CANCELLED.  Or NULL */
    void *cancelled_ctx;
} maki_model_request;

typedef struct maki_model_usage {
    uint64_t input_tokens, output_tokens; /* 0: unknown */
    double cost;                          /* in dollars; 0: unknown, or none */
    bool cut;                             /* the reply ended at max_tokens, not by itself */
} maki_model_usage;

/* `complete` hands the reply's text to `reply` piece by piece, UTF-8 that may be cut anywhere, and fills in
 * *usage as far as it knows, also when it fails.  When `reply` does not answer MAKI_OK it stops and answers
 * with that status.  MAKI_UPSTREAM, MAKI_TIMEOUT ... with words when the model cannot be had. */
typedef struct maki_model maki_model;
struct maki_model {
    maki_status (*complete)(const maki_model *self, const maki_model_request *request,
                            maki_sink reply, maki_model_usage *usage, maki_err *err);
    void *ctx;
};

#endif
