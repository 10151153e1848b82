/* bench_log.c -- what appending to a log costs.
 *
 *     bench_log make DIRECTORY MESSAGES   a log of that many messages of about 1 KB, if it is missing
 *     bench_log sync DIRECTORY COUNT      appends of 1 KB, synced, and a bare pwrite and fdatasync of the same
 *                                         bytes in the same directory, in turn
 *     bench_log ends DIRECTORY COUNT      appends at the end of that log and at the start of a new one, in turn,
 *                                         not synced, so that only our own work counts
 *     bench_log view DIRECTORY COUNT      on an open handle, the view after one more event: of a conversation
 *                                         with 100,000 events of which 1,000 change the view, and of one with
 *                                         those alone, in turn
 *
 * Prints one JSON object: medians in microseconds, and the peak of memory. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/str_util.h"
#include "bench_peak.h"
#include "history/conv.h"

enum { ROW = 1000, GROUP = 1000, PATH_MAX = 1024, TEXT_MAX = 1100 };

static int stop(const char *what, const maki_err *err)
{
    fprintf(stderr, "bench_log: %s%s%s\n", what, err ? ": " : "", err ? err->msg : "");
    return 1;
}

/* ---- messages ---------------------------------------------------------------------------------- */

/* Four in turn: a question, a call, its result, an answer; about 1 KB each. */
static maki_str message(char text[TEXT_MAX], uint64_t number)
{
    static const char words[] =
        "The cause is a race between the writer and the index; 索引と書き込み. ";
    char head[200], tail[100];
    switch (number % 4) {
    case 0: snprintf(head, sizeof head, "{\"role\":\"user\",\"content\":\""); break;
    case 1:
        snprintf(
            head, sizeof head,
            "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"toolu_%" PRIu64
            "\",\"name\":\"read\",\"input\":{}},{\"type\":\"text\",\"text\":\"",
            number);
        break;
    case 2:
        snprintf(
            head, sizeof head,
            "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_%" PRIu64
            "\",\"content\":\"",
            number - 1);
        break;
    default: snprintf(head, sizeof head, "{\"role\":\"assistant\",\"content\":\""); break;
    }
    snprintf(tail, sizeof tail, "%s,\"ts\":%" PRIu64 "}",
             number % 4 == 1 || number % 4 == 2 ? "\"}]" : "\"", 1769500000000 + number * 1373);
    size_t n = strlen(head), rest = strlen(tail), one = sizeof words - 1;
    memcpy(text, head, n);
    for (; n + one + rest <= ROW; n += one)
        memcpy(text + n, words, one);
    memset(text + n, 'x', ROW - rest - n);
    memcpy(text + ROW - rest, tail, rest);
    return (maki_str){ text, ROW };
}

/* ---- conversations ------------------------------------------------------------------------------- */

static maki_conv *open_conv(const char *directory, const char *name, maki_durability durability)
{
    char path[PATH_MAX];
    maki_env env = maki_env_system();
    maki_conv *conv = NULL;
    maki_err err = { 0 };
    maki_conv_options options = { .create = true, .durability = durability };
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (maki_conv_open(&env, path, &options, &conv, &err) != MAKI_OK) stop(path, &err);
    return conv;
}

static void remove_conv(const char *directory, const char *stem)
{
    static const char *const ends[] = { ".jsonl", ".events.jsonl", ".idx" };
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(path, sizeof path, "%s/%s%s", directory, stem, ends[i]);
        unlink(path);
    }
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, size_t n)
{
    qsort(times, n, sizeof *times, compare);
    return times[n / 2];
}

/* ---- the works ----------------------------------------------------------------------------------- */

