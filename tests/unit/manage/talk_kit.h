/* talk_kit.h -- a conversation said line by line, and what a run makes of it. */
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
    bool by_hand; /* runs are: one that failed may be repeated at once */
    maki_buf row, view;
} talk_kit;

void talk_open(talk_kit *t);
void talk_close(talk_kit *t);

/* Texts are as they stand inside a JSON string.  Each gives the number of its message. */
uint64_t talk_row(talk_kit *t, const char *json);
uint64_t talk_say(talk_kit *t, const char *role, const char *text);
/* A call and its result; gives the number of the result.  `input` is a JSON object. */
uint64_t talk_call(talk_kit *t, const char *tool, const char *input, const char *output);
uint64_t talk_call_openai(talk_kit *t, const char *tool, const char *input, const char *output);
/* A call whose result is an image with these bytes. */
uint64_t talk_image(talk_kit *t, const char *data);

/* About so many characters of prose in several languages; borrowed until the third next call. */
const char *talk_words(size_t units, unsigned seed);
/* Code between fences. */
const char *talk_code(const char *info, size_t lines);

/* The view as lines, NUL behind it; borrowed until the next call. */
const char *talk_view(talk_kit *t);
bool talk_shows(talk_kit *t, const char *words);
/* Its tokens, counted anew from the bytes, and those that the conversation tells. */
uint64_t talk_counted(talk_kit *t);
uint64_t talk_told(talk_kit *t);
/* What is in view of any conversation.  `needed` (or NULL): messages that must be, ended by 0; eight at most. */
typedef struct talk_looked {
    size_t messages, broken; /* those whose call or result is not next to them */
    uint64_t first;          /* 0: it was made */
    bool all;                /* that are needed */
} talk_looked;
talk_looked talk_look(maki_conv *conv, const uint64_t *needed);
/* Do calls and results stand together, and is all that is needed in view? */
bool talk_valid(talk_kit *t, const uint64_t *needed);

maki_manage_report talk_manage(talk_kit *t, const maki_policy *policy, double window);
/* "prune_tools condense:CODE window- ..."; a minus is taken back.  Borrowed until the next call. */
const char *talk_steps(const maki_manage_report *report);

#endif
