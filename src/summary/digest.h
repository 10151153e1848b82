/* digest.h -- a digest of a conversation (files, commands, errors, tasks, rules, decisions), in bounded memory.
 *
 * In: messages in either format (message_parts.h), earlier summaries among them; texts of any length are read line by
 * line.  Out: sets of short texts with weights (text_set.h), from which a summary is written.
 * The same messages give the same digest.
 *
 *     maki_digest *d;
 *     st = maki_digest_new(&arena, &d, err);
 *     maki_digest_add(d, json) for each message; maki_digest_end(d);
 *
 * The digest lives in the arena.  Everything below maki_digest_end is for the files of this directory. */
#ifndef MAKI_SUMMARY_DIGEST_H
#define MAKI_SUMMARY_DIGEST_H

#include "summary/entities.h"
#include "summary/focus.h"
#include "summary/keywords.h"
#include "summary/line_reader.h"
#include "summary/message_parts.h"
#include "summary/summary_words.h"
#include "summary/text_set.h"
#include "summary/tool_kind.h"

typedef struct maki_digest maki_digest;

maki_status maki_digest_new(maki_arena *arena, maki_digest **out, maki_err *err);
/* `json` is a message that was checked; anything else is counted and skipped. */
void maki_digest_add(maki_digest *digest, maki_str json);
/* After the last message. */
void maki_digest_end(maki_digest *digest);

/* ---- contents ------------------------------------------------------------------------------------- */

/* Of the set `files`: counters = read, edited, written; detail = the tool that touched it last. */
enum { MAKI_FILE_MENTIONED, MAKI_FILE_OK, MAKI_FILE_FAILED, MAKI_FILE_DELETED };
/* Of `runs`: count = runs, counters[0] = exit code + 1 (0: unknown), detail = the result line of the last one. */
enum { MAKI_RUN_UNKNOWN, MAKI_RUN_OK, MAKI_RUN_FAILED };
/* Of `errors`: link = the run or file it came from, detail = what solved it. */
enum { MAKI_ERROR_OPEN, MAKI_ERROR_SOLVED };
/* Of `rules`, `decisions` and `points`: kind = who said it.  Of `decisions`: state.
 * Of all three: counters[0] = sequence number.  Of decisions and points: counters[1], [2] = the first and last term,
 * link = the terms, as bits, that it shares with what it overrode: its topic. */
enum {
    MAKI_BY_USER,
    MAKI_BY_ASSISTANT,
    MAKI_BY_TOOL,
    MAKI_ABOUT /* points: who is who, and what for */
};
enum { MAKI_DECISION_LATEST, MAKI_DECISION_OVERRIDDEN };
/* Minimum weight of rules and decisions that may exceed the budget. */
enum { MAKI_WEIGHT_ALWAYS = 8 };
/* Of `tasks`. */
enum { MAKI_TASK_OPEN, MAKI_TASK_CLOSED };
enum { MAKI_TASK_LIST, MAKI_TASK_CHECKBOX, MAKI_TASK_SENTENCE, MAKI_TASK_NEXT, MAKI_TASK_QUESTION };

enum {
    MAKI_DIGEST_TEXT = 600,
    MAKI_DIGEST_SENTENCE = 480, /* bytes of a sentence; a longer one is cut at a comma or space */
    MAKI_DIGEST_SHORT = 400,    /* messages: up to here sentences without facts are inserted too */
    MAKI_DIGEST_RULE = 640,     /* bytes of a rule with its reason */
    MAKI_DIGEST_CALLS = 128,
    MAKI_DIGEST_USES = 1 << 13, /* of terms, two in each slot */
    MAKI_SUBJECT_TERMS = 65,
    MAKI_DIGEST_ARGS = 1 << 16,
    MAKI_DIGEST_FACTS = 1 << 14 /* maximum; more are ignored */
};

/* A call whose result has not come yet. */
typedef struct maki_open_call {
    uint64_t id;   /* a hash; 0: none */
    uint64_t link; /* the run or file it is about */
    uint64_t tool; /* the key of the tool's name */
    maki_tool_kind kind;
} maki_open_call;

/* A text of bounded length: sentences of a request or answer, joined. */
typedef struct maki_bounded_text {
    char at[MAKI_DIGEST_TEXT];
    size_t len;
    bool full;
} maki_bounded_text;

/* A path, name or number that must survive word for word. */
typedef struct maki_found_fact {
    maki_fact kind;
    maki_str text; /* in the arena */
} maki_found_fact;

/* What a sentence is about: its terms without those that all decisions have. */
typedef struct maki_subject {
    maki_term_bitmap terms;
    uint32_t hashes[MAKI_SUBJECT_TERMS];
    size_t count;
} maki_subject;

/* A term, and what a person said with it. */
typedef struct maki_term_use {
    uint64_t key;             /* of the last such sentence */
    uint32_t term, sentences; /* how many there were */
} maki_term_use;

/* The text that is being read. */
typedef struct maki_digest_reader {
    maki_role role;
    bool fenced;         /* in a code block */
    bool shows_output;   /* that block holds output, not code */
    uint32_t code_lines; /* of it */
    char language[24];
    char file[MAKI_ENTITY_MAX]; /* the last path before it */
    size_t file_len;
    bool ignored; /* inserted by the client: skip to the tag that ends it */
    maki_bounded_text said;
    char before[MAKI_DIGEST_SENTENCE]; /* the previous sentence of the same text */
    size_t before_len;
    bool before_changed;       /* it said that something changed */
    bool answered;             /* the text begins with an answer, inserted with its question */
    maki_text_set *before_set; /* set it was inserted into as a rule or decision; else NULL */
    uint64_t before_set_key;
    maki_text_set *list; /* set for the items of the current list, by its heading; or NULL */
} maki_digest_reader;

