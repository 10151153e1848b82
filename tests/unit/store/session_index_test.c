/* session_index_test.c -- sessions.json is derived: it may be damaged, stale or locked, and nothing is lost. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "store/session_files.h"
#include "store/sessions.h"
#include "store_kit.h"
#include "tap.h"

#define HEADER(id, at, key)                                                         \
    "{\"type\":\"header\",\"version\":1,\"sessionId\":\"" id "\",\"createdAt\":" at \
    ",\"sessionKey\":\"" key "\"}\n"
#define USER \
    "{\"role\":\"user\",\"content\":\"こんにちは\",\"createdAt\":1700000001000,\"meta\":{\"sender\":\"さくら\"}}\n"
#define REPLY(m) "{\"role\":\"assistant\",\"content\":\"你好 🐟\",\"meta\":{\"model\":\"" m "\"}}\n"
#define USAGE(i, o)                                                                              \
    "{\"ev\":1,\"at\":2,\"ts\":1,\"type\":\"usage\",\"head\":\"\",\"input\":" i ",\"output\":" o \
    "}\n"
/* A summary that a model wrote, and an offline one. */
#define SUMMARY(type, i, o)                                                         \
    "{\"ev\":3,\"at\":2,\"ts\":1,\"type\":\"" type "\",\"head\":\"\",\"cost\":0.1," \
    "\"summarizer\":{\"model\":\"s-1\",\"input\":" i ",\"output\":" o "}}\n"
#define OFFLINE       "{\"ev\":4,\"at\":2,\"ts\":1,\"type\":\"condense\",\"head\":\"\",\"cost\":0}\n"
#define STATE(fields) "{\"ev\":2,\"at\":2,\"ts\":1,\"type\":\"session\",\"head\":\"\"," fields "}\n"

static void free_text(maki_str text)
{
    free((void *)(uintptr_t)text.ptr);
}

/* Four sessions: in the reference's form, and others. */
static void write_four(const kit *k)
{
    kit_session(k, "aaa",
                HEADER("aaa", "1700000000000", "agent:default:telegram:さくら") USER REPLY("m-1"),
                USAGE("100", "20") SUMMARY("prepared", "80", "9") USAGE("100", "3")
                    SUMMARY("condense", "20", "18") OFFLINE);
    kit_session(k, "bbb",
                HEADER("bbb", "1700000000001", "agent:default:slack:C1") USER REPLY("m-1")
                    USER REPLY("m-2"),
                STATE("\"overrides\":{\"thinking\":\"high\",\"maxTokens\":4096}")
                    STATE("\"state\":\"archived\""));
    kit_session(k, "session-ccc", HEADER("ccc", "1700000000002", "agent:default:slack:C1"), NULL);
    kit_session(k, "会議", USER, NULL);
}
static const char four[] =
    "aaa agent:default:telegram:さくら 2 300 50 m-1 active -\n"
    "bbb agent:default:slack:C1 4 0 0 m-2 archived {\"thinking\":\"high\",\"maxTokens\":4096}\n"
    "session-ccc agent:default:slack:C1 0 0 0 - active -\n"
    "会議 - 1 0 0 - active -\n";

static void check_four(kit *k)
{
    kit_all all;
    kit_read(k, &all);
    CHECK_STATUS(all.status, MAKI_OK, &all.err);
    CHECK_CSTR(all.text, four);
}

static bool is_whole(const kit *k)
{
    maki_str text = directory_read(k->view), value, entries;
    bool good = text.ptr && maki_json_check(text, &value, NULL) == MAKI_OK &&
                maki_json_get(value, MAKI_LIT("entries"), &entries) &&
                maki_json_count(entries) == 4;
    free_text(text);
    return good;
}

static void test_rebuilt(kit *k)
{
    kit_all all;
    maki_str text, entries, entry;
    tap_row("rebuilt from the transcripts, then read from the file");
    write_four(k);
    kit_read(k, &all);
    CHECK_CSTR(all.text, four);
    CHECK_EQ(all.report.all, 4);
    CHECK(all.report.rebuilt && all.report.written && !all.report.note[0]);
    CHECK(is_whole(k));
    kit_read(k, &all);
    CHECK_CSTR(all.text, four);
    CHECK(!all.report.rebuilt);
    CHECK_EQ(all.report.changed, 0);

    tap_row("an entry has the fields of the reference");
    text = directory_read(k->view);
    if (CHECK(maki_json_get(text, MAKI_LIT("entries"), &entries) &&
              maki_json_get(entries, MAKI_LIT("aaa"), &entry))) {
        maki_str front = maki_str_prefix(entry, entry.len < 120 ? entry.len : 120);
        CHECK(maki_str_contains(
            front, MAKI_LIT("{\"id\":\"aaa\",\"agentId\":\"default\",\"sessionKey\":\""
                            "agent:default:telegram:さくら\",\"createdAt\":1700000000000,")));
        CHECK(
            maki_str_contains(entry, MAKI_LIT("\"model\":\"m-1\",\"messageCount\":2,\"tokenUsage\":"
                                              "{\"input\":300,\"output\":50},\"overrides\":{},"
                                              "\"state\":\"active\"")));
    }
    free_text(text);
    struct stat st;
    CHECK(stat(k->view, &st) == 0 && (st.st_mode & 0777) == 0600);
}

