/* op.h -- inside the table of operations: a row, a call, and reading the fields of its input. */
#ifndef MAKI_OPS_OP_H
#define MAKI_OPS_OP_H

#include <stdbool.h>

#include <maki/op.h>
#include <maki/token.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/logger.h"
#include "history/conversation.h"
#include "reference/condense.h"
#include "reference/message.h"

enum { MAKI_TOKENIZERS = 8 }; /* at most this many vocabularies */

struct maki {
    maki_env env;
    size_t max_memory;
    char home[MAKI_PATH_MAX];                    /* the state folder; "": there is none */
    maki_tokenizer *tokenizers[MAKI_TOKENIZERS]; /* by vocabulary; opened when first asked for */
    maki_status (*counting)(void *ctx, uint64_t done, uint64_t total); /* maki_watch_counting */
    void *counting_ctx;
    size_t threads;               /* maki_set_threads */
    const maki_config *config;    /* maki_use_config; NULL: the defaults */
    const maki_model *model;      /* maki_use_model; NULL: nobody can be asked */
    maki_logger logger;           /* maki_use_log; sink.write NULL: nobody reads */
    bool (*cancelled)(void *ctx); /* maki_watch_cancel; or NULL */
    void *cancel_ctx;
    bool paths_denied; /* maki_deny_paths */
};

/* The handle's logger, or NULL. */
const maki_logger *maki_logger_of(const maki *m);

/* The handle's tokenizer of a vocabulary, with what it remembers from earlier calls.  Borrowed until
 * maki_close. */
maki_status maki_tokenizer_of(maki *m, const maki_encoding *encoding, maki_tokenizer **out,
                              maki_err *err);

/* One call of an operation.  Before `run` the fields of `input` have the types of the row, and the
 * required ones are there. */
typedef struct maki_op_call {
    maki *m;
    maki_arena *arena;
    const char *base; /* where the text that the caller sent begins; positions count from here */
    maki_str input;   /* a JSON object */
    maki_str outer;   /* of a step of history.sequence: the input of the sequence; else empty */
    const maki_json_item *items; /* the fields of `input`, found by maki_fields_note */
    size_t item_count;
    const char *noted; /* the input whose fields they are: where it begins */
    bool answered;     /* what was written stays, whatever status `run` returns */
} maki_op_call;

/* Writes the answer, a JSON object.  When it returns a status and has not set `answered`, an error
 * answer takes the place of what it wrote. */
typedef maki_status maki_op_run(maki_op_call *call, maki_jw *out, maki_err *err);

typedef struct maki_op_row {
    maki_op_info info;
    maki_op_run *run[2]; /* of each form */
} maki_op_row;

/* The table, sorted by name. */
extern const maki_op_row maki_op_table[];
extern const size_t maki_op_table_count;
const maki_op_row *maki_op_row_find(maki_str name);

/* Run a row on input that is known to be JSON; `value` is it, `base` where its text begins. */
maki_status maki_op_run_checked(maki *m, const maki_op_row *row, const char *base, maki_str value,
                                maki_sink out, maki_err *err);

/* ---- fields ---------------------------------------------------------------------------------- */

/* Find the fields of `call->input`, for maki_in and its sisters; once for each input. */
maki_status maki_fields_note(maki_op_call *call, maki_err *err);
/* Are they those of `fields`, and of their types?  `op` is named in errors.  In a step of history.sequence the messages
 * need not be there, and `op` may. */
maki_status maki_fields_check(maki_op_call *call, const char *op, const maki_op_field *fields,
                              maki_err *err);
/* Is it an object, and which form of the row does it mean? */
maki_status maki_form_choose(maki_op_call *call, const maki_op_row *row, size_t *form,
                             maki_err *err);

/* A field of the input: is it there and not null?  Does not walk the input again. */
bool maki_in(const maki_op_call *call, const char *name, maki_str *value);
double maki_in_number(const maki_op_call *call, const char *name, double otherwise);
bool maki_in_bool(const maki_op_call *call, const char *name, bool otherwise);
/* A JSON string; "" in quotes when it is not there. */
maki_str maki_in_string(const maki_op_call *call, const char *name);

/* The same of any object. */
bool maki_field(maki_str object, const char *name, maki_str *value);
double maki_field_number(maki_str object, const char *name, double otherwise);
maki_str maki_field_string(maki_str object, const char *name);
/* The time of the call: the field `now`, else the clock. */
double maki_field_now(const maki_op_call *call);

maki_status maki_field_messages(const maki_op_call *call, const char *name, maki_msgs *out,
                                maki_err *err);

/* For what the row cannot say: `value`, called `name` in the error, must be of this kind. */
maki_status maki_field_want(const maki_op_call *call, maki_str value, const char *name,
                            maki_json_kind kind, maki_err *err);
/* A number in object[name] if it is there; it must be finite. */
maki_status maki_field_nested(const maki_op_call *call, maki_str object, const char *outer,
                              const char *name, double *number, maki_err *err);

/* ---- stand-ins named in an input -------------------------------------------------------------- */

/* The field `counter`: {"kind": "chars4"} (also when there is none), "const" with a value, "o200k". */
maki_status maki_field_counter(const maki_op_call *call, const char *otherwise, maki_counter *out,
                               maki_err *err);

/* The field `name`: a summariser that answers what the input says: {"chunks": [...], "cost",
 * "outputTokens"} or with "usage": [...]; {"kind": "invalid"} and {"kind": "throws"}. */
typedef struct maki_stub_summarizer {
    maki_summarizer base;
    maki_str spec; /* len 0: none was given */
} maki_stub_summarizer;
maki_status maki_field_summarizer(const maki_op_call *call, const char *name,
                                  maki_stub_summarizer *out, maki_err *err);

/* ---- conversations ------------------------------------------------------------------------------ */

/* The messages file that a name means (lookup.c). */
maki_status maki_conversation_path(const maki *m, const char *name, char *path, size_t capacity,
                                   maki_err *err);
/* Open the conversation that the call names. */
maki_status maki_field_conversation(const maki_op_call *call, bool create, maki_conv **out,
                                    maki_err *err);
/* The same for one that only reads: works where nothing may be written, and waits for nobody. */
maki_status maki_field_conversation_read_only(const maki_op_call *call, maki_conv **out,
                                              maki_err *err);
/* The same to try something: what is done to it is gone when it is closed. */
maki_status maki_field_conversation_dry_run(const maki_op_call *call, maki_conv **out,
                                            maki_err *err);

#include "examples.h" /* made of examples/ by the build: maki_op_run maki_op_NAME for each operation */

#endif
