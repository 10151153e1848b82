/* talk_kit.h -- build a conversation message by message, run the context manager on it, and inspect the view. */
#ifndef MAKI_TESTS_TALK_KIT_H
#define MAKI_TESTS_TALK_KIT_H

#include "directory.h"
#include "fake_env.h"
#include "manage/manage.h"

typedef struct talk_kit {
    directory here;
    fake_env fe;
    maki_conv *conv;
    unsigned calls;
    bool force; /* runs are forced: one that failed may be repeated at once */
    maki_buf row, view;
} talk_kit;

void talk_open(talk_kit *t);
void talk_close(talk_kit *t);

/* Append a message; returns its number.  Texts are escaped for JSON, without quotes. */
uint64_t talk_row(talk_kit *t, const char *json);
uint64_t talk_say(talk_kit *t, const char *role, const char *text);
/* Append a call and its result; returns the number of the result.  `input` is a JSON object. */
uint64_t talk_call(talk_kit *t, const char *tool, const char *input, const char *output);
uint64_t talk_call_openai(talk_kit *t, const char *tool, const char *input, const char *output);
/* A call whose result is an image with these bytes. */
uint64_t talk_image(talk_kit *t, const char *data);

/* About `units` characters of prose in several languages; borrowed until the third next call. */
const char *talk_prose(size_t units, unsigned seed);
/* Code between fences. */
const char *talk_code(const char *info, size_t lines);

/* The view as JSON lines, NUL-terminated; borrowed until the next call. */
const char *talk_view(talk_kit *t);
bool talk_view_has(talk_kit *t, const char *words);
/* Its tokens, counted again from the bytes, and those that the conversation reports. */
uint64_t talk_recounted(talk_kit *t);
uint64_t talk_tokens(talk_kit *t);
/* Properties of a view.  `needed` (or NULL): messages that must be in it, ended by 0; at most eight. */
typedef struct talk_inspection {
    size_t messages, broken; /* `broken`: calls and results that are separated */
    uint64_t first;          /* the first message; 0: synthetic */
    bool all;                /* all needed messages are in view */
} talk_inspection;
talk_inspection talk_inspect(maki_conv *conv, const uint64_t *needed);
/* Are calls and results together, and all needed messages in view? */
bool talk_valid(talk_kit *t, const uint64_t *needed);

maki_manage_report talk_manage(talk_kit *t, const maki_policy *policy, double window);
/* "prune_tools condense:CODE window- ..."; a minus: undone.  Borrowed until the next call. */
const char *talk_steps(const maki_manage_report *report);

#endif
