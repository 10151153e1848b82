/* summary_writer.c -- format the items of a digest as lines, select those that fit into the token budget, write them.
 *
 * In:    a digest, and limits in tokens.  Out: Markdown in a buffer, of at most as many tokens.
 * Every kind of line is one row of `kinds`: its section and label, its turn and share when lines are selected, the set
 * of its items, and the function that formats an item. */
#include "summary/summary_writer.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/str_util.h"

typedef struct line {
    maki_str text;
    uint64_t tokens;   /* 0: not counted yet */
    uint64_t priority; /* higher ones of a kind are selected first */
    uint32_t sequence; /* order of the lines of kinds that share a label, oldest first; else 0 */
    size_t kind;
    bool selected;
} line;

typedef struct draft {
    const maki_digest *d;
    maki_tokenizer *tokenizer;
    maki_arena *arena;
    maki_lang lang;
    maki_buf text; /* of the current line */
    line *lines;   /* kind by kind, in the order they are written */
    size_t count, capacity;
    line **by_priority, **selected; /* the latter in the order of selection */
    size_t selected_count;
} draft;

/* ---- formatting lines ----------------------------------------------------------------------------- */

static const char *label(const draft *w, maki_label which)
{
    return maki_label_text(w->lang, which);
}

static void put_quoted(draft *w, maki_str text)
{
    maki_buf_print(&w->text, "%s%.*s%s", maki_quote(w->lang, false), MAKI_PRINTED(text),
                   maki_quote(w->lang, true));
}

/* " (more)", if there is more. */
static void put_detail(draft *w, const maki_text_item *item)
{
    if (item->detail_len)
        maki_buf_print(&w->text, " (%.*s)", MAKI_PRINTED(maki_text_item_detail(item)));
}

/* Format an item as a line; false: the item is not of this kind, discard the text. */
typedef bool (*format_fn)(draft *w, const maki_text_item *item);

static bool counts_line(draft *w, const maki_text_item *none)
{
    (void)none;
    maki_buf_print(&w->text, "%llu, %llu", (unsigned long long)w->d->messages + w->d->before,
                   (unsigned long long)w->d->tool_calls + w->d->calls_before);
    return true;
}

static bool quoted_line(draft *w, const maki_text_item *item)
{
    put_quoted(w, maki_text_item_text(item));
    return true;
}

static bool rule_line(draft *w, const maki_text_item *rule)
{
    return quoted_line(w, rule) && rule->weight >= MAKI_WEIGHT_ALWAYS;
}

static void put_overridden(draft *w, const maki_text_item *item)
{
    if (item->state == MAKI_DECISION_OVERRIDDEN)
        maki_buf_print(&w->text, " (%s)", label(w, MAKI_LABEL_OVERRIDDEN));
}

static bool soft_rule_line(draft *w, const maki_text_item *rule)
{
    maki_buf_print(&w->text, "%.*s", MAKI_PRINTED(maki_text_item_text(rule)));
    put_overridden(w, rule);
    return rule->weight < MAKI_WEIGHT_ALWAYS;
}

static bool decision_line(draft *w, const maki_text_item *decision)
{
    return quoted_line(w, decision) && decision->state == MAKI_DECISION_LATEST;
}

static bool overridden_line(draft *w, const maki_text_item *decision)
{
    put_quoted(w, maki_text_item_text(decision));
    put_overridden(w, decision);
    return decision->state == MAKI_DECISION_OVERRIDDEN;
}

static bool put_point(draft *w, const maki_text_item *point, uint8_t kind)
{
    maki_buf_print(&w->text, "%.*s", MAKI_PRINTED(maki_text_item_text(point)));
    put_overridden(w, point);
    return point->kind == kind && !maki_text_set_find(&w->d->rules, point->key) &&
           !maki_text_set_find(&w->d->decisions, point->key);
}

static bool about_line(draft *w, const maki_text_item *point)
{
    return put_point(w, point, MAKI_ABOUT);
}

