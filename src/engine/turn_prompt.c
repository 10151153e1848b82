/* turn_prompt.c -- the system prompt of a turn: bootstrap files of the agent's workspace, what else it is told, and the
 * caller's texts.
 *
 * Read anew for each turn, once: the requests of one turn begin with the same bytes, and so do those of the next as long
 * as nobody changed a file. */
#include <stdio.h>
#include <string.h>

#include "assemble/prompt.h"
#include "base/hash.h"
#include "base/json_build.h"
#include "base/json_print.h"
#include "base/str.h"
#include "base/text.h"
#include "engine/turn_internal.h"

enum {
    SETTING_MAX = MAKI_ID_MAX + 80,
    CAPACITY_MIN = 64 /* units: what is left of the limit of all files is not worth a file */
};

/* One prompt being made. */
typedef struct making {
    maki_turn_work *w;
    maki_workspace workspace;
    maki_str directory; /* its path as the model is told it: UTF-8 in any case */
    maki_prompt_parts in;
} making;

static const char *setting_of(const maki_turn_work *w, const char *name, char path[SETTING_MAX])
{
    snprintf(path, SETTING_MAX, "agents.%s.%s", w->agent, name);
    return path;
}

static maki_str text_of(const maki_turn_work *w, const char *name)
{
    char path[SETTING_MAX];
    return maki_config_text(w->options->config, setting_of(w, name, path));
}

static uint64_t number_of(const maki_turn_work *w, const char *name)
{
    char path[SETTING_MAX];
    return (uint64_t)maki_config_integer(w->options->config, setting_of(w, name, path));
}

