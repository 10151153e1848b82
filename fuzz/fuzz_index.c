/* fuzz_index.c -- an index with bytes changed by the input (two for the place, one for the byte): whatever it says,
 * a row that is read is one that was written. */
#include "fuzz_talk.h"

#include <fcntl.h>

enum { ROWS = 40 };

static maki_str row_of(size_t n, char *text, size_t size)
{
    int len = snprintf(text, size, "{\"role\":\"user\",\"content\":\"%zu 行目 🍥\"}", n);
    return (maki_str){ text, (size_t)len };
}

static void change_bytes(const uint8_t *data, size_t size)
{
    int fd = open(fuzz_path("talk.idx"), O_RDWR | O_CLOEXEC);
    MUST(fd >= 0);
    off_t end = lseek(fd, 0, SEEK_END);
    for (size_t i = 0; i + 3 <= size; i += 3) {
        off_t at = (off_t)(data[i] | data[i + 1] << 8) % (end + 70);
        MUST(pwrite(fd, &data[i + 2], 1, at) == 1);
    }
    close(fd);
}

static void read_rows(maki_conv *conv)
{
    maki_env env = maki_env_system();
    maki_log *log = maki_conv_log(conv);
    char text[100];
    MUST(maki_log_last(log) <= ROWS);
    for (uint64_t seq = 1; seq <= maki_log_last(log); seq++) {
        maki_buf row = maki_buf_new(env.alloc, 1 << 24);
        if (maki_log_read(log, seq, &row, NULL) == MAKI_OK)
            MUST(maki_str_equal(maki_buf_str(&row), row_of(seq, text, sizeof text)));
        maki_buf_free(&row);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[100];
    maki_change change;
    maki_conv *conv = fuzz_open_talk(true);
    MUST(conv);
    for (size_t n = 1; n <= ROWS; n++) {
        maki_str row = row_of(n, text, sizeof text);
        MUST(maki_conv_append(conv, NULL, &row, 1, &change, NULL) == MAKI_OK);
    }
    maki_conv_close(conv);
    change_bytes(data, size);
    for (int writes = 0; writes < 2; writes++) {
        conv = fuzz_open_talk(writes);
        if (conv) read_rows(conv);
        maki_conv_close(conv);
    }
    fuzz_remove_talk();
    return 0;
}
