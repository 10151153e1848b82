/* chat_internal.h -- the state of a chat, and the functions that chat.c and chat_command.c share. */
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
        [MAKI_PATH_MAX]; /* of the messages file; "": the first message creates it from the key */
    char key[MAKI_KEY_MAX];
    const char *name; /* of --session; NULL: not given, or the session is a fork of it */
    char provider[64], model[MAKI_MODEL_MAX]; /* "": those of the configuration */
    char answering[MAKI_MODEL_MAX];           /* the model of the last turn, or of the next */
    maki_output output;
    maki_status_bar usage;   /* after the last turn or step */
    maki_turn_result result; /* of the last turn */
    unsigned warned;         /* bootstrap files that the user was warned about, a bit each */
    bool warned_window;      /* the user was warned that the context window is small */
    maki_logger logger;
    maki_buf input, reply; /* of an operation */
    char bar[MAKI_STATUS_BAR_MAX];
    bool quit; /* /quit was typed */
    int exit_code;
};

/* Print the error; the first one sets the exit code. */
void maki_chat_fail(maki_chat *chat, const maki_err *err);
/* Print to standard error (a note) or standard output (the output of a command). */
#define maki_chat_note(chat, ...)  maki_output_note(&(chat)->output, false, __VA_ARGS__)
#define maki_chat_print(chat, ...) maki_output_note(&(chat)->output, true, __VA_ARGS__)
/* Does the messages file exist? */
bool maki_chat_exists(const maki_chat *chat);
/* A path for a new session. */
maki_status maki_chat_new_path(maki_chat *chat, char out[MAKI_PATH_MAX], maki_err *err);
/* Run a turn and print its outcome; `text` len 0: the model answers the last message. */
void maki_chat_turn(maki_chat *chat, maki_str text);
/* The provider of the next turn. */
maki_status maki_chat_provider(const maki_chat *chat, maki_provider *out, maki_err *err);

/* chat_command.c */
/* Run an operation on chat->input; *answer is borrowed from chat->reply. */
maki_status maki_chat_run_op(maki_chat *chat, const char *op, maki_str *answer, maki_err *err);
/* session.status of the session; updates chat->usage. */
maki_status maki_chat_status(maki_chat *chat, maki_str *answer, maki_err *err);
/* The same, without the answer. */
void maki_chat_refresh_usage(maki_chat *chat);
void maki_chat_command(maki_chat *chat, maki_str line);

#endif
