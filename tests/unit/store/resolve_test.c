/* resolve_test.c -- finding or creating the session of a message, and its overrides. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str_util.h"
#include "history/conv.h"
#include "store/resolve.h"
#include "store/transcript.h"
#include "store_kit.h"
#include "tap.h"

static const struct key_row {
    const char *name;
    maki_scope scope;
    maki_origin from; /* agent, channel, sender, group, thread */
    const char *key;  /* or what is wrong */
    maki_status status;
} key_rows[] = {
    { "one for all chats",
      MAKI_SCOPE_GLOBAL,
      { "default", "telegram", "1", "", "", NULL },
      "agent:default:global",
      MAKI_OK },
    { "global needs no channel",
      MAKI_SCOPE_GLOBAL,
      { "work", "", "", "", "", NULL },
      "agent:work:global",
      MAKI_OK },
    { "one a group",
      MAKI_SCOPE_GROUP,
      { "work", "slack", "U1", "C12345678", "", NULL },
      "agent:work:slack:C12345678",
      MAKI_OK },
    { "a group of several parts",
      MAKI_SCOPE_GROUP,
      { "default", "discord", "U1", "guild:channel", "", NULL },
      "agent:default:discord:guild:channel",
      MAKI_OK },
    { "outside of groups it is the sender",
      MAKI_SCOPE_GROUP,
      { "work", "slack", "U1", "", "", NULL },
      "agent:work:slack:U1",
      MAKI_OK },
    { "one a sender, also in a group",
      MAKI_SCOPE_SENDER,
      { "default", "telegram", "123456789", "G", "", NULL },
      "agent:default:telegram:123456789",
      MAKI_OK },
    { "a thread by what it hangs on",
      MAKI_SCOPE_GROUP,
      { "default", "slack", "U1", "C1", "1700.25", NULL },
      "agent:default:slack:1700.25",
      MAKI_OK },
    { "a thread is no matter to global",
      MAKI_SCOPE_GLOBAL,
      { "default", "slack", "U1", "C1", "1700.25", NULL },
      "agent:default:global",
      MAKI_OK },
    { "Japanese, Chinese, emoji",
      MAKI_SCOPE_SENDER,
      { "default", "微信", "さくら🌸", "", "", NULL },
      "agent:default:微信:さくら🌸",
      MAKI_OK },
    { "a name that looks like a path",
      MAKI_SCOPE_SENDER,
      { "default", "x", "../../etc/passwd", "", "", NULL },
      "agent:default:x:../../etc/passwd",
      MAKI_OK },
    { "no sender",
      MAKI_SCOPE_SENDER,
      { "default", "telegram", "", "G", "", NULL },
      "the sender is missing",
      MAKI_INVALID },
    { "no channel",
      MAKI_SCOPE_SENDER,
      { "default", "", "1", "", "", NULL },
      "the channel is missing",
      MAKI_INVALID },
    { "a colon in the channel",
      MAKI_SCOPE_SENDER,
      { "default", "a:b", "1", "", "", NULL },
      "colon",
      MAKI_INVALID },
    { "an empty part",
      MAKI_SCOPE_SENDER,
      { "default", "a", "b::c", "", "", NULL },
      "empty part",
      MAKI_INVALID },
    { "a control character",
      MAKI_SCOPE_SENDER,
      { "default", "a", "b\nc", "", "", NULL },
      "control",
      MAKI_INVALID },
    { "white space around it",
      MAKI_SCOPE_SENDER,
      { "default", "a", " b", "", "", NULL },
      "white space",
      MAKI_INVALID },
    { "not UTF-8",
      MAKI_SCOPE_SENDER,
      { "default", "a", "\xff", "", "", NULL },
      "UTF-8",
      MAKI_INVALID },
    { "an agent that is a path",
      MAKI_SCOPE_GLOBAL,
      { "../x", "a", "b", "", "", NULL },
      "agent's name",
      MAKI_INVALID },
    { "an agent with a slash",
      MAKI_SCOPE_GLOBAL,
      { "a/b", "a", "b", "", "", NULL },
      "agent's name",
      MAKI_INVALID },
};