static bool point_line(draft *w, const maki_text_item *point)
{
    return put_point(w, point, MAKI_BY_USER);
}

static bool reply_line(draft *w, const maki_text_item *point)
{
    return put_point(w, point, MAKI_BY_ASSISTANT);
}

static bool name_line(draft *w, const maki_text_item *needs_label)
{
    maki_buf_print(&w->text, "%.*s", MAKI_PRINTED(maki_text_item_text(needs_label)));
    return needs_label->count >= 2;
}

static bool file_line(draft *w, const maki_text_item *file)
{
    static const maki_label uses[] = { MAKI_LABEL_READ, MAKI_LABEL_EDITED, MAKI_LABEL_WRITTEN };
    const char *comma = ": ";
    maki_buf_print(&w->text, "%.*s", MAKI_PRINTED(maki_text_item_text(file)));
    for (size_t i = 0; i < MAKI_TEXT_ITEM_COUNTERS; i++) {
        if (file->counters[i] == 0) continue;
        maki_buf_print(&w->text, "%s%s %u", comma, label(w, uses[i]), file->counters[i]);
        comma = ", ";
    }
    if (file->state == MAKI_FILE_FAILED)
        maki_buf_print(&w->text, "%s%s", comma, label(w, MAKI_LABEL_FAILED));
    if (file->state == MAKI_FILE_DELETED)
        maki_buf_print(&w->text, "%s%s", comma, label(w, MAKI_LABEL_DELETED));
    put_detail(w, file);
    return file->state != MAKI_FILE_MENTIONED;
}

static bool mentioned_line(draft *w, const maki_text_item *file)
{
    maki_buf_print(&w->text, "%.*s", MAKI_PRINTED(maki_text_item_text(file)));
    return file->state == MAKI_FILE_MENTIONED;
}

static bool code_line(draft *w, const maki_text_item *code)
{
    maki_str language = code->len ? maki_text_item_text(code) : MAKI_LIT("?");
    maki_buf_print(&w->text, "%.*s %u %s", MAKI_PRINTED(language), code->counters[0],
                   label(w, MAKI_LABEL_LINES));
    put_detail(w, code);
    return true;
}

/* An error after its command or file, if known: "`npm test`: ...". */
static void put_error(draft *w, const maki_text_item *error)
{
    const maki_text_item *from = error->link ? maki_text_set_find(&w->d->runs, error->link) : NULL;
    if (!from && error->link) from = maki_text_set_find(&w->d->files, error->link);
    if (from) maki_buf_print(&w->text, "`%.*s`: ", MAKI_PRINTED(maki_text_item_text(from)));
    maki_buf_print(&w->text, "%.*s", MAKI_PRINTED(maki_text_item_text(error)));
}

static bool error_line(draft *w, const maki_text_item *error)
{
    put_error(w, error);
    return error->state == MAKI_ERROR_OPEN;
}

static bool solved_line(draft *w, const maki_text_item *error)
{
    put_error(w, error);
    if (error->detail_len)
        maki_buf_print(&w->text, " → %.*s", MAKI_PRINTED(maki_text_item_detail(error)));
    return error->state == MAKI_ERROR_SOLVED;
}

static bool command_line(draft *w, const maki_text_item *run)
{
    maki_buf_print(&w->text, "`%.*s`: %u %s", MAKI_PRINTED(maki_text_item_text(run)), run->count,
                   label(w, MAKI_LABEL_RUNS));
    if (run->state == MAKI_RUN_OK) maki_buf_print(&w->text, ", %s", label(w, MAKI_LABEL_OK));
    if (run->state == MAKI_RUN_FAILED)
        maki_buf_print(&w->text, ", %s", label(w, MAKI_LABEL_NOT_OK));
    if (run->counters[0]) maki_buf_print(&w->text, " (exit %u)", run->counters[0] - 1);
    if (run->detail_len)
        maki_buf_print(&w->text, "; %.*s", MAKI_PRINTED(maki_text_item_detail(run)));
    return true;
}

