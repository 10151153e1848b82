/* condense.h -- one summary hides the middle of a list of messages; nothing is removed.
 *
 * The first message and the tail stay visible.  Everything between gets the tag condenseParent, and
 * the summary is inserted right before the tail.  The summarizer is given by the caller. */
#ifndef MAKI_REFERENCE_CONDENSE_H
#define MAKI_REFERENCE_CONDENSE_H

#include "history/summarizer.h"
#include "reference/message.h"
#include "token/counter.h"

/* The request to the summarizer, as the reference builds it; a caller may have it written, too. */
typedef struct maki_condense_request {
    maki_summary_request base;
    maki_msgs messages;
    maki_str system;  /* not escaped */
    bool drop_images; /* the model cannot see them */
} maki_condense_request;

/* A request of these messages; borrows `list`. */
maki_summary_request maki_msgs_request(const maki_msgs *list);
/* As {"system": ..., "messages": [{role, content} ...]}, with the instruction as the last user message. */
void maki_condense_request_write(maki_jw *w, const maki_condense_request *request);

/* Call a summarizer.  *out has the trimmed text; its usage is set also on failure.  MAKI_REFUSED: HANDLER_INVALID,
 * SUMMARIZER_FAILED or SUMMARY_EMPTY. */
maki_status maki_summarize(const maki_summarizer *summarizer, const maki_summary_request *request,
                           maki_arena *arena, maki_summary *out, maki_err *err);

typedef struct maki_condense_input {
    maki_msgs messages;
    maki_str system_prompt; /* a JSON string */
    double tokens_before;
    double min_reduction; /* minimum share of tokens_before to save; 0: any reduction */
    bool native_tools;    /* preserve the calls of kept results */
    bool supports_images;
    maki_str custom_prompt; /* a JSON string, or len 0 */
    const maki_summarizer *summarizer;
    const maki_summarizer *dedicated; /* used first when it is usable; may be NULL */
    const maki_counter *counter;
    const maki_random *random;
    double now;
} maki_condense_input;

typedef struct maki_condensed {
    maki_msgs messages;
    maki_str summary; /* trimmed, not escaped */
    double cost;
    double tokens_after;
    maki_str id; /* a JSON string */
    bool called; /* the summarizer was called: it may have caused cost even when it failed */
    const maki_condense_request *request; /* NULL: refused before it was built */
} maki_condensed;

/* MAKI_REFUSED with one of these codes: NOT_ENOUGH_MESSAGES, CONDENSED_RECENTLY,
 * HANDLER_INVALID, SUMMARIZER_FAILED, SUMMARY_EMPTY, CONTEXT_GREW.  The messages are unchanged then;
 * cost, called and request of *out are always set. */
maki_status maki_condense(const maki_condense_input *in, maki_arena *arena, maki_condensed *out,
                          maki_err *err);

/* Count the content of messages [0, count) and `extra` items before them in one call. */
maki_status maki_count_messages(const maki_counter *counter, const maki_str *extra, size_t extra_n,
                                maki_msgs list, maki_arena *arena, double *tokens, maki_err *err);

#endif
