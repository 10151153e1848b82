/* engine_kit.c -- see engine_kit.h. */
#include "engine_kit.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "../send/send_kit.h"
#include "base/str_util.h"
#include "tap.h"
#include "wire/content_part.h"

const char *const kit_providers[] = { "anthropic", "openai", "responses", "ollama", "gemini" };
const maki_str kit_tools = MAKI_LIT(
    "[{\"name\":\"read_file\",\"description\":\"ファイルを読む\",\"input_schema\":{\"type\":\"object\","
    "\"properties\":{\"path\":{\"type\":\"string\"}},\"required\":[\"path\"]}}]");

maki_protocol engine_kit_protocol(const char *provider)
{
    static const maki_protocol protocols[] = { MAKI_WIRE_ANTHROPIC, MAKI_WIRE_CHAT,
                                               MAKI_WIRE_RESPONSES, MAKI_WIRE_OLLAMA,
                                               MAKI_WIRE_GEMINI };
    for (size_t i = 0; i < KIT_PROVIDERS; i++) {
        if (strcmp(provider, kit_providers[i]) == 0) return protocols[i];
    }
    return MAKI_WIRE_NONE;
}

static void add(char *out, size_t capacity, maki_str text)
{
    size_t used = strlen(out), left = capacity - used - 1;
    size_t n = text.len < left ? text.len : left;
    memcpy(out + used, text.ptr, n);
    out[used + n] = '\0';
}

/* ---- callbacks ----------------------------------------------------------------------------------------- */

static maki_status on_delta(void *ctx, const maki_delta *piece, maki_err *err)
{
    engine_kit *kit = ctx;
    (void)err;
    if (piece->kind == MAKI_DELTA_TEXT) add(kit->text, sizeof kit->text, piece->text);
    if (++kit->deltas == kit->stop_after) kit->cancelled = true;
    return MAKI_OK;
}

static maki_status on_retry(void *ctx, unsigned nth, uint32_t pause_ms, const maki_err *why,
                            maki_err *err)
{
    engine_kit *kit = ctx;
    (void)nth, (void)pause_ms, (void)err;
    add(kit->retries, sizeof kit->retries, maki_str_of(why->code));
    add(kit->retries, sizeof kit->retries, MAKI_LIT(" "));
    return MAKI_OK;
}

static maki_status on_managing(void *ctx, const maki_manage_report *done, maki_err *err)
{
    engine_kit *kit = ctx;
    (void)err;
    add(kit->managing, sizeof kit->managing,
        done ? maki_str_of(maki_reason_name(done->reason)) : MAKI_LIT("..."));
    add(kit->managing, sizeof kit->managing, MAKI_LIT(" "));
    return MAKI_OK;
}

static maki_status on_call(void *ctx, const maki_turn_call *call, maki_buf *result, bool *failed,
                           maki_err *err)
{
    engine_kit *kit = ctx;
    (void)err;
    add(kit->called, sizeof kit->called, call->name);
    add(kit->called, sizeof kit->called, call->input);
    maki_buf_add(result, maki_str_of(kit->answer));
    *failed = kit->tool_fails;
    return MAKI_OK;
}

static maki_status on_row(void *ctx, uint64_t seq, maki_str row, maki_err *err)
{
    engine_kit *kit = ctx;
    (void)seq, (void)row, (void)err;
    kit->rows++;
    return MAKI_OK;
}

static bool is_cancelled(void *ctx)
{
    const engine_kit *kit = ctx;
    return kit->cancelled;
}

static void sleep_fast(void *ctx, uint32_t ms)
{
    (void)ctx, (void)ms;
}

/* ---- life ------------------------------------------------------------------------------------------------ */

static void write_config(engine_kit *kit, const char *path, const char *more)
{
    char text[8192];
    int n = snprintf(text, sizeof text, "llm:\n  provider: anthropic\n");
    for (size_t i = 0; i < KIT_PROVIDERS; i++) {
        const char *name = kit_providers[i];
        n +=
            snprintf(text + n, sizeof text - (size_t)n,
                     "  %s:\n    base_url: %s\n    api_key: sk-secret-0123456789\n    model: fake\n"
                     "    context_length: 32000\n    protocol: %s\n",
                     name, kit->url, name);
    }
    snprintf(text + n, sizeof text - (size_t)n,
             "  nowhere:\n    base_url: http://127.0.0.1:1\n    model: fake\n%s",
             more ? more : "summary:\n  provider: offline\n");
    directory_write(path, maki_str_of(text));
}

void engine_kit_configure(engine_kit *kit, const char *more)
{
    char path[300];
    snprintf(path, sizeof path, "%s", directory_file(&kit->files, "maki.yaml"));
    write_config(kit, path, more);
    maki_config_options options = { .size = sizeof options, .env = kit->env, .file = path };
    maki_turns_close(kit->turns);
    maki_config_close(kit->config);
    kit->turns = NULL;
    kit->config = NULL;
    CHECK_STATUS(maki_config_open(&options, &kit->config, &kit->err), MAKI_OK, &kit->err);
    kit->options.config = kit->config;
    CHECK_STATUS(maki_turns_open(&kit->options, &kit->turns, &kit->err), MAKI_OK, &kit->err);
}

