/* condense.h -- a long past becomes one summary; nothing is removed.
 *
 * The first message and the tail stay.  Everything between gets the tag condenseParent, and the
 * summary is put in just before the tail.  The summariser is handed in. */
#ifndef MAKI_HISTORY_CONDENSE_H
#define MAKI_HISTORY_CONDENSE_H

#include "history/keep.h"
#include "history/message.h"
#include "token/counter.h"

enum {
    MAKI_COVER_LEN = 16,  /* of the hash of what a summary is about */
    MAKI_LOST_ROOM = 1000 /* of the lost facts that are told by name */
};

/* What a summariser is asked: a system prompt, the messages, and a last user message that says what
 * to do.  Lives as long as the arena of the condense. */
typedef maki_status (*maki_message_fn)(void *ctx, maki_str json, maki_err *err);

typedef struct maki_summary_request {
    maki_str system; /* not escaped */
    maki_msgs messages;
    /* In place of `messages` when there may be too many to hold: calls fn for each in order. */
    maki_status (*each)(const void *source, maki_message_fn fn, void *ctx, maki_err *err);
    const void *source;
    uint64_t tokens;            /* of the messages together, by the engine's rules; 0: unknown */
    const unsigned char *cover; /* the messages as a hash (conversation.h); NULL: unknown */
    bool drop_images;           /* the model cannot see them */
    maki_str instruction;
} maki_summary_request;

/* Call fn for each message, whichever way they are handed over. */
maki_status maki_summary_each(const maki_summary_request *request, maki_message_fn fn, void *ctx,
                              maki_err *err);
/* As {"system": ..., "messages": [{role, content} ...]}. */
void maki_summary_request_write(maki_jw *w, const maki_summary_request *request);

/* How many facts of the messages the summary still holds (summary/measure.h). */
typedef struct maki_survey {
    bool measured;
    uint64_t kept, lost;
    size_t list_len;
    char list[MAKI_LOST_ROOM]; /* the first ones lost, JSON strings with commas between them */
} maki_survey;

typedef struct maki_summary {
    maki_str text; /* not escaped; in the arena handed to the summariser */
    double cost;
    double output_tokens; /* 0: unknown */
    maki_survey survey;
    maki_err fell_back; /* why another wrote it than was asked; status MAKI_OK: none did */
} maki_summary;

typedef struct maki_summarizer maki_summarizer;
struct maki_summarizer {
    bool usable; /* false: cannot be called at all */
    maki_status (*run)(const maki_summarizer *self, const maki_summary_request *request,
                       maki_arena *arena, maki_summary *out, maki_err *err);
    const void *ctx;
};

typedef struct maki_condense_in {
    maki_msgs messages;
    maki_str system_prompt; /* a JSON string */
    double tokens_before;
    double min_reduction; /* the least share of them to be saved; 0: any gain will do */
    bool native_tools;    /* preserve the calls of kept results */
    bool supports_images;
    maki_str custom_prompt; /* a JSON string, or len 0 */
    const maki_summarizer *summarizer;
    const maki_summarizer *dedicated; /* used when it can be; may be NULL */
    const maki_counter *counter;
    const maki_rules *rules;
    const maki_random *random;
    double now;
} maki_condense_in;

typedef struct maki_condensed {
    maki_msgs messages;
    maki_str summary; /* trimmed, not escaped */
    double cost;
    double tokens_after;
    maki_str id; /* a JSON string */
    bool called; /* the summariser was called, so cost may have arisen even on failure */
    const maki_summary_request *request; /* NULL when it was never made */
} maki_condensed;

/* MAKI_REFUSED with a code when it cannot be done: NOT_ENOUGH_MESSAGES, CONDENSED_RECENTLY,
 * HANDLER_INVALID, SUMMARIZER_FAILED, SUMMARY_EMPTY, CONTEXT_GREW.  The messages are untouched then;
 * cost, called and request of *out are set in any case. */
maki_status maki_condense(const maki_condense_in *in, maki_arena *arena, maki_condensed *out,
                          maki_err *err);

/* The built-in instructions, in English: six headings, at most 500 words. */
maki_str maki_condense_prompt(void);

/* Count the content of messages [0, count) and `extra` items before them in one call. */
maki_status maki_count_messages(const maki_counter *counter, const maki_str *extra, size_t extra_n,
                                maki_msgs list, maki_arena *arena, double *tokens, maki_err *err);

#endif
