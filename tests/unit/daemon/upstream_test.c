/* upstream_test.c -- parsing --upstream, choosing an upstream by name and model, and building its target URL. */
#include "daemon/upstream.h"

#include <string.h>

#include "base/str_util.h"
#include "fake_env.h"
#include "tap.h"

/* clang-format off */
static const struct line_row { const char *line; maki_status status; const char *origin, *path, *models; } lines[] = {
    { "x=http://127.0.0.1:9",                  MAKI_OK,      "http://127.0.0.1:9", "", "" },
    { "x=http://127.0.0.1:9/",                 MAKI_OK,      "http://127.0.0.1:9", "", "" },
    { "x=https://h/openai/v1/",                MAKI_OK,      "https://h", "/openai/v1", "" },
    { " x=https://h/v1   models=qwen*,glm-? ", MAKI_OK,      "https://h", "/v1", "qwen*,glm-?" },
    { "",                                      MAKI_INVALID, "", "", "" },
    { "x",                                     MAKI_INVALID, "", "", "" },
    { "=http://h",                             MAKI_INVALID, "", "", "" },
    { "../x=http://h",                         MAKI_INVALID, "", "", "" },
    { "a/b=http://h",                          MAKI_INVALID, "", "", "" },
    { "日本=http://h",                         MAKI_INVALID, "", "", "" },
    { "x=ftp://h",                             MAKI_INVALID, "", "", "" },
    { "x=http://",                             MAKI_INVALID, "", "", "" },
    { "x=http:///v1",                          MAKI_INVALID, "", "", "" },
    { "x=http://user:password@h",              MAKI_INVALID, "", "", "" },
    { "x=http://h/?key=1",                     MAKI_INVALID, "", "", "" },
    { "x=http://h nonsense",                   MAKI_INVALID, "", "", "" },
};

static const struct target_row { const char *base, *target, *want; } targets[] = {
    { "x=http://h",           "/v1/models?a=1",       "/v1/models?a=1" },
    { "x=http://h/v1",        "/v1/models",           "/v1/models" },
    { "x=http://h/v1",        "/v1?x",                "/v1?x" },
    { "x=http://h/v1",        "/v1",                  "/v1" },
    { "x=http://h/v1",        "/v1beta/models",       "/v1/v1beta/models" },
    { "x=http://h/openai/v1", "/v1/chat/completions", "/openai/v1/chat/completions" },
    { "x=http://h/openai/v1", "/chat/completions",    "/openai/v1/chat/completions" },
    { "x=http://h/a",         "/../../b//c/./d",      "/a/../../b//c/./d" },
};

static const struct model_row { const char *model, *want; } models[] = {
    { "qwen3-coder", "local" }, { "qwen", "local" }, { "my-llama-3", "local" }, { "gpt-5", "big" }, { "gpt-5-mini", "" }, { "", "" }, { "Qwen", "" },
};
/* clang-format on */

static void run_lines(void)
{
    for (size_t i = 0; i < COUNT(lines); i++) {
        maki_upstreams all = { .count = 0 };
        maki_err err;
        tap_row("line: %s", lines[i].line);
        maki_status st = maki_upstreams_add(&all, maki_str_of(lines[i].line), &err);
        CHECK_STATUS(st, lines[i].status, &err);
        const maki_upstream *got = maki_upstream_find(&all, MAKI_LIT("x"));
        CHECK_EQ(got != NULL, st == MAKI_OK);
        if (!got) continue;
        CHECK_CSTR(got->origin, lines[i].origin);
        CHECK_CSTR(got->path, lines[i].path);
        CHECK_CSTR(got->models, lines[i].models);
    }
}

static void run_targets(void)
{
    fake_env fe;
    fake_env_init(&fe);
    for (size_t i = 0; i < COUNT(targets); i++) {
        maki_upstreams all = { .count = 0 };
        maki_buf out = maki_buf_new(fe.env.alloc, 4096);
        tap_row("%s and %s", targets[i].base, targets[i].target);
        CHECK_EQ(maki_upstreams_add(&all, maki_str_of(targets[i].base), NULL), MAKI_OK);
        maki_upstream_target(&all.rows[0], maki_str_of(targets[i].target), &out);
        CHECK_TEXT(maki_buf_str(&out), maki_str_of(targets[i].want));
        maki_buf_free(&out);
    }
}

int main(void)
{
    static maki_upstreams all;
    run_lines();
    run_targets();
    tap_row("a default upstream replaced");
    CHECK_EQ(maki_upstreams_add(&all, MAKI_LIT("gemini=https://g.example"), NULL), MAKI_OK);
    CHECK_EQ(maki_upstreams_add(&all, MAKI_LIT("openai=https://o.example"), NULL), MAKI_OK);
    CHECK(!all.by_model);
    CHECK_EQ(maki_upstreams_add(&all, MAKI_LIT("openai=http://127.0.0.1:1"), NULL), MAKI_OK);
    CHECK_EQ(all.count, 2);
    CHECK_CSTR(maki_upstream_find(&all, MAKI_LIT("openai"))->origin, "http://127.0.0.1:1");
    CHECK(maki_upstream_find(&all, MAKI_LIT("open")) == NULL);
    (void)maki_upstreams_add(&all, MAKI_LIT("local=http://h models=qwen*,*llama*"), NULL);
    (void)maki_upstreams_add(&all, MAKI_LIT("big=http://h models=gpt-5"), NULL);
    CHECK(all.by_model);
    for (size_t i = 0; i < COUNT(models); i++) {
        tap_row("model %s", models[i].model);
        const maki_upstream *got = maki_upstream_for_model(&all, maki_str_of(models[i].model));
        CHECK_CSTR(got ? got->name : "", models[i].want);
    }
    tap_row("too many upstreams");
    maki_status st = MAKI_OK;
    for (int i = 0; i < MAKI_UPSTREAMS_MAX && st == MAKI_OK; i++) {
        char line[] = "u00=http://h";
        line[1] = (char)('a' + i / 10);
        line[2] = (char)('0' + i % 10);
        st = maki_upstreams_add(&all, maki_str_of(line), NULL);
    }
    CHECK_EQ(st, MAKI_TOOBIG);
    return tap_end();
}