static bool task_line(draft *w, const maki_text_item *task)
{
    maki_buf_print(&w->text, "[ ] %.*s", MAKI_PRINTED(maki_text_item_text(task)));
    return task->state == MAKI_TASK_OPEN && task->kind != MAKI_TASK_QUESTION;
}

static bool question_line(draft *w, const maki_text_item *task)
{
    maki_buf_print(&w->text, "[ ] %s: %.*s", label(w, MAKI_LABEL_QUESTION),
                   MAKI_PRINTED(maki_text_item_text(task)));
    return task->state == MAKI_TASK_OPEN && task->kind == MAKI_TASK_QUESTION;
}

/* ---- kinds of lines --------------------------------------------------------------------------------- */

/* In output order.  Lines are selected kind by kind in the order of `turn`, each up to `share` percent of the budget; what
 * is left over is then distributed in the same order.  Turns below FIRST_TURN have their own limit (limits->rules);
 * when the total may exceed the budget, those below FIRST_TURN_SHORT. */
static const struct kind {
    maki_section section;
    maki_label label; /* MAKI_LABELS: none */
    bool joined;      /* items on one line, separated by commas */
    bool by_user;     /* what the user said: may use limits->user too */
    unsigned char turn, share;
    size_t
        set; /* offset of its text set or maki_bounded_text; 0: `format` is called once, without an item */
    format_fn format; /* NULL: a maki_bounded_text, quoted */
} kinds[] = {
#define SET(field) offsetof(maki_digest, field)
    { MAKI_SEC_CONCEPTS, MAKI_LABEL_RULES, false, true, 0, 100, SET(rules), rule_line },
    { MAKI_SEC_PREVIOUS, MAKI_LABEL_MESSAGES, true, false, 18, 100, 0, counts_line },
    { MAKI_SEC_PREVIOUS, MAKI_LABEL_FIRST, true, true, 5, 15, SET(goal), NULL },
    { MAKI_SEC_PREVIOUS, MAKI_LABEL_REPLIES, false, false, 13, 20, SET(points), reply_line },
    { MAKI_SEC_PREVIOUS, MAKI_LABEL_SAID, false, true, 2, 40, SET(rules), soft_rule_line },
    { MAKI_SEC_PREVIOUS, MAKI_LABEL_SAID, false, true, 7, 15, SET(decisions), overridden_line },
    { MAKI_SEC_PREVIOUS, MAKI_LABEL_SAID, false, true, 1, 100, SET(decisions), decision_line },
    { MAKI_SEC_PREVIOUS, MAKI_LABEL_SAID, false, true, 3, 40, SET(points), about_line },
    { MAKI_SEC_PREVIOUS, MAKI_LABEL_SAID, false, true, 11, 100, SET(points), point_line },
    { MAKI_SEC_CURRENT, MAKI_LABEL_LAST, true, true, 8, 20, SET(request), NULL },
    { MAKI_SEC_CURRENT, MAKI_LABEL_ANSWER, true, false, 12, 10, SET(answer), NULL },
    { MAKI_SEC_FILES, MAKI_LABELS, false, false, 9, 20, SET(files), file_line },
    { MAKI_SEC_FILES, MAKI_LABEL_MENTIONED, true, false, 10, 10, SET(files), mentioned_line },
    { MAKI_SEC_FILES, MAKI_LABEL_NAMES, true, false, 17, 6, SET(names), name_line },
    { MAKI_SEC_FILES, MAKI_LABEL_CODE, true, false, 19, 4, SET(code), code_line },
    { MAKI_SEC_PROBLEMS, MAKI_LABEL_OPEN_ERRORS, false, false, 4, 30, SET(errors), error_line },
    { MAKI_SEC_PROBLEMS, MAKI_LABEL_SOLVED, false, false, 16, 10, SET(errors), solved_line },
    { MAKI_SEC_PROBLEMS, MAKI_LABEL_COMMANDS, false, false, 14, 12, SET(runs), command_line },
    { MAKI_SEC_PENDING, MAKI_LABELS, false, false, 6, 15, SET(tasks), task_line },
    { MAKI_SEC_PENDING, MAKI_LABELS, false, false, 15, 10, SET(tasks), question_line },
#undef SET
};
enum { KINDS = sizeof kinds / sizeof kinds[0], FIRST_TURN = 2, FIRST_TURN_SHORT = 3 };