bool engine_kit_open(engine_kit *kit, int argc, char **argv, const char *more)
{
    memset(kit, 0, sizeof *kit);
    directory_open(&kit->files);
    snprintf(kit->record, sizeof kit->record, "%s", directory_file(&kit->files, "record"));
    kit->env = maki_env_system();
    kit->answer = "海苔 = nori 🍙";
    kit->options = (maki_turns_options){ .env = &kit->env,
                                         .home = kit->files.path,
                                         .durability = MAKI_DURABILITY_AT_END,
                                         .sleep = sleep_fast };
    kit->calls = (maki_turn_callbacks){ kit,     on_delta, on_retry,    on_managing,
                                        on_call, on_row,   is_cancelled };
    signal(SIGPIPE, SIG_IGN);
    tap_row("the fake provider runs");
    kit->program = argc >= 2 ? argv[1] : "";
    if (!CHECK(send_kit_start(kit->program, kit->record, &kit->pid, kit->url))) return false;
    engine_kit_configure(kit, more);
    return kit->turns != NULL;
}

static void stop_provider(engine_kit *kit)
{
    if (kit->pid <= 0) return;
    kill(kit->pid, SIGTERM);
    waitpid(kit->pid, NULL, 0);
    kit->pid = 0;
}

void engine_kit_forget(engine_kit *kit)
{
    stop_provider(kit);
    CHECK(send_kit_start(kit->program, NULL, &kit->pid, kit->url));
    engine_kit_configure(kit, NULL);
}

void engine_kit_close(engine_kit *kit)
{
    maki_turns_close(kit->turns);
    maki_config_close(kit->config);
    stop_provider(kit);
    directory_close(&kit->files);
}

/* ---- turns ------------------------------------------------------------------------------------------------- */

const char *engine_kit_session(engine_kit *kit, const char *name)
{
    char file[128];
    snprintf(file, sizeof file, "%s.jsonl", name);
    return directory_file(&kit->files, file);
}

maki_status engine_kit_say(engine_kit *kit, const char *session, const char *provider,
                           const char *text)
{
    kit->request.path = session;
    kit->request.provider = maki_str_of(provider);
    kit->request.text = maki_str_of(text);
    kit->text[0] = kit->called[0] = kit->retries[0] = kit->managing[0] = '\0';
    kit->deltas = kit->rows = 0;
    kit->cancelled = false;
    kit->err = (maki_err){ .msg = "" };
    return maki_turn(kit->turns, &kit->request, &kit->calls, &kit->result, &kit->err);
}

/* ---- what is there afterwards -------------------------------------------------------------------------------- */

/* A file as a text that ends with NUL; "": there is none. */
static char *text_in(const char *path)
{
    maki_str text = directory_read(path);
    char *out = calloc(text.len + 1, 1);
    if (out && text.ptr) memcpy(out, text.ptr, text.len);
    free((void *)(uintptr_t)text.ptr);
    return out;
}

char *engine_kit_file(const engine_kit *kit, const char *part)
{
    char path[MAKI_PATH_MAX + 16];
    size_t stem = strlen(kit->result.path) - strlen(".jsonl");
    snprintf(path, sizeof path, "%.*s%s%s.jsonl", (int)stem, kit->result.path, part[0] ? "." : "",
             part);
    return text_in(path);
}

unsigned long engine_kit_requests(const engine_kit *kit)
{
    unsigned long newest = 0, number;
    DIR *dir = opendir(kit->record);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        if (sscanf(entry->d_name, "%lu.body", &number) == 1 && number > newest) newest = number;
    }
    if (dir) closedir(dir);
    return newest;
}

char *engine_kit_body(const engine_kit *kit, unsigned nth)
{
    return engine_kit_kept(kit, nth, "body");
}

char *engine_kit_kept(const engine_kit *kit, unsigned nth, const char *part)
{
    char path[400];
    unsigned long newest = engine_kit_requests(kit);
    if (newest <= nth) return NULL;
    snprintf(path, sizeof path, "%s/%06lu.%s", kit->record, newest - nth, part);
    return text_in(path);
}

/* ---- pairs --------------------------------------------------------------------------------------------------- */

enum { OPEN_MAX = 64 };

typedef struct pairing {
    char open[OPEN_MAX][128]; /* ids of calls without a result */
    size_t count;
    bool bad;
} pairing;

static void take_call(pairing *p, maki_str id)
{
    if (p->count == OPEN_MAX) return;
    snprintf(p->open[p->count++], sizeof p->open[0], "%.*s", (int)id.len, id.ptr);
}

static void take_result(pairing *p, maki_str id)
{
    for (size_t i = 0; i < p->count; i++) {
        if (!maki_str_equal(id, maki_str_of(p->open[i]))) continue;
        memmove(p->open[i], p->open[--p->count], sizeof p->open[0]);
        return;
    }
    p->bad = true;
}

/* Between a call and its result nobody else may speak. */
static maki_status take_row(void *ctx, const maki_wire_message *message, maki_err *err)
{
    pairing *p = ctx;
    maki_content_parts pieces = maki_content_parts_of_row(message->row);
    maki_content_part piece;
    (void)err;
    while (maki_content_parts_next(&pieces, &piece)) {
        if (piece.kind == MAKI_CONTENT_CALL) take_call(p, piece.id);
        if (piece.kind == MAKI_CONTENT_RESULT) take_result(p, piece.id);
        if (piece.kind == MAKI_CONTENT_TEXT && pieces.author == MAKI_AUTHOR_USER && p->count)
            p->bad = true;
    }
    return MAKI_OK;
}

bool engine_kit_paired(const engine_kit *kit, maki_protocol protocol, maki_str body)
{
    pairing p = { .count = 0 };
    maki_wire_request request;
    maki_err err = { .msg = "" };
    maki_status st =
        maki_wire_read(&kit->env, protocol, body, NULL, take_row, &p, &request, NULL, &err);
    return CHECK_STATUS(st, MAKI_OK, &err) && CHECK_EQ(p.count, 0) && CHECK(!p.bad);
}
