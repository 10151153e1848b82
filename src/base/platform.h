/* platform.h -- what only Linux has, and nothing else in src/ may use.
 *
 * Elsewhere, and with -DMAKI_PORTABLE on Linux too, POSIX stands in for it: slower or with less
 * comfort, never wrong.  `scripts/layers` finds such a call in any other file. */
#ifndef MAKI_BASE_PLATFORM_H
#define MAKI_BASE_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__linux__) && !defined(MAKI_PORTABLE)
#define MAKI_LINUX 1
#else
#define MAKI_LINUX 0
#endif

/* A name for this start of the machine; where there is no such file, nobody can tell two starts apart. */
#define MAKI_BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

/* As pipe(2), both ends non-blocking and closed by exec. */
int maki_pipe(int ends[2]);

/* An open file without a name in `folder`; -1 with EOPNOTSUPP where there are none. */
int maki_open_unnamed(const char *directory);
/* The file takes up `size` bytes of the disk.  0, or -1 and errno. */
int maki_allocate(int fd, int64_t size);

/* Cores this process may run on, at least 1. */
size_t maki_cores(void);
/* Milliseconds since some moment, for timeouts: a few of them late, but cheap. */
int64_t maki_monotonic_ms(void);

/* Pages of 2 MB for these bytes, or never. */
void maki_huge_pages(void *at, size_t size, bool wanted);
/* Addresses whose pages are taken when they are first written to; NULL: none. */
void *maki_reserve_pages(size_t size);
/* Blocks of at least `bytes` are mapped, so that freeing one gives its pages back; and all other free pages now. */
void maki_set_mmap_threshold(int bytes);
void maki_trim_heap(void);

/* The file of this program; false where it cannot be told. */
bool maki_program_path(char *out, size_t capacity);
/* This process ends when the one that started it does. */
void maki_exit_with_parent(void);

/* The bytes of a file as read-only data: `name`, aligned for any table, and `name`_end, where a NUL follows.  The
 * compiler does not see the file: the build file has to say that it depends on it. */
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
