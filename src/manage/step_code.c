/* step_code.c -- replace long code in old messages by a line: file name, language, number of lines, first line.
 *
 * Code is what is between two Markdown fences (``` or ~~~).  The texts are scanned in escaped form, so
 * that a message of any length is never copied; all positions are offsets in the escaped text. */
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "manage/pruning.h"

enum {
    LINES_MAX = 40, /* longer code is replaced */
    FENCE_MIN = 3,
    FIRST_UNITS = 80, /* of the first line that are shown */
    NAME_UNITS = 120  /* of the file's name and the language */
};

/* ---- lines of escaped text ------------------------------------------------------------------------------ */

/* The length of the escape of a newline at `at`, or 0. */
static size_t newline_at(maki_str text, size_t at)
{
    if (at + 1 < text.len && text.ptr[at + 1] == 'n') return 2;
    maki_str rest = maki_str_skip(text, at);
    bool code =
        maki_str_starts(rest, MAKI_LIT("\\u000a")) || maki_str_starts(rest, MAKI_LIT("\\u000A"));
    return code ? 6 : 0;
}

/* The line that begins at *at, which moves to the next one; false after the last. */
static bool next_line(maki_str text, size_t *at, maki_str *line)
{
    size_t from = *at, i = from;
    if (from >= text.len) return false;
    while (i < text.len) {
        const char *escape = memchr(text.ptr + i, '\\', text.len - i);
        i = escape ? (size_t)(escape - text.ptr) : text.len;
        size_t newline = escape ? newline_at(text, i) : 0;
        if (newline) {
            *line = (maki_str){ text.ptr + from, i - from };
            *at = i + newline;
            return true;
        }
        if (escape) i += 2; /* the rest of a longer escape has no backslash */
    }
    *line = maki_str_skip(text, from);
    *at = text.len;
    return true;
}

static maki_str trim_spaces(maki_str line)
{
    while (line.len && line.ptr[0] == ' ')
        line = maki_str_skip(line, 1);
    while (line.len && (line.ptr[line.len - 1] == ' '))
        line.len--;
    return line;
}

/* ---- fences ------------------------------------------------------------------------------------------------ */

typedef struct fence {
    char marker;
    size_t length;
    maki_str info; /* what follows it on the line */
} fence;

static bool read_fence(maki_str line, fence *out)
{
    line = trim_spaces(line);
    if (line.len == 0 || (line.ptr[0] != '`' && line.ptr[0] != '~')) return false;
    size_t n = 0;
    while (n < line.len && line.ptr[n] == line.ptr[0])
        n++;
    *out = (fence){ line.ptr[0], n, trim_spaces(maki_str_skip(line, n)) };
    bool inside = out->marker == '`' && memchr(out->info.ptr, '`', out->info.len);
    return n >= FENCE_MIN && !inside;
}

static bool is_closing(const fence *open, maki_str line)
{
    fence f;
    return read_fence(line, &f) && f.marker == open->marker && f.length >= open->length &&
           f.info.len == 0;
}

/* Code between two fences: offsets in the escaped text. */
typedef struct code {
    size_t from, to; /* fences included */
    size_t lines;
    maki_str info, before, first; /* of the fence, the line before it, its first line */
} code;

/* The next code from *at on, which moves past it; false when there is no more. */
static bool next_code(maki_str text, size_t *at, maki_str *before, code *out)
{
    maki_str line;
    fence open;
    for (size_t from = *at; next_line(text, at, &line); from = *at) {
        if (!read_fence(line, &open)) {
            if (trim_spaces(line).len) *before = line;
            continue;
        }
        *out = (code){ .from = from, .info = open.info, .before = *before };
        while (next_line(text, at, &line)) {
            if (is_closing(&open, line)) {
                out->to = (size_t)(line.ptr + line.len - text.ptr);
                *before = (maki_str){ "", 0 };
                return true;
            }
            if (out->first.len == 0) out->first = trim_spaces(line);
            out->lines++;
        }
        return false; /* the fence is not closed: it may not be code */
    }
    return false;
}

/* ---- the replacement ---------------------------------------------------------------------------------------------- */

static bool is_path_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("._-/@+", c));
}

/* A file name with an extension, src/a.c. */
static bool is_path(maki_str word)
{
    const char *dot = maki_str_last(word, '.');
    size_t extension = dot ? (size_t)(word.ptr + word.len - dot) - 1 : 0;
    return dot > word.ptr && extension >= 1 && extension <= 8 && !memchr(dot, '/', extension + 1) &&
           !memchr(word.ptr, ' ', word.len);
}

