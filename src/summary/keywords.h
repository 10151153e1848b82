/* keywords.h -- phrases that show what a sentence or a line of output is about.
 *
 * English, Japanese, Chinese and Korean.  One scan of the text finds all phrases.
 * Letters A-Z and a-z are equal; an English phrase begins and ends at the edge of a word. */
#ifndef MAKI_SUMMARY_KEYWORDS_H
#define MAKI_SUMMARY_KEYWORDS_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/str.h>

/* What a phrase indicates, as bits. */
enum {
    MAKI_KEYWORD_DECISION = 1,      /* something was settled */
    MAKI_KEYWORD_OPEN = 2,          /* something remains to be done */
    MAKI_KEYWORD_NEXT = 4,          /* what comes next: open only near the end of a conversation */
    MAKI_KEYWORD_DONE = 8,          /* something was finished */
    MAKI_KEYWORD_FIXED = 16,        /* a problem went away */
    MAKI_KEYWORD_NOT = 32,          /* the sentence denies or doubts */
    MAKI_KEYWORD_ERROR = 64,        /* a line of output that reports an error */
    MAKI_KEYWORD_NO_ERROR = 128,    /* "0 errors" and the like */
    MAKI_KEYWORD_COUNTS = 256,      /* "passed", "failed": with a number, how a run went */
    MAKI_KEYWORD_GENERIC = 512,     /* an error line that only says that there were others */
    MAKI_KEYWORD_ERROR_LINE = 1024, /* an error line in any text: "TypeError:", "panic:" */
    MAKI_KEYWORD_EXIT = 2048,       /* the exit code of a command */
    /* For messages of people; a false match costs little, a missed one costs a rule. */
    MAKI_KEYWORD_RULE = 1 << 12,   /* what must always or never be done */
    MAKI_KEYWORD_WISH = 1 << 13,   /* the same in softer words: a rule only if a person says it */
    MAKI_KEYWORD_CHANGE = 1 << 14, /* something else holds from now on */
    MAKI_KEYWORD_REFER = 1 << 15,  /* refers to a rule or decision said before */
    MAKI_KEYWORD_REASON =
        1 << 16, /* at the beginning: the exception or reason of what was just said */
    MAKI_KEYWORD_ABOUT = 1 << 17,   /* goals, people, what is to be remembered */
    MAKI_KEYWORD_DATE = 1 << 18,    /* days, months, numbers in words */
    MAKI_KEYWORD_ASK = 1 << 19,     /* a request */
    MAKI_KEYWORD_SETTLED = 1 << 20, /* a decision, also when the model says it */
    MAKI_KEYWORD_LIST = 1 << 21,    /* in the line before a list: its items are rules */
    MAKI_KEYWORD_ANSWER = 1 << 22,  /* at the beginning: yes or no */
    MAKI_KEYWORD_CHOICE = 1 << 23,  /* one of what was offered */
    MAKI_KEYWORD_POLITE = 1 << 24,  /* an indirect request: a rule if it denies something */
    MAKI_KEYWORD_DENY = 1 << 25,    /* what is not to be, or to stay as it is */
    MAKI_KEYWORD_INQUIRE = 1 << 26, /* asks for information */
    MAKI_KEYWORD_TALK = 1 << 27     /* about how somebody is, or what happens */
};

enum { MAKI_KEYWORD_SLOTS = 4096, MAKI_KEYWORD_PHRASES = 4096 };

typedef struct maki_keyword {
    maki_str text; /* in lower case */
    unsigned bits;
    bool partial_left, partial_right; /* may be part of a word */
    bool at_start, at_end;            /* only at the beginning, at the end of a text */
    uint16_t next;                    /* the number of the next phrase of the same slot; 0: none */
} maki_keyword;

/* A hash table of the phrases by their first three bytes.  Built once, then read-only. */
typedef struct maki_keywords {
    uint16_t slots[MAKI_KEYWORD_SLOTS]; /* the number of a phrase, from 1; 0: none */
    maki_keyword all[MAKI_KEYWORD_PHRASES];
    size_t count;
} maki_keywords;

void maki_keywords_init(maki_keywords *keywords);
/* Do the words demand something absolutely, plainly or politely? */
bool maki_keywords_demand(unsigned bits);
/* The bits of all phrases in `text`, which is valid UTF-8. */
unsigned maki_keywords_in(const maki_keywords *keywords, maki_str text);
/* The same; calls fn for each phrase with the text before and after it. */
typedef void (*maki_keyword_fn)(void *ctx, unsigned bits, maki_str before, maki_str after);
unsigned maki_keywords_each(const maki_keywords *keywords, maki_str text, maki_keyword_fn fn,
                            void *ctx);

#endif
