/* prompt_test.c -- the system prompt of a turn: files of a workspace, settings, and what the session says of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str_util.h"
#include "engine_kit.h"
#include "tap.h"

static bool has(const char *text, const char *part)
{
    if (text && strstr(text, part)) return true;
    fprintf(stderr, "# no \"%s\" in: %.900s\n", part, text ? text : "(nothing)");
    return false;
}

static size_t times(const char *text, const char *part)
{
    size_t n = 0;
    while (text && (text = strstr(text, part)) != NULL) {
        n++;
        text += strlen(part);
    }
    return n;
}

/* ---- the workspace ---------------------------------------------------------------------------------------- */

static char workspace[300];

static void put_file(const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", workspace, name);
    directory_write(path, maki_str_of(text));
}

static void drop_file(const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", workspace, name);
    if (unlink(path) != 0) (void)rmdir(path);
}

static const struct file_row {
    const char *name, *text;
} file_rows[] = {
    { "AGENTS.md", "必ず先に聞く。\n" },      { "SOUL.md", "静かな職人。" },
    { "TOOLS.md", "read_file は一度だけ。" }, { "IDENTITY.md", "名前は巻。🍙" },
    { "USER.md", "사용자는 김 선생님." },     { "README.md", "海苔巻きの本。" },
};

static void fill_workspace(void)
{
    for (size_t i = 0; i < COUNT(file_rows); i++)
        put_file(file_rows[i].name, file_rows[i].text);
}

/* The agent `default`, with more of its settings. */
static void configure(engine_kit *kit, const char *more)
{
    char text[2000];
    snprintf(text, sizeof text,
             "summary:\n  provider: offline\nagents:\n  default:\n    workspace: %s\n%s", workspace,
             more);
    engine_kit_configure(kit, text);
}

/* A turn in a fresh session; the request that the provider got. */
static char *say(engine_kit *kit, const char *session, const char *provider)
{
    CHECK_STATUS(engine_kit_say(kit, engine_kit_session(kit, session), provider, "作って"), MAKI_OK,
                 &kit->err);
    return engine_kit_body(kit, 0);
}

static void check_order(const char *body, const char *const *parts, size_t count)
{
    const char *at = body;
    for (size_t i = 0; i < count && at; i++) {
        const char *next = strstr(at, parts[i]);
        if (!CHECK(next != NULL)) fprintf(stderr, "# %s is not there, or too early\n", parts[i]);
        at = next;
    }
}

/* ---- what is sent -------------------------------------------------------------------------------------------- */

static void whole_prompt(engine_kit *kit, const char *provider)
{
    static const char *const order[] = {
        "## Identity (IDENTITY.md)\\n\\n名前は巻。🍙",
        "## Persona (SOUL.md)\\n\\n静かな職人。",
        "## Instructions (AGENTS.md)\\n\\n必ず先に聞く。\\n\\n##",
        "## Guidelines\\n\\nAnswer in the language of the user.",
        "## Tools\\n\\n- read_file",
        "## Use of tools (TOOLS.md)\\n\\nread_file は一度だけ。",
        "## Workspace\\n\\n/",
        "## Project (README.md)\\n\\n海苔巻きの本。",
        "## Runtime\\n\\nagent=default | model=fake",
        "## User (USER.md)\\n\\n사용자는 김 선생님.",
        "呼び手の言葉",
        "## Date\\n\\n20",
    };
    maki_str callers = MAKI_LIT("呼び手の言葉");
    char name[64];
    tap_row("agents.*.workspace: its files are in the request, in %s's form", provider);
    snprintf(name, sizeof name, "whole-%s", provider);
    kit->request.tools = kit_tools;
    kit->request.system = &callers;
    kit->request.system_count = 1;
    char *body = say(kit, name, provider);
    check_order(body, order, COUNT(order));
    CHECK_EQ(times(body, "## Date"), 1);
    CHECK(!strstr(body, "MISSING"));
    CHECK(kit->result.has_bootstrap);
    CHECK_CSTR(maki_bootstrap_state_name(kit->result.bootstrap[0].state), "whole");
    CHECK(kit->result.system_tokens > 100 && kit->result.system_tokens < kit->result.tokens);
    free(body);
    kit->request = (maki_turn_request){ .rounds = 0 };
}

static void one_text(engine_kit *kit)
{
    tap_row("one system message, for models that take no second");
    char *body = say(kit, "one", "openai");
    CHECK_EQ(times(body, "\"role\":\"system\""), 1);
    CHECK(has(body, "## Date"));
    free(body);
}