/* ---- title, client, errors and steps ------------------------------------------------------------------- */

#define PERSON(text) "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}\n"
#define EVENT(type, fields) \
    "{\"ev\":1,\"at\":1,\"ts\":1700000000123,\"type\":\"" type "\",\"head\":\"\"" fields "}\n"
#define EXCHANGE EVENT("manifest", ",\"of\":\"exchange\"")
#define FAILURE \
    EXCHANGE EVENT("provider_error", ",\"status\":429,\"message\":\"slow \\\"down\\\"\"")
#define FAILED "{\"ts\":1700000000123,\"status\":429,\"message\":\"slow \\\"down\\\"\"}"

/* clang-format off */
static const struct shown_row {
    const char *name, *rows, *events, *title, *client; int errors; const char *last_error, *last_action;
} shown[] = {
    { "first words, one space between them", PERSON("Fix\\n\\n  the build"), NULL, "Fix the build", "", 0, "", "" },
    { "an agent's reminder before them", PERSON("<system-reminder>\\n日付\\n</system-reminder>\\n直してください"), NULL, "直してください", "", 0, "", "" },
    { "a message that is only a reminder", PERSON("<environment_context>x</environment_context>") PERSON("go on"), NULL, "go on", "", 0, "", "" },
    { "a tag that no table has, and words after it", PERSON("<facts>x</facts>") PERSON("go on"), NULL, "go on", "", 0, "", "" },
    { "only such a tag", PERSON("<div> is broken"), NULL, "<div> is broken", "", 0, "", "" },
    { "of a reply nothing", REPLY("m") PERSON("later"), NULL, "later", "", 0, "", "" },
    { "none", REPLY("m"), NULL, "", "", 0, "", "" },
    { "quotes and a backslash", PERSON("a \\\"b\\\" \\\\c"), NULL, "a \"b\" \\c", "", 0, "", "" },
    { "cut between two characters", PERSON("巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻"), NULL,
      "巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻巻", "", 0, "", "" },
    { "the client of the header", "{\"type\":\"header\",\"version\":1,\"client\":\"Claude Code\"}\n" PERSON("hi"), NULL, "hi", "Claude Code", 0, "", "" },
    { "the title of the header, of a fork", "{\"type\":\"header\",\"version\":1,\"title\":\"before\"}\n" PERSON("hi"), NULL, "before", "", 0, "", "" },
    { "a new name", PERSON("hi"), EVENT("session", ",\"sessionKey\":\"agent:default:dinner: 夕食\""), "dinner: 夕食", "", 0, "", "" },
    { "an error in the newest request", PERSON("hi"), EXCHANGE FAILURE, "hi", "", 1, FAILED, "" },
    { "one before it", PERSON("hi"), FAILURE FAILURE EXCHANGE, "hi", "", 2, "", "" },
    { "a step", PERSON("hi"), EVENT("prune", "") EVENT("pin", ""), "hi", "", 0, "", "{\"ts\":1700000000123,\"type\":\"prune\"}" },
};
/* clang-format on */

static maki_status copy_session(void *ctx, const maki_session *s, maki_err *err)
{
    (void)err;
    *(maki_session *)ctx = *s;
    return MAKI_OK;
}

static void test_shown(void)
{
    for (size_t i = 0; i < COUNT(shown); i++) {
        const struct shown_row *r = &shown[i];
        for (int again = 0; again < 2; again++) {
            kit k;
            maki_session s = { 0 };
            maki_session_index_report report;
            maki_err err;
            maki_session_index_query in = { .agent = "default", .fn = copy_session, .ctx = &s };
            kit_open(&k);
            in.home = k.home.path;
            tap_row("%s%s", r->name, again ? ", from the file" : "");
            kit_session(&k, "aaa", r->rows, r->events);
            for (int n = 0; n <= again; n++)
                CHECK_STATUS(maki_session_index_each(&k.fe.env, &in, &report, &err), MAKI_OK, &err);
            CHECK_EQ(report.changed, again ? 0 : 1);
            CHECK_TEXT(maki_session_title(&s), maki_str_of(r->title));
            CHECK_CSTR(s.client, r->client);
            CHECK_EQ(s.errors, r->errors);
            CHECK_CSTR(s.last_error, r->last_error);
            CHECK_CSTR(s.last_action, r->last_action);
            kit_close(&k);
        }
    }
}

