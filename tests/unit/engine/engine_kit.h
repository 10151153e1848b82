/* engine_kit.h -- turns against the fake provider, a process of its own, whose requests are kept. */
#ifndef MAKI_TESTS_ENGINE_KIT_H
#define MAKI_TESTS_ENGINE_KIT_H

#include <sys/types.h>

#include "directory.h"
#include "engine/turn.h"

/* The providers of the configuration, one a protocol. */
extern const char *const kit_providers[];
enum { KIT_PROVIDERS = 5 };

/* An offered tool: read_file. */
extern const maki_str kit_tools;

typedef struct engine_kit {
    const char *program;
    pid_t pid;
    char url[64];
    directory files;
    char record[300]; /* where the provider keeps its requests */
    maki_env env;
    maki_config *config;
    maki_turns *turns;
    maki_turns_options options;
    /* The next turn. */
    maki_turn_request request;
    maki_turn_callbacks calls;
    /* What came of the last one. */
    maki_turn_result result;
    maki_err err;
    char text[8192], called[512];
    char retries[256], managing[256]; /* a word for each call */
    size_t deltas, rows;
    /* What it is to do. */
    size_t stop_after; /* deltas after which it is cancelled; 0: never */
    bool cancelled;
    const char *answer; /* of the tool */
    bool tool_fails;
} engine_kit;

/* `more` is added to the configuration; NULL: nothing.  False: the provider does not run. */
bool engine_kit_open(engine_kit *kit, int argc, char **argv, const char *more);
void engine_kit_close(engine_kit *kit);
/* Another configuration, and with it another maki_turns. */
void engine_kit_configure(engine_kit *kit, const char *more);

/* A session's file that is not there yet; borrowed until the next call. */
const char *engine_kit_session(engine_kit *kit, const char *name);
/* A turn in that session with this provider, the user saying `text` ("": nothing). */
maki_status engine_kit_say(engine_kit *kit, const char *session, const char *provider,
                           const char *text);

/* The messages file, events file (part "events") of the last turn's session; free() it. */
char *engine_kit_file(const engine_kit *kit, const char *part);
/* What the provider kept of its n-th newest request (0: the newest); free() it.  NULL: there is none. */
char *engine_kit_kept(const engine_kit *kit, unsigned nth, const char *part); /* "body", "head" */
char *engine_kit_body(const engine_kit *kit, unsigned nth);
/* From now on the provider keeps no requests: a long test would fill the disk. */
void engine_kit_forget(engine_kit *kit);
unsigned long engine_kit_requests(const engine_kit *kit);

/* Does every call in this request have its result, and every result its call? */
bool engine_kit_paired(const engine_kit *kit, maki_protocol protocol, maki_str body);
maki_protocol engine_kit_protocol(const char *provider);

#endif
