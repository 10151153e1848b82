/* workspace_test.c -- bootstrap files of a workspace: long, empty, invalid and hostile ones, links and other directories. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assemble/prompt.h"
#include "assemble/workspace.h"
#include "base/buf.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "directory.h"
#include "fake_env.h"
#include "tap.h"

enum { MEMORY = 8 << 20 };

typedef struct capacity {
    directory files;
    fake_env fe;
    maki_workspace ws;
    maki_arena arena;
    maki_bootstrap_report told;
    maki_str text;
    maki_err err;
} capacity;

static void begin(capacity *r)
{
    fake_env_init(&r->fe);
    directory_open(&r->files);
    r->arena = maki_arena_new(r->fe.env.alloc, MEMORY);
    r->err = (maki_err){ .msg = "" };
    CHECK_STATUS(maki_workspace_open(&r->fe.env, maki_str_of(r->files.path), &r->ws, &r->err),
                 MAKI_OK, &r->err);
}

static void end(capacity *r)
{
    maki_arena_free(&r->arena);
    CHECK_EQ(fake_alloc_live(&r->fe), 0);
    CHECK_EQ(fake_files_live(&r->fe), 0);
    directory_close(&r->files);
}

static void read_agents(capacity *r, uint64_t most)
{
    CHECK_STATUS(maki_workspace_read(&r->ws, maki_bootstrap_find(MAKI_LIT("AGENTS.md")), most,
                                     &r->arena, &r->told, &r->text, &r->err),
                 MAKI_OK, &r->err);
}

/* ---- texts -------------------------------------------------------------------------------------------------- */

