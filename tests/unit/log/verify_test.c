/* verify_test.c -- every damaged byte is found, and repaired without losing any. */
#include "log/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str_util.h"
#include "history/conv.h"
#include "logs.h"
#include "tap.h"

typedef struct seen {
    size_t n;
    maki_finding last;
    size_t kinds[MAKI_FINDING_INDEX + 1];
} seen;

static maki_status collect_finding(void *ctx, const maki_finding *finding, maki_err *err)
{
    seen *s = ctx;
    (void)err;
    s->n++;
    s->last = *finding;
    s->kinds[finding->kind]++;
    return MAKI_OK;
}

static maki_status verify(logs *l, seen *s, maki_verify_result *out, maki_err *err)
{
    maki_log_options options = logs_options(l);
    *s = (seen){ 0 };
    maki_status st = maki_log_verify(&l->env, l->path, &options, collect_finding, s, out, err);
    maki_token_counter_close(&l->counter);
    return st;
}

static maki_status fsck(logs *l, bool repair, seen *s, maki_err *err)
{
    maki_log_options options = logs_options(l);
    *s = (seen){ 0 };
    maki_status st =
        maki_log_fsck(&l->env, l->path, &options, repair, collect_finding, s, NULL, err);
    maki_token_counter_close(&l->counter);
    return st;
}

static void check_verified(logs *l)
{
    seen s;
    maki_err err = { 0 };
    maki_verify_result out;
    if (!CHECK_STATUS(verify(l, &s, &out, &err), MAKI_OK, &err)) {
        printf("# %s at %" PRIu64 " seq %" PRIu64 " ev %" PRIu64 ": %s\n", s.last.file,
               s.last.offset, s.last.seq, s.last.ev, s.last.what);
    }
}

static maki_conv *open_conv(logs *l, maki_str header)
{
    maki_conv_options options = { .create = true,
                                  .durability = MAKI_DURABILITY_SYNC,
                                  .header = header };
    maki_conv *conv = NULL;
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_open(&l->env, l->path, &options, &conv, &err), MAKI_OK, &err);
    return conv;
}

static void append(maki_conv *conv, const char *row)
{
    maki_change change;
    maki_err err = { 0 };
    maki_str one = maki_str_of(row);
    CHECK_STATUS(maki_conv_append(conv, NULL, &one, 1, &change, &err), MAKI_OK, &err);
}

/* A small conversation with every kind of event. */
static void write_conversation(logs *l, maki_str header)
{
    maki_err err = { 0 };
    maki_change change;
    maki_conv *conv = open_conv(l, header);
    append(
        conv,
        "{\"role\":\"user\",\"content\":\"\xe3\x81\x93\xe3\x82\x93\xe3\x81\xab\xe3\x81\xa1\xe3\x81\xaf\",\"ts\":1700000000000}");
    append(
        conv,
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"ls\",\"input\":{}}]}");
    append(
        conv,
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"a.c\"}]}");
    CHECK_STATUS(maki_conv_pin(conv, NULL, 1, true, &change, &err), MAKI_OK, &err);
    append(conv, "{\"role\":\"assistant\",\"content\":\"one file\"}");
    append(conv, "{\"role\":\"user\",\"content\":\"thanks\"}");
    CHECK_STATUS(maki_conv_rewind(conv, NULL, 4, MAKI_NEWEST, &change, &err), MAKI_OK, &err);
    append(conv, "{\"role\":\"user\",\"content\":\"again\"}");
    CHECK_STATUS(maki_conv_undo(conv, NULL, 0, &change, &err), MAKI_OK, &err);
    maki_conv_close(conv);
}

/* ---- one changed byte ------------------------------------------------------------------------------ */

