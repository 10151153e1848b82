/* compose.c -- see compose.h. */
#include "summary/compose.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/str.h"

enum { NAMES_MOST = 24 };

/* Kinds of lines in the order they are written. */
enum {
    G_COUNTS,
    G_FIRST,
    G_POINTS,
    G_LAST,
    G_ANSWER,
    G_DECISIONS,
    G_NAMES,
    G_FILES,
    G_MENTIONED,
    G_CODE,
    G_ERRORS,
    G_SOLVED,
    G_COMMANDS,
    G_TASKS,
    G_QUESTIONS,
    GROUPS
};

static const struct {
    maki_section section;
    maki_label label; /* MAKI_LABELS: none */
    bool joined;      /* one line, commas between */
    unsigned share;   /* of the budget, in percent, before the others had theirs */
} groups[GROUPS] = {
    [G_COUNTS] = { MAKI_SEC_PREVIOUS, MAKI_LABEL_MESSAGES, true, 100 },
    [G_FIRST] = { MAKI_SEC_PREVIOUS, MAKI_LABEL_FIRST, true, 20 },
    [G_POINTS] = { MAKI_SEC_PREVIOUS, MAKI_LABEL_POINTS, false, 20 },
    [G_LAST] = { MAKI_SEC_CURRENT, MAKI_LABEL_LAST, true, 20 },
    [G_ANSWER] = { MAKI_SEC_CURRENT, MAKI_LABEL_ANSWER, true, 15 },
    [G_DECISIONS] = { MAKI_SEC_CONCEPTS, MAKI_LABEL_DECISIONS, false, 20 },
    [G_NAMES] = { MAKI_SEC_CONCEPTS, MAKI_LABEL_NAMES, true, 6 },
    [G_FILES] = { MAKI_SEC_FILES, MAKI_LABELS, false, 30 },
    [G_MENTIONED] = { MAKI_SEC_FILES, MAKI_LABEL_MENTIONED, true, 15 },
    [G_CODE] = { MAKI_SEC_FILES, MAKI_LABEL_CODE, true, 4 },
    [G_ERRORS] = { MAKI_SEC_PROBLEMS, MAKI_LABEL_OPEN_ERRORS, false, 30 },
    [G_SOLVED] = { MAKI_SEC_PROBLEMS, MAKI_LABEL_SOLVED, false, 10 },
    [G_COMMANDS] = { MAKI_SEC_PROBLEMS, MAKI_LABEL_COMMANDS, false, 12 },
    [G_TASKS] = { MAKI_SEC_PENDING, MAKI_LABELS, false, 30 },
    [G_QUESTIONS] = { MAKI_SEC_PENDING, MAKI_LABELS, false, 10 },
};

/* Who chooses first. */
static const unsigned char turns[GROUPS] = { G_COUNTS, G_FIRST,    G_LAST,      G_ERRORS,
                                             G_TASKS,  G_FILES,    G_DECISIONS, G_MENTIONED,
                                             G_ANSWER, G_COMMANDS, G_QUESTIONS, G_SOLVED,
                                             G_NAMES,  G_CODE,     G_POINTS };

typedef struct item {
    maki_str text;
    uint64_t tokens;
    uint64_t place; /* where it stands among its group when written */
    uint64_t worth; /* which of its group is chosen first */
    unsigned char group;
    bool chosen;
} item;

typedef struct draft {
    maki_digest *d;
    maki_tokenizer *tokenizer;
    maki_arena *arena;
    maki_lang lang;
    maki_buf line; /* the one that is being made */
    item *items;
    size_t count, room;
    uint32_t *chosen; /* items in the order they were chosen */
    size_t chosen_count;
} draft;

/* ---- making lines --------------------------------------------------------------------------------- */

static void add(draft *w, maki_str text)
{
    maki_buf_add(&w->line, text);
}

static void add_label(draft *w, maki_label label)
{
    add(w, maki_str_of(maki_label_text(w->lang, label)));
}

static void add_number(draft *w, uint64_t n)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRIu64, n);
    add(w, (maki_str){ text, (size_t)len });
}

static void add_quoted(draft *w, maki_str text)
{
    add(w, maki_str_of(maki_quote_open(w->lang)));
    add(w, text);
    add(w, maki_str_of(maki_quote_close(w->lang)));
}

