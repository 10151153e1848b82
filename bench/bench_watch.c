/* bench_watch.c -- run a program and report its peak memory.
 *
 *     bench_watch PROGRAM ARGUMENTS ...
 *
 * What it prints goes where it went; then one line on standard error, {"peak_kb":N,"us":N}: ru_maxrss,
 * an upper bound of the peak of RssAnon, and the time from before the fork until it ended.  That
 * figure starts from the memory of the program that forked, which here is next to nothing; from
 * bench/run it would be that of the interpreter. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
    struct rusage usage = { 0 };
    int status = 0;
    if (argc < 2) return 2;
    double began = now_us();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("bench_watch");
        return 1;
    }
    fprintf(stderr, "{\"peak_kb\":%ld,\"us\":%.0f}\n", usage.ru_maxrss, now_us() - began);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
