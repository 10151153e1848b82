/* chat.h -- a conversation in a terminal or a pipe: what is said, what is answered, what is done to it.
 *
 *     maki_chat *chat;
 *     st = maki_chat_open(&env, &options, &chat, &err);
 *     while (there is a line) maki_chat_line(chat, line, &go_on);
 *     code = maki_chat_exit_code(chat);
 *     maki_chat_close(chat);
 *
 * Failures are told where they happen, with what to do, and the chat goes on; the exit code is that of the first.
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

/* Say it and show the answer. */
void maki_chat_send(maki_chat *chat, maki_str text);
/* A command, or something to say; nothing happens for an empty line.  *go_on: false after /quit. */
void maki_chat_line(maki_chat *chat, maki_str line, bool *go_on);

/* Who would answer; when nobody would, what to write into maki.yaml. */
void maki_chat_greet(maki_chat *chat);
/* How to come back. */
void maki_chat_farewell(maki_chat *chat);
/* How full the window is; `text` is borrowed until the next call. */
maki_editor_bar maki_chat_bar(maki_chat *chat);

int maki_chat_exit_code(const maki_chat *chat);

#endif
