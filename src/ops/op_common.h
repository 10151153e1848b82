/* op_common.h -- what several operations share: the parts of a condense, and common answers. */
#ifndef MAKI_OPS_OP_COMMON_H
#define MAKI_OPS_OP_COMMON_H

#include "manage/choose_summarizer.h"
#include "manage/run_limits.h"
#include "ops/operation.h"
#include "store/session.h"

/* The parameters of a condense, read from the fields of a call.  Has pointers into itself: never copy it. */
typedef struct maki_condense_fields {
    maki_condense_input condense;
    maki_counter counter;
    maki_stub_summarizer summarizer;
    maki_stub_summarizer dedicated;
} maki_condense_fields;
maki_status maki_condense_fields_read(const maki_op_call *call, maki_msgs list,
                                      maki_condense_fields *out, maki_err *err);

/* The summarizer of a conversation: the stub in the call, else the configured one (manage/choose_summarizer.h).  How
 * many facts the summary preserves is measured.  Has pointers into itself: never copy it. */
typedef struct maki_chosen_summarizer {
    maki_stub_summarizer stub;
    maki_summarizer_choice choice;
    maki_summarizer measured; /* the one to use */
} maki_chosen_summarizer;
maki_status maki_choose_summarizer(const maki_op_call *call, const maki_run_limits *limits,
                                   bool task, maki_chosen_summarizer *out, maki_err *err);
/* The same with the limits of the conversation. */
maki_status maki_summarizer_of(const maki_op_call *call, maki_conv *conv,
                               maki_chosen_summarizer *out, maki_err *err);
/* The field `home`, by default the state directory of the handle. */
maki_status maki_field_home(const maki_op_call *call, char out[MAKI_PATH_MAX], maki_err *err);
/* The messages file of the conversation that the call names. */
maki_status maki_field_path(const maki_op_call *call, const char *name, char path[MAKI_PATH_MAX],
                            maki_err *err);
/* MAKI_INVALID when the file at `path` exists, without an index, and is not a messages file. */
maki_status maki_messages_file_check(const maki_env *env, const char *path, maki_err *err);
/* MAKI_INVALID unless a message is an object whose role one of the protocols knows: for messages written by hand. */
maki_status maki_role_check(maki_str message, maki_err *err);
/* The fields `seq` and `ev` for maki_conv_view; by default the newest. */
void maki_field_revision(const maki_op_call *call, uint64_t *seq, uint64_t *ev);
/* The entry of a session in sessions.json without its time, as fields of the open object. */
void maki_write_session_fields(maki_jw *out, const maki_session *s);

/* {"messages": [...]}; always MAKI_OK */
maki_status maki_answer_messages(maki_jw *out, maki_msgs list);
/* The field "error" of an answer that has other fields too. */
void maki_answer_error(maki_jw *out, const maki_err *error);
/* An answer that is only an error.  Returns its status, with *err, unless the sink fails, too. */
maki_status maki_write_error_response(maki_sink out, const maki_err *error, maki_err *err);

#endif
