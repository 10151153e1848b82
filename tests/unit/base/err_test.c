/* err_test.c -- the status table, and error messages that are always one valid line. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "base/text.h"
#include "samples.h"
#include "tap.h"

/* The table of FORMATS.md, section 5, typed in again on purpose: the program must not change it. */
/* clang-format off */
static const struct status_row { maki_status status; const char *name; int http, exit; } status_rows[] = {
    { MAKI_OK,          "OK",          200, 0 },
    { MAKI_INVALID,     "INVALID",     400, 2 },
    { MAKI_REFUSED,     "REFUSED",     409, 3 },
    { MAKI_TOOBIG,      "TOOBIG",      413, 4 },
    { MAKI_NOTFOUND,    "NOTFOUND",    404, 5 },
    { MAKI_CONFLICT,    "CONFLICT",    409, 6 },
    { MAKI_IO,          "IO",          500, 7 },
    { MAKI_NOMEM,       "NOMEM",       500, 8 },
    { MAKI_CORRUPT,     "CORRUPT",     500, 9 },
    { MAKI_DENIED,      "DENIED",      403, 10 },
    { MAKI_UPSTREAM,    "UPSTREAM",    502, 11 },
    { MAKI_TIMEOUT,     "TIMEOUT",     504, 12 },
    { MAKI_UNSUPPORTED, "UNSUPPORTED", 501, 13 },
    { MAKI_FULL,        "FULL",        507, 14 },
    { MAKI_CANCELLED,   "CANCELLED",   499, 15 },
};
/* clang-format on */

static void test_table(void)
{
    for (size_t i = 0; i < COUNT(status_rows); i++) {
        const struct status_row *row = &status_rows[i];
        tap_row("status %s", row->name);
        CHECK_CSTR(maki_status_name(row->status), row->name);
        CHECK_EQ(maki_status_http(row->status), row->http);
        CHECK_EQ(maki_status_exit(row->status), row->exit);
        CHECK(strlen(maki_status_meaning(row->status)) > 0);
    }
    tap_row("the table has no row more, and a status it does not have reads as IO");
    CHECK_CSTR(maki_status_name((maki_status)COUNT(status_rows)), "IO");
    CHECK_CSTR(maki_status_name((maki_status)-1), "IO");
    CHECK_EQ(maki_status_http((maki_status)9999), 500);
    CHECK_EQ(maki_status_exit((maki_status)9999), 7);
}

/* What goes into a message as %s, and what comes out.  A character that has no place in a line
 * becomes a space, a byte that is no UTF-8 a question mark. */
/* clang-format off */
static const struct sanitize_row { const char *name, *in, *out; } sanitize_rows[] = {
    { "plain words stay",                "budget is 15",          "budget is 15" },
    { "Japanese stays",                  "項目「名前」がない",    "項目「名前」がない" },
    { "emoji stay",                      "no such file 👨\u200D👩\u200D👧.txt", "no such file 👨\u200D👩\u200D👧.txt" },
    { "Arabic stays",                    "الملف غير موجود",       "الملف غير موجود" },
    { "a newline cannot forge a line",   "a\nERROR b",            "a ERROR b" },
    { "carriage return and tab",         "a\r\tb",                "a  b" },
    { "an escape sequence is disarmed",  "\033[31mred",           " [31mred" },
    { "delete is a control character",   "a\177b",                "a b" },
    { "so are those of U+0080-U+009F",   "a\xC2\x9B" "31mb\xC2\x85" "c\xC2\x80" "d", "a  31mb  c  d" },
    { "U+00A0, just after them, stays",  "a\u00A0b",              "a\u00A0b" },
    { "a stray byte",                    "file \xFF is bad",      "file ? is bad" },
    { "several stray bytes",             "\x80\xC0\xAF\xFE rest", "???? rest" },
    { "a stray byte just before the end", "no field \"\xFF\"",    "no field \"?\"" },
    { "half a character inside",         "a\xE3\x81 b, and more", "a?? b, and more" },
    { "an encoded surrogate",            "x\xED\xA0\x80y, and more", "x???y, and more" },
};
/* clang-format on */

static void test_sanitize(void)
{
    for (size_t i = 0; i < COUNT(sanitize_rows); i++) {
        maki_err err;
        tap_row("message: %s", sanitize_rows[i].name);
        CHECK_STATUS(maki_fail(&err, MAKI_INVALID, "%s", sanitize_rows[i].in), MAKI_INVALID, NULL);
        CHECK_CSTR(err.msg, sanitize_rows[i].out);
        CHECK_CSTR(err.code, "INVALID");
        CHECK_EQ(err.status, MAKI_INVALID);
    }
}

