/* fake_answer.h -- select the answer of the fake provider, independent of the protocol. */
#ifndef MAKI_FAKE_FAKE_ANSWER_H
#define MAKI_FAKE_FAKE_ANSWER_H

#include "fake/fake_request.h"
#include "fake/scenario.h"

typedef struct fake_answer {
    maki_str reasoning; /* len 0: none */
    maki_str text;
    maki_str tool;      /* the tool to call; len 0: none */
    maki_str arguments; /* an object, or with `custom` plain text */
    maki_str stop;      /* OpenAI's chat: the finish_reason; len 0: the default */
    bool custom;        /* Responses: a tool that takes text */
    int64_t cached;     /* tokens of the request that were read from the cache */
} fake_answer;

/* The text that long answers repeat (scenario huge). */
extern const maki_str fake_filler;
/* Iterate over the chunks in which a text is streamed, from *nth 0 on; the filler is one chunk, an empty text none. */
bool fake_next_chunk(maki_str text, unsigned *nth, maki_str *chunk);

/* Select the answer.  Spans point to constants, to `request` and to `arena`. */
maki_status fake_answer_make(const fake_request *request, const fake_scenario *scenario,
                             maki_arena *arena, fake_answer *out, maki_err *err);

/* Usage, a rough estimate of tokens. */
int64_t fake_input_tokens(const fake_request *request);
int64_t fake_output_tokens(const fake_answer *answer);

#endif
