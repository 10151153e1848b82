/* settings.c -- the table of settings, and paths into it.
 *
 * docs/configuration.md is printed from the table (maki config reference).
 *
 * In:     a path as a user writes it; it may be any text.
 * Out:    the row of the table, with the names that its stars match.
 * Always: rows with a common prefix of segments are adjacent. */
#include "config/settings.h"

#include <string.h>

#include "base/str_util.h"
#include "config/policy_steps.h"

#define ROW(kind, p, start, ...)                                             \
    {                                                                        \
        .path = p, .type = MAKI_CONFIG_##kind, .initial = start, __VA_ARGS__ \
    }
#define RANGE(kind, p, start, low, high, ...) \
    ROW(kind, p, start, .min = low, .max = high, __VA_ARGS__)
#define CHOICE(p, start, names, ...) ROW(CHOICE, p, start, .choices = names, __VA_ARGS__)
#define ALIAS(p, target, ...)        ROW(ALIAS, p, NULL, .choices = target, __VA_ARGS__)

#define STEP_NAME(kind, name, ...)                          "|" #name
#define STEP_HELP(kind, name, fn, needs, keep, share, help) "; " #name ": " help
#define HELP(text)                                          .help = text
#define LATER(text)                                         .unused = true, .help = text
#define VARIABLE(name)                                      .variable = name
#define EDITOR                                              .editor = true
#define UNLIMITED                                           1e9
#define DAY_MS                                              86400000.0

/* clang-format off */
static const maki_config_setting daemon_rows[] = {
    ROW(ADDRESSES, "serve.listen", "127.0.0.1:4747", HELP("addresses to listen on; port 0 picks a free one; beyond this machine a token is required")),
    ROW(SECRET, "serve.token", NULL, VARIABLE("MAKI_TOKEN"), HELP("bearer token that clients must send")),
    ROW(LIST, "serve.allow_hosts", NULL, HELP("other values of the Host header that are accepted")),
    ROW(LIST, "serve.allow_origins", NULL, HELP("origins whose pages may send requests, https://example.com")),
    ROW(STRING, "serve.ca_file", NULL, HELP("CA certificates instead of the system's, for the daemon and `llm`")),
    RANGE(INTEGER, "serve.limits.connections", "16384", 1, 1000000, HELP("concurrent client connections")),
    RANGE(BYTES, "serve.limits.head", "64k", 1024, 1 << 20, HELP("largest head of a request")),
    RANGE(BYTES, "serve.limits.body", "1g", 1024, 1099511627776.0, HELP("largest body of a request, compressed or not")),
    RANGE(DURATION, "serve.timeouts.idle", "2m", 1, DAY_MS, HELP("for the next request on a connection")),
    RANGE(DURATION, "serve.timeouts.head", "30s", 1, DAY_MS, HELP("to receive a head")),
    RANGE(DURATION, "serve.timeouts.body", "1m", 1, DAY_MS, HELP("between two bytes of a body")),
    RANGE(DURATION, "serve.timeouts.write", "1m", 1, DAY_MS, HELP("for a client to read")),
    RANGE(DURATION, "serve.timeouts.connect", "10s", 1, DAY_MS, HELP("to connect to an upstream")),
    RANGE(DURATION, "serve.timeouts.upstream", "10m", 1, DAY_MS, HELP("between two bytes of an upstream")),
    RANGE(DURATION, "serve.timeouts.stop", "30s", 0, DAY_MS, HELP("to finish open requests on shutdown")),
    ALIAS("upstreams.*", "upstreams.*.url", HELP("a server to forward requests to, on one line; anthropic, openai, gemini and ollama have defaults")),
    ROW(URL, "upstreams.*.url", NULL, HELP("its base URL, with or without /v1")),
    ROW(LIST, "upstreams.*.models", NULL, HELP("requests for these models are forwarded to it; * matches anything")),
    CHOICE("log.level", "info", "debug|info|warn|error", HELP("the lowest level that is logged")),
};