static void test_title_later(kit *k)
{
    maki_session s = { 0 };
    maki_session_index_report report;
    maki_err err;
    maki_session_index_query in = {
        .home = k->home.path, .agent = "default", .fn = copy_session, .ctx = &s
    };
    tap_row("a title that comes with a later message");
    kit_session(k, "zzz", REPLY("m-1"), NULL);
    CHECK_STATUS(maki_session_index_each(&k->fe.env, &in, &report, &err), MAKI_OK, &err);
    CHECK_CSTR(s.title, "");
    kit_append(k, "zzz", ".jsonl", PERSON("now"));
    CHECK_STATUS(maki_session_index_each(&k->fe.env, &in, &report, &err), MAKI_OK, &err);
    CHECK_CSTR(s.title, "now");

    tap_row("an index without titles, of a former version, is read again");
    maki_str text = directory_read(k->view);
    char *title = text.ptr ? memmem(text.ptr, text.len, "\"title\"", 7) : NULL;
    if (CHECK(title != NULL)) {
        FILE *f = fopen(k->view, "w");
        memcpy(title, "\"titel\"", 7);
        fwrite(text.ptr, 1, text.len, f);
        fclose(f);
        CHECK_STATUS(maki_session_index_each(&k->fe.env, &in, &report, &err), MAKI_OK, &err);
        CHECK_CSTR(s.title, "now");
        CHECK_EQ(report.changed, 1);
    }
    free_text(text);
}

/* ---- queries ------------------------------------------------------------------------------------------- */

/* clang-format off */
static const struct query_row { const char *name; maki_session_query query; const char *ids; int all; } queries[] = {
    { "all, the newest first", { .limit = 9 }, "eee ddd ccc bbb aaa ", 5 },
    { "the first two", { .limit = 2 }, "eee ddd ", 5 },
    { "the next two", { .limit = 2, .offset = 2 }, "ccc bbb ", 5 },
    { "the last", { .limit = 2, .offset = 4 }, "aaa ", 5 },
    { "after the last", { .limit = 2, .offset = 5 }, "", 5 },
    { "of a model", { .limit = 9, .model = "m-2" }, "ddd ", 1 },
    { "of a client", { .limit = 9, .client = "Codex" }, "eee bbb ", 2 },
    { "of an agent", { .limit = 9, .agent = "other" }, "", 0 },
    { "archived", { .limit = 9, .state = MAKI_SESSIONS_ARCHIVED }, "ccc ", 1 },
    { "active", { .limit = 9, .state = MAKI_SESSIONS_ACTIVE, .offset = 1 }, "ddd bbb aaa ", 4 },
    { "failed", { .limit = 9, .state = MAKI_SESSIONS_FAILED }, "ddd ", 1 },
    { "words in any case", { .limit = 9, .words = { "STRASSE fix", 11 } }, "aaa ", 1 },
    { "full-width letters", { .limit = 9, .words = { "\xEF\xBC\xA6ix", 5 } }, "aaa ", 1 },
    { "Greek", { .limit = 9, .words = { "ΟΔΟΣ", 8 } }, "bbb ", 1 },
    { "half-width kana, an ideographic space", { .limit = 9, .words = { "ﾄﾞｱ\xE3\x80\x80直", 15 } }, "ccc ", 1 },
    { "a letter and its mark", { .limit = 9, .words = { "CAFE\xCC\x81", 6 } }, "ddd ", 1 },
    { "a word of the key", { .limit = 9, .words = { "slack:c1", 8 } }, "eee ", 1 },
    { "one word is missing", { .limit = 9, .words = { "fix nothing", 11 } }, "", 0 },
};
/* clang-format on */

#define NAMED(key, client) \
    "{\"type\":\"header\",\"version\":1,\"sessionKey\":\"" key "\",\"client\":\"" client "\"}\n"

static void set_session_time(const kit *k, const char *id, time_t seconds)
{
    char path[400];
    struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };
    snprintf(path, sizeof path, "%s/%s.jsonl", k->sessions, id);
    utimensat(AT_FDCWD, path, times, 0);
}

