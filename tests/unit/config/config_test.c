/* config_test.c -- whole configurations: what wins, where it came from, names, secrets, where the file is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <maki/json.h>

#include "base/buf.h"
#include "base/str_util.h"
#include "config_kit.h"
#include "tap.h"

static config_kit kit;

#define VARIABLES(...)    \
    (char *[])            \
    {                     \
        __VA_ARGS__, NULL \
    }
#define V(text) (char *)(uintptr_t)(text)

static maki_status read_with(char *const *environment, const char *text)
{
    maki_env env = maki_env_system();
    return config_read(&kit, &env, environment, maki_str_of(text));
}

/* ---- the seeds' own examples ------------------------------------------------------------------------- */

static void run_storage_seed(void)
{
    tap_row("context_storage and llm, as the seed has them");
    CHECK_STATUS(read_with(VARIABLES(V("OPENAI_API_KEY=sk-鍵")),
                           "# コンテキストストレージ設定\n"
                           "context_storage:\n"
                           "  enabled: true                    # コンテキストファイル化を有効化\n"
                           "  base_dir: \"contexts\"             # ベースディレクトリ\n"
                           "  compression_threshold: 0.7       # 圧縮開始閾値（70%）\n"
                           "  keep_recent_messages: 5\n"
                           "  cleanup_days: 30\n"
                           "  summary_prompt: |\n"
                           "    あなたは会話履歴を要約するアシスタントです。\n"
                           "    === 要約対象メッセージ ===\n"
                           "    {messages}\n"
                           "llm:\n"
                           "  provider: \"openai\"\n"
                           "  openai:\n"
                           "    model: \"gpt-4o\"\n"
                           "    context_length: 128000\n"
                           "    api_key: \"${OPENAI_API_KEY}\"\n"
                           "    base_url: \"https://api.openai.com/\"\n"
                           "  ollama:\n"
                           "    model: \"qwen3-30b\"\n"
                           "    context_length: 32768\n"),
                 MAKI_OK, &kit.err);
    CHECK_CSTR(kit.problems, "");
    maki_str key = { "", 0 };
    CHECK_STATUS(maki_config_secret(kit.config, "llm.openai.api_key", &key, &kit.err), MAKI_OK,
                 &kit.err);
    CHECK_STR(key, "sk-鍵");
    CHECK_EQ(maki_config_integer(kit.config, "llm.ollama.context_length"), 32768);
    CHECK(maki_str_contains(maki_config_text(kit.config, "context_storage.summary_prompt"),
                            MAKI_LIT("です。\n===")));
}

static void run_agents_seed(void)
{
    tap_row("agents and memory in JSON, as the seed has them");
    CHECK_STATUS(
        config_text(
            &kit,
            "{\"agents\": {\"default\": {\"contextWindow\": 200000, \"maxTurns\": 50,\n"
            "\"pruning\": {\"enabled\": true, \"softTrimThreshold\": 0.3,\n"
            "\"hardClearThreshold\": 0.5, \"keepLastMessages\": 3}}},\n"
            "\"memory\": {\"enabled\": true, \"storage\": \"sqlite-vec\",\n"
            "\"embedding\": {\"provider\": \"openai\", \"model\": \"text-embedding-3-small\"},\n"
            "\"search\": {\"topK\": 10, \"semanticWeight\": 0.7, \"keywordWeight\": 0.3, \"threshold\": 0.7}}}\n"),
        MAKI_OK, &kit.err);
    CHECK(maki_config_flag(kit.config, "agents.default.pruning.enabled"));
    CHECK_EQ(maki_config_integer(kit.config, "agents.default.maxTurns"), 50);
    CHECK(!maki_config_flag(kit.config, "agents.other.pruning.enabled"));
    CHECK_DOUBLE(maki_config_number(kit.config, "agents.other.pruning.hardClearThreshold"), 0.5);
    CHECK_STR(maki_config_text(kit.config, "memory.embedding.model"), "text-embedding-3-small");
}

