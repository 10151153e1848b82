/* summarizer.h -- a summarizer: the function that writes a summary of messages, given by the caller;
 * its request, its result, and their fields in events. */
#ifndef MAKI_HISTORY_SUMMARIZER_H
#define MAKI_HISTORY_SUMMARIZER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/json_write.h"
#include "base/limits.h"

enum {
    MAKI_COVER_LEN = 16,       /* bytes of the hash of the messages that a summary covers */
    MAKI_LOST_FACTS_MAX = 1000 /* bytes of the list of lost facts */
};

typedef maki_status (*maki_message_fn)(void *ctx, maki_str json, maki_err *err);

/* What is to be summarized: `each` calls fn for every message in order, so that they need not be in memory together. */
typedef struct maki_summary_request {
    maki_status (*each)(const void *source, maki_message_fn fn, void *ctx, maki_err *err);
    const void *source;
    uint64_t tokens;            /* of the messages together, by the engine's rules; 0: unknown */
    const unsigned char *cover; /* the messages as a hash (conv.h); NULL: unknown */
} maki_summary_request;

/* How many facts of the messages are in the summary (summary/measure.h). */
typedef struct maki_fact_coverage {
    bool measured;
    uint64_t kept, lost;
    size_t list_len;
    char list[MAKI_LOST_FACTS_MAX]; /* the first ones lost, JSON strings with commas between them */
} maki_fact_coverage;

/* The tokens and cost of summaries by models: the sum of all requests, also of those whose summary was not used. */
typedef struct maki_summary_usage {
    char model[MAKI_MODEL_MAX]; /* of the last request; "": none was sent */
    double input, output;       /* tokens; 0: unknown */
    double cost;                /* in dollars; 0: unknown, or none */
} maki_summary_usage;
void maki_summary_usage_add(maki_summary_usage *sum, const maki_summary_usage *more);

typedef struct maki_summary {
    maki_str text; /* not escaped; in the arena given to the summarizer */
    maki_summary_usage usage;
    maki_fact_coverage coverage;
    maki_err fallback_reason; /* why a fallback wrote it; status MAKI_OK: none did */
} maki_summary;

typedef struct maki_summarizer maki_summarizer;
struct maki_summarizer {
    bool usable; /* false: it may not be called */
    maki_status (*run)(const maki_summarizer *self, const maki_summary_request *request,
                       maki_arena *arena, maki_summary *out, maki_err *err);
    const void *ctx;
};

/* The fields of events and answers, into the object that is open: "cost", and when a model was asked
 * "summarizer": {"model", "input", "output"}; "factsKept", "factsLost" and "lost". */
void maki_summary_usage_write(maki_jw *w, const maki_summary_usage *usage);
void maki_fact_coverage_write(maki_jw *w, const maki_fact_coverage *coverage);
/* "fallback": {"summarizer": "offline", "code", "message"}, unless `fallback_reason` has MAKI_OK. */
void maki_fallback_write(maki_jw *w, const maki_err *fallback_reason);

#endif
