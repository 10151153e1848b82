/* directory.c -- mkdtemp, nftw and stdio; every failure aborts, because it is no result of a test. */
#include "directory.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void require(int ok, const char *what)
{
    if (ok) return;
    perror(what);
    abort();
}

void directory_open(directory *dir)
{
    const char *base = getenv("TMPDIR");
    snprintf(dir->path, sizeof dir->path, "%s/maki-test.XXXXXX", base && *base ? base : "/tmp");
    require(mkdtemp(dir->path) != NULL, dir->path);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

void directory_close(directory *dir)
{
    require(nftw(dir->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0, dir->path);
}

size_t directory_count(const directory *dir)
{
    size_t n = 0;
    DIR *stream = opendir(dir->path);
    require(stream != NULL, dir->path);
    for (struct dirent *entry; (entry = readdir(stream));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(stream);
    return n;
}

const char *directory_file(const directory *dir, const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir->path, name);
    return path;
}

maki_str directory_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return (maki_str){ NULL, 0 };
    require(fseek(file, 0, SEEK_END) == 0, path);
    size_t n = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(n + 1);
    require(bytes && fread(bytes, 1, n, file) == n, path);
    fclose(file);
    return (maki_str){ bytes, n };
}

void directory_write(const char *path, maki_str bytes)
{
    FILE *file = fopen(path, "wb");
    require(file && fwrite(bytes.ptr, 1, bytes.len, file) == bytes.len && fclose(file) == 0, path);
}