static void test_queries(kit *k)
{
    static const char *const ids[] = { "aaa", "bbb", "ccc", "ddd", "eee" };
    kit_session(k, "aaa", PERSON("Fix the Straße") REPLY("m-1"), NULL);
    kit_session(k, "bbb", NAMED("", "Codex") PERSON("οδος") REPLY("m-1"), NULL);
    kit_session(k, "ccc", PERSON("ドアを直す") REPLY("m-1"), STATE("\"state\":\"archived\""));
    kit_session(k, "ddd", PERSON("Café") REPLY("m-2"), EXCHANGE FAILURE);
    kit_session(k, "eee", NAMED("agent:default:slack:C1", "Codex") PERSON("x"), NULL);
    for (size_t i = 0; i < COUNT(ids); i++)
        set_session_time(k, ids[i], 1700000000 + (time_t)i);
    for (size_t i = 0; i < COUNT(queries); i++) {
        maki_session_query query = queries[i].query;
        maki_session_list list;
        maki_err err;
        char got[100] = "";
        query.home = k->home.path;
        tap_row("%s", queries[i].name);
        CHECK_STATUS(maki_sessions_find(&k->fe.env, &query, &list, &err), MAKI_OK, &err);
        for (size_t n = 0; n < list.count; n++) {
            strcat(got, list.items[n]->id);
            strcat(got, " ");
        }
        CHECK_CSTR(got, queries[i].ids);
        CHECK_EQ(list.all, queries[i].all);
        CHECK_EQ(list.agents.count, 1);
        CHECK_EQ(list.clients.count, 1);
        CHECK(list.models.count == 2 && strcmp(list.models.items[0], "m-1") == 0);
        maki_session_list_free(&list);
    }
}

static void test_growth(kit *k)
{
    kit_all all;
    tap_row("new messages are added, and only they are read");
    kit_append(k, "aaa", ".jsonl", USER REPLY("m-3"));
    kit_append(k, "aaa", ".events.jsonl", USAGE("1000", "1"));
    kit_read(k, &all);
    CHECK_EQ(all.report.changed, 1);
    CHECK(strstr(all.text, "aaa agent:default:telegram:さくら 4 1300 51 m-3 active -\n") != NULL);

    tap_row("an incomplete row is not a message yet");
    kit_append(k, "aaa", ".jsonl", "{\"role\":\"user\",\"con");
    kit_read(k, &all);
    CHECK(strstr(all.text, " 4 1300 51 m-3 ") != NULL);
    kit_read(k, &all);
    CHECK_EQ(all.report.changed, 0);
    kit_append(k, "aaa", ".jsonl", "tent\":\"x\"}\n");
    kit_read(k, &all);
    CHECK(strstr(all.text, " 5 1300 51 m-3 ") != NULL);

    tap_row("a transcript that became shorter is read from its beginning");
    write_four(k);
    check_four(k);

    tap_row("a deleted session disappears, a new one appears");
    char path[400];
    snprintf(path, sizeof path, "%s/aaa.jsonl", k->sessions);
    unlink(path);
    kit_session(k, "ddd", USER, NULL);
    kit_read(k, &all);
    CHECK(strstr(all.text, "aaa") == NULL && strstr(all.text, "ddd - 1") != NULL);
    snprintf(path, sizeof path, "%s/ddd.jsonl", k->sessions);
    unlink(path);
    write_four(k);
    check_four(k);
}

/* ---- damage ---------------------------------------------------------------------------------------- */

/* Remove the damaged copies of earlier tests. */
static void remove_damaged(const kit *k)
{
    char path[400];
    for (int i = 1; i < 100; i++) {
        snprintf(path, sizeof path, "%s.damaged-%d", k->view, i);
        if (unlink(path) != 0) return;
    }
}

static int no_sync(const maki_files *self, int fd)
{
    (void)self;
    (void)fd;
    return 0;
}

static void test_truncated(kit *k)
{
    maki_str whole = directory_read(k->view);
    int (*sync_it)(const maki_files *, int) = k->fe.files_table.table.sync;
    k->fe.files_table.table.sync = no_sync; /* a thousand views: the disk need not keep them */
    tap_row("truncated at any byte: nothing is lost, and the file is complete again");
    bool good = true;
    for (size_t n = 0; good && n < whole.len; n++) {
        kit_all all;
        directory_write(k->view, maki_str_prefix(whole, n));
        kit_read(k, &all);
        good = CHECK_CSTR(all.text, four) && CHECK(is_whole(k));
        remove_damaged(k);
        if (!good) printf("# after %zu of %zu bytes\n", n, whole.len);
    }
    tap_row("any byte changed: every session is still listed");
    for (size_t n = 0; good && n < whole.len; n += 3) {
        kit_all all;
        char *text = malloc(whole.len);
        memcpy(text, whole.ptr, whole.len);
        text[n] = text[n] == '}' ? ']' : '}';
        directory_write(k->view, (maki_str){ text, whole.len });
        kit_read(k, &all);
        good = CHECK_STATUS(all.status, MAKI_OK, &all.err) && CHECK_EQ(all.report.all, 4);
        remove_damaged(k);
        if (!good) printf("# byte %zu\n", n);
        free(text);
    }
    k->fe.files_table.table.sync = sync_it;
    free_text(whole);
    unlink(k->view);
    check_four(k);
}

