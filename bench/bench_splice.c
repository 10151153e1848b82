/* bench_splice.c -- write a file of messages without one of them.
 *
 *     bench_splice IN OUT NUMBER
 *
 * IN is one JSON array; one pass finds the message, checks the whole file and copies the rest.
 * Prints one JSON object. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/files.h"
#include "base/splice.h"

#include "bench_peak.h"

int main(int argc, char **argv)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    if (argc != 4) {
        fprintf(stderr, "usage: bench_splice IN OUT NUMBER\n");
        return 2;
    }
    int in = open(argv[1], O_RDONLY | O_CLOEXEC);
    int out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (in < 0 || out < 0) {
        perror(in < 0 ? argv[1] : argv[2]);
        return 1;
    }
    maki_fd_sink target = { env.files, out };
    maki_status st =
        maki_splice_item(&env, in, strtoull(argv[3], NULL, 10), maki_fd_sink_of(&target), &err);
    close(in);
    if (close(out) != 0 && st == MAKI_OK) st = maki_fail_errno(&err, "closing");
    if (st != MAKI_OK) {
        fprintf(stderr, "bench_splice: %s\n", err.msg);
        return 1;
    }
    printf("{\"peak_kb\":%lu}\n", bench_peak_kb());
    return 0;
}
