/* settings.c -- the table of settings.  docs/configuration.md is made from it (maki config reference). */
#include "config/settings.h"

#include <string.h>

#include "base/str.h"
#include "config/policy_steps.h"

#define ROW(kind, p, start, ...)                                             \
    {                                                                        \
        .path = p, .type = MAKI_CONFIG_##kind, .initial = start, __VA_ARGS__ \
    }
#define AMOUNT(kind, p, start, least, most, ...) \
    ROW(kind, p, start, .min = least, .max = most, __VA_ARGS__)
#define CHOICE(p, start, of, ...) ROW(CHOICE, p, start, .choices = of, __VA_ARGS__)
#define SAME(p, as, ...)          ROW(SAME, p, NULL, .choices = as, __VA_ARGS__)

#define STEP_NAME(kind, name, ...)                          "|" #name
#define STEP_HELP(kind, name, fn, needs, keep, share, help) "; " #name ": " help
#define HELP(words)                                         .help = words
#define LATER(words)                                        .unused = true, .help = words
#define VARIABLE(name)                                      .variable = name
#define EDITOR                                              .editor = true
#define MANY                                                1e9
#define DAY_MS                                              86400000.0

/* clang-format off */
static const maki_config_setting daemon_rows[] = {
    ROW(ADDRESSES, "serve.listen", "127.0.0.1:4747", HELP("where connections are taken; port 0 picks a free one; beyond this machine a token is needed")),
    ROW(SECRET, "serve.token", NULL, VARIABLE("MAKI_TOKEN"), HELP("what clients must send")),
    ROW(LIST, "serve.allow_hosts", NULL, HELP("further Host names that are accepted")),
    ROW(LIST, "serve.allow_origins", NULL, HELP("sites whose pages may send requests to Maki, https://example.com")),
    ROW(TEXT, "serve.ca_file", NULL, HELP("certificates to trust instead of the system's, by the daemon and for `llm`")),
    AMOUNT(INTEGER, "serve.limits.connections", "16384", 1, 1000000, HELP("concurrent clients")),
    AMOUNT(BYTES, "serve.limits.head", "64k", 1024, 1 << 20, HELP("largest head of a request")),
    AMOUNT(BYTES, "serve.limits.body", "1g", 1024, 1099511627776.0, HELP("largest body of a request, compressed or not")),
    AMOUNT(TIME, "serve.timeouts.idle", "2m", 1, DAY_MS, HELP("after this time a connection without a request is closed")),
    AMOUNT(TIME, "serve.timeouts.head", "30s", 1, DAY_MS, HELP("longest time to receive the head of a request")),
    AMOUNT(TIME, "serve.timeouts.body", "1m", 1, DAY_MS, HELP("longest wait for the next byte of a body")),
    AMOUNT(TIME, "serve.timeouts.write", "1m", 1, DAY_MS, HELP("longest wait for a client that reads nothing")),
    AMOUNT(TIME, "serve.timeouts.connect", "10s", 1, DAY_MS, HELP("longest time to connect to an upstream")),
    AMOUNT(TIME, "serve.timeouts.upstream", "10m", 1, DAY_MS, HELP("longest wait for an upstream that sends nothing")),
    AMOUNT(TIME, "serve.timeouts.stop", "30s", 0, DAY_MS, HELP("longest time to finish requests in progress when the daemon is stopped")),
    SAME("upstreams.*", "upstreams.*.url", HELP("a server to forward requests to, on one line; anthropic, openai, gemini and ollama have defaults")),
    ROW(URL, "upstreams.*.url", NULL, HELP("its address, with or without /v1")),
    ROW(LIST, "upstreams.*.models", NULL, HELP("requests for these models go there; a * stands for anything")),
    CHOICE("log.level", "info", "debug|info|warn|error", HELP("lines below this level are not written")),
};