/* The line that was made becomes an item; newer and weightier ones are worth more. */
static void keep(draft *w, unsigned char group, uint64_t place, uint64_t worth)
{
    if (w->line.status != MAKI_OK) return; /* and stays so: it is looked at in the end */
    void *moved = maki_arena_grow(w->arena, w->items, w->count, &w->room, sizeof *w->items);
    maki_str text = maki_arena_copy(w->arena, maki_buf_str(&w->line));
    if (!moved || text.len == 0) return; /* the arena remembers */
    w->items = moved;
    w->items[w->count++] = (item){ .text = text,
                                   .tokens = maki_tokenizer_count(w->tokenizer, text) + 3,
                                   .place = place,
                                   .worth = worth,
                                   .group = group };
    maki_buf_clear(&w->line);
}

static uint64_t worth_of(const maki_note *note)
{
    return (uint64_t)note->weight << 32 | note->last;
}

static uint64_t place_of(const maki_notes *notes, size_t i)
{
    return (uint64_t)notes->at[i].first << 16 | i;
}

static void make_said(draft *w, unsigned char group, const maki_said *said)
{
    if (said->len == 0) return;
    add_quoted(w, (maki_str){ said->at, said->len });
    keep(w, group, 0, 0);
}

static void make_counts(draft *w)
{
    add_number(w, (uint64_t)w->d->messages + w->d->before);
    add(w, MAKI_LIT(", "));
    add_number(w, (uint64_t)w->d->tool_calls + w->d->calls_before);
    keep(w, G_COUNTS, 0, 0);
}

static void make_decisions(draft *w)
{
    const maki_notes *set = &w->d->decisions;
    for (size_t i = 0; i < set->count; i++) {
        add_quoted(w, maki_note_text(&set->at[i]));
        keep(w, G_DECISIONS, place_of(set, i), worth_of(&set->at[i]));
    }
}

static bool by_weight(const void *a, const void *b)
{
    const maki_note *x = *(maki_note *const *)a, *y = *(maki_note *const *)b;
    return x->weight != y->weight ? x->weight > y->weight : x->last > y->last;
}

static maki_status make_names(draft *w, maki_err *err)
{
    maki_notes *set = &w->d->words;
    maki_note **order = maki_arena_array(w->arena, set->count + 1, sizeof(maki_note *));
    if (!order) return maki_arena_status(w->arena, err);
    for (size_t i = 0; i < set->count; i++)
        order[i] = &set->at[i];
    maki_status st = maki_sort(order, set->count, sizeof *order, by_weight, w->arena, err);
    for (size_t i = 0, n = 0; st == MAKI_OK && i < set->count && n < NAMES_MOST; i++) {
        if (order[i]->count < 2) break;
        if (order[i]->kind != MAKI_FIND_NAME) continue;
        add(w, maki_note_text(order[i]));
        keep(w, G_NAMES, n, NAMES_MOST - n);
        n++;
    }
    return st;
}

/* ---- files ---------------------------------------------------------------------------------------- */

static void add_uses(draft *w, const maki_note *f)
{
    static const maki_label labels[] = { MAKI_LABEL_READ, MAKI_LABEL_EDITED, MAKI_LABEL_WRITTEN };
    const char *comma = ": ";
    for (size_t i = 0; i < MAKI_NOTE_TALLIES; i++) {
        if (f->tally[i] == 0) continue;
        add(w, maki_str_of(comma));
        add_label(w, labels[i]);
        add(w, MAKI_LIT(" "));
        add_number(w, f->tally[i]);
        comma = ", ";
    }
    if (f->state == MAKI_FILE_FAILED || f->state == MAKI_FILE_DELETED) {
        add(w, maki_str_of(comma));
        add_label(w, f->state == MAKI_FILE_FAILED ? MAKI_LABEL_FAILED : MAKI_LABEL_DELETED);
    }
    if (f->more_len) {
        add(w, MAKI_LIT(" ("));
        add(w, maki_note_more(f));
        add(w, MAKI_LIT(")"));
    }
}

static void make_files(draft *w)
{
    const maki_notes *set = &w->d->files;
    for (size_t i = 0; i < set->count; i++) {
        const maki_note *f = &set->at[i];
        bool touched = f->state != MAKI_FILE_MENTIONED;
        add(w, maki_note_text(f));
        if (touched) add_uses(w, f);
        keep(w, touched ? G_FILES : G_MENTIONED, place_of(set, i), worth_of(f));
    }
}

static void make_code(draft *w)
{
    const maki_notes *set = &w->d->code;
    for (size_t i = 0; i < set->count; i++) {
        const maki_note *c = &set->at[i];
        add(w, c->len ? maki_note_text(c) : MAKI_LIT("?"));
        add(w, MAKI_LIT(" "));
        add_number(w, c->tally[0]);
        add(w, MAKI_LIT(" "));
        add_label(w, MAKI_LABEL_LINES);
        if (c->more_len) {
            add(w, MAKI_LIT(" ("));
            add(w, maki_note_more(c));
            add(w, MAKI_LIT(")"));
        }
        keep(w, G_CODE, place_of(set, i), worth_of(c));
    }
}

