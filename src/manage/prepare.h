/* prepare.h -- write a summary before it is needed, while the conversation goes on.
 *
 * When the window fills up to a lower mark, a background thread calls maki_prepare: it opens the conversation
 * itself, summarizes what a condense would hide now, holding no lock, and appends an event `prepared`,
 * which changes no view.  Killed at any point it leaves nothing behind.
 *
 * The prepared summary has the cover, a hash of what was summarized (history/conv.h).  A later condense that would
 * hide the same messages uses its summary without a request.  By then messages have usually been added: the condense
 * covers only what the prepared summary does, and keeps the newer ones, if that frees enough.  An edit, a rewind, an undo, a pin
 * or a trim among the messages covered changes the cover, and the prepared summary is skipped. */
#ifndef MAKI_MANAGE_PREPARE_H
#define MAKI_MANAGE_PREPARE_H

#include "history/conv.h"
#include "summary/summary_settings.h"

/* Should a summary be prepared, with so many percent of the window in use and a condense at `threshold`? */
bool maki_prepare_due(const maki_summary_settings *settings, double percent, double threshold);

typedef struct maki_prepare_report {
    bool written;   /* false: there was one already, or the model failed (fallback_reason) */
    uint64_t event; /* the valid one; 0: none */
    maki_summary_usage
        usage; /* reported here and in the event, not again by the condense that uses it */
    maki_fact_coverage coverage;
    maki_err
        fallback_reason; /* a summary of the fallback summarizer is not written: the model is asked again later */
} maki_prepare_report;

/* Prepare for a condense that keeps the last `keep`, in the caller's thread.  MAKI_REFUSED as in
 * maki_conv_condense: there is nothing to condense yet. */
maki_status maki_prepare(const maki_env *env, const char *path, size_t keep,
                         const maki_summarizer *summarizer, maki_prepare_report *out, maki_err *err)
    MAKI_MUST_CHECK;

/* A prepared summary that is still valid. */
typedef struct maki_prepared {
    uint64_t event;  /* 0: there is none */
    size_t keep;     /* number of messages to keep, so that a condense covers the same ones */
    uint64_t covers; /* tokens of the messages that the summary replaces */
    uint64_t tokens; /* of the summary */
} maki_prepared;
/* The newest one that a condense which keeps the last `keep` may use. */
maki_status maki_prepared_find(maki_conv *conv, size_t keep, maki_prepared *out, maki_err *err);

/* maki_conv_condense with the prepared summary, if at most `target` tokens are in view afterwards, and else
 * without: a view that has to be condensed again soon would cost the provider's cache twice. */
maki_status maki_prepared_condense(maki_conv *conv, const unsigned char *expect, size_t keep,
                                   double target, const maki_summarizer *summarizer,
                                   maki_change *out, maki_err *err);

#endif