static void flip_file(logs *l, const char *path, const char *name, bool every_bit,
                      tap_random *random)
{
    maki_str whole = directory_read(path);
    char *bytes = (char *)(uintptr_t)whole.ptr;
    size_t missed = 0;
    tap_row("one changed bit in any byte of %s is found", name);
    for (size_t i = 0; i < whole.len; i++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            if (!every_bit && bit != 0) break;
            char flip = (char)(1 << (every_bit ? bit : tap_below(random, 8)));
            seen s;
            maki_err err = { 0 };
            bytes[i] ^= flip;
            directory_write(path, whole);
            maki_status st = verify(l, &s, NULL, &err);
            if (st != MAKI_CORRUPT || s.n == 0) {
                if (missed++ < 5)
                    printf("# byte %zu, bits %02x: %s\n", i, (unsigned char)flip, err.msg);
            }
            bytes[i] ^= flip;
        }
    }
    CHECK_EQ(missed, 0);
    directory_write(path, whole);
    check_verified(l);
    free(bytes);
}

static void test_flips(void)
{
    logs l;
    tap_random random = { 20261115 };
    bool every = getenv("MAKI_EVERY_BIT") != NULL;
    logs_open(&l, "s.jsonl");
    tap_row("an undamaged conversation is verified");
    write_conversation(&l, MAKI_LIT("{\"type\":\"header\",\"id\":\"s\"}"));
    check_verified(&l);
    seen s;
    maki_err err = { 0 };
    maki_verify_result out;
    CHECK_STATUS(verify(&l, &s, &out, &err), MAKI_OK, &err);
    CHECK_EQ(out.messages, 6);
    CHECK_EQ(out.events, 3);
    CHECK_EQ(out.findings, 0);
    flip_file(&l, l.path, "the messages", every, &random);
    flip_file(&l, l.events, "the events", every, &random);
    flip_file(&l, l.index, "the index", every, &random);
    logs_close(&l);
}

/* The same in a fork. */
static void test_fork(void)
{
    logs l;
    maki_err err = { 0 };
    tap_random random = { 7 };
    logs_open(&l, "parent.jsonl");
    tap_row("a fork is verified");
    write_conversation(&l, MAKI_LIT(""));
    maki_conv *conv = open_conv(&l, MAKI_LIT(""));
    char child[300];
    snprintf(child, sizeof child, "%s/child.jsonl", l.f.path);
    CHECK_STATUS(maki_conv_fork(conv, 4, MAKI_NEWEST, child, (maki_str){ "", 0 }, &err), MAKI_OK,
                 &err);
    maki_conv_close(conv);
    strcpy(l.path, child);
    snprintf(l.events, sizeof l.events, "%s/child.events.jsonl", l.f.path);
    snprintf(l.index, sizeof l.index, "%s/child.idx", l.f.path);
    conv = open_conv(&l, MAKI_LIT(""));
    append(conv, "{\"role\":\"user\",\"content\":\"another way\"}");
    maki_change change;
    CHECK_STATUS(maki_conv_pin(conv, NULL, 5, true, &change, &err), MAKI_OK, &err);
    maki_conv_close(conv);
    check_verified(&l);
    flip_file(&l, l.path, "a fork's messages", false, &random);
    flip_file(&l, l.events, "a fork's events", false, &random);
    flip_file(&l, l.index, "a fork's index", false, &random);

    tap_row("a fork whose first event is damaged is not repaired, and no file is changed");
    maki_str events = directory_read(l.events);
    ((char *)(uintptr_t)events.ptr)[20] ^= 1;
    directory_write(l.events, events);
    seen s;
    CHECK_STATUS(fsck(&l, true, &s, &err), MAKI_CORRUPT, &err);
    maki_str after = directory_read(l.events);
    CHECK_TEXT(after, events);
    free((void *)(uintptr_t)after.ptr);
    free((void *)(uintptr_t)events.ptr);
    logs_close(&l);
}

/* ---- repairs ----------------------------------------------------------------------------------------- */

typedef struct damage_row {
    const char *name;
    char file; /* m, e, i */
    enum { FLIP, CUT, ADD } how;
    const char *find; /* FLIP: the last byte of the first place with this text; ADD: these bytes */
    char to;          /* FLIP: to this */
    uint64_t cut;     /* bytes */
    maki_finding_kind found;
    size_t visible; /* messages in the view after the repair */
} damage_row;

