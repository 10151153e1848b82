/* cmd_serve.c -- maki serve: starts the daemon, a program of its own.
 *
 * The daemon needs libevent and libcurl, which take milliseconds to load; `maki` itself does not. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Beside this program, as it is built. */
static bool beside(char *out, size_t room)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) return false;
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash) return false;
    *slash = '\0';
    return (size_t)snprintf(out, room, "%s/maki-serve", self) < room;
}

static int run_serve(int argc, char **argv)
{
    char path[PATH_MAX];
    (void)argc;
    if (beside(path, sizeof path)) execv(path, argv);
    execv(MAKI_LIBEXEC "/maki-serve", argv);
    fprintf(
        stderr,
        "maki serve: maki-serve is neither beside this program nor in %s (%s); make builds it\n",
        MAKI_LIBEXEC, strerror(errno));
    return maki_status_exit(MAKI_NOTFOUND);
}

/* The daemon has the table of its options, so it tells the help as well. */
const cli_command cli_serve = { "serve", "record what agents say, on its way to their providers",
                                NULL, run_serve };