static const maki_config_setting window_rows[] = {
    ROW(FLAG, "autoCondenseContext", "true", EDITOR, HELP("condense at the threshold, not only when the window is full")),
    AMOUNT(NUMBER, "autoCondenseContextPercent", "75", 5, 100, EDITOR, HELP("the threshold, in percent of the window; by default what suits the model")),
    SAME("contextCompressionThreshold", "autoCondenseContextPercent", EDITOR, HELP("alias of the threshold")),
    AMOUNT(INTEGER, "autoCondenseContextTokens", NULL, 1, MANY, HELP("the threshold in tokens as well; the lower wins")),
    AMOUNT(NUMBER, "profileThresholds.*", NULL, 5, 100, EDITOR, .inherits = true, HELP("the threshold of one profile, named by its model; -1: the general one")),
    ROW(TEXT, "currentProfileId", NULL, EDITOR, HELP("the profile in use; default: the model of the request")),
    AMOUNT(INTEGER, "messagesRetainCount", "3", 1, 1000, EDITOR, HELP("newest messages that a condense leaves as they are; by default what suits the model")),
    ROW(TEXT, "profiles.*.condenseModel", NULL, HELP("the model that summarises for this one")),
    AMOUNT(NUMBER, "profiles.*.compressionRatio", NULL, 0.05, 0.99, HELP("share of the tokens that a summary should save")),
    AMOUNT(INTEGER, "profiles.*.keepMessages", NULL, 1, 1000, HELP("messagesRetainCount of this profile")),
    AMOUNT(INTEGER, "profiles.*.thresholdTokens", NULL, 1, MANY, HELP("autoCondenseContextTokens of this profile")),
    AMOUNT(INTEGER, "profiles.*.contextWindow", NULL, 1000, MANY, HELP("the window of this model, in tokens")),
    AMOUNT(INTEGER, "contextWindow", NULL, 1000, MANY, HELP("the window, in tokens, of models that neither their provider nor the table knows")),
    AMOUNT(INTEGER, "window.minimum", "16000", 1000, MANY, HELP("a smaller window is refused")),
    AMOUNT(INTEGER, "window.warning", "32000", 1000, MANY, HELP("a smaller window is warned of")),
    AMOUNT(INTEGER, "window.default", "200000", 1000, MANY, HELP("the window when neither model, provider nor configuration say it")),
    AMOUNT(INTEGER, "turnLimits.global", "100", 0, 1000000, HELP("turns of a channel's session that are sent; the least limit wins, 0 is none")),
    AMOUNT(INTEGER, "turnLimits.perProvider.*", NULL, 0, 1000000, HELP("the same for one provider")),
    AMOUNT(INTEGER, "turnLimits.perUser", "30", 0, 1000000, HELP("the same for one sender")),
};

static const maki_config_setting policy_rows[] = {
    ROW(POLICY, "policy", NULL, HELP("how space is freed: maki, roo, clawdbot, files, one of `policies`, or a list of steps; default: files for tasks, else maki")),
    CHOICE("policies.*.#.step", NULL, &"" MAKI_STEP_MAP(STEP_NAME)[1], HELP("what this step does" MAKI_STEP_MAP(STEP_HELP))),
    CHOICE("policies.*.#.when", "needed", "needed|always|over_allowed|failed|failed_over_allowed", HELP("needed: the target is not reached yet; failed: the step before failed or saved too little; over_allowed: more than may be sent, and again until it is not")),
    AMOUNT(NUMBER, "policies.*.#.from", NULL, 0, 1, HELP("only from this share of the window on; when every step has one, a run begins at the least of them")),
    AMOUNT(NUMBER, "policies.*.#.below", NULL, 0, 1, HELP("only below this share of the window")),
    AMOUNT(NUMBER, "policies.*.#.target", NULL, 0, 1, HELP("share of the window to come down to; default: the least of 0.5 and 70 % of what may be sent")),
    AMOUNT(INTEGER, "policies.*.#.keep", NULL, 1, 1000000, HELP("newest messages that stay; for prune_tools, prune_repeats and shrink_code assistant messages with all behind them")),
    AMOUNT(INTEGER, "policies.*.#.min_messages", NULL, 1, 1000000, HELP("with fewer messages the step does nothing")),
    AMOUNT(NUMBER, "policies.*.#.min_saving", NULL, 0, 1, HELP("a step that saves a smaller share has failed")),
    AMOUNT(INTEGER, "policies.*.#.min_window", NULL, 0, MANY, HELP("in smaller windows the step is left out")),
    AMOUNT(NUMBER, "policies.*.#.share", NULL, 0.01, 0.99, HELP("share of the messages that truncate hides")),
    ROW(FLAG, "policies.*.#.must_reach", NULL, HELP("of a step that prunes: it is undone, with those before it, unless the target is reached")),
    AMOUNT(INTEGER, "policies.*.#.max_chars", NULL, 0, MANY, HELP("longer tool output is cut to its head and tail")),
    AMOUNT(INTEGER, "policies.*.#.head_chars", NULL, 0, MANY, HELP("characters of the head that stay")),
    AMOUNT(INTEGER, "policies.*.#.tail_chars", NULL, 0, MANY, HELP("characters of the tail that stay")),
    AMOUNT(INTEGER, "policies.*.#.min_prunable_chars", NULL, 0, MANY, HELP("shorter tool output, all together, is not cleared")),
    ROW(TEXT, "policies.*.#.placeholder", NULL, HELP("stands for a tool output that was cleared")),
    ROW(FLAG, "policies.*.#.hard_clear", NULL, HELP("clear tool output when cutting it is not enough")),
    ROW(LIST, "policies.*.#.allow", NULL, HELP("only the output of these tools; a * stands for anything")),
    ROW(LIST, "policies.*.#.deny", NULL, HELP("never the output of these tools")),
};

