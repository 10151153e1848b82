/* digest.h -- what a conversation holds, gathered message by message into bounded memory.
 *
 * Both shapes of messages (message_parts.h) and earlier summaries are understood; a text of any length is read in
 * lines.  The same messages give the same digest.
 *
 *     maki_digest *d;
 *     st = maki_digest_new(&arena, &d, err);
 *     maki_digest_add(d, json) for each message; maki_digest_end(d);
 *
 * The digest lives in the arena.  Everything below maki_digest_end is for the files of this directory. */
#ifndef MAKI_SUMMARY_DIGEST_H
#define MAKI_SUMMARY_DIGEST_H

#include "summary/entities.h"
#include "summary/keywords.h"
#include "summary/line_reader.h"
#include "summary/message_parts.h"
#include "summary/summary_words.h"
#include "summary/text_set.h"
#include "summary/tool_kind.h"

typedef struct maki_digest maki_digest;

maki_status maki_digest_new(maki_arena *arena, maki_digest **out, maki_err *err);
/* `json` is a message that was checked; what is no message is counted and skipped. */
void maki_digest_add(maki_digest *digest, maki_str json);
/* After the last message. */
void maki_digest_end(maki_digest *digest);

/* ---- what it holds -------------------------------------------------------------------------------- */

/* Of the set `files`: tally = read, edited, written; more = the tool that touched it last. */
enum { MAKI_FILE_MENTIONED, MAKI_FILE_FINE, MAKI_FILE_FAILED, MAKI_FILE_DELETED };
/* Of `runs`: count = runs, tally[0] = exit code + 1 (0: unknown), more = how the last one went. */
enum { MAKI_RUN_UNKNOWN, MAKI_RUN_FINE, MAKI_RUN_FAILED };
/* Of `errors`: link = the run or file it came from, more = what solved it. */
enum { MAKI_ERROR_OPEN, MAKI_ERROR_SOLVED };
/* Of `rules`, `decisions` and `points`: kind = who said it.  Of `decisions`: state.
 * Of all three: tally[0] = when it was said. */
enum {
    MAKI_BY_USER,
    MAKI_BY_ASSISTANT,
    MAKI_BY_TOOL,
    MAKI_ABOUT /* points: who is who, and what for */
};
enum { MAKI_DECISION_LATEST, MAKI_DECISION_OVERRIDDEN };
/* What weighs as much is kept whatever the budget. */
enum { MAKI_WEIGHT_ALWAYS = 8 };
/* Of `tasks`. */
enum { MAKI_TASK_OPEN, MAKI_TASK_CLOSED };
enum { MAKI_TASK_LIST, MAKI_TASK_BOX, MAKI_TASK_SAID, MAKI_TASK_NEXT, MAKI_TASK_QUESTION };

enum {
    MAKI_DIGEST_TEXT = 600,
    MAKI_DIGEST_SENTENCE = 480, /* bytes of a sentence; a longer one is cut at a comma or space */
    MAKI_DIGEST_SHORT = 400, /* messages: as long as there are no more, plain prose is noted too */
    MAKI_DIGEST_RULE = 640,  /* bytes of a rule with its reason */
    MAKI_DIGEST_CALLS = 128,
    MAKI_DIGEST_ARGS = 1 << 16,
    MAKI_DIGEST_FACTS = 1 << 14 /* more are not looked at */
};

/* A call whose result has not come yet. */
typedef struct maki_open_call {
    uint64_t id;   /* a hash; 0: none */
    uint64_t link; /* the run or file it is about */
    uint64_t tool; /* the key of the tool's name */
    maki_tool_kind kind;
} maki_open_call;

/* A text of bounded length that is put together from sentences. */
typedef struct maki_said {
    char at[MAKI_DIGEST_TEXT];
    size_t len;
    bool full;
} maki_said;

/* A path, name or number that must survive word for word. */
typedef struct maki_found_fact {
    maki_fact kind;
    maki_str text; /* in the arena */
} maki_found_fact;

/* The text that is being read. */
typedef struct maki_digest_reader {
    maki_role role;
    bool fenced;         /* inside a code block */
    bool shows_output;   /* that block holds output, not code */
    uint32_t code_lines; /* of it */
    char language[24];
    char file[MAKI_ENTITY_MAX]; /* the path that stood last before it */
    size_t file_len;
    bool ignored; /* what the client puts into messages itself */
    maki_said said;
    char before[MAKI_DIGEST_SENTENCE]; /* the sentence before, of the same text */
    size_t before_len;
    maki_text_set *kept_in; /* where it was noted, if as a rule or decision */
    uint64_t kept_key;
    maki_text_set *list; /* where the items of a list belong whose heading said so */
} maki_digest_reader;

