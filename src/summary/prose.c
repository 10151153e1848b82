/* prose.c -- digest the texts of people and the model, line by line: sentences, checkboxes, code blocks, pasted errors.
 *
 * Of a code block only file, language and length are recorded; a block without a language, or with
 * that of a terminal, may hold pasted output and is searched for error lines. */
#include <stdio.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "base/text.h"
#include "summary/digest.h"
#include "wire/inserted_text.h"

enum { PASTED_MAX = 160 }; /* bytes: of a longer line only the sentence with the error is one */

static void close_task(maki_digest *d, maki_str text)
{
    maki_text_item *task =
        maki_text_set_find(&d->tasks, maki_digest_sentence_key(maki_str_trim(text)));
    if (task) task->state = MAKI_TASK_CLOSED;
}

/* ---- lines ------------------------------------------------------------------------------------------ */

/* Append to a text of bounded length, after a space. */
static void append_sentence(maki_bounded_text *said, maki_str text)
{
    text = maki_str_trim(text);
    if (said->full || text.len == 0) return;
    if (said->len && said->len + 1 < sizeof said->at) said->at[said->len++] = ' ';
    size_t capacity = sizeof said->at - said->len;
    said->full = text.len > capacity;
    said->len += maki_line_copy(said->at + said->len, capacity, text);
}