static const maki_config_setting window_rows[] = {
    ROW(FLAG, "autoCondenseContext", "true", EDITOR, HELP("condense at the threshold, not only when the window is full")),
    RANGE(NUMBER, "autoCondenseContextPercent", "75", 5, 100, EDITOR, HELP("the threshold, in percent of the window; by default it depends on the model")),
    ALIAS("contextCompressionThreshold", "autoCondenseContextPercent", EDITOR, HELP("alias of the threshold")),
    RANGE(INTEGER, "autoCondenseContextTokens", NULL, 1, UNLIMITED, HELP("the threshold in tokens as well; the lower wins")),
    RANGE(NUMBER, "profileThresholds.*", NULL, 5, 100, EDITOR, .inherits = true, HELP("the threshold of one profile, named by its model; -1: the general one")),
    ROW(STRING, "currentProfileId", NULL, EDITOR, HELP("the profile in use; default: the model of the request")),
    RANGE(INTEGER, "messagesRetainCount", "3", 1, 1000, EDITOR, HELP("newest messages that a condense does not change; by default it depends on the model")),
    RANGE(NUMBER, "prices.*.input", NULL, 0, 999, HELP("dollars for a million input tokens of this model: whether another one is cheaper for summaries")),
    ROW(STRING, "profiles.*.condenseModel", NULL, HELP("the model that writes summaries for this one")),
    RANGE(NUMBER, "profiles.*.compressionRatio", NULL, 0.05, 0.99, HELP("ratio of tokens that a summary should save")),
    RANGE(INTEGER, "profiles.*.keepMessages", NULL, 1, 1000, HELP("messagesRetainCount of this profile")),
    RANGE(INTEGER, "profiles.*.thresholdTokens", NULL, 1, UNLIMITED, HELP("autoCondenseContextTokens of this profile")),
    RANGE(INTEGER, "profiles.*.contextWindow", NULL, 1000, UNLIMITED, HELP("the window of this model, in tokens")),
    RANGE(INTEGER, "contextWindow", NULL, 1000, UNLIMITED, HELP("the window, in tokens, of models whose window neither the provider nor the table has")),
    RANGE(INTEGER, "window.minimum", "16000", 1000, UNLIMITED, HELP("a smaller window is refused")),
    RANGE(INTEGER, "window.warning", "32000", 1000, UNLIMITED, HELP("a smaller window is logged as a warning")),
    RANGE(INTEGER, "window.default", "200000", 1000, UNLIMITED, HELP("the window if it is unknown")),
    RANGE(INTEGER, "turnLimits.global", "100", 0, 1000000, HELP("turns of a channel's session that are sent; the smallest limit applies, 0 is none")),
    RANGE(INTEGER, "turnLimits.perProvider.*", NULL, 0, 1000000, HELP("the same for one provider")),
    RANGE(INTEGER, "turnLimits.perUser", "30", 0, 1000000, HELP("the same for one sender")),
};

