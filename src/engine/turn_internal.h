/* turn_internal.h -- the state of a turn (maki_turn_state), and the functions that the files turn_*.c share.
 *
 * turn.c calls them in the order of take_steps(); each fills the fields that the later ones read. */
#ifndef MAKI_ENGINE_TURN_INTERNAL_H
#define MAKI_ENGINE_TURN_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/json_builder.h"
#include "base/str_util.h"
#include "config/config_path.h"
#include "engine/turn.h"
#include "manage/choose_summarizer.h"
#include "manage/run_limits.h"
#include "send/model_send.h"

enum { MAKI_SYSTEM_SHA = 65 };

/* A summary that is being prepared while the conversation goes on (turn_prepare.c). */
typedef struct maki_preparing {
    pthread_t thread;
    bool running; /* the thread must be joined */
    atomic_bool stop, done;
    maki_summarizer_options in; /* its texts are copied to these: */
    char agent[MAKI_ID_MAX], profile[MAKI_PROFILE_MAX], provider[64], model[MAKI_MODEL_MAX];
    char path[MAKI_PATH_MAX];
    size_t keep;
    bool written; /* owned by the thread until it is joined */
} maki_preparing;

/* A window that an error reported (turn_window.c). */
typedef struct maki_reported_window {
    char provider[64], model[MAKI_MODEL_MAX];
    double tokens; /* of the model; 0: a free entry */
} maki_reported_window;

enum { MAKI_REPORTED_WINDOWS = 8 };

struct maki_turns {
    maki_turns_options options;
    char home[MAKI_PATH_MAX];
    maki_provider_models sends;
    maki_model model; /* for summaries: `sends` */
    /* The last provider: its connections are reused. */
    maki_sender *sender;
    maki_provider provider;
    /* The session of the last turn: only appended bytes are read in the next turn. */
    char path[MAKI_PATH_MAX];
    maki_session session;
    char system_sha[MAKI_SYSTEM_SHA]; /* of the prompt in its newest event `system`; "": none */
    maki_tokenizer *tokenizer;        /* of o200k_base; NULL: not opened yet */
    maki_preparing preparing;
    maki_reported_window reported[MAKI_REPORTED_WINDOWS];
    size_t reported_count; /* inserted in total, evicted ones included */
};

/* The state of the current turn. */
typedef struct maki_turn_state {
    maki_turns *turns;
    const maki_turns_options *options;
    const maki_turn_request *request;
    const maki_turn_callbacks *callbacks;
    maki_turn_result *result;
    maki_arena arena; /* settings, texts, events */
    char agent[MAKI_ID_MAX];
    maki_conv *conv;
    maki_str model;
    const maki_family *family;
    maki_calibration calibration;
    double factor; /* tokens of the model for one of the index */
    maki_thinking thinking;
    uint64_t max_tokens;
    maki_run_limits limits;
    double window; /* the known one, before an error reported a smaller one */
    double
        reported_window; /* the window that an error reported earlier, from the session's events; 0: none */
    maki_policy policy;
    maki_summarizer_options summarizer_options;
    maki_summarizer_choice summarizer;
    maki_str *system; /* texts of the prompt: the agent's, then the caller's */
    size_t system_count;
    uint64_t system_tokens, tool_tokens; /* of the index */
    double reduced_window; /* reduced window after a context overflow; 0: no overflow */
    double counted;        /* tokens of the current request, of the index */
    maki_status managing;  /* what on_managing returned */
    maki_err managing_err;
    maki_spool body;  /* of a request */
    maki_spool reply; /* its rows, each ends with a NUL */
    const char *end;  /* how the request ended: "complete", "cancelled", "cut" ... */
} maki_turn_state;

static inline double maki_turn_other(const maki_turn_state *w)
{
    return (double)(w->system_tokens + w->tool_tokens) + w->family->per_reply;
}

bool maki_turn_cancelled(void *work);