/* All that stands before the messages. */
static size_t prefix_of(const char *body)
{
    const char *at = strstr(body, "\"role\":\"user\"");
    return at ? (size_t)(at - body) : 0;
}

static void stable(engine_kit *kit)
{
    tap_row("turn by turn the prompt has the same bytes, until a file changes");
    char *first = say(kit, "stable", "openai"), *second = say(kit, "stable", "openai");
    size_t n = prefix_of(first);
    CHECK(n > 500 && prefix_of(second) == n && memcmp(first, second, n) == 0);
    put_file("SOUL.md", "賑やかな職人。");
    char *third = say(kit, "stable", "openai");
    CHECK(has(third, "賑やかな職人。"));
    char *events = engine_kit_file(kit, "events");
    CHECK_EQ(times(events, "\"type\":\"system\""), 2);
    fill_workspace();
    free(first);
    free(second);
    free(third);
    free(events);
}

/* ---- sub-agents and modes --------------------------------------------------------------------------------------- */

static void check_parts(engine_kit *kit, const char *const *in, const char *const *out)
{
    char *body = engine_kit_body(kit, 0);
    for (; *in; in++)
        CHECK(has(body, *in));
    for (; *out; out++) {
        if (!CHECK(!strstr(body, *out))) fprintf(stderr, "# there is %s\n", *out);
    }
    free(body);
}

static void modes(engine_kit *kit)
{
    static const char *const least_in[] = {
        "名前は巻。", "必ず先に聞く。", "## Tools (TOOLS.md)\\n\\n- read_file\\n\\nread_file は",
        NULL
    };
    static const char *const least_out[] = { "静かな職人", "海苔巻きの本", "김 선생님",
                                             "Guidelines", "## Date",      "## Runtime",
                                             NULL };
    static const char *const none_in[] = { "名前は巻。", NULL };
    static const char *const none_out[] = { "必ず先に聞く", "静かな職人", "一度だけ", "## Tools",
                                            NULL };
    tap_row("a sub-agent gets identity, instructions and tools only");
    kit->request.tools = kit_tools;
    kit->request.key = "agent:default:subagent:7";
    CHECK_STATUS(engine_kit_say(kit, NULL, "openai", "手伝って"), MAKI_OK, &kit->err);
    check_parts(kit, least_in, least_out);
    CHECK_CSTR(maki_bootstrap_state_name(kit->result.bootstrap[1].state), "unasked");
    tap_row("also when its session is named by its file");
    char path[MAKI_PATH_MAX];
    snprintf(path, sizeof path, "%s", kit->result.path);
    kit->request.key = NULL;
    CHECK_STATUS(engine_kit_say(kit, path, "openai", "もっと"), MAKI_OK, &kit->err);
    check_parts(kit, least_in, least_out);
    tap_row("agents.*.promptMode: minimal for any session");
    configure(kit, "    promptMode: minimal\n");
    free(say(kit, "minimal", "openai"));
    check_parts(kit, least_in, least_out);
    tap_row("agents.*.promptMode none: only who it is");
    configure(kit, "    promptMode: none\n");
    free(say(kit, "none", "openai"));
    check_parts(kit, none_in, none_out);
    kit->request = (maki_turn_request){ .rounds = 0 };
    configure(kit, "");
}

/* ---- limits ------------------------------------------------------------------------------------------------------- */

static void limits(engine_kit *kit)
{
    tap_row("agents.*.bootstrapMaxChars cuts each file to head and tail");
    put_file("AGENTS.md", "あいうえおかきくけこさしすせそ");
    configure(kit, "    bootstrapMaxChars: 10\n");
    char *body = say(kit, "each", "anthropic"), *events = engine_kit_file(kit, "events");
    CHECK(has(body,
              "## Instructions (AGENTS.md)\\n\\nあいうえおかき\\n\\n[...truncated...]\\n\\nせそ"));
    CHECK(has(body, "静かな職人。"));
    CHECK(has(events, "{\"file\":\"AGENTS.md\",\"state\":\"trimmed\",\"chars\":30,\"bytes\":45}"));
    CHECK(has(events, "{\"file\":\"SOUL.md\",\"state\":\"whole\",\"chars\":6,\"bytes\":18}"));
    CHECK(has(events, "\"trimmed\":3,\"messageTokens\"")); /* and TOOLS.md, USER.md */
    free(body);
    free(events);
    tap_row("agents.*.bootstrapTotalMaxChars: what comes too late is left out");
    configure(kit, "    bootstrapTotalMaxChars: 80\n");
    body = say(kit, "all", "anthropic");
    CHECK(has(body, "あいうえおかきくけこさしすせそ"));
    CHECK(has(body, "静かな職人。"));
    CHECK(!strstr(body, "名前は巻。"));
    CHECK(has(body, "## Identity (IDENTITY.md)\\n\\n[LEFT OUT] /"));
    CHECK(has(body, "/IDENTITY.md: there is no space left for it"));
    CHECK_CSTR(maki_bootstrap_state_name(kit->result.bootstrap[3].state), "left out");
    free(body);
    fill_workspace();
    configure(kit, "");
}

