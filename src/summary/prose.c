/* prose.c -- what people and the model write: decisions, tasks, questions, sentences, names, paths.
 *
 * Code blocks are passed over but for a note of where they were; a block without a language, or with
 * that of a terminal, may hold pasted output and is searched for error lines. */
#include <string.h>

#include "base/str_util.h"
#include "base/text.h"
#include "summary/digest.h"

enum { SENTENCE_MIN = 8 };

static void found(void *ctx, maki_fact what, maki_str text)
{
    maki_digest *d = ctx;
    maki_digest_reader *r = &d->reading;
    maki_digest_found(d, what, text);
    if (what != MAKI_FACT_PATH) return;
    memcpy(r->file, text.ptr, text.len);
    r->file_len = text.len;
}

/* ---- what a sentence settles ----------------------------------------------------------------------- */

static void close_task(maki_digest *d, maki_str text)
{
    maki_text_item *note = maki_text_set_find(&d->tasks, maki_text_item_key(maki_str_trim(text)));
    if (note) note->state = MAKI_TASK_CLOSED;
}

/* "The cache headers are done": tasks of which the sentence repeats half the words are closed. */
static void close_tasks_like(maki_digest *d, const maki_simhash *said)
{
    for (size_t i = 0; i < d->tasks.count; i++) {
        maki_text_item *t = &d->tasks.at[i];
        unsigned shared = maki_simhash_similarity(&t->sketch, said);
        bool said_so = t->kind == MAKI_TASK_SAID || t->kind == MAKI_TASK_NEXT;
        if (said_so && t->last < d->messages && shared >= 2 &&
            shared * 2 >= maki_simhash_similarity(&t->sketch, &t->sketch))
            t->state = MAKI_TASK_CLOSED;
    }
}

/* "The TypeError in items is fixed": errors of which it repeats a third of the words are solved. */
static void solve_errors_like(maki_digest *d, const maki_simhash *said, maki_str sentence)
{
    for (size_t i = 0; i < d->errors.count; i++) {
        maki_text_item *e = &d->errors.at[i];
        unsigned shared = maki_simhash_similarity(&e->sketch, said);
        if (e->state != MAKI_ERROR_OPEN || shared < 3 ||
            shared * 3 < maki_simhash_similarity(&e->sketch, &e->sketch))
            continue;
        e->state = MAKI_ERROR_SOLVED;
        maki_text_set_set_more(&d->errors, e, sentence);
    }
}

static bool is_question(maki_str s)
{
    const char *ends = "?|？|か。|吗。|까.";
    maki_str end;
    while (maki_words_next(&ends, &end)) {
        if (s.len > end.len && maki_str_ends(s, end)) return true;
    }
    return false;
}

static void settle(maki_digest *d, maki_str s, unsigned cues)
{
    if (!(cues & MAKI_KEYWORD_DONE) || (cues & (MAKI_KEYWORD_NOT | MAKI_KEYWORD_OPEN))) return;
    maki_simhash said = maki_simhash_of(s);
    close_tasks_like(d, &said);
    if (cues & MAKI_KEYWORD_FIXED) solve_errors_like(d, &said, s);
}

static void look_at_sentence(maki_digest *d, maki_str s)
{
    size_t known = d->fact_count;
    maki_entities_in(s, found, d);
    s = maki_str_trim(s);
    if (s.len < SENTENCE_MIN) return;
    unsigned cues = maki_keywords_in(&d->cues, s);
    bool question = is_question(s), user = d->reading.role == MAKI_ROLE_USER;
    bool quoted = false;
    if (question) {
        maki_digest_task(d, s, MAKI_TASK_QUESTION);
    } else if (cues & MAKI_KEYWORD_OPEN) {
        maki_digest_task(d, s, MAKI_TASK_SAID);
        quoted = true;
    } else if (cues & MAKI_KEYWORD_NEXT) {
        maki_digest_task(d, s, MAKI_TASK_NEXT);
    } else if (cues & MAKI_KEYWORD_DECISION) {
        maki_digest_decision(d, s, user);
        quoted = true;
    }
    settle(d, s, cues);
    if (!quoted && !question) maki_digest_point(d, s, 2 * (uint32_t)(d->fact_count - known) + user);
}

/* ---- lines ------------------------------------------------------------------------------------------ */

/* Add to a text of bounded length, a space between. */
static void say(maki_said *said, maki_str text)
{
    text = maki_str_trim(text);
    if (said->full || text.len == 0) return;
    if (said->len && said->len + 1 < sizeof said->at) said->at[said->len++] = ' ';
    size_t capacity = sizeof said->at - said->len;
    said->full = text.len > capacity;
    said->len += maki_line_copy(said->at + said->len, capacity, text);
}

/* The length of the sentence that begins at text[0]. */
static size_t sentence_len(maki_str text)
{
    size_t len = 0;
    for (size_t at = 0; at < text.len; at += len) {
        uint32_t code = maki_utf8_decode(text, at, &len);
        size_t end = at + len;
        if (code == 0x3002 || code == 0xFF01 || code == 0xFF1F) return end;
        bool stop = code == '.' || code == '!' || code == '?';
        if (stop && end < text.len && text.ptr[end] == ' ') return end;
    }
    return text.len;
}

static bool one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Without the marks of lists, headings and quotations at its beginning. */
static maki_str bare(maki_str line)
{
    for (;;) {
        line = maki_str_trim(line);
        size_t n = 0;
        while (n < line.len && line.ptr[n] >= '0' && line.ptr[n] <= '9')
            n++;
        if (n && n + 1 < line.len && (line.ptr[n] == '.' || line.ptr[n] == ')') &&
            line.ptr[n + 1] == ' ') {
            line = maki_str_from(line, n + 2);
        } else if (line.len > 1 && one_of(line.ptr[0], "-*>#+") && one_of(line.ptr[1], "-*>#+ ")) {
            line = maki_str_from(line, 1);
        } else {
            return line;
        }
    }
}