/* The tool result that is being read. */
typedef struct maki_outcome {
    maki_text_set errors; /* the first lines that report errors */
    char last[300], counts[160];
    size_t last_len, counts_len, lines;
    char first[300];
    size_t first_len;
    bool of_run; /* of a command; else only the first line is used */
    bool reports_error, has_code;
    uint32_t code;
} maki_outcome;

struct maki_digest {
    maki_keywords keywords;
    maki_focus focus; /* what is kept above all; set before the first message */
    maki_line_reader lines;
    maki_script_counts letters;
    maki_text_set files, runs, errors, tasks, rules, decisions, points, names, code;
    maki_found_fact *facts; /* distinct paths, names and numbers */
    size_t fact_count;
    uint64_t *fact_slots;                    /* their keys: open addressing, 0 is empty */
    maki_open_call calls[MAKI_DIGEST_CALLS]; /* ring buffer */
    size_t next_call;
    uint32_t messages, tool_calls; /* so far; also the number of the current message */
    uint32_t before, calls_before; /* those that earlier summaries replace */
    uint32_t summaries;            /* earlier summaries read */
    uint32_t sequence;             /* last sequence number of a sentence */
    maki_bounded_text goal, request, answer;
    char asked[MAKI_DIGEST_SENTENCE]; /* the sentence that the last text of the model ended with */
    size_t asked_len;
    bool asked_question;     /* it is a question */
    maki_term_filter common; /* stop words: ignored in the subject of a decision */
    maki_term_use *uses;
    maki_digest_reader reading;
    maki_outcome outcome;
    uint64_t edited;      /* key of the file changed last */
    uint32_t edited_in;   /* message number of that change */
    maki_section section; /* of the earlier summary that is being read */
    maki_label part;
    maki_arena *arena;
    char args[MAKI_DIGEST_ARGS]; /* of the call, or the text, that is being read */
};

/* ---- internals ------------------------------------------------------------------------------------- */

/* Add a path, name or number as a fact, if it is new. */
void maki_digest_add_fact(maki_digest *d, maki_fact kind, maki_str text);
/* A maki_entity_fn (ctx is the digest): the same, and insert paths and names into their sets. */
void maki_digest_on_entity(void *ctx, maki_fact kind, maki_str text);
/* A hash of the letters and digits of a sentence, ignoring case, spaces and punctuation. */
uint64_t maki_digest_sentence_key(maki_str text);
/* Insert a sentence worth quoting; `kind`: who said it (MAKI_BY_...). */
void maki_digest_add_point(maki_digest *d, maki_str text, uint8_t kind, uint32_t weight);
void maki_digest_add_rule(maki_digest *d, maki_str text, uint32_t weight);
void maki_digest_add_task(maki_digest *d, maki_str text, uint8_t kind);
/* How a sentence settles something; 0: it only states it. */
enum {
    MAKI_DECIDES = 1,
    MAKI_CHANGES = 2, /* it says that something is no longer so */
    MAKI_NAMES = 4    /* it has signs of facts: a name, a number */
};
void maki_digest_add_decision(maki_digest *d, maki_str text, uint8_t by, uint32_t weight,
                              unsigned manner);
/* Is the text about the same as a decision, or as what a person said before? */
bool maki_digest_is_decided(maki_digest *d, maki_str text, unsigned manner);
/* Note that a person stated this, so that a later statement on the same can override it. */
void maki_digest_stated(maki_digest *d, maki_str text);
/* Mark what another sentence overrides. */
void maki_digest_mark_overridden(maki_digest *d, maki_str text, unsigned manner);
/* Insert a decision of an earlier summary, with its state. */
void maki_digest_add_earlier_decision(maki_digest *d, maki_str text, bool overridden);
/* A line that reports an error; `link`: the run or file it came from; 0: unknown. */
void maki_digest_add_error(maki_digest *d, maki_str line, uint64_t link, uint32_t weight);

/* sentence.c: one sentence of the text that is being read; `item`: of a list.
 * True: it was inserted as a rule, decision or task of a person. */
bool maki_digest_add_sentence(maki_digest *d, maki_str sentence, bool item);
/* Sentences of an earlier summary, as points of this kind; what a person wished stays a rule in softer words. */
void maki_digest_add_sentences(maki_digest *d, maki_str text, uint8_t kind);
/* Score of a sentence: number of names, numbers, dates and quotations in it; of a person's, identifiers twice. */
uint32_t maki_digest_score(maki_str sentence, unsigned bits, bool person);
/* The length of the sentence that begins at text[0]. */
size_t maki_sentence_len(maki_str text);

/* prose.c: a text that a person or the model wrote. */
void maki_digest_add_text(maki_digest *d, maki_role role, maki_str string);
/* tool_calls.c: a call, and its result. */
void maki_digest_add_call(maki_digest *d, const maki_message_part *call);
void maki_digest_add_result(maki_digest *d, const maki_message_part *result);
/* Mark the errors of a run or file as solved; `link` 0: none. */
void maki_digest_mark_solved(maki_digest *d, uint64_t link);
/* previous_summary.c: parse a summary of earlier messages. */
void maki_digest_add_previous_summary(maki_digest *d, maki_str string);

#endif
