/* fuzz_config.c -- any bytes as a configuration: it is right and can be asked, or every mistake has words. */
#include "fuzz.h"

#include <errno.h>
#include <string.h>

#include <maki/config.h>
#include <maki/json.h>

#include "base/buf.h"
#include "base/str_util.h"
#include "base/text.h"

/* One file, in memory. */
typedef struct memory_file {
    maki_files table;
    maki_str rest;
} memory_file;

static memory_file *of(const maki_files *self)
{
    return (memory_file *)(uintptr_t)self;
}

static int file_open(const maki_files *self, const char *path, int flags, mode_t mode)
{
    (void)self, (void)path, (void)flags, (void)mode;
    return 3;
}

static int file_close(const maki_files *self, int fd)
{
    (void)self, (void)fd;
    return 0;
}

static ssize_t file_read(const maki_files *self, int fd, void *out, size_t n)
{
    memory_file *file = of(self);
    (void)fd;
    if (n > file->rest.len) n = file->rest.len;
    if (n) memcpy(out, file->rest.ptr, n);
    file->rest = maki_str_skip(file->rest, n);
    return (ssize_t)n;
}

typedef struct seen {
    size_t lines, problems, line;
} seen;

static void on_problem(void *ctx, const maki_config_problem *p)
{
    seen *s = ctx;
    MUST(p->message.len && maki_utf8_valid(p->message, NULL));
    for (size_t i = 0; i < p->message.len; i++)
        MUST((unsigned char)p->message.ptr[i] >= 0x20 && p->message.ptr[i] != 0x7f);
    MUST(p->line <= s->lines + 1);
    MUST(p->line == 0 || p->line >= s->line); /* in the order of the file */
    if (p->line) s->line = p->line;
    if (!p->warning) s->problems++;
}

/* Each effective value can be read by its path; it is JSON without a secret in it. */
static void ask_all(const maki_config *config, const maki_env *env)
{
    maki_buf out = maki_buf_new(env->alloc, 64 << 20);
    maki_config_value value, again;
    maki_str json, name;
    for (size_t cursor = 0; maki_config_next_value(config, &cursor, &value);) {
        MUST(maki_config_find_value(config, value.path, &again) && again.setting == value.setting);
        if (value.setting->type == MAKI_CONFIG_SECRET)
            MUST(!maki_str_contains(value.text, MAKI_LIT("hush")));
        double n = maki_config_number(config, value.path);
        bool limited = value.setting->max != 0 && !value.setting->inherits;
        MUST(!limited || (n >= value.setting->min && n <= value.setting->max));
    }
    for (size_t cursor = 0; maki_config_next_name(config, "agents", &cursor, &name);)
        MUST(name.len > 0 && !memchr(name.ptr, '/', name.len));
    MUST(maki_config_write(config, maki_buf_sink(&out), NULL) == MAKI_OK);
    MUST(maki_json_check(maki_buf_str(&out), &json, NULL) == MAKI_OK);
    maki_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *environment[] = { (char *)(uintptr_t) "A=1", (char *)(uintptr_t) "KEY=hush",
                                   NULL };
    memory_file file = { .rest = { (const char *)data, size } };
    seen s = { .lines = 1 };
    maki_env env = maki_env_system();
    maki_config *config = NULL;
    maki_err err = { .status = MAKI_OK };
    for (size_t i = 0; i < size; i++)
        s.lines += data[i] == '\n' || data[i] == '\r';
    for (size_t i = 0; i + 1 < size; i++) /* NEL, LS and PS end lines of YAML too */
        s.lines +=
            (data[i] == 0xc2 && data[i + 1] == 0x85) || (data[i] == 0x80 && data[i + 1] >= 0xa8);
    file.table.open = file_open;
    file.table.close = file_close;
    file.table.read = file_read;
    env.files = &file.table;
    maki_config_options options = { sizeof options, env, "f.yaml", environment, on_problem, &s };
    maki_status st = maki_config_open(&options, &config, &err);
    MUST(st == MAKI_OK || st == MAKI_INVALID);
    MUST((st == MAKI_OK) == (s.problems == 0));
    MUST(st == MAKI_OK || err.msg[0]);
    if (config) ask_all(config, &env);
    maki_config_close(config);
    return 0;
}
