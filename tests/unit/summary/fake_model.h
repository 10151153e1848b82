/* fake_model.h -- a model for tests: it answers as its scenario says and keeps what it was asked. */
#ifndef MAKI_TESTS_FAKE_MODEL_H
#define MAKI_TESTS_FAKE_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <maki/model.h>

#include "base/err.h"
#include "fake_env.h"

typedef enum fake_scenario {
    FAKE_ANSWERS,
    FAKE_FAILS,
    FAKE_SILENT_FAILURE, /* a status without words */
    FAKE_EMPTY,
    FAKE_SPACES,
    FAKE_TOO_LONG,
    FAKE_ENDLESS,
    FAKE_CUT,
    FAKE_HALF_CHARACTER,
    FAKE_NOT_UTF8,
    FAKE_LATE,    /* the clock passes its time while it answers */
    FAKE_CANCELS, /* somebody cancels while it answers */
    FAKE_ECHO,    /* a reply as long as the request */
    FAKE_THINKS
} fake_scenario;

typedef struct fake_model {
    maki_model model; /* hand this in */
    fake_scenario scenario;
    int bad_from; /* the scenario is that of this call and later ones, FAKE_ANSWERS before; 0: always */
    const char *reply; /* "%d" in it becomes the number of the call */
    fake_env *fe;      /* of FAKE_LATE */
    bool cancelled;
    int calls;
    /* What it was asked last, and all there was. */
    char name[100], system[4000];
    char *prompt;
    size_t prompt_len;
    char *all;
    size_t all_len;
    uint64_t prompt_tokens, max_tokens;
    uint64_t most_tokens; /* the largest prompt_tokens */
    int64_t timeout_ms;
} fake_model;

static inline bool fake_cancelled(void *ctx)
{
    return ((fake_model *)ctx)->cancelled;
}

static inline void fake_read(fake_model *m, const maki_model_request *r)
{
    size_t got = 0;
    maki_err err = { 0 };
    free(m->prompt);
    m->prompt = malloc((size_t)r->prompt.size + 1);
    m->prompt_len = 0;
    do { /* pieces of odd length: a reader that counts on whole characters would be found */
        if (r->prompt.read(
                r->prompt.ctx, m->prompt_len, m->prompt + m->prompt_len,
                r->prompt.size - m->prompt_len < 777 ? (size_t)r->prompt.size - m->prompt_len : 777,
                &got, &err) != MAKI_OK)
            break;
        m->prompt_len += got;
    } while (got);
    m->prompt[m->prompt_len] = '\0';
    m->all = realloc(m->all, m->all_len + m->prompt_len + 1);
    memcpy(m->all + m->all_len, m->prompt, m->prompt_len + 1);
    m->all_len += m->prompt_len;
}

static inline maki_status fake_say(maki_sink reply, const char *text, size_t len, maki_err *err)
{
    maki_status st = MAKI_OK;
    for (size_t at = 0; st == MAKI_OK && at < len; at += 5) { /* cut anywhere */
        size_t n = len - at < 5 ? len - at : 5;
        st = reply.write(reply.ctx, (maki_str){ text + at, n }, err);
    }
    return st;
}

static inline maki_status fake_scenario_reply(fake_model *m, fake_scenario scenario,
                                              maki_sink reply, maki_model_usage *usage,
                                              maki_err *err)
{
    maki_status st = MAKI_OK;
    char text[2000];
    snprintf(text, sizeof text, m->reply ? m->reply : "summary %d", m->calls);
    switch (scenario) {
    case FAKE_FAILS: return maki_fail(err, MAKI_UPSTREAM, "overloaded");
    case FAKE_SILENT_FAILURE: return MAKI_IO;
    case FAKE_EMPTY: return MAKI_OK;
    case FAKE_SPACES: return fake_say(reply, " \n\t　", 6, err);
    case FAKE_TOO_LONG:
        for (int i = 0; st == MAKI_OK && i < 9000; i++)
            st = fake_say(reply, "word ", 5, err);
        return st;
    case FAKE_ENDLESS:
        while (st == MAKI_OK)
            st = fake_say(reply, "0123456789", 10, err);
        return st;
    case FAKE_CUT: usage->truncated = true; break;
    case FAKE_HALF_CHARACTER:
        st = fake_say(reply, text, strlen(text), err);
        return st == MAKI_OK ? fake_say(reply, "\xf0\x9f\x90", 3, err) : st;
    case FAKE_NOT_UTF8: return fake_say(reply, "ab\xff\xfe cd", 7, err);
    case FAKE_LATE: m->fe->now_ms += 3600000; break;
    case FAKE_CANCELS: m->cancelled = true; break;
    case FAKE_ECHO: return fake_say(reply, m->prompt, m->prompt_len, err);
    case FAKE_THINKS: st = fake_say(reply, "<think>what to say...</think>\n", 30, err); break;
    default: break;
    }
    return st == MAKI_OK ? fake_say(reply, text, strlen(text), err) : st;
}

static inline maki_status fake_complete(const maki_model *self, const maki_model_request *r,
                                        maki_sink reply, maki_model_usage *usage, maki_err *err)
{
    fake_model *m = self->ctx;
    m->calls++;
    snprintf(m->name, sizeof m->name, "%.*s", (int)r->name.model.len, r->name.model.ptr);
    snprintf(m->system, sizeof m->system, "%.*s", (int)r->system.len, r->system.ptr);
    fake_read(m, r);
    m->prompt_tokens = r->prompt_tokens;
    m->max_tokens = r->max_tokens;
    m->timeout_ms = r->timeout_ms;
    if (r->prompt_tokens > m->most_tokens) m->most_tokens = r->prompt_tokens;
    *usage =
        (maki_model_usage){ .input_tokens = r->prompt_tokens, .output_tokens = 7, .cost = 0.25 };
    return fake_scenario_reply(m, m->calls >= m->bad_from ? m->scenario : FAKE_ANSWERS, reply,
                               usage, err);
}

static inline maki_status fake_find(const maki_model *self, const maki_model_name *name,
                                    maki_model_found *out, maki_err *err)
{
    (void)self, (void)err;
    *out = (maki_model_found){ .window = 100000 };
    snprintf(out->model, sizeof out->model, "%.*s", (int)name->model.len, name->model.ptr);
    return MAKI_OK;
}

static inline void fake_model_init(fake_model *m, fake_scenario scenario)
{
    *m = (fake_model){ .model = { .find = fake_find, .complete = fake_complete, .ctx = m },
                       .scenario = scenario };
}

static inline void fake_model_free(fake_model *m)
{
    free(m->prompt);
    free(m->all);
}

#endif