/* ---- runs and errors -------------------------------------------------------------------------------- */

/* Where an error came from, if that is known: "`npm test`: ". */
static void add_source(draft *w, const maki_note *error)
{
    const maki_note *from = maki_notes_find(&w->d->runs, error->link);
    if (!from) from = maki_notes_find(&w->d->files, error->link);
    if (!from || error->link == 0) return;
    add(w, MAKI_LIT("`"));
    add(w, maki_note_text(from));
    add(w, MAKI_LIT("`: "));
}

static void make_errors(draft *w)
{
    const maki_notes *set = &w->d->errors;
    for (size_t i = 0; i < set->count; i++) {
        const maki_note *e = &set->at[i];
        bool open = e->state == MAKI_ERROR_OPEN;
        add_source(w, e);
        add(w, maki_note_text(e));
        if (!open && e->more_len) {
            add(w, MAKI_LIT(" → "));
            add(w, maki_note_more(e));
        }
        keep(w, open ? G_ERRORS : G_SOLVED, place_of(set, i), worth_of(e));
    }
}

static void make_commands(draft *w)
{
    const maki_notes *set = &w->d->runs;
    for (size_t i = 0; i < set->count; i++) {
        const maki_note *run = &set->at[i];
        add(w, MAKI_LIT("`"));
        add(w, maki_note_text(run));
        add(w, MAKI_LIT("`: "));
        add_number(w, run->count);
        add(w, MAKI_LIT(" "));
        add_label(w, MAKI_LABEL_RUNS);
        if (run->state != MAKI_RUN_UNKNOWN) {
            add(w, MAKI_LIT(", "));
            add_label(w, run->state == MAKI_RUN_FINE ? MAKI_LABEL_OK : MAKI_LABEL_NOT_OK);
        }
        if (run->tally[0]) {
            add(w, MAKI_LIT(" (exit "));
            add_number(w, run->tally[0] - 1);
            add(w, MAKI_LIT(")"));
        }
        if (run->more_len) add(w, MAKI_LIT("; "));
        add(w, maki_note_more(run));
        keep(w, G_COMMANDS, place_of(set, i), worth_of(run));
    }
}

static void make_tasks(draft *w)
{
    const maki_notes *set = &w->d->tasks;
    for (size_t i = 0; i < set->count; i++) {
        const maki_note *t = &set->at[i];
        bool question = t->kind == MAKI_TASK_QUESTION;
        if (t->state != MAKI_TASK_OPEN) continue;
        add(w, MAKI_LIT("[ ] "));
        if (question) add_label(w, MAKI_LABEL_QUESTION);
        if (question) add(w, MAKI_LIT(": "));
        add(w, maki_note_text(t));
        keep(w, question ? G_QUESTIONS : G_TASKS, place_of(set, i), worth_of(t));
    }
}

static bool is_told(const maki_said *said, maki_str text)
{
    return maki_str_has((maki_str){ said->at, said->len }, text);
}

static void make_points(draft *w)
{
    const maki_digest *d = w->d;
    const maki_notes *set = &d->points;
    for (size_t i = 0; i < set->count; i++) {
        maki_str text = maki_note_text(&set->at[i]);
        if (is_told(&d->goal, text) || is_told(&d->request, text) || is_told(&d->answer, text))
            continue;
        add(w, text);
        keep(w, G_POINTS, place_of(set, i), worth_of(&set->at[i]));
    }
}

/* ---- choosing ---------------------------------------------------------------------------------------- */

static bool before(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group;
    return x->worth > y->worth;
}

/* Choose of one group while its share and the whole last.  A later item may fit where one did not. */
static uint64_t choose(draft *w, unsigned char group, uint64_t left, uint64_t share)
{
    for (size_t i = 0; i < w->count; i++) {
        item *it = &w->items[i];
        if (it->group != group || it->chosen || it->tokens > left || it->tokens > share) continue;
        it->chosen = true;
        w->chosen[w->chosen_count++] = (uint32_t)i;
        left -= it->tokens;
        share -= it->tokens;
    }
    return left;
}

