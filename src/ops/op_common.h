/* op_common.h -- what several operations share: the parts of a condense, and common answers. */
#ifndef MAKI_OPS_OP_COMMON_H
#define MAKI_OPS_OP_COMMON_H

#include "manage/choose_summarizer.h"
#include "manage/run_limits.h"
#include "ops/op.h"
#include "store/session.h"

/* Everything a condense needs, read from the fields of a call.  Points into itself: do not copy. */
typedef struct maki_condense_fields {
    maki_condense_in condense;
    maki_counter counter;
    maki_stub_summarizer summarizer;
    maki_stub_summarizer dedicated;
} maki_condense_fields;
maki_status maki_condense_fields_read(const maki_op_call *call, maki_msgs list,
                                      maki_condense_fields *out, maki_err *err);

/* Who summarises a conversation: the one told in the call, else as is configured (manage/choose_summarizer.h).  What the
 * summary keeps is measured.  Points into itself: do not copy. */
typedef struct maki_chosen_summarizer {
    maki_stub_summarizer told;
    maki_summarizer_choice choice;
    maki_summarizer measured; /* the one to use */
} maki_chosen_summarizer;
maki_status maki_choose_summarizer(const maki_op_call *call, const maki_run_limits *figures,
                                   bool task, maki_chosen_summarizer *out, maki_err *err);
/* The same for a conversation of which the call says no figures. */
maki_status maki_summarizer_of(const maki_op_call *call, maki_conv *conv,
                               maki_chosen_summarizer *out, maki_err *err);
/* The field `home`, else the state folder. */
maki_status maki_field_home(const maki_op_call *call, char out[MAKI_PATH_MAX], maki_err *err);
/* The messages file of the conversation that the call names. */
maki_status maki_field_path(const maki_op_call *call, const char *name, char path[MAKI_PATH_MAX],
                            maki_err *err);
/* What sessions.json has of a session, as fields of an object that is open; its time is left out. */
void maki_put_session(maki_jw *out, const maki_session *s);

/* One field of an answer. */
void maki_put_number(maki_jw *out, const char *name, double value);
void maki_put_count(maki_jw *out, const char *name, uint64_t value);
void maki_put_bool(maki_jw *out, const char *name, bool value);
void maki_put_text(maki_jw *out, const char *name, maki_str text);

/* {"messages": [...]} */
void maki_answer_messages(maki_jw *out, maki_msgs list);
/* The field "error" of an answer that has other fields too. */
void maki_answer_error(maki_jw *out, const maki_err *error);
/* A whole answer that is nothing but an error. */
maki_status maki_answer_failed(maki_sink out, const maki_err *error, maki_err *err);

#endif