/* Append the formatted text as a line, unless it is empty. */
static void add_line(draft *w, size_t kind, uint64_t priority, uint32_t sequence)
{
    maki_str text = maki_arena_copy(w->arena, maki_buf_str(&w->text));
    line one = { .text = text, .priority = priority, .sequence = sequence, .kind = kind };
    if (text.len == 0) return;
    (void)maki_arena_add(w->arena, &w->lines, &w->count, &w->capacity, &one, sizeof one,
                         NULL); /* the arena remembers a failure */
}

/* Does the text contain a sentence that was overridden later?  Its sentences are among the points and decisions. */
static bool is_outdated(const maki_digest *d, const maki_bounded_text *said)
{
    const maki_text_set *sets[] = { &d->points, &d->decisions };
    maki_str text = { said->at, said->len };
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < sets[k]->count; i++) {
            const maki_text_item *p = &sets[k]->at[i];
            if (p->state != MAKI_DECISION_OVERRIDDEN) continue;
            maki_str whole = maki_text_item_text(p), answer = whole;
            if (!maki_str_contains(text, whole) && maki_str_contains(whole, MAKI_LIT(" → ")))
                answer = maki_str_skip(whole, maki_str_find_nocase(whole, MAKI_LIT(" → ")) +
                                                  strlen(" → "));
            if (maki_str_contains(text, answer)) return true;
        }
    }
    return false;
}

static void format_kind(draft *w, size_t k)
{
    const void *from = (const char *)w->d + kinds[k].set;
    const maki_bounded_text *said = from;
    const maki_text_set *set = from;
    if (kinds[k].set == 0 || !kinds[k].format) {
        w->text.len = 0;
        if (kinds[k].format)
            kinds[k].format(w, NULL);
        else if (said->len && !is_outdated(w->d, said))
            put_quoted(w, (maki_str){ said->at, said->len });
        add_line(w, k, 0, 0);
        return;
    }
    for (size_t i = 0; i < set->count && w->text.status == MAKI_OK; i++) {
        const maki_text_item *item = &set->at[i];
        w->text.len = 0;
        uint32_t sequence = kinds[k].label == MAKI_LABEL_SAID ? item->counters[0] : 0;
        if (kinds[k].format(w, item))
            add_line(w, k, (uint64_t)item->weight << 32 | item->last, sequence);
    }
}

static bool has_higher_priority(const void *a, const void *b)
{
    return (*(line *const *)a)->priority > (*(line *const *)b)->priority;
}

/* Output order: by kind; kinds that share a label are merged by sequence. */
static bool precedes(const void *a, const void *b)
{
    const line *x = a, *y = b;
    if (kinds[x->kind].label == kinds[y->kind].label && x->sequence && y->sequence)
        return x->sequence < y->sequence;
    return x->kind < y->kind;
}

static maki_status format_lines(draft *w, maki_err *err)
{
    for (size_t k = 0; k < KINDS; k++)
        format_kind(w, k);
    w->by_priority = maki_arena_array(w->arena, w->count + 1, sizeof(line *));
    w->selected = maki_arena_array(w->arena, w->count + 1, sizeof(line *));
    maki_status st = maki_buf_status(&w->text, err);
    if (st == MAKI_OK) st = maki_arena_status(w->arena, err);
    if (st == MAKI_OK)
        st = maki_sort(w->lines, w->count, sizeof *w->lines, precedes, w->arena, err);
    if (st != MAKI_OK) return st;
    for (size_t i = 0; i < w->count; i++)
        w->by_priority[i] = &w->lines[i];
    return maki_sort(w->by_priority, w->count, sizeof(line *), has_higher_priority, w->arena, err);
}

