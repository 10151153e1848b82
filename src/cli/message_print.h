/* message_print.h -- print JSON fields and messages: one line each, with the text, and calls and results as names. */
#ifndef MAKI_CLI_MESSAGE_PRINT_H
#define MAKI_CLI_MESSAGE_PRINT_H

#include <maki/maki.h>

#include "base/json_access.h"
#include "cli.h"

/* At most `max` bytes of the text of a JSON string, without control characters. */
void show_text(maki_str string, size_t max);
/* The content of a message, at most `max` bytes of each block. */
void show_content(maki_str message, size_t max);

/* A line for a message: number, time, role, tokens and content.  Hidden messages are dimmed. */
void show_message(const maki_message *message, const cli_style *style, double scale, size_t max);

/* A field of an object; false when it is missing. */
bool show_field(maki_str object, const char *name, maki_str *value);
/* Print a field that is a string; nothing when it is missing. */
void show_string(maki_str object, const char *name, size_t max);

#endif
