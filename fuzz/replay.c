/* replay.c -- a main for a fuzz target where there is no fuzzer: run every file of the directories given.
 *
 * Prints TAP, a line for each directory.  A directory that is missing or empty fails: a corpus that nobody
 * runs is worse than none.  A broken property aborts, after the name of the file. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

/* The file's bytes in memory that ends where they end, so that reading past them is seen. */
static bool run_file(const char *path)
{
    struct stat st;
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    if (fstat(fileno(file), &st) != 0 || !S_ISREG(st.st_mode)) {
        fclose(file);
        return false;
    }
    size_t size = (size_t)st.st_size;
    uint8_t *data = malloc(size ? size : 1);
    bool read = data && fread(data, 1, size, file) == size;
    fclose(file);
    if (read) {
        printf("# %s\n", path);
        fflush(stdout);
        LLVMFuzzerTestOneInput(data, size);
    }
    free(data);
    return read;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Gives how many files ran, or -1 when the directory or a file cannot be read. */
static int run_directory(const char *directory)
{
    struct dirent **entries = NULL;
    int count = scandir(directory, &entries, not_hidden, by_name);
    int ran = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        int n = snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        if (ran >= 0 && n < (int)sizeof path && run_file(path)) {
            ran++;
        } else {
            printf("# cannot read %s\n", path);
            ran = -1;
        }
        free(entries[i]);
    }
    free(entries);
    return count < 0 ? -1 : ran;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    printf("1..%d\n", argc - 1);
    for (int i = 1; i < argc; i++) {
        int ran = run_directory(argv[i]);
        if (ran > 0) {
            printf("ok %d - %s: %d files\n", i, argv[i], ran);
        } else {
            failed = 1;
            printf("not ok %d - %s: %s\n", i, argv[i],
                   ran == 0 ? "empty" : "missing or unreadable");
        }
    }
    return failed;
}