static const maki_config_setting summary_rows[] = {
    ROW(TEXT, "summary.provider", NULL, HELP("who summarises: offline, or one of `llm`; default: llm.provider, and offline without a key")),
    ROW(TEXT, "summary.model", NULL, HELP("its model; default: the profile's condenseModel")),
    ROW(TEXT, "summary.prompt", "standard", HELP("standard (six headings), brief, or your own; {messages} is where the messages go")),
    AMOUNT(INTEGER, "summary.max_tokens", "4096", 64, 1000000, HELP("the longest summary")),
    AMOUNT(TIME, "summary.timeout", "2m", 1000, DAY_MS, HELP("then the offline summary takes its place")),
    ROW(FLAG, "summary.background", "true", HELP("prepare a summary before it is needed")),
    AMOUNT(NUMBER, "summary.background_percent", NULL, 5, 100, HELP("percent of the window at which that begins; default: 10 below the threshold")),
    CHOICE("language", NULL, "en|ja|zh|ko", HELP("of built-in prompts and summaries; default: that of the text")),
};

static const maki_config_setting task_rows[] = {
    ROW(FLAG, "context_storage.enabled", "true", VARIABLE("CONTEXT_STORAGE_ENABLED"), LATER("keep the files of tasks; false: in a temporary directory only")),
    ROW(TEXT, "context_storage.base_dir", "contexts", LATER("their directory, relative to the working directory")),
    AMOUNT(NUMBER, "context_storage.compression_threshold", "0.7", 0.05, 1, VARIABLE("COMPRESSION_THRESHOLD"), HELP("share of the window over which a task is condensed")),
    AMOUNT(INTEGER, "context_storage.keep_recent_messages", "5", 1, 1000, HELP("newest messages that stay as they are")),
    AMOUNT(INTEGER, "context_storage.min_messages_to_summarize", "10", 1, 1000000, HELP("with fewer messages nothing is done")),
    AMOUNT(INTEGER, "context_storage.cleanup_days", "30", 0, 36500, VARIABLE("CLEANUP_DAYS"), LATER("completed tasks are removed after so many days")),
    ROW(TEXT, "context_storage.summary_prompt", NULL, HELP("the prompt for tasks; {messages} is where the messages go")),
    CHOICE("context_storage.token_count", "exact", "exact|chars4", LATER("what decides: the tokenizer, or four characters a token")),
    ROW(SECRET, "database", NULL, LATER("postgres://...: registry, queue and memory shared by several machines; default: SQLite")),
    ROW(TEXT, "queue.in_progress_label", "in-progress", LATER("the label that an issue gets when it is queued")),
};

