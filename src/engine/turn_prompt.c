/* turn_prompt.c -- build the system prompt of a turn: bootstrap files of the agent's workspace, other sections, and the
 * caller's texts.
 *
 * The files are read once for each turn: the requests of one turn begin with the same bytes, and so do those of the next
 * as long as no file changes.  A provider's cache depends on that. */
#include <stdio.h>
#include <string.h>

#include "assemble/prompt.h"
#include "base/hash.h"
#include "base/json_builder.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "base/text.h"
#include "engine/turn_internal.h"

enum { UNITS_MIN = 64 }; /* when less remains of the limit of all files, the next file is omitted */

/* A prompt being built. */
typedef struct prompt_builder {
    maki_turn_state *w;
    maki_workspace workspace;
    maki_str directory; /* its path as the model sees it: always UTF-8 */
    maki_prompt_parts in;
} prompt_builder;

static uint64_t number_of(const maki_turn_state *w, const char *name)
{
    return (uint64_t)maki_config_integer(w->options->config, maki_turn_setting(w, name).text);
}

static bool is_set(const maki_turn_state *w, const char *name)
{
    return maki_config_is_set(w->options->config, maki_turn_setting(w, name).text);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static void warn(const maki_turn_state *w, const maki_bootstrap_report *report)
{
    maki_str why =
        report->repaired ? MAKI_LIT("it is not UTF-8 throughout") : maki_str_of(report->why);
    maki_kv values[] = { MAKI_KV_S("agent", maki_str_of(w->agent)),
                         MAKI_KV_S("file", maki_str_of(report->name)), MAKI_KV_S("why", why) };
    if (report->repaired || report->why[0])
        maki_log_event(w->options->logger, MAKI_WARN, "bootstrap_file", values, 3);
}

/* The text in place of a file that was not read: the model should know that one is missing. */
static maki_str substitute(prompt_builder *m, const maki_bootstrap_file *file,
                           const maki_bootstrap_report *report)
{
    maki_str directory = m->directory.len > 1 ? m->directory : (maki_str){ "", 0 };
    if (report->state == MAKI_BOOTSTRAP_MISSING && file->expected)
        return maki_arena_print(&m->w->arena, "[MISSING] Expected at: %.*s/%s", (int)directory.len,
                                directory.ptr, file->name);
    if (report->why[0])
        return maki_arena_print(&m->w->arena, "[%s] %.*s/%s: %s",
                                report->state == MAKI_BOOTSTRAP_UNREADABLE ? "UNREADABLE"
                                                                           : "LEFT OUT",
                                (int)directory.len, directory.ptr, file->name, report->why);
    return (maki_str){ "", 0 };
}

/* In the section of the tools, their list comes before the file. */
static void set_file(prompt_builder *m, maki_section_id at, const char *file, maki_str text)
{
    maki_prompt_part *part = &m->in.parts[at];
    if (part->text.len && text.len)
        text = maki_arena_print(&m->w->arena, "%.*s\n\n%.*s", (int)part->text.len, part->text.ptr,
                                (int)text.len, text.ptr);
    if (text.len) *part = (maki_prompt_part){ text, file };
}

static maki_status read_files(prompt_builder *m, maki_err *err)
{
    maki_turn_state *w = m->w;
    uint64_t file_limit = number_of(w, "bootstrapMaxChars"),
             remaining = number_of(w, "bootstrapTotalMaxChars");
    bool limited = remaining > 0;
    for (size_t i = 0; i < MAKI_BOOTSTRAP_COUNT; i++) {
        const maki_bootstrap_file *file = &maki_bootstrap_files[i];
        maki_bootstrap_report *report = &w->result->bootstrap[i];
        uint64_t max = file_limit ? file_limit : file->max_units;
        maki_section_id at;
        maki_str text;
        report->name = file->name;
        if (!maki_bootstrap_section(file, m->in.mode, &at)) continue;
        if (limited && max > remaining) max = remaining < UNITS_MIN ? 0 : remaining;
        maki_status st =
            maki_workspace_read(&m->workspace, file, max, &w->arena, report, &text, err);
        if (st != MAKI_OK) return st;
        warn(w, report);
        remaining -= report->units < remaining ? report->units : remaining;
        set_file(m, at, file->name, text.len ? text : substitute(m, file, report));
    }
    w->result->has_bootstrap = true;
    return maki_arena_status(&w->arena, err);
}

/* ---- other sections ----------------------------------------------------------------------------------------- */

static const char default_guidelines[] =
    "Answer in the language of the user. Be brief, and exact where it matters. Say what you do not know instead of "
    "guessing. Ask before you do what cannot be undone.";

static maki_status set_other_sections(prompt_builder *m, maki_err *err)
{
    static const char *const levels[] = { "", "off", "minimal", "low", "medium", "high" };
    maki_turn_state *w = m->w;
    maki_prompt_part *parts = m->in.parts;
    const maki_clock *clock = w->options->env->clock;
    char timestamp[MAKI_TIMESTAMP_MAX];
    maki_str format = maki_turn_text(w, "timestamp");
    maki_status st =
        maki_prompt_tools(w->request->tools, &w->arena, &parts[MAKI_SECTION_TOOLING].text, err);
    if (st != MAKI_OK) return st;
    parts[MAKI_SECTION_GUIDELINES].text =
        is_set(w, "guidelines") ? maki_turn_text(w, "guidelines") : maki_str_of(default_guidelines);
    parts[MAKI_SECTION_WORKSPACE].text = m->directory;
    parts[MAKI_SECTION_RUNTIME].text =
        maki_arena_print(&w->arena, "agent=%s | model=%s", w->agent, w->result->model);
    parts[MAKI_SECTION_THINKING].text = maki_str_of(levels[w->thinking]);
    parts[MAKI_SECTION_CHANNEL].text = maki_str_of(w->turns->session.channel);
    maki_prompt_timestamp(clock->now_ms(clock),
                          maki_str_equal(format, MAKI_LIT("off"))    ? MAKI_TIMESTAMP_OFF
                          : maki_str_equal(format, MAKI_LIT("time")) ? MAKI_TIMESTAMP_TIME
                                                                     : MAKI_TIMESTAMP_DATE,
                          timestamp);
    parts[MAKI_SECTION_TIMESTAMP].text = maki_arena_copy(&w->arena, maki_str_of(timestamp));
    return maki_arena_status(&w->arena, err);
}

/* ---- the system prompt ----------------------------------------------------------------------------------------------- */

/* agent:AGENT:subagent:ID */
static bool is_subagent(const maki_turn_state *w)
{
    const char *key =
        w->request->key && !w->request->path ? w->request->key : w->turns->session.key;
    const char *colon = strncmp(key, "agent:", 6) == 0 ? strchr(key + 6, ':') : NULL;
    return colon && strncmp(colon + 1, "subagent:", 9) == 0;
}

static maki_status choose_mode(prompt_builder *m, maki_err *err)
{
    maki_str name = maki_turn_text(m->w, "promptMode");
    m->in.mode = is_subagent(m->w) ? MAKI_PROMPT_MINIMAL : MAKI_PROMPT_FULL;
    return name.len ? maki_prompt_mode_parse(name, &m->in.mode, err) : MAKI_OK;
}

/* The prompt, then the caller's texts.  The timestamp is appended to the last text, because some models accept only
 * one. */
static maki_status set_system(maki_turn_state *w, maki_str text, maki_str timestamp, maki_err *err)
{
    const maki_turn_request *q = w->request;
    maki_str *texts = maki_arena_array(&w->arena, q->system_count + 1, sizeof *texts);
    if (!texts) return maki_arena_status(&w->arena, err);
    w->system = texts;
    if (text.len) texts[w->system_count++] = text;
    for (size_t i = 0; i < q->system_count; i++)
        texts[w->system_count++] = q->system[i];
    if (timestamp.len && w->system_count) {
        maki_str *last = &texts[w->system_count - 1];
        char *joined = maki_arena_get(&w->arena, last->len + 2 + timestamp.len);
        if (!joined) return maki_arena_status(&w->arena, err);
        memcpy(joined, last->ptr, last->len); /* a caller's text may contain NUL */
        memcpy(joined + last->len, "\n\n", 2);
        memcpy(joined + last->len + 2, timestamp.ptr, timestamp.len);
        *last = (maki_str){ joined, last->len + 2 + timestamp.len };
    }
    return maki_arena_status(&w->arena, err);
}

static maki_status open_workspace(prompt_builder *m, maki_err *err)
{
    maki_str path = maki_turn_text(m->w, "workspace");
    if (path.len == 0) return MAKI_OK;
    maki_status st = maki_workspace_open(m->w->options->env, path, &m->workspace, err);
    m->directory = maki_str_of(m->workspace.path);
    if (!maki_utf8_valid(m->directory, NULL)) m->directory = path;
    return st;
}

maki_status maki_turn_build_prompt(maki_turn_state *w, maki_err *err)
{
    prompt_builder m = { .w = w };
    maki_str text = { "", 0 }, timestamp = { "", 0 };
    maki_status st = open_workspace(&m, err);
    if (st != MAKI_OK) return st;
    if (m.directory.len || is_set(w, "guidelines")) {
        st = choose_mode(&m, err);
        if (st == MAKI_OK) st = set_other_sections(&m, err);
        if (st == MAKI_OK && m.directory.len) st = read_files(&m, err);
        if (st == MAKI_OK) st = maki_prompt_build(&m.in, &w->arena, &text, &timestamp, err);
    }
    return st == MAKI_OK ? set_system(w, text, timestamp, err) : st;
}

/* ---- the event `system` ------------------------------------------------------------------------------------ */

/* Hash the texts and the tools, each after its length. */
static void hash_system(const maki_turn_state *w, char out[MAKI_SYSTEM_SHA])
{
    unsigned char sha[MAKI_SHA256_LEN];
    maki_sha256 hash;
    out[0] = '\0';
    if (w->system_count == 0 && w->request->tools.len == 0) return;
    maki_sha256_init(&hash);
    for (size_t i = 0; i <= w->system_count; i++) {
        maki_str text = i < w->system_count ? w->system[i] : w->request->tools;
        char length[24];
        snprintf(length, sizeof length, "%zu ", text.len);
        maki_sha256_update(&hash, maki_str_of(length));
        if (text.len) maki_sha256_update(&hash, text);
    }
    maki_sha256_final(&hash, sha);
    maki_hex(sha, sizeof sha, out);
}

/* The same event as that of the proxy: session.status, the web page and the chat report its tokens. */
maki_status maki_turn_record_system(maki_turn_state *w, maki_err *err)
{
    char sha[MAKI_SYSTEM_SHA];
    maki_json_builder fields;
    hash_system(w, sha);
    if (strcmp(sha, w->turns->system_sha) == 0) return MAKI_OK;
    maki_json_builder_begin(&fields, &w->arena, err);
    maki_jw_print(&fields.w, "{'sha':%z,'tokens':%i,'toolTokens':%i", sha, w->system_tokens,
                  w->tool_tokens);
    maki_status st = maki_turn_add_event(w, "system", &fields, err);
    if (st == MAKI_OK) memcpy(w->turns->system_sha, sha, sizeof sha);
    return st;
}
