/* bench_request.c -- write a conversation as the body of a request to a provider.
 *
 *     bench_request CONVERSATION PROTOCOL OUT   `-` instead of OUT: only the length is worked out
 *
 * The conversation is a file of messages; its index is made when it is not there.  Prints one JSON object: the
 * length of the body and the memory it took. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "assemble/request.h"
#include "base/err.h"
#include "base/files.h"
#include "base/str_util.h"

#include "bench_peak.h"

static maki_status write_file(const maki_env *env, maki_conv *conv, const maki_view *view,
                              const maki_request *request, const char *path, uint64_t *size,
                              maki_err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0) return maki_fail_errno(err, "opening the file to write");
    maki_fd_sink target = { env->files, fd };
    maki_status st = maki_request_write(conv, view, request, maki_fd_sink_of(&target), err);
    *size = (uint64_t)lseek(fd, 0, SEEK_END);
    if (close(fd) != 0 && st == MAKI_OK) st = maki_fail_errno(err, "closing");
    return st;
}

static maki_status count(void *ctx, maki_str bytes, maki_err *err)
{
    (void)err;
    *(uint64_t *)ctx += bytes.len;
    return MAKI_OK;
}

static maki_status write_request(const char *path, const char *protocol, const char *out,
                                 uint64_t *size, maki_err *err)
{
    static const maki_str system[] = { { "You are a careful engineer.", 27 } };
    maki_env env = maki_env_system();
    maki_conv_options options = { .durability = MAKI_DURABILITY_AT_END };
    maki_request request = { .model = MAKI_LIT("bench"),
                             .max_tokens = 1024,
                             .stream = true,
                             .system = system,
                             .system_count = 1,
                             .async = true };
    const maki_view *view;
    maki_conv *conv = NULL;
    maki_status st = maki_request_protocol_parse(maki_str_of(protocol), &request.protocol, err);
    if (st == MAKI_OK) st = maki_conv_open(&env, path, &options, &conv, err);
    if (st == MAKI_OK) st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) {
        request.async = strcmp(out, "-") != 0;
        st = request.async
                 ? write_file(&env, conv, view, &request, out, size, err)
                 : maki_request_write(conv, view, &request, (maki_sink){ count, size }, err);
    }
    maki_conv_close(conv);
    return st;
}

int main(int argc, char **argv)
{
    uint64_t size = 0;
    maki_err err = { 0 };
    if (argc != 4) {
        fprintf(stderr, "usage: bench_request CONVERSATION PROTOCOL OUT\n");
        return 2;
    }
    if (write_request(argv[1], argv[2], argv[3], &size, &err) != MAKI_OK) {
        fprintf(stderr, "bench_request: %s\n", err.msg);
        return 1;
    }
    printf("{\"bytes\":%" PRIu64 ",\"peak_kb\":%lu}\n", size, bench_peak_kb());
    return 0;
}