static const maki_config_setting model_rows[] = {
    ROW(TEXT, "llm.provider", NULL, HELP("the one of `llm` that is used; without one Maki works offline")),
    ROW(TEXT, "llm.*.model", NULL, HELP("its model")),
    AMOUNT(INTEGER, "llm.*.context_length", NULL, 1000, MANY, HELP("the window of that model, in tokens; wins over the table")),
    ROW(SECRET, "llm.*.api_key", NULL, HELP("its key; \"${OPENAI_API_KEY}\" keeps it out of the file")),
    ROW(URL, "llm.*.base_url", NULL, HELP("where it is; may end in / or /v1")),
    CHOICE("llm.*.protocol", NULL, "anthropic|openai|responses|ollama|gemini", HELP("what it speaks; known for the names that have defaults, else openai")),
    CHOICE("llm.*.tool_style", "tools", "tools|functions", HELP("functions: the older form of OpenAI's requests")),
    AMOUNT(INTEGER, "llm.*.max_tokens", NULL, 1, MANY, HELP("of the window kept free for its answer, at most a quarter; default: 8192")),
    AMOUNT(TIME, "llm.*.timeout", "10m", 1000, DAY_MS, HELP("longest wait for a provider that sends nothing")),
};

static const maki_config_setting agent_rows[] = {
    AMOUNT(INTEGER, "agents.*.contextWindow", NULL, 1000, MANY, HELP("the window, in tokens, when neither model nor configuration say it")),
    AMOUNT(INTEGER, "agents.*.maxTurns", NULL, 0, 1000000, HELP("one more turn limit; 0 is none")),
    ROW(FLAG, "agents.*.pruning.enabled", "false", HELP("true: this agent's policy is clawdbot, with these values")),
    AMOUNT(NUMBER, "agents.*.pruning.softTrimThreshold", "0.3", 0, 1, HELP("share of the window from which old messages are summarised")),
    AMOUNT(NUMBER, "agents.*.pruning.hardClearThreshold", "0.5", 0, 1, HELP("share of the window from which they are left out")),
    AMOUNT(INTEGER, "agents.*.pruning.keepLastMessages", "3", 1, 1000, HELP("newest messages that stay")),
    ROW(POLICY, "agents.*.policy", NULL, HELP("`policy` of this agent")),
    ROW(TEXT, "agents.*.provider", NULL, HELP("llm.provider of this agent")),
    ROW(TEXT, "agents.*.model", NULL, HELP("its model")),
    AMOUNT(INTEGER, "agents.*.maxTokens", NULL, 1, MANY, HELP("the longest answer; so much of the window is kept free for it")),
    CHOICE("agents.*.thinking", NULL, "off|minimal|low|medium|high", HELP("how much the model thinks before it answers")),
    CHOICE("agents.*.scope", "per-sender", "global|per-group|per-sender", HELP("who shares a session")),
    ROW(TEXT, "agents.*.workspace", NULL, HELP("the directory of AGENTS.md, SOUL.md, TOOLS.md, IDENTITY.md, USER.md and README.md, which become its system prompt; relative to the working directory, or ~/")),
    AMOUNT(INTEGER, "agents.*.bootstrapMaxChars", NULL, 1, 1000000, HELP("a longer one of these files is cut to 70 % head and 20 % tail; default: 20000, IDENTITY.md 5000, USER.md and README.md 10000")),
    AMOUNT(INTEGER, "agents.*.bootstrapTotalMaxChars", NULL, 64, 6000000, HELP("of all these files together; those beyond it are left out")),
    ROW(TEXT, "agents.*.guidelines", NULL, HELP("the section `guidelines` of its system prompt; a short one is built in, \"\" leaves it out")),
    CHOICE("agents.*.promptMode", NULL, "full|minimal|none", HELP("how much of the system prompt it gets: all, identity with instructions and tools, or identity only; default: full, minimal for sub-agents (agent:ID:subagent:...)")),
    CHOICE("agents.*.timestamp", "date", "off|date|time", HELP("what the end of the system prompt says of the present; with time the provider's cache holds for a minute only")),
    ROW(LIST, "agents.*.skills", NULL, LATER("skills that are on")),
    ROW(LIST, "agents.*.tools.allow", NULL, LATER("only these tools; a * stands for anything")),
    ROW(LIST, "agents.*.tools.deny", NULL, LATER("none of these tools")),
};