static bool is_set(const maki_turn_work *w, const char *name)
{
    char path[SETTING_MAX];
    return maki_config_is_set(w->options->config, setting_of(w, name, path));
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static void warn(const maki_turn_work *w, const maki_boot_report *told)
{
    maki_str why = told->repaired ? MAKI_LIT("it is not UTF-8 throughout") : maki_str_of(told->why);
    maki_kv values[] = { MAKI_KV_S("agent", maki_str_of(w->agent)),
                         MAKI_KV_S("file", maki_str_of(told->name)), MAKI_KV_S("why", why) };
    if (told->repaired || told->why[0])
        maki_log_event(w->options->logger, MAKI_WARN, "bootstrap_file", values, 3);
}

/* What stands in the place of a text: the model should not take silence for consent. */
static maki_str stand_in(making *m, const maki_bootstrap_file *file, const maki_boot_report *told)
{
    maki_str directory = m->directory.len > 1 ? m->directory : (maki_str){ "", 0 };
    if (told->state == MAKI_BOOT_MISSING && file->expected)
        return maki_arena_print(&m->w->arena, "[MISSING] Expected at: %.*s/%s", (int)directory.len,
                                directory.ptr, file->name);
    if (told->why[0])
        return maki_arena_print(&m->w->arena, "[%s] %.*s/%s: %s",
                                told->state == MAKI_BOOT_UNREADABLE ? "UNREADABLE" : "LEFT OUT",
                                (int)directory.len, directory.ptr, file->name, told->why);
    return (maki_str){ "", 0 };
}

/* The tools themselves come first, where both go into one section. */
static void put_file(making *m, maki_prompt_at at, const char *file, maki_str text)
{
    maki_prompt_part *part = &m->in.parts[at];
    if (part->text.len && text.len)
        text = maki_arena_print(&m->w->arena, "%.*s\n\n%.*s", (int)part->text.len, part->text.ptr,
                                (int)text.len, text.ptr);
    if (text.len) *part = (maki_prompt_part){ text, file };
}

static maki_status read_files(making *m, maki_err *err)
{
    maki_turn_work *w = m->w;
    uint64_t each = number_of(w, "bootstrapMaxChars"),
             left = number_of(w, "bootstrapTotalMaxChars");
    bool limited = left > 0;
    for (size_t i = 0; i < MAKI_BOOTSTRAP_COUNT; i++) {
        const maki_bootstrap_file *file = &maki_bootstrap_files[i];
        maki_boot_report *told = &w->result->bootstrap[i];
        uint64_t most = each ? each : file->max_units;
        maki_prompt_at at;
        maki_str text;
        told->name = file->name;
        if (!maki_bootstrap_section(file, m->in.mode, &at)) continue;
        if (limited && most > left) most = left < CAPACITY_MIN ? 0 : left;
        maki_status st =
            maki_workspace_read(&m->workspace, file, most, &w->arena, told, &text, err);
        if (st != MAKI_OK) return st;
        warn(w, told);
        left -= told->units < left ? told->units : left;
        put_file(m, at, file->name, text.len ? text : stand_in(m, file, told));
    }
    w->result->has_bootstrap = true;
    return maki_arena_status(&w->arena, err);
}

/* ---- what else it is told ----------------------------------------------------------------------------------------- */

static const char usual_guidelines[] =
    "Answer in the language of the user. Be brief, and exact where it matters. Say what you do not know instead of "
    "guessing. Ask before you do what cannot be undone.";

static const char *thinking_name(maki_thinking level)
{
    static const char *const names[] = { "", "off", "minimal", "low", "medium", "high" };
    return names[level];
}

static void put(making *m, maki_prompt_at at, maki_str text)
{
    m->in.parts[at].text = text;
}

static maki_status put_rest(making *m, maki_err *err)
{
    maki_turn_work *w = m->w;
    const maki_clock *clock = w->options->env->clock;
    char moment[MAKI_TIMESTAMP_MAX];
    maki_str how = text_of(w, "timestamp"), tools = { "", 0 };
    maki_status st = maki_prompt_tools(w->request->tools, &w->arena, &tools, err);
    if (st != MAKI_OK) return st;
    put(m, MAKI_AT_TOOLING, tools);
    put(m, MAKI_AT_GUIDELINES,
        is_set(w, "guidelines") ? text_of(w, "guidelines") : maki_str_of(usual_guidelines));
    put(m, MAKI_AT_WORKSPACE, m->directory);
    put(m, MAKI_AT_RUNTIME,
        maki_arena_print(&w->arena, "agent=%s | model=%s", w->agent, w->result->model));
    put(m, MAKI_AT_THINKING, maki_str_of(thinking_name(w->thinking)));
    put(m, MAKI_AT_CHANNEL, maki_str_of(w->turns->session.channel));
    maki_prompt_timestamp(clock->now_ms(clock),
                          maki_str_is(how, MAKI_LIT("off"))    ? MAKI_TIMESTAMP_OFF
                          : maki_str_is(how, MAKI_LIT("time")) ? MAKI_TIMESTAMP_TIME
                                                               : MAKI_TIMESTAMP_DATE,
                          moment);
    put(m, MAKI_AT_TIMESTAMP, maki_arena_copy(&w->arena, maki_str_of(moment)));
    return maki_arena_status(&w->arena, err);
}

/* ---- the whole of it ----------------------------------------------------------------------------------------------- */

/* agent:AGENT:subagent:ID */
static bool is_subagent(const maki_turn_work *w)
{
    const char *key =
        w->request->key && !w->request->path ? w->request->key : w->turns->session.key;
    const char *colon = strncmp(key, "agent:", 6) == 0 ? strchr(key + 6, ':') : NULL;
    return colon && strncmp(colon + 1, "subagent:", 9) == 0;
}

static maki_status choose_mode(making *m, maki_err *err)
{
    maki_str name = text_of(m->w, "promptMode");
    m->in.mode = is_subagent(m->w) ? MAKI_PROMPT_MINIMAL : MAKI_PROMPT_FULL;
    return name.len ? maki_prompt_mode_named(name, &m->in.mode, err) : MAKI_OK;
}

/* The prompt, the caller's texts, the time: it goes to the end of the last text, for some models take one only. */
static maki_status set_system(maki_turn_work *w, maki_str text, maki_str moment, maki_err *err)
{
    const maki_turn_request *q = w->request;
    maki_str *all = maki_arena_array(&w->arena, q->system_count + 1, sizeof *all);
    if (!all) return maki_arena_status(&w->arena, err);
    w->system = all;
    if (text.len) all[w->system_count++] = text;
    for (size_t i = 0; i < q->system_count; i++)
        all[w->system_count++] = q->system[i];
    if (moment.len && w->system_count) {
        maki_str *last = &all[w->system_count - 1];
        char *both = maki_arena_get(&w->arena, last->len + 2 + moment.len);
        if (!both) return maki_arena_status(&w->arena, err);
        memcpy(both, last->ptr, last->len); /* a caller's text may have NUL in it */
        memcpy(both + last->len, "\n\n", 2);
        memcpy(both + last->len + 2, moment.ptr, moment.len);
        *last = (maki_str){ both, last->len + 2 + moment.len };
    }
    return maki_arena_status(&w->arena, err);
}

static maki_status open_workspace(making *m, maki_err *err)
{
    maki_str given = text_of(m->w, "workspace");
    if (given.len == 0) return MAKI_OK;
    maki_status st = maki_workspace_open(m->w->options->env, given, &m->workspace, err);
    m->directory = maki_str_of(m->workspace.path);
    if (!maki_utf8_valid(m->directory, NULL)) m->directory = given;
    return st;
}

maki_status maki_turn_prompt(maki_turn_work *w, maki_err *err)
{
    making m = { .w = w };
    maki_str text = { "", 0 }, moment = { "", 0 };
    maki_status st = open_workspace(&m, err);
    if (st != MAKI_OK) return st;
    if (m.directory.len || is_set(w, "guidelines")) {
        st = choose_mode(&m, err);
        if (st == MAKI_OK) st = put_rest(&m, err);
        if (st == MAKI_OK && m.directory.len) st = read_files(&m, err);
        if (st == MAKI_OK) st = maki_prompt_build(&m.in, &w->arena, &text, &moment, err);
    }
    return st == MAKI_OK ? set_system(w, text, moment, err) : st;
}

/* ---- what the session says of it ------------------------------------------------------------------------------------ */

/* Of the texts and the tools, each behind its length. */
static void hash_system(const maki_turn_work *w, char out[MAKI_SYSTEM_SHA])
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

/* As the proxy notes it: session.status, and with it the page and the chat, reports these tokens. */
maki_status maki_turn_note_system(maki_turn_work *w, maki_err *err)
{
    char sha[MAKI_SYSTEM_SHA];
    maki_json_build made;
    hash_system(w, sha);
    if (strcmp(sha, w->turns->noted) == 0) return MAKI_OK;
    maki_json_build_begin(&made, &w->arena, err);
    maki_jw_print(&made.w, "{'sha':%z,'tokens':%i,'toolTokens':%i", sha, w->system_tokens,
                  w->tool_tokens);
    maki_status st = maki_turn_note(w, "system", &made, err);
    if (st == MAKI_OK) memcpy(w->turns->noted, sha, sizeof sha);
    return st;
}
