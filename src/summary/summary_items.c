/* summary_items.c -- the lines of a summary that state a rule, a goal, a decision or an open task.
 *
 * A heading or label says what the items after it are.  In the list of decisions and key points only decisions are
 * quoted (summary_writer.c). */
#include "summary/summary_items.h"

#include "base/str_util.h"

static bool is_quoted(maki_str text)
{
    for (size_t lang = 0; lang < MAKI_LANGS; lang++) {
        if (maki_str_starts(text, maki_str_of(maki_quote((maki_lang)lang, false)))) return true;
    }
    return false;
}

/* NULL: it is none of these. */
static const char *kind_of(const maki_summary_items *items, maki_str text)
{
    switch (items->label) {
    case MAKI_LABEL_RULES: return "rule";
    case MAKI_LABEL_ABOUT: return "goal";
    case MAKI_LABEL_DECISIONS: return "decision";
    case MAKI_LABEL_SAID: return is_quoted(text) ? "decision" : NULL;
    case MAKI_LABEL_OPEN_ERRORS: return "open";
    case MAKI_LABELS: return items->section == MAKI_SEC_PENDING ? "open" : NULL;
    default: return NULL;
    }
}

/* What a heading or label says of the items after it. */
static void take_heading(maki_summary_items *items, maki_str line)
{
    maki_str rest;
    maki_section section = maki_heading_of(line, &rest);
    maki_label label = maki_label_of(line, &rest);
    if (section != MAKI_SECTIONS) {
        items->section = section;
        items->label = MAKI_LABELS;
    } else if (label != MAKI_LABELS) {
        items->label = label;
    }
}

bool maki_summary_items_next(maki_summary_items *items, maki_summary_item *out)
{
    while (items->rest.len) {
        maki_str line = maki_str_cut(&items->rest, '\n');
        if (maki_str_starts(line, MAKI_LIT("- "))) {
            out->text = maki_str_skip(line, 2);
            out->kind = kind_of(items, out->text);
            if (out->kind && out->text.len) return true;
        } else {
            take_heading(items, line);
        }
    }
    return false;
}