static const maki_config_setting memory_rows[] = {
    ROW(FLAG, "memory.enabled", "true", LATER("search the memory before each request")),
    CHOICE("memory.storage", "sqlite-vec", "sqlite-vec|lancedb|pgvector", LATER("where vectors are kept; lancedb is not built in and reads as sqlite-vec")),
    CHOICE("memory.embedding.provider", "local", "openai|gemini|ollama|local", LATER("who makes vectors of texts; any OpenAI-compatible server is openai with a base_url")),
    ROW(TEXT, "memory.embedding.model", NULL, LATER("its model; default: text-embedding-3-small (openai), gemini-embedding-001")),
    ROW(SECRET, "memory.embedding.api_key", NULL, LATER("by default that of `llm`")),
    ROW(URL, "memory.embedding.base_url", NULL, LATER("by default that of `llm`")),
    AMOUNT(INTEGER, "memory.embedding.dimensions", NULL, 1, 65536, LATER("of its vectors; default: what the model gives")),
    AMOUNT(INTEGER, "memory.search.topK", "10", 1, 1000, LATER("results of a search")),
    AMOUNT(NUMBER, "memory.search.semanticWeight", "0.7", 0, 1, LATER("weight of the vectors' similarity")),
    AMOUNT(NUMBER, "memory.search.keywordWeight", "0.3", 0, 1, LATER("weight of the words found")),
    AMOUNT(NUMBER, "memory.search.threshold", "0.7", 0, 1, LATER("least similarity of a result that no word was found in")),
    AMOUNT(INTEGER, "memory.chunk.tokens", "400", 16, 8192, LATER("of a piece that is remembered")),
    AMOUNT(INTEGER, "memory.chunk.overlap", "80", 0, 4096, LATER("tokens that two neighbours share")),
    ROW(LIST, "memory.paths", NULL, LATER("Markdown files and directories to remember")),
    ROW(FLAG, "memory.sessions", "true", LATER("remember what was said in sessions")),
    ROW(FLAG, "memory.mask_secrets", "true", LATER("what looks like a key is masked before it is remembered")),
};

static const maki_config_setting context_rows[] = {
    AMOUNT(INTEGER, "evidence.max_age_ms", "60000", 0, MANY, LATER("older observations are left out; 0 shows all")),
    AMOUNT(INTEGER, "tools.budget_tokens", "2000", 0, MANY, LATER("tokens that the descriptions of tools may take")),
    ROW(FLAG, "checkpoints.enabled", "true", LATER("keep snapshots of the workspace")),
    CHOICE("checkpoints.rewind_files", "ask", "ask|always|never", LATER("does a rewind take the files along? ask: where a person can answer, else never")),
    AMOUNT(TIME, "checkpoints.timeout", "15s", 1000, 600000, LATER("to make the first one; then checkpoints are off for that task")),
    ROW(LIST, "checkpoints.exclude", NULL, LATER("patterns of files to leave out, as in .gitignore")),
};

#define PART(t, h, rows) { t, h, rows, sizeof(rows) / sizeof((rows)[0]) }
static const maki_config_part parts[] = {
    PART("The daemon", "`maki serve`; its command line wins over the file.", daemon_rows),
    PART("When to free space", "Thresholds, windows and turn limits.", window_rows),
    PART("How to free space", "A policy is a list of steps: `policies: {mine: [{step: prune_tools}, {step: condense, keep: 5}]}`.", policy_rows),
    PART("Summaries", "Who writes them, and how.", summary_rows),
    PART("Tasks", "What `maki task`, `queue` and `worker` keep.", task_rows),
    PART("Models", "Providers by name: openai, anthropic, gemini, ollama, lmstudio, or one of your own.", model_rows),
    PART("Agents", "Agents by name; sessions without one belong to `default`.", agent_rows),
    PART("Memory", "What is remembered, and how it is found.", memory_rows),
    PART("Context and checkpoints", "Layers of the prompt, tools, snapshots of the workspace.", context_rows),
};

