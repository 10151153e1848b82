/* offline.c -- see offline.h.
 *
 * One pass over the messages.  What is kept has a fixed size: a few texts, and sets of paths and
 * error lines with a ceiling; when a set is full, new entries are passed over. */
#include "summary/offline.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/text.h"

enum {
    TEXT_MAX = 400,
    PATHS = 40,
    PATH_MAX_BYTES = 160,
    ERRORS = 8,
    ERROR_MAX = 200,
    SCAN_MAX = 1 << 16
};

typedef struct gathered {
    char goal[TEXT_MAX];    /* the first request */
    char request[TEXT_MAX]; /* the newest one */
    char answer[TEXT_MAX];  /* the newest answer */
    char paths[PATHS][PATH_MAX_BYTES];
    size_t path_count;
    char errors[ERRORS][ERROR_MAX]; /* the newest ones, in a ring */
    size_t error_count;
    size_t messages, calls;
    char earlier[4 * TEXT_MAX]; /* a summary that stood among the messages */
} gathered;

/* Copy text as one line, cut on a character. */
static void keep_text(char *out, size_t room, maki_str text)
{
    maki_str cut = maki_utf8_cut(maki_str_trim(text), room - 1);
    for (size_t i = 0; i < cut.len; i++) {
        out[i] = (unsigned char)cut.ptr[i] < 0x20 ? ' ' : cut.ptr[i];
    }
    out[cut.len] = '\0';
}

static bool path_char(unsigned char c)
{
    return c >= 0x80 || c == '/' || c == '.' || c == '_' || c == '-' || (c >= '0' && c <= '9') ||
           (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A path: has a slash between names, or a name with a short extension. */
static bool is_path(maki_str word)
{
    const char *dot = NULL;
    bool slash = memchr(word.ptr, '/', word.len) != NULL, ascii = true;
    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '.') dot = word.ptr + i;
        ascii &= (unsigned char)word.ptr[i] < 0x80;
    }
    if (word.len < 4 || word.len >= PATH_MAX_BYTES || maki_str_has(word, MAKI_LIT("//")))
        return false;
    size_t extension = dot ? (size_t)(word.ptr + word.len - dot) - 1 : 0;
    bool letter = extension > 0 && !(dot[1] >= '0' && dot[1] <= '9');
    if (slash) return ascii || letter;
    return letter && extension >= 1 && extension <= 5 && dot > word.ptr && ascii;
}

static void add_path(gathered *g, maki_str word)
{
    while (word.len && (word.ptr[word.len - 1] == '.' || word.ptr[word.len - 1] == '-'))
        word.len--;
    if (!is_path(word) || g->path_count == PATHS) return;
    for (size_t i = 0; i < g->path_count; i++) {
        if (maki_str_is(word, maki_str_of(g->paths[i]))) return;
    }
    keep_text(g->paths[g->path_count++], PATH_MAX_BYTES, word);
}

static void find_paths(gathered *g, maki_str text)
{
    size_t start = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && path_char((unsigned char)text.ptr[i])) continue;
        if (i > start) add_path(g, (maki_str){ text.ptr + start, i - start });
        start = i + 1;
    }
}

static void find_errors(gathered *g, maki_str text)
{
    while (text.len) {
        const char *newline = memchr(text.ptr, '\n', text.len);
        size_t len = newline ? (size_t)(newline - text.ptr) : text.len;
        maki_str line = maki_str_to(text, len);
        if (maki_str_has_nocase(line, MAKI_LIT("error")) ||
            maki_str_has(line, MAKI_LIT("エラー")) || maki_str_has(line, MAKI_LIT("错误")) ||
            maki_str_has(line, MAKI_LIT("오류")) || maki_str_has_nocase(line, MAKI_LIT("failed"))) {
            keep_text(g->errors[g->error_count++ % ERRORS], ERROR_MAX, line);
        }
        text = maki_str_from(text, newline ? len + 1 : len);
    }
}

static void look_at(gathered *g, maki_role role, maki_str text)
{
    find_paths(g, text);
    find_errors(g, text);
    if (role == MAKI_ROLE_USER) {
        if (g->goal[0] == '\0') keep_text(g->goal, sizeof g->goal, text);
        keep_text(g->request, sizeof g->request, text);
    }
    if (role == MAKI_ROLE_ASSISTANT) keep_text(g->answer, sizeof g->answer, text);
}

/* The text of a JSON string, at most SCAN_MAX bytes of it. */
static maki_str text_of(maki_str string, char *room)
{
    return (maki_str){ room, maki_json_copy_text(string, room, SCAN_MAX) };
}