/* ---- selection --------------------------------------------------------------------------------------- */

/* Tokens of the label and the section heading, where the first line of this kind needs them. */
static uint64_t opening_tokens(const draft *w, size_t kind)
{
    const struct kind *k = &kinds[kind];
    bool heading = true, needs_label = k->label != MAKI_LABELS;
    for (size_t i = 0; i < w->selected_count; i++) {
        const struct kind *other = &kinds[w->selected[i]->kind];
        heading &= other->section != k->section;
        needs_label &= other->section != k->section || other->label != k->label;
    }
    return (heading ? 4 + maki_tokenizer_count(w->tokenizer,
                                               maki_str_of(maki_heading(w->lang, k->section)))
                    : 0) +
           (needs_label ? 2 + maki_tokenizer_count(w->tokenizer, maki_str_of(label(w, k->label)))
                        : 0);
}

/* Is it contained in a selected line?  A sentence: in a request, an answer or a task; a path or name: in any line. */
static bool is_contained(const draft *w, const line *candidate)
{
    bool point = kinds[candidate->kind].set == offsetof(maki_digest, points);
    bool word = kinds[candidate->kind].format == mentioned_line ||
                kinds[candidate->kind].format == name_line;
    for (size_t i = 0; (point || word) && i < w->selected_count; i++) {
        const line *other = w->selected[i];
        bool text = !kinds[other->kind].format || kinds[other->kind].format == task_line;
        if ((word || text) && maki_str_contains(other->text, candidate->text)) return true;
    }
    return false;
}

/* Select lines of one kind within min(available, share) tokens, skipping those that do not fit; returns the rest. */
static uint64_t select_kind(draft *w, size_t kind, uint64_t available, uint64_t share)
{
    enum {
        LINE_TOKENS_MIN = 5,
        TOKEN_BYTES_MAX = 16
    }; /* cheap bounds: most lines are skipped without being tokenized */
    uint64_t opening = opening_tokens(w, kind);
    for (size_t i = 0; i < w->count && available >= LINE_TOKENS_MIN && share >= LINE_TOKENS_MIN;
         i++) {
        line *candidate = w->by_priority[i];
        uint64_t limit = available < share ? available : share;
        if (candidate->kind != kind || candidate->selected ||
            candidate->text.len / TOKEN_BYTES_MAX > limit)
            continue;
        if (!candidate->tokens)
            candidate->tokens = maki_tokenizer_count(w->tokenizer, candidate->text) + 3;
        if (candidate->tokens + opening > limit || is_contained(w, candidate)) continue;
        candidate->selected = true;
        w->selected[w->selected_count++] = candidate;
        available -= candidate->tokens + opening;
        share -= candidate->tokens + opening;
        opening = 0;
    }
    return available;
}

