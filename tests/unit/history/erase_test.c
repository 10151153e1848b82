/* erase_test.c -- erasing a conversation removes all of its files and no others. */
#include "history/erase.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "directory.h"
#include "fake_env.h"
#include "history/conv.h"
#include "log/index.h"
#include "tap.h"

/* The names in a directory, sorted, one per line. */
static void list(const directory *f, char *out, size_t capacity)
{
    struct dirent **names = NULL;
    int n = scandir(f->path, &names, NULL, alphasort);
    size_t len = 0;
    out[0] = '\0';
    for (int i = 0; i < n; i++) {
        if (names[i]->d_name[0] != '.')
            len += (size_t)snprintf(out + len, capacity - len, "%s\n", names[i]->d_name);
        free(names[i]);
    }
    free(names);
}

/* An index of a former version, in another vocabulary. */
static void make_former(fake_env *fe, const char *path, const char *format, const char *family)
{
    static const unsigned char start[MAKI_CHAIN_LEN];
    char name[700];
    maki_index_header header;
    maki_index index;
    maki_err err = { 0 };
    snprintf(name, sizeof name, format, (int)(strlen(path) - strlen(".jsonl")), path, family);
    maki_index_header_init(&header, family, 0, start);
    CHECK_STATUS(maki_index_create(&index, &fe->env, name, &header, &err), MAKI_OK, &err);
    maki_index_close(&index);
}

/* A conversation that former versions have counted in every vocabulary. */
static void make(fake_env *fe, const char *path)
{
    static const char *const rows[] = { "{\"role\":\"user\",\"content\":\"消して 🧹\"}",
                                        "{\"role\":\"assistant\",\"content\":\"네\"}" };
    maki_conv_options options = { .create = true,
                                  .durability = MAKI_DURABILITY_AT_END,
                                  .threads = 1 };
    maki_conv *conv = NULL;
    maki_change change;
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_open(&fe->env, path, &options, &conv, &err), MAKI_OK, &err);
    for (size_t i = 0; i < 2; i++) {
        maki_str row = { rows[i], strlen(rows[i]) };
        CHECK_STATUS(maki_conv_append(conv, NULL, &row, 1, &change, &err), MAKI_OK, &err);
    }
    CHECK_STATUS(maki_conv_pin(conv, NULL, 1, true, &change, &err), MAKI_OK, &err);
    maki_conv_close(conv);
    make_former(fe, path, "%.*s.idx.%s", "claude");
    make_former(fe, path, "%.*s.idx.%s", "chars4");
    make_former(fe, path, "%.*s.%s.idx", "cl100k_base");
}

static const char *in(const directory *f, const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return path;
}

static void test_all(const char *name, const char *events)
{
    static const char *const others[] = { "talk.claude.jsonl", "talk2.jsonl", "tal.jsonl" };
    fake_env fe;
    directory f;
    maki_err err = { 0 };
    char before[4000], after[4000], text[600];
    fake_env_init(&fe);
    directory_open(&f);
    for (size_t i = 0; i < 3; i++)
        make(&fe, in(&f, others[i]));
    directory_write(in(&f, "talk.txt"), MAKI_LIT("メモ"));
    list(&f, before, sizeof before);
    make(&fe, in(&f, name));
    int stem = (int)(strlen(name) - strlen(".jsonl"));
    static const char *const left[] = { ".idx.new", ".idx.claude.new", ".jsonl.damaged-1",
                                        ".jsonl.damaged-2" };
    for (size_t i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "%.*s%s", stem, name, left[i]);
        directory_write(in(&f, text), MAKI_LIT("残り"));
    }
    snprintf(text, sizeof text, "%s.damaged-1", events);
    directory_write(in(&f, text), MAKI_LIT("残り"));
    list(&f, after, sizeof after);
    CHECK(strcmp(before, after) != 0);

    tap_row("%s: all of its files are removed, and no other", name);
    CHECK_STATUS(maki_conv_erase(&fe.env, in(&f, name), &err), MAKI_OK, &err);
    list(&f, after, sizeof after);
    CHECK_CSTR(after, before);
    tap_row("%s: erasing a failed creation keeps damaged copies", name);
    make(&fe, in(&f, name));
    snprintf(text, sizeof text, "%s.damaged-1", name);
    directory_write(in(&f, text), MAKI_LIT("前のもの"));
    maki_conv_erase_new(&fe.env, in(&f, name));
    CHECK_EQ(unlink(in(&f, text)), 0);
    list(&f, after, sizeof after);
    CHECK_CSTR(after, before);
    tap_row("%s: erasing twice is no error", name);
    CHECK_STATUS(maki_conv_erase(&fe.env, in(&f, name), &err), MAKI_OK, &err);
    CHECK_EQ(fake_alloc_live(&fe), 0);
    directory_close(&f);
}

static void test_faults(void)
{
    tap_row("each file call failing in turn: an error, and the next erase removes the rest");
    for (size_t nth = 1;; nth++) {
        fake_env fe;
        directory f;
        maki_err err = { 0 };
        fake_env_init(&fe);
        directory_open(&f);
        make(&fe, in(&f, "talk.jsonl"));
        fake_files_fail_at(&fe, nth, EIO);
        maki_status st = maki_conv_erase(&fe.env, in(&f, "talk.jsonl"), &err);
        bool injected = fake_files_failed(&fe);
        fake_files_fail_at(&fe, 0, 0);
        CHECK(st == MAKI_OK || (injected && st == MAKI_IO));
        CHECK_STATUS(maki_conv_erase(&fe.env, in(&f, "talk.jsonl"), &err), MAKI_OK, &err);
        CHECK_EQ(directory_count(&f), 0);
        directory_close(&f);
        if (!injected) break;
    }
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    tap_row("a path that is not a messages file is refused");
    CHECK_STATUS(maki_conv_erase(&env, "talk.txt", &err), MAKI_INVALID, &err);
    CHECK_STATUS(maki_conv_erase(&env, ".jsonl", &err), MAKI_INVALID, &err);
}

int main(void)
{
    test_all("talk.jsonl", "talk.events.jsonl");
    test_all("messages.jsonl", "events.jsonl");
    test_faults();
    return tap_end();
}
