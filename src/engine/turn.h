/* turn.h -- a turn: from a message of the user to the answer of a model, with everything in between.
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
 *   - no lock is held while a model is waited for: others may read and write the session meanwhile;
 *   - an answer that was cut (cancelled, connection lost, an error in the stream) is recorded as the words that came
 *     with a line behind them that says so, without the calls in it: it is never sent as if it were whole.  A cut
 *     answer without words is not recorded;
 *   - a process killed at any point leaves a valid session: its last message has no answer, and maki_turn without a
 *     message asks for one.  A call without a result gets a made one when it is sent (wire/write.h).
 *
 * The agent's prompt (agents.*.workspace, guidelines) is made from files that are read at the beginning of each turn;
 * a file that cannot be read is told in the result and to the model, and does not stop the turn.
 *
 * Memory does not grow with the session.  A maki_turns belongs to one thread at a time; callbacks come in it. */
#ifndef MAKI_RECORDER_TURN_H
#define MAKI_RECORDER_TURN_H

#include <maki/config.h>
#include <maki/model.h>

#include "assemble/request.h"
#include "assemble/workspace.h"
#include "base/buf.h"
#include "base/logger.h"
#include "history/conversation.h"
#include "manage/manage.h"
#include "send/send.h"
#include "store/session.h"

typedef struct maki_turns maki_turns;

/* All of it is borrowed until maki_turns_close. */
typedef struct maki_turns_options {
    /* Used by two threads: by one that writes a long request (base/async_writer.h), its allocator and files; by one that
     * prepares a summary, all of it, and the configuration, the logger and `sleep` too. */
    const maki_env *env;
    const maki_config *config;
    const char *home;           /* the state folder */
    const maki_logger *logger;  /* or NULL */
    maki_durability durability; /* MAKI_SYNC, unless it is a test */
    bool background; /* prepare summaries in a thread, where summary.background says so */
    /* As in send.h; NULL: by sleeping. */
    void (*sleep)(void *ctx, uint32_t ms);
    void *sleep_ctx;
} maki_turns_options;

maki_status maki_turns_open(const maki_turns_options *options, maki_turns **out, maki_err *err)
    MAKI_MUST_CHECK;
/* The providers of the configuration, as whoever makes room in a session may ask them; as long as `turns` lives. */
const maki_model *maki_turns_model(const maki_turns *turns);
/* Stops a summary that is being prepared.  Accepts NULL. */
void maki_turns_close(maki_turns *turns);
/* Wait for the summary that is being prepared; true: one was. */
bool maki_turns_wait(maki_turns *turns);

/* ---- asking ----------------------------------------------------------------------------------------------- */

/* Zeroed is: no message, the configuration's provider and model, no tools. */
typedef struct maki_turn_request {
    /* The session: its messages file, made if it is not there; or its key, "agent:AGENT:CHANNEL:ID", whose active
     * session is taken or made. */
    const char *path, *key;
    /* What the user says: a text, or rows (a message with images, results of tools).  Neither: the model is asked
     * to go on from what is there. */
    maki_str text;
    const maki_str *rows; /* JSON objects with a role */
    size_t row_count;
    maki_str agent;         /* len 0: that of the key or path, then "default" */
    maki_str provider;      /* one of `llm`; len 0: the agent's */
    maki_str model;         /* len 0: the provider's */
    const maki_str *system; /* texts of the system prompt, behind that of the agent */
    size_t system_count;
    maki_str tools; /* as in assemble/request.h */
    maki_thinking thinking;
    uint64_t max_tokens; /* of an answer; 0: as configured */
    double window;       /* 0: as configured, else as the provider says */
    bool whole;          /* the answer in one piece, not as a stream */
    unsigned rounds;     /* requests that may follow from calls of tools; 0: 50 */
} maki_turn_request;

/* A call of a tool. */
typedef struct maki_turn_call {
    maki_str name;  /* a text */
    maki_str input; /* JSON: an object, or what the model wrote in its place */
    maki_str id;    /* a text */
} maki_turn_call;

/* All may be NULL.  Not MAKI_OK ends the turn with that status. */
typedef struct maki_turn_callbacks {
    void *ctx; /* the first argument of each */
    maki_status (*on_delta)(void *ctx, const maki_delta *piece, maki_err *err);
    maki_status (*on_retry)(void *ctx, unsigned nth, uint32_t pause_ms, const maki_err *why,
                            maki_err *err);
    /* Room is being made: `done` NULL before a summary is written, which may take a while; then what was done. */
    maki_status (*on_managing)(void *ctx, const maki_manage_report *done, maki_err *err);
    /* Run a tool; its words go into `result`.  *failed: it did not work, and the words say why.  NULL: the turn
     * ends with MAKI_STOP_CALLS, and the caller goes on with a turn whose rows are the results. */
    maki_status (*on_call)(void *ctx, const maki_turn_call *call, maki_buf *result, bool *failed,
                           maki_err *err);
    /* A row was added to the session: the user's, a reply, a result. */
    maki_status (*on_row)(void *ctx, uint64_t seq, maki_str row, maki_err *err);
    bool (*cancelled)(void *ctx); /* asked 20 times a second */
} maki_turn_callbacks;

/* Plain data, filled as far as it came, also when the turn failed. */
typedef struct maki_turn_result {
    char path[MAKI_PATH_MAX]; /* of the session's messages file */
    bool made;                /* the session is new */
    maki_stop stop;           /* CALLS: nobody ran them, or there were too many rounds */
    bool cut;                 /* the answer is not whole */
    uint64_t asked;           /* seq of the first row of the request; 0: none was added */
    uint64_t last;            /* seq of the newest row of the turn; 0: none */
    uint64_t rows;            /* added, those of the request included */
    unsigned requests;        /* sent, tries apart */
    unsigned tries;           /* with those that were repeated */
    unsigned overflows;       /* requests that the provider found too long */
    unsigned calls;           /* of tools that were run */
    maki_wire_usage usage;    /* of all requests together */
    bool has_cost;
    double cost;           /* of all requests and summaries, as far as providers say it */
    maki_send_result sent; /* of the last request */
    char provider[64], model[MAKI_MODEL_MAX];
    double window, allowed; /* tokens */
    double tokens;          /* of the last request, as counted */
    double system_tokens;   /* those of its system prompt */
    double context;     /* of what the next request would begin with, as session.status counts */
    uint64_t visible;   /* messages in view then; 0: not known */
    bool has_bootstrap; /* the agent has a workspace: */
    maki_boot_report bootstrap[MAKI_BOOTSTRAP_COUNT]; /* what became of its files */
    maki_manage_report managed; /* the last run that did something; reason NONE: there was none */
    unsigned runs;              /* that did something */
    uint64_t limited;           /* messages hidden by a turn limit */
    bool preparing;             /* a summary is being prepared in the background */
} maki_turn_result;

/* MAKI_OK: the answer is whole (or calls wait for the caller).  As maki_send says it, and: MAKI_REFUSED
 * CONTEXT_OVERFLOW when nothing more can be left out, WINDOW_TOO_SMALL, NOTHING_TO_SEND; MAKI_NOTFOUND when no
 * provider or model is configured.  What was said before the failure is in the session. */
maki_status maki_turn(maki_turns *turns, const maki_turn_request *request,
                      const maki_turn_callbacks *calls, maki_turn_result *result, maki_err *err);

#endif