/* A setting of the agent. */
static inline maki_config_path maki_turn_setting(const maki_turn_state *w, const char *name)
{
    return maki_config_path_of("agents", maki_str_of(w->agent), name);
}

static inline maki_str maki_turn_text(const maki_turn_state *w, const char *name)
{
    return maki_config_text(w->options->config, maki_turn_setting(w, name).text);
}

/* turn_session.c: find or create the session, read its settings, add the user's rows. */
maki_status maki_turn_find_session(maki_turn_state *w, maki_err *err);
maki_status maki_turn_open_session(maki_turn_state *w, maki_err *err);
maki_status maki_turn_append_message(maki_turn_state *w, maki_err *err);
maki_status maki_turn_limit_session(maki_turn_state *w, maki_err *err);

/* turn_prompt.c: the system prompt.  Called before the message is appended: it fails without a workspace. */
maki_status maki_turn_build_prompt(maki_turn_state *w, maki_err *err);
/* Append an event `system` when the prompt is not the one of the last such event. */
maki_status maki_turn_record_system(maki_turn_state *w, maki_err *err);

/* turn_manage.c: select the provider, find the window, reduce the session to fit. */
maki_status maki_turn_select_provider(maki_turn_state *w, maki_err *err);
maki_status maki_turn_find_limits(maki_turn_state *w, maki_err *err);
maki_status maki_turn_manage(maki_turn_state *w, maki_err *err);
/* At the end: store the current tokens and messages of the session in the result. */
void maki_turn_report_context(maki_turn_state *w);

/* turn_window.c: windows that errors reported. */
void maki_turn_use_reported(maki_turn_state *w); /* earlier ones, once the limits are known */
void maki_turn_learn_window(maki_turn_state *w); /* from the last error, if it has one */
void maki_turn_test_window(
    maki_turn_state *w); /* after a reply: remove the window if the request was larger */

/* turn_record.c: rows and events. */
/* Append all of them or none. */
maki_status maki_turn_add_rows(maki_turn_state *w, const maki_str *rows, size_t count,
                               maki_err *err);
maki_status maki_turn_add_text(maki_turn_state *w, maki_str text, maki_err *err);
/* Build a row: begin it, write to row->w, leave the object open, and end it, which adds the time and appends it.
 * `end`: how a reply ended, written with its model; NULL: not a reply.  `st`: the status so far; every begin needs
 * its end. */
typedef struct maki_turn_row {
    maki_spool spool;
    maki_jw w;
} maki_turn_row;
void maki_turn_row_begin(const maki_turn_state *w, maki_turn_row *row, maki_err *err);
maki_status maki_turn_row_end(maki_turn_state *w, maki_turn_row *row, const char *end,
                              maki_status st, maki_err *err);
/* Append an event; the object in `fields` is still open. */
maki_status maki_turn_add_event(maki_turn_state *w, const char *type, maki_json_builder *fields,
                                maki_err *err);
/* After a request that ended with `st` and `why`: append its rows, its `manifest` and its usage. */
maki_status maki_turn_record(maki_turn_state *w, maki_status st, const maki_err *why,
                             maki_err *err);
/* Read the last prompt, and what earlier replies and errors of this model reported, from the events of the session. */
maki_status maki_turn_read_state(maki_turn_state *w, maki_err *err);

/* turn_tools.c: run the calls of the reply and record their results. */
maki_status maki_turn_run_calls(maki_turn_state *w, maki_err *err);
/* Call `fn` for each row of the reply. */
typedef maki_status (*maki_reply_row_fn)(maki_turn_state *w, maki_str row, maki_err *err);
maki_status maki_turn_each_reply(maki_turn_state *w, maki_reply_row_fn fn, maki_err *err);

/* turn_prepare.c: start a thread that prepares a summary, if it is due. */
void maki_turn_prepare_summary(maki_turn_state *w);

#endif
