/* chat_internal.h -- what chat.c and chat_command.c share; see chat.h. */
#ifndef MAKI_CHAT_CHAT_INTERNAL_H
#define MAKI_CHAT_CHAT_INTERNAL_H

#include <maki/maki.h>

#include "base/files.h"
#include "chat/chat.h"

enum { MAKI_CHAT_ANSWER_MAX = 1 << 20 };

struct maki_chat {
    const maki_env *env;
    maki_config *config;
    maki *m;
    maki_turns *turns;
    char home[MAKI_PATH_MAX];
    char path
        [MAKI_PATH_MAX]; /* of the messages file; "": the key says where, and it is not there yet */
    char key[MAKI_KEY_MAX];
    const char *name; /* that the session was called by; NULL: by none, or it is another one now */
    char provider[64], model[MAKI_MODEL_MAX]; /* "": as configured */
    char answering[MAKI_MODEL_MAX];           /* the model of the last turn, or who would answer */
    maki_output output;
    maki_status_bar figures; /* since the last turn or step */
    maki_turn_result result; /* of the last turn */
    unsigned unread; /* bootstrap files of which it was told that they are not read, a bit each */
    maki_logger logger;
    maki_buf input, reply;         /* of an operation */
    char bar[MAKI_STATUS_BAR_MAX]; /* their text */
    bool leaving;                  /* /quit */
    int exit_code;
};

/* Tell what went wrong, and keep the first exit code. */
void maki_chat_fail(maki_chat *chat, const maki_err *err);
/* Words that are no answer, and words that were asked for. */
#define maki_chat_note(chat, ...)  maki_output_note(&(chat)->output, false, __VA_ARGS__)
#define maki_chat_print(chat, ...) maki_output_note(&(chat)->output, true, __VA_ARGS__)
/* Is there a conversation yet? */
bool maki_chat_exists(const maki_chat *chat);
/* A path for a new session. */
maki_status maki_chat_new_path(maki_chat *chat, char out[MAKI_PATH_MAX], maki_err *err);
/* A turn, and how it went; `text` len 0: the model is asked for an answer to what is there. */
void maki_chat_turn(maki_chat *chat, maki_str text);
/* The provider that would be asked now. */
maki_status maki_chat_provider(const maki_chat *chat, maki_provider *out, maki_err *err);

/* chat_command.c */
/* Run an operation on what chat->input has; *answer is borrowed from chat->reply. */
maki_status maki_chat_run_op(maki_chat *chat, const char *op, maki_str *answer, maki_err *err);
/* session.status of the conversation; chat->figures are what it says. */
maki_status maki_chat_status(maki_chat *chat, maki_str *answer, maki_err *err);
/* The same for the figures alone. */
void maki_chat_measure(maki_chat *chat);
void maki_chat_command(maki_chat *chat, maki_str line);

#endif
