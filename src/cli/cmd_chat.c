/* cmd_chat.c -- maki chat: starts maki-chat, a program of its own for the reason that maki serve has. */
#include "cli.h"
#include "http.h"

static int run_chat(int argc, char **argv)
{
    (void)argc;
    return cli_exec("chat", "maki-chat", argv);
}

const cli_command cli_chat = { .name = "chat",
                               .help = "talk to a model; every word is kept",
                               .run = run_chat };
