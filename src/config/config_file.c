/* config_file.c -- find the file of the configuration and read it.
 *
 * In:     the options and the environment.
 * Out:    the file's path (NULL: no file) and its bytes, in the arena of the configuration. */
#include <errno.h>
#include <fcntl.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str_util.h"
#include "config/config_internal.h"
#include "config/expand.h"

static bool exists(const maki_env *env, const char *path)
{
    int fd = env->files->open(env->files, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd >= 0) env->files->close(env->files, fd);
    return fd >= 0 ||
           (errno != ENOENT && errno != ENOTDIR); /* an unreadable one is an error later */
}

/* The locations searched, in this order: $VARIABLE and suffix, or the working directory. */
static const struct location {
    const char *variable, *suffix;
    bool required; /* later locations are not searched, and the file must be readable */
    bool last;     /* if the variable is set, later locations are not searched */
} locations[] = {
    { "MAKI_CONFIG", "", true, true },
    { NULL, "maki.yaml", false, false },
    { "XDG_CONFIG_HOME", "/maki/maki.yaml", false, true },
    { "HOME", "/.config/maki/maki.yaml", false, true },
};

maki_status maki_config_find_file(maki_config *config, const maki_config_options *options,
                                  maki_err *err)
{
    if (options->file) config->file = maki_arena_print(&config->arena, "%s", options->file).ptr;
    for (size_t i = 0; !config->file && i < sizeof locations / sizeof locations[0]; i++) {
        const struct location *location = &locations[i];
        maki_str value = { "", 0 };
        if (location->variable &&
            (!maki_variable(options->environment, maki_str_of(location->variable), &value) ||
             !value.len))
            continue;
        maki_str path = maki_arena_print(&config->arena, "%s%s", value.ptr, location->suffix);
        if (path.len && (location->required || exists(&config->env, path.ptr)))
            config->file = path.ptr;
        if (location->last) break;
    }
    return maki_arena_status(&config->arena, err);
}

static maki_status read_all(maki_config *config, int fd, maki_buf *buf, maki_err *err)
{
    for (;;) {
        char chunk[4096];
        ssize_t n = config->env.files->read(config->env.files, fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return maki_fail_errno(err, config->file);
        if (n == 0 || buf->len > MAKI_YAML_BYTES) return maki_buf_status(buf, err);
        maki_buf_add(buf, (maki_str){ chunk, (size_t)n });
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
