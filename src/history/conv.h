/* conv.h -- a conversation: a log, its parents if it is a fork, and the operations on it.
 *
 * Nothing here changes a message: every step appends an event (timeline.h), can be undone and reports
 * what it did.  The engine's own rules hold (rules_maki): a tool call and its results are never
 * separated, the first message, system messages and pinned ones are never hidden, the newest summary is
 * not truncated away, and only what is visible counts.
 *
 * Every change may name the head it expects; MAKI_CONFLICT means that another writer was first.
 * A conversation belongs to the thread that opened it.  While many tokens are counted it has threads of
 * its own, which call the environment's allocator concurrently. */
#ifndef MAKI_HISTORY_CONV_H
#define MAKI_HISTORY_CONV_H

#include <maki/token.h>

#include "base/json_write.h"
#include "base/logger.h"
#include "history/blocks.h"
#include "history/summarizer.h"
#include "history/timeline.h"

typedef struct maki_conv maki_conv;

typedef struct maki_conv_options {
    bool create;
    bool read_only;
    bool share_index; /* read-only, but a missing or stale index is updated on disk (log.h) */
    bool dry_run;     /* changes are visible to this handle alone and end with it */
    bool repair;
    bool checked; /* messages that are appended have passed maki_json_check: it is not done again */
    maki_durability durability;
    maki_str header; /* of a new session's file; len 0: none */
    size_t threads;  /* for counting many tokens; 0: one per core; 1: only the caller's */
    maki_log_write_fn on_write; /* as in log.h; or NULL */
    void *on_write_ctx;
    maki_tokenizer *tokenizer;  /* of o200k_base, to count with in this thread; NULL: its own */
    maki_log_progress progress; /* called while many tokens are counted; or NULL */
    void *progress_ctx;
} maki_conv_options;

/* `path` is the messages file.  A fork's parents are searched in the same directory, or, for tasks,
 * in the sibling directories. */
maki_status maki_conv_open(const maki_env *env, const char *path, const maki_conv_options *options,
                           maki_conv **out, maki_err *err) MAKI_MUST_CHECK;
void maki_conv_close(maki_conv *conv); /* accepts NULL */
maki_log *maki_conv_log(maki_conv *conv);
/* The name of its file, or of its directory when it is a task. */
maki_str maki_conv_id(const maki_conv *conv);

/* ---- reading ------------------------------------------------------------------------------------ */

#define MAKI_NEWEST UINT64_MAX /* as seq or ev: the newest */

/* The view at a revision: the messages up to seq, the events up to ev; with ev MAKI_NEWEST those that had been written
 * when message seq was the newest.  Borrowed from the conversation until its next call or change. */
maki_status maki_conv_view(maki_conv *conv, uint64_t seq, uint64_t ev, const maki_view **out,
                           maki_err *err);
/* The events that may change the view; `dead` is that of the view made last.  Borrowed until the next call. */
const maki_events *maki_conv_events(const maki_conv *conv);
/* Free the memory of the last view; for a conversation that stays open. */
void maki_conv_free_view(maki_conv *conv);
/* All messages of the log and its parents, also those that are hidden or rewound. */
maki_status maki_conv_all_messages(maki_conv *conv, const maki_view **out, maki_err *err);

/* The revision before the time `ms` (with `include`, at it or before): its last message, and the last event.  A message
 * without a time has that of the message before it.  Where no message has exactly this time, the user acted while an
 * answer was still being recorded: the messages before the user's next one belong to that answer, and stay
 * (reference/rewind.h).  MAKI_REFUSED NO_TIMES: no message has a time. */
maki_status maki_conv_before(maki_conv *conv, int64_t ms, bool include, uint64_t *seq, uint64_t *ev,
                             maki_err *err);

/* How many messages at the front of a view are never hidden: system messages, the first other one, and the results of
 * its calls. */
maki_status maki_view_fixed_prefix(const maki_view *view, uint64_t *prefix, maki_err *err);

/* One message of a view. */
typedef struct maki_view_message {
    uint64_t seq; /* 0: a synthetic message */
    uint64_t ev;  /* of the event that made it */
    maki_index_record
        row; /* of a message of the log; its tokens are those of `json`, also of a synthetic message */
    maki_str json;
} maki_view_message;
typedef maki_status (*maki_view_message_fn)(void *ctx, const maki_view_message *seen,
                                            maki_err *err);
/* Each message in order, trims applied.  In constant memory. */
maki_status maki_conv_each(maki_conv *conv, const maki_view *view, maki_view_message_fn fn,
                           void *ctx, maki_err *err);
