/* turn.h -- a turn: from a message of the user to the answer of a model, and all steps in between.
 *
 *     maki_turns *turns;
 *     maki_turns_options options = { .env = &env, .config = config };
 *     st = maki_turns_open(&options, &turns, &err);
 *     ...
 *     maki_turn_request request = { .key = "agent:default:cli:main", .text = MAKI_LIT("海苔とは?") };
 *     maki_turn_callbacks calls = { .ctx = me, .on_delta = print };
 *     maki_turn_result result;
 *     st = maki_turn(turns, &request, &calls, &result, &err);
 *     ...
 *     maki_turns_close(turns);
 *
 * What always holds:
 *   - the message is durable before it is sent, and the answer before maki_turn returns MAKI_OK;
 *   - no lock is held while a model answers: other processes may read and write the session meanwhile;
 *   - a truncated answer (cancelled, connection lost, an error in the stream) is recorded as the text that was
 *     received, with a line at its end that says so, without its calls: it is never sent as if it were complete.  A
 *     truncated answer without text is not recorded;
 *   - a process killed at any point leaves a valid session: its last message has no answer, and maki_turn without a
 *     message asks for one.  A call without a result gets a synthetic one when it is sent (wire/message_writer.h).
 *
 * The agent's prompt (agents.*.workspace, guidelines) is built from files that are read at the beginning of each turn;
 * a file that cannot be read is reported in the result and in the prompt, and does not stop the turn.
 *
 * Memory does not grow with the session.  A maki_turns belongs to one thread at a time; callbacks come in it. */
#ifndef MAKI_ENGINE_TURN_H
#define MAKI_ENGINE_TURN_H

#include <maki/config.h>
#include <maki/model.h>

#include "assemble/request.h"
#include "assemble/workspace.h"
#include "base/buf.h"
#include "base/logger.h"
#include "history/conv.h"
#include "manage/manage.h"
#include "send/send.h"
#include "store/session.h"

typedef struct maki_turns maki_turns;

/* All pointers are borrowed until maki_turns_close. */
typedef struct maki_turns_options {
    /* Used by two more threads: that of base/async_writer.h uses the allocator and files; the one that prepares a
     * summary uses all fields, and the configuration, the logger and `sleep` too. */
    const maki_env *env;
    const maki_config *config;
    const char *home;           /* the state directory */
    const maki_logger *logger;  /* or NULL */
    maki_durability durability; /* MAKI_DURABILITY_SYNC, except in tests */
    bool background;            /* prepare summaries in a thread, if summary.background is on */
    /* As in send.h; NULL: by sleeping. */
    void (*sleep)(void *ctx, uint32_t ms);
    void *sleep_ctx;
} maki_turns_options;

maki_status maki_turns_open(const maki_turns_options *options, maki_turns **out, maki_err *err)
    MAKI_MUST_CHECK;
/* The providers of the configuration, for callers that condense a session; borrowed from `turns`. */
const maki_model *maki_turns_model(const maki_turns *turns);
/* Cancels a summary that is being prepared.  Accepts NULL. */
void maki_turns_close(maki_turns *turns);
/* Wait for the summary that is being prepared; true: one was. */
bool maki_turns_wait(maki_turns *turns);

/* ---- one turn ----------------------------------------------------------------------------------------------- */

/* Zeroed: no message, the configured provider and model, no tools. */
typedef struct maki_turn_request {
    /* The session: its messages file, or its key, "agent:AGENT:CHANNEL:ID", of which the active session is used; both
     * are created if missing. */
    const char *path, *key;
    /* The message: a text, or rows (a message with images, results of tools).  Neither: the model continues from the
     * last message of the session. */
    maki_str text;
    const maki_str *rows; /* JSON objects with a role */
    size_t row_count;
    const char *client;     /* of a session that is created; NULL: unknown */
    maki_str agent;         /* len 0: that of the key or path, then "default" */
    maki_str provider;      /* one of `llm`; len 0: the agent's */
    maki_str model;         /* len 0: the provider's */
    const maki_str *system; /* texts of the system prompt, after that of the agent */
    size_t system_count;
    maki_str tools; /* as in assemble/request.h */
    maki_thinking thinking;
    uint64_t max_tokens; /* of an answer; 0: as configured */
    double window;       /* 0: as configured, else as the provider reports */
    bool no_stream;      /* wait for the complete reply */
    unsigned rounds;     /* requests that may follow from calls of tools; 0: 50 */
} maki_turn_request;

