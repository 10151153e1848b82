/* send_kit.h -- the fake provider as a child process, and requests to it that record every callback. */
#ifndef MAKI_TESTS_SEND_KIT_H
#define MAKI_TESTS_SEND_KIT_H

#include <sys/types.h>

#include "fake_env.h"
#include "send/send.h"

#define KIT_KEY "sk-secret-海苔-0123456789" /* must appear nowhere */

typedef struct send_kit {
    pid_t pid;
    char url[64]; /* "http://127.0.0.1:4242" */
    fake_env fe;
    maki_provider provider;
    maki_send_options options;
    maki_str scenario; /* of the header x-fake, "x-fake: 429" */
    char scenario_line[300];
    /* The result of the last request. */
    maki_send_result result;
    maki_err err;
    char text[4096], reasoning[1024], input[1024], calls[256]; /* calls: "name/id " each */
    char row[8192];
    size_t pieces, rows, parts; /* parts: incomplete rows */
    char retries[256];          /* "429:1000 " each: the status before a retry, and its backoff */
    uint64_t slept;
    char log[8192];
    /* Options of the next request. */
    size_t stop_after;     /* on_delta fails after so many deltas; 0: never */
    bool deaf;             /* no on_delta */
    bool cancelled;        /* returned by `cancelled` */
    uint64_t cancel_after; /* ms of sleep after which it is set; 0: never */
} send_kit;

/* Start the provider; it ends with this process.  `record`: a directory for its requests, or NULL.  False: it does not run. */
bool send_kit_start(const char *program, const char *record, pid_t *pid, char url[64]);
/* Start the provider that argv names.  False: it does not run. */
bool send_kit_open(send_kit *kit, int argc, char **argv);
void send_kit_close(send_kit *kit);

/* Use this protocol and scenario. */
void send_kit_is(send_kit *kit, maki_protocol protocol, const char *scenario);

/* The body of a request in which a user says `text`. */
const char *send_kit_body(maki_protocol protocol, bool stream, const char *text);

/* Send with a new sender, or with a given one. */
maki_status send_kit_ask(send_kit *kit, bool stream, unsigned retries, const char *text);
maki_status send_kit_ask_with(send_kit *kit, maki_sender *sender, bool stream, unsigned retries,
                              const char *text);

#endif
