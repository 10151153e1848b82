/* config_file.c -- which file is the configuration, and its bytes. */
#include <errno.h>
#include <fcntl.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str_util.h"
#include "config/config_internal.h"
#include "config/expand.h"

static bool is_there(const maki_env *env, const char *path)
{
    int fd = env->files->open(env->files, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd >= 0) env->files->close(env->files, fd);
    return fd >= 0 ||
           (errno != ENOENT && errno != ENOTDIR); /* one that may not be read is told of */
}

/* Where it may be, in this order; without a variable in the working folder. */
static const struct place {
    const char *variable, *behind;
    bool must; /* it is that file, or none that can be read */
    bool last; /* a folder of that name hides those below */
} places[] = {
    { "MAKI_CONFIG", "", true, true },
    { NULL, "maki.yaml", false, false },
    { "XDG_CONFIG_HOME", "/maki/maki.yaml", false, true },
    { "HOME", "/.config/maki/maki.yaml", false, true },
};

maki_status maki_config_which(maki_config *config, const maki_config_options *options,
                              maki_err *err)
{
    if (options->file) config->file = maki_arena_print(&config->arena, "%s", options->file).ptr;
    for (size_t i = 0; !config->file && i < sizeof places / sizeof places[0]; i++) {
        const struct place *place = &places[i];
        maki_str value = { "", 0 };
        if (place->variable &&
            (!maki_variable(options->environment, maki_str_of(place->variable), &value) ||
             !value.len))
            continue;
        maki_str path = maki_arena_print(&config->arena, "%s%s", value.ptr, place->behind);
        if (path.len && (place->must || is_there(&config->env, path.ptr))) config->file = path.ptr;
        if (place->last) break;
    }
    return maki_arena_status(&config->arena, err);
}

static maki_status read_all(maki_config *config, int fd, maki_buf *buf, maki_err *err)
{
    for (;;) {
        char block[4096];
        ssize_t n = config->env.files->read(config->env.files, fd, block, sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return maki_fail_errno(err, config->file);
        if (n == 0 || buf->len > MAKI_YAML_BYTES) return maki_buf_status(buf, err);
        maki_buf_add(buf, (maki_str){ block, (size_t)n });
    }
}

maki_status maki_config_load(maki_config *config, maki_str *bytes, maki_err *err)
{
    const maki_files *files = config->env.files;
    maki_buf buf = maki_buf_new(config->env.alloc, MAKI_YAML_BYTES + 65536);
    int fd = files->open(files, config->file, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return maki_fail_errno(err, config->file);
    maki_status st = read_all(config, fd, &buf, err);
    files->close(files, fd);
    if (st == MAKI_OK) {
        *bytes = maki_arena_copy(&config->arena, maki_buf_str(&buf));
        st = maki_arena_status(&config->arena, err);
    }
    maki_buf_free(&buf);
    return st;
}
