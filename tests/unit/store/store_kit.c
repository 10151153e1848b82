/* store_kit.c -- write the files of sessions, and open, list and read the index (store_kit.h). */
#include "store_kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str_util.h"

void kit_open(kit *k)
{
    char path[300];
    fake_env_init(&k->fe);
    fake_random_seed(&k->fe, 7);
    directory_open(&k->home);
    snprintf(path, sizeof path, "%s/agents", k->home.path);
    if (mkdir(path, 0700) != 0) abort();
    snprintf(path, sizeof path, "%s/agents/default", k->home.path);
    if (mkdir(path, 0700) != 0) abort();
    snprintf(k->sessions, sizeof k->sessions, "%s/sessions", path);
    if (mkdir(k->sessions, 0700) != 0) abort();
    snprintf(k->view, sizeof k->view, "%s/sessions.json", path);
    snprintf(k->lock, sizeof k->lock, "%s/sessions.lock", path);
}

void kit_close(kit *k)
{
    directory_close(&k->home);
}

static void write_file(const kit *k, const char *id, const char *end, const char *text,
                       const char *mode)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s%s", k->sessions, id, end);
    FILE *f = fopen(path, mode);
    if (!f || fputs(text, f) < 0 || fclose(f) != 0) abort();
}

void kit_session(const kit *k, const char *id, const char *rows, const char *events)
{
    write_file(k, id, ".jsonl", rows, "w");
    if (events) write_file(k, id, ".events.jsonl", events, "w");
}

void kit_append(const kit *k, const char *id, const char *file, const char *text)
{
    write_file(k, id, file, text, "a");
}

enum { LINES = 64, LINE = 512 };

typedef struct lines {
    char at[LINES][LINE];
    size_t count;
} lines;

static const char *or_dash(const char *text)
{
    return text[0] ? text : "-";
}

static maki_status add_line(void *ctx, const maki_session *s, maki_err *err)
{
    lines *l = ctx;
    (void)err;
    if (l->count == LINES) abort();
    snprintf(l->at[l->count++], LINE, "%s %s %d %d %d %s %s %s\n", s->id, or_dash(s->key),
             (int)s->messages, (int)s->input, (int)s->output, or_dash(s->model),
             s->archived ? "archived" : "active", or_dash(s->overrides));
    return MAKI_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

void kit_read(kit *k, kit_all *out)
{
    static lines l;
    maki_session_index_query in = {
        .home = k->home.path, .agent = "default", .wait_ms = 20, .fn = add_line, .ctx = &l
    };
    l.count = 0;
    memset(out, 0, sizeof *out);
    out->status = maki_session_index_each(&k->fe.env, &in, &out->report, &out->err);
    qsort(l.at, l.count, LINE, by_text);
    for (size_t i = 0; i < l.count; i++)
        strncat(out->text, l.at[i], sizeof out->text - strlen(out->text) - 1);
}