/* The result that is being read. */
typedef struct maki_outcome {
    maki_text_set errors; /* lines that report errors, the first ones */
    char last[300], counts[160];
    size_t last_len, counts_len, lines;
    char first[300];
    size_t first_len;
    bool of_run; /* else only its first line counts */
    bool shouts, has_code;
    uint32_t code;
} maki_outcome;

struct maki_digest {
    maki_keywords keywords;
    maki_line_reader lines;
    maki_letters letters;
    maki_text_set files, runs, errors, tasks, rules, decisions, points, names, code;
    maki_found_fact *facts; /* the paths, names and numbers that were met, each once */
    size_t fact_count;
    uint64_t *fact_slots;                    /* their keys: open addressing, 0 is empty */
    maki_open_call calls[MAKI_DIGEST_CALLS]; /* a ring */
    size_t next_call;
    uint32_t messages, tool_calls; /* so far; the number of the message at hand */
    uint32_t before, calls_before; /* those that earlier summaries stand for */
    uint32_t summaries;            /* earlier ones */
    uint32_t spoken;               /* sentences of people, in the order they were said */
    maki_said goal, request, answer;
    char asked[MAKI_DIGEST_SENTENCE]; /* the question that the last text of the model ended with */
    size_t asked_len;
    maki_term_filter common; /* words that say nothing about what a decision is about */
    maki_digest_reader reading;
    maki_outcome outcome;
    uint64_t edited; /* the file changed last */
    uint32_t edited_in;
    maki_section section; /* of the earlier summary that is being read */
    maki_label part;
    maki_arena *arena;
    char args[MAKI_DIGEST_ARGS];
};

/* ---- its parts ------------------------------------------------------------------------------------- */

/* A path, name or number is met: kept as a fact if it is new. */
void maki_digest_fact(maki_digest *d, maki_fact kind, maki_str text);
/* A maki_entity_fn (ctx is the digest): that, and notes paths and names. */
void maki_digest_found(void *ctx, maki_fact kind, maki_str text);
/* What makes two sentences the same: letters and digits, but not their case, nor spaces and punctuation. */
uint64_t maki_digest_sentence_key(maki_str text);
/* A sentence worth quoting: who said it (MAKI_BY_...), and how much it weighs. */
void maki_digest_point(maki_digest *d, maki_str text, uint8_t kind, uint32_t weight);
void maki_digest_rule(maki_digest *d, maki_str text, uint32_t weight);
void maki_digest_task(maki_digest *d, maki_str text, uint8_t kind);
/* `change`: it says that something else held before. */
void maki_digest_decision(maki_digest *d, maki_str text, uint8_t by, uint32_t weight, bool change);
/* Is the text about the same as a decision?  Mark what another sentence overrides. */
bool maki_digest_is_decided(maki_digest *d, maki_str text);
void maki_digest_override(maki_digest *d, maki_str text);
/* One that an earlier summary holds, with the state it had. */
void maki_digest_carry_decision(maki_digest *d, maki_str text, bool overridden);
/* A line that reports an error, from a run, a file or (0) nothing in particular. */
void maki_digest_error(maki_digest *d, maki_str line, uint64_t link, uint32_t weight);

/* sentence.c: one sentence of the text that is being read; `item`: of a list.  Is it a rule, decision or task? */
bool maki_digest_sentence(maki_digest *d, maki_str sentence, bool item);
/* Sentences that an earlier summary quotes, as points of this kind. */
void maki_digest_sentences(maki_digest *d, maki_str text, uint8_t kind);
/* How many signs of facts a sentence has: entities, names, numbers, dates, quotations. */
uint32_t maki_digest_score(maki_digest *d, maki_str sentence, unsigned bits);
/* The length of the sentence that begins at text[0]. */
size_t maki_sentence_len(maki_str text);

/* prose.c: a text that a person or the model wrote. */
void maki_digest_text(maki_digest *d, maki_role role, maki_str string);
/* tool_calls.c: a call, and its result. */
void maki_digest_call(maki_digest *d, const maki_said_part *call);
void maki_digest_result(maki_digest *d, const maki_said_part *result);
/* Mark what a run or a file had to complain of as solved; `link` 0: nothing. */
void maki_digest_solved(maki_digest *d, uint64_t link);
/* previous_summary.c: a summary of what came before. */
void maki_digest_earlier(maki_digest *d, maki_str string);

#endif