static bool is_in(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Remove the markers of lists, headings and quotations at the beginning. */
static maki_str strip_markers(maki_str line)
{
    for (;;) {
        line = maki_str_trim(line);
        size_t n = 0;
        while (n < line.len && line.ptr[n] >= '0' && line.ptr[n] <= '9')
            n++;
        if (n && n + 1 < line.len && (line.ptr[n] == '.' || line.ptr[n] == ')') &&
            line.ptr[n + 1] == ' ') {
            line = maki_str_skip(line, n + 2);
        } else if (line.len > 1 && is_in(line.ptr[0], "-*>#+") && is_in(line.ptr[1], "-*>#+ ")) {
            line = maki_str_skip(line, 1);
        } else if (maki_str_starts(line, MAKI_LIT("・")) || maki_str_starts(line, MAKI_LIT("•"))) {
            line = maki_str_skip(line, 3);
        } else {
            return line;
        }
    }
}

/* "[ ] text" and "[x] text". */
static bool parse_checkbox(maki_digest *d, maki_str line)
{
    if (line.len < 5 || line.ptr[0] != '[' || line.ptr[2] != ']') return false;
    maki_str text = maki_str_skip(line, 3);
    if (line.ptr[1] == ' ' || line.ptr[1] == '-') {
        maki_digest_add_task(d, text, MAKI_TASK_CHECKBOX);
        return true;
    }
    if (line.ptr[1] != 'x' && line.ptr[1] != 'X') return false;
    close_task(d, text);
    return true;
}

static void add_pasted_error(maki_digest *d, maki_str line)
{
    unsigned bits = maki_keywords_in(&d->keywords, line);
    if (d->reading.role != MAKI_ROLE_USER || !(bits & MAKI_KEYWORD_ERROR_LINE) ||
        (bits & MAKI_KEYWORD_NO_ERROR))
        return;
    maki_digest_add_error(d, maki_str_trim(line), 0, 4);
}

static void read_prose_line(maki_digest *d, maki_str line)
{
    maki_script_counts_add(&d->letters, line);
    maki_str text = strip_markers(line);
    maki_str start = maki_str_trim(line);
    bool heading = maki_str_starts(start, MAKI_LIT("#")) || maki_str_starts(start, MAKI_LIT("**"));
    bool item = text.ptr != start.ptr && !heading;
    if (heading) text = start;
    bool markup = text.len == 0 || text.ptr[0] == '|' || text.ptr[0] == '<';
    if (markup || parse_checkbox(d, text)) {
        maki_entities_in(text, maki_digest_on_entity, d);
        return;
    }
    while (text.len) {
        maki_str sentence = maki_str_prefix(text, maki_sentence_len(text));
        if (line.len > PASTED_MAX) add_pasted_error(d, sentence);
        if (!maki_digest_add_sentence(d, sentence, item))
            append_sentence(&d->reading.said, sentence);
        text = maki_str_skip(text, sentence.len);
    }
}

/* ---- code blocks ------------------------------------------------------------------------------------ */

static void open_fence(maki_digest *d, maki_str info)
{
    maki_digest_reader *r = &d->reading;
    info = maki_utf8_truncate(maki_str_trim(info), sizeof r->language - 1);
    memcpy(r->language, info.ptr, info.len);
    r->language[info.len] = '\0';
    r->shows_output = info.len == 0 || maki_str_in(info, "text|txt|console|log|sh|bash|shell");
    r->fenced = true;
    r->code_lines = 0;
}

/* Insert a code block: its file, language and number of lines. */
static void close_fence(maki_digest *d)
{
    maki_digest_reader *r = &d->reading;
    r->fenced = false;
    if (r->shows_output || r->code_lines < 3) return;
    maki_str file = { r->file, r->file_len };
    uint64_t key =
        maki_text_item_key(file) ^ (maki_text_item_key(maki_str_of(r->language)) + r->code_lines);
    maki_text_item *item =
        maki_text_set_add(&d->code, key, maki_str_of(r->language), 1, d->messages);
    maki_text_set_set_detail(&d->code, item, file);
    item->counters[0] = r->code_lines;
}

static void on_line(void *ctx, maki_str line, bool more)
{
    maki_digest *d = ctx;
    maki_digest_reader *r = &d->reading;
    maki_str start = maki_str_trim(line);
    (void)more;
    bool ends = maki_str_contains(line, MAKI_LIT("</environment_details>")) ||
                maki_str_contains(line, MAKI_LIT("</system-reminder>"));
    bool ignored = r->ignored;
    if (ignored && ends) r->ignored = false;
    if (ignored) return;
    if (maki_str_starts(start, MAKI_LIT("```"))) {
        if (r->fenced) {
            close_fence(d);
        } else {
            open_fence(d, maki_str_skip(start, 3));
        }
    } else if (r->fenced) {
        r->code_lines++;
        if (r->shows_output) add_pasted_error(d, line);
    } else if (maki_str_starts(start, MAKI_LIT("<environment_details>")) ||
               maki_str_starts(start, MAKI_LIT("<system-reminder>"))) {
        r->ignored = !ends;
    } else {
        if (line.len <= PASTED_MAX) add_pasted_error(d, line);
        read_prose_line(d, line);
    }
}

/* ---- texts ------------------------------------------------------------------------------------------- */

/* Close the questions that the other role asked in earlier messages. */
static void answer_questions(maki_digest *d, maki_role role)
{
    for (size_t i = 0; i < d->tasks.count; i++) {
        maki_text_item *t = &d->tasks.at[i];
        bool by_other_role = t->kind == MAKI_TASK_QUESTION && t->counters[0] != (uint32_t)role;
        if (by_other_role && t->last < d->messages) t->state = MAKI_TASK_CLOSED;
    }
}

/* Record the role that asked the questions of this text. */
static void set_question_role(maki_digest *d, maki_role role)
{
    for (size_t i = 0; i < d->tasks.count; i++) {
        maki_text_item *t = &d->tasks.at[i];
        if (t->kind == MAKI_TASK_QUESTION && t->last == d->messages)
            t->counters[0] = (uint32_t)role;
    }
}

/* "Which port?" "8443.": a short answer is inserted with its question. */
static void insert_answer(maki_digest *d)
{
    enum { SHORT = 64 };
    maki_digest_reader *r = &d->reading;
    maki_str said = { r->said.at, r->said.len }, before = { r->before, r->before_len };
    maki_str asked = { d->asked, d->asked_len };
    char both[MAKI_DIGEST_SENTENCE + 8];
    if (r->role == MAKI_ROLE_USER && d->asked_question && !r->answered && said.len &&
        said.len < SHORT && asked.len + said.len + 5 < MAKI_DIGEST_SENTENCE) {
        int n = snprintf(both, sizeof both, "%.*s → %.*s", MAKI_PRINTED(asked), MAKI_PRINTED(said));
        maki_digest_add_point(d, (maki_str){ both, (size_t)n }, MAKI_BY_USER, 12);
    }
    maki_text_item *question = maki_text_set_find(&d->tasks, maki_digest_sentence_key(before));
    d->asked_len = r->role == MAKI_ROLE_ASSISTANT ? before.len : 0;
    d->asked_question = d->asked_len && question && question->kind == MAKI_TASK_QUESTION;
    memcpy(d->asked, before.ptr, d->asked_len);
}

/* Read the lines of a decoded text, or else of a JSON string. */
static void read_text(maki_digest *d, maki_role role, maki_str string, const maki_str *decoded)
{
    maki_digest_reader *r = &d->reading;
    *r = (maki_digest_reader){ .role = role };
    answer_questions(d, role);
    if (decoded)
        maki_line_reader_text(&d->lines, *decoded, on_line, d);
    else
        maki_line_reader_string(&d->lines, string, on_line, d);
    if (r->fenced) close_fence(d);
    set_question_role(d, role);
    insert_answer(d);
}

typedef struct decoded {
    char *at;
    size_t len;
} decoded;

static maki_status on_decoded(void *ctx, maki_str bytes, maki_err *err)
{
    decoded *out = ctx;
    (void)err;
    memcpy(out->at + out->len, bytes.ptr, bytes.len);
    out->len += bytes.len;
    return MAKI_OK;
}

/* What agents insert at both ends is not what a person said, but a file with the rules of a project is like a system
 * message.  A longer text than the buffer holds is read as it is. */
static bool read_without_inserted(maki_digest *d, maki_str string)
{
    decoded out = { d->args, 0 };
    bool tags = memchr(string.ptr, '<', string.len) ||
                maki_str_contains(string, MAKI_LIT("u003c")) ||
                maki_str_contains(string, MAKI_LIT("u003C"));
    if (!tags || string.len > sizeof d->args) return false;
    (void)maki_json_unescape_to(maki_json_strip_quotes(string), (maki_sink){ on_decoded, &out },
                                NULL);
    maki_str text = { out.at, out.len };
    maki_str head = maki_str_prefix(text, maki_inserted_head(text)),
             said = maki_inserted_none(text);
    bool project = maki_str_contains(head, MAKI_LIT("<INSTRUCTIONS>")) ||
                   maki_str_contains(head, MAKI_LIT("<user_instructions>"));
    if (project) read_text(d, MAKI_ROLE_SYSTEM, string, &head);
    d->reading.said.len = 0;
    if (said.len) read_text(d, MAKI_ROLE_USER, string, &said);
    return true;
}

void maki_digest_add_text(maki_digest *d, maki_role role, maki_str string)
{
    enum { REQUEST_MIN = 12 }; /* bytes: "go on" is no request */
    maki_digest_reader *r = &d->reading;
    if (role != MAKI_ROLE_USER && role != MAKI_ROLE_ASSISTANT && role != MAKI_ROLE_SYSTEM) return;
    if (role != MAKI_ROLE_USER || !read_without_inserted(d, string))
        read_text(d, role, string, NULL);
    if (r->said.len == 0 || role == MAKI_ROLE_SYSTEM) return;
    if (role == MAKI_ROLE_ASSISTANT) {
        d->answer = r->said;
    } else if (d->goal.len == 0) {
        d->goal = r->said;
    } else if (r->said.len >= REQUEST_MIN || d->request.len == 0) {
        d->request = r->said;
    }
}
