/* chat.h -- a chat with a model in a terminal or a pipe: messages, answers, and slash commands.
 *
 *     maki_chat *chat;
 *     st = maki_chat_open(&env, &options, &chat, &err);
 *     while (there is a line) maki_chat_line(chat, line, &quit);
 *     code = maki_chat_exit_code(chat);
 *     maki_chat_close(chat);
 *
 * An error is printed where it occurs, with what to do, and the chat continues; the exit code is that of the first error.
 * Belongs to one thread. */
#ifndef MAKI_CHAT_CHAT_H
#define MAKI_CHAT_CHAT_H

#include "chat/chat_options.h"
#include "chat/editor.h"
#include "chat/output.h"
#include "chat/slash_command.h"

typedef struct maki_chat maki_chat;

/* `env` and what `options` points to are borrowed. */
maki_status maki_chat_open(const maki_env *env, const maki_chat_options *options, maki_chat **out,
                           maki_err *err) MAKI_MUST_CHECK;
void maki_chat_close(maki_chat *chat); /* accepts NULL */

/* Send a message and print the answer. */
void maki_chat_send(maki_chat *chat, maki_str text);
/* Run a command or send a message; an empty line does nothing.  *quit: true after /quit. */
void maki_chat_line(maki_chat *chat, maki_str line, bool *quit);

/* Print which model answers, or which settings are missing. */
void maki_chat_greet(maki_chat *chat);
/* Print how to continue the session. */
void maki_chat_farewell(maki_chat *chat);
/* The status bar; `text` is borrowed until the next call. */
maki_editor_bar maki_chat_bar(maki_chat *chat);

int maki_chat_exit_code(const maki_chat *chat);

#endif
