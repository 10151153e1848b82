/* fuzz_wire_write.c -- rows, one a line, whatever they are: what is written of them is JSON in every protocol, and
 * is read back as a request of that protocol. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/json_scan.h"
#include "base/str_util.h"
#include "wire/message_writer.h"

enum { MOST = 1 << 26, DEPTH = 400 }; /* the body is a little deeper than its rows */

static maki_status read_row(void *ctx, const maki_wire_message *message, maki_err *err)
{
    (void)ctx, (void)message, (void)err;
    return MAKI_OK;
}

static void write_rows(maki_wire_writer *writer, maki_str rows)
{
    static const maki_json_scan_options shallow = { .max_depth = DEPTH };
    while (rows.len) {
        const char *newline = memchr(rows.ptr, '\n', rows.len);
        size_t n = newline ? (size_t)(newline - rows.ptr) : rows.len;
        maki_str row;
        if (maki_json_check(maki_str_prefix(rows, n), &row, NULL) == MAKI_OK &&
            maki_json_scan_text(row, &shallow, NULL) == MAKI_OK)
            MUST(maki_wire_writer_add(writer, row, NULL) == MAKI_OK);
        rows = maki_str_skip(rows, newline ? n + 1 : n);
    }
}

static void try_options(const maki_env *env, const maki_wire_writer_options *options, maki_str rows)
{
    static const maki_str names[] = { { "", 0 },        { "messages", 8 }, { "messages", 8 },
                                      { "input", 5 },   { "messages", 8 }, { "", 0 },
                                      { "contents", 8 } };
    maki_buf out = maki_buf_new(env->alloc, MOST);
    maki_wire_writer *writer = NULL;
    maki_wire_request request;
    maki_str body;
    bool any;
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(&out), NULL);
    maki_jw_begin_object(&w);
    maki_jw_key(&w, names[options->protocol]);
    maki_jw_begin_array(&w);
    MUST(maki_wire_writer_open(env, options, &w, &writer, NULL) == MAKI_OK);
    write_rows(writer, rows);
    MUST(maki_wire_writer_end(writer, &any, NULL) == MAKI_OK);
    maki_jw_end_array(&w);
    maki_jw_end_object(&w);
    MUST(maki_jw_end(&w) == MAKI_OK);
    maki_wire_writer_close(writer);
    MUST(maki_json_check(maki_buf_str(&out), &body, NULL) == MAKI_OK);
    MUST(maki_wire_read(env, options->protocol, body, NULL, read_row, NULL, &request, NULL, NULL) ==
         MAKI_OK);
    maki_buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const maki_wire_writer_options styles[] = {
        { .protocol = MAKI_WIRE_ANTHROPIC },
        { .protocol = MAKI_WIRE_CHAT, .reasoning = MAKI_REASONING_CONTENT },
        { .protocol = MAKI_WIRE_CHAT, .functions = true },
        { .protocol = MAKI_WIRE_CHAT, .no_synthetic = true },
        { .protocol = MAKI_WIRE_RESPONSES },
        { .protocol = MAKI_WIRE_OLLAMA },
        { .protocol = MAKI_WIRE_GEMINI, .sign_calls = true },
    };
    maki_env env = maki_env_system();
    for (size_t i = 0; i < sizeof styles / sizeof styles[0]; i++)
        try_options(&env, &styles[i], (maki_str){ (const char *)data, size });
    return 0;
}