static int make(const char *directory, uint64_t messages)
{
    static char texts[GROUP][TEXT_MAX];
    maki_str rows[GROUP];
    maki_err err = { 0 };
    maki_change change;
    maki_status st = MAKI_OK;
    maki_conv *conv = open_conv(directory, "messages.jsonl", MAKI_DURABILITY_AT_END);
    if (!conv) return 1;
    double began = now_us();
    uint64_t at = maki_log_last(maki_conv_log(conv)), first = at;
    while (st == MAKI_OK && at < messages) {
        size_t n = messages - at < GROUP ? (size_t)(messages - at) : GROUP;
        for (size_t i = 0; i < n; i++)
            rows[i] = message(texts[i], at + i);
        st = maki_conv_append(conv, NULL, rows, n, &change, &err);
        at += n;
    }
    double took = now_us() - began;
    maki_conv_close(conv);
    if (st != MAKI_OK) return stop("making the log", &err);
    printf("{\"made\":%" PRIu64 ",\"us_each\":%.2f,\"peak_kb\":%lu}\n", at - first,
           at > first ? took / (double)(at - first) : 0, bench_peak_kb());
    return 0;
}

static int append_one(maki_conv *conv, maki_str row, double *us)
{
    maki_err err = { 0 };
    maki_change change;
    double began = now_us();
    maki_status st = maki_conv_append(conv, NULL, &row, 1, &change, &err);
    *us = now_us() - began;
    return st == MAKI_OK ? 0 : stop("appending", &err);
}

static int write_one(int fd, maki_str row, off_t at, double *us)
{
    char line[TEXT_MAX];
    memcpy(line, row.ptr, row.len);
    line[row.len] = '\n';
    double began = now_us();
    bool ok = pwrite(fd, line, row.len + 1, at) == (ssize_t)row.len + 1 && fdatasync(fd) == 0;
    *us = now_us() - began;
    return ok ? 0 : stop("a bare write", NULL);
}

static void print_medians(const char *ours, double *a, const char *peer, double *b, size_t n)
{
    printf("{\"%s\":%.2f,\"%s\":%.2f,\"peak_kb\":%lu}\n", ours, median(a, n), peer, median(b, n),
           bench_peak_kb());
}

static int sync_appends(const char *directory, size_t count, double *ours, double *peer)
{
    char path[PATH_MAX], text[TEXT_MAX];
    int bad = 0;
    remove_conv(directory, "sync");
    snprintf(path, sizeof path, "%s/bare", directory);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    maki_conv *conv = open_conv(directory, "sync.jsonl", MAKI_DURABILITY_SYNC);
    if (fd < 0 || !conv) return stop(path, NULL);
    off_t at = 0;
    for (size_t i = 0; !bad && i < count; i++) {
        maki_str row = message(text, i);
        if (i % 2 == 0) bad = append_one(conv, row, &ours[i]);
        if (!bad) bad = write_one(fd, row, at, &peer[i]);
        if (!bad && i % 2) bad = append_one(conv, row, &ours[i]);
        at += (off_t)row.len + 1;
    }
    maki_conv_close(conv);
    close(fd);
    unlink(path);
    remove_conv(directory, "sync");
    if (!bad) print_medians("append_us", ours, "bare_us", peer, count);
    return bad;
}

static int append_ends(const char *directory, size_t count, double *last, double *first)
{
    char text[TEXT_MAX];
    int bad = 0;
    remove_conv(directory, "new");
    maki_conv *old = open_conv(directory, "messages.jsonl", MAKI_DURABILITY_AT_END);
    maki_conv *new = open_conv(directory, "new.jsonl", MAKI_DURABILITY_AT_END);
    if (!old || !new) return 1;
    uint64_t at = maki_log_last(maki_conv_log(old));
    for (size_t i = 0; !bad && i < count; i++) {
        maki_str row = message(text, at + i);
        if (i % 2 == 0) bad = append_one(old, row, &last[i]);
        if (!bad) bad = append_one(new, row, &first[i]);
        if (!bad && i % 2) bad = append_one(old, row, &last[i]);
    }
    maki_conv_close(old);
    maki_conv_close(new);
    remove_conv(directory, "new");
    if (!bad) print_medians("last_us", last, "first_us", first, count);
    return bad;
}

/* ---- views --------------------------------------------------------------------------------------- */

enum { CHANGES = 1000, NOTES = 99 /* between two changes */ };

/* A conversation that one handle writes and another one reads. */
typedef struct viewed {
    maki_conv *writer, *reader;
} viewed;