static const struct named_default { const char *path, *initial; } named_defaults[] = {
    { "turnLimits.perProvider.anthropic", "50" },
    { "turnLimits.perProvider.openai",    "100" },
    { "turnLimits.perProvider.gemini",    "80" },
    { "upstreams.anthropic.url",          "https://api.anthropic.com" },
    { "upstreams.openai.url",             "https://api.openai.com" },
    { "upstreams.gemini.url",             "https://generativelanguage.googleapis.com" },
    { "upstreams.ollama.url",             "http://127.0.0.1:11434" },
    { "upstreams.demo.url",               "http://127.0.0.1:4748" }, /* where maki demo's provider is */
    { "llm.openai.base_url",              "https://api.openai.com/" },
    { "llm.openai.api_key",               "${OPENAI_API_KEY:-}" },
    { "llm.anthropic.base_url",           "https://api.anthropic.com/" },
    { "llm.anthropic.api_key",            "${ANTHROPIC_API_KEY:-}" },
    { "llm.gemini.base_url",              "https://generativelanguage.googleapis.com/" },
    { "llm.gemini.api_key",               "${GEMINI_API_KEY:-}" },
    { "llm.ollama.base_url",              "http://127.0.0.1:11434/" },
    { "llm.lmstudio.base_url",            "http://127.0.0.1:1234/" },
    { "llm.openrouter.base_url",          "https://openrouter.ai/api/v1" },
    { "llm.openrouter.api_key",           "${OPENROUTER_API_KEY:-}" },
    { "llm.deepseek.base_url",            "https://api.deepseek.com/" },
    { "llm.deepseek.api_key",             "${DEEPSEEK_API_KEY:-}" },
    { "llm.zai.base_url",                 "https://api.z.ai/api/paas/v4" },
    { "llm.zai.api_key",                  "${ZAI_API_KEY:-}" },
};
/* clang-format on */

size_t maki_config_part_count(void)
{
    return sizeof parts / sizeof parts[0];
}

const maki_config_part *maki_config_part_at(size_t index)
{
    return index < maki_config_part_count() ? &parts[index] : NULL;
}

void maki_config_named_default(size_t index, const char **path, const char **initial)
{
    bool is_one = index < sizeof named_defaults / sizeof named_defaults[0];
    *path = is_one ? named_defaults[index].path : NULL;
    *initial = is_one ? named_defaults[index].initial : NULL;
}

const maki_config_setting *maki_setting_at(size_t index)
{
    for (size_t i = 0; i < maki_config_part_count(); i++) {
        if (index < parts[i].count) return &parts[i].settings[index];
        index -= parts[i].count;
    }
    return NULL;
}

const maki_config_setting *maki_setting_named(maki_str path)
{
    const maki_config_setting *row;
    for (size_t i = 0; (row = maki_setting_at(i)) != NULL; i++) {
        if (maki_str_is(path, maki_str_of(row->path))) return row;
    }
    return NULL;
}

/* ---- places ------------------------------------------------------------------------------------------ */

enum { SPLIT_MAX = 8 /* dots of a key: more of them are a name */ };

/* What of the row's path lies behind the place: its next segment; len 0: nothing. */
static maki_str segment_behind(const maki_setting_path *at, const maki_config_setting *row)
{
    maki_str path = maki_str_of(row->path);
    if (at->editor.len && !row->editor) return (maki_str){ "", 0 };
    if (!maki_str_starts(path, at->pattern)) return (maki_str){ "", 0 };
    path = maki_str_from(path, at->pattern.len);
    if (at->pattern.len) {
        if (path.len == 0 || path.ptr[0] != '.') return (maki_str){ "", 0 };
        path = maki_str_from(path, 1);
    }
    return maki_str_to(path, strcspn(path.ptr, "."));
}

/* The place behind `at` whose segment is exactly this one. */
static bool go(const maki_setting_path *at, maki_str segment, maki_setting_path *out)
{
    const maki_config_setting *row;
    for (size_t i = 0; (row = maki_setting_at(i)) != NULL; i++) {
        maki_str behind = segment_behind(at, row);
        if (behind.len == 0 || !maki_str_is(behind, segment)) continue;
        maki_setting_path next = *at; /* `out` may be `at` */
        next.pattern = (maki_str){ row->path, (size_t)(behind.ptr + behind.len - row->path) };
        *out = next;
        return true;
    }
    return false;
}

