/* platform.c -- each function of platform.h twice: with Linux system calls, and with POSIX only. */
#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if MAKI_LINUX
#include <malloc.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/prctl.h>

int maki_pipe(int ends[2])
{
    return pipe2(ends, O_CLOEXEC | O_NONBLOCK);
}

int maki_open_unnamed(const char *directory)
{
    return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

int maki_allocate(int fd, int64_t size)
{
    errno = posix_fallocate(fd, 0, size);
    return errno ? -1 : 0;
}

size_t maki_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

int64_t maki_monotonic_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void maki_huge_pages(void *at, size_t size, bool wanted)
{
    (void)madvise(at, size, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

void *maki_reserve_pages(size_t size)
{
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

#ifdef __GLIBC__
void maki_set_mmap_threshold(int bytes)
{
    mallopt(M_MMAP_THRESHOLD, bytes);
}

void maki_trim_heap(void)
{
    malloc_trim(0);
}
#endif

static void close_others(posix_spawn_file_actions_t *files)
{
    posix_spawn_file_actions_addclosefrom_np(files, 3);
}

bool maki_program_path(char *out, size_t capacity)
{
    ssize_t n = readlink("/proc/self/exe", out, capacity - 1);
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

const char *maki_program_name(void)
{
    return program_invocation_name;
}

void maki_exit_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

int maki_watch_open(void)
{
    return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

int maki_watch_add(int fd, const char *directory, bool contents)
{
    uint32_t changes = IN_CREATE | IN_MOVED_TO;
    if (contents) changes |= IN_MODIFY | IN_MOVED_FROM | IN_DELETE;
    return inotify_add_watch(fd, directory, changes | IN_ONLYDIR);
}

static void report_change(const struct inotify_event *event, maki_watch_fn *fn, void *ctx)
{
    if (event->mask & IN_Q_OVERFLOW)
        fn(ctx, -1, "");
    else if (event->mask & IN_IGNORED)
        fn(ctx, event->wd, "");
    else if (event->len)
        fn(ctx, event->wd, event->name);
}

void maki_watch_read(int fd, maki_watch_fn *fn, void *ctx)
{
    _Alignas(struct inotify_event) char changes[16384];
    const struct inotify_event *event;
    ssize_t n = read(fd, changes, sizeof changes);
    for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof *event + event->len)) {
        event = (const struct inotify_event *)(const void *)(changes + at);
        report_change(event, fn, ctx);
    }
}

#else

int maki_pipe(int ends[2])
{
    if (pipe(ends) != 0) return -1;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    return 0;
}

int maki_open_unnamed(const char *directory)
{
    (void)directory;
    errno = EOPNOTSUPP;
    return -1;
}

/* Only extends the size: blocks are allocated when they are written. */
int maki_allocate(int fd, int64_t size)
{
    off_t current_size = lseek(fd, 0, SEEK_END);
    return current_size < 0 ? -1 : current_size < size ? ftruncate(fd, size) : 0;
}

size_t maki_cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (size_t)n : 1;
}

int64_t maki_monotonic_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void maki_huge_pages(void *at, size_t size, bool wanted)
{
    (void)at, (void)size, (void)wanted;
}

void *maki_reserve_pages(size_t size)
{
    (void)size;
    return NULL;
}

/* There is no list of open descriptors: mark all below 1024. */
static void close_others(posix_spawn_file_actions_t *files)
{
    enum { DESCRIPTORS = 1024 };
    (void)files;
    for (int fd = 3; fd < DESCRIPTORS; fd++)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

bool maki_program_path(char *out, size_t capacity)
{
    (void)capacity;
    out[0] = '\0';
    return false;
}

const char *maki_program_name(void)
{
    return "maki";
}

void maki_exit_with_parent(void) {}

int maki_watch_open(void)
{
    errno = ENOSYS;
    return -1;
}

int maki_watch_add(int fd, const char *directory, bool contents)
{
    (void)fd, (void)directory, (void)contents;
    errno = ENOSYS;
    return -1;
}

void maki_watch_read(int fd, maki_watch_fn *fn, void *ctx)
{
    (void)fd, (void)fn, (void)ctx;
}

#endif

int64_t maki_process_id(void)
{
    return getpid();
}

#if !MAKI_LINUX || !defined(__GLIBC__)
void maki_set_mmap_threshold(int bytes)
{
    (void)bytes;
}

void maki_trim_heap(void) {}
#endif

/* ---- everywhere ------------------------------------------------------------------------------------ */

int maki_spawn(const char *program, const char *const argv[], const char *const environment[],
               pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t no_signals;
    sigemptyset(&no_signals);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &no_signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&files);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    close_others(&files);
    int error = posix_spawn(pid, program, &files, &attributes, (char *const *)(uintptr_t)argv,
                            (char *const *)(uintptr_t)environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}
