/* daemon_address.c -- find the address of the daemon, for the commands that send requests to it.
 *
 * In:    --url, $MAKI_URL, serve.pid in the state directory (daemon/pid_file.h), serve.listen of maki.yaml.
 * Out:   the URL of the first of them that is present, else the default port.  A pid file whose process has ended is
 *        ignored. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "cli.h"
#include "http.h"

pid_t cli_daemon_pid(cli_url *out)
{
    char path[MAKI_PATH_MAX], address[256];
    long pid = 0;
    if (!maki_home(path, sizeof path - 16)) return 0;
    strcat(path, "/serve.pid");
    FILE *file = fopen(path, "re");
    bool read = file && fscanf(file, "%ld %255s", &pid, address) == 2;
    if (file) fclose(file);
    if (!read || pid <= 0 || (kill((pid_t)pid, 0) != 0 && errno != EPERM)) return 0;
    return cli_url_parse(address, out) ? (pid_t)pid : 0;
}

/* The URL of serve.listen from this machine: loopback for a wildcard address (0.0.0.0, [::]) or a port. */
static bool url_from_config(cli_url *out)
{
    char url[300];
    maki_config *config = NULL;
    maki_config_options options = { sizeof options, maki_env_system(), NULL, environ, NULL, NULL };
    maki_str listen;
    bool found = false;
    if (maki_config_open(&options, &config, NULL) == MAKI_OK &&
        maki_config_entry(config, "serve.listen", 0, &listen)) {
        const char *port = strrchr(listen.ptr, ':');
        bool wildcard = !port || strncmp(listen.ptr, "0.0.0.0:", 8) == 0 ||
                        strncmp(listen.ptr, "[::]:", 5) == 0;
        snprintf(url, sizeof url, "http://%s%.250s", wildcard ? "127.0.0.1:" : "",
                 wildcard && port ? port + 1 : listen.ptr);
        found = cli_url_parse(url, out);
    }
    maki_config_close(config);
    return found;
}

int cli_url_of_daemon(const char *command, const char *given, cli_url *out)
{
    const char *variable = getenv("MAKI_URL");
    if (!given && variable && *variable) given = variable;
    if (given)
        return cli_url_parse(given, out)
                   ? 0
                   : cli_usage_error(command, "the daemon's address is http://HOST:PORT, not ",
                                     given);
    if (!cli_daemon_pid(out) && !url_from_config(out)) cli_url_parse("http://127.0.0.1:4747", out);
    return 0;
}