static void run_editor_seeds(void)
{
    tap_row("an editor's settings, as the seeds have them");
    CHECK_STATUS(
        config_text(
            &kit,
            "{\n\"rooCode.autoCondenseContext\": true,\n"
            "\"rooCode.autoCondenseContextPercent\": 60,\n"
            "\"roo-code.contextCompressionThreshold\": 60,\n"
            "\"roo-code.messagesRetainCount\": 4,\n"
            "\"rooCode.profileThresholds\": {\n"
            "\"claude-opus-4-5-20251101\": 80, \"gpt-3.5-turbo\": 50, \"custom-profile\": -1}}"),
        MAKI_OK, &kit.err);
    CHECK_CSTR(kit.problems, "");
    CHECK_DOUBLE(maki_config_number(kit.config, "autoCondenseContextPercent"), 60);
    CHECK_DOUBLE(maki_config_number(kit.config, "contextCompressionThreshold"), 60);
    CHECK_DOUBLE(maki_config_number(kit.config, "profileThresholds.gpt-3.5-turbo"), 50);
    CHECK_DOUBLE(maki_config_number(kit.config, "profileThresholds.custom-profile"), -1);
    CHECK_EQ(maki_config_integer(kit.config, "messagesRetainCount"), 4);
}

/* ---- what wins ----------------------------------------------------------------------------------------- */

static void check_from(const char *path, maki_config_source source, size_t line, const char *text)
{
    maki_config_value value;
    if (!CHECK(maki_config_find_value(kit.config, path, &value))) return;
    CHECK_EQ(value.source, source);
    CHECK_EQ(value.line, line);
    CHECK_TEXT(value.text, maki_str_of(text));
}

static void run_sources(void)
{
    tap_row("default, file, environment");
    CHECK_STATUS(read_with(VARIABLES(V("CLEANUP_DAYS=7"), V("COMPRESSION_THRESHOLD="),
                                     V("CONTEXT_STORAGE_ENABLED=0"), V("OPENAI_API_KEY=k")),
                           "context_storage:\n  cleanup_days: 9\n  compression_threshold: 0.6\n"),
                 MAKI_OK, &kit.err);
    check_from("context_storage.cleanup_days", MAKI_CONFIG_ENVIRONMENT, 0, "7");
    check_from("context_storage.compression_threshold", MAKI_CONFIG_FILE, 3, "0.6");
    check_from("context_storage.enabled", MAKI_CONFIG_ENVIRONMENT, 0, "0");
    check_from("context_storage.base_dir", MAKI_CONFIG_DEFAULT, 0, "contexts");
    check_from("llm.openai.api_key", MAKI_CONFIG_ENVIRONMENT, 0, "********");
    CHECK(!maki_config_flag(kit.config, "context_storage.enabled"));
    CHECK(!maki_config_is_set(kit.config, "llm.gemini.api_key"));
    CHECK_CSTR(maki_config_file(kit.config), kit.path);
    tap_row("what is no setting");
    CHECK(!maki_config_is_set(kit.config, "no.such"));
    CHECK_DOUBLE(maki_config_number(kit.config, ""), 0);
    CHECK_STR(maki_config_text(kit.config, "agents..maxTurns"), "");
}

