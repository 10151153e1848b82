/* op.h -- operations by name: JSON in, JSON out.
 *
 * Every operation of Maki is one row of a table; the command, the bindings and the reference page
 * are generated from that row.  `maki_op` runs one.  A pure operation depends on its input, and on the
 * clock and the random source of the handle, and on nothing else.
 *
 * A maki handle belongs to the thread that uses it; open one per thread. */
#ifndef MAKI_OP_H
#define MAKI_OP_H

#include <stdbool.h>
#include <stddef.h>

#include <maki/config.h>
#include <maki/env.h>
#include <maki/model.h>

MAKI_BEGIN_DECLS

typedef struct maki maki;

typedef struct maki_options {
    size_t size;       /* sizeof this struct: lets old callers meet new libraries */
    maki_env env;      /* the outside world; maki_env_system() for the real one */
    size_t max_memory; /* maximum for one operation, besides its input; more is MAKI_TOOBIG */
    const char *home;  /* the state directory, copied; NULL: maki_home */
} maki_options;
#define MAKI_MAX_MEMORY ((size_t)1 << 30)

/* The state directory of this user, which holds the sessions: $MAKI_HOME, $XDG_DATA_HOME/maki or ~/.local/share/maki.  False, and ""
 * in `out`: no home directory, or its path is too long. */
MAKI_API bool maki_home(char *out, size_t capacity);

/* On MAKI_OK the caller owns *out and ends it with maki_close(); on failure *out is untouched.
 * `options` may be NULL for the real outside world and the default limit. */
MAKI_API maki_status maki_open(const maki_options *options, maki **out, maki_err *err)
    MAKI_MUST_CHECK;
MAKI_API void maki_close(maki *m); /* accepts NULL */

/* The settings for operations on conversations, borrowed until maki_close.  NULL, and before this is called: the
 * defaults.  Pure operations do not read them. */
MAKI_API void maki_set_config(maki *m, const maki_config *config);
/* The model that writes summaries where the configuration names a provider; borrowed until maki_close.  NULL, and before
 * this is called: summaries are written without a model. */
MAKI_API void maki_set_model(maki *m, const maki_model *model);
/* The log: one event a line, key=value.  `level` is the lowest that is written: "debug", "info", "warn" or "error"; NULL:
 * log.level of the configuration. */
MAKI_API void maki_set_logger(maki *m, maki_sink sink, const char *level);
/* Called again and again during manage.run; true stops it with MAKI_CANCELLED, and its steps are undone.  NULL: it is never
 * cancelled. */
MAKI_API void maki_set_cancel(maki *m, bool (*fn)(void *ctx), void *ctx);
/* Called in the thread of manage.run when a run starts, with a JSON object {"type": "managing", "session", "reason", "tokens",
 * "window", "usage"}.  NULL, and before this is called: it is sent to the daemon of the state directory, if one runs. */
MAKI_API void maki_set_notify(maki *m, void (*fn)(void *ctx, maki_str json), void *ctx);

/* Run the operation `name` on `input`, a JSON object.  Its answer, a JSON object without a newline,
 * goes to `out`, also when it is an error: {"error": {"code": ..., "message": ...}}, which may have
 * other fields, too.  The status and *err say the same.  MAKI_NOTFOUND: no such operation.  An answer
 * is incomplete only when `out` itself fails, or when a conversation turns out to be corrupt while it
 * is written out. */
MAKI_API maki_status maki_op(maki *m, maki_str name, maki_str input, maki_sink out, maki_err *err);

/* The same with the input read from a descriptor, of any size: more than a megabyte is buffered in
 * an unlinked file, not in memory. */
MAKI_API maki_status maki_op_read(maki *m, maki_str name, int fd, maki_sink out, maki_err *err);

/* Rows {"op": NAME, "input": {...}} from a descriptor, one answer a line, in order.  A row that
 * fails is answered like any other and the next one is read.  Returns the first status that is not
 * MAKI_OK, with its *err. */
MAKI_API maki_status maki_op_lines(maki *m, int fd, maki_sink out, maki_err *err);

/* From now on the input of an operation cannot name a file: a field of type "path" is refused with MAKI_DENIED, and a
 * conversation is the id or the key of a session.  For clients that must not read every file of this user. */
MAKI_API void maki_deny_paths(maki *m);

/* ---- the table, for help texts ------------------------------------------------------- */

