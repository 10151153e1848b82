/* http.h -- a blocking HTTP client without TLS, the address of the daemon, and sibling programs: those installed with this
 * one. */
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
    char path[256]; /* before that of a request: "/t/TOKEN"; "": none */
} cli_url;

/* http://HOST[:PORT][/...]; false for anything else, and for characters that would need quoting in a shell, in JSON or in a
 * script. */
bool cli_url_parse(const char *text, cli_url *out);
/* The address of the daemon (daemon_address.c): `given` (--url) unless it is NULL, $MAKI_URL, that of the daemon running
 * in the state directory, or the first of serve.listen.  Returns 0, or the exit code after printing the error. */
int cli_url_of_daemon(const char *command, const char *given, cli_url *out);
/* The process id in serve.pid of the state directory, and the address; 0: none, or that process has ended. */
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

/* Start a sibling program that prints its address ("listening on http://...").  argv[0] is its name; it ends with this
 * process.  Returns its process id, or -1 and *err. */
pid_t cli_start_sibling(const char *const argv[], cli_url *listens, maki_err *err);
void cli_stop(pid_t pid); /* SIGTERM, and wait; accepts -1 */

/* Read `fd` to its end and append the bytes; false and errno on failure. */
bool cli_read_all(int fd, maki_buf *out);

#endif