static const maki_config_setting policy_rows[] = {
    ROW(POLICY, "policy", NULL, HELP("how the context is reduced: maki, roo, clawdbot, files, one of `policies`, or a list of steps; default: files for tasks, else maki")),
    CHOICE("policies.*.#.step", NULL, &"" MAKI_STEP_MAP(STEP_NAME)[1], HELP("what this step does" MAKI_STEP_MAP(STEP_HELP))),
    CHOICE("policies.*.#.when", "needed", "needed|always|over_allowed|failed|failed_over_allowed", HELP("needed: the target is not reached yet; failed: the step before failed or saved too little; over_allowed: more than may be sent, repeated until it is not")),
    RANGE(NUMBER, "policies.*.#.from", NULL, 0, 1, HELP("only from this share of the window on; if every step has one, a run begins at the smallest of them")),
    RANGE(NUMBER, "policies.*.#.below", NULL, 0, 1, HELP("only below this share of the window")),
    RANGE(NUMBER, "policies.*.#.target", NULL, 0, 1, HELP("share of the window to reduce to; default: the smaller of 0.5 and 70 % of what may be sent")),
    RANGE(INTEGER, "policies.*.#.keep", NULL, 1, 1000000, HELP("newest messages that stay; for prune_tools, prune_repeats and shrink_code assistant messages with all after them")),
    RANGE(INTEGER, "policies.*.#.min_messages", NULL, 1, 1000000, HELP("with fewer messages the step does nothing")),
    RANGE(NUMBER, "policies.*.#.min_saving", NULL, 0, 1, HELP("a step that saves a smaller share has failed")),
    RANGE(INTEGER, "policies.*.#.min_window", NULL, 0, UNLIMITED, HELP("in smaller windows the step is skipped")),
    RANGE(NUMBER, "policies.*.#.share", NULL, 0.01, 0.99, HELP("share of the messages that truncate hides")),
    ROW(FLAG, "policies.*.#.must_reach", NULL, HELP("of a step that prunes: it is undone, with those before it, unless the target is reached")),
    RANGE(INTEGER, "policies.*.#.max_chars", NULL, 0, UNLIMITED, HELP("longer tool output is cut to its head and tail")),
    RANGE(INTEGER, "policies.*.#.head_chars", NULL, 0, UNLIMITED, HELP("characters of the head that stay")),
    RANGE(INTEGER, "policies.*.#.tail_chars", NULL, 0, UNLIMITED, HELP("characters of the tail that stay")),
    RANGE(INTEGER, "policies.*.#.min_prunable_chars", NULL, 0, UNLIMITED, HELP("shorter tool output, all together, is not cleared")),
    ROW(STRING, "policies.*.#.placeholder", NULL, HELP("replaces a tool output that was cleared")),
    ROW(FLAG, "policies.*.#.hard_clear", NULL, HELP("clear tool output when cutting it is not enough")),
    ROW(LIST, "policies.*.#.allow", NULL, HELP("only the output of these tools; * matches anything")),
    ROW(LIST, "policies.*.#.deny", NULL, HELP("never the output of these tools")),
};

static const maki_config_setting summary_rows[] = {
    ROW(STRING, "summary.provider", NULL, HELP("who writes summaries: offline, or one of `llm`; default: llm.provider, offline without an API key")),
    ROW(STRING, "summary.model", NULL, HELP("its model; default: the profile's condenseModel, else a cheaper one of the same provider, else its own")),
    ROW(STRING, "summary.prompt", "standard", HELP("standard (six headings), brief, or a prompt of your own, in which {messages} is replaced by the messages")),
    RANGE(INTEGER, "summary.max_tokens", "4096", 64, 1000000, HELP("maximum tokens of a summary")),
    RANGE(DURATION, "summary.timeout", "2m", 1000, DAY_MS, HELP("of the request; then the offline summary is used")),
    ROW(FLAG, "summary.background", "true", HELP("prepare a summary before it is needed")),
    RANGE(NUMBER, "summary.background_percent", NULL, 5, 100, HELP("percent of the window at which that begins; default: 10 below the threshold")),
    CHOICE("language", NULL, "en|ja|zh|ko", HELP("of built-in prompts and summaries; default: that of the text")),
};

static const maki_config_setting task_rows[] = {
    ROW(FLAG, "context_storage.enabled", "true", VARIABLE("CONTEXT_STORAGE_ENABLED"), LATER("keep the files of tasks; false: in a temporary directory only")),
    ROW(STRING, "context_storage.base_dir", "contexts", LATER("their directory, relative to the working directory")),
    RANGE(NUMBER, "context_storage.compression_threshold", "0.7", 0.05, 1, VARIABLE("COMPRESSION_THRESHOLD"), HELP("share of the window above which a task is condensed")),
    RANGE(INTEGER, "context_storage.keep_recent_messages", "5", 1, 1000, HELP("newest messages that are not changed")),
    RANGE(INTEGER, "context_storage.min_messages_to_summarize", "10", 1, 1000000, HELP("with fewer messages nothing is done")),
    RANGE(INTEGER, "context_storage.cleanup_days", "30", 0, 36500, VARIABLE("CLEANUP_DAYS"), LATER("days after which completed tasks are removed")),
    ROW(STRING, "context_storage.summary_prompt", NULL, HELP("the prompt for tasks; {messages} is replaced by the messages")),
    CHOICE("context_storage.token_count", "exact", "exact|chars4", LATER("how tokens are counted: by the tokenizer, or four characters a token")),
    ROW(SECRET, "database", NULL, LATER("postgres://...: registry, queue and memory shared by several machines; default: SQLite")),
    ROW(STRING, "queue.in_progress_label", "in-progress", LATER("the label that an issue gets when it is queued")),
};