static const damage_row damages[] = {
    { "a changed letter", 'm', FLIP, "one f", 'F', 0, MAKI_FINDING_CHANGED, 5 },
    { "a row that is not JSON any more", 'm', FLIP, "\"one file", 0, 0, MAKI_FINDING_CHANGED, 5 },
    { "a lost newline", 'm', FLIP, "one file\"}\n", '\r', 0, MAKI_FINDING_JOINED, 6 },
    { "a new newline", 'm', FLIP, "one f", '\n', 0, MAKI_FINDING_SPLIT, 5 },
    { "a torn row", 'm', ADD, "{\"role\":", 0, 0, MAKI_FINDING_TORN, 6 },
    { "a newline for a space", 'm', FLIP, "one ", '\n', 0, MAKI_FINDING_SPLIT, 6 },
    { "half a row that is gone", 'm', CUT, NULL, 0, 20, MAKI_FINDING_GONE,
      4 }, /* without the undo */
    { "a row that is gone", 'm', CUT, NULL, 0, 34, MAKI_FINDING_GONE, 4 },
    { "a changed event", 'e', FLIP, "\"type\":\"p", 'q', 0, MAKI_FINDING_EVENT, 6 },
    { "a torn event", 'e', ADD, "{\"ev\":", 0, 0, MAKI_FINDING_TORN, 6 },
    { "an event of nothing", 'e', ADD, "\n", 0, 0, MAKI_FINDING_EVENT, 6 },
    { "a changed index", 'i', FLIP, "MAKIIDX", 'x', 0, MAKI_FINDING_INDEX, 6 },
    { "an index cut short", 'i', CUT, NULL, 0, 10, MAKI_FINDING_INDEX, 6 },
};

static void apply_damage(const logs *l, const damage_row *d)
{
    const char *path = d->file == 'm' ? l->path : d->file == 'e' ? l->events : l->index;
    maki_str whole = directory_read(path);
    char *bytes = (char *)(uintptr_t)whole.ptr;
    if (d->how == FLIP) {
        char *at = memmem(bytes, whole.len, d->find, strlen(d->find));
        if (CHECK(at != NULL)) at[strlen(d->find) - 1] = d->to;
        directory_write(path, whole);
    }
    if (d->how == CUT) logs_cut(path, whole.len - d->cut);
    if (d->how == ADD) logs_add_bytes(path, maki_str_of(d->find));
    free(bytes);
}

static size_t visible(logs *l)
{
    maki_err err = { 0 };
    const maki_view *view;
    maki_view_totals totals = { 0 };
    maki_conv *conv = open_conv(l, MAKI_LIT(""));
    if (!conv) return 0;
    CHECK_STATUS(maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_conv_total(conv, view, &totals, &err), MAKI_OK, &err);
    maki_buf out = maki_buf_new(l->env.alloc, 1 << 20);
    CHECK_STATUS(maki_conv_write(conv, view, true, maki_buf_sink(&out), &err), MAKI_OK, &err);
    maki_str json;
    CHECK_STATUS(maki_json_check(maki_buf_str(&out), &json, &err), MAKI_OK, &err);
    maki_buf_free(&out);
    maki_conv_close(conv);
    return (size_t)totals.messages;
}

static void test_repairs(void)
{
    for (size_t i = 0; i < COUNT(damages); i++) {
        const damage_row *d = &damages[i];
        logs l;
        seen s;
        maki_err err = { 0 };
        logs_open(&l, "messages.jsonl");
        tap_row("%s: found, not changed without `repair`, then repaired and reported", d->name);
        write_conversation(&l, MAKI_LIT(""));
        CHECK_EQ(visible(&l), 6);
        apply_damage(&l, d);
        maki_str before = directory_read(l.path);
        CHECK_STATUS(fsck(&l, false, &s, &err), MAKI_CORRUPT, &err);
        CHECK(s.kinds[d->found] > 0);
        maki_str after = directory_read(l.path);
        CHECK(maki_str_equal(before, after));
        free((void *)(uintptr_t)before.ptr);
        free((void *)(uintptr_t)after.ptr);
        if (!CHECK_STATUS(fsck(&l, true, &s, &err), MAKI_OK, &err)) {
            printf("# %s at %" PRIu64 " seq %" PRIu64 " ev %" PRIu64 ": %s\n", s.last.file,
                   s.last.offset, s.last.seq, s.last.ev, s.last.what);
        }
        check_verified(&l);
        CHECK_EQ(visible(&l), d->visible);
        maki_log *log = logs_get(&l);
        if (!log) continue;
        if (d->file != 'i') CHECK(logs_events(log, "damage") > 0);
        CHECK_STATUS(logs_append(log, "and on", &err), MAKI_OK, &err);
        maki_log_close(log);
        CHECK_EQ(visible(&l), d->visible + 1);
        check_verified(&l);
        CHECK_STATUS(fsck(&l, true, &s, &err), MAKI_OK, &err);
        logs_close(&l);
    }
}

