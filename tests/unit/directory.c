/* directory.c -- see directory.h. */
#include "directory.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void need(int ok, const char *what)
{
    if (ok) return;
    perror(what);
    abort();
}

void directory_open(directory *f)
{
    const char *base = getenv("TMPDIR");
    snprintf(f->path, sizeof f->path, "%s/maki-test.XXXXXX", base && *base ? base : "/tmp");
    need(mkdtemp(f->path) != NULL, f->path);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

void directory_close(directory *f)
{
    need(nftw(f->path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0, f->path);
}

size_t directory_count(const directory *f)
{
    size_t n = 0;
    DIR *dir = opendir(f->path);
    need(dir != NULL, f->path);
    for (struct dirent *entry; (entry = readdir(dir));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

const char *directory_file(const directory *f, const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    return path;
}

maki_str directory_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return (maki_str){ NULL, 0 };
    need(fseek(file, 0, SEEK_END) == 0, path);
    size_t n = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(n + 1);
    need(bytes && fread(bytes, 1, n, file) == n, path);
    fclose(file);
    return (maki_str){ bytes, n };
}

void directory_write(const char *path, maki_str bytes)
{
    FILE *file = fopen(path, "wb");
    need(file && fwrite(bytes.ptr, 1, bytes.len, file) == bytes.len && fclose(file) == 0, path);
}
