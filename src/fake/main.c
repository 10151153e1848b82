/* main.c -- maki-fake-provider: an HTTP server that replies like real providers, for tests and the demo only. */
#include <event2/event.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/command_line.h"
#include "base/files.h"
#include "base/str_util.h"
#include "fake/fake_server.h"

static const char usage[] =
    "maki-fake-provider [--port N] [--scenario SCENARIO] [--record DIRECTORY]\n"
    "\n"
    "A provider without a model, for tests and the demo: chat completions, responses, messages,\n"
    "Ollama and Gemini, streaming and not, with tool calls.  No key is needed, none is stored.\n"
    "\n";

static const char notes[] =
    "\n"
    "A request selects its scenario with the header x-fake, or in the last user message:\n"
    "  What is in a.c?  fake:tool:read_file {\"path\":\"a.c\"}\n";

typedef struct fake_options {
    const char *port, *scenario, *record;
    bool help;
} fake_options;

static const maki_option option_rows[] = {
    { "--port N", offsetof(fake_options, port),
      "where to listen on 127.0.0.1 (0, the default: any free port)" },
    { "--scenario SCENARIO", offsetof(fake_options, scenario),
      "the default of requests without one: text, think, slow:MS, cut:N,\n"
      "huge:BYTES, 429, 500, overflow, corrupt, long, short, silent, quick ...\n"
      "(all of them: src/fake/scenario.h)" },
    { "--record DIRECTORY", offsetof(fake_options, record),
      "record every request there: NNNNNN.head and NNNNNN.body" },
    { "--help", offsetof(fake_options, help), NULL },
    { "-h", offsetof(fake_options, help), NULL },
};

static int usage_error(const char *what, const char *detail)
{
    fprintf(stderr, "maki-fake-provider: %s%s\n", what, detail);
    return 2;
}

static int print_help(maki_option_list *list, const maki_env *env)
{
    maki_fd_sink out = { env->files, STDOUT_FILENO };
    fputs(usage, stdout);
    fflush(stdout);
    maki_options_help(list, maki_fd_sink_of(&out));
    fputs(notes, stdout);
    return 0;
}

static void on_signal(evutil_socket_t number, short what, void *ctx)
{
    (void)number;
    (void)what;
    event_base_loopexit(ctx, NULL);
}

/* Serve until a signal ends it. */
static maki_status serve(fake_provider *provider, const char *port, maki_err *err)
{
    char address[64], bound[64];
    maki_server *server = NULL;
    struct event *term = evsignal_new(provider->base, SIGTERM, on_signal, provider->base);
    struct event *interrupt = evsignal_new(provider->base, SIGINT, on_signal, provider->base);
    maki_server_callbacks calls = fake_provider_calls(provider);
    maki_server_limits limits = MAKI_SERVER_LIMITS_INIT;
    limits.idle_ms = 3600 * 1000; /* clients keep connections longer than a test waits */
    limits.body_bytes = (uint64_t)8 << 30;

    snprintf(address, sizeof address, "127.0.0.1:%s", port);
    maki_status st = maki_server_open(provider->env, provider->base, &limits, &calls, &server, err);
    if (st == MAKI_OK) st = maki_server_listen(server, address, bound, sizeof bound, err);
    if (st == MAKI_OK) {
        if (term) evsignal_add(term, NULL);
        if (interrupt) evsignal_add(interrupt, NULL);
        printf("listening on http://%s\n", bound);
        fflush(stdout);
        event_base_dispatch(provider->base);
    }
    maki_server_close(server);
    if (term) event_free(term);
    if (interrupt) event_free(interrupt);
    return st;
}

int main(int argc, char **argv)
{
    fake_options arguments = { .port = "0" };
    maki_option_list list = MAKI_OPTIONS("maki-fake-provider", option_rows, argc, argv);
    size_t words;
    maki_env env = maki_env_system();
    fake_provider provider = { .env = &env };
    maki_str unknown;
    maki_err err = { 0 };

    if (maki_options_read(&list, &arguments, NULL, 0, &words, &err) != MAKI_OK)
        return usage_error(err.msg, "");
    if (arguments.help) return print_help(&list, &env);
    if (arguments.scenario &&
        !fake_scenario_read(maki_str_of(arguments.scenario), &provider.scenario, &unknown))
        return usage_error("unknown scenario ", arguments.scenario);
    if (arguments.record)
        mkdir(arguments.record,
              0700); /* may exist; other errors are reported with the first request */
    provider.record = (fake_record){ .env = &env, .directory = arguments.record };
    provider.base = event_base_new();
    if (!provider.base) {
        fprintf(stderr, "maki-fake-provider: cannot create an event loop\n");
        return maki_status_exit(MAKI_IO);
    }
    signal(SIGPIPE, SIG_IGN);
    maki_status st = serve(&provider, arguments.port, &err);
    fake_provider_end(&provider);
    event_base_free(provider.base);
    if (st != MAKI_OK) fprintf(stderr, "maki-fake-provider: %s\n", err.msg);
    return st == MAKI_OK ? 0 : maki_status_exit(st);
}