static void run_secrets(void)
{
    maki_str key = { "", 0 };
    tap_row("a secret whose variable is not set is reported at use");
    CHECK_STATUS(config_text(&kit, "llm:\n  openai: {api_key: \"${MISSING_鍵}\"}\n"), MAKI_INVALID,
                 &kit.err);
    CHECK_STATUS(config_text(&kit, "llm:\n  openai: {api_key: \"${MISSING_KEY}\"}\n"), MAKI_OK,
                 &kit.err);
    CHECK_STATUS(maki_config_secret(kit.config, "llm.openai.api_key", &key, &kit.err),
                 MAKI_NOTFOUND, &kit.err);
    CHECK(strstr(kit.err.msg, "MISSING_KEY is not set") != NULL);
    check_from("llm.openai.api_key", MAKI_CONFIG_FILE, 2, "(MISSING_KEY is not set)");
    CHECK(!maki_config_is_set(kit.config, "llm.openai.api_key"));
    CHECK_STATUS(maki_config_secret(kit.config, "llm.gemini.api_key", &key, &kit.err),
                 MAKI_NOTFOUND, &kit.err);
    tap_row("secrets and passwords are masked");
    CHECK_STATUS(config_text(&kit,
                             "serve: {token: hush}\nllm: {mine: {base_url: 'http://u:hush@h/v1'}}\n"
                             "memory: {paths: ['a://u:hush@h']}\n"
                             "database: postgres://u:hush@h/db\n"),
                 MAKI_OK, &kit.err);
    check_from("llm.mine.base_url", MAKI_CONFIG_FILE, 2, "http://u:********@h/v1");
    maki_config_value value;
    for (size_t cursor = 0; maki_config_next_value(kit.config, &cursor, &value);)
        CHECK(!maki_str_contains(value.text, MAKI_LIT("hush")));
}

/* ---- names --------------------------------------------------------------------------------------------- */

static void check_names(const char *path, const char *want)
{
    char got[500] = "";
    maki_str name;
    for (size_t cursor = 0; maki_config_next_name(kit.config, path, &cursor, &name);) {
        size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%s%.*s", used ? " " : "", (int)name.len, name.ptr);
    }
    CHECK_CSTR(got, want);
}

static void run_names(void)
{
    tap_row("names of a map");
    CHECK_STATUS(config_text(&kit,
                             "agents:\n  仕事: {maxTurns: 5, scope: global}\n  a.b: {maxTurns: 6}\n"
                             "agents.仕事.model: m\n"
                             "turnLimits: {perProvider: {openai: 7, 自作: 8}}\n"
                             "policies:\n  mine: [{step: condense, keep: 4}, {step: truncate}]\n"
                             "policy: mine\n"
                             "upstreams: {x: 'http://h'}\n"),
                 MAKI_OK, &kit.err);
    check_names("agents", "仕事 a.b");
    check_names("turnLimits.perProvider", "openai 自作 anthropic gemini");
    check_names("policies", "mine");
    check_names("policies.mine", "0 1");
    check_names("policies.other", "");
    check_names("upstreams", "x anthropic openai gemini ollama demo");
    check_names("nothing", "");
    CHECK_EQ(maki_config_integer(kit.config, "agents.a.b.maxTurns"), 6);
    CHECK_STR(maki_config_text(kit.config, "agents.仕事.model"), "m");
    CHECK_EQ(maki_config_integer(kit.config, "policies.mine.0.keep"), 4);
    CHECK_STR(maki_config_text(kit.config, "policies.mine.1.when"), "needed");
    tap_row("a policy where it is used");
    CHECK_STATUS(config_text(&kit, "policy: [{step: truncate}]\n"
                                   "agents: {a.b: {policy: [{step: condense}, {step: last}]}}\n"),
                 MAKI_OK, &kit.err);
    CHECK_STR(maki_config_text(kit.config, "policy"), "policy");
    CHECK_STR(maki_config_text(kit.config, "policies.policy.0.step"), "truncate");
    CHECK_STR(maki_config_text(kit.config, "agents.a.b.policy"), "agents.a.b.policy");
    CHECK_STR(maki_config_text(kit.config, "policies.agents.a.b.policy.1.step"), "last");
    check_names("policies.agents.a.b.policy", "0 1");
}

/* ---- as JSON ------------------------------------------------------------------------------------------- */

