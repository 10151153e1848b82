/* http.h -- a plain HTTP request over a socket, and programs that stand beside this one: what `connect`
 * and `demo` need of a network, and no more. */
#ifndef MAKI_CLI_HTTP_H
#define MAKI_CLI_HTTP_H

#include <stdbool.h>
#include <sys/types.h>

#include <maki/maki.h>

#include "base/buf.h"

#define CLI_DAEMON_URL "http://127.0.0.1:4747" /* unless $MAKI_URL or --url says otherwise */

typedef struct cli_url {
    char text[256]; /* without a slash at the end */
    char host[200];
    char port[8];
} cli_url;

/* http://HOST[:PORT][/...]; false for anything else, and for characters that a shell, JSON or a script
 * would read as something else. */
bool cli_url_read(const char *text, cli_url *out);
/* --url if it was given, $MAKI_URL, or the usual one. */
bool cli_url_of_daemon(const char *given, cli_url *out);

/* Ask and wait for the whole answer.  `fields` are lines ended by CRLF.  Returns the HTTP status and
 * leaves the body in *answer, or 0 and says in *err what went wrong. */
int cli_http(const cli_url *url, const char *method, const char *path, const char *fields,
             maki_str body, maki_buf *answer, maki_err *err);

/* The file `name` beside this program, or where such files are installed. */
bool cli_path_beside(const char *name, char *out, size_t capacity);

/* Go on as the program `name` beside this one; returns only when that fails: the exit code, after saying so. */
int cli_exec(const char *command, const char *name, char **argv);

/* A program beside this one that says where it listens ("listening on http://...").  argv[0] is its name;
 * it ends when we do.  Returns its process id, or -1 with words in *err. */
pid_t cli_start_sibling(const char *const argv[], cli_url *listens, maki_err *err);
void cli_stop(pid_t pid); /* accepts -1 */

#endif
