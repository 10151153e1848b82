/* workspace.c -- open a workspace, check and open a file in it, and read it up to a limit.
 *
 * In:     a path from the configuration, the name of a bootstrap file, a limit in UTF-16 units.
 * Out:    valid UTF-8, complete or truncated to head and tail, and a report.
 * Always: a file is checked before it is opened and again after, and bytes are counted before they are read. */
#include "assemble/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files.h"
#include "base/str_util.h"
#include "base/text.h"

enum {
    UNIT_BYTES = 3, /* maximum of UTF-8 for one unit: four bytes are two units */
    SLACK = 4,      /* maximum bytes of a character, which may cross the limit */
    BLOCK = 4096,
    BLANKS_MAX = 1 << 20 /* maximum of white space skipped at the end of a file */
};

/* ---- the directory ----------------------------------------------------------------------------------------------- */

maki_status maki_workspace_open(const maki_env *env, maki_str path, maki_workspace *out,
                                maki_err *err)
{
    char given[PATH_MAX], resolved[PATH_MAX];
    int n = snprintf(given, sizeof given, "%.*s", MAKI_PRINTED(path));
    if (n < 0 || (size_t)n >= sizeof given)
        return maki_fail(err, MAKI_INVALID, "the path of the workspace is too long");
    if (env->files->resolve(env->files, given, resolved) != 0) {
        char subject[160];
        snprintf(subject, sizeof subject, "the workspace %.120s", given);
        return maki_fail_errno(err, subject);
    }
    if (!maki_file_is(env->files, resolved, S_IFDIR))
        return maki_fail(err, MAKI_INVALID, "the workspace %.120s is not a directory", given);
    out->env = env;
    snprintf(out->path, sizeof out->path, "%s", resolved);
    return MAKI_OK;
}

const char *maki_bootstrap_state_name(maki_bootstrap_state state)
{
    static const char *const names[] = { "unasked", "missing", "unread", "left out",
                                         "empty",   "whole",   "trimmed" };
    return names[state];
}

/* ---- checks and opening ------------------------------------------------------------------------------------------ */

static int set_unreadable(maki_bootstrap_report *report, const char *why)
{
    report->state = MAKI_BOOTSTRAP_UNREADABLE;
    snprintf(report->why, sizeof report->why, "%s", why);
    return -1;
}

static int set_unreadable_errno(maki_bootstrap_report *report)
{
    if (errno != ENOENT) return set_unreadable(report, strerror(errno));
    report->state = MAKI_BOOTSTRAP_MISSING;
    return -1;
}

static bool is_inside(const maki_workspace *ws, const char *path)
{
    size_t n = strlen(ws->path);
    if (n == 1) return true; /* the root */
    return strncmp(path, ws->path, n) == 0 && path[n] == '/';
}

static const char *not_a_file_reason(mode_t mode)
{
    if (S_ISREG(mode)) return NULL;
    return S_ISDIR(mode)    ? "it is a directory, not a file"
           : S_ISFIFO(mode) ? "it is a pipe, not a file"
                            : "it is a device or a socket, not a file";
}

/* Open a file; -1: the reason is in the report.  It is checked before it is opened, because opening a pipe already
 * affects its writer, and again afterwards, because it may have been replaced. */
