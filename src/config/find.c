/* find.c -- which file is the configuration, and its bytes. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "config/config_inside.h"
#include "config/expand.h"

static const maki_str name_in_folder = { "/maki/maki.yaml", 15 };

static bool is_there(const maki_env *env, const char *path)
{
    int fd = env->files->open(env->files, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd >= 0) env->files->close(env->files, fd);
    return fd >= 0 ||
           (errno != ENOENT && errno != ENOTDIR); /* one that may not be read is told of */
}

/* Look at FOLDER MORE /maki/maki.yaml; an empty folder is none. */
static bool try_folder(maki_config *config, maki_str folder, const char *more)
{
    if (!folder.len) return false;
    maki_str path = maki_arena_print(&config->arena, "%.*s%s%s", MAKI_PRINTED(folder), more,
                                     name_in_folder.ptr);
    if (path.len) config->file = path.ptr;
    return path.len > 0;
}

maki_status maki_config_which(maki_config *config, const maki_config_options *options,
                              maki_err *err)
{
    maki_str value = { "", 0 };
    if (options->file) {
        config->file = maki_arena_print(&config->arena, "%s", options->file).ptr;
    } else if (maki_variable(options->environment, MAKI_LIT("MAKI_CONFIG"), &value) && value.len) {
        config->file = maki_arena_print(&config->arena, "%s", value.ptr).ptr;
    } else if (is_there(&config->env, "maki.yaml")) {
        config->file = "maki.yaml";
    } else {
        bool named = (maki_variable(options->environment, MAKI_LIT("XDG_CONFIG_HOME"), &value) &&
                      try_folder(config, value, "")) ||
                     (maki_variable(options->environment, MAKI_LIT("HOME"), &value) &&
                      try_folder(config, value, "/.config"));
        if (!named || !is_there(&config->env, config->file)) config->file = NULL;
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
