/* cmd_serve.c -- maki serve: starts the daemon, a program of its own.
 *
 * The daemon needs libevent and libcurl, which take milliseconds to load; `maki` itself does not. */
#include "cli.h"
#include "http.h"

static int run_serve(int argc, char **argv)
{
    (void)argc;
    return cli_exec("serve", "maki-serve", argv);
}

/* The daemon has the table of its options, so it tells the help as well. */
const cli_command cli_serve = { .name = "serve",
                                .help = "record what agents say, on its way to their providers",
                                .run = run_serve };