static void endless(engine_kit *kit)
{
    char path[400];
    tap_row("a file of a gigabyte, most of it a hole, is cut like any other");
    put_file("AGENTS.md", "");
    snprintf(path, sizeof path, "%s/AGENTS.md", workspace);
    char *page = calloc(100001, 1);
    memset(page, 'n', 100000);
    put_file("AGENTS.md", page);
    FILE *file = fopen(path, "r+b");
    CHECK(file && fseek(file, (1L << 30) - 100000, SEEK_SET) == 0 && fwrite(page, 1, 100000, file));
    if (file) fclose(file);
    free(page);
    char *body = say(kit, "endless", "openai");
    CHECK(has(body, "[...truncated...]"));
    CHECK_EQ(kit->result.bootstrap[0].units, 18021);
    free(body);
    fill_workspace();
}

/* ---- files that are not as they should be ------------------------------------------------------------------------- */

static void strange_files(engine_kit *kit)
{
    char path[400];
    tap_row("missing files are reported to the model, README.md is optional");
    drop_file("SOUL.md");
    drop_file("README.md");
    char *body = say(kit, "missing", "openai");
    CHECK(has(body, "## Persona (SOUL.md)\\n\\n[MISSING] Expected at: /"));
    CHECK(has(body, "/SOUL.md\\n\\n"));
    CHECK(!strstr(body, "README.md"));
    free(body);
    tap_row("a pipe, a directory, a link to a secret: reported, not read, and the turn goes on");
    drop_file("AGENTS.md");
    drop_file("USER.md");
    snprintf(path, sizeof path, "%s/SOUL.md", workspace);
    CHECK_EQ(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/USER.md", workspace);
    CHECK_EQ(mkdir(path, 0700), 0);
    directory_write(directory_file(&kit->files, "id_rsa"), MAKI_LIT("秘密の鍵"));
    snprintf(path, sizeof path, "%s/AGENTS.md", workspace);
    CHECK_EQ(symlink(directory_file(&kit->files, "id_rsa"), path), 0);
    put_file("TOOLS.md", "bad \xff byte");
    body = say(kit, "strange", "openai");
    CHECK(has(body, "/SOUL.md: it is a pipe, not a file"));
    CHECK(has(body, "[UNREADABLE] /"));
    CHECK(has(body, "/USER.md: it is a directory, not a file"));
    CHECK(has(body, "/AGENTS.md: it is a link that leads out of the workspace"));
    CHECK(has(body, "bad \xEF\xBF\xBD byte"));
    CHECK(!strstr(body, "秘密"));
    char *events = engine_kit_file(kit, "events");
    CHECK(has(events,
              "\"file\":\"SOUL.md\",\"state\":\"unread\",\"why\":\"it is a pipe, not a file\""));
    CHECK(kit->result.bootstrap[2].repaired);
    free(body);
    free(events);
    for (size_t i = 0; i < COUNT(file_rows); i++)
        drop_file(file_rows[i].name);
    fill_workspace();
}

static void no_workspace(engine_kit *kit)
{
    tap_row("a workspace that is not there: nothing is written");
    engine_kit_configure(kit, "agents:\n  default:\n    workspace: /no/such/仕事\n");
    const char *session = engine_kit_session(kit, "nowhere");
    CHECK_STATUS(engine_kit_say(kit, session, "openai", "いる？"), MAKI_NOTFOUND, &kit->err);
    CHECK(has(kit->err.msg, "the workspace /no/such/仕事: No such file"));
    CHECK_EQ(kit->result.rows, 0);
    tap_row("without a workspace the caller's texts are all there is");
    engine_kit_configure(kit, NULL);
    maki_str callers = MAKI_LIT("短く");
    kit->request.system = &callers;
    kit->request.system_count = 1;
    char *body = say(kit, "callers", "openai");
    CHECK(has(body, "{\"role\":\"system\",\"content\":\"短く\"}"));
    CHECK(!kit->result.has_bootstrap);
    free(body);
    kit->request = (maki_turn_request){ .rounds = 0 };
}

/* ---- other settings -------------------------------------------------------------------------------------------------- */

static int64_t at_night(const maki_clock *self)
{
    (void)self;
    return 1769470200000; /* 2026-01-26T23:30Z */
}

static void settings(engine_kit *kit)
{
    static const maki_clock night = { at_night };
    tap_row("agents.*.guidelines in place of the built-in ones, also without a workspace");
    configure(kit, "    guidelines: 敬語で答える\n");
    char *body = say(kit, "guided", "gemini");
    CHECK(has(body, "## Guidelines\\n\\n敬語で答える"));
    CHECK(!strstr(body, "Answer in the language"));
    free(body);
    configure(kit, "    guidelines: \"\"\n");
    body = say(kit, "unguided", "gemini");
    CHECK(!strstr(body, "Guidelines"));
    free(body);
    engine_kit_configure(kit, "agents:\n  default:\n    guidelines: 敬語で答える\n");
    body = say(kit, "only", "gemini");
    CHECK(has(body, "敬語で答える"));
    CHECK(!strstr(body, "MISSING") && !strstr(body, "## Workspace"));
    free(body);
    tap_row("agents.*.timestamp: the date, the time, or neither, at the very end");
    const maki_clock *before = kit->env.clock;
    kit->env.clock = &night;
    configure(kit, "");
    body = say(kit, "date", "openai");
    CHECK(has(body, "## Date\\n\\n2026-01-27 (UTC+09:00)\"}"));
    free(body);
    configure(kit, "    timestamp: time\n");
    body = say(kit, "time", "openai");
    CHECK(has(body, "## Date\\n\\n2026-01-27 08:30 (UTC+09:00)\"}"));
    free(body);
    maki_str callers = MAKI_LIT("手前\0奥");
    kit->request.system = &callers;
    kit->request.system_count = 1;
    body = say(kit, "behind", "openai");
    CHECK(has(body, "手前\\u0000奥\\n\\n## Date"));
    free(body);
    kit->request = (maki_turn_request){ .rounds = 0 };
    configure(kit, "    timestamp: off\n");
    body = say(kit, "off", "openai");
    CHECK(!strstr(body, "## Date"));
    free(body);
    kit->env.clock = before;
    configure(kit, "");
}

static void told_in_session(engine_kit *kit)
{
    tap_row("the session says which prompt is effective, and its tokens");
    free(say(kit, "told", "openai"));
    engine_kit_configure(kit, NULL); /* another process, as it were */
    configure(kit, "");
    free(say(kit, "told", "openai"));
    char *events = engine_kit_file(kit, "events");
    const char *said = strstr(events, "\",\"tokens\":"),
               *sent = strstr(events, "\"systemTokens\":");
    CHECK_EQ(times(events, "\"type\":\"system\""), 1);
    CHECK(has(events, "\"sha\":\""));
    if (CHECK(said && sent))
        CHECK_EQ(atoi(said + strlen("\",\"tokens\":")), atoi(sent + strlen("\"systemTokens\":")));
    free(events);
    engine_kit_configure(kit, NULL);
    free(say(kit, "told", "openai"));
    events = engine_kit_file(kit, "events");
    CHECK(has(events, "\"tokens\":0,\"toolTokens\":0"));
    CHECK_EQ(times(events, "\"type\":\"system\""), 2);
    free(events);
    configure(kit, "");
}

int main(int argc, char **argv)
{
    static engine_kit kit;
    setenv("TZ", "JST-9", 1);
    if (!engine_kit_open(&kit, argc, argv, NULL)) return tap_end();
    snprintf(workspace, sizeof workspace, "%s", directory_file(&kit.files, "仕事"));
    CHECK_EQ(mkdir(workspace, 0700), 0);
    fill_workspace();
    configure(&kit, "");
    for (size_t i = 0; i < KIT_PROVIDERS; i++)
        whole_prompt(&kit, kit_providers[i]);
    one_text(&kit);
    stable(&kit);
    modes(&kit);
    limits(&kit);
    endless(&kit);
    strange_files(&kit);
    settings(&kit);
    told_in_session(&kit);
    no_workspace(&kit);
    engine_kit_close(&kit);
    return tap_end();
}
