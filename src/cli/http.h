/* http.h -- a blocking HTTP request without TLS, and the programs that are installed with this one: what `connect` and `demo`
 * need, and no more. */
#ifndef MAKI_CLI_HTTP_H
#define MAKI_CLI_HTTP_H

#include <stdbool.h>
#include <sys/types.h>

#include <maki/maki.h>

#include "base/buf.h"

typedef struct cli_url {
    char text[256]; /* without a slash at the end */
    char host[200];
    char port[8];
} cli_url;

/* http://HOST[:PORT][/...]; false for anything else, and for characters that would need quoting in a shell, in JSON or in a
 * script. */
bool cli_url_parse(const char *text, cli_url *out);
/* Where the daemon is (daemon_address.c): `given` (--url) unless it is NULL, $MAKI_URL, where the daemon of the state directory
 * runs, or the first address of serve.listen.  Returns 0, or the exit code after printing the error. */
int cli_url_of_daemon(const char *command, const char *given, cli_url *out);
/* The process that serve.pid in the state directory names, and its address; 0: none, or it is gone. */
pid_t cli_daemon_pid(cli_url *out);
#define CLI_URL_HELP \
    "the daemon; default $MAKI_URL, else the one that runs, else serve.listen of maki.yaml"

/* Send a request and wait for the whole response.  `fields` are header lines, each with its CRLF.  Returns the HTTP status and
 * the body in *answer; on failure 0 and *err. */
int cli_http_request(const cli_url *url, const char *method, const char *path, const char *fields,
                     maki_str body, maki_buf *answer, maki_err *err);

/* The path of the file `name`: in the directory of this program, else where such files are installed. */
bool cli_sibling_path(const char *name, char *out, size_t capacity);

/* Replace this process by the sibling program `name`; returns only on failure: the exit code, after printing the error. */
int cli_exec(const char *command, const char *name, char **argv);

/* Start a sibling program that prints where it listens ("listening on http://...").  argv[0] is its name; it ends when this
 * process does.  Returns its process id, or -1 and *err. */
pid_t cli_start_sibling(const char *const argv[], cli_url *listens, maki_err *err);
void cli_stop(pid_t pid); /* SIGTERM, and wait; accepts -1 */

/* Append all that can be read from `fd`; false and errno on failure. */
bool cli_read_all(int fd, maki_buf *out);

#endif
