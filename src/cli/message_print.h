/* message_print.h -- messages in a terminal: their text on one line, calls and results named. */
#ifndef MAKI_CLI_MESSAGE_PRINT_H
#define MAKI_CLI_MESSAGE_PRINT_H

#include <maki/maki.h>

#include "base/json.h"
#include "cli.h"

/* At most `room` bytes of the text of a JSON string, without control characters. */
void show_text(maki_str string, size_t capacity);
/* The content of a message, at most `room` bytes of each block. */
void show_content(maki_str message, size_t capacity);

/* A message on a line: its number, time, role and tokens, and what it says; hidden ones dimmed. */
void show_message(const maki_message *message, const cli_style *style, size_t capacity);

/* A field of an object; false when it is not there. */
bool show_field(maki_str object, const char *name, maki_str *value);
/* Print a string, if it is there. */
void show_string(maki_str object, const char *name, size_t capacity);

#endif