static void choose_all(draft *w, uint64_t budget)
{
    uint64_t left = budget;
    for (size_t i = 0; i < GROUPS; i++)
        left = choose(w, turns[i], left, budget * groups[turns[i]].share / 100);
    for (size_t i = 0; i < GROUPS; i++)
        left = choose(w, turns[i], left, left);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* The next chosen item of a group by its place, after `last`. */
static const item *next_item(const draft *w, unsigned char group, const item *last)
{
    const item *best = NULL;
    for (size_t i = 0; i < w->count; i++) {
        const item *it = &w->items[i];
        if (it->group != group || !it->chosen || (last && it->place <= last->place)) continue;
        if (!best || it->place < best->place) best = it;
    }
    return best;
}

static bool write_group(const draft *w, unsigned char group, maki_buf *out)
{
    const item *it = next_item(w, group, NULL);
    bool any = it != NULL, joined = groups[group].joined;
    if (any && groups[group].label != MAKI_LABELS) {
        maki_buf_add(out, maki_str_of(maki_label_text(w->lang, groups[group].label)));
        maki_buf_add(out, joined ? MAKI_LIT(": ") : MAKI_LIT(":\n"));
    }
    for (bool first = true; it; first = false, it = next_item(w, group, it)) {
        if (joined && !first) maki_buf_add(out, MAKI_LIT(", "));
        if (!joined) maki_buf_add(out, MAKI_LIT("- "));
        maki_buf_add(out, it->text);
        if (!joined) maki_buf_add(out, MAKI_LIT("\n"));
    }
    if (any && joined) maki_buf_add(out, MAKI_LIT("\n"));
    return any;
}

static void write_all(const draft *w, maki_buf *out)
{
    maki_buf_clear(out);
    for (size_t s = 0; s < MAKI_SECTIONS; s++) {
        bool any = false;
        if (s) maki_buf_add(out, MAKI_LIT("\n"));
        maki_buf_add(out, MAKI_LIT("## "));
        maki_buf_add(out, maki_str_of(maki_heading(w->lang, (maki_section)s)));
        maki_buf_add(out, MAKI_LIT("\n"));
        for (unsigned char g = 0; g < GROUPS; g++)
            any |= groups[g].section == (maki_section)s && write_group(w, g, out);
        if (!any) maki_buf_add(out, MAKI_LIT("-\n"));
    }
}

/* Prices of lines do not add up to the token: the last that were chosen go until the whole fits. */
static void write_within(draft *w, uint64_t budget, maki_buf *out)
{
    write_all(w, out);
    while (w->chosen_count && out->status == MAKI_OK &&
           maki_tokenizer_count(w->tokenizer, maki_buf_str(out)) > budget) {
        w->items[w->chosen[--w->chosen_count]].chosen = false;
        write_all(w, out);
    }
}

/* What headings and labels cost. */
static maki_status frame_tokens(draft *w, uint64_t *tokens, maki_err *err)
{
    write_all(w, &w->line);
    for (unsigned char g = 0; g < GROUPS; g++) {
        if (groups[g].label != MAKI_LABELS) add_label(w, groups[g].label);
        add(w, MAKI_LIT(":\n"));
    }
    *tokens = maki_tokenizer_count(w->tokenizer, maki_buf_str(&w->line));
    return maki_buf_status(&w->line, err);
}

static maki_status make_lines(draft *w, maki_err *err)
{
    maki_digest *d = w->d;
    make_counts(w);
    make_said(w, G_FIRST, &d->goal);
    make_said(w, G_LAST, &d->request);
    make_said(w, G_ANSWER, &d->answer);
    make_decisions(w);
    make_files(w);
    make_code(w);
    make_errors(w);
    make_commands(w);
    make_tasks(w);
    make_points(w);
    maki_status st = make_names(w, err);
    if (st == MAKI_OK) st = maki_sort(w->items, w->count, sizeof *w->items, before, w->arena, err);
    if (st == MAKI_OK) w->chosen = maki_arena_array(w->arena, w->count + 1, sizeof *w->chosen);
    if (st == MAKI_OK) st = maki_buf_status(&w->line, err);
    return st == MAKI_OK ? maki_arena_status(w->arena, err) : st;
}

maki_status maki_summary_compose(maki_digest *digest, maki_lang lang, maki_tokenizer *tokenizer,
                                 uint64_t budget, maki_arena *arena, maki_buf *out, maki_err *err)
{
    draft w = { .d = digest,
                .tokenizer = tokenizer,
                .arena = arena,
                .lang = lang,
                .line = maki_buf_new(arena->alloc, 1 << 16) };
    uint64_t frame = 0;
    maki_status st = make_lines(&w, err);
    if (st == MAKI_OK) st = frame_tokens(&w, &frame, err);
    if (st == MAKI_OK) {
        choose_all(&w, budget > frame ? budget - frame : 0);
        write_within(&w, budget, out);
        st = maki_buf_status(out, err);
    }
    maki_buf_free(&w.line);
    return st;
}