static const struct text_row {
    const char *name;
    maki_str bytes;
    uint64_t most;
    maki_bootstrap_state state;
    bool repaired;
    maki_str text;
} text_rows[] = {
    { "a short one", MAKI_LIT("海苔は火であぶる"), 10, MAKI_BOOTSTRAP_WHOLE, false,
      MAKI_LIT("海苔は火であぶる") },
    { "exactly as long as it may be", MAKI_LIT("0123456789"), 10, MAKI_BOOTSTRAP_WHOLE, false,
      MAKI_LIT("0123456789") },
    { "a long one in Japanese", MAKI_LIT("あいうえおかきくけこさしすせそ"), 10,
      MAKI_BOOTSTRAP_TRIMMED, false, MAKI_LIT("あいうえおかき\n\n[...truncated...]\n\nせそ") },
    { "no character is cut in two", MAKI_LIT("123456🍙89abcdef🍣"), 10, MAKI_BOOTSTRAP_TRIMMED, false,
      MAKI_LIT("123456\n\n[...truncated...]\n\n🍣") },
    { "nor at the tail", MAKI_LIT("0123456789🍙🍣x"), 10, MAKI_BOOTSTRAP_TRIMMED, false,
      MAKI_LIT("0123456\n\n[...truncated...]\n\nx") },
    { "white space at the end does not count", MAKI_LIT("规则 \r\n\t\n \n"), 2,
      MAKI_BOOTSTRAP_WHOLE, false, MAKI_LIT("规则") },
    { "nothing but white space", MAKI_LIT(" \n\n"), 10, MAKI_BOOTSTRAP_EMPTY, false, MAKI_LIT("") },
    { "nothing", MAKI_LIT(""), 10, MAKI_BOOTSTRAP_EMPTY, false, MAKI_LIT("") },
    { "no budget at all", MAKI_LIT("海苔"), 0, MAKI_BOOTSTRAP_OMITTED, false, MAKI_LIT("") },
    { "no budget, and an empty file", MAKI_LIT("\n"), 0, MAKI_BOOTSTRAP_EMPTY, false,
      MAKI_LIT("") },
    { "a byte order mark goes", MAKI_LIT("\xEF\xBB\xBF규칙"), 2, MAKI_BOOTSTRAP_WHOLE, false,
      MAKI_LIT("규칙") },
    { "a byte order mark and nothing else", MAKI_LIT("\xEF\xBB\xBF"), 10, MAKI_BOOTSTRAP_EMPTY,
      false, MAKI_LIT("") },
    { "what is no UTF-8 is replaced", MAKI_LIT("a\xff\xe3\x81z"), 10, MAKI_BOOTSTRAP_WHOLE, true,
      MAKI_LIT("a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz") },
    { "and cut as it is shown", MAKI_LIT("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), 10,
      MAKI_BOOTSTRAP_TRIMMED, true,
      MAKI_LIT(
          "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
          "\n\n[...truncated...]\n\n\xEF\xBF\xBD\xEF\xBF\xBD") },
    { "NUL bytes: no text", MAKI_LIT("a\0b"), 10, MAKI_BOOTSTRAP_UNREADABLE, false, MAKI_LIT("") },
    { "UTF-16: no text", MAKI_LIT("\xff\xfe\x41\0\x42\0"), 10, MAKI_BOOTSTRAP_UNREADABLE, false,
      MAKI_LIT("") },
};

static void texts(void)
{
    for (size_t i = 0; i < COUNT(text_rows); i++) {
        const struct text_row *row = &text_rows[i];
        static capacity r;
        tap_row("%s", row->name);
        begin(&r);
        directory_write(directory_file(&r.files, "AGENTS.md"), row->bytes);
        read_agents(&r, row->most);
        CHECK_CSTR(maki_bootstrap_state_name(r.told.state), maki_bootstrap_state_name(row->state));
        CHECK_EQ(r.told.repaired, row->repaired);
        CHECK_TEXT(r.text, row->text);
        CHECK_EQ(r.told.bytes, row->bytes.len);
        CHECK_EQ(r.told.why[0] != '\0',
                 row->state == MAKI_BOOTSTRAP_UNREADABLE || row->state == MAKI_BOOTSTRAP_OMITTED);
        end(&r);
    }
}

/* ---- the same as the operation ------------------------------------------------------------------------------- */

static void add_char(maki_buf *out, tap_random *random)
{
    static const char *const some[] = { "a", "é", "海", "규", "🍙", "\\", "\"", "\n", "z", "苔" };
    maki_buf_add(out, maki_str_of(some[tap_below(random, COUNT(some))]));
}

/* The answer of prompt.truncate_file for the same text. */
static maki_str by_operation(maki_arena *arena, maki_str text, uint64_t most)
{
    maki_buf escaped = maki_buf_new(arena->alloc, 1 << 20),
             cut = maki_buf_new(arena->alloc, 1 << 20);
    maki_jw w;
    maki_jw_init(&w, maki_buf_sink(&escaped), NULL);
    maki_jw_string(&w, text);
    CHECK_STATUS(maki_jw_end(&w), MAKI_OK, NULL);
    maki_jw_init(&w, maki_buf_sink(&cut), NULL);
    maki_truncate_file(&w, maki_json_strip_quotes(maki_buf_str(&escaped)), most);
    CHECK_STATUS(maki_jw_end(&w), MAKI_OK, NULL);
    maki_str out = maki_arena_copy(arena, maki_json_text(maki_buf_str(&cut), arena));
    maki_buf_free(&escaped);
    maki_buf_free(&cut);
    return out;
}

static void same_as_operation(void)
{
    static capacity r;
    tap_random random = { 42 };
    tap_row("texts of any length are truncated like in prompt.truncate_file");
    begin(&r);
    for (int i = 0; i < 400; i++) {
        maki_buf bytes = maki_buf_new(r.fe.env.alloc, 1 << 20);
        size_t chars = tap_below(&random, i % 10 ? 300 : 6000);
        uint64_t most = 1 + tap_below(&random, 400);
        while (chars--)
            add_char(&bytes, &random);
        maki_buf_add(&bytes, MAKI_LIT("."));
        directory_write(directory_file(&r.files, "AGENTS.md"), maki_buf_str(&bytes));
        read_agents(&r, most);
        maki_str want = by_operation(&r.arena, maki_buf_str(&bytes), most);
        bool same = CHECK_TEXT(r.text, want);
        maki_buf_free(&bytes);
        maki_arena_free(&r.arena);
        r.arena = maki_arena_new(r.fe.env.alloc, MEMORY);
        if (!same) break;
    }
    end(&r);
}

/* ---- paths that are not files of the workspace ------------------------------------------------------------------------- */

static void check_unread(capacity *r, maki_bootstrap_state state, const char *why)
{
    read_agents(r, 100);
    CHECK_CSTR(maki_bootstrap_state_name(r->told.state), maki_bootstrap_state_name(state));
    CHECK_EQ(r->text.len, 0);
    CHECK_CSTR(r->told.why, why);
    end(r);
}

static void link_to(capacity *r, const char *target)
{
    char copy[300]; /* it may be borrowed from directory_file */
    snprintf(copy, sizeof copy, "%s", target);
    CHECK_EQ(symlink(copy, directory_file(&r->files, "AGENTS.md")), 0);
}

static void hostile(void)
{
    static capacity r, outside;
    tap_row("a missing file");
    begin(&r);
    check_unread(&r, MAKI_BOOTSTRAP_MISSING, "");
    tap_row("a directory");
    begin(&r);
    CHECK_EQ(mkdir(directory_file(&r.files, "AGENTS.md"), 0700), 0);
    check_unread(&r, MAKI_BOOTSTRAP_UNREADABLE, "it is a directory, not a file");
    tap_row("a pipe without a writer does not block");
    begin(&r);
    CHECK_EQ(mkfifo(directory_file(&r.files, "AGENTS.md"), 0600), 0);
    check_unread(&r, MAKI_BOOTSTRAP_UNREADABLE, "it is a pipe, not a file");
    tap_row("a link out of the workspace is not followed");
    begin(&r);
    begin(&outside);
    directory_write(directory_file(&outside.files, "id_rsa"), MAKI_LIT("秘密の鍵"));
    link_to(&r, directory_file(&outside.files, "id_rsa"));
    check_unread(&r, MAKI_BOOTSTRAP_UNREADABLE, "it is a link that leads out of the workspace");
    tap_row("nor a link to a sibling whose name begins like the workspace's");
    begin(&r);
    char sibling[300], target[300];
    snprintf(sibling, sizeof sibling, "%s-sibling", r.files.path);
    directory_write(sibling, MAKI_LIT("秘密"));
    snprintf(target, sizeof target, "../%s-sibling", strrchr(r.files.path, '/') + 1);
    link_to(&r, target);
    check_unread(&r, MAKI_BOOTSTRAP_UNREADABLE, "it is a link that leads out of the workspace");
    unlink(sibling);
    tap_row("a device is not opened");
    begin(&r);
    link_to(&r, "/dev/zero");
    check_unread(&r, MAKI_BOOTSTRAP_UNREADABLE, "it is a link that leads out of the workspace");
    tap_row("a link to nothing is a missing file, one to itself an error");
    begin(&r);
    link_to(&r, "nowhere");
    check_unread(&r, MAKI_BOOTSTRAP_MISSING, "");
    begin(&r);
    link_to(&r, "AGENTS.md");
    check_unread(&r, MAKI_BOOTSTRAP_UNREADABLE, strerror(ELOOP));
    end(&outside);
}

static void link_inside(void)
{
    static capacity r;
    tap_row("a link within the workspace is followed, and a workspace may be one");
    begin(&r);
    directory_write(directory_file(&r.files, "CLAUDE.md"), MAKI_LIT("规则: 先问"));
    link_to(&r, "CLAUDE.md");
    char other[300];
    snprintf(other, sizeof other, "%s-link", r.files.path);
    CHECK_EQ(symlink(r.files.path, other), 0);
    CHECK_STATUS(maki_workspace_open(&r.fe.env, maki_str_of(other), &r.ws, &r.err), MAKI_OK,
                 &r.err);
    read_agents(&r, 100);
    CHECK_STR(r.text, "规则: 先问");
    unlink(other);
    end(&r);
}

/* ---- the workspace -------------------------------------------------------------------------------------------------- */

static void directories(void)
{
    static capacity r;
    tap_row("~/ is the home directory");
    begin(&r);
    char home[300] = "", name[300];
    snprintf(home, sizeof home, "%s", getenv("HOME") ? getenv("HOME") : "");
    setenv("HOME", r.files.path, 1);
    CHECK_EQ(mkdir(directory_file(&r.files, "仕事"), 0700), 0);
    CHECK_STATUS(maki_workspace_open(&r.fe.env, MAKI_LIT("~/仕事"), &r.ws, &r.err), MAKI_OK,
                 &r.err);
    snprintf(name, sizeof name, "%s", strrchr(r.ws.path, '/'));
    CHECK_CSTR(name, "/仕事");
    setenv("HOME", home, 1);
    tap_row("a workspace that is missing, or is a file");
    CHECK_STATUS(maki_workspace_open(&r.fe.env, MAKI_LIT("/no/such"), &r.ws, &r.err), MAKI_NOTFOUND,
                 &r.err);
    CHECK(strstr(r.err.msg, "the workspace /no/such: No such file") != NULL);
    directory_write(directory_file(&r.files, "file"), MAKI_LIT("x"));
    CHECK_STATUS(maki_workspace_open(&r.fe.env, maki_str_of(directory_file(&r.files, "file")),
                                     &r.ws, &r.err),
                 MAKI_INVALID, &r.err);
    end(&r);
}

/* ---- size and faults ---------------------------------------------------------------------------------------------- */

static void huge(void)
{
    static capacity r;
    static const char head[] = "はじめの規則\n", tail[] = "\nおわりの規則";
    off_t size = (off_t)1 << 30;
    char filler[70000];
    tap_row("of a file of a gigabyte only head and tail are read");
    begin(&r);
    int fd = open(directory_file(&r.files, "AGENTS.md"), O_WRONLY | O_CREAT, 0600);
    memset(filler, 'x', sizeof filler);
    CHECK_EQ(ftruncate(fd, size), 0); /* a hole: NUL bytes that nobody may look at */
    CHECK_EQ(pwrite(fd, filler, sizeof filler, 0), sizeof filler);
    CHECK_EQ(pwrite(fd, filler, sizeof filler, size - (off_t)sizeof filler), sizeof filler);
    CHECK_EQ(pwrite(fd, head, sizeof head - 1, 0), sizeof head - 1);
    CHECK_EQ(pwrite(fd, tail, sizeof tail - 1, size - (off_t)sizeof tail + 1), sizeof tail - 1);
    close(fd);
    read_agents(&r, 20000);
    CHECK_CSTR(maki_bootstrap_state_name(r.told.state), "trimmed");
    CHECK_EQ(r.told.bytes, size);
    CHECK_EQ(r.told.units, 14000 + 4000 + sizeof "\n\n" MAKI_TRUNCATED "\n\n" - 1);
    CHECK(maki_str_starts(r.text, maki_str_of(head)));
    CHECK(maki_str_contains(r.text, maki_str_of(tail)));
    CHECK(r.fe.peak_bytes < 400000);
    printf("# %zu bytes of memory at most\n", r.fe.peak_bytes);
    end(&r);
}

static void faults(void)
{
    static capacity r;
    tap_row("disk errors and allocation failures are reported");
    begin(&r);
    directory_write(directory_file(&r.files, "AGENTS.md"), MAKI_LIT("規則\xff規則"));
    for (size_t nth = 1;; nth++) {
        fake_files_fail_at(&r.fe, nth, EIO);
        read_agents(&r, 100);
        bool injected = fake_files_failed(&r.fe);
        CHECK_EQ(fake_files_live(&r.fe), 0);
        if (!injected) break;
        bool told = r.told.state == MAKI_BOOTSTRAP_UNREADABLE;
        CHECK(told || r.told.state ==
                          MAKI_BOOTSTRAP_WHOLE); /* that it could not be closed does not matter */
        CHECK_EQ(r.text.len > 0, !told);
    }
    fake_files_fail_at(&r.fe, 0, 0);
    for (size_t nth = 1;; nth++) {
        maki_arena_free(&r.arena);
        r.arena = maki_arena_new(r.fe.env.alloc, MEMORY);
        fake_alloc_fail_at(&r.fe, nth);
        maki_status st = maki_workspace_read(&r.ws, maki_bootstrap_find(MAKI_LIT("AGENTS.md")), 100,
                                             &r.arena, &r.told, &r.text, &r.err);
        bool injected = fake_alloc_failed(&r.fe);
        CHECK_STATUS(st, injected ? MAKI_NOMEM : MAKI_OK, &r.err);
        if (!injected) break;
    }
    end(&r);
}

/* ---- the system prompt ----------------------------------------------------------------------------------------------- */

static void build_row(maki_prompt_mode mode, maki_str want, maki_str want_timestamp)
{
    fake_env fe;
    maki_str text, timestamp;
    maki_err err = { .msg = "" };
    fake_env_init(&fe);
    maki_arena arena = maki_arena_new(fe.env.alloc, MEMORY);
    maki_prompt_parts in = { .mode = mode };
    in.parts[MAKI_SECTION_IDENTITY] = (maki_prompt_part){ MAKI_LIT("巻"), "IDENTITY.md" };
    in.parts[MAKI_SECTION_PERSONA] = (maki_prompt_part){ MAKI_LIT("静か"), "SOUL.md" };
    in.parts[MAKI_SECTION_TOOLING].text = MAKI_LIT("- read_file");
    in.parts[MAKI_SECTION_USER].text = MAKI_LIT("김");
    in.parts[MAKI_SECTION_TIMESTAMP].text = MAKI_LIT("2026-01-27");
    CHECK_STATUS(maki_prompt_build(&in, &arena, &text, &timestamp, &err), MAKI_OK, &err);
    CHECK_TEXT(text, want);
    CHECK_TEXT(timestamp, want_timestamp);
    maki_arena_free(&arena);
}

static void building(void)
{
    tap_row("sections under headings, empty ones left out, the time separate");
    build_row(MAKI_PROMPT_FULL,
              MAKI_LIT("## Identity (IDENTITY.md)\n\n巻\n\n## Persona (SOUL.md)\n\n静か\n\n"
                       "## Tools\n\n- read_file\n\n## User\n\n김"),
              MAKI_LIT("## Date\n\n2026-01-27"));
    build_row(MAKI_PROMPT_MINIMAL,
              MAKI_LIT("## Identity (IDENTITY.md)\n\n巻\n\n## Tools\n\n- read_file"), MAKI_LIT(""));
    build_row(MAKI_PROMPT_NONE, MAKI_LIT("## Identity (IDENTITY.md)\n\n巻"), MAKI_LIT(""));
}

static void tools(void)
{
    fake_env fe;
    maki_str text = { "", 0 };
    maki_err err = { .msg = "" };
    tap_row("the names of tools, whatever their shape");
    fake_env_init(&fe);
    maki_arena arena = maki_arena_new(fe.env.alloc, MEMORY);
    CHECK_STATUS(maki_prompt_tools(
                     MAKI_LIT("[{\"name\":\"a\"},{\"type\":\"function\",\"function\":{\"name\":"
                              "\"b\\u6d77\"}},{\"functionDeclarations\":[{\"name\":\"c\"}]},{}]"),
                     &arena, &text, &err),
                 MAKI_OK, &err);
    CHECK_STR(text, "- a\n- b海\n- c");
    maki_arena_free(&arena);
}

static void timestamps(void)
{
    char out[MAKI_TIMESTAMP_MAX];
    tap_row("the date and the time in the zone of the process");
    setenv("TZ", "JST-9", 1);
    maki_prompt_timestamp(1769470200000, MAKI_TIMESTAMP_TIME, out); /* 2026-01-26T23:30Z */
    CHECK_CSTR(out, "2026-01-27 08:30 (UTC+09:00)");
    maki_prompt_timestamp(1769470200000, MAKI_TIMESTAMP_DATE, out);
    CHECK_CSTR(out, "2026-01-27 (UTC+09:00)");
    maki_prompt_timestamp(1769470200000, MAKI_TIMESTAMP_OFF, out);
    CHECK_CSTR(out, "");
}

int main(void)
{
    texts();
    same_as_operation();
    hostile();
    link_inside();
    directories();
    huge();
    faults();
    building();
    tools();
    timestamps();
    return tap_end();
}
