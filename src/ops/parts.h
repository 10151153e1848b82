/* parts.h -- what several operations share: the parts of a condense, and common answers. */
#ifndef MAKI_OPS_PARTS_H
#define MAKI_OPS_PARTS_H

#include "ops/op.h"

/* Everything a condense needs, read from the fields of a call.  Points into itself: do not copy. */
typedef struct maki_parts {
    maki_condense_in condense;
    maki_counter counter;
    maki_told_summarizer summarizer;
    maki_told_summarizer dedicated;
} maki_parts;
maki_status maki_parts_read(const maki_call *call, maki_msgs list, maki_parts *out, maki_err *err);

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
