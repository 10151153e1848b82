/* token_files.c -- list files: walk directories with fts, sorted by name, and store each file or its error; print
 * file names. */
#include "token_files.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/str_util.h"
#include "base/text.h"
#include "cli.h"

static void *check_memory(void *p)
{
    if (p) return p;
    fputs("maki: out of memory\n", stderr);
    exit(maki_status_exit(MAKI_NOMEM));
}

static token_file *add_file(token_files *files, const char *path)
{
    if (files->count == files->capacity) {
        files->capacity = files->capacity * 2 + 16;
        files->items =
            check_memory(realloc(files->items, files->capacity * sizeof files->items[0]));
    }
    token_file *file = &files->items[files->count++];
    *file = (token_file){ .name = check_memory(strdup(path)) };
    file->counted.path = cli_streq(path, "-") ? NULL : file->name;
    return file;
}

void token_files_free(token_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->items[i].name);
    free(files->items);
    *files = (token_files){ 0 };
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void add_entry(token_files *files, FTS *walk, FTSENT *entry)
{
    bool named = entry->fts_level == FTS_ROOTLEVEL;
    token_file *file;
    switch (entry->fts_info) {
    case FTS_D:
        if (!named && cli_streq(entry->fts_name, ".git")) fts_set(walk, entry, FTS_SKIP);
        break;
    case FTS_F:
        file = add_file(files, entry->fts_path);
        file->counted.size = (uint64_t)entry->fts_statp->st_size; /* 0 for files of /proc */
        file->counted.skip_binary = !named;
        break;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        file = add_file(files, entry->fts_path);
        errno = entry->fts_errno;
        maki_fail_errno(&file->counted.err, "");
        break;
    case FTS_DEFAULT:
    case FTS_SLNONE:
    case FTS_SL: /* on the command line anything is read, in directories only files are */
        if (named) add_file(files, entry->fts_path);
        break;
    default: break;
    }
}

void token_files_add(token_files *files, const char *path)
{
    char *paths[] = { check_memory(strdup(path)), NULL };
    FTSENT *entry;
    if (cli_streq(path, "-")) {
        add_file(files, path);
        free(paths[0]);
        return;
    }
    FTS *walk =
        path[0] ? fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name) : NULL;
    if (!walk) {
        errno = path[0] ? errno : ENOENT;
        maki_fail_errno(&add_file(files, path)->counted.err, "");
    } else {
        while ((entry = fts_read(walk)) != NULL)
            add_entry(files, walk, entry);
        fts_close(walk);
    }
    free(paths[0]);
}

/* ---- names ---------------------------------------------------------------------------------------- */

/* C0 and C1 controls, line separators and bidirectional formatting characters. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x206F);
}

void token_name_print(FILE *to, const char *name)
{
    maki_str rest = maki_str_of(name);
    for (bool bad = true; bad;) {
        maki_str text = maki_utf8_next_valid(&rest, &bad);
        for (size_t i = 0, len; i < text.len; i += len) {
            if (is_control(maki_utf8_decode(text, i, &len)))
                fputc('?', to);
            else
                fwrite(text.ptr + i, 1, len, to);
        }
        if (bad) fputc('?', to);
    }
}
