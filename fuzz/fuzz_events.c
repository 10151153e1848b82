/* fuzz_events.c -- lines as events of a conversation: "TYPE FIELDS", FIELDS the inside of an object; or, when the input
 * begins with {, any bytes as the events file.
 *
 * The view of a handle that saw them one by one is that of one that reads them all. */
#include "fuzz_talk.h"

#include <fcntl.h>

enum { ROWS = 9, TYPE_MAX = 20 };

static void add_rows(maki_conv *conv)
{
    static const char *const rows[] = {
        "{\"role\":\"user\",\"content\":\"猫はどこ？ 🐈\"}",
        "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"ls\",\"input\":{}}]}",
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"고양이 고양이 고양이\"}]}"
    };
    maki_change change;
    for (size_t i = 0; i < ROWS; i++) {
        maki_str row = maki_str_of(rows[i % 3]);
        MUST(maki_conv_append(conv, NULL, &row, 1, &change, NULL) == MAKI_OK);
    }
}

/* The view as lines; empty when it cannot be made. */
static maki_buf text_of(maki_conv *conv)
{
    maki_env env = maki_env_system();
    maki_buf out = maki_buf_new(env.alloc, 1 << 26);
    const maki_view *view;
    maki_view_totals totals;
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, NULL);
    if (st == MAKI_OK) st = maki_conv_total(conv, view, &totals, NULL);
    if (st == MAKI_OK) st = maki_conv_write(conv, view, false, maki_buf_sink(&out), NULL);
    if (st != MAKI_OK) maki_buf_clear(&out);
    return out;
}

/* False: it is no event. */
static bool add_event(maki_conv *conv, maki_str line)
{
    char type[TYPE_MAX];
    maki_env env = maki_env_system();
    maki_str value;
    size_t n = 0;
    while (n < line.len && line.ptr[n] >= 'a' && line.ptr[n] <= 'z')
        n++;
    if (n == 0 || n >= sizeof type || n == line.len || line.ptr[n] != ' ') return false;
    memcpy(type, line.ptr, n);
    type[n] = '\0';
    maki_str fields = maki_str_skip(line, n + 1);
    maki_buf object = maki_buf_new(env.alloc, 1 << 24);
    maki_buf_add(&object, MAKI_LIT("{"));
    maki_buf_add(&object, fields);
    maki_buf_add(&object, MAKI_LIT("}"));
    bool good = fields.len && maki_json_check(maki_buf_str(&object), &value, NULL) == MAKI_OK;
    maki_buf_free(&object);
    maki_log *log = maki_conv_log(conv);
    if (!good || maki_log_begin(log, NULL, NULL) != MAKI_OK) return false;
    MUST(maki_log_add_event(log, type, fields, NULL, NULL) == MAKI_OK);
    return maki_log_commit(log, NULL) == MAKI_OK;
}

static void add_lines(maki_conv *conv, maki_str text)
{
    for (size_t count = 0; text.len && count < 64; count++) {
        const char *newline = memchr(text.ptr, '\n', text.len);
        size_t n = newline ? (size_t)(newline - text.ptr) : text.len;
        if (add_event(conv, maki_str_prefix(text, n))) {
            maki_buf seen = text_of(conv);
            maki_buf_free(&seen);
        }
        text = maki_str_skip(text, newline ? n + 1 : n);
    }
}

static void write_events(maki_str text)
{
    int fd = open(fuzz_path("talk.events.jsonl"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    MUST(fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    maki_str text = { (const char *)data, size };
    maki_conv *conv = fuzz_open_talk(true);
    MUST(conv);
    add_rows(conv);
    if (size && data[0] == '{')
        write_events(text);
    else
        add_lines(conv, text);
    maki_conv *fresh = fuzz_open_talk(false);
    if (fresh) {
        maki_buf again = text_of(fresh);
        if (data && size && data[0] != '{') {
            maki_buf seen = text_of(conv);
            MUST(maki_str_equal(maki_buf_str(&seen), maki_buf_str(&again)));
            maki_buf_free(&seen);
        }
        maki_buf_free(&again);
    }
    maki_conv_close(fresh);
    maki_conv_close(conv);
    fuzz_remove_talk();
    return 0;
}