static const struct damage_row {
    const char *name, *text;
} damages[] = {
    { "empty", "" },
    { "white space", " \n\n " },
    { "not JSON", "\x7f\x45LF\x02\x01" },
    { "not UTF-8", "{\"entries\":{\"\xff\xfe\":{}}}" },
    { "null", "null" },
    { "an array", "[]" },
    { "an array of entries at the top", "[{\"id\":\"aaa\"}]" },
    { "an object without entries", "{}" },
    { "entries that are an array", "{\"entries\":[{\"id\":\"aaa\"},{\"id\":\"bbb\"}]}" },
    { "entries that are a text", "{\"entries\":\"aaa\"}" },
    { "an entry that is a number", "{\"entries\":{\"aaa\":1,\"bbb\":null,\"会議\":[]}}" },
    { "fields of wrong types",
      "{\"entries\":{\"aaa\":{\"id\":7,\"sessionKey\":[],\"createdAt\":\"x\",\"updatedAt\":{},"
      "\"model\":1,\"messageCount\":-3,\"tokenUsage\":7,\"overrides\":[],\"state\":\"dead\",\"read\":[]}}}" },
    { "numbers that are too large",
      "{\"entries\":{\"aaa\":{\"updatedAt\":1e300,\"messageCount\":99999999999999999999,\"read\":[1e9,2]}}}" },
    { "an entry twice", "{\"entries\":{\"aaa\":{},\"aaa\":{}}}" },
    { "entries twice", "{\"entries\":{\"aaa\":{}},\"entries\":{\"aaa\":{},\"bbb\":{}}}" },
    { "entries of nobody",
      "{\"entries\":{\"zzz\":{\"id\":\"zzz\"},\"../../x\":{},\"\":{},\"a\\u0000b\":{}}}" },
    { "an id that is a path", "{\"entries\":{\"/etc/passwd\":{},\"..\":{},\"aaa/../bbb\":{}}}" },
    { "something behind it", "{\"entries\":{}}{\"entries\":{}}" },
    { "a directory's time that is none", "{\"folder\":-1,\"entries\":{}}" },
};

static void test_damage(kit *k)
{
    for (size_t i = 0; i < COUNT(damages); i++) {
        kit_all all;
        tap_row("sessions.json is damaged: %s", damages[i].name);
        directory_write(k->view, maki_str_of(damages[i].text));
        kit_read(k, &all);
        CHECK_STATUS(all.status, MAKI_OK, &all.err);
        CHECK_CSTR(all.text, four);
        CHECK(is_whole(k));
        check_four(k);
    }
    tap_row("an entry of two megabytes");
    char *long_one = malloc(2100000);
    int n = sprintf(long_one, "{\"entries\":{\"aaa\":{\"x\":\"");
    memset(long_one + n, 'x', 2000000);
    strcpy(long_one + n + 2000000, "\"}}}");
    directory_write(k->view, maki_str_of(long_one));
    free(long_one);
    check_four(k);
    CHECK(is_whole(k));
}

static void test_damaged_copy(kit *k)
{
    kit_all all;
    char path[400];
    tap_row("a damaged file is kept next to it, and a note reports it");
    directory_write(k->view, MAKI_LIT("{\"mine\":\"precious\",\"entries\":{"));
    remove_damaged(k);
    kit_read(k, &all);
    CHECK(strstr(all.report.note, "sessions.json.damaged-1") != NULL);
    snprintf(path, sizeof path, "%s.damaged-1", k->view);
    maki_str kept = directory_read(path);
    CHECK_STR(kept, "{\"mine\":\"precious\",\"entries\":{");
    free_text(kept);
    tap_row("an empty file is not kept");
    directory_write(k->view, MAKI_LIT(""));
    kit_read(k, &all);
    CHECK(all.report.rebuilt && !all.report.note[0]);
}

static void test_in_its_place(kit *k)
{
    kit_all all;
    tap_row("a directory in its place: it stays, the answer is right, and a note reports it");
    unlink(k->view);
    mkdir(k->view, 0700);
    kit_read(k, &all);
    CHECK_CSTR(all.text, four);
    CHECK(!all.report.written && strstr(all.report.note, "move it away") != NULL);
    CHECK(rmdir(k->view) == 0);
    tap_row("a pipe in its place");
    CHECK(mkfifo(k->view, 0600) == 0);
    kit_read(k, &all);
    CHECK_CSTR(all.text, four);
    CHECK(unlink(k->view) == 0);
    tap_row("a link to nowhere");
    CHECK(symlink("/nonexistent/x", k->view) == 0);
    kit_read(k, &all);
    CHECK_CSTR(all.text, four);
    CHECK(unlink(k->view) == 0);
    check_four(k);
}

/* ---- others ---------------------------------------------------------------------------------------- */

