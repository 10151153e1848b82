/* workspace.c -- see workspace.h. */
#include "assemble/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/files.h"
#include "base/str.h"
#include "base/text.h"

enum {
    UNIT_BYTES = 3, /* of UTF-8 at most, for one unit: four bytes are two units */
    SLACK = 4,      /* bytes of a character that lies across the edge */
    BLOCK = 4096,
    BLANKS_MAX = 1 << 20 /* of white space at the end of a file that is passed over */
};

/* ---- the folder ------------------------------------------------------------------------------------------------ */

maki_status maki_workspace_open(const maki_env *env, maki_str path, maki_workspace *out,
                                maki_err *err)
{
    char given[PATH_MAX], resolved[PATH_MAX];
    int n = snprintf(given, sizeof given, "%.*s", MAKI_PRINTED(path));
    if (n < 0 || (size_t)n >= sizeof given)
        return maki_fail(err, MAKI_INVALID, "the path of the workspace is too long");
    if (env->files->resolve(env->files, given, resolved) != 0) {
        char doing[160];
        snprintf(doing, sizeof doing, "the workspace %.120s", given);
        return maki_fail_errno(err, doing);
    }
    if (!maki_file_is(env->files, resolved, S_IFDIR))
        return maki_fail(err, MAKI_INVALID, "the workspace %.120s is no folder", given);
    out->env = env;
    snprintf(out->path, sizeof out->path, "%s", resolved);
    return MAKI_OK;
}

const char *maki_boot_state_name(maki_boot_state state)
{
    static const char *const names[] = { "unasked", "missing", "unread", "left out",
                                         "empty",   "whole",   "trimmed" };
    return names[state];
}

/* ---- may it be read? ------------------------------------------------------------------------------------------- */

static int unread(maki_boot_report *told, const char *why)
{
    told->state = MAKI_BOOT_UNREADABLE;
    snprintf(told->why, sizeof told->why, "%s", why);
    return -1;
}

static int unread_errno(maki_boot_report *told)
{
    if (errno != ENOENT) return unread(told, strerror(errno));
    told->state = MAKI_BOOT_MISSING;
    return -1;
}

static bool is_inside(const maki_workspace *ws, const char *path)
{
    size_t n = strlen(ws->path);
    if (n == 1) return true; /* the root */
    return strncmp(path, ws->path, n) == 0 && path[n] == '/';
}

static const char *not_a_file(mode_t mode)
{
    if (S_ISREG(mode)) return NULL;
    return S_ISDIR(mode)    ? "it is a folder, not a file"
           : S_ISFIFO(mode) ? "it is a pipe, not a file"
                            : "it is a device or a socket, not a file";
}

/* A descriptor and its size, or -1 with the reason told.  Looked at before it is opened, for opening a pipe already
 * means something to who writes into it; and again afterwards, for it may have been exchanged. */