static int open_file(const maki_workspace *ws, const char *name, maki_bootstrap_report *report)
{
    char path[PATH_MAX + 32], resolved[PATH_MAX];
    const maki_files *files = ws->env->files;
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", ws->path, name);
    if (files->resolve(files, path, resolved) != 0) return set_unreadable_errno(report);
    if (!is_inside(ws, resolved))
        return set_unreadable(report, "it is a link that leads out of the workspace");
    if (files->stat(files, AT_FDCWD, resolved, &st) != 0) return set_unreadable_errno(report);
    if (not_a_file_reason(st.st_mode)) return set_unreadable(report, not_a_file_reason(st.st_mode));
    int fd =
        files->open(files, resolved, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY, 0);
    if (fd < 0) return set_unreadable_errno(report);
    if (files->stat(files, fd, NULL, &st) == 0 && S_ISREG(st.st_mode)) {
        report->bytes = (uint64_t)st.st_size;
        return fd;
    }
    files->close(files, fd);
    return set_unreadable(report, "it changes while it is read");
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

typedef struct file_reader {
    const maki_files *files;
    int fd;
    maki_arena *arena;
    maki_bootstrap_report *report;
} file_reader;

/* Read bytes [from, to) into the arena.  False: they cannot be read, and the reason is in the report. */
static bool read_bytes(file_reader *r, uint64_t from, uint64_t to, maki_str *out)
{
    maki_err why = { .msg = "" };
    size_t got = 0, n = (size_t)(to - from);
    char *bytes = maki_arena_get(r->arena, n + 1);
    *out = (maki_str){ "", 0 };
    if (!bytes) return false;
    if (maki_file_read_at(r->files, r->fd, from, bytes, n, &got, &why) != MAKI_OK) {
        set_unreadable(r->report, why.msg);
        return false;
    }
    if (memchr(bytes, '\0', got)) {
        set_unreadable(r->report, "it is not UTF-8 text: it has NUL bytes");
        return false;
    }
    *out = (maki_str){ bytes, got };
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Find the offset after the last character that is not white space.  False: the reason is in the report. */
static bool find_end(file_reader *r, uint64_t *end)
{
    char block[BLOCK];
    uint64_t minimum = r->report->bytes > BLANKS_MAX ? r->report->bytes - BLANKS_MAX : 0;
    for (*end = r->report->bytes; *end > minimum;) {
        maki_err why = { .msg = "" };
        uint64_t from = *end > BLOCK ? *end - BLOCK : 0;
        size_t got = 0;
        if (maki_file_read_at(r->files, r->fd, from, block, (size_t)(*end - from), &got, &why) !=
            MAKI_OK) {
            set_unreadable(r->report, why.msg);
            return false;
        }
        while (got && is_blank(block[got - 1]))
            got--;
        *end = from + got;
        if (got) break;
    }
    return true;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

/* Valid UTF-8: `bytes` unchanged, or with U+FFFD for each invalid byte. */
static maki_str to_utf8(file_reader *r, maki_str bytes)
{
    bool invalid = true;
    if (maki_utf8_valid(bytes, NULL)) return bytes;
    r->report->repaired = true;
    maki_buf out = maki_buf_new(r->arena->alloc, bytes.len * UNIT_BYTES + 1);
    while (invalid) {
        maki_buf_add(&out, maki_utf8_next_valid(&bytes, &invalid));
        if (invalid) maki_buf_add(&out, MAKI_LIT("\xEF\xBF\xBD"));
    }
    maki_str text = maki_arena_copy(r->arena, maki_buf_str(&out));
    if (out.status != MAKI_OK) r->arena->status = out.status;
    maki_buf_free(&out);
    return text;
}

/* The longest prefix of at most `units` UTF-16 units. */
static maki_str head_of(maki_str text, uint64_t units)
{
    size_t at = 0;
    while (at < text.len) {
        size_t len;
        uint64_t width = maki_utf8_decode(text, at, &len) > 0xFFFF ? 2 : 1;
        if (width > units) break;
        units -= width;
        at += len;
    }
    return maki_str_prefix(text, at);
}

/* The longest suffix of at most `units`. */
static maki_str tail_of(maki_str text, uint64_t units)
{
    uint64_t total_units = maki_utf16_len(text),
             skipped_units = total_units > units ? total_units - units : 0;
    maki_str before = head_of(text, skipped_units);
    if (maki_utf16_len(before) == skipped_units) return maki_str_skip(text, before.len);
    size_t len; /* the limit is inside a surrogate pair */
    (void)maki_utf8_decode(text, before.len, &len);
    return maki_str_skip(text, before.len + len);
}

static bool is_continuation(maki_str text)
{
    return text.len && ((unsigned char)text.ptr[0] & 0xC0) == 0x80;
}

/* The head and tail of [from, end), which is longer than the limit. */
static bool read_ends(file_reader *r, uint64_t from, uint64_t end, uint64_t head, uint64_t tail,
                      maki_str *before, maki_str *after)
{
    uint64_t head_bytes = head * UNIT_BYTES + SLACK, tail_bytes = tail * UNIT_BYTES + SLACK;
    uint64_t length = end - from;
    if (head_bytes > length) head_bytes = length;
    if (tail_bytes > length) tail_bytes = length;
    if (!read_bytes(r, from, from + head_bytes, before) ||
        !read_bytes(r, end - tail_bytes, end, after))
        return false;
    before->len -= maki_utf8_incomplete(*before);
    for (int i = 0; i < 3 && is_continuation(*after); i++)
        *after = maki_str_skip(*after, 1);
    *before = head_of(to_utf8(r, *before), head);
    *after = tail_of(to_utf8(r, *after), tail);
    return true;
}

static void read_text(file_reader *r, uint64_t max_units, maki_str *text)
{
    uint64_t from = 0, end, head = maki_truncate_head(max_units),
             tail = maki_truncate_tail(max_units);
    maki_str before, after, bom;
    if (!find_end(r, &end)) return;
    if (!read_bytes(r, 0, end < 3 ? end : 3, &bom)) return;
    if (maki_str_starts(bom, MAKI_LIT("\xEF\xBB\xBF"))) from = 3;
    r->report->state = end > from ? MAKI_BOOTSTRAP_WHOLE : MAKI_BOOTSTRAP_EMPTY;
    if (end > from && max_units == 0) {
        set_unreadable(r->report, "there is no space left for it");
        r->report->state = MAKI_BOOTSTRAP_OMITTED;
        return;
    }
    if (end - from <= max_units * UNIT_BYTES) {
        if (!read_bytes(r, from, end, text)) return;
        *text = to_utf8(r, *text);
        if (maki_utf16_len(*text) <= max_units) return;
        before = head_of(*text, head);
        after = tail_of(*text, tail);
    } else if (!read_ends(r, from, end, head, tail, &before, &after)) {
        return;
    }
    r->report->state = MAKI_BOOTSTRAP_TRIMMED;
    *text = maki_arena_print(r->arena, "%.*s\n\n" MAKI_TRUNCATED "\n\n%.*s", (int)before.len,
                             before.ptr, (int)after.len, after.ptr);
}

maki_status maki_workspace_read(const maki_workspace *ws, const maki_bootstrap_file *file,
                                uint64_t max_units, maki_arena *arena,
                                maki_bootstrap_report *report, maki_str *text, maki_err *err)
{
    *report = (maki_bootstrap_report){ .name = file->name };
    *text = (maki_str){ "", 0 };
    file_reader r = { ws->env->files, open_file(ws, file->name, report), arena, report };
    if (r.fd < 0) return MAKI_OK;
    read_text(&r, max_units, text);
    r.files->close(r.files, r.fd);
    if (report->state == MAKI_BOOTSTRAP_UNREADABLE) *text = (maki_str){ "", 0 };
    report->units = maki_utf16_len(*text);
    return maki_arena_status(arena, err);
}