static maki_status add_event(maki_log *log, const char *type, const char *fields, maki_err *err)
{
    return maki_log_add_event(log, type, maki_str_of(fields), NULL, err);
}

static maki_status add_past(maki_conv *conv, size_t notes, maki_err *err)
{
    char text[TEXT_MAX], fields[100];
    maki_log *log = maki_conv_log(conv);
    maki_status st = maki_log_begin(log, NULL, err);
    for (size_t i = 0; st == MAKI_OK && i < GROUP; i++)
        st = maki_log_add_row(log, message(text, i), NULL, err);
    for (size_t i = 0; st == MAKI_OK && i < CHANGES; i++) {
        snprintf(fields, sizeof fields, "\"seq\":%zu,\"block\":0,\"headUnits\":40,\"tailUnits\":20",
                 i + 1);
        st = add_event(log, i % 2 ? "trim" : "pin", fields, err);
        for (size_t k = 0; st == MAKI_OK && k < notes; k++)
            st = add_event(log, "usage", "\"model\":\"猫-1\",\"input\":1200,\"output\":34", err);
    }
    return st == MAKI_OK ? maki_log_commit(log, err) : st;
}

static int open_viewed(const char *directory, const char *stem, size_t notes, viewed *out)
{
    char path[PATH_MAX];
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    maki_conv_options reading = { .read_only = true };
    remove_conv(directory, stem);
    snprintf(path, sizeof path, "%s.jsonl", stem);
    out->writer = open_conv(directory, path, MAKI_DURABILITY_AT_END);
    if (!out->writer) return 1;
    maki_status st = add_past(out->writer, notes, &err);
    snprintf(path, sizeof path, "%s/%s.jsonl", directory, stem);
    if (st == MAKI_OK) st = maki_conv_open(&env, path, &reading, &out->reader, &err);
    return st == MAKI_OK ? 0 : stop(path, &err);
}

static int view_again(viewed *v, double *us)
{
    const maki_view *view;
    maki_err err = { 0 };
    maki_change change;
    maki_status st =
        maki_conv_add_event(v->writer, "usage", MAKI_LIT("\"input\":1"), &change, &err);
    double began = now_us();
    if (st == MAKI_OK) st = maki_log_refresh(maki_conv_log(v->reader), &err);
    if (st == MAKI_OK) st = maki_conv_view(v->reader, MAKI_NEWEST, MAKI_NEWEST, &view, &err);
    *us = now_us() - began;
    return st == MAKI_OK ? 0 : stop("a view", &err);
}

static int views(const char *directory, size_t count, double *with, double *alone)
{
    viewed many = { 0 }, few = { 0 };
    double first;
    int bad = open_viewed(directory, "many", NOTES, &many) ||
              open_viewed(directory, "few", 0, &few) || view_again(&many, &first) ||
              view_again(&few, &first);
    for (size_t i = 0; !bad && i < count; i++) {
        if (i % 2 == 0) bad = view_again(&many, &with[i]);
        if (!bad) bad = view_again(&few, &alone[i]);
        if (!bad && i % 2) bad = view_again(&many, &with[i]);
    }
    maki_conv_close(many.reader);
    maki_conv_close(many.writer);
    maki_conv_close(few.reader);
    maki_conv_close(few.writer);
    remove_conv(directory, "many");
    remove_conv(directory, "few");
    if (!bad) print_medians("view_us", with, "view_alone_us", alone, count);
    return bad;
}

int main(int argc, char **argv)
{
    uint64_t n = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    if (n == 0) {
        fprintf(stderr, "usage: bench_log make|sync|ends|view DIRECTORY COUNT\n");
        return 2;
    }
    mkdir(argv[2], 0700);
    if (strcmp(argv[1], "make") == 0) return make(argv[2], n);
    double *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);
    int bad = !a || !b                       ? stop("no memory", NULL)
              : strcmp(argv[1], "sync") == 0 ? sync_appends(argv[2], n, a, b)
              : strcmp(argv[1], "view") == 0 ? views(argv[2], n, a, b)
                                             : append_ends(argv[2], n, a, b);
    free(a);
    free(b);
    return bad;
}