typedef struct maki_op_field {
    const char *name;
    /* "string", "number", "count" (an integer of at least 0), "boolean", "object", "array", "message", "messages", "any";
     * "conversation" (a path, a task, a session or its key), "path" (of a file or directory), "revision" ({seq, ev}) */
    const char *type;
    const char *help;
    int required;
} maki_op_field;

/* A way to call an operation.  An input with a field that is not in `input` is refused. */
typedef struct maki_op_form {
    const char *chosen_by;       /* the field that selects this form; NULL: the only one */
    const char *class_name;      /* "pure", "conversation", "system" */
    const char *effect;          /* "read", "append", "external" */
    const maki_op_field *input;  /* the last one has no name */
    const maki_op_field *output; /* likewise */
    const char *example;         /* an input */
    const char *answer; /* its answer, with the clock at 1700000000000 and ids from zeros */
} maki_op_form;

/* A word or an option of a command line, and the field it becomes; its value is read by the field's type: a "boolean" is
 * a flag, a "revision" is SEQ or SEQ:EVENT, a "message" is JSON. */
typedef struct maki_op_argument {
    /* "SEQ": a word; "[SEQ]": one that may be left out; "--keep N": an option with a value; "--new": a flag;
     * "=true": no argument, always this JSON */
    const char *shape;
    const char *field;
} maki_op_argument;

/* An operation as a command: `maki history pin PATH 7`, `maki session pin ID 7`, or `/pin 7` in a chat.  Where the
 * operation has a field of type "conversation", that is the first argument; in a chat it is the chat's own. */
typedef struct maki_op_command {
    const char *groups; /* "history session chat": where it is a command */
    const char *name;   /* of the command there */
    const char *help;   /* in a few words */
    const char *answer; /* how its answer is shown: "fields", "change", "status" ... */
    const char *done;   /* of "change": what was done, "Pinned" */
    const maki_op_argument *arguments; /* the last one has no shape */
} maki_op_command;

typedef struct maki_op_info {
    const char *name;
    const char *help; /* one line */
    const maki_op_form *forms;
    size_t form_count;               /* 2: on messages, and on a conversation */
    const maki_op_command *commands; /* the last one has no name */
} maki_op_info;

MAKI_API size_t maki_op_count(void);
MAKI_API const maki_op_info *maki_op_at(size_t index);    /* sorted by name */
MAKI_API const maki_op_info *maki_op_find(maki_str name); /* NULL: unknown */
/* The name nearest to a mistyped one, or NULL. */
MAKI_API const char *maki_op_suggest(maki_str name);
/* {"name", "help", "forms": [{"chosenBy", "class", "effect", "input", "output", "example", "answer"}]} */
MAKI_API maki_status maki_op_describe(const maki_op_info *op, maki_sink out, maki_err *err);

/* ---- operations as commands --------------------------------------------------------- */

/* A command of a group, and the operation it calls. */
typedef struct maki_op_bound_command {
    const char *group;
    const maki_op_info *op;
    const maki_op_command *command;
} maki_op_bound_command;
/* The commands of a group, in the order of their operations, from 0; false after the last. */
MAKI_API bool maki_op_command_at(const char *group, size_t index, maki_op_bound_command *out);
MAKI_API bool maki_op_command_find(const char *group, maki_str name, maki_op_bound_command *out);
/* Is its first argument a conversation that `arguments` does not list? */
MAKI_API bool maki_op_command_takes_conversation(const maki_op_bound_command *bound);
/* The field of an argument, in the form that the command uses: the last one, which has a conversation. */
MAKI_API const maki_op_field *maki_op_command_field(const maki_op_info *op, const char *name);

/* The parsed arguments of a command, borrowed from argv. */
enum { MAKI_OP_ARGUMENTS = 8 };
typedef struct maki_op_parsed_args {
    const char *conversation;              /* NULL: not given, or the caller sets it */
    const char *values[MAKI_OP_ARGUMENTS]; /* of its arguments; NULL: not given */
    bool json;                             /* --json: print the answer as JSON */
} maki_op_parsed_args;
/* Parse the arguments after the command's name.  MAKI_INVALID says what is missing or unknown. */
MAKI_API maki_status maki_op_command_read(const maki_op_bound_command *bound, int argc, char **argv,
                                          maki_op_parsed_args *out, maki_err *err);
/* Write the input of its operation. */
MAKI_API maki_status maki_op_command_input(const maki_op_bound_command *bound,
                                           const maki_op_parsed_args *args, maki_sink out,
                                           maki_err *err);

MAKI_END_DECLS

#endif