static const maki_config_setting model_rows[] = {
    ROW(STRING, "llm.provider", NULL, HELP("the one of `llm` that is used; by default Maki works offline")),
    ROW(STRING, "llm.*.model", NULL, HELP("its model")),
    RANGE(INTEGER, "llm.*.context_length", NULL, 1000, UNLIMITED, HELP("the window of that model, in tokens; overrides the table")),
    ROW(SECRET, "llm.*.api_key", NULL, HELP("its API key; \"${OPENAI_API_KEY}\" keeps it out of the file")),
    ROW(URL, "llm.*.base_url", NULL, HELP("its base URL; may end in / or /v1")),
    CHOICE("llm.*.protocol", NULL, "anthropic|openai|responses|ollama|gemini", HELP("its API; known for the names that have defaults, else openai")),
    CHOICE("llm.*.tool_style", "tools", "tools|functions", HELP("functions: OpenAI's legacy `functions`")),
    RANGE(INTEGER, "llm.*.max_tokens", NULL, 1, UNLIMITED, HELP("of the window reserved for its reply, at most a quarter; default: 8192")),
    RANGE(DURATION, "llm.*.timeout", "10m", 1000, DAY_MS, HELP("between two bytes of a reply")),
};

static const maki_config_setting agent_rows[] = {
    RANGE(INTEGER, "agents.*.contextWindow", NULL, 1000, UNLIMITED, HELP("the window, in tokens, if neither model nor configuration define it")),
    RANGE(INTEGER, "agents.*.maxTurns", NULL, 0, 1000000, HELP("an additional turn limit; 0 is none")),
    ROW(FLAG, "agents.*.pruning.enabled", "false", HELP("true: this agent's policy is clawdbot, with these values")),
    RANGE(NUMBER, "agents.*.pruning.softTrimThreshold", "0.3", 0, 1, HELP("share of the window from which old messages are summarized")),
    RANGE(NUMBER, "agents.*.pruning.hardClearThreshold", "0.5", 0, 1, HELP("share of the window from which they are hidden")),
    RANGE(INTEGER, "agents.*.pruning.keepLastMessages", "3", 1, 1000, HELP("newest messages that stay")),
    ROW(POLICY, "agents.*.policy", NULL, HELP("`policy` of this agent")),
    ROW(STRING, "agents.*.provider", NULL, HELP("llm.provider of this agent")),
    ROW(STRING, "agents.*.model", NULL, HELP("its model")),
    RANGE(INTEGER, "agents.*.maxTokens", NULL, 1, UNLIMITED, HELP("maximum tokens of a reply, reserved in the window")),
    CHOICE("agents.*.thinking", NULL, "off|minimal|low|medium|high", HELP("the reasoning effort of the model")),
    CHOICE("agents.*.scope", "per-sender", "global|per-group|per-sender", HELP("who shares a session")),
    ROW(STRING, "agents.*.workspace", NULL, HELP("the directory of AGENTS.md, SOUL.md, TOOLS.md, IDENTITY.md, USER.md and README.md, which become its system prompt; relative to the working directory, or ~/")),
    RANGE(INTEGER, "agents.*.bootstrapMaxChars", NULL, 1, 1000000, HELP("a longer one of these files is truncated to 70 % head and 20 % tail; default: 20000, IDENTITY.md 5000, USER.md and README.md 10000")),
    RANGE(INTEGER, "agents.*.bootstrapTotalMaxChars", NULL, 64, 6000000, HELP("of all these files together; the rest is omitted")),
    ROW(STRING, "agents.*.guidelines", NULL, HELP("the section `guidelines` of its system prompt; default: a short one, \"\" omits it")),
    CHOICE("agents.*.promptMode", NULL, "full|minimal|none", HELP("how much of the system prompt it gets: all, identity with instructions and tools, or identity only; default: full, minimal for sub-agents (agent:ID:subagent:...)")),
    CHOICE("agents.*.timestamp", "date", "off|date|time", HELP("the date or time at the end of the system prompt; with time the provider's cache is valid for a minute only")),
    ROW(LIST, "agents.*.skills", NULL, LATER("enabled skills")),
    ROW(LIST, "agents.*.tools.allow", NULL, LATER("only these tools; * matches anything")),
    ROW(LIST, "agents.*.tools.deny", NULL, LATER("none of these tools")),
};