static bool is_number(maki_str text)
{
    return text.len > 0 && maki_str_only(text, "0123456789");
}

static bool go_by_name(const maki_setting_path *at, maki_str name, maki_setting_path *out)
{
    if (name.len == 0 || at->count == MAKI_SETTING_PATH_NAMES) return false;
    bool found = go(at, MAKI_LIT("*"), out) || (is_number(name) && go(at, MAKI_LIT("#"), out));
    if (found) out->names[out->count++] = name;
    return found;
}

/* One segment: a key of the table, an editor's prefix at the top, or a name. */
static bool go_one(const maki_setting_path *at, maki_str key, maki_setting_path *out)
{
    bool sign = maki_str_is(key, MAKI_LIT("*")) || maki_str_is(key, MAKI_LIT("#"));
    if (!sign && go(at, key, out)) return true;
    if (at->pattern.len == 0 && !at->editor.len &&
        (maki_str_is(key, MAKI_LIT("rooCode")) || maki_str_is(key, MAKI_LIT("roo-code")))) {
        *out = (maki_setting_path){ .pattern = { "", 0 }, .editor = key };
        return true;
    }
    return go_by_name(at, key, out);
}

static size_t dots(maki_str key)
{
    size_t n = 0;
    for (size_t i = 0; i < key.len; i++)
        n += key.ptr[i] == '.';
    return n;
}

bool maki_setting_path_step(const maki_setting_path *at, maki_str key, maki_setting_path *out)
{
    maki_setting_path from = *at, next;
    if (dots(key) == 0 || dots(key) > SPLIT_MAX) return go_one(&from, key, out);
    for (size_t i = 1; i + 1 < key.len; i++) {
        if (key.ptr[i] != '.' || !go_one(&from, maki_str_to(key, i), &next)) continue;
        if (maki_setting_path_step(&next, maki_str_from(key, i + 1), out)) return true;
    }
    return go_by_name(&from, key, out);
}

bool maki_setting_path_of(maki_str path, maki_setting_path *out)
{
    maki_setting_path top = { .pattern = { "", 0 } };
    return maki_setting_path_step(&top, path, out);
}

const maki_config_setting *maki_setting_path_setting(const maki_setting_path *at)
{
    return maki_setting_named(at->pattern);
}

bool maki_setting_path_has(const maki_setting_path *at, const char *segment)
{
    maki_setting_path ignored;
    maki_str key;
    if (segment) return go(at, maki_str_of(segment), &ignored);
    return maki_setting_path_has(at, "*") || maki_setting_path_has(at, "#") ||
           maki_setting_path_key(at, 0, &key);
}

maki_str maki_setting_path_path(const maki_setting_path *at, maki_str pattern, maki_arena *arena)
{
    size_t capacity = pattern.len + 1, fill = 0, used = 0;
    for (size_t i = 0; i < at->count; i++)
        capacity += at->names[i].len;
    char *text = maki_arena_get(arena, capacity);
    if (!text) return (maki_str){ "", 0 };
    for (size_t i = 0; i < pattern.len; i++) {
        bool star = pattern.ptr[i] == '*' || pattern.ptr[i] == '#';
        if (star && used < at->count) {
            memcpy(text + fill, at->names[used].ptr, at->names[used].len);
            fill += at->names[used++].len;
        } else {
            text[fill++] = pattern.ptr[i];
        }
    }
    return (maki_str){ text, fill };
}

bool maki_setting_path_key(const maki_setting_path *at, size_t n, maki_str *key)
{
    const maki_config_setting *row;
    maki_str last = { "", 0 };
    for (size_t i = 0; (row = maki_setting_at(i)) != NULL; i++) {
        maki_str segment = segment_behind(at, row);
        if (segment.len == 0 || strchr("*#", segment.ptr[0]) || maki_str_is(segment, last))
            continue;
        last = segment; /* rows with one beginning stand together */
        if (n-- > 0) continue;
        *key = segment;
        return true;
    }
    return false;
}
