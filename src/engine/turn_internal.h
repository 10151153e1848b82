/* turn_internal.h -- between the files of a turn: what one of them finds out and the others need. */
#ifndef MAKI_RECORDER_TURN_INSIDE_H
#define MAKI_RECORDER_TURN_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/json_build.h"
#include "engine/turn.h"
#include "manage/choose_summarizer.h"
#include "manage/run_limits.h"
#include "send/model_send.h"

enum { MAKI_SYSTEM_SHA = 65 };

/* A summary that is being prepared while the conversation goes on (turn_prepare.c). */
typedef struct maki_preparing {
    pthread_t thread;
    bool runs; /* the thread has to be joined */
    atomic_bool stop, done;
    const maki_turns_options *options;
    const maki_model *asked; /* for summaries */
    char path[MAKI_PATH_MAX], agent[MAKI_ID_MAX], profile[MAKI_PROFILE_MAX];
    char provider[64], model[MAKI_MODEL_MAX]; /* who answers the conversation */
    double window;
    size_t keep;
    bool task;
    bool made; /* of the thread until it was joined */
} maki_preparing;

/* A window that an error told (turn_window.c). */
typedef struct maki_reported_window {
    char provider[64], model[MAKI_MODEL_MAX];
    double tokens; /* the model's; 0: there is none here */
} maki_reported_window;

enum { MAKI_REPORTED_WINDOWS = 8 };

struct maki_turns {
    maki_turns_options options;
    char home[MAKI_PATH_MAX];
    maki_model_send sends;
    maki_model model; /* for summaries: `sends` */
    /* The provider asked last: its connections are kept. */
    maki_sender *sender;
    maki_provider provider;
    /* The session of the last turn: only what came since is read of it. */
    char path[MAKI_PATH_MAX];
    maki_session session;
    char noted[MAKI_SYSTEM_SHA]; /* the prompt that its events speak of; "": of none */
    maki_tokenizer *tokenizer;   /* of o200k_base; NULL: not opened yet */
    maki_preparing preparing;
    maki_reported_window told[MAKI_REPORTED_WINDOWS];
    size_t told_count; /* that were ever kept */
};

/* One turn under way. */
typedef struct maki_turn_work {
    maki_turns *turns;
    const maki_turns_options *options;
    const maki_turn_request *request;
    const maki_turn_callbacks *calls;
    maki_turn_result *result;
    maki_arena arena; /* small things */
    char agent[MAKI_ID_MAX];
    maki_conv *conv;
    maki_str model;
    const maki_family *family;
    maki_calibration calibration;
    double factor; /* the model's tokens for one of ours */
    maki_thinking thinking;
    uint64_t max_tokens;
    maki_run_limits figures;
    double window;   /* before an error told a smaller one */
    double recalled; /* what the session's events say that an error told; 0: nothing */
    maki_policy policy;
    maki_summarizer_choice by;
    maki_str *system; /* texts of the prompt: ours, the caller's */
    size_t system_count;
    uint64_t system_tokens, tool_tokens; /* as we count */
    double shrunk;    /* the window, after the provider found it too long; 0: it did not */
    double counted;   /* of the request at hand, as we count */
    maki_status told; /* what on_managing answered */
    maki_err told_err;
    maki_spool body;  /* of a request */
    maki_spool reply; /* its rows, a NUL behind each */
    const char *end;  /* how the request ended: "complete", "cancelled", "cut" ... */
} maki_turn_work;

static inline double maki_turn_other(const maki_turn_work *w)
{
    return (double)(w->system_tokens + w->tool_tokens) + w->family->per_reply;
}

bool maki_turn_cancelled(void *work);

/* turn_session.c: find or make the session, what holds for it, and the user's rows. */
maki_status maki_turn_resolve(maki_turn_work *w, maki_err *err);
maki_status maki_turn_open(maki_turn_work *w, maki_err *err);
maki_status maki_turn_receive(maki_turn_work *w, maki_err *err);
maki_status maki_turn_limit_session(maki_turn_work *w, maki_err *err);

/* turn_prompt.c: the system prompt.  Before the message is taken: it needs a workspace that is there. */
maki_status maki_turn_prompt(maki_turn_work *w, maki_err *err);
/* An event that says which prompt is in force, when it is another than the session knows. */
maki_status maki_turn_note_system(maki_turn_work *w, maki_err *err);

/* turn_manage.c: who is asked, the window, and what is sent of the session. */
maki_status maki_turn_choose(maki_turn_work *w, maki_err *err);
maki_status maki_turn_measure(maki_turn_work *w, maki_err *err);
maki_status maki_turn_manage(maki_turn_work *w, maki_err *err);
/* At the end: what there is now. */
void maki_turn_tell_context(maki_turn_work *w);

/* turn_window.c: windows that errors told. */
void maki_turn_use_reported(
    maki_turn_work *w); /* what was told before, as soon as there are figures */
void maki_turn_learn_window(maki_turn_work *w); /* the error at hand, if it tells one */
void maki_turn_test_window(maki_turn_work *w);  /* a reply came: was its request larger? */

/* turn_record.c: rows and events. */
/* All of them or none. */
maki_status maki_turn_add_rows(maki_turn_work *w, const maki_str *rows, size_t count,
                               maki_err *err);
maki_status maki_turn_add_text(maki_turn_work *w, maki_str text, maki_err *err);
/* A row made here: begin it, write to row->w, leave the object open, and end it, which puts in the time and adds it.
 * `end` says how a reply ended, and that its model is to be named; NULL: it is no reply.  `st` is how it went so far;
 * every begin needs its end. */
typedef struct maki_turn_row {
    maki_spool spool;
    maki_jw w;
} maki_turn_row;
void maki_turn_row_begin(const maki_turn_work *w, maki_turn_row *row, maki_err *err);
maki_status maki_turn_row_end(maki_turn_work *w, maki_turn_row *row, const char *end,
                              maki_status st, maki_err *err);
/* An event; the object in `made` is open still. */
maki_status maki_turn_note(maki_turn_work *w, const char *type, maki_json_build *made,
                           maki_err *err);
/* After a request, however it ended (`st`, `why`): what came of it, its usage, and how it went. */
maki_status maki_turn_record(maki_turn_work *w, maki_status st, const maki_err *why, maki_err *err);
/* Which prompt that was, and what earlier replies and errors of this model taught, as the events of the session tell it. */
maki_status maki_turn_recall(maki_turn_work *w, maki_err *err);

/* turn_tools.c: run the calls of the reply and record their results. */
maki_status maki_turn_run_calls(maki_turn_work *w, maki_err *err);
/* Each row of the reply. */
typedef maki_status (*maki_reply_row_fn)(maki_turn_work *w, maki_str row, maki_err *err);
maki_status maki_turn_each_reply(maki_turn_work *w, maki_reply_row_fn fn, maki_err *err);

/* turn_prepare.c: start a thread that prepares a summary, if it is time. */
void maki_turn_prepare(maki_turn_work *w);

#endif