static void test_unknown_fields(kit *k)
{
    kit_all all;
    tap_row("unknown fields are preserved, at the top and in entries");
    directory_write(
        k->view,
        MAKI_LIT(
            "{ \"before\" : [1, 2],\n \"entries\": {\n"
            "  \"aaa\": { \"label\": \"私の\", \"messageCount\": 1, \"x\\u0041\":{\"deep\":[]} },\n"
            "  \"ccc\": { \"label\": \"old name\" } },\n \"after\": null }"));
    kit_read(k, &all);
    CHECK_CSTR(all.text, four);
    maki_str text = directory_read(k->view);
    CHECK(maki_str_contains(text, MAKI_LIT("\"before\":[1, 2]")));
    CHECK(maki_str_contains(text, MAKI_LIT("\"after\":null")));
    CHECK(maki_str_contains(text, MAKI_LIT("\"label\": \"私の\"")));
    CHECK(maki_str_contains(text, MAKI_LIT("\"x\\u0041\":{\"deep\":[]}")));
    CHECK(maki_str_contains(text, MAKI_LIT("\"label\": \"old name\"")));
    CHECK(is_whole(k));
    free_text(text);
    check_four(k);
}

/* Unknown fields survive any failure, or are in a damaged copy. */
static void test_unknown_fields_kept(kit *k)
{
    static char large[3 << 20];
    bool injected = true;
    tap_row("unknown fields, with each allocation failing in turn");
    for (size_t nth = 1; injected; nth++) {
        kit_all all;
        directory_write(k->view, MAKI_LIT("{\"theirs\":\"私の\",\"entries\":{},\"more\":[1]}"));
        fake_alloc_fail_at(&k->fe, nth);
        kit_read(k, &all);
        injected = fake_alloc_failed(&k->fe);
        fake_alloc_fail_at(&k->fe, 0);
        maki_str text = directory_read(k->view);
        bool good = CHECK(maki_str_contains(text, MAKI_LIT("\"theirs\":\"私の\""))) &&
                    CHECK(maki_str_contains(text, MAKI_LIT("\"more\":[1]")));
        if (!good) printf("# allocation %zu: %s\n", nth, all.err.msg);
        free_text(text);
    }
    tap_row("megabytes of them are preserved, too");
    kit_all all;
    size_t n = (size_t)sprintf(large, "{\"entries\":{}");
    for (int i = 0; n + 2000 < sizeof large; i++)
        n += (size_t)sprintf(large + n, ",\"field%d\":\"%01000d\"", i, i);
    n += (size_t)sprintf(large + n, "}");
    directory_write(k->view, (maki_str){ large, n });
    kit_read(k, &all);
    CHECK(all.report.written && !all.report.note[0]);
    maki_str text = directory_read(k->view);
    CHECK(text.len > n && maki_str_contains(text, MAKI_LIT("\"field0\":")) &&
          maki_str_contains(text, MAKI_LIT("\"field3000\":")));
    free_text(text);
    unlink(k->view);
    check_four(k);
}

static void test_locked(kit *k)
{
    kit_all all;
    int ready[2], done[2];
    char byte;
    tap_row(
        "locked by another process: the answer is right, nothing is written, and a note reports it");
    if (pipe(ready) != 0 || pipe(done) != 0) abort();
    unlink(k->view);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(k->lock, O_RDWR | O_CREAT, 0600);
        if (flock(fd, LOCK_EX) == 0) (void)!write(ready[1], "x", 1);
        close(done[1]);
        (void)!read(done[0], &byte, 1);
        _exit(0);
    }
    close(done[0]);
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    kit_read(k, &all);
    CHECK_STATUS(all.status, MAKI_OK, &all.err);
    CHECK_CSTR(all.text, four);
    CHECK(!all.report.written && strstr(all.report.note, "another process") != NULL);
    CHECK(access(k->view, F_OK) != 0);
    close(done[1]);
    waitpid(child, NULL, 0);
    tap_row("written when the lock is free again");
    kit_read(k, &all);
    CHECK(all.report.written);
    close(ready[0]);
    close(ready[1]);
}

static void test_often(kit *k)
{
    kit_all all;
    struct stat st;
    tap_row("it is written at most once a second");
    check_four(k);
    stat(k->view, &st);
    int64_t written = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    int64_t before = k->fe.now_ms;
    k->fe.now_ms = written + 900;
    kit_append(k, "会議", ".jsonl", USER);
    kit_read(k, &all);
    CHECK_EQ(all.report.changed, 1);
    CHECK(!all.report.written && !all.report.note[0] && strstr(all.text, "会議 - 2") != NULL);
    k->fe.now_ms = written + 1000;
    kit_read(k, &all);
    CHECK(all.report.written);
    k->fe.now_ms = before;
    write_four(k);
    check_four(k);
}

