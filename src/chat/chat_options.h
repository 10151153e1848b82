/* chat_options.h -- the command line of `maki chat`. */
#ifndef MAKI_CHAT_CHAT_OPTIONS_H
#define MAKI_CHAT_CHAT_OPTIONS_H

#include <stdbool.h>

#include <maki/env.h>

/* Texts are borrowed from argv; NULL: not given. */
typedef struct maki_chat_options {
    const char *config;
    const char *session;
    const char *provider, *model;
    const char *message; /* -p: send it and exit; "-": read it from standard input */
    bool json;
    bool help;
} maki_chat_options;

/* MAKI_INVALID: the error names the option and the help. */
maki_status maki_chat_options_read(int argc, char **argv, maki_chat_options *out, maki_err *err);
void maki_chat_options_help(maki_sink out);

#endif
