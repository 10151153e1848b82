/* token_files.c -- see token_files.h. */
#include "token_files.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "cli.h"

static void *must(void *p)
{
    if (p) return p;
    fputs("maki: out of memory\n", stderr);
    exit(maki_status_exit(MAKI_NOMEM));
}

static token_file *add(token_files *files, const char *path)
{
    if (files->count == files->room) {
        files->room = files->room * 2 + 16;
        files->at = must(realloc(files->at, files->room * sizeof files->at[0]));
    }
    token_file *file = &files->at[files->count++];
    *file = (token_file){ .name = must(strdup(path)) };
    file->counted.path = cli_is(path, "-") ? NULL : file->name;
    return file;
}

void token_files_free(token_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->at[i].name);
    free(files->at);
    *files = (token_files){ 0 };
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void add_entry(token_files *files, FTS *walk, FTSENT *entry)
{
    bool given = entry->fts_level == FTS_ROOTLEVEL;
    token_file *file;
    switch (entry->fts_info) {
    case FTS_D:
        if (!given && cli_is(entry->fts_name, ".git")) fts_set(walk, entry, FTS_SKIP);
        break;
    case FTS_F:
        file = add(files, entry->fts_path);
        file->counted.size = (uint64_t)entry->fts_statp->st_size; /* 0: files of /proc say so */
        file->counted.skip_binary = !given;
        break;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        file = add(files, entry->fts_path);
        errno = entry->fts_errno;
        maki_fail_errno(&file->counted.err, "");
        break;
    case FTS_DEFAULT:
    case FTS_SLNONE:
    case FTS_SL: /* what was named is read whatever it is; in folders only files are */
        if (given) add(files, entry->fts_path);
        break;
    default: break;
    }
}

void token_files_add(token_files *files, const char *path)
{
    char *paths[] = { must(strdup(path)), NULL };
    FTSENT *entry;
    if (cli_is(path, "-")) {
        add(files, path);
        free(paths[0]);
        return;
    }
    FTS *walk =
        path[0] ? fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name) : NULL;
    if (!walk) {
        errno = path[0] ? errno : ENOENT;
        maki_fail_errno(&add(files, path)->counted.err, "");
    } else {
        while ((entry = fts_read(walk)) != NULL)
            add_entry(files, walk, entry);
        fts_close(walk);
    }
    free(paths[0]);
}

/* ---- names ---------------------------------------------------------------------------------------- */

/* The length of the character at s, 0 when it is not UTF-8. */
static size_t char_len(const unsigned char *s)
{
    static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    if (len <= 1) return len;
    if (s[0] > 0xF4) return 0;
    unsigned code = s[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        code = code << 6 | (s[i] & 0x3Fu);
    }
    if (code < least[len] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return 0;
    return len;
}

/* Would a terminal do something else than show it?  C1 controls, and marks that turn a line around. */
static bool is_control(const unsigned char *s, size_t len)
{
    if (len == 1) return s[0] < 0x20 || s[0] == 0x7F;
    if (len == 2) return s[0] == 0xC2 && s[1] < 0xA0;
    if (len != 3 || s[0] != 0xE2) return false;
    return (s[1] == 0x80 && s[2] >= 0xA8 && s[2] <= 0xAE) ||
           (s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xAF);
}

void token_name_print(FILE *to, const char *name)
{
    const unsigned char *s = (const unsigned char *)name;
    while (*s) {
        size_t len = char_len(s);
        if (len == 0 || is_control(s, len))
            fputc('?', to);
        else
            fwrite(s, 1, len, to);
        s += len ? len : 1;
    }
}

void token_name_json(FILE *to, const char *name)
{
    const unsigned char *s = (const unsigned char *)name;
    fputc('"', to);
    while (*s) {
        size_t len = char_len(s);
        if (len == 0)
            fputs("\\ufffd", to);
        else if (*s == '"' || *s == '\\')
            fprintf(to, "\\%c", *s);
        else if (len == 1 && is_control(s, len))
            fprintf(to, "\\u%04x", *s);
        else
            fwrite(s, 1, len, to);
        s += len ? len : 1;
    }
    fputc('"', to);
}