/* "[ ] text" and "[x] text". */
static bool look_at_box(maki_digest *d, maki_str line)
{
    if (line.len < 5 || line.ptr[0] != '[' || line.ptr[2] != ']') return false;
    maki_str text = maki_str_from(line, 3);
    if (line.ptr[1] == ' ' || line.ptr[1] == '-') {
        maki_digest_task(d, text, MAKI_TASK_BOX);
        return true;
    }
    if (line.ptr[1] != 'x' && line.ptr[1] != 'X') return false;
    close_task(d, text);
    return true;
}

static void look_at_prose(maki_digest *d, maki_str line)
{
    maki_letters_add(&d->letters, line);
    line = bare(line);
    bool markup = line.len == 0 || line.ptr[0] == '|' || line.ptr[0] == '<';
    if (!markup) say(&d->reading.said, line);
    if (markup || look_at_box(d, line)) {
        maki_entities_in(line, found, d);
        return;
    }
    while (line.len) {
        size_t n = sentence_len(line);
        look_at_sentence(d, maki_str_to(line, n));
        line = maki_str_from(line, n);
    }
}

/* ---- code blocks ------------------------------------------------------------------------------------ */

static void fence_opens(maki_digest *d, maki_str info)
{
    maki_digest_reader *r = &d->reading;
    info = maki_utf8_truncate(maki_str_trim(info), sizeof r->language - 1);
    memcpy(r->language, info.ptr, info.len);
    r->language[info.len] = '\0';
    r->shows_output = info.len == 0 || maki_str_in(info, "text|txt|console|log|sh|bash|shell");
    r->fenced = true;
    r->code_lines = 0;
}

/* What is noted of a block: its file, its language and how long it is. */
static void fence_closes(maki_digest *d)
{
    maki_digest_reader *r = &d->reading;
    r->fenced = false;
    if (r->shows_output || r->code_lines < 3) return;
    maki_str file = { r->file, r->file_len };
    uint64_t key =
        maki_text_item_key(file) ^ (maki_text_item_key(maki_str_of(r->language)) + r->code_lines);
    maki_text_item *note =
        maki_text_set_add(&d->code, key, maki_str_of(r->language), 1, d->messages);
    maki_text_set_set_more(&d->code, note, file);
    note->tally[0] = r->code_lines;
}

static void pasted_error(maki_digest *d, maki_str line)
{
    unsigned cues = maki_keywords_in(&d->cues, line);
    if (d->reading.role != MAKI_ROLE_USER || !(cues & MAKI_KEYWORD_SHOUT) ||
        (cues & MAKI_KEYWORD_NO_ERROR))
        return;
    maki_digest_error(d, maki_str_trim(line), 0, 4);
}

static void take_line(void *ctx, maki_str line, bool more)
{
    maki_digest *d = ctx;
    maki_digest_reader *r = &d->reading;
    maki_str start = maki_str_trim(line);
    (void)more;
    if (r->ignored) return;
    if (maki_str_starts(start, MAKI_LIT("```"))) {
        if (r->fenced) {
            fence_closes(d);
        } else {
            fence_opens(d, maki_str_from(start, 3));
        }
    } else if (r->fenced) {
        r->code_lines++;
        if (r->shows_output) pasted_error(d, line);
    } else if (maki_str_starts(start, MAKI_LIT("<environment_details>")) ||
               maki_str_starts(start, MAKI_LIT("<system-reminder>"))) {
        r->ignored = true; /* to the end of the text */
    } else {
        pasted_error(d, line);
        look_at_prose(d, line);
    }
}

/* ---- texts ------------------------------------------------------------------------------------------- */

/* A question is answered when the other one says something. */
static void answer_questions(maki_digest *d, maki_role role)
{
    for (size_t i = 0; i < d->tasks.count; i++) {
        maki_text_item *t = &d->tasks.at[i];
        bool other = t->kind == MAKI_TASK_QUESTION && t->tally[0] != (uint32_t)role;
        if (other && t->last < d->messages) t->state = MAKI_TASK_CLOSED;
    }
}

/* Who asked the questions of this text. */
static void sign_questions(maki_digest *d, maki_role role)
{
    for (size_t i = 0; i < d->tasks.count; i++) {
        maki_text_item *t = &d->tasks.at[i];
        if (t->kind == MAKI_TASK_QUESTION && t->last == d->messages) t->tally[0] = (uint32_t)role;
    }
}

void maki_digest_text(maki_digest *d, maki_role role, maki_str string)
{
    enum { REQUEST_MIN = 12 }; /* bytes: "go on" is no request */
    maki_digest_reader *r = &d->reading;
    if (role != MAKI_ROLE_USER && role != MAKI_ROLE_ASSISTANT) return;
    *r = (maki_digest_reader){ .role = role };
    answer_questions(d, role);
    maki_line_reader_string(&d->feed, string, take_line, d);
    if (r->fenced) fence_closes(d);
    sign_questions(d, role);
    if (r->said.len == 0) return;
    if (role == MAKI_ROLE_ASSISTANT) {
        d->answer = r->said;
    } else if (d->goal.len == 0) {
        d->goal = r->said;
    } else if (r->said.len >= REQUEST_MIN || d->request.len == 0) {
        d->request = r->said;
    }
}
