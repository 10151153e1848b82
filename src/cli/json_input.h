/* json_input.h -- the input of an operation, put together from arguments; and answers, kept. */
#ifndef MAKI_CLI_JSON_INPUT_H
#define MAKI_CLI_JSON_INPUT_H

#include <maki/maki.h>

typedef struct json_input {
    char *text;
    size_t len, room;
} json_input;

/* The program ends when memory runs out: a command has nothing to lose. */
void json_input_begin(json_input *in);
void json_input_end(json_input *in);
void json_input_free(json_input *in);
void json_input_text(json_input *in, const char *field, const char *text); /* escaped */
void json_input_raw(json_input *in, const char *field, const char *json);
maki_str json_input_str(const json_input *in);
maki_sink json_input_sink(json_input *in); /* adds what is written to it */

#endif
