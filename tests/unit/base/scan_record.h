/* scan_record.h -- record what the scanner reports, so that two runs can be compared.
 *
 * A transcript has a line for each span, "depth kind start-end [key start-end] number", and a last
 * line with the status and the error message:
 *
 *     1 number 5-6 key 1-4 n0
 *     0 object 0-7 n0
 *     OK
 */
#ifndef MAKI_TESTS_SCAN_RECORD_H
#define MAKI_TESTS_SCAN_RECORD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_scan.h"
#include "base/str_util.h"

typedef struct transcript {
    char text[16384];
    size_t len;
    size_t stop_at; /* the span at which to stop with MAKI_CANCELLED, counted from 1; 0: none */
    size_t spans;
} transcript;

static inline void transcript_add(transcript *t, const char *text)
{
    int n = snprintf(t->text + t->len, sizeof t->text - t->len, "%s", text);
    t->len += (size_t)n;
    if (t->len >= sizeof t->text) abort(); /* a test with too many spans */
}

static inline maki_status transcript_span(void *ctx, const maki_json_span *span, maki_err *err)
{
    static const char *const kinds[] = { "null", "bool", "number", "string", "array", "object" };
    transcript *t = ctx;
    char line[200], key[64] = "";
    if (span->key_end) {
        snprintf(key, sizeof key, "key %llu-%llu ", (unsigned long long)span->key_start,
                 (unsigned long long)span->key_end);
    }
    snprintf(line, sizeof line, "%u %s %llu-%llu %sn%llu\n", span->depth, kinds[span->kind],
             (unsigned long long)span->start, (unsigned long long)span->end, key,
             (unsigned long long)span->index);
    transcript_add(t, line);
    if (++t->spans != t->stop_at) return MAKI_OK;
    snprintf(err->msg, sizeof err->msg, "stopped by the test");
    return MAKI_CANCELLED;
}

static inline void transcript_end(transcript *t, maki_status st, const maki_err *err)
{
    transcript_add(t, maki_status_name(st));
    if (st != MAKI_OK) {
        transcript_add(t, " ");
        transcript_add(t, err->msg);
    }
}

/* The options of a scan that writes into `t`, which is emptied. */
static inline maki_json_scan_options transcript_options(transcript *t, unsigned report_depth)
{
    t->len = t->spans = 0;
    t->stop_at = 0;
    t->text[0] = '\0';
    return (maki_json_scan_options){ .report_depth = report_depth,
                                     .on_span = transcript_span,
                                     .ctx = t };
}

/* Push a copy that is freed afterwards, so that ASan finds a pointer that is kept and a read past the end. */
static inline maki_status push_copy(maki_json_scan *scan, maki_str piece, maki_err *err)
{
    char *copy = malloc(piece.len ? piece.len : 1);
    if (!copy) abort();
    if (piece.len) memcpy(copy, piece.ptr, piece.len);
    maki_status st = maki_json_scan_push(scan, (maki_str){ copy, piece.len }, err);
    memset(copy, '?', piece.len);
    free(copy);
    return st;
}

/* Scan `text` in two pieces cut at `cut`, or with step > 0 in pieces of `step` bytes. */
static inline void scan_pieces(transcript *t, const maki_json_scan_options *options, maki_str text,
                               size_t cut, size_t step)
{
    maki_json_scan scan;
    maki_err err = { 0 };
    maki_status st = MAKI_OK;
    maki_json_scan_init(&scan, options);
    for (size_t at = 0; at < text.len && st == MAKI_OK;) {
        size_t end = step ? at + step : at < cut ? cut : text.len;
        if (end > text.len) end = text.len;
        st = push_copy(&scan, (maki_str){ text.ptr + at, end - at }, &err);
        at = end;
        if (st == MAKI_OK) st = push_copy(&scan, (maki_str){ "", 0 }, &err);
    }
    if (st == MAKI_OK) st = maki_json_scan_end(&scan, &err);
    transcript_end(t, st, &err);
}

#endif
