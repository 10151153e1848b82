/* random_rows.h -- random messages in the shapes of Anthropic and OpenAI, with the facts that the model needs. */
#ifndef MAKI_TESTS_RANDOM_ROWS_H
#define MAKI_TESTS_RANDOM_ROWS_H

#include "base/buf.h"
#include "model.h"
#include "tap.h"

enum { ROW_CALLS = 2048 };

typedef struct row_maker {
    tap_random *random;
    maki_buf text;          /* the current row */
    bool openai[ROW_CALLS]; /* the shape of each call */
    unsigned next_call;
    int64_t clock;
} row_maker;

/* Rows are in the model's pool. */
model_row *row_plain(row_maker *r, const char *role);
model_row *row_call(row_maker *r);
/* A row with the result of one call, or, in Anthropic's shape, of all open calls. */
model_row *row_answer(row_maker *r, unsigned first, unsigned waiting);

#endif