static void test_moved_events(void)
{
    logs l;
    seen s;
    maki_err err = { 0 };
    logs_open(&l, "messages.jsonl");
    tap_row("each repair keeps damaged events in a new file");
    write_conversation(&l, MAKI_LIT(""));
    maki_str before = directory_read(l.events);
    char *second = strchr(before.ptr, '\n') + 1;
    *strchr(second, 'w') = 'W';
    directory_write(l.events, before);
    CHECK_STATUS(fsck(&l, true, &s, &err), MAKI_OK, &err);
    maki_str kept = directory_read(directory_file(&l.f, "events.jsonl.damaged-1"));
    CHECK_TEXT(kept, maki_str_skip(before, (size_t)(second - before.ptr)));
    maki_str now = directory_read(l.events);
    CHECK(maki_str_starts(now, (maki_str){ before.ptr, (size_t)(second - before.ptr) }));
    free((void *)(uintptr_t)kept.ptr);
    free((void *)(uintptr_t)now.ptr);
    free((void *)(uintptr_t)before.ptr);
    logs_add_bytes(l.events, MAKI_LIT("x\n"));
    CHECK_STATUS(fsck(&l, true, &s, &err), MAKI_OK, &err);
    kept = directory_read(directory_file(&l.f, "events.jsonl.damaged-2"));
    CHECK_STR(kept, "x\n");
    free((void *)(uintptr_t)kept.ptr);
    check_verified(&l);
    logs_close(&l);
}

/* Events about lost messages must not apply to new messages with the same numbers. */
static void test_gone(void)
{
    logs l;
    seen s;
    maki_err err = { 0 };
    maki_change change;
    logs_open(&l, "messages.jsonl");
    tap_row("events about lost messages do not apply to new ones");
    maki_conv *conv = open_conv(&l, MAKI_LIT(""));
    uint64_t size = 0;
    for (int i = 0; i < 20; i++) {
        if (i == 5) size = logs_size(l.path);
        append(conv, "{\"role\":\"user\",\"content\":\"something to be hidden\"}");
    }
    CHECK_STATUS(maki_conv_truncate(conv, NULL, 0.8, &change, &err), MAKI_OK, &err);
    CHECK(change.effect.hidden > 10);
    maki_conv_close(conv);
    logs_cut(l.path, size);
    CHECK_STATUS(fsck(&l, true, &s, &err), MAKI_OK, &err);
    CHECK_EQ(visible(&l), 5);
    conv = open_conv(&l, MAKI_LIT(""));
    for (int i = 0; i < 3; i++)
        append(conv, "{\"role\":\"user\",\"content\":\"new\"}");
    maki_conv_close(conv);
    CHECK_EQ(visible(&l), 8);

    tap_row("also when it happens again");
    conv = open_conv(&l, MAKI_LIT(""));
    CHECK_STATUS(maki_conv_pin(conv, NULL, 7, true, &change, &err), MAKI_OK, &err);
    maki_conv_close(conv);
    logs_cut(l.path, size + 3);
    CHECK_STATUS(fsck(&l, true, &s, &err), MAKI_OK, &err);
    CHECK_EQ(visible(&l), 5);
    conv = open_conv(&l, MAKI_LIT(""));
    for (int i = 0; i < 3; i++)
        append(conv, "{\"role\":\"user\",\"content\":\"newer\"}");
    maki_conv_close(conv);
    CHECK_EQ(visible(&l), 8);
    check_verified(&l);

    tap_row("without an index the events still show that messages are missing");
    conv = open_conv(&l, MAKI_LIT(""));
    CHECK_STATUS(maki_conv_pin(conv, NULL, 8, true, &change, &err), MAKI_OK, &err);
    maki_conv_close(conv);
    logs_cut(l.path, size);
    unlink(l.index);
    CHECK_STATUS(fsck(&l, false, &s, &err), MAKI_CORRUPT, &err);
    CHECK_EQ(s.kinds[MAKI_FINDING_GONE], 1);
    CHECK(s.last.kind != MAKI_FINDING_GONE ||
          !strchr(s.last.what, '_')); /* words, no identifiers */
    CHECK_STATUS(fsck(&l, true, &s, &err), MAKI_OK, &err);
    CHECK_EQ(visible(&l), 5);
    logs_close(&l);

    logs_open(&l, "messages.jsonl");
    tap_row("without an index, the heads of the events reveal a changed row");
    write_conversation(&l, MAKI_LIT(""));
    unlink(l.index);
    check_verified(&l);
    apply_damage(&l, &damages[0]);
    CHECK_STATUS(fsck(&l, false, &s, &err), MAKI_CORRUPT, &err);
    CHECK_EQ(s.kinds[MAKI_FINDING_HEAD], 2);
    CHECK_STATUS(fsck(&l, true, &s, &err), MAKI_OK, &err);
    check_verified(&l);
    logs_close(&l);
}

