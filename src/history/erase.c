/* erase.c -- see erase.h. */
#include "history/erase.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/limits.h"
#include "log/index.h"

enum { NAME_MAX = MAKI_PATH_MAX + 40 };

/* Former versions kept an index for each of these beside messages.idx. */
static const char *const former[] = { "cl100k_base", "claude", "chars4" };

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
    char name[NAME_MAX + 20];
    int n = 1;
    do
        snprintf(name, sizeof name, "%s.damaged-%d", path, n++);
    while (take(e, name));
}

static void take_index(erasing *e, const char *path)
{
    char name[NAME_MAX + 20];
    snprintf(name, sizeof name, "%s.new", path);
    take(e, name);
    take(e, path);
}

/* STEM.claude.idx, as it was called first, is also the index of STEM.claude.jsonl; that one counts in o200k_base. */
static bool counts_in(const maki_env *env, const char *name, const char *family)
{
    maki_index index;
    if (maki_index_open(&index, env, name, false, NULL) != MAKI_OK) return false;
    bool same = strncmp(index.header.family, family, MAKI_FAMILY_LEN) == 0;
    maki_index_close(&index);
    return same;
}

static maki_status erase(const maki_env *env, const char *path, bool aside, maki_err *err)
{
    erasing e = { .env = env, .status = MAKI_OK, .err = err };
    char name[NAME_MAX], events[NAME_MAX];
    size_t len = strlen(path), end = strlen(".jsonl");
    if (len <= end || len >= MAKI_PATH_MAX || strcmp(path + len - end, ".jsonl") != 0)
        return maki_fail(err, MAKI_INVALID, "a messages file is a path that ends with .jsonl");
    int stem = (int)(len - end);
    const char *slash = strrchr(path, '/');
    int directory = slash ? (int)(slash - path) + 1 : 0;
    bool task = strcmp(path + directory, "messages.jsonl") == 0;
    snprintf(events, sizeof events, "%.*s%s", task ? directory : stem, path,
             task ? "events.jsonl" : ".events.jsonl");
    for (size_t i = 0; i < sizeof former / sizeof former[0]; i++) {
        snprintf(name, sizeof name, "%.*s.idx.%s", stem, path, former[i]);
        take_index(&e, name);
        snprintf(name, sizeof name, "%.*s.%s.idx", stem, path, former[i]);
        if (counts_in(env, name, former[i])) take(&e, name);
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

void maki_conv_erase_new(const maki_env *env, const char *path)
{
    (void)!erase(env, path, false, NULL);
}
