/* cmd_exec.c -- maki serve and maki chat: replace this process with the program maki-serve or maki-chat.
 *
 * Those need libevent, libcurl and libedit, which take milliseconds to load; `maki` itself does not.  Their options are
 * defined there, so those programs print --help too. */
#include "cli.h"
#include "http.h"

static int run_serve(int argc, char **argv)
{
    (void)argc;
    return cli_exec("serve", "maki-serve", argv);
}

static int run_chat(int argc, char **argv)
{
    (void)argc;
    return cli_exec("chat", "maki-chat", argv);
}

const cli_command cli_serve = {
    .name = "serve",
    .help = "the daemon: forward what agents send to their providers, and record it",
    .run = run_serve
};
const cli_command cli_chat = { .name = "chat",
                               .help = "talk to a model; every word is kept",
                               .run = run_chat };
