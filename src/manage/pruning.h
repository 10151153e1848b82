/* pruning.h -- what the steps that prune share.
 *
 * A step goes through the view, oldest first, and offers pieces of old messages to be shortened.  They are
 * gathered in a table of a fixed size and become one event; when the table is full, that is written and
 * the step goes on where it was.  So memory does not grow with the conversation.
 *
 * Left alone are: what every step leaves (the first message, system and pinned ones), the newest messages
 * that the step keeps, what somebody expanded again, and what is as short already. */
#ifndef MAKI_MANAGE_PRUNING_H
#define MAKI_MANAGE_PRUNING_H

#include "base/arena.h"
#include "manage/steps.h"
#include "summary/tool_kind.h"

enum {
    MAKI_EDITS_MAX = 512, /* of one event */
    MAKI_CALLS_MAX = 64,  /* calls that are remembered until their results come */
    MAKI_CUTS_MAX = 16    /* of one text */
};

/* A call of a tool, as far as its result needs it. */
typedef struct maki_json_build_call {
    uint64_t id;    /* a hash */
    uint64_t path;  /* a hash of the file, or files, it is about; 0: none */
    uint64_t input; /* a hash of the name and all arguments */
    maki_tool_kind kind;
    bool only_path; /* no argument besides the path: the whole file */
    char name[64], file[160];
    size_t name_len, file_len;
} maki_json_build_call;

/* A piece of a message: a text, or an image. */
typedef struct maki_pruning_part {
    maki_str row; /* the whole message */
    uint64_t seq, at;
    uint32_t block, part; /* weave.h */
    maki_str value;       /* a JSON string; of an image its block */
    bool image;
    bool result;                      /* of a tool, */
    bool failed;                      /* which says that it failed, */
    bool with_image;                  /* or has images besides texts */
    const maki_json_build_call *call; /* that it answers, when it is known */
    bool old;                         /* it may be shortened */
    const maki_trim *trim;            /* how it is shown now; NULL: whole */
} maki_pruning_part;

typedef struct maki_pruning maki_pruning;
/* Look at a piece of the view, old or not.  May call maki_pruning_add. */
typedef maki_status (*maki_pruning_part_fn)(maki_pruning *p, const maki_pruning_part *piece,
                                            maki_err *err);

struct maki_pruning {
    maki_manage_work *work;
    const maki_step *step;
    maki_pruning_part_fn fn;
    void *ctx;
    const maki_view *view;
    uint64_t lead, tail; /* positions from, to which messages are old */
    uint64_t at;         /* of the message at hand */
    maki_trim *edits;
    size_t count;
    bool enough;      /* nothing more is wanted */
    double saved;     /* by the edits */
    maki_arena arena; /* cuts and texts of the edits */
    maki_json_build_call calls[MAKI_CALLS_MAX];
    size_t next_call;
};

/* Take the cuts of a piece into the table, if they save more than is saved now.  Their texts are of
 * maki_pruning_text. */
maki_status maki_pruning_add(maki_pruning *p, const maki_pruning_part *piece, const maki_cut *cuts,
                             size_t count, maki_err *err);
/* A text to put in: a JSON string, at most a kilobyte; lives as long as the edits. */
maki_status maki_pruning_text(maki_pruning *p, maki_str *out, maki_err *err, const char *fmt, ...)
    MAKI_PRINTF(4, 5);

/* Look at all pieces of the view without changing anything. */
maki_status maki_pruning_scan(maki_manage_work *work, const maki_step *step,
                              maki_pruning_part_fn fn, void *ctx, maki_err *err);
/* Look at all pieces and write what was added, with as few events as it takes. */
maki_status maki_pruning_run(maki_manage_work *work, const maki_step *step, maki_pruning_part_fn fn,
                             void *ctx, maki_step_effect *took, maki_err *err);

/* An upper bound of what pruning tool output can save, from the index alone. */
maki_status maki_pruning_limit(maki_manage_work *work, const maki_step *step, double *tokens,
                               maki_err *err);

#endif
