/* json_scan.h -- an incremental JSON validator that reports where values are.
 *
 * Bytes are pushed in chunks of any length, split anywhere.  Nothing is copied and no tree is built, so memory does not
 * grow with the text.  Values down to `report_depth` are reported as byte spans when they end.  The first error stops
 * the scan, with its byte offset and the reason.
 *
 * Exactly RFC 8259 is accepted: UTF-8 without a byte order mark, no comments, no trailing commas.  Duplicate keys and
 * escaped lone surrogates are valid.
 *
 * Calls: maki_json_scan_init (or _resume), any number of maki_json_scan_push, one maki_json_scan_end. */
#ifndef MAKI_BASE_JSON_SCAN_H
#define MAKI_BASE_JSON_SCAN_H

#include <stdbool.h>

#include "base/json_access.h"
#include "base/text.h"

enum {
    MAKI_JSON_DEPTH = 512,      /* the default depth limit */
    MAKI_JSON_DEPTH_MAX = 4096, /* the maximum depth limit */
    MAKI_JSON_REPORT_MAX = 8    /* the maximum report_depth */
};

/* The bytes [start, end) of a value, from the beginning of the text. */
typedef struct maki_json_span {
    maki_json_kind kind;
    unsigned depth; /* 0 is the whole text (or one row of JSON lines) */
    uint64_t start, end;
    uint64_t key_start, key_end; /* of its key with the quotes; 0, 0 outside of an object */
    uint64_t index;              /* in its container, from 0 */
} maki_json_span;

/* Called for each value when it ends, so inner values come before outer ones.  Any status but MAKI_OK stops the scan. */
typedef maki_status (*maki_json_on_span)(void *ctx, const maki_json_span *span, maki_err *err);

typedef struct maki_json_scan_options {
    unsigned max_depth;    /* 0: MAKI_JSON_DEPTH */
    bool json_lines;       /* many values, each ended by a newline (JSON lines) */
    unsigned report_depth; /* report values of depth 0 to this; needs on_span */
    maki_json_on_span on_span;
    void *ctx;
    const maki_text_kernels *kernels; /* NULL: the fastest */
} maki_json_scan_options;

typedef struct maki_json_scan {
    maki_json_scan_options options;
    uint64_t at; /* bytes scanned so far */
    unsigned state;
    unsigned matched;         /* in a literal or a \u escape: bytes scanned so far */
    const char *literal;      /* the literal being read */
    bool in_key;              /* the string being read is a key */
    unsigned depth;           /* of open containers */
    bool in_object;           /* the innermost of them is an object */
    uint64_t token_start;     /* of the string, number or literal being read */
    unsigned char pending[4]; /* the first bytes of a character split between two chunks */
    unsigned pending_len;
    struct {
        uint64_t start, key_start, key_end, index;
    } stack[MAKI_JSON_REPORT_MAX + 1]; /* the value being read at each depth */
    uint64_t is_object[MAKI_JSON_DEPTH_MAX / 64];
} maki_json_scan;

void maki_json_scan_init(maki_json_scan *scan, const maki_json_scan_options *options);
/* Instead of maki_json_scan_init: the bytes before `at` are valid and end right after a value inside the containers
 * `open`, outermost first: "{[" is an array in the object of the text.  Spans of containers that began before `at` are
 * wrong. */
void maki_json_scan_resume(maki_json_scan *scan, const maki_json_scan_options *options, uint64_t at,
                           const char *open);
maki_status maki_json_scan_push(maki_json_scan *scan, maki_str chunk, maki_err *err)
    MAKI_MUST_CHECK;
maki_status maki_json_scan_end(maki_json_scan *scan, maki_err *err) MAKI_MUST_CHECK;

/* All of `text` at once. */
maki_status maki_json_scan_text(maki_str text, const maki_json_scan_options *options, maki_err *err)
    MAKI_MUST_CHECK;

#endif