static void run_json(void)
{
    maki_env env = maki_env_system();
    maki_buf out = maki_buf_new(env.alloc, 1 << 20);
    tap_row("everything as JSON");
    CHECK_STATUS(
        read_with(VARIABLES(V("CLEANUP_DAYS=3")),
                  "context_storage: {summary_prompt: \"一\\n\\\"二\\\"\"}\nserve: {token: hush}\n"
                  "memory: {paths: [甲, 乙]}"),
        MAKI_OK, &kit.err);
    CHECK_STATUS(maki_config_write(kit.config, maki_buf_sink(&out), &kit.err), MAKI_OK, &kit.err);
    maki_str text = maki_buf_str(&out), value;
    CHECK(maki_json_check(text, &value, &kit.err) == MAKI_OK);
    CHECK(maki_str_contains(
        text,
        MAKI_LIT(
            "{\"path\":\"context_storage.summary_prompt\",\"value\":\"一\\n\\\"二\\\"\",\"source\":\"file\",\"line\":1,\"column\":35}")));
    CHECK(maki_str_contains(
        text, MAKI_LIT("\"value\":3,\"source\":\"environment\",\"variable\":\"CLEANUP_DAYS\"")));
    CHECK(
        maki_str_contains(text, MAKI_LIT("{\"path\":\"memory.paths\",\"value\":[\"甲\",\"乙\"]")));
    CHECK(maki_str_contains(
        text,
        MAKI_LIT("{\"path\":\"autoCondenseContext\",\"value\":true,\"source\":\"default\"}")));
    CHECK(!maki_str_contains(text, MAKI_LIT("hush")));
    maki_buf_free(&out);
}

/* ---- where the file is --------------------------------------------------------------------------------- */

static void write_days(const char *path, int days)
{
    char text[80];
    int n = snprintf(text, sizeof text, "context_storage: {cleanup_days: %d}\n", days);
    directory_write(path, (maki_str){ text, (size_t)n });
}

static void check_found(const char *name, const char *file, char *const *environment,
                        maki_status want, int64_t days)
{
    maki_config_options options = {
        sizeof options, maki_env_system(), file, environment, NULL, NULL
    };
    maki_config *config = NULL;
    maki_err err = { .status = MAKI_OK };
    tap_row("%s", name);
    CHECK_STATUS(maki_config_open(&options, &config, &err), want, &err);
    if (config) CHECK_EQ(maki_config_integer(config, "context_storage.cleanup_days"), days);
    maki_config_close(config);
}

static void run_places(void)
{
    directory f;
    char xdg[300], home[300], named[300], path[400], back[1000];
    if (!CHECK(getcwd(back, sizeof back) != NULL)) return;
    directory_open(&f);
    if (!CHECK(chdir(f.path) == 0)) return;
    check_found("no file at all", NULL, NULL, MAKI_OK, 30);
    snprintf(path, sizeof path, "%s/.config", f.path), mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/.config/maki", f.path), mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/.config/maki/maki.yaml", f.path), write_days(path, 1);
    snprintf(home, sizeof home, "HOME=%s", f.path);
    check_found("~/.config", NULL, VARIABLES(home), MAKI_OK, 1);
    snprintf(path, sizeof path, "%s/x", f.path), mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/x/maki", f.path), mkdir(path, 0700);
    snprintf(xdg, sizeof xdg, "XDG_CONFIG_HOME=%s/x", f.path);
    check_found("$XDG_CONFIG_HOME without a file", NULL, VARIABLES(home, xdg), MAKI_OK, 30);
    snprintf(path, sizeof path, "%s/x/maki/maki.yaml", f.path), write_days(path, 2);
    check_found("$XDG_CONFIG_HOME", NULL, VARIABLES(home, xdg), MAKI_OK, 2);
    write_days("maki.yaml", 3);
    check_found("./maki.yaml", NULL, VARIABLES(home, xdg), MAKI_OK, 3);
    write_days("other.yaml", 4);
    snprintf(named, sizeof named, "MAKI_CONFIG=other.yaml");
    check_found("$MAKI_CONFIG", NULL, VARIABLES(home, xdg, named), MAKI_OK, 4);
    write_days("設定.yaml", 5);
    check_found("--config", "設定.yaml", VARIABLES(home, xdg, named), MAKI_OK, 5);
    check_found("--config that is not there", "no.yaml", NULL, MAKI_NOTFOUND, 0);
    check_found("$MAKI_CONFIG that is not there", NULL, VARIABLES(V("MAKI_CONFIG=no.yaml")),
                MAKI_NOTFOUND, 0);
    check_found("an empty $MAKI_CONFIG is none", NULL, VARIABLES(V("MAKI_CONFIG=")), MAKI_OK, 3);
    check_found("a directory", "x", NULL, MAKI_IO, 0);
    check_found("a file without end", "/dev/zero", NULL, MAKI_INVALID, 0);
    CHECK(chdir(back) == 0);
    directory_close(&f);
}