/* Select lines of all kinds; returns the token limit of the summary. */
static uint64_t select_lines(draft *w, const maki_summary_limits *limits)
{
    enum { SMALL = 100 }; /* tokens: paths first, and no shares */
    size_t order[KINDS];
    uint64_t available = limits->rules, budget = limits->budget;
    for (size_t k = 0; k < KINDS; k++)
        order[kinds[k].turn] = k;
    size_t first = limits->total > budget ? FIRST_TURN_SHORT : FIRST_TURN;
    for (size_t i = 0; i < FIRST_TURN; i++) /* each half, then what is left over */
        available = select_kind(w, order[i], available, limits->rules / FIRST_TURN);
    for (size_t i = 0; i < first; i++)
        available = select_kind(w, order[i], available, available);
    uint64_t used = limits->rules - available,
             remaining = limits->total > used ? limits->total - used : 0;
    uint64_t user_available = remaining < limits->user ? remaining : limits->user;
    uint64_t initial = user_available < budget ? user_available : budget;
    bool small = budget < SMALL;
    available = initial;
    for (size_t i = FIRST_TURN; small && i < KINDS; i++)
        if (kinds[order[i]].format == mentioned_line)
            available = select_kind(w, order[i], available, available);
    for (size_t i = FIRST_TURN; i < KINDS; i++) {
        if (small && !kinds[order[i]].format) continue; /* its sentences are also points */
        available = select_kind(w, order[i], available,
                                small ? available : budget * kinds[order[i]].share / 100);
    }
    user_available -= initial - available;
    for (size_t i = FIRST_TURN; i < KINDS; i++)
        if (kinds[order[i]].by_user && kinds[order[i]].format)
            user_available = select_kind(w, order[i], user_available, user_available);
    if (available > user_available) available = user_available;
    for (size_t i = FIRST_TURN; i < KINDS; i++)
        if (!kinds[order[i]].by_user) available = select_kind(w, order[i], available, available);
    return used > limits->total ? limits->rules : limits->total;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

static void add(maki_buf *out, const char *text)
{
    maki_buf_add(out, maki_str_of(text));
}

/* "label: " or "label:" and the end of the line. */
static void write_label(const draft *w, size_t kind, maki_buf *out)
{
    if (kinds[kind].label == MAKI_LABELS) return;
    add(out, label(w, kinds[kind].label));
    add(out, kinds[kind].joined ? ": " : ":\n");
}

/* The section heading and the label, unless the previous kind had the same. */
static void write_opening(const draft *w, size_t kind, size_t before, maki_buf *out)
{
    bool section = before == KINDS || kinds[before].section != kinds[kind].section;
    if (section) {
        add(out, out->len ? "\n## " : "## ");
        add(out, maki_heading(w->lang, kinds[kind].section));
        add(out, "\n");
    }
    if (section || kinds[before].label != kinds[kind].label) write_label(w, kind, out);
}

static void write_all(const draft *w, maki_buf *out)
{
    size_t before = KINDS;
    maki_buf_clear(out);
    for (size_t i = 0; i < w->count; i++) {
        const line *candidate = &w->lines[i];
        bool joined = kinds[candidate->kind].joined;
        if (!candidate->selected) continue;
        if (candidate->kind != before) {
            if (before != KINDS && kinds[before].joined) add(out, "\n");
            write_opening(w, candidate->kind, before, out);
        } else if (joined) {
            add(out, ", ");
        }
        if (!joined) add(out, "- ");
        maki_buf_add(out, candidate->text);
        if (!joined) add(out, "\n");
        before = candidate->kind;
    }
    if (before != KINDS && kinds[before].joined) add(out, "\n");
}

/* Token counts of lines do not add up exactly: the lines selected last are dropped until the summary fits. */
static void write_within(draft *w, uint64_t budget, maki_buf *out)
{
    write_all(w, out);
    while (w->selected_count && out->status == MAKI_OK &&
           maki_tokenizer_count(w->tokenizer, maki_buf_str(out)) > budget) {
        w->selected[--w->selected_count]->selected = false;
        write_all(w, out);
    }
}

maki_status maki_summary_compose(const maki_digest *digest, maki_lang lang,
                                 maki_tokenizer *tokenizer, const maki_summary_limits *limits,
                                 maki_arena *arena, maki_buf *out, maki_err *err)
{
    draft w = { .d = digest,
                .tokenizer = tokenizer,
                .arena = arena,
                .lang = lang,
                .text = maki_buf_new(arena->alloc, 1 << 16) };
    maki_status st = format_lines(&w, err);
    if (st == MAKI_OK) {
        write_within(&w, select_lines(&w, limits), out);
        st = maki_buf_status(out, err);
    }
    if (st == MAKI_OK) st = maki_buf_status(&w.text, err);
    maki_buf_free(&w.text);
    return st;
}