static void look_at_block(gathered *g, maki_role role, maki_str block, char *room)
{
    maki_str value;
    if (maki_json_kind_of(block) == MAKI_JSON_STRING) {
        look_at(g, role, text_of(block, room));
    } else if (maki_block_is(block, MAKI_LIT("text")) &&
               maki_block_string(block, MAKI_LIT("text"), &value)) {
        look_at(g, role, text_of(value, room));
    } else if (maki_block_is(block, MAKI_LIT("tool_use"))) {
        g->calls++;
        if (maki_json_get(block, MAKI_LIT("input"), &value)) find_paths(g, value);
    } else if (maki_block_is(block, MAKI_LIT("tool_result")) &&
               maki_block_string(block, MAKI_LIT("content"), &value)) {
        maki_str text = text_of(value, room);
        find_paths(g, text);
        find_errors(g, text);
    }
}

typedef struct walk {
    gathered *g;
    char *room;
} walk;

static maki_status take(void *ctx, maki_str json, maki_err *err)
{
    walk *w = ctx;
    maki_str role = { "", 0 }, content, block, summary, calls;
    (void)err;
    w->g->messages++;
    if (!maki_block_string(json, MAKI_LIT("role"), &role)) return MAKI_OK;
    maki_role kind = maki_role_of(role);
    if (kind == MAKI_ROLE_ASSISTANT && maki_json_get(json, MAKI_LIT("tool_calls"), &calls)) {
        w->g->calls += maki_json_count(calls);
        find_paths(w->g, calls);
    }
    if (!maki_json_get(json, MAKI_LIT("content"), &content)) return MAKI_OK;
    bool earlier = maki_json_get(json, MAKI_LIT("isSummary"), &summary) && maki_json_true(summary);
    maki_blocks blocks = maki_content_blocks(content);
    while (maki_blocks_next(&blocks, &block)) {
        if (earlier && maki_block_is(block, MAKI_LIT("text")) &&
            maki_block_string(block, MAKI_LIT("text"), &summary)) {
            keep_text(w->g->earlier, sizeof w->g->earlier, text_of(summary, w->room));
        } else if (!earlier) {
            look_at_block(w->g, kind, block, w->room);
        }
    }
    return MAKI_OK;
}

static void heading(maki_buf *out, const char *name, const char *text)
{
    maki_buf_add(out, out->len ? MAKI_LIT("\n\n") : MAKI_LIT(""));
    maki_buf_add(out, maki_str_of(name));
    maki_buf_add(out, MAKI_LIT(": "));
    maki_buf_add(out, maki_str_of(text[0] ? text : "-"));
}

static void compose(maki_buf *out, const gathered *g)
{
    char counts[120];
    snprintf(counts, sizeof counts, "%zu messages, %zu tool calls. ", g->messages, g->calls);
    heading(out, "Previous Conversation", counts);
    if (g->goal[0]) maki_buf_add(out, MAKI_LIT("First request: "));
    maki_buf_add(out, maki_str_of(g->goal));
    if (g->earlier[0]) {
        maki_buf_add(out, MAKI_LIT("\nEarlier summary: "));
        maki_buf_add(out, maki_str_of(g->earlier));
    }
    heading(out, "Current Work", g->answer);
    heading(out, "Key Technical Concepts", "");
    heading(out, "Relevant Files and Code", g->path_count ? g->paths[0] : "");
    for (size_t i = 1; i < g->path_count; i++) {
        maki_buf_add(out, MAKI_LIT(", "));
        maki_buf_add(out, maki_str_of(g->paths[i]));
    }
    size_t n = g->error_count < ERRORS ? g->error_count : ERRORS;
    heading(out, "Problem Solving", n ? g->errors[(g->error_count - n) % ERRORS] : "");
    for (size_t i = 1; i < n; i++) {
        maki_buf_add(out, MAKI_LIT("\n"));
        maki_buf_add(out, maki_str_of(g->errors[(g->error_count - n + i) % ERRORS]));
    }
    heading(out, "Pending Tasks", g->request);
}

static maki_status run(const maki_summarizer *self, const maki_summary_request *request,
                       maki_arena *arena, maki_summary *out, maki_err *err)
{
    gathered *g = maki_arena_get(arena, sizeof *g);
    char *room = maki_arena_get(arena, SCAN_MAX);
    (void)self;
    if (!g || !room) return maki_arena_status(arena, err);
    walk w = { g, room };
    maki_status st = MAKI_OK;
    if (request->each) {
        st = request->each(request->source, take, &w, err);
    } else {
        for (size_t i = 0; st == MAKI_OK && i < request->messages.count; i++) {
            st = take(&w, request->messages.at[i]->raw, err);
        }
    }
    if (st != MAKI_OK) return st;
    maki_buf text = maki_buf_new(arena->alloc, 1 << 20);
    compose(&text, g);
    st = maki_buf_status(&text, err);
    if (st == MAKI_OK) out->text = maki_arena_copy(arena, maki_buf_str(&text));
    maki_buf_free(&text);
    return st == MAKI_OK ? maki_arena_status(arena, err) : st;
}

maki_summarizer maki_summarizer_offline(void)
{
    return (maki_summarizer){ .usable = true, .run = run };
}
