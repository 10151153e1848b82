/* summary_words.h -- the headings, labels and quotation marks of a summary, in four languages, and parsing them.
 *
 * A summary is also read back: the next one replaces it and carries its contents on.  So every heading
 * and label is recognized in any of the languages. */
#ifndef MAKI_SUMMARY_SUMMARY_WORDS_H
#define MAKI_SUMMARY_SUMMARY_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/str.h>

typedef enum maki_lang { MAKI_EN, MAKI_JA, MAKI_ZH, MAKI_KO, MAKI_LANGS } maki_lang;

typedef enum maki_section {
    MAKI_SEC_PREVIOUS,
    MAKI_SEC_CURRENT,
    MAKI_SEC_CONCEPTS,
    MAKI_SEC_FILES,
    MAKI_SEC_PROBLEMS,
    MAKI_SEC_PENDING,
    MAKI_SECTIONS
} maki_section;

typedef enum maki_label {
    MAKI_LABEL_MESSAGES, /* "%u messages, %u tool calls" */
    MAKI_LABEL_FIRST,    /* first request */
    MAKI_LABEL_LAST,     /* newest request */
    MAKI_LABEL_ANSWER,   /* newest answer */
    MAKI_LABEL_RULES,
    MAKI_LABEL_DECISIONS,
    MAKI_LABEL_OVERRIDDEN, /* behind a decision */
    MAKI_LABEL_ABOUT,      /* goals, people, what is to be remembered */
    MAKI_LABEL_NAMES,
    MAKI_LABEL_POINTS,  /* sentences of people */
    MAKI_LABEL_SAID,    /* the same and decisions, by time */
    MAKI_LABEL_REPLIES, /* sentences of the model that hold facts */
    MAKI_LABEL_READ,
    MAKI_LABEL_EDITED,
    MAKI_LABEL_WRITTEN,
    MAKI_LABEL_FAILED, /* the last change of a file failed */
    MAKI_LABEL_DELETED,
    MAKI_LABEL_MENTIONED,
    MAKI_LABEL_CODE,
    MAKI_LABEL_LINES, /* of code */
    MAKI_LABEL_OPEN_ERRORS,
    MAKI_LABEL_SOLVED,
    MAKI_LABEL_COMMANDS,
    MAKI_LABEL_RUNS,
    MAKI_LABEL_OK,
    MAKI_LABEL_NOT_OK,
    MAKI_LABEL_QUESTION,
    MAKI_LABELS
} maki_label;

const char *maki_heading(maki_lang lang, maki_section section);
const char *maki_label_text(maki_lang lang, maki_label label);
const char *maki_quote(maki_lang lang, bool closing);

/* The section that a line of a summary begins ("## Current Work", "2. Current Work: ..."), in any
 * language; MAKI_SECTIONS when it is no heading.  *rest is what stands after it. */
maki_section maki_heading_of(maki_str line, maki_str *rest);
/* The label that a line begins with, before a colon; MAKI_LABELS when there is none. */
maki_label maki_label_of(maki_str line, maki_str *rest);
/* The number next to a label in a line such as "read 3, edited 2"; 0 when it is not there. */
uint32_t maki_label_number(maki_str line, maki_label label);

/* Letters of a conversation, to detect its language. */
typedef struct maki_script_counts {
    uint64_t words, kana, han, hangul;
} maki_script_counts;
void maki_script_counts_add(maki_script_counts *letters, maki_str text);
maki_lang maki_script_counts_lang(const maki_script_counts *letters);

#endif
