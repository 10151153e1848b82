/* pruning.h -- visit the parts of old messages, and collect edits that shorten them; shared by the pruning steps.
 *
 * A step visits the parts (texts, images) of the messages in view, oldest first, and adds edits for those of old
 * messages.  Edits are collected in a table of a fixed size and become one event; when the table is full, the event is
 * written and the step goes on.  So memory does not grow with the conversation.
 *
 * Never edited are: the first message, system and pinned ones, the newest messages that the step keeps,
 * parts that were expanded again, and parts that are already as short. */
#ifndef MAKI_MANAGE_PRUNING_H
#define MAKI_MANAGE_PRUNING_H

#include "base/arena.h"
#include "manage/steps.h"
#include "summary/tool_kind.h"

enum {
    MAKI_EDITS_MAX = 512, /* of one event */
    MAKI_CALLS_MAX = 64,  /* tool calls that are remembered until their results */
    MAKI_CUTS_MAX = 16    /* of one text */
};

/* The data of a tool call that is used when its result is visited. */
typedef struct maki_pruning_call {
    uint64_t id;    /* a hash */
    uint64_t path;  /* a hash of the file or files it names; 0: none */
    uint64_t input; /* a hash of the name and all arguments */
    maki_tool_kind kind;
    bool only_path; /* no argument besides the path: the whole file */
    char name[64], file[160];
    size_t name_len, file_len;
} maki_pruning_call;

/* A part of a message: a text, or an image. */
typedef struct maki_pruning_part {
    maki_str row;           /* the whole message */
    uint64_t seq, position; /* in the log; in the view */
    uint32_t block, part;   /* apply_trims.h */
    maki_str value;         /* a JSON string; of an image its block */
    bool image;
    bool result;                   /* it belongs to the result of a tool, */
    bool failed;                   /* which has is_error, */
    bool with_image;               /* or images in addition to texts */
    const maki_pruning_call *call; /* of a result; NULL: unknown */
    bool old;                      /* it may be edited */
    const maki_trim *trim;         /* how it is shown now; NULL: whole */
} maki_pruning_part;

typedef struct maki_pruning maki_pruning;
/* Called for each part of the view, old or not.  May call maki_pruning_add. */
typedef maki_status (*maki_pruning_part_fn)(maki_pruning *p, const maki_pruning_part *piece,
                                            maki_err *err);

struct maki_pruning {
    maki_manage_state *work;
    const maki_step *step;
    maki_pruning_part_fn fn;
    void *ctx;
    const maki_view *view;
    uint64_t lead, tail; /* messages at positions [lead, tail) are old */
    uint64_t position;   /* of the current message in the view */
    maki_trim edits[MAKI_EDITS_MAX];
    size_t count;
    bool done;        /* set by fn: no more edits are wanted */
    double saved;     /* tokens, by the edits */
    maki_arena arena; /* cuts and texts of the edits */
    maki_pruning_call calls[MAKI_CALLS_MAX];
    size_t next_call;
};

/* Add an edit with these cuts, if it saves more than the trim that is there.  Their texts are those of
 * maki_pruning_text. */
maki_status maki_pruning_add(maki_pruning *p, const maki_pruning_part *piece, const maki_cut *cuts,
                             size_t count, maki_err *err);
/* The text of a cut: a JSON string, at most a kilobyte; lives as long as the edits. */
maki_status maki_pruning_text(maki_pruning *p, maki_str *out, maki_err *err, const char *fmt, ...)
    MAKI_PRINTF(4, 5);

/* Visit all parts of the view without changing anything. */
maki_status maki_pruning_scan(maki_manage_state *work, const maki_step *step,
                              maki_pruning_part_fn fn, void *ctx, maki_err *err);
/* Visit all parts and write the edits that were added, with as few events as possible. */
maki_status maki_pruning_run(maki_manage_state *work, const maki_step *step,
                             maki_pruning_part_fn fn, void *ctx, maki_step_effect *effect,
                             maki_err *err);

/* The units of a text of `units` that are shown with this trim (or NULL). */
uint64_t maki_pruning_shown_units(const maki_trim *trim, uint64_t units);

/* An upper bound of what pruning tool output can save, from the index alone. */
maki_status maki_pruning_limit(maki_manage_state *work, const maki_step *step, double *tokens,
                               maki_err *err);

#endif