/* The first file name in a line: any text in backticks, or a plain word. */
static maki_str path_in(maki_str line)
{
    const char *quote = line.len ? memchr(line.ptr, '`', line.len) : NULL;
    if (quote) {
        maki_str rest = maki_str_skip(line, (size_t)(quote + 1 - line.ptr));
        const char *end = memchr(rest.ptr, '`', rest.len);
        maki_str word = maki_str_prefix(rest, end ? (size_t)(end - rest.ptr) : 0);
        if (is_path(word)) return word;
    }
    for (size_t i = 0; i < line.len;) {
        size_t n = 0;
        while (i + n < line.len && is_path_char(line.ptr[i + n]))
            n++;
        maki_str word = { line.ptr + i, n };
        while (word.len && word.ptr[word.len - 1] == '.')
            word.len--;
        if (is_path(word)) return word;
        i += n ? n : 1;
    }
    return (maki_str){ "", 0 };
}

static maki_str language_of(maki_str info)
{
    size_t n = 0;
    while (n < info.len && !strchr(" :{,", info.ptr[n]))
        n++;
    maki_str word = maki_str_prefix(info, n);
    return is_path(word) ? (maki_str){ "", 0 } : word;
}

/* Decode at most `units` of escaped text. */
static maki_str decode(maki_str escaped, uint64_t units, char *out, size_t capacity)
{
    char quoted[FIRST_UNITS * 12 + NAME_UNITS * 6];
    maki_str head = maki_json_head(escaped, units);
    if (head.len + 2 > sizeof quoted) head.len = 0;
    quoted[0] = quoted[head.len + 1] = '"';
    memcpy(quoted + 1, head.ptr, head.len);
    return (maki_str){ out,
                       maki_json_copy_text((maki_str){ quoted, head.len + 2 }, out, capacity) };
}

static maki_status write_replacement(maki_pruning *p, const maki_pruning_part *piece, const code *c,
                                     maki_str *out, maki_err *err)
{
    char names[3][4 * NAME_UNITS];
    maki_str file = path_in(c->info);
    if (file.len == 0) file = path_in(c->before);
    maki_str name = decode(file, NAME_UNITS, names[0], sizeof names[0]);
    maki_str language = decode(language_of(c->info), NAME_UNITS / 4, names[1], sizeof names[1]);
    maki_str first = decode(c->first, FIRST_UNITS, names[2], sizeof names[2]);
    return maki_pruning_text(
        p, out, err,
        "[Code left out: %.*s%s%.*s%s%zu lines, the first: %.*s; maki history expand %" PRIu64
        " shows it]",
        (int)name.len, name.ptr, name.len ? ", " : "", (int)language.len, language.ptr,
        language.len ? ", " : "", c->lines, (int)first.len, first.ptr, piece->seq);
}

static maki_status replace_code(maki_pruning *p, const maki_pruning_part *piece, maki_err *err)
{
    maki_cut cuts[MAKI_CUTS_MAX];
    size_t count = 0, at = 0;
    maki_str before = { "", 0 };
    code c;
    maki_status st = MAKI_OK;
    if (!piece->old || piece->image || piece->result) return MAKI_OK;
    maki_str text = maki_json_strip_quotes(piece->value);
    while (st == MAKI_OK && count < MAKI_CUTS_MAX && next_code(text, &at, &before, &c)) {
        if (c.lines <= LINES_MAX) continue;
        maki_cut *cut = &cuts[count++];
        cut->from = maki_json_utf16_len(maki_str_prefix(text, c.from));
        cut->to = maki_json_utf16_len(maki_str_prefix(text, c.to));
        st = write_replacement(p, piece, &c, &cut->text, err);
    }
    if (st != MAKI_OK || count == 0) return st;
    return maki_pruning_add(p, piece, cuts, count, err);
}

maki_status maki_step_shrink_code(maki_manage_state *work, const maki_step *step,
                                  maki_step_effect *effect, maki_err *err)
{
    maki_status st = maki_pruning_run(work, step, replace_code, NULL, effect, err);
    if (st == MAKI_OK && effect->count == 0)
        return maki_refuse(err, "NOTHING_TO_DO", "there is no long code in old messages");
    return st;
}
