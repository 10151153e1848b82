/* erase.c -- delete every file of a conversation, the messages last (erase.h lists the files).
 *
 * In:    the path of the messages file.  Out: nothing of it on disk, or the first error after all others are gone.
 * Never: removes by prefix: each name is built, so another conversation with a longer name is safe. */
#include "history/erase.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/err.h"
#include "base/limits.h"
#include "log/index.h"
#include "log/lines.h"

enum { NAME_MAX = MAKI_PATH_MAX + 40 };

/* Former versions kept an index for each of these next to messages.idx. */
static const char *const former_encodings[] = { "cl100k_base", "claude", "chars4" };

typedef struct eraser {
    const maki_env *env;
    maki_status status; /* of the first file that could not be removed */
    maki_err *err;
} eraser;

/* True: it was removed.  False: it did not exist, or could not be removed (e->status). */
static bool remove_file(eraser *e, const char *name)
{
    const maki_files *files = e->env->files;
    if (files->unlink(files, name) == 0) return true;
    if (errno == ENOENT) return false;
    if (e->status == MAKI_OK)
        e->status = maki_fail_errno(e->err, "cannot remove a file of the conversation");
    return false;
}

/* The damaged copies that repairs of this file left: they are numbered from 1. */
static void remove_damaged(eraser *e, const char *path)
{
    char name[NAME_MAX + 20];
    int n = 1;
    do
        snprintf(name, sizeof name, "%s.damaged-%d", path, n++);
    while (remove_file(e, name));
}

static void remove_index(eraser *e, const char *path)
{
    char name[NAME_MAX + 20];
    snprintf(name, sizeof name, "%s.new", path);
    remove_file(e, name);
    remove_file(e, path);
}

/* Is `name` an index of this encoding?  STEM.claude.idx, a former name, may also be the index of STEM.claude.jsonl,
 * which counts in o200k_base and must stay. */
static bool is_index_of(const maki_env *env, const char *name, const char *encoding)
{
    maki_index index;
    if (maki_index_open(&index, env, name, false, NULL) != MAKI_OK) return false;
    bool same = strncmp(index.header.encoding, encoding, MAKI_INDEX_ENCODING_LEN) == 0;
    maki_index_close(&index);
    return same;
}

static maki_status erase(const maki_env *env, const char *path, bool damaged, maki_err *err)
{
    eraser e = { .env = env, .status = MAKI_OK, .err = err };
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
    for (size_t i = 0; i < sizeof former_encodings / sizeof former_encodings[0]; i++) {
        snprintf(name, sizeof name, "%.*s.idx.%s", stem, path, former_encodings[i]);
        remove_index(&e, name);
        snprintf(name, sizeof name, "%.*s.%s.idx", stem, path, former_encodings[i]);
        if (is_index_of(env, name, former_encodings[i])) remove_file(&e, name);
    }
    snprintf(name, sizeof name, "%.*s.idx", stem, path);
    remove_index(&e, name);
    if (damaged) remove_damaged(&e, events);
    if (damaged) remove_damaged(&e, path);
    remove_file(&e, events);
    remove_file(&e, path);
    return e.status;
}

maki_status maki_conv_erase(const maki_env *env, const char *path, maki_err *err)
{
    const maki_files *files = env->files;
    int fd = files->open(files, path, O_RDONLY | O_CLOEXEC, 0);
    maki_status st = fd >= 0 ? maki_file_lock(env, fd, LOCK_EX, err) : MAKI_OK;
    if (st == MAKI_OK) st = erase(env, path, true, err);
    if (fd >= 0) files->close(files, fd);
    return st;
}

void maki_conv_erase_new(const maki_env *env, const char *path)
{
    (void)!erase(env, path, false, NULL);
}