static const maki_config_setting memory_rows[] = {
    ROW(FLAG, "memory.enabled", "true", LATER("search the memory before each request")),
    CHOICE("memory.storage", "sqlite-vec", "sqlite-vec|lancedb|pgvector", LATER("where vectors are stored; lancedb is not built in and means sqlite-vec")),
    CHOICE("memory.embedding.provider", "local", "openai|gemini|ollama|local", LATER("who computes embeddings; any OpenAI-compatible server is openai with a base_url")),
    ROW(STRING, "memory.embedding.model", NULL, LATER("its model; default: text-embedding-3-small (openai), gemini-embedding-001")),
    ROW(SECRET, "memory.embedding.api_key", NULL, LATER("default: that of `llm`")),
    ROW(URL, "memory.embedding.base_url", NULL, LATER("default: that of `llm`")),
    RANGE(INTEGER, "memory.embedding.dimensions", NULL, 1, 65536, LATER("of its vectors; default: those of the model")),
    RANGE(INTEGER, "memory.search.topK", "10", 1, 1000, LATER("results of a search")),
    RANGE(NUMBER, "memory.search.semanticWeight", "0.7", 0, 1, LATER("weight of the similarity of vectors")),
    RANGE(NUMBER, "memory.search.keywordWeight", "0.3", 0, 1, LATER("weight of keywords")),
    RANGE(NUMBER, "memory.search.threshold", "0.7", 0, 1, LATER("minimum similarity of a result without keywords")),
    RANGE(INTEGER, "memory.chunk.tokens", "400", 16, 8192, LATER("of a chunk")),
    RANGE(INTEGER, "memory.chunk.overlap", "80", 0, 4096, LATER("tokens that adjacent chunks share")),
    ROW(LIST, "memory.paths", NULL, LATER("Markdown files and directories to index")),
    ROW(FLAG, "memory.sessions", "true", LATER("index the messages of sessions")),
    ROW(FLAG, "memory.mask_secrets", "true", LATER("mask what looks like a key before it is indexed")),
};

static const maki_config_setting context_rows[] = {
    RANGE(INTEGER, "evidence.max_age_ms", "60000", 0, UNLIMITED, LATER("older observations are omitted; 0 includes all")),
    RANGE(INTEGER, "tools.budget_tokens", "2000", 0, UNLIMITED, LATER("tokens that the descriptions of tools may take")),
    ROW(FLAG, "checkpoints.enabled", "true", LATER("keep snapshots of the workspace")),
    CHOICE("checkpoints.rewind_files", "ask", "ask|always|never", LATER("does a rewind restore files? ask: where a person can answer, else never")),
    RANGE(DURATION, "checkpoints.timeout", "15s", 1000, 600000, LATER("to create the first one; then checkpoints are disabled for that task")),
    ROW(LIST, "checkpoints.exclude", NULL, LATER("patterns of files to exclude, as in .gitignore")),
};

