/* previous_summary.c -- parse an earlier summary among the messages, and insert its contents into the digest.
 *
 * Summaries of ours are read back label by label, so that an error it calls unresolved can still be solved
 * by a later run, and counts continue.  One that a model wrote has the same headings but no labels: its files
 * and tasks are inserted, the rest is scored sentence by sentence. */
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "base/text.h"
#include "summary/digest.h"

static maki_str strip_bullet(maki_str line)
{
    line = maki_str_trim(line);
    if (maki_str_starts(line, MAKI_LIT("- ")) || maki_str_starts(line, MAKI_LIT("* ")))
        line = maki_str_trim(maki_str_skip(line, 2));
    if (maki_str_starts(line, MAKI_LIT("[ ]"))) line = maki_str_trim(maki_str_skip(line, 3));
    return line;
}

/* The text between the quotation marks around a line; false: it has none. */
static bool unquote(maki_str line, maki_str *inside)
{
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        maki_str open = maki_str_of(maki_quote((maki_lang)lang, false));
        maki_str close = maki_str_of(maki_quote((maki_lang)lang, true));
        if (line.len < open.len + close.len || !maki_str_starts(line, open) ||
            !maki_str_ends(line, close))
            continue;
        *inside = (maki_str){ line.ptr + open.len, line.len - open.len - close.len };
        return true;
    }
    return false;
}

/* Copy a request or answer to *said (unless NULL), and insert its sentences as points, which newer ones override. */
static void carry_text(maki_digest *d, maki_bounded_text *said, maki_str text, uint8_t by)
{
    (void)unquote(text, &text);
    if (said) said->len = maki_line_copy(said->at, sizeof said->at, text);
    maki_digest_add_sentences(d, text, by);
}

/* Insert a rule of the earlier summary, with more weight than a new one in equally strong words. */
static void carry_rule(maki_digest *d, maki_str line)
{
    bool strong = maki_keywords_demand(maki_keywords_in(&d->keywords, line));
    maki_entities_in(line, maki_digest_on_entity, d);
    if (unquote(line, &line)) maki_digest_add_rule(d, line, MAKI_WEIGHT_ALWAYS + strong);
}

/* Remove the mark of an overridden decision; false: there is none. */
static bool remove_overridden_mark(maki_str *line)
{
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        char mark[80];
        int n = snprintf(mark, sizeof mark, " (%s)",
                         maki_label_text((maki_lang)lang, MAKI_LABEL_OVERRIDDEN));
        if (!maki_str_ends(*line, (maki_str){ mark, (size_t)n })) continue;
        line->len -= (size_t)n;
        return true;
    }
    return false;
}

/* “...”, the older of two decisions on a question with "(overridden)" after it; false: not quoted. */
static bool carry_decision(maki_digest *d, maki_str line)
{
    maki_str inside = line;
    maki_entities_in(line, maki_digest_on_entity, d);
    bool overridden = remove_overridden_mark(&line);
    if (!unquote(line, &inside)) return false;
    maki_digest_add_earlier_decision(d, inside, overridden);
    return true;
}

static void carry_point(maki_digest *d, maki_str line, uint8_t kind)
{
    bool overridden = remove_overridden_mark(&line);
    maki_digest_add_sentences(d, line, kind);
    uint64_t key = maki_digest_sentence_key(line);
    maki_text_item *item = maki_text_set_find(&d->points, key);
    if (!item) item = maki_text_set_find(&d->rules, key);
    if (item && overridden) item->state = MAKI_DECISION_OVERRIDDEN;
}

/* "path: read 3, edited 2": the path and what was done with it. */
static void carry_file(maki_digest *d, maki_str line)
{
    size_t at = maki_str_find_nocase(line, MAKI_LIT(": "));
    maki_str path = maki_str_prefix(line, at);
    if (at == line.len || at > MAKI_ENTITY_MAX) {
        maki_entities_in(line, maki_digest_on_entity, d);
        return;
    }
    maki_digest_on_entity(d, MAKI_FACT_PATH, path);
    maki_text_item *f = maki_text_set_find(&d->files, maki_text_item_key(path));
    if (!f) return;
    f->counters[0] += maki_label_number(line, MAKI_LABEL_READ);
    f->counters[1] += maki_label_number(line, MAKI_LABEL_EDITED);
    f->counters[2] += maki_label_number(line, MAKI_LABEL_WRITTEN);
    f->state = MAKI_FILE_OK;
    f->weight = f->counters[1] + f->counters[2] ? 8 : 4;
}

/* "`command`: the rest"; *command is empty when there is none. */
static maki_str split_command(maki_str line, maki_str *command)
{
    *command = (maki_str){ "", 0 };
    if (line.len < 2 || line.ptr[0] != '`') return line;
    size_t end = maki_str_find_nocase(line, MAKI_LIT("`: "));
    if (end == line.len) return line;
    *command = (maki_str){ line.ptr + 1, end - 1 };
    return maki_str_skip(line, end + 3);
}

static maki_text_item *carry_run(maki_digest *d, maki_str command)
{
    return maki_text_set_add(&d->runs, maki_text_item_key(command), command, 2, d->messages);
}

