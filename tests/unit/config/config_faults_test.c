/* config_faults_test.c -- every allocation, ours and libyaml's, and every call to a file fails in turn. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/buf.h"
#include "config_kit.h"
#include "fake_env.h"
#include "tap.h"

/* libyaml has no table for its allocator, but calls these by name: the program's own come first. */
void *yaml_malloc(size_t size);
void *yaml_realloc(void *p, size_t size);
void yaml_free(void *p);
yaml_char_t *yaml_strdup(const yaml_char_t *text);

static size_t calls, fail_at, live;

static bool fails(void)
{
    return ++calls == fail_at;
}

void *yaml_malloc(size_t size)
{
    if (fails()) return NULL;
    live++;
    return malloc(size ? size : 1);
}

void *yaml_realloc(void *p, size_t size)
{
    if (fails()) return NULL;
    if (!p) live++;
    return realloc(p, size ? size : 1);
}

void yaml_free(void *p)
{
    if (p) live--;
    free(p);
}

yaml_char_t *yaml_strdup(const yaml_char_t *text)
{
    if (!text || fails()) return NULL;
    live++;
    return (yaml_char_t *)strdup((const char *)text);
}

static const char good[] = "context_storage: {cleanup_days: 5, summary_prompt: \"要約 ${NO:-x}\"}\n"
                           "agents:\n  仕事: &a {maxTurns: 7, tools: {allow: [a, b*]}}\n  b: *a\n"
                           "policy: [{step: condense, keep: 3}]\n"
                           "llm: {provider: openai, openai: {api_key: '${KEY}'}}\n"
                           "rooCode.profileThresholds: {m: 200}\n"
                           "serve: {listen: ['127.0.0.1:1']}\n";
static const char bad[] =
    "contextStorage: {}\nagents: {a: {maxTurns: 七, tools: 5}}\npolicy: nope\n"
    "memory: {storage: sqlite}\nllm: {x: {model: '${NO}'}}\n";

static config_kit kit;

static void run_allocations(const char *name, const char *text, maki_status want)
{
    fake_env fe;
    fake_env_init(&fe);
    tap_row("%s: every allocation fails", name);
    for (size_t nth = 1;; nth++) {
        fake_alloc_fail_at(&fe, nth);
        maki_status st = config_read(&kit, &fe.env, NULL, (maki_str){ text, strlen(text) });
        bool injected = fake_alloc_failed(&fe);
        CHECK_STATUS(st, injected ? MAKI_NOMEM : want, &kit.err);
        maki_config_close(kit.config);
        kit.config = NULL;
        CHECK_EQ(fake_alloc_live(&fe), 0);
        CHECK_EQ(live, 0);
        if (!injected) break;
    }
}

static void run_yaml_allocations(const char *name, const char *text, maki_status want)
{
    tap_row("%s: every allocation of libyaml fails", name);
    for (size_t nth = 1;; nth++) {
        calls = 0;
        fail_at = nth;
        maki_status st = config_text(&kit, text);
        bool injected = calls >= nth;
        CHECK_STATUS(st, injected ? MAKI_NOMEM : want, &kit.err);
        CHECK_EQ(live, 0);
        if (!injected) break;
    }
    CHECK(calls > 0); /* else the program's own did not come first */
    fail_at = 0;
}

static void run_files(void)
{
    fake_env fe;
    fake_env_init(&fe);
    tap_row("every call to a file fails");
    for (size_t nth = 1;; nth++) {
        fake_files_fail_at(&fe, nth, EIO);
        maki_status st = config_read(&kit, &fe.env, NULL, (maki_str){ good, strlen(good) });
        bool injected = fake_files_failed(&fe);
        CHECK(st == MAKI_OK || (injected && st == MAKI_IO));
        CHECK_EQ(fake_files_live(&fe), 0);
        maki_config_close(kit.config);
        kit.config = NULL;
        if (!injected) break;
    }
    tap_row("files that give a little at a time");
    fake_files_fail_at(&fe, 0, 0);
    fake_files_short(&fe, 3);
    fake_files_interrupt(&fe, 2);
    CHECK_STATUS(config_read(&kit, &fe.env, NULL, (maki_str){ good, strlen(good) }), MAKI_OK,
                 &kit.err);
    CHECK_EQ(maki_config_integer(kit.config, "agents.b.maxTurns"), 7);
    maki_config_close(kit.config);
    kit.config = NULL;
}

int main(void)
{
    config_kit_open(&kit);
    run_allocations("a good file", good, MAKI_OK);
    run_allocations("a bad file", bad, MAKI_INVALID);
    run_yaml_allocations("a good file", good, MAKI_OK);
    run_yaml_allocations("a bad file", bad, MAKI_INVALID);
    run_yaml_allocations("invalid YAML", "a: [1, {b: c}\n", MAKI_INVALID);
    run_files();
    config_kit_close(&kit);
    return tap_end();
}