static int open_file(const maki_workspace *ws, const char *name, maki_boot_report *told)
{
    char path[PATH_MAX + 32], resolved[PATH_MAX];
    const maki_files *files = ws->env->files;
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", ws->path, name);
    if (files->resolve(files, path, resolved) != 0) return unread_errno(told);
    if (!is_inside(ws, resolved))
        return unread(told, "it is a link that leads out of the workspace");
    if (files->stat(files, AT_FDCWD, resolved, &st) != 0) return unread_errno(told);
    if (not_a_file(st.st_mode)) return unread(told, not_a_file(st.st_mode));
    int fd =
        files->open(files, resolved, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY, 0);
    if (fd < 0) return unread_errno(told);
    if (files->stat(files, fd, NULL, &st) == 0 && S_ISREG(st.st_mode)) {
        told->bytes = (uint64_t)st.st_size;
        return fd;
    }
    files->close(files, fd);
    return unread(told, "it changes while it is read");
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

typedef struct reading {
    const maki_files *files;
    int fd;
    maki_arena *arena;
    maki_boot_report *told;
} reading;

/* Bytes [from, to) in the arena.  False: they are not to be had, and it is told. */
static bool get_bytes(reading *r, uint64_t from, uint64_t to, maki_str *out)
{
    maki_err why = { .msg = "" };
    size_t got = 0, n = (size_t)(to - from);
    char *bytes = maki_arena_get(r->arena, n + 1);
    *out = (maki_str){ "", 0 };
    if (!bytes) return false;
    if (maki_file_read_at(r->files, r->fd, from, bytes, n, &got, &why) != MAKI_OK) {
        unread(r->told, why.msg);
        return false;
    }
    if (memchr(bytes, '\0', got)) {
        unread(r->told, "it is no text in UTF-8: it has NUL bytes");
        return false;
    }
    *out = (maki_str){ bytes, got };
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Where the file ends when white space does not count. */
static bool find_end(reading *r, uint64_t *end)
{
    char block[BLOCK];
    uint64_t least = r->told->bytes > BLANKS_MAX ? r->told->bytes - BLANKS_MAX : 0;
    for (*end = r->told->bytes; *end > least;) {
        maki_err why = { .msg = "" };
        uint64_t from = *end > BLOCK ? *end - BLOCK : 0;
        size_t got = 0;
        if (maki_file_read_at(r->files, r->fd, from, block, (size_t)(*end - from), &got, &why) !=
            MAKI_OK) {
            unread(r->told, why.msg);
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

/* Valid UTF-8: `bytes` as they are, or with U+FFFD for each byte that is none. */
static maki_str repair(reading *r, maki_str bytes)
{
    bool bad = true;
    if (maki_utf8_valid(bytes, NULL)) return bytes;
    r->told->repaired = true;
    maki_buf out = maki_buf_new(r->arena->alloc, bytes.len * UNIT_BYTES + 1);
    while (bad) {
        maki_buf_add(&out, maki_utf8_next_valid(&bytes, &bad));
        if (bad) maki_buf_add(&out, MAKI_LIT("\xEF\xBF\xBD"));
    }
    maki_str text = maki_arena_copy(r->arena, maki_buf_str(&out));
    if (out.status != MAKI_OK) r->arena->status = out.status;
    maki_buf_free(&out);
    return text;
}

/* The longest prefix of at most `units`. */
static maki_str head_of(maki_str text, uint64_t units)
{
    size_t at = 0;
    while (at < text.len) {
        size_t len;
        uint64_t takes = maki_utf8_decode(text, at, &len) > 0xFFFF ? 2 : 1;
        if (takes > units) break;
        units -= takes;
        at += len;
    }
    return maki_str_to(text, at);
}

/* And the longest suffix. */
static maki_str tail_of(maki_str text, uint64_t units)
{
    uint64_t all = maki_utf16_len(text), over = all > units ? all - units : 0;
    maki_str before = head_of(text, over);
    if (maki_utf16_len(before) == over) return maki_str_from(text, before.len);
    size_t len; /* the edge lies in a pair */
    (void)maki_utf8_decode(text, before.len, &len);
    return maki_str_from(text, before.len + len);
}

static bool continues(maki_str text)
{
    return text.len && ((unsigned char)text.ptr[0] & 0xC0) == 0x80;
}

/* Of [from, end), which is longer than may be sent. */
static bool get_ends(reading *r, uint64_t from, uint64_t end, uint64_t head, uint64_t tail,
                     maki_str *before, maki_str *after)
{
    uint64_t wide_head = head * UNIT_BYTES + SLACK, wide_tail = tail * UNIT_BYTES + SLACK;
    uint64_t length = end - from;
    if (wide_head > length) wide_head = length;
    if (wide_tail > length) wide_tail = length;
    if (!get_bytes(r, from, from + wide_head, before) || !get_bytes(r, end - wide_tail, end, after))
        return false;
    before->len -= maki_utf8_incomplete(*before);
    for (int i = 0; i < 3 && continues(*after); i++)
        *after = maki_str_from(*after, 1);
    *before = head_of(repair(r, *before), head);
    *after = tail_of(repair(r, *after), tail);
    return true;
}

static void get_text(reading *r, uint64_t max_units, maki_str *text)
{
    uint64_t from = 0, end, head = maki_truncate_head(max_units),
             tail = maki_truncate_tail(max_units);
    maki_str before, after, mark;
    if (!find_end(r, &end)) return;
    if (!get_bytes(r, 0, end < 3 ? end : 3, &mark)) return;
    if (maki_str_starts(mark, MAKI_LIT("\xEF\xBB\xBF"))) from = 3;
    r->told->state = end > from ? MAKI_BOOT_WHOLE : MAKI_BOOT_EMPTY;
    if (end > from && max_units == 0) {
        unread(r->told, "there is no room left for it");
        r->told->state = MAKI_BOOT_LEFT_OUT;
        return;
    }
    if (end - from <= max_units * UNIT_BYTES) {
        if (!get_bytes(r, from, end, text)) return;
        *text = repair(r, *text);
        if (maki_utf16_len(*text) <= max_units) return;
        before = head_of(*text, head);
        after = tail_of(*text, tail);
    } else if (!get_ends(r, from, end, head, tail, &before, &after)) {
        return;
    }
    r->told->state = MAKI_BOOT_TRIMMED;
    *text = maki_arena_print(r->arena, "%.*s\n\n" MAKI_TRUNCATED "\n\n%.*s", (int)before.len,
                             before.ptr, (int)after.len, after.ptr);
}

maki_status maki_workspace_read(const maki_workspace *ws, const maki_bootstrap_file *file,
                                uint64_t max_units, maki_arena *arena, maki_boot_report *told,
                                maki_str *text, maki_err *err)
{
    *told = (maki_boot_report){ .name = file->name };
    *text = (maki_str){ "", 0 };
    reading r = { ws->env->files, open_file(ws, file->name, told), arena, told };
    if (r.fd < 0) return MAKI_OK;
    get_text(&r, max_units, text);
    r.files->close(r.files, r.fd);
    if (told->state == MAKI_BOOT_UNREADABLE) *text = (maki_str){ "", 0 };
    told->units = maki_utf16_len(*text);
    return maki_arena_status(arena, err);
}