static void carry_error(maki_digest *d, maki_str line, uint8_t state)
{
    maki_str command, text = split_command(line, &command), fix = { "", 0 };
    size_t arrow = maki_str_find_nocase(text, MAKI_LIT(" → "));
    if (arrow < text.len && state == MAKI_ERROR_SOLVED) {
        fix = maki_str_skip(text, arrow + strlen(" → "));
        text = maki_str_prefix(text, arrow);
    }
    uint64_t link = command.len ? maki_text_item_key(command) : 0; /* of a run or a file alike */
    maki_digest_add_error(d, text, link, 4);
    maki_text_item *e = maki_text_set_find(&d->errors, maki_text_item_key(text));
    if (e) e->state = state;
    if (e) maki_text_set_set_detail(&d->errors, e, fix);
    if (link && !maki_text_set_find(&d->files, link)) carry_run(d, command);
}

/* Parse a number at the beginning, after commas and spaces, and remove it; 0: none. */
static uint32_t parse_number(maki_str *text)
{
    uint32_t n = 0;
    while (text->len && (text->ptr[0] == ',' || text->ptr[0] == ' '))
        *text = maki_str_skip(*text, 1);
    while (text->len && text->ptr[0] >= '0' && text->ptr[0] <= '9' && n < 100000000) {
        n = n * 10 + (uint32_t)(text->ptr[0] - '0');
        *text = maki_str_skip(*text, 1);
    }
    return n;
}

/* "`npm test`: 3 runs, failed (exit 1); 2 failed, 8 passed" */
static void carry_command(maki_digest *d, maki_str line)
{
    maki_str command, text = split_command(line, &command);
    if (command.len == 0) return;
    maki_text_item *run = carry_run(d, command);
    size_t counts = maki_str_find_nocase(text, MAKI_LIT("; "));
    maki_str number = text;
    uint32_t runs = parse_number(&number);
    run->count += runs > 1 ? runs - 1 : 0;
    if (counts < text.len) maki_text_set_set_detail(&d->runs, run, maki_str_skip(text, counts + 2));
    run->state = MAKI_RUN_OK;
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        maki_str failed = maki_str_of(maki_label_text((maki_lang)lang, MAKI_LABEL_NOT_OK));
        if (maki_str_contains(maki_str_prefix(text, counts), failed)) run->state = MAKI_RUN_FAILED;
    }
}

/* Parse a line under a label; false: the label has no lines of its own. */
static bool carry_labelled(maki_digest *d, maki_str line)
{
    switch (d->part) {
    case MAKI_LABEL_DECISIONS: (void)carry_decision(d, line); return true;
    case MAKI_LABEL_RULES: carry_rule(d, line); return true;
    case MAKI_LABEL_SAID:
        if (!carry_decision(d, line)) carry_point(d, line, MAKI_BY_USER);
        return true;
    case MAKI_LABEL_ABOUT: carry_point(d, line, MAKI_ABOUT); return true;
    case MAKI_LABEL_REPLIES: carry_point(d, line, MAKI_BY_ASSISTANT); return true;
    case MAKI_LABEL_OPEN_ERRORS: carry_error(d, line, MAKI_ERROR_OPEN); return true;
    case MAKI_LABEL_SOLVED: carry_error(d, line, MAKI_ERROR_SOLVED); return true;
    case MAKI_LABEL_COMMANDS: carry_command(d, line); return true;
    case MAKI_LABEL_CODE: return true; /* code blocks of messages that are no longer in view */
    default: return false;
    }
}

/* Parse a line that begins with a label, "First request: ...". */
static bool carry_label(maki_digest *d, maki_label label, maki_str rest)
{
    switch (label) {
    case MAKI_LABEL_MESSAGES:
        d->before += parse_number(&rest);
        d->calls_before += parse_number(&rest);
        return true;
    case MAKI_LABEL_FIRST:
        carry_text(d, d->goal.len ? NULL : &d->goal, rest, MAKI_BY_USER);
        return true;
    case MAKI_LABEL_LAST: carry_text(d, &d->request, rest, MAKI_BY_USER); return true;
    case MAKI_LABEL_ANSWER: carry_text(d, NULL, rest, MAKI_BY_ASSISTANT); return true;
    case MAKI_LABEL_NAMES: return true; /* names are collected anew */
    case MAKI_LABEL_MENTIONED: maki_entities_in(rest, maki_digest_on_entity, d); return true;
    case MAKI_LABEL_QUESTION: return true;
    default: return false;
    }
}

static void carry_line(maki_digest *d, maki_str line)
{
    if (line.len == 0) return;
    if (d->section == MAKI_SEC_FILES) {
        if (d->part != MAKI_LABEL_CODE) carry_file(d, line);
    } else if (d->section == MAKI_SEC_PENDING) {
        maki_digest_add_task(d, line, MAKI_TASK_SENTENCE);
    } else if (!carry_labelled(d, line)) {
        carry_point(d, line, MAKI_BY_USER);
    }
}

static void on_line(void *ctx, maki_str line, bool more)
{
    maki_digest *d = ctx;
    maki_str rest;
    (void)more;
    line = strip_bullet(line);
    maki_script_counts_add(&d->letters, line);
    maki_section section = maki_heading_of(line, &rest);
    if (section != MAKI_SECTIONS) {
        d->section = section;
        d->part = MAKI_LABELS;
        line = rest;
    }
    maki_label label = maki_label_of(line, &rest);
    if (label != MAKI_LABELS) {
        d->part = label;
        if (carry_label(d, label, rest)) return;
        line = rest;
    }
    carry_line(d, line);
}

void maki_digest_add_previous_summary(maki_digest *d, maki_str string)
{
    d->section = MAKI_SEC_PREVIOUS;
    d->part = MAKI_LABELS;
    maki_line_reader_string(&d->lines, string, on_line, d);
}
