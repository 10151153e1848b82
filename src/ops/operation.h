/* operation.h -- a row of the table of operations, a call, and functions that read the fields of its input; private
 * to ops/. */
#ifndef MAKI_OPS_OPERATION_H
#define MAKI_OPS_OPERATION_H

#include <stdbool.h>

#include <maki/op.h>
#include <maki/token.h>

#include "base/json_access.h"
#include "base/json_write.h"
#include "base/logger.h"
#include "history/conv.h"
#include "reference/condense.h"
#include "reference/message.h"

enum { MAKI_TOKENIZERS = 8 }; /* max. encodings */

struct maki {
    maki_env env;
    size_t max_memory;
    char home[MAKI_PATH_MAX];                    /* the state directory; "": none */
    maki_tokenizer *tokenizers[MAKI_TOKENIZERS]; /* by encoding; opened on first use */
    maki_status (*counting)(void *ctx, uint64_t done, uint64_t total); /* maki_set_progress */
    void *counting_ctx;
    size_t threads;               /* maki_set_threads */
    const maki_config *config;    /* maki_set_config; NULL: the defaults */
    const maki_model *model;      /* maki_set_model; NULL: summaries are written offline */
    maki_logger logger;           /* maki_set_logger; sink.write NULL: nothing is logged */
    bool (*cancelled)(void *ctx); /* maki_set_cancel; or NULL */
    void *cancel_ctx;
    bool paths_denied;                        /* maki_deny_paths */
    void (*notify)(void *ctx, maki_str json); /* maki_set_notify; or NULL */
    void *notify_ctx;
};

/* The handle's logger, or NULL. */
const maki_logger *maki_logger_of(const maki *m);

/* The handle's tokenizer of an encoding, with its cache from earlier calls.  Borrowed until maki_close. */
maki_status maki_tokenizer_of(maki *m, const maki_encoding *encoding, maki_tokenizer **out,
                              maki_err *err);

/* One call of an operation.  `run` is called only when the fields of `input` have the types of the row and no required
 * one is missing. */
typedef struct maki_op_call {
    maki *m;
    maki_arena *arena;
    const char *input_start; /* of the text that the caller sent; error positions count from here */
    maki_str input;          /* a JSON object */
    maki_str outer; /* of a step of history.sequence: the input of the sequence; else empty */
    const maki_json_item *items; /* the fields of `input`, indexed by maki_fields_index */
    size_t item_count;
    const char *indexed; /* where the input begins whose fields `items` are */
    bool answered;       /* the answer is complete, whatever status `run` returns */
} maki_op_call;

/* Writes the answer, a JSON object.  When it fails without having set `answered`, an error answer replaces what it
 * wrote. */
typedef maki_status maki_op_run(maki_op_call *call, maki_jw *out, maki_err *err);

typedef struct maki_op_row {
    maki_op_info info;
    maki_op_run *run[2]; /* of each form */
} maki_op_row;

/* The table, sorted by name. */
extern const maki_op_row maki_op_table[];
extern const size_t maki_op_table_count;
/* MAKI_NOTFOUND suggests the nearest name. */
maki_status maki_op_row_find(maki_str name, const maki_op_row **out, maki_err *err);

/* Run a row on checked JSON: `value` is its input, `input_start` the start of the text that errors count bytes from. */
maki_status maki_op_run_checked(maki *m, const maki_op_row *row, const char *input_start,
                                maki_str value, maki_sink out, maki_err *err);

/* ---- fields ---------------------------------------------------------------------------------- */

/* Index the fields of `call->input` for the maki_input_value functions; once for each input. */
maki_status maki_fields_index(maki_op_call *call, maki_err *err);
/* Check names, types and presence against `fields`; errors name `op`.  A step of history.sequence may lack the messages
 * and may have an `op`. */
maki_status maki_fields_check(maki_op_call *call, const char *op, const maki_op_field *fields,
                              maki_err *err);
/* Check that the input is an object, and find the form of the row that it selects. */
maki_status maki_form_select(maki_op_call *call, const maki_op_row *row, size_t *form,
                             maki_err *err);

