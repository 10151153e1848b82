/* erase.c -- see erase.h. */
#include "history/erase.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "history/tally.h"
#include "log/beside.h"

enum { PATH_MOST = 4096, NAME_MOST = PATH_MOST + 40 };

typedef struct erasing {
    const maki_env *env;
    maki_status status; /* of the first that could not be removed */
    maki_err *err;
} erasing;

/* False: it was not there. */
static bool take(erasing *e, const char *name)
{
    const maki_files *files = e->env->files;
    if (files->unlink(files, name) == 0) return true;
    if (errno == ENOENT) return false;
    if (e->status == MAKI_OK)
        e->status = maki_fail_errno(e->err, "removing a file of the conversation");
    return false;
}

/* What repairs of this file put aside: they are numbered from 1. */
static void take_aside(erasing *e, const char *path)
{
    char name[NAME_MOST + 20];
    int n = 1;
    do
        snprintf(name, sizeof name, "%s.damaged-%d", path, n++);
    while (take(e, name));
}

static void take_index(erasing *e, const char *path)
{
    char name[NAME_MOST + 20];
    snprintf(name, sizeof name, "%s.new", path);
    take(e, name);
    take(e, path);
}

static maki_status erase(const maki_env *env, const char *path, bool aside, maki_err *err)
{
    erasing e = { .env = env, .status = MAKI_OK, .err = err };
    char name[NAME_MOST], events[NAME_MOST];
    size_t len = strlen(path), end = strlen(".jsonl");
    if (len <= end || len >= PATH_MOST || strcmp(path + len - end, ".jsonl") != 0)
        return maki_fail(err, MAKI_INVALID, "a messages file is a path that ends with .jsonl");
    int stem = (int)(len - end);
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    bool task = strcmp(path + folder, "messages.jsonl") == 0;
    snprintf(events, sizeof events, "%.*s%s", task ? folder : stem, path,
             task ? "events.jsonl" : ".events.jsonl");
    for (size_t f = 1; maki_tally_name(f); f++) { /* 0 is the family of the first index */
        maki_err why = { 0 };
        maki_status st = maki_beside_remove(env, path, maki_tally_name(f), &why);
        if (st != MAKI_OK && e.status == MAKI_OK) {
            e.status = st;
            if (err) *err = why;
        }
        if (maki_beside_path(path, maki_tally_name(f), name, sizeof name)) take_index(&e, name);
    }
    snprintf(name, sizeof name, "%.*s.idx", stem, path);
    take_index(&e, name);
    if (aside) take_aside(&e, events);
    if (aside) take_aside(&e, path);
    take(&e, events);
    take(&e, path);
    return e.status;
}

maki_status maki_conv_erase(const maki_env *env, const char *path, maki_err *err)
{
    return erase(env, path, true, err);
}

void maki_conv_unmake(const maki_env *env, const char *path)
{
    (void)!erase(env, path, false, NULL);
}
