/* fuzz_imports.c -- any bytes as a source to import: what comes of it is a conversation that can be shown, exported and
 * proved. */
#include "fuzz_talk.h"

#include <sys/mman.h>

#include "history/export.h"
#include "history/facts.h"
#include "history/import.h"
#include "history/token_counter.h"
#include "log/verify.h"

static void must_be_json(maki_conv *conv, maki_export_format format)
{
    maki_env env = maki_env_system();
    maki_buf out = maki_buf_new(env.alloc, 1 << 26);
    maki_str value;
    MUST(maki_export(conv, MAKI_NEWEST, MAKI_NEWEST, format, maki_buf_sink(&out), NULL) == MAKI_OK);
    bool lines = format == MAKI_EXPORT_LINES;
    MUST(lines || maki_json_check(maki_buf_str(&out), &value, NULL) == MAKI_OK);
    maki_buf_free(&out);
}

static void must_verify(void)
{
    maki_env env = maki_env_system();
    maki_recent_calls facts = { .alloc = env.alloc };
    maki_token_counter counter;
    maki_token_counter_init(&counter, &env);
    maki_log_options options = { .family = MAKI_INDEX_ENCODING,
                                 .facts = maki_row_facts_of,
                                 .facts_ctx = &facts,
                                 .tokens = maki_token_counter_row,
                                 .tokens_ctx = &counter,
                                 .threads = 1 };
    MUST(maki_log_verify(&env, fuzz_path("talk.jsonl"), &options, NULL, NULL, NULL, NULL) ==
         MAKI_OK);
    maki_token_counter_close(&counter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = { NULL,    NULL, "roo",    "openai", "anthropic",
                                           "lines", "pi", "claude", "codex",  "opencode" };
    fuzz_chance chance = fuzz_chance_of(data, size);
    maki_import_options options = { .format = formats[fuzz_draw(&chance, 10)] };
    maki_import_report report;
    maki_env env = maki_env_system();
    int fd = memfd_create("source", MFD_CLOEXEC);
    MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    maki_conv *conv = fuzz_open_talk(true);
    MUST(conv);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    maki_status st = maki_import(&env, path, conv, &options, &report, NULL);
    MUST(st == MAKI_OK || st == MAKI_UNSUPPORTED);
    if (st == MAKI_OK) {
        for (int format = 0; format < 4; format++)
            must_be_json(conv, (maki_export_format)format);
    }
    maki_conv_close(conv);
    close(fd);
    if (st == MAKI_OK) must_verify();
    fuzz_remove_talk();
    return 0;
}
