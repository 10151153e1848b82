/* prepare.h -- a summary that is made before it is needed, while the conversation goes on.
 *
 * When the window fills up to a lower mark, whoever has a thread to spare calls maki_prepare: it opens the
 * conversation for itself, summarises what a condense would hide now, holding no lock, and appends a note to
 * the events (`prepared`), which changes no view.  Killed at any moment it leaves nothing behind.
 *
 * The note carries the cover of what was summarised (history/conversation.h).  A later condense that would
 * hide the same uses it and asks nobody.  Until then messages have usually been added: so the condense covers
 * only what the note does, and keeps the newer ones, if that frees enough.  An edit, a rewind, an undo, a pin
 * or a trim among the messages covered changes the cover, and the note is passed over. */
#ifndef MAKI_MANAGE_PREPARE_H
#define MAKI_MANAGE_PREPARE_H

#include "history/conversation.h"
#include "summary/summary_settings.h"

/* Is it time, when so many percent of the window are in use and a condense comes at `threshold`? */
bool maki_prepare_due(const maki_summary_settings *settings, double percent, double threshold);

typedef struct maki_prepare_report {
    bool made;      /* false: there was one already, or the model failed (fell_back) */
    uint64_t event; /* the note that holds; 0: none */
    maki_summary_usage
        usage; /* told here and in the note, not again by the condense that uses it */
    maki_fact_coverage survey;
    maki_err
        fell_back; /* a summary that another had to write is not kept: the model is asked again */
} maki_prepare_report;

/* Prepare for a condense that keeps the last `keep`, in the caller's thread.  MAKI_REFUSED as in
 * maki_conv_condense: there is nothing to condense yet. */
maki_status maki_prepare(const maki_env *env, const char *path, size_t keep,
                         const maki_summarizer *summarizer, maki_prepare_report *out, maki_err *err)
    MAKI_MUST_CHECK;

/* A note that still holds. */
typedef struct maki_prepared {
    uint64_t event;  /* 0: there is none */
    size_t keep;     /* what a condense keeps that covers just the same */
    uint64_t covers; /* tokens that the summary stands for */
    uint64_t tokens; /* of the summary */
} maki_prepared;
/* The newest that a condense may use which keeps the last `keep`. */
maki_status maki_prepared_find(maki_conv *conv, size_t keep, maki_prepared *out, maki_err *err);

/* A summariser that knows what was prepared in `conv`, and asks `other` for the rest. */
typedef struct maki_prepared_source {
    maki_conv *conv;
    const maki_summarizer *other;
} maki_prepared_source;
maki_summarizer maki_summarizer_prepared(const maki_prepared_source *source);

/* maki_conv_condense with what was prepared, if at most `aim` tokens are in view afterwards, and else
 * without: a view that has to be condensed again soon would cost the provider's cache twice. */
maki_status maki_prepared_condense(maki_conv *conv, const unsigned char *expect, size_t keep,
                                   double aim, const maki_summarizer *summarizer, maki_change *out,
                                   maki_err *err);

#endif
