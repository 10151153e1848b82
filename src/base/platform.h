/* platform.h -- wrappers around Linux system calls; no other file in src/ may make them.
 *
 * Elsewhere, and with -DMAKI_PORTABLE on Linux too, they use POSIX: slower or with fewer features, never wrong.
 * `scripts/layers` reports such a call in any other file. */
#ifndef MAKI_BASE_PLATFORM_H
#define MAKI_BASE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__linux__) && !defined(MAKI_PORTABLE)
#define MAKI_LINUX 1
#else
#define MAKI_LINUX 0
#endif

/* The id of this boot of the machine; where the file is missing, two boots cannot be distinguished. */
#define MAKI_BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

/* pipe(2) with both ends O_NONBLOCK and O_CLOEXEC. */
int maki_pipe(int ends[2]);

/* Open a file without a name in `directory` (O_TMPFILE); -1 with EOPNOTSUPP where the system cannot. */
int maki_open_unnamed(const char *directory);
/* Allocate disk space for the first `size` bytes of a file.  0, or -1 and errno. */
int maki_allocate(int fd, int64_t size);

/* The number of cores that this process may run on, at least 1. */
size_t maki_cores(void);
/* A monotonic clock in milliseconds, for timeouts: a few milliseconds late, but cheap. */
int64_t maki_monotonic_ms(void);

/* Use pages of 2 MB for this memory, or never do. */
void maki_huge_pages(void *at, size_t size, bool wanted);
/* Reserve addresses; a page gets memory when it is first written to.  NULL on failure. */
void *maki_reserve_pages(size_t size);
/* malloc: map blocks of at least `bytes`, so that freeing one returns its pages; return all free pages now. */
void maki_set_mmap_threshold(int bytes);
void maki_trim_heap(void);

/* The path of this executable; false where it is unknown. */
bool maki_program_path(char *out, size_t capacity);
/* The name this program was started by, a path or not. */
const char *maki_program_name(void);

/* Start a program with this argv and environment, no signal blocked, /dev/null as its standard files and no other file
 * open.  Returns 0 and *pid, or an errno. */
int maki_spawn(const char *program, const char *const argv[], const char *const environment[],
               pid_t *pid);
int64_t maki_process_id(void);
/* Get SIGTERM when the parent process ends. */
void maki_exit_with_parent(void);

/* Watch directories for changes (inotify).  A descriptor, readable when something has changed; -1 where the system cannot. */
int maki_watch_open(void);
/* Report names that appear in a directory; with `contents`, also those that vanish and files that are written to.
 * The id of the watch, the same one for the same directory; -1 and errno on failure. */
int maki_watch_add(int fd, const char *directory, bool contents);
/* One change.  `name` is that of a file or directory in the watched one; "": the watched directory itself is gone, and so is
 * its watch.  `watch` -1: too many changes at once, some are not reported. */
typedef void maki_watch_fn(void *ctx, int watch, const char *name);
/* Report changes without waiting for any: a buffer of them, so that a busy directory does not keep the caller. */
void maki_watch_read(int fd, maki_watch_fn *fn, void *ctx);

/* Embed a file as read-only data: `name`, aligned to 64 bytes, to `name`_end, where a NUL follows.  The compiler does not
 * see the file: the build file must declare the dependency. */
#ifdef __APPLE__
#define MAKI_EMBED_SECTION     ".section __TEXT,__const\n"
#define MAKI_EMBED_LABEL(name) ".globl _" name "\n.private_extern _" name "\n_" name ":\n"
#else
#define MAKI_EMBED_SECTION     ".section .rodata\n"
#define MAKI_EMBED_LABEL(name) ".globl " name "\n.hidden " name "\n" name ":\n"
#endif
#define MAKI_EMBED(name, path)                                                     \
    __asm__(MAKI_EMBED_SECTION ".balign 64\n" MAKI_EMBED_LABEL(                    \
        #name) ".incbin \"" path "\"\n" MAKI_EMBED_LABEL(#name "_end") ".byte 0\n" \
                                                                       ".text\n")

#endif
