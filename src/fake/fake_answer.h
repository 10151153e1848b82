/* fake_answer.h -- what the fake provider says, before it is put into a protocol. */
#ifndef MAKI_FAKE_FAKE_ANSWER_H
#define MAKI_FAKE_FAKE_ANSWER_H

#include "fake/fake_request.h"
#include "fake/scenario.h"

typedef struct fake_answer {
    maki_str reasoning; /* len 0: none */
    maki_str text;
    maki_str tool;      /* the tool to call; len 0: none */
    maki_str arguments; /* of it: an object, or with `custom` plain text */
    maki_str stop;      /* OpenAI's chat: why it stopped; len 0: as it did */
    bool custom;        /* Responses: a tool that takes text */
} fake_answer;

/* Longer answers are made of this text, again and again (mood huge). */
extern const maki_str fake_filler;
/* The pieces in which a stream says a text, from *nth 0 on; the filler is one event, what is empty none. */
bool fake_next_chunk(maki_str text, unsigned *nth, maki_str *piece);

/* Decide.  Spans point to constants, to `ask` and to `arena`. */
maki_status fake_answer_make(const fake_request *request, const fake_scenario *scenario,
                             maki_arena *arena, fake_answer *out, maki_err *err);

/* Usage, roughly as a tokenizer would count it. */
int64_t fake_input_tokens(const fake_request *request);
int64_t fake_output_tokens(const fake_answer *answer);

#endif