/* A call of a tool. */
typedef struct maki_turn_call {
    maki_str name;  /* a text */
    maki_str input; /* JSON: an object, or the invalid text that the model wrote */
    maki_str id;    /* a text */
} maki_turn_call;

/* All may be NULL.  Not MAKI_OK ends the turn with that status. */
typedef struct maki_turn_callbacks {
    void *ctx; /* the first argument of each */
    maki_status (*on_delta)(void *ctx, const maki_delta *delta, maki_err *err);
    maki_status (*on_retry)(void *ctx, unsigned nth, uint32_t backoff_ms, const maki_err *why,
                            maki_err *err);
    /* The session is condensed: called with `done` NULL before a summary is written, then with the report. */
    maki_status (*on_managing)(void *ctx, const maki_manage_report *done, maki_err *err);
    /* Run a tool; its output goes to `result`.  *failed: it failed, and the output says why.  NULL: the turn ends with
     * MAKI_STOP_CALLS, and the caller continues with a turn whose rows are the results. */
    maki_status (*on_call)(void *ctx, const maki_turn_call *call, maki_buf *result, bool *failed,
                           maki_err *err);
    /* A row was added to the session: the user's, a reply, a result. */
    maki_status (*on_row)(void *ctx, uint64_t seq, maki_str row, maki_err *err);
    bool (*cancelled)(void *ctx); /* called 20 times a second */
} maki_turn_callbacks;

/* No pointers to free.  Fields are filled in as far as the turn came, also when it failed. */
typedef struct maki_turn_result {
    char path[MAKI_PATH_MAX]; /* of the session's messages file */
    bool created;             /* the session is new */
    maki_stop stop;           /* CALLS: without on_call, or after too many rounds */
    bool truncated;           /* the answer is not complete */
    uint64_t asked;           /* seq of the first row of the request; 0: none was added */
    uint64_t last;            /* seq of the newest row of the turn; 0: none */
    uint64_t rows;            /* added, including those of the request */
    unsigned requests;        /* retries not counted */
    unsigned attempts;        /* retries counted */
    unsigned overflows;       /* requests that were too long for the provider */
    unsigned calls;           /* of tools that were run */
    maki_wire_usage usage;    /* of all requests together */
    bool has_cost;
    double cost;           /* of all requests and summaries, as far as providers report it */
    maki_send_result sent; /* of the last request */
    char provider[64], model[MAKI_MODEL_MAX];
    double window, allowed; /* tokens */
    double warning;         /* window.warning; over `window`: the window is small */
    double tokens;          /* of the last request, as counted */
    double system_tokens;   /* those of its system prompt */
    double context;     /* tokens of the session for the next request, as session.status reports */
    uint64_t visible;   /* messages in view at the end; 0: unknown */
    bool has_bootstrap; /* the agent has a workspace: */
    maki_bootstrap_report bootstrap[MAKI_BOOTSTRAP_COUNT]; /* one for each file */
    maki_manage_report
        managed;      /* the last run that changed the view; reason NONE: there was none */
    unsigned runs;    /* that changed the view */
    uint64_t limited; /* messages hidden by a turn limit */
    bool preparing;   /* a summary is being prepared in the background */
} maki_turn_result;

/* MAKI_OK: the answer is complete (or the caller has to run its calls).  Else as maki_send, or MAKI_REFUSED
 * CONTEXT_OVERFLOW when nothing more can be hidden, WINDOW_TOO_SMALL, NOTHING_TO_SEND; MAKI_NOTFOUND when no
 * provider or model is configured.  What was received before the failure is in the session. */
maki_status maki_turn(maki_turns *turns, const maki_turn_request *request,
                      const maki_turn_callbacks *callbacks, maki_turn_result *result,
                      maki_err *err);

#endif