/* As JSON lines, or as one array. */
maki_status maki_conv_write(maki_conv *conv, const maki_view *view, bool array, maki_sink sink,
                            maki_err *err);

/* ---- tokens --------------------------------------------------------------------------------------- */

/* Each message was counted in o200k_base when it was appended; the sum of a range is one subtraction.
 * maki_family_scale (token/family.h) converts that to the tokens of a model. */
typedef struct maki_view_totals {
    uint64_t messages, tokens;
} maki_view_totals;

/* The totals of a view. */
maki_status maki_conv_total(maki_conv *conv, const maki_view *view, maki_view_totals *out,
                            maki_err *err);
/* The totals of the newest view. */
maki_status maki_conv_total_now(maki_conv *conv, maki_view_totals *out, maki_err *err);
/* The same tokens from the cache in the index, in constant time when no event has changed the view since.  Else they
 * are counted and, if the index may be written, cached. */
maki_status maki_conv_tokens_cached(maki_conv *conv, uint64_t *tokens, maki_err *err);
/* The totals of messages [from, to], also of those that are hidden, untrimmed. */
maki_status maki_conv_tokens(maki_conv *conv, uint64_t from, uint64_t to, maki_view_totals *out,
                             maki_err *err);

/* ---- changing ------------------------------------------------------------------------------------ */

typedef struct maki_change {
    uint64_t event; /* the number of the event; 0: none was needed */
    uint64_t seq;   /* the newest message afterwards */
    unsigned char head[MAKI_CHAIN_LEN];
    maki_view_change effect;
    uint64_t visible;        /* messages in the view afterwards */
    uint64_t undone;         /* the event that was undone; 0: none was */
    const char *undone_type; /* its type; a constant */
    uint64_t tokens_before, tokens_after;
    /* Of a condense; the usage also when the condense failed. */
    maki_summary_usage usage;
    maki_fact_coverage coverage;
    maki_err fallback_reason; /* as in maki_summary */
} maki_change;

/* Append messages, one JSON object each; newlines between tokens become spaces. */
maki_status maki_conv_append(maki_conv *conv, const unsigned char *expect, const maki_str *messages,
                             size_t count, maki_change *out, maki_err *err);

/* Condense all but the first message and the last `keep`.  MAKI_REFUSED: NOT_ENOUGH_MESSAGES,
 * CONDENSED_RECENTLY, SUMMARIZER_FAILED, SUMMARY_EMPTY, CONTEXT_GREW.  When the conversation grows while
 * the summarizer runs, its summary is still used: then more than `keep` stay. */
maki_status maki_conv_condense(maki_conv *conv, const unsigned char *expect, size_t keep,
                               const maki_summarizer *summarizer, maki_change *out, maki_err *err);
/* The same with the summary as a system message after MAKI_SYSTEM_SUMMARY_PREFIX (synthetic.h), cut when the view would
 * have more than `max_tokens` tokens (0: never). */
maki_status maki_conv_soft_trim(maki_conv *conv, const unsigned char *expect, size_t keep,
                                uint64_t max_tokens, const maki_summarizer *summarizer,
                                maki_change *out, maki_err *err);

/* An event `usage` for a summary that was paid for and then not used, best effort: an error is ignored. */
void maki_conv_add_unused_usage(maki_conv *conv, const maki_summary_usage *usage);

/* What a condense would hide.  The cover is a hash of which messages those are, what was done to them and
 * what of them stays: as long as it is the same, a summary of them is valid. */
typedef struct maki_covered {
    unsigned char cover[MAKI_COVER_LEN];
    uint64_t before;   /* the first message after them */
    uint64_t messages; /* of the log that it would hide */
    uint64_t tokens;
} maki_covered;
/* Nothing is changed.  MAKI_REFUSED as in maki_conv_condense. */
maki_status maki_conv_covered(maki_conv *conv, size_t keep, maki_covered *out, maki_err *err);
/* The same, with a summary of them, whose text is in the arena. */
maki_status maki_conv_summarize(maki_conv *conv, size_t keep, const maki_summarizer *summarizer,
                                maki_arena *arena, maki_covered *out, maki_summary *summary,
                                maki_err *err);
/* Hide about `fraction` of the visible messages after the first.  MAKI_REFUSED NOT_ENOUGH_MESSAGES. */
maki_status maki_conv_truncate(maki_conv *conv, const unsigned char *expect, double fraction,
                               maki_change *out, maki_err *err);