#define SECTION(t, h, rows) { t, h, rows, sizeof(rows) / sizeof((rows)[0]) }
static const maki_config_section sections[] = {
    SECTION("The daemon", "`maki serve`; its command line overrides the file.", daemon_rows),
    SECTION("When to reduce the context", "Thresholds, windows and turn limits.", window_rows),
    SECTION("How to reduce the context", "A policy is a list of steps: `policies: {mine: [{step: prune_tools}, {step: condense, keep: 5}]}`.", policy_rows),
    SECTION("Summaries", "Who writes them, and how.", summary_rows),
    SECTION("Tasks", "What `maki task`, `queue` and `worker` store.", task_rows),
    SECTION("Models", "Providers by name: openai, anthropic, gemini, ollama, lmstudio, or any other.", model_rows),
    SECTION("Agents", "Agents by name; sessions without one belong to `default`.", agent_rows),
    SECTION("Memory", "What is indexed, and how it is searched.", memory_rows),
    SECTION("Context and checkpoints", "Layers of the prompt, tools, snapshots of the workspace.", context_rows),
};

static const struct named_default { const char *path, *initial; } named_defaults[] = {
    { "turnLimits.perProvider.anthropic", "50" },
    { "turnLimits.perProvider.openai",    "100" },
    { "turnLimits.perProvider.gemini",    "80" },
    { "upstreams.anthropic.url",          "https://api.anthropic.com" },
    { "upstreams.openai.url",             "https://api.openai.com" },
    { "upstreams.gemini.url",             "https://generativelanguage.googleapis.com" },
    { "upstreams.ollama.url",             "http://127.0.0.1:11434" },
    { "upstreams.demo.url",               "http://127.0.0.1:4748" }, /* the provider of maki demo */
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

const maki_config_section *maki_config_section_at(size_t index)
{
    return index < sizeof sections / sizeof sections[0] ? &sections[index] : NULL;
}

void maki_config_named_default(size_t index, const char **path, const char **initial)
{
    bool exists = index < sizeof named_defaults / sizeof named_defaults[0];
    *path = exists ? named_defaults[index].path : NULL;
    *initial = exists ? named_defaults[index].initial : NULL;
}

const maki_config_setting *maki_setting_at(size_t index)
{
    const maki_config_section *section = sections;
    for (; section < sections + sizeof sections / sizeof sections[0]; section++) {
        if (index < section->count) return &section->settings[index];
        index -= section->count;
    }
    return NULL;
}

const maki_config_setting *maki_setting_find(maki_str path)
{
    const maki_config_setting *row;
    for (size_t i = 0; (row = maki_setting_at(i)) != NULL; i++) {
        if (maki_str_equal(path, maki_str_of(row->path))) return row;
    }
    return NULL;
}

/* ---- paths ------------------------------------------------------------------------------------------- */

enum { SPLIT_MAX = 8 /* dots of a key: one with more is a name */ };

/* The segment of the row's path that follows `at`; len 0: none. */
static maki_str segment_after(const maki_setting_path *at, const maki_config_setting *row)
{
    maki_str path = maki_str_of(row->path);
    if (at->editor.len && !row->editor) return (maki_str){ "", 0 };
    if (!maki_str_starts(path, at->pattern)) return (maki_str){ "", 0 };
    path = maki_str_skip(path, at->pattern.len);
    if (at->pattern.len) {
        if (path.len == 0 || path.ptr[0] != '.') return (maki_str){ "", 0 };
        path = maki_str_skip(path, 1);
    }
    return maki_str_prefix(path, strcspn(path.ptr, "."));
}

/* Append exactly this segment of the table to `at`; false: no row has it. */
static bool step_exact(const maki_setting_path *at, maki_str segment, maki_setting_path *out)
{
    const maki_config_setting *row;
    for (size_t i = 0; (row = maki_setting_at(i)) != NULL; i++) {
        maki_str next_segment = segment_after(at, row);
        if (next_segment.len == 0 || !maki_str_equal(next_segment, segment)) continue;
        maki_setting_path next = *at; /* `out` may be `at` */
        next.pattern =
            (maki_str){ row->path, (size_t)(next_segment.ptr + next_segment.len - row->path) };
        *out = next;
        return true;
    }
    return false;
}

static bool is_number(maki_str text)
{
    return text.len > 0 && maki_str_only(text, "0123456789");
}

/* Append a name that the user chose, which matches * or, if it is a number, #. */
static bool step_name(const maki_setting_path *at, maki_str name, maki_setting_path *out)
{
    if (name.len == 0 || at->count == MAKI_SETTING_PATH_NAMES) return false;
    bool found = step_exact(at, MAKI_LIT("*"), out) ||
                 (is_number(name) && step_exact(at, MAKI_LIT("#"), out));
    if (found) out->names[out->count++] = name;
    return found;
}

/* Append one segment: a key of the table, an editor's prefix at the root, or a name. */
static bool step_segment(const maki_setting_path *at, maki_str key, maki_setting_path *out)
{
    bool wildcard = maki_str_equal(key, MAKI_LIT("*")) || maki_str_equal(key, MAKI_LIT("#"));
    if (!wildcard && step_exact(at, key, out)) return true;
    if (at->pattern.len == 0 && !at->editor.len &&
        (maki_str_equal(key, MAKI_LIT("rooCode")) || maki_str_equal(key, MAKI_LIT("roo-code")))) {
        *out = (maki_setting_path){ .pattern = { "", 0 }, .editor = key };
        return true;
    }
    return step_name(at, key, out);
}

static size_t count_dots(maki_str key)
{
    size_t n = 0;
    for (size_t i = 0; i < key.len; i++)
        n += key.ptr[i] == '.';
    return n;
}

bool maki_setting_path_step(const maki_setting_path *at, maki_str key, maki_setting_path *out)
{
    maki_setting_path from = *at, next;
    if (count_dots(key) == 0 || count_dots(key) > SPLIT_MAX) return step_segment(&from, key, out);
    for (size_t i = 1; i + 1 < key.len; i++) {
        if (key.ptr[i] != '.' || !step_segment(&from, maki_str_prefix(key, i), &next)) continue;
        if (maki_setting_path_step(&next, maki_str_skip(key, i + 1), out)) return true;
    }
    return step_name(&from, key, out);
}

bool maki_setting_path_parse(maki_str path, maki_setting_path *out)
{
    maki_setting_path top = { .pattern = { "", 0 } };
    return maki_setting_path_step(&top, path, out);
}

const maki_config_setting *maki_setting_path_setting(const maki_setting_path *at)
{
    return maki_setting_find(at->pattern);
}

bool maki_setting_path_has(const maki_setting_path *at, const char *segment)
{
    maki_setting_path ignored;
    maki_str key;
    if (segment) return step_exact(at, maki_str_of(segment), &ignored);
    return maki_setting_path_has(at, "*") || maki_setting_path_has(at, "#") ||
           maki_setting_path_key(at, 0, &key);
}

maki_str maki_setting_path_format(const maki_setting_path *at, maki_str pattern, maki_arena *arena)
{
    size_t capacity = pattern.len + 1, fill = 0, next_name = 0;
    for (size_t i = 0; i < at->count; i++)
        capacity += at->names[i].len;
    char *text = maki_arena_get(arena, capacity);
    if (!text) return (maki_str){ "", 0 };
    for (size_t i = 0; i < pattern.len; i++) {
        bool star = pattern.ptr[i] == '*' || pattern.ptr[i] == '#';
        if (star && next_name < at->count) {
            memcpy(text + fill, at->names[next_name].ptr, at->names[next_name].len);
            fill += at->names[next_name++].len;
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
        maki_str segment = segment_after(at, row);
        if (segment.len == 0 || strchr("*#", segment.ptr[0]) || maki_str_equal(segment, last))
            continue;
        last = segment; /* rows with a common prefix are adjacent */
        if (n-- > 0) continue;
        *key = segment;
        return true;
    }
    return false;
}