/* A message that is too long is cut: at 199 bytes or up to three less, on a character boundary,
 * wherever the boundary falls. */
static void test_cut(void)
{
    for (size_t i = 0; i < sample_count; i++) {
        maki_str text = samples[i].text;
        if (text.len == 0 || memchr(text.ptr, '\0', text.len)) continue;
        tap_row("a long message is cut on a character boundary: %s", samples[i].name);
        for (size_t lead = 0; lead < 8; lead++) {
            char in[1024] = "xxxxxxxx";
            size_t n = lead;
            while (n < 400)
                n += (size_t)sprintf(in + n, "%.*s", (int)text.len, text.ptr);
            maki_err err;
            maki_fail(&err, MAKI_IO, "%s", in);
            size_t len = strlen(err.msg);
            CHECK(len < sizeof err.msg);
            CHECK(len + 4 >= sizeof err.msg);
            CHECK(maki_utf8_valid(maki_str_of(err.msg), NULL));
        }
    }
}

static void test_rest(void)
{
    maki_err err;
    tap_row("every byte in every place gives one valid line without control characters");
    for (int byte = 1; byte < 256; byte++) {
        for (size_t at = 0; at < 12; at++) {
            char in[] = "0123456789ab";
            in[at] = (char)byte;
            maki_fail(&err, MAKI_IO, "%s", in);
            CHECK(maki_utf8_valid(maki_str_of(err.msg), NULL));
            for (const char *c = err.msg; *c; c++)
                CHECK((unsigned char)*c >= ' ' && *c != 0x7F);
        }
    }

    tap_row("no maki_err at all");
    CHECK_STATUS(maki_fail(NULL, MAKI_TOOBIG, "%d", 1), MAKI_TOOBIG, NULL);
    CHECK_STATUS(maki_refuse(NULL, "X", "%d", 1), MAKI_REFUSED, NULL);
    CHECK_STATUS(maki_fail_nomem(NULL), MAKI_NOMEM, NULL);

    tap_row("a refusal carries its own code");
    CHECK_STATUS(maki_refuse(&err, "NOT_ENOUGH_MESSAGES", "%d of %d", 1, 3), MAKI_REFUSED, NULL);
    CHECK_EQ(err.status, MAKI_REFUSED);
    CHECK_CSTR(err.code, "NOT_ENOUGH_MESSAGES");
    CHECK_CSTR(err.msg, "1 of 3");

    tap_row("out of memory");
    CHECK_STATUS(maki_fail_nomem(&err), MAKI_NOMEM, NULL);
    CHECK_CSTR(err.code, "NOMEM");
    CHECK_CSTR(err.msg, "out of memory");
}

/* clang-format off */
static const struct errno_row { const char *name; int code; maki_status status; const char *msg; } errno_rows[] = {
    { "ENOSPC",  ENOSPC,  MAKI_FULL,     "writing: No space left on device" },
    { "EDQUOT",  EDQUOT,  MAKI_FULL,     "writing: Disk quota exceeded" },
    { "EFBIG",   EFBIG,   MAKI_FULL,     "writing: File too large" },
    { "ENOENT",  ENOENT,  MAKI_NOTFOUND, "writing: No such file or directory" },
    { "ENOTDIR", ENOTDIR, MAKI_NOTFOUND, "writing: Not a directory" },
    { "EACCES",  EACCES,  MAKI_DENIED,   "writing: Permission denied" },
    { "EPERM",   EPERM,   MAKI_DENIED,   "writing: Operation not permitted" },
    { "EROFS",   EROFS,   MAKI_DENIED,   "writing: Read-only file system" },
    { "ENOMEM",  ENOMEM,  MAKI_NOMEM,    "writing: Cannot allocate memory" },
    { "EIO",     EIO,     MAKI_IO,       "writing: Input/output error" },
    { "EBADF",   EBADF,   MAKI_IO,       "writing: Bad file descriptor" },
};
/* clang-format on */

static void test_errno(void)
{
    for (size_t i = 0; i < COUNT(errno_rows); i++) {
        maki_err err;
        tap_row("errno %s", errno_rows[i].name);
        errno = errno_rows[i].code;
        CHECK_STATUS(maki_fail_errno(&err, "writing"), errno_rows[i].status, NULL);
        CHECK_CSTR(err.msg, errno_rows[i].msg);
    }
    maki_err err;
    tap_row("an errno that the system does not know is reported by its number");
    errno = 99999;
    CHECK_STATUS(maki_fail_errno(&err, "writing"), MAKI_IO, NULL);
    CHECK(strstr(err.msg, "99999") != NULL);
}

int main(void)
{
    test_table();
    test_sanitize();
    test_cut();
    test_rest();
    test_errno();
    return tap_end();
}