/* Hide all but the first message and the last `keep` (more when a call would be separated from its results) behind a
 * marker.  MAKI_REFUSED NOT_ENOUGH_MESSAGES. */
maki_status maki_conv_keep_newest(maki_conv *conv, const unsigned char *expect, uint64_t keep,
                                  maki_change *out, maki_err *err);
/* The same; earlier summaries and markers are hidden, too. */
maki_status maki_conv_clear(maki_conv *conv, const unsigned char *expect, uint64_t keep,
                            maki_change *out, maki_err *err);
/* Shorten block `block` of message `seq` to `head` and `tail` units. */
maki_status maki_conv_trim(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                           uint32_t block, uint32_t head, uint32_t tail, maki_change *out,
                           maki_err *err);
/* Shorten any number of texts with one event.  Each edit has its block and part, its cuts and, as
 * maki_conv_prune_savings says, its tokens; pinned messages, those that are not in the view and edits that
 * save nothing are skipped.  MAKI_REFUSED NOTHING_TO_DO when no edit is left. */
maki_status maki_conv_prune(maki_conv *conv, const unsigned char *expect, const maki_trim *edits,
                            size_t count, maki_change *out, maki_err *err);
/* The tokens that an edit saves of `row`, the original message in the log. */
maki_status maki_conv_prune_savings(maki_conv *conv, maki_str row, maki_trim *edit, maki_err *err);
maki_status maki_conv_pin(maki_conv *conv, const unsigned char *expect, uint64_t seq, bool pin,
                          maki_change *out, maki_err *err);
/* Back to revision (seq, ev); ev MAKI_NEWEST: the events that had happened at message `seq`. */
maki_status maki_conv_rewind(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                             uint64_t ev, maki_change *out, maki_err *err);
/* Write a rewind (also that of an edit) that was event `ev` to the log: rewind_cutoff, and rewind_removed for each
 * summary and marker that it removed from the view. */
void maki_conv_log_rewind(maki_conv *conv, uint64_t ev, const maki_logger *logger);
/* Undo event `ev`; 0: the newest active one that is not an undo, with all others of its run.  MAKI_REFUSED
 * WOULD_HIDE when that would hide a first or pinned message or separate a call from its results: undo the newer
 * events first (0 skips such an event and tries the next older one). */
maki_status maki_conv_undo(maki_conv *conv, const unsigned char *expect, uint64_t ev,
                           maki_change *out, maki_err *err);
/* Undo the condenses, truncations, trims and prunes among the events [first, last] of a run, with one event. */
maki_status maki_conv_undo_run(maki_conv *conv, uint64_t first, uint64_t last, maki_change *out,
                               maki_err *err);
/* What event `ev` did to the view, as the change that wrote it reported: `did`, `visible`, the tokens and the head's
 * seq.  MAKI_NOTFOUND: the event neither changes the view nor pins or unpins a message. */
maki_status maki_conv_event_effect(maki_conv *conv, uint64_t ev, maki_change *out, maki_err *err);
/* How many of the events [first, last] that free context are active in the view made last. */
uint64_t maki_conv_active_events(const maki_conv *conv, uint64_t first, uint64_t last);
/* How many condenses and truncations are active in that view; *last is the newest of them. */
uint64_t maki_conv_active_compressions(const maki_conv *conv, uint64_t *last);
/* Replace message `seq` by `message` (len 0: delete it); all later messages leave the view. */
maki_status maki_conv_edit(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                           maki_str message, maki_change *out, maki_err *err);
/* The same with `text`, a JSON string, as a message of the same role.  MAKI_INVALID: message `seq` is a tool result,
 * for which a text is not enough. */
maki_status maki_conv_edit_text(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                                maki_str text, maki_change *out, maki_err *err);
/* Undo the condense, truncation or trim that hides or shortens message `seq`; what a prune shortened is
 * shown in full by an event of its own, and the other messages of that prune stay trimmed. */
maki_status maki_conv_expand(maki_conv *conv, const unsigned char *expect, uint64_t seq,
                             maki_change *out, maki_err *err);
/* Begin a new conversation at `path` that shares the history up to revision (seq, ev).  `header` is its first row, a
 * JSON object; len 0: none.  MAKI_INVALID: `path` is not next to this conversation, where a fork looks for its parent. */
maki_status maki_conv_fork(maki_conv *conv, uint64_t seq, uint64_t ev, const char *path,
                           maki_str header, maki_err *err);
/* Append an event that does not change the view. */
maki_status maki_conv_add_event(maki_conv *conv, const char *type, maki_str fields,
                                maki_change *out, maki_err *err);

#endif