/* A field of the input; false when it is missing or null.  Uses the index: does not walk the input again. */
bool maki_input_value(const maki_op_call *call, const char *name, maki_str *value);
double maki_input_number(const maki_op_call *call, const char *name, double fallback);
bool maki_input_bool(const maki_op_call *call, const char *name, bool fallback);
/* A JSON string; "" in quotes when it is missing. */
maki_str maki_input_string(const maki_op_call *call, const char *name);
/* Its text, decoded in the arena of the call (check maki_arena_status); empty when it is missing. */
maki_str maki_input_text(const maki_op_call *call, const char *name);
/* Its text as a C string; "" when it is missing, MAKI_INVALID when it is too long or has a NUL. */
maki_status maki_input_cstring(const maki_op_call *call, const char *name, char *out,
                               size_t capacity, maki_err *err);

/* A field of any object; false when it is missing or null. */
bool maki_field(maki_str object, const char *name, maki_str *value);
/* The time of the call: the field `now`, else the clock. */
double maki_field_now(const maki_op_call *call);

maki_status maki_field_messages(const maki_op_call *call, const char *name, maki_msgs *out,
                                maki_err *err);
/* The same as JSON rows, with their bytes unchanged. */
maki_status maki_field_rows(const maki_op_call *call, const char *name, const maki_str **rows,
                            size_t *count, maki_err *err);

/* MAKI_INVALID with the formatted message and ", at byte N", the position of `value` in what the caller sent. */
maki_status maki_field_invalid(const maki_op_call *call, maki_str value, maki_err *err,
                               const char *fmt, ...) MAKI_PRINTF(4, 5);
/* For checks beyond the row: `value`, called `name` in the error, must be of this kind. */
maki_status maki_field_check_kind(const maki_op_call *call, maki_str value, const char *name,
                                  maki_json_kind kind, maki_err *err);
/* A field of an object inside the input, and where its value is stored in a struct: a double, a bool, or of any other kind
 * the JSON (a maki_str). */
typedef struct maki_nested_field {
    const char *name; /* NULL: the end of the list */
    maki_json_kind kind;
    size_t offset;
} maki_nested_field;
/* Read the fields of `object`, called `outer` in errors, into `out`; missing fields are unchanged. */
maki_status maki_field_nested(const maki_op_call *call, maki_str object, const char *outer,
                              const maki_nested_field *fields, void *out, maki_err *err);

/* ---- stubs defined by the input -------------------------------------------------------------- */

/* The field `counter`: {"kind": "chars4"}, "const" with a value, or "o200k"; by default of the kind `fallback`. */
maki_status maki_field_counter(const maki_op_call *call, const char *fallback, maki_counter *out,
                               maki_err *err);

/* The field `name`: a summarizer whose answer is given in the input: {"chunks": [...], "cost",
 * "outputTokens"} or with "usage": [...]; {"kind": "invalid"} and {"kind": "throws"}. */
typedef struct maki_stub_summarizer {
    maki_summarizer base;
    maki_str spec; /* the field; len 0: missing */
} maki_stub_summarizer;
maki_status maki_field_summarizer(const maki_op_call *call, const char *name,
                                  maki_stub_summarizer *out, maki_err *err);

/* ---- conversations ------------------------------------------------------------------------------ */

/* Resolve a name to a messages file (lookup.c). */
maki_status maki_conversation_path(const maki *m, const char *name, char *path, size_t capacity,
                                   maki_err *err);
/* How an operation opens a conversation. */
typedef enum maki_access {
    MAKI_ACCESS_WRITE,
    MAKI_ACCESS_CREATE,  /* created if missing */
    MAKI_ACCESS_READ,    /* works where nothing may be written, and waits for no lock */
    MAKI_ACCESS_DRY_RUN, /* changes are discarded by the close */
} maki_access;
/* Open the conversation that the call names. */
maki_status maki_field_conversation(const maki_op_call *call, maki_access access, maki_conv **out,
                                    maki_err *err);

#include "examples.h" /* generated from examples/: maki_op_run maki_op_NAME for each operation */

#endif