/* ---- the directory's time ----------------------------------------------------------------------------- */

static void set_time(const char *path, time_t seconds)
{
    struct timespec times[2] = { { seconds, 0 }, { seconds, 0 } };
    if (utimensat(AT_FDCWD, path, times, 0) != 0) abort();
}

static void test_directory_time(kit *k)
{
    kit_all all;
    char path[400];
    int64_t before = k->fe.now_ms;
    tap_row("a directory that has not changed is not listed again");
    set_time(k->sessions, 1600000000);
    kit_read(k, &all); /* the fake clock is later: the time may be trusted */
    CHECK(all.report.written);
    maki_str text = directory_read(k->view);
    CHECK(maki_str_contains(text, MAKI_LIT("\"folder\":1600000000000000")));
    free_text(text);
    check_four(k);
    snprintf(path, sizeof path, "%s/eee.jsonl", k->sessions);
    directory_write(path, MAKI_LIT(USER));
    set_time(k->sessions, 1600000000); /* as nobody does */
    check_four(k);

    tap_row("files that grew are noticed");
    kit_append(k, "会議", ".jsonl", USER);
    kit_read(k, &all);
    CHECK(strstr(all.text, "会議 - 2") != NULL && strstr(all.text, "eee") == NULL);
    tap_row("a deleted file is noticed");
    unlink(path);
    snprintf(path, sizeof path, "%s/会議.jsonl", k->sessions);
    unlink(path);
    set_time(k->sessions, 1600000000);
    kit_read(k, &all);
    CHECK(strstr(all.text, "会議") == NULL && all.report.all == 3);
    tap_row("the directory time of a truncated index is not used");
    write_four(k);
    check_four(k);
    text = directory_read(k->view);
    for (size_t n = text.len - 3; n > 100; n -= 7) {
        directory_write(k->view, maki_str_prefix(text, n));
        set_time(k->sessions, 1600000000);
        check_four(k);
    }
    free_text(text);
    k->fe.now_ms = before;
}

/* ---- faults ---------------------------------------------------------------------------------------- */

/* With the n-th call failing: the answer is right or an error, and the file is complete or missing. */
static void run_faults(kit *k, bool files)
{
    static const int errors[] = { EIO, ENOSPC };
    bool injected = true;
    for (size_t nth = 1; injected; nth++) {
        kit_all all;
        if (nth % 2)
            unlink(k->view);
        else
            directory_write(k->view, MAKI_LIT("{\"entries\":{\"aaa\":{\"mine\":1}}}"));
        if (files)
            fake_files_fail_at(&k->fe, nth, errors[nth % 2]);
        else
            fake_alloc_fail_at(&k->fe, nth);
        kit_read(k, &all);
        injected = files ? fake_files_failed(&k->fe) : fake_alloc_failed(&k->fe);
        fake_files_fail_at(&k->fe, 0, 0);
        fake_alloc_fail_at(&k->fe, 0);
        bool good = CHECK(all.status == MAKI_OK || injected) &&
                    CHECK_EQ(fake_files_live(&k->fe), 0) && CHECK_EQ(fake_alloc_live(&k->fe), 0);
        if (!files && injected && all.status != MAKI_OK)
            good = CHECK_STATUS(all.status, MAKI_NOMEM, &all.err);
        maki_str text = directory_read(k->view), value;
        if (text.ptr) good = CHECK(maki_json_check(text, &value, NULL) == MAKI_OK) && good;
        free_text(text);
        check_four(k);
        if (!good) printf("# call %zu\n", nth);
        if (!good) return;
    }
}

static void test_faults(kit *k)
{
    tap_row("each file call failing in turn");
    run_faults(k, true);
    tap_row("each allocation failing in turn");
    run_faults(k, false);
    tap_row("short reads and interrupted ones");
    unlink(k->view);
    fake_files_short(&k->fe, 7);
    fake_files_interrupt(&k->fe, 3);
    check_four(k);
    check_four(k);
    fake_files_short(&k->fe, 0);
    fake_files_interrupt(&k->fe, 0);
    tap_row("no temporary file is left");
    directory agent;
    snprintf(agent.path, sizeof agent.path, "%s/agents/default", k->home.path);
    remove_damaged(k);
    CHECK_EQ(directory_count(&agent), 3); /* sessions, sessions.json, sessions.lock */
}

/* ---- many ------------------------------------------------------------------------------------------ */

typedef struct session_sum {
    uint64_t count, messages, input;
} session_sum;

static maki_status add_up(void *ctx, const maki_session *s, maki_err *err)
{
    session_sum *t = ctx;
    (void)err;
    t->count++;
    t->messages += s->messages;
    t->input += s->input;
    return MAKI_OK;
}

