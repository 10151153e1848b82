/* main.c -- maki-fake-provider: answers like the real ones, for tests and the demo only. */
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "fake/serve.h"

static const char usage[] =
    "maki-fake-provider [--port N] [--mood MOOD] [--record FOLDER]\n"
    "\n"
    "A provider that thinks nothing, for tests and the demo: chat completions, responses, messages,\n"
    "Ollama and Gemini, streaming and not, with tool calls.  No key is needed and none is kept.\n"
    "\n"
    "  --port N         where to listen on 127.0.0.1 (0, the default: any free port)\n"
    "  --mood MOOD      what to do when a request does not say: text, think, slow:MS, cut:N,\n"
    "                   huge:BYTES, 429, 500, overflow, garbage, long, short, silent, quick ...\n"
    "                   (src/fake/mood.h has them all)\n"
    "  --record FOLDER  keep every request there: NNNNNN.head and NNNNNN.body\n"
    "\n"
    "A request chooses its mood with the header x-fake, or with a word of the last user message:\n"
    "  What is in a.c?  fake:tool:read_file {\"path\":\"a.c\"}\n";

typedef struct options {
    const char *port, *mood, *record;
} options;

static int misuse(const char *what, const char *detail)
{
    fprintf(stderr, "maki-fake-provider: %s%s; see --help\n", what, detail);
    return 2;
}

static int read_options(int argc, char **argv, options *out)
{
    for (int i = 1; i < argc; i++) {
        const char **value = strcmp(argv[i], "--port") == 0     ? &out->port
                             : strcmp(argv[i], "--mood") == 0   ? &out->mood
                             : strcmp(argv[i], "--record") == 0 ? &out->record
                                                                : NULL;
        if (!value) return misuse("unknown option ", argv[i]);
        if (i + 1 == argc) return misuse(argv[i], " needs a value");
        *value = argv[++i];
    }
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
    char wanted[64], bound[64];
    maki_server *server = NULL;
    struct event *term = evsignal_new(provider->base, SIGTERM, on_signal, provider->base);
    struct event *interrupt = evsignal_new(provider->base, SIGINT, on_signal, provider->base);
    maki_server_calls calls = fake_provider_calls(provider);
    maki_server_limits limits = MAKI_SERVER_LIMITS_INIT;
    limits.idle_ms = 3600 * 1000; /* clients keep connections longer than a test waits */
    limits.body_bytes = (uint64_t)8 << 30;

    snprintf(wanted, sizeof wanted, "127.0.0.1:%s", port);
    maki_status st = maki_server_open(provider->env, provider->base, &limits, &calls, &server, err);
    if (st == MAKI_OK) st = maki_server_listen(server, wanted, bound, sizeof bound, err);
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
    options o = { .port = "0" };
    maki_env env = maki_env_system();
    fake_provider provider = { .env = &env };
    maki_str unknown;
    maki_err err = { 0 };

    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(usage, stdout);
        return 0;
    }
    int code = read_options(argc, argv, &o);
    if (code) return code;
    if (o.mood && !fake_mood_read(maki_str_of(o.mood), &provider.mood, &unknown)) {
        return misuse("there is no mood ", o.mood);
    }
    if (o.record)
        mkdir(o.record, 0700); /* there already, or the first request says what is wrong */
    provider.record = (fake_record){ .env = &env, .folder = o.record };
    provider.base = event_base_new();
    if (!provider.base) {
        fprintf(stderr, "maki-fake-provider: cannot make an event loop\n");
        return maki_status_exit(MAKI_IO);
    }
    signal(SIGPIPE, SIG_IGN);
    maki_status st = serve(&provider, o.port, &err);
    fake_provider_end(&provider);
    event_base_free(provider.base);
    if (st != MAKI_OK) fprintf(stderr, "maki-fake-provider: %s\n", err.msg);
    return st == MAKI_OK ? 0 : maki_status_exit(st);
}