/* ---- what may be written --------------------------------------------------------------------------------- */

/* clang-format off */
static const struct fine_row { const char *name, *text; } fine_rows[] = {
    { "nothing",                        "" },
    { "comments only",                  "# 一\n\n# 二\n" },
    { "an empty document",              "---\n...\n" },
    { "empty values are not there",     "upstreams:\ncontext_storage:\n  base_dir: ~\n  cleanup_days: null\n" },
    { "a byte order mark",              "\xef\xbb\xbf" "context_storage: {cleanup_days: 5}\n" },
    { "Windows line ends",              "context_storage:\r\n  cleanup_days: 5\r\n" },
    { "dots instead of nesting",        "context_storage.cleanup_days: 5\n" },
    { "the same twice, by two names",   "context_storage.cleanup_days: 5\ncontext_storage: {cleanup_days: 5}\n" },
    { "anchors and aliases",            "agents:\n  a: &a {maxTurns: 5}\n  b: *a\n" },
    { "a flag in other words",          "autoCondenseContext: Off\n" },
    { "thousands",                      "agents: {a: {contextWindow: 200_000}}\n" },
    { "a list of one without brackets", "memory: {paths: notes.md}\n" },
    { "a number as text",               "llm: {mine: {model: 4}}\n" },
    { "a setting of a quoted variable", "context_storage: {cleanup_days: \"${NO:-5}\"}\n" },
};
static const struct warn_row { const char *text, *words; } warn_rows[] = {
    { "profileThresholds:\n  m: 200\n",   "warning 2:6: profileThresholds.m is 200, not from 5 to 100 or -1: the general threshold is used\n" },
    { "agents: {仕事: {contextWindow: 9000}}\n", "warning 1:30: agents.仕事.contextWindow is 9000, under window.minimum (16000): it is refused until that is lowered\n" },
    { "memory: {storage: lancedb}\n",      "warning 1:19: memory.storage: lancedb is not built in; sqlite-vec is used\n" },
};
/* clang-format on */

static void run_fine(void)
{
    for (size_t i = 0; i < COUNT(fine_rows); i++) {
        tap_row("%s", fine_rows[i].name);
        CHECK_STATUS(config_text(&kit, fine_rows[i].text), MAKI_OK, &kit.err);
        CHECK_CSTR(kit.problems, "");
    }
    for (size_t i = 0; i < COUNT(warn_rows); i++) {
        tap_row("a warning: %s", warn_rows[i].words);
        CHECK_STATUS(config_text(&kit, warn_rows[i].text), MAKI_OK, &kit.err);
        CHECK_CSTR(kit.problems, warn_rows[i].words);
    }
}

int main(void)
{
    config_kit_open(&kit);
    run_storage_seed();
    run_agents_seed();
    run_editor_seeds();
    run_sources();
    run_secrets();
    run_names();
    run_json();
    run_fine();
    run_places();
    config_kit_close(&kit);
    return tap_end();
}