static void test_keys(void)
{
    char long_name[1000], key[MAKI_KEY_MAX];
    maki_err err = { 0 };
    for (size_t i = 0; i < COUNT(key_rows); i++) {
        const struct key_row *row = &key_rows[i];
        tap_row("key: %s", row->name);
        maki_status st = maki_origin_key(&row->from, row->scope, key, &err);
        CHECK_STATUS(st, row->status, &err);
        if (st == MAKI_OK)
            CHECK_CSTR(key, row->key);
        else
            CHECK(strstr(err.msg, row->key) != NULL);
    }
    tap_row("a key over the maximum length is refused");
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    maki_origin from = { "default", "c", long_name, "", "", NULL };
    CHECK_STATUS(maki_origin_key(&from, MAKI_SCOPE_SENDER, key, &err), MAKI_INVALID, &err);
}

/* ---- resolving ------------------------------------------------------------------------------------- */

static maki_resolved_session resolve(kit *k, const char *sender, bool fresh)
{
    maki_origin from = { "default", "telegram", sender, "", "", NULL };
    maki_resolved_session out = { .created = false };
    char key[MAKI_KEY_MAX];
    maki_err err = { 0 };
    CHECK_STATUS(maki_origin_key(&from, MAKI_SCOPE_SENDER, key, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_session_resolve(&k->fe.env, k->home.path, &from, key, fresh, &out, &err),
                 MAKI_OK, &err);
    return out;
}

static const char *path_of(const kit *k, const char *id)
{
    static char path[700];
    snprintf(path, sizeof path, "%s/%s.jsonl", k->sessions, id);
    return path;
}

static void test_resolve(kit *k)
{
    tap_row("a new session: a transcript with the seed's header");
    maki_resolved_session first = resolve(k, "さくら", false);
    CHECK(first.created && strlen(first.session.id) == 36);
    maki_str text = directory_read(path_of(k, first.session.id));
    char want[400];
    snprintf(want, sizeof want,
             "{\"type\":\"header\",\"version\":1,\"sessionId\":\"%s\",\"createdAt\":1700000000000,"
             "\"sessionKey\":\"agent:default:telegram:さくら\",\"channel\":\"telegram\"}\n",
             first.session.id);
    CHECK_TEXT(text, maki_str_of(want));
    free((void *)(uintptr_t)text.ptr);

    tap_row("the session is found again, also without sessions.json");
    maki_resolved_session again = resolve(k, "さくら", false);
    CHECK(!again.created);
    CHECK_CSTR(again.session.id, first.session.id);
    unlink(k->view);
    again = resolve(k, "さくら", false);
    CHECK_CSTR(again.session.id, first.session.id);
    tap_row("another sender has another session");
    CHECK(strcmp(resolve(k, "小明", false).session.id, first.session.id) != 0);

    tap_row("hostile names never become paths");
    resolve(k, "../../../../escape", false);
    resolve(k, "a/b\\c;rm -rf", false);
    DIR *dir = opendir(k->sessions);
    for (struct dirent *entry; (entry = readdir(dir));)
        CHECK(strspn(entry->d_name, "0123456789abcdef-.jsonlevtidx") == strlen(entry->d_name));
    closedir(dir);
    CHECK_EQ(directory_count(&k->home), 1);
}

static void test_fresh(kit *k)
{
    maki_session s;
    maki_err err = { 0 };
    maki_session_change overrides = { "{\"thinking\":\"medium\",\"maxTokens\":4096,\"mine\":1}", -1,
                                      NULL };
    tap_row("overrides are an event of the session: sessions.json may be lost");
    maki_resolved_session old = resolve(k, "さくら", false);
    CHECK_STATUS(maki_session_set(&k->fe.env, path_of(k, old.session.id), &overrides, &s, &err),
                 MAKI_OK, &err);
    CHECK_CSTR(s.overrides, overrides.overrides);
    unlink(k->view);
    CHECK_CSTR(resolve(k, "さくら", false).session.overrides, overrides.overrides);

    tap_row("--new: the new session takes the key and the overrides; the old one is archived");
    maki_resolved_session new_one = resolve(k, "さくら", true);
    CHECK(new_one.created && strcmp(new_one.session.id, old.session.id) != 0);
    CHECK_CSTR(new_one.session.overrides, overrides.overrides);
    CHECK_STATUS(maki_session_get(&k->fe.env, path_of(k, old.session.id), &s, &err), MAKI_OK, &err);
    CHECK(s.archived);
    CHECK_CSTR(resolve(k, "さくら", false).session.id, new_one.session.id);
    unlink(k->view);
    CHECK_CSTR(resolve(k, "さくら", false).session.id, new_one.session.id);

    tap_row("a session whose key was taken stays archived");
    maki_session_change active = { NULL, 0, NULL }, archived = { NULL, 1, NULL };
    CHECK_STATUS(maki_session_set(&k->fe.env, path_of(k, old.session.id), &active, &s, &err),
                 MAKI_REFUSED, &err);
    CHECK_CSTR(err.code, "KEY_TAKEN");
    CHECK_STATUS(maki_session_set(&k->fe.env, path_of(k, new_one.session.id), &archived, &s, &err),
                 MAKI_OK, &err);
    CHECK_STATUS(maki_session_set(&k->fe.env, path_of(k, old.session.id), &active, &s, &err),
                 MAKI_OK, &err);
    CHECK_CSTR(resolve(k, "さくら", false).session.id, old.session.id);

    tap_row("of two sessions with one key the older is found by every process");
    kit_session(
        k, "0-copy",
        "{\"type\":\"header\",\"version\":1,\"sessionId\":\"0-copy\",\"createdAt\":1800000000000,"
        "\"sessionKey\":\"agent:default:telegram:さくら\"}\n",
        NULL);
    CHECK_CSTR(resolve(k, "さくら", false).session.id, old.session.id);
}

/* ---- two processes --------------------------------------------------------------------------------- */

enum { EACH = 25 };

/* Half of the senders are resolved by both processes. */
static void resolve_many(kit *k, int process)
{
    for (int i = 0; i < EACH; i++) {
        char sender[40];
        snprintf(sender, sizeof sender, "%s-%d", i % 2 ? "both" : process ? "two" : "one", i);
        resolve(k, sender, false);
    }
}

static void test_two_processes(void)
{
    kit k;
    kit_all all;
    int status = 1;
    kit_open(&k);
    tap_row("two concurrent processes lose no entry and create no session twice");
    pid_t child = fork();
    fake_random_seed(&k.fe, child == 0 ? 11 : 12);
    if (child == 0) {
        resolve_many(&k, 1);
        _exit(0);
    }
    resolve_many(&k, 0);
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    kit_read(&k, &all);
    CHECK_EQ(all.report.all, 13 + 13 + 12);
    kit_read(&k, &all);
    CHECK_EQ(all.report.changed, 0);
    kit_close(&k);
}

/* ---- faults ---------------------------------------------------------------------------------------- */

static void test_faults(void)
{
    bool injected = true;
    tap_row(
        "resolve with each call of the files failing in turn: an error or a session, never two");
    for (size_t nth = 1; injected && nth < 400; nth++) {
        kit k;
        kit_open(&k);
        maki_origin from = { "default", "telegram", "1", "", "", NULL };
        maki_resolved_session out;
        maki_err err = { 0 };
        fake_files_fail_at(&k.fe, nth, EIO);
        maki_status st = maki_session_resolve(&k.fe.env, k.home.path, &from,
                                              "agent:default:telegram:1", false, &out, &err);
        injected = fake_files_failed(&k.fe);
        fake_files_fail_at(&k.fe, 0, 0);
        bool good = CHECK(st == MAKI_OK || injected) && CHECK_EQ(fake_files_live(&k.fe), 0) &&
                    CHECK_EQ(fake_alloc_live(&k.fe), 0);
        maki_resolved_session again = resolve(&k, "1", false);
        if (st == MAKI_OK) good = CHECK_CSTR(again.session.id, out.session.id) && good;
        good = CHECK_CSTR(resolve(&k, "1", false).session.id, again.session.id) && good;
        if (!good) printf("# call %zu\n", nth);
        kit_close(&k);
    }
}

/* A new session in the place of another, with each call failing in turn: whatever happens, what the sender set for his
 * chats holds in the session that is found next. */
static void test_fresh_faults(void)
{
    static const char *const wanted = "{\"thinking\":\"medium\"}";
    bool injected = true;
    tap_row("--new with each file call failing in turn: the overrides are not lost");
    for (size_t nth = 1; injected && nth < 600; nth++) {
        kit k;
        kit_open(&k);
        maki_origin from = { "default", "telegram", "さくら", "", "", NULL };
        maki_session_change overrides = { wanted, -1, NULL };
        maki_resolved_session out;
        maki_session s;
        maki_err err = { 0 };
        maki_resolved_session old = resolve(&k, "さくら", false);
        CHECK_STATUS(maki_session_set(&k.fe.env, path_of(&k, old.session.id), &overrides, &s, &err),
                     MAKI_OK, &err);
        fake_files_fail_at(&k.fe, nth, EIO);
        maki_status st = maki_session_resolve(&k.fe.env, k.home.path, &from,
                                              "agent:default:telegram:さくら", true, &out, &err);
        injected = fake_files_failed(&k.fe);
        fake_files_fail_at(&k.fe, 0, 0);
        maki_resolved_session again = resolve(&k, "さくら", false);
        bool good = CHECK(st == MAKI_OK || injected) && CHECK_EQ(fake_files_live(&k.fe), 0) &&
                    CHECK_EQ(fake_alloc_live(&k.fe), 0) && CHECK(!again.created) &&
                    CHECK_CSTR(again.session.overrides, wanted);
        if (st == MAKI_OK) good = CHECK_CSTR(again.session.id, out.session.id) && good;
        if (!good) printf("# call %zu\n", nth);
        kit_close(&k);
    }
}

/* No lock is held while a model answers: locks are held only inside of calls. */
static void test_no_lock_between(kit *k)
{
    maki_session_index_lock lock = { 0 };
    maki_err err = { 0 };
    maki_conv *mine = NULL, *other = NULL;
    maki_conv_options how = { .durability = MAKI_DURABILITY_BY_CALLER, .threads = 1 };
    maki_change change;
    maki_str question = MAKI_LIT("{\"role\":\"user\",\"content\":\"?\"}");
    maki_str answer = MAKI_LIT("{\"role\":\"assistant\",\"content\":\"!\"}");
    tap_row("between a question and its answer no lock is held");
    maki_resolved_session r = resolve(k, "lock", false);
    CHECK_STATUS(maki_conv_open(&k->fe.env, path_of(k, r.session.id), &how, &mine, &err), MAKI_OK,
                 &err);
    CHECK_STATUS(maki_conv_append(mine, NULL, &question, 1, &change, &err), MAKI_OK, &err);
    /* the model thinks; somebody else writes to the same session, and to the session index */
    CHECK_STATUS(maki_conv_open(&k->fe.env, path_of(k, r.session.id), &how, &other, &err), MAKI_OK,
                 &err);
    CHECK_STATUS(maki_conv_append(other, NULL, &question, 1, &change, &err), MAKI_OK, &err);
    CHECK_STATUS(
        maki_session_index_lock_acquire(&lock, &k->fe.env, k->home.path, "default", 0, &err),
        MAKI_OK, &err);
    maki_session_index_lock_release(&lock, &k->fe.env);
    CHECK_STATUS(maki_conv_append(mine, NULL, &answer, 1, &change, &err), MAKI_OK, &err);
    CHECK_EQ(change.seq, 3);
    maki_conv_close(mine);
    maki_conv_close(other);
}

int main(void)
{
    kit k;
    test_keys();
    kit_open(&k);
    test_resolve(&k);
    test_fresh(&k);
    test_no_lock_between(&k);
    kit_close(&k);
    test_two_processes();
    test_faults();
    test_fresh_faults();
    return tap_end();
}