/* ---- faults --------------------------------------------------------------------------------------------- */

static void test_faults(void)
{
    logs l;
    maki_err err = { 0 };
    logs_open(&l, "messages.jsonl");
    write_conversation(&l, MAKI_LIT(""));
    tap_row("verifying with each allocation failing in turn");
    for (size_t nth = 1;; nth++) {
        seen s;
        fake_alloc_fail_at(&l.fe, nth);
        maki_status st = verify(&l, &s, NULL, &err);
        bool injected = fake_alloc_failed(&l.fe);
        CHECK_STATUS(st, injected ? MAKI_NOMEM : MAKI_OK, &err);
        CHECK_EQ(fake_alloc_live(&l.fe), 0);
        CHECK_EQ(fake_files_live(&l.fe), 0);
        if (!injected) break;
    }
    fake_alloc_fail_at(&l.fe, 0);
    tap_row("verifying with each file call failing in turn");
    for (size_t nth = 1;; nth++) {
        seen s;
        fake_files_fail_at(&l.fe, nth, 5 /* EIO */);
        maki_status st = verify(&l, &s, NULL, &err);
        bool injected = fake_files_failed(&l.fe);
        if (st != MAKI_OK || !injected) CHECK_STATUS(st, injected ? MAKI_IO : MAKI_OK, &err);
        CHECK_EQ(s.n, 0);
        CHECK_EQ(fake_alloc_live(&l.fe), 0);
        CHECK_EQ(fake_files_live(&l.fe), 0);
        if (!injected) break;
    }
    fake_files_fail_at(&l.fe, 0, 0);
    logs_close(&l);

    tap_row("a repair that fails at any call can be repeated");
    for (size_t i = 0; i < COUNT(damages); i++) {
        for (size_t nth = 1 + i % 3;; nth += 3) { /* the steps are much the same for all of them */
            seen s;
            logs_open(&l, "messages.jsonl");
            write_conversation(&l, MAKI_LIT(""));
            apply_damage(&l, &damages[i]);
            fake_files_fail_at(&l.fe, nth, 28 /* ENOSPC */);
            maki_status st = fsck(&l, true, &s, &err);
            bool injected = fake_files_failed(&l.fe);
            fake_files_fail_at(&l.fe, 0, 0);
            if (st != MAKI_OK) CHECK(injected);
            CHECK_EQ(fake_alloc_live(&l.fe), 0);
            CHECK_EQ(fake_files_live(&l.fe), 0);
            if (!CHECK_STATUS(fsck(&l, true, &s, &err), MAKI_OK, &err)) {
                printf("# %s, call %zu\n", damages[i].name, nth);
            }
            CHECK(visible(&l) >= damages[i].visible);
            logs_close(&l);
            if (!injected) break;
        }
    }
}

int main(void)
{
    test_flips();
    test_fork();
    test_repairs();
    test_moved_events();
    test_gone();
    test_faults();
    return tap_end();
}