static maki_status nothing(void *ctx, const maki_session *s, maki_err *err)
{
    (void)ctx;
    (void)s;
    (void)err;
    return MAKI_OK;
}

static void count_many(const kit *k, session_sum *t, maki_session_index_report *report)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    maki_session_index_query in = {
        .home = k->home.path, .agent = "default", .fn = add_up, .ctx = t
    };
    *t = (session_sum){ 0 };
    CHECK_STATUS(maki_session_index_each(&env, &in, report, &err), MAKI_OK, &err);
}

static void check_many(const kit *k, bool rebuilt)
{
    session_sum t;
    maki_session_index_report report;
    count_many(k, &t, &report);
    CHECK_EQ(t.count, 10000);
    CHECK_EQ(t.messages, 20000);
    CHECK_EQ(t.input, 70000);
    CHECK_EQ(report.rebuilt, rebuilt);
}

static void test_many(void)
{
    kit k;
    kit_open(&k);
    tap_row("ten thousand sessions: rebuilt from the transcripts");
    for (int i = 0; i < 10000; i++) {
        char id[40];
        snprintf(id, sizeof id, "%08x-0000-4000-8000-%012d", (unsigned)i * 2654435761u, i);
        kit_session(&k, id,
                    HEADER("x", "1700000000000", "agent:default:telegram:1") USER REPLY("m-1"),
                    USAGE("7", "1"));
    }
    check_many(&k, true);
    tap_row("read from the index");
    check_many(&k, false);
    tap_row("the index emptied, truncated, removed");
    struct stat st;
    maki_str whole = directory_read(k.view);
    directory_write(k.view, MAKI_LIT(""));
    set_time(k.view, 1600000000);
    check_many(&k, true);
    CHECK(stat(k.view, &st) == 0 && (size_t)st.st_size >= whole.len);
    directory_write(k.view, maki_str_prefix(whole, whole.len / 2));
    set_time(k.view, 1600000000);
    check_many(&k, true);
    unlink(k.view);
    check_many(&k, true);
    free_text(whole);
    kit_close(&k);
}

static void test_no_files(void)
{
    kit k;
    kit_all all;
    char path[400];
    maki_err err = { 0 };
    kit_open(&k);
    tap_row("pipes that are named like files of a session are skipped, and not waited for");
    snprintf(path, sizeof path, "%s/管.jsonl", k.sessions);
    if (mkfifo(path, 0600) != 0) abort();
    kit_session(&k, "aaa", USER, NULL);
    kit_session(&k, "bbb", USER, NULL);
    snprintf(path, sizeof path, "%s/bbb.events.jsonl", k.sessions);
    if (mkfifo(path, 0600) != 0) abort();
    kit_read(&k, &all);
    CHECK_STATUS(all.status, MAKI_OK, &all.err);
    CHECK(strncmp(all.text, "aaa ", 4) == 0 && all.report.all == 1);
    kit_close(&k);

    tap_row("a directory of agents that cannot be read is not reported as empty");
    directory home;
    maki_env env = maki_env_system();
    directory_open(&home);
    snprintf(path, sizeof path, "%s/agents", home.path);
    CHECK_STATUS(maki_sessions_each(&env, home.path, NULL, nothing, NULL, NULL, &err), MAKI_OK,
                 &err);
    if (symlink("agents", path) != 0) abort(); /* to itself */
    CHECK_STATUS(maki_sessions_each(&env, home.path, NULL, nothing, NULL, NULL, &err), MAKI_IO,
                 &err);
    directory_close(&home);
}

static void test_names(void)
{
    static const struct name_row {
        const char *file;
        bool good;
    } rows[] = {
        { "a.jsonl", true },
        { "会議.jsonl", true },
        { ".jsonl", false },
        { ".a.jsonl", false },
        { "a.events.jsonl", false },
        { "a.idx", false },
        { "a.jsonl.damaged-1", false },
        { "a\nb.jsonl", false },
        { "\xff.jsonl", false },
    };
    maki_str stem;
    tap_row("names of files that are sessions");
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_EQ(maki_file_name_stem(rows[i].file, &stem), rows[i].good);
}

int main(void)
{
    kit k;
    kit_open(&k);
    test_rebuilt(&k);
    test_growth(&k);
    test_truncated(&k);
    test_damage(&k);
    test_damaged_copy(&k);
    test_in_its_place(&k);
    test_unknown_fields(&k);
    test_unknown_fields_kept(&k);
    test_locked(&k);
    test_often(&k);
    test_faults(&k);
    test_directory_time(&k);
    kit_close(&k);
    test_shown();
    kit_open(&k);
    test_title_later(&k);
    kit_close(&k);
    kit_open(&k);
    test_queries(&k);
    kit_close(&k);
    test_names();
    test_no_files();
    test_many();
    return tap_end();
}
