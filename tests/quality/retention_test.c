/* retention_test.c -- what the view still says of rules, decisions and facts after one condense and after five.
 *
 *     retention_test DIRECTORY            the words (retention/LANGUAGE.txt, code.txt): the table and its bars
 *     retention_test DIRECTORY NAME       one conversation ("ja-40-2"): its messages, and its view after one and five
 *
 * Conversations of 12, 40 and 200 messages are put together from the words by fixed seeds: small talk and requests with
 * what must be kept planted among them, replies with code and lists, calls of tools in both shapes.  One condense hides all
 * but the first message and the last three.  Then, four times, the conversation goes on, with small talk, another rule or
 * decision, and is condensed again.
 *
 * Sections of a language: [rule] and [reference] (to a rule) are kept word for word.  [topic]: a question and its answers;
 * [first] decides it, [over] and [over_short] decide it anew.  [fact]: kind | sentence | the words that must stand in one
 * line.  [mark]: words that mark what was overridden.  {file}, {name} ... are filled in, each time with others.
 *
 * What counts as kept is looked up in the texts of the view, after JSON decoding:
 *     rule      the sentence, but for its final punctuation
 *     decision  the last answer, in a line with its question (after an [over_short], anywhere); no line below says an
 *               overridden one without a mark
 *     fact      its words, in one line
 * Nothing is planted in the first message or the last ones, so that all of it has been hidden. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_builder.h"
#include "base/str_util.h"
#include "directory.h"
#include "history/conv.h"
#include "history/token_counter.h"
#include "manage/choose_summarizer.h"
#include "summary/offline.h"
#include "tap.h"

enum {
    KEEP = 3, /* as `maki history condense` does */
    PHRASES_MAX = 100,
    TURNS_MAX = 110,
    A_TURN_MAX = 16, /* sentences planted in one */
    PLANTED_MAX = 200,
    OPTIONS = 4, /* of a topic */
    ROUNDS = 5,
    MEMORY = 64 << 20,
    SHARE_MAX = 35,   /* percent of the hidden tokens that a summary may have */
    SHARE_FROM = 1000 /* when there are as many */
};

/* ---- words ---------------------------------------------------------------------------------------------------- */

typedef enum section {
    NAME,
    PROJECT,
    RULE,
    REFERENCE,
    TOPIC,
    FIRST,
    OVER,
    OVER_SHORT,
    FACT,
    ASK,
    TALK,
    ACK,
    REPLY,
    STEP,
    DATE,
    MARK,
    CODE,
    SECTIONS
} section;
static const char *const section_names[] = { "name",  "project", "rule",       "reference", "topic",
                                             "first", "over",    "over_short", "fact",      "ask",
                                             "talk",  "ack",     "reply",      "step",      "date",
                                             "mark",  "code" };

typedef struct phrases {
    maki_str lines[PHRASES_MAX];
    size_t count, next; /* drawn one after the other, then shuffled */
} phrases;

typedef struct language {
    const char *name;
    const char *gap; /* between sentences */
    phrases of[SECTIONS];
    maki_str file;
} language;

enum { LANGUAGES = 4, MIXED = LANGUAGES, SETS }; /* mixed: a set with all of the languages */
static language languages[LANGUAGES] = { { .name = "en", .gap = " " },
                                         { .name = "ja", .gap = "" },
                                         { .name = "zh", .gap = "" },
                                         { .name = "ko", .gap = " " } };
static const char *const set_names[SETS] = { "en", "ja", "zh", "ko", "mixed" };
static maki_str code_file;

static bool next_line(maki_str *rest, maki_str *line)
{
    if (rest->len == 0) return false;
    *line = maki_str_cut(rest, '\n');
    return true;
}

static void add_phrase(phrases *list, maki_str text)
{
    if (CHECK(list->count < PHRASES_MAX)) list->lines[list->count++] = text;
}

static void read_language(const char *path_of, language *l)
{
    char path[512];
    maki_str rest, line;
    size_t now = SECTIONS;
    snprintf(path, sizeof path, "%s/%s.txt", path_of, l->name);
    rest = l->file = directory_read(path);
    CHECK(l->file.ptr != NULL);
    while (next_line(&rest, &line)) {
        if (line.len == 0 || line.ptr[0] == '#') continue;
        if (line.ptr[0] != '[') {
            if (CHECK(now < SECTIONS)) add_phrase(&l->of[now], line);
            continue;
        }
        for (now = 0; now < SECTIONS; now++)
            if (maki_str_equal((maki_str){ line.ptr + 1, line.len - 2 },
                               maki_str_of(section_names[now])))
                break;
    }
    for (rest = code_file; rest.len > 0;) { /* pieces with an empty line between them */
        maki_str piece = { rest.ptr, 0 };
        while (next_line(&rest, &line) && line.len > 0)
            piece.len = (size_t)(line.ptr + line.len - piece.ptr);
        add_phrase(&l->of[CODE], piece);
    }
    for (size_t i = 0; i < SECTIONS; i++)
        CHECK(l->of[i].count > 0);
}

/* ---- a conversation ------------------------------------------------------------------------------------------- */

typedef enum kind { KIND_RULE, KIND_DECISION, KIND_FACT, KINDS } kind;

/* What must be kept. */
typedef struct planted {
    kind kind;
    language *lang;
    maki_str text;  /* the sentence of a rule; the words of a fact with ; between them */
    maki_str topic; /* of a decision, whose answers so far are options[0 .. last] */
    maki_str options[OPTIONS];
    size_t last;
    bool by_topic;   /* the last answer was given with its question */
    bool lost;       /* said so already */
    uint64_t tokens; /* of its last sentence */
} planted;

typedef enum shape { PLAIN, ANTHROPIC, OPENAI, SHAPES } shape;

typedef struct play {
    maki_env env;
    maki_tokenizer *tokenizer;
    maki_token_counter counter;
    maki_summarizer_choice summarizer;
    char name[32];
    size_t set;
    size_t length; /* 12, 40, 200 */
    shape shape;
    bool shown; /* print it */
    tap_random random;
    maki_arena arena;
    maki_conv *conv;
    maki_buf text; /* that is said now */
    maki_buf view; /* texts, one a line */
    uint64_t calls;
    uint64_t summary; /* tokens of the summary in view */
    planted all[PLANTED_MAX];
    size_t planted;
    /* What is planted in each turn of the part that is written next. */
    maki_str said[TURNS_MAX][A_TURN_MAX];
    size_t said_count[TURNS_MAX];
    bool decided[TURNS_MAX]; /* no second decision, which a short one could mean */
    bool tools[TURNS_MAX];
    size_t turns;
} play;

static size_t below(play *p, size_t limit)
{
    return tap_below(&p->random, limit);
}

static language *a_language(play *p)
{
    return &languages[p->set == MIXED ? below(p, LANGUAGES) : p->set];
}

/* The next `count` that are drawn differ. */
static void draw_anew(language *l, section of, size_t count)
{
    phrases *list = &l->of[of];
    if (list->next % list->count + count > list->count) list->next = 0;
}

static maki_str draw(play *p, language *l, section of)
{
    phrases *list = &l->of[of];
    size_t at = list->next++ % list->count;
    if (at == 0) {
        for (size_t i = list->count - 1; i > 0; i--) {
            size_t other = below(p, i + 1);
            maki_str swap = list->lines[i];
            list->lines[i] = list->lines[other];
            list->lines[other] = swap;
        }
    }
    return list->lines[at];
}

/* ---- filling in ----------------------------------------------------------------------------------------------- */

typedef enum slot {
    SLOT_DIR,
    SLOT_FILE,
    SLOT_IDENT,
    SLOT_BRANCH,
    SLOT_TICKET,
    SLOT_HEX,
    SLOT_BIG,
    SLOT_N,
    SLOT_DAY,
    SLOT_WHO,
    SLOT_WHAT,
    SLOT_WHEN,
    SLOT_QUESTION,
    SLOT_QUESTION_FIRST,
    SLOT_OPTION,
    SLOT_OLD,
    SLOTS
} slot;
static const char *const slot_names[SLOTS] = { "dir",    "file",  "ident",   "branch",
                                               "ticket", "hex",   "big",     "n",
                                               "day",    "name",  "project", "date",
                                               "topic",  "Topic", "opt",     "old" };
typedef struct slots {
    maki_str of[SLOTS];
} slots;

static maki_str fill(play *p, maki_str phrase, const slots *s)
{
    maki_buf out = maki_buf_new(p->env.alloc, MEMORY);
    maki_str before, name, filled = { "", 0 };
    maki_err err = { 0 };
    while (maki_str_take(&phrase, '{', &before)) {
        size_t at = 0;
        maki_buf_add(&out, before);
        maki_str_take(&phrase, '}', &name);
        while (at < SLOTS && !maki_str_equal(name, maki_str_of(slot_names[at])))
            at++;
        if (CHECK(at < SLOTS && s->of[at].len > 0)) maki_buf_add(&out, s->of[at]);
    }
    maki_buf_add(&out, before);
    CHECK_STATUS(maki_buf_to_arena(&out, &p->arena, &filled, &err), MAKI_OK, &err);
    return filled;
}

/* New words for all slots but those of a decision.  One number is drawn a statement: the order in a call is the
 * compiler's. */
static slots new_slots(play *p, language *l)
{
    static const char *const stems[] = { "ledger",  "batch",  "courier", "voucher", "harbor",
                                         "mirror",  "quota",  "tariff",  "widget",  "parcel",
                                         "rocket",  "beacon", "cursor",  "digest",  "fleet",
                                         "gadget",  "hangar", "invoice", "jigsaw",  "kiosk",
                                         "lantern", "meadow", "nectar",  "outpost", "paddle",
                                         "quarry",  "relay",  "summit" };
    static const char *const tops[] = { "src", "lib", "services", "internal", "packages", "app" };
    static const char *const ends[] = { "py", "ts", "go", "c", "java", "yaml", "rs", "sql" };
    static const char *const branches[] = { "main",        "develop",      "staging",
                                            "release/2.4", "hotfix/login", "trunk" };
    static const unsigned days[] = {
        11, 12, 13, 14, 18, 19, 21, 23, 24, 26, 27
    }; /* no topic has them */
    const char *a = stems[below(p, COUNT(stems))], *b = stems[below(p, COUNT(stems))];
    const char *c = stems[below(p, COUNT(stems))], *top = tops[below(p, COUNT(tops))];
    slots s = { 0 };
    s.of[SLOT_DIR] = maki_arena_print(&p->arena, "%s/%s-%s", top, a, c);
    s.of[SLOT_FILE] =
        maki_arena_print(&p->arena, "%s/%s/%s_%s.%s", top, a, b, c, ends[below(p, COUNT(ends))]);
    s.of[SLOT_IDENT] = maki_arena_print(&p->arena, "%s_%s_%u", b, a, (unsigned)below(p, 90) + 10);
    s.of[SLOT_BRANCH] = maki_str_of(branches[below(p, COUNT(branches))]);
    s.of[SLOT_TICKET] = maki_arena_print(&p->arena, "OPS-%u", (unsigned)below(p, 9000) + 1000);
    s.of[SLOT_HEX] = maki_arena_print(&p->arena, "%xf%u", (unsigned)below(p, 0xfffff) + 0x100000,
                                      (unsigned)p->planted % 10);
    s.of[SLOT_BIG] = maki_arena_print(&p->arena, "%u", (unsigned)below(p, 90000) + 10000);
    s.of[SLOT_N] = maki_arena_print(&p->arena, "%u", (unsigned)below(p, 80) + 4);
    s.of[SLOT_DAY] = maki_arena_print(&p->arena, "%u", days[below(p, COUNT(days))]);
    s.of[SLOT_WHO] = draw(p, l, NAME);
    s.of[SLOT_WHAT] = draw(p, l, PROJECT);
    s.of[SLOT_WHEN] = fill(p, draw(p, l, DATE), &s);
    return s;
}

/* ---- planting ------------------------------------------------------------------------------------------------- */

static planted *plant(play *p, kind of, language *l)
{
    CHECK(p->planted < PLANTED_MAX);
    planted *one = &p->all[p->planted++ % PLANTED_MAX];
    *one = (planted){ .kind = of, .lang = l };
    return one;
}

/* In this turn the user says of `one`: */
static void say_in(play *p, planted *one, size_t turn, maki_str sentence)
{
    one->tokens = maki_tokenizer_count(p->tokenizer, sentence);
    if (CHECK(p->said_count[turn] < A_TURN_MAX)) p->said[turn][p->said_count[turn]++] = sentence;
}

static maki_str without_end(maki_str sentence)
{
    static const char *const ends[] = { ".", "!", "?", "。", "！", "？" };
    for (size_t i = 0; i < COUNT(ends); i++)
        if (maki_str_ends(sentence, maki_str_of(ends[i])))
            return maki_str_prefix(sentence, sentence.len - strlen(ends[i]));
    return sentence;
}

static void plant_rule(play *p, size_t turn, section of)
{
    language *l = a_language(p);
    slots s = new_slots(p, l);
    maki_str sentence = fill(p, draw(p, l, of), &s);
    planted *rule = plant(p, KIND_RULE, l);
    rule->text = without_end(sentence);
    say_in(p, rule, turn, sentence);
}

/* One fact; a number, date or person of a name or project, of another one too. */
static size_t plant_fact(play *p, size_t first, size_t count)
{
    language *l = a_language(p);
    maki_str words = draw(p, l, FACT), sentence, name = { "", 0 }, project = { "", 0 };
    maki_str_take(&words, '|', &sentence); /* its kind, for who reads the file */
    maki_str_take(&words, '|', &sentence);
    bool whose = maki_str_contains(words, MAKI_LIT("{name}")) ||
                 maki_str_contains(words, MAKI_LIT("{project}"));
    for (size_t i = 0; i <= whose; i++) {
        slots s = new_slots(p, l);
        do
            s.of[SLOT_WHO] = draw(p, l, NAME);
        while (maki_str_equal(s.of[SLOT_WHO], name));
        do
            s.of[SLOT_WHAT] = draw(p, l, PROJECT);
        while (maki_str_equal(s.of[SLOT_WHAT], project));
        name = s.of[SLOT_WHO];
        project = s.of[SLOT_WHAT];
        planted *fact = plant(p, KIND_FACT, l);
        fact->text = fill(p, maki_str_trim(words), &s);
        say_in(p, fact, first + below(p, count), fill(p, maki_str_trim(sentence), &s));
    }
    return 1 + whose;
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static void say_decision(play *p, planted *d, size_t turn, section of)
{
    slots s = new_slots(p, d->lang);
    s.of[SLOT_QUESTION] = d->topic;
    s.of[SLOT_QUESTION_FIRST] = maki_arena_print(&p->arena, "%c%.*s", upper(d->topic.ptr[0]),
                                                 MAKI_PRINTED(maki_str_skip(d->topic, 1)));
    s.of[SLOT_OPTION] = d->options[d->last];
    s.of[SLOT_OLD] = d->last ? d->options[d->last - 1] : d->topic;
    say_in(p, d, turn, fill(p, draw(p, d->lang, of), &s));
    d->by_topic = of != OVER_SHORT;
    p->decided[turn] = true;
}

static planted *new_decision(play *p, language *l, maki_str phrase, maki_str project)
{
    planted *d = plant(p, KIND_DECISION, l);
    slots s = new_slots(p, l);
    maki_str option;
    s.of[SLOT_WHAT] = project;
    phrase = fill(p, phrase, &s);
    d->topic = maki_str_trim(maki_str_cut(&phrase, '|'));
    for (size_t i = 0, at = below(p, OPTIONS); i < OPTIONS; i++) {
        option = maki_str_trim(maki_str_cut(&phrase, '|'));
        d->options[(at + i) % OPTIONS] = option;
    }
    return d;
}

static size_t free_turn(play *p, size_t first, size_t end)
{
    size_t turn = first;
    do
        turn = first + below(p, end - first);
    while (p->decided[turn]);
    return turn;
}

/* A decision in turns [first, end), decided anew `times` times. */
static void plant_decision(play *p, planted *d, size_t first, size_t end, size_t times)
{
    size_t turns[OPTIONS], free = 0;
    for (size_t t = first; t < end; t++)
        free += !p->decided[t];
    if (times + 1 > free) times = free - 1;
    for (size_t i = 0; i <= times; i++) {
        turns[i] = free_turn(p, first, end);
        p->decided[turns[i]] = true;
        for (size_t k = i; k > 0 && turns[k] < turns[k - 1]; k--) { /* in order */
            size_t swap = turns[k];
            turns[k] = turns[k - 1];
            turns[k - 1] = swap;
        }
    }
    for (size_t i = 0; i <= times; i++) {
        bool next = i > 0 && turns[i] == turns[i - 1] + 1;
        d->last = i;
        say_decision(p, d, turns[i], i == 0 ? FIRST : next ? OVER_SHORT : OVER);
    }
}

/* The turns of `messages` messages, and what is planted in those before the last. */
static void plan(play *p, size_t messages, size_t first, size_t rules, size_t decisions,
                 size_t facts)
{
    memset(p->said_count, 0, sizeof p->said_count);
    memset(p->decided, 0, sizeof p->decided);
    p->turns = 0;
    for (size_t tools = 0; messages > 0; p->turns++) {
        bool tool =
            p->shape != PLAIN && messages >= 4 && below(p, 5) < 3 && (p->length > 12 || tools == 0);
        p->tools[p->turns] = tool;
        tools += tool;
        messages -= tool ? 4 : 2;
    }
    size_t end = p->turns - 1, span = end - first;
    for (size_t i = 0; i < rules; i++) /* the first half of them early */
        plant_rule(p, first + below(p, i < (rules + 1) / 2 ? (span + 3) / 4 : span),
                   i > 0 && i % 4 == 0 ? REFERENCE : RULE);
    maki_str again = { "", 0 }, project = { "", 0 };
    language *l = NULL;
    for (size_t i = 0; i < decisions; i++) {
        /* What is decided for one project is decided for another too. */
        bool other = again.len > 0;
        if (!other) l = a_language(p);
        maki_str phrase = other ? again : draw(p, l, TOPIC), before = project;
        while (maki_str_equal(project, before))
            project = draw(p, l, PROJECT);
        again = !other && maki_str_contains(phrase, MAKI_LIT("{project}")) ? phrase : MAKI_LIT("");
        planted *d = new_decision(p, l, phrase, project);
        plant_decision(p, d, first, end, (i + below(p, 3)) % 3);
    }
    for (size_t i = 0; i < facts;)
        i += plant_fact(p, first, span);
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

static void append(play *p, maki_str row)
{
    maki_change change;
    maki_err err = { 0 };
    CHECK_STATUS(maki_conv_append(p->conv, NULL, &row, 1, &change, &err), MAKI_OK, &err);
    if (p->shown) printf("# %.*s\n", MAKI_PRINTED(row));
}

#define APPEND(...)                                                                             \
    do {                                                                                        \
        maki_str row = { "{}", 2 };                                                             \
        maki_err err = { 0 };                                                                   \
        CHECK_STATUS(maki_json_build_print(&p->arena, &row, &err, __VA_ARGS__), MAKI_OK, &err); \
        append(p, row);                                                                         \
    } while (0)

static void add(play *p, maki_str text, const char *gap)
{
    if (p->text.len && p->text.ptr[p->text.len - 1] != '\n')
        maki_buf_add(&p->text, maki_str_of(gap));
    maki_buf_add(&p->text, text);
}

static void add_some(play *p, language *l, section of, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        slots s = new_slots(p, l);
        add(p, fill(p, draw(p, l, of), &s), l->gap);
    }
}

/* What the user says: small talk, what is planted, perhaps a request; in one paragraph, in several, or as a list. */
static void user(play *p, size_t turn)
{
    language *l = a_language(p);
    size_t layout = below(p, 4);
    const char *gap = layout == 0 ? "\n" : layout == 1 ? "\n- " : p->set == MIXED ? " " : l->gap;
    maki_buf_clear(&p->text);
    add_some(p, l, TALK, 1 + below(p, 3));
    for (size_t i = 0; i < p->said_count[turn]; i++) {
        add(p, p->said[turn][i], gap);
        if (layout > 1) add_some(p, l, TALK, below(p, 3));
    }
    if (layout < 2 && p->said_count[turn]) maki_buf_add_byte(&p->text, '\n');
    if (turn == 0 || below(p, 3) > 0) add_some(p, l, ASK, 1);
    maki_str text = maki_buf_str(&p->text);
    if (p->shape == ANTHROPIC && below(p, 2))
        APPEND("{'role':'user','content':[{'type':'text','text':%s}]}", text);
    else
        APPEND("{'role':'user','content':%s}", text);
}

static void assistant(play *p, size_t turn)
{
    language *l = a_language(p);
    maki_buf_clear(&p->text);
    if (p->said_count[turn]) add_some(p, l, ACK, below(p, 2));
    add_some(p, l, REPLY, 2 + below(p, 5));
    if (p->length > 12 && below(p, 5) == 0) {
        maki_buf_add(&p->text, MAKI_LIT("\n"));
        for (size_t n = 3 + below(p, 3); n > 0; n--) {
            maki_buf_add(&p->text, MAKI_LIT("\n- "));
            maki_buf_add(&p->text, draw(p, l, STEP));
        }
    }
    if (p->length > 40 && below(p, 4) == 0) {
        maki_buf_add(&p->text, MAKI_LIT("\n\n```\n"));
        maki_buf_add(&p->text, draw(p, l, CODE));
        maki_buf_add(&p->text, MAKI_LIT("\n```\n"));
        add_some(p, l, REPLY, 1);
    }
    APPEND("{'role':'assistant','content':%s}", maki_buf_str(&p->text));
}

static void call_tool(play *p, const char *tool, maki_str input, maki_str result, bool failed)
{
    language *l = a_language(p);
    char id[32];
    snprintf(id, sizeof id, p->shape == OPENAI ? "call_%04u" : "toolu_%04u", (unsigned)++p->calls);
    maki_buf_clear(&p->text);
    add_some(p, l, REPLY, below(p, 2));
    maki_str text = maki_buf_str(&p->text);
    if (p->shape == OPENAI) {
        APPEND(
            "{'role':'assistant','content':%s,'tool_calls':[{'id':%z,'type':'function','function':{'name':%z,"
            "'arguments':%s}}]}",
            text, id, tool, input);
        APPEND("{'role':'tool','tool_call_id':%z,'content':%s}", id, result);
        return;
    }
    if (text.len)
        APPEND(
            "{'role':'assistant','content':[{'type':'text','text':%s},{'type':'tool_use','id':%z,'name':%z,'input':%v}]}",
            text, id, tool, input);
    else
        APPEND("{'role':'assistant','content':[{'type':'tool_use','id':%z,'name':%z,'input':%v}]}",
               id, tool, input);
    APPEND(
        "{'role':'user','content':[{'type':'tool_result','tool_use_id':%z,'content':%s,'is_error':%b}]}",
        id, result, failed);
}

static maki_str json_of(play *p, const char *format, maki_str text)
{
    maki_str json = { "{}", 2 };
    maki_err err = { 0 };
    CHECK_STATUS(maki_json_build_print(&p->arena, &json, &err, format, text), MAKI_OK, &err);
    return json;
}

/* A call and its result: mostly reading; a file that is changed and a test that keeps failing are facts. */
static void use_tool(play *p, bool counts)
{
    slots s = new_slots(p, a_language(p));
    size_t what = below(p, 8);
    if (what == 0) {
        if (counts) plant(p, KIND_FACT, languages)->text = s.of[SLOT_FILE];
        call_tool(
            p, "Edit",
            json_of(p, "{'file_path':%s,'old_string':'a + b','new_string':'a'}", s.of[SLOT_FILE]),
            fill(p, MAKI_LIT("The file {file} has been updated."), &s), false);
    } else if (what == 1) {
        maki_str error = fill(p, MAKI_LIT("AssertionError: {ident} returned {big}"), &s);
        if (counts) plant(p, KIND_FACT, languages)->text = error;
        call_tool(
            p, "Bash", json_of(p, "{'command':%s}", fill(p, MAKI_LIT("make test-{ident}"), &s)),
            maki_arena_print(&p->arena,
                             "ok 1 - opens\nok 2 - closes\nnot ok 3 - counts\n%.*s\nExit code: 1",
                             MAKI_PRINTED(error)),
            true);
    } else {
        maki_buf_clear(&p->text);
        for (size_t n = 1 + below(p, 4); n > 0; n--)
            add(p, draw(p, languages, CODE), "\n\n");
        call_tool(p, "Read", json_of(p, "{'file_path':%s}", s.of[SLOT_FILE]),
                  maki_arena_copy(&p->arena, maki_buf_str(&p->text)), false);
    }
}

static void write_turns(play *p)
{
    for (size_t turn = 0; turn < p->turns; turn++) {
        user(p, turn);
        if (p->tools[turn]) use_tool(p, turn > 0 && turn < p->turns - 1);
        assistant(p, turn);
    }
}

/* ---- judging -------------------------------------------------------------------------------------------------- */

static void add_strings(play *p, maki_str value, maki_err *err)
{
    maki_json_iter iter = maki_json_items(value);
    maki_json_item item;
    if (maki_json_kind_of(value) == MAKI_JSON_STRING) {
        (void)maki_json_unescape_to(maki_json_strip_quotes(value), maki_buf_sink(&p->view), err);
        maki_buf_add_byte(&p->view, '\n');
    }
    while (maki_json_next(&iter, &item))
        add_strings(p, item.value, err);
}

typedef struct viewed {
    play *p;
    uint64_t summary; /* tokens */
} viewed;

static maki_status see(void *ctx, const maki_view_message *seen, maki_err *err)
{
    viewed *v = ctx;
    add_strings(v->p, seen->json, err);
    if (seen->seq != 0) return MAKI_OK;
    return maki_token_counter_message(&v->p->counter, 0, seen->json, &v->summary, err);
}

static bool has_words(maki_str line, maki_str words)
{
    for (maki_str word; words.len > 0;) {
        word = maki_str_cut(&words, ';');
        if (!maki_str_contains(line, word)) return false;
    }
    return true;
}

static bool marked(maki_str line)
{
    for (size_t l = 0; l < LANGUAGES; l++)
        for (size_t i = 0; i < languages[l].of[MARK].count; i++)
            if (maki_str_contains_nocase(line, languages[l].of[MARK].lines[i])) return true;
    return false;
}

/* How often a rule stands there; overridden answers without a mark. */
static size_t count_of(maki_str text, maki_str view)
{
    size_t count = 0, at;
    while ((at = maki_str_find_nocase(view, text)) < view.len) {
        view = maki_str_skip(view, at + text.len);
        count++;
    }
    return count;
}

static size_t unmarked(const planted *d, maki_str view)
{
    size_t count = 0;
    for (maki_str line; next_line(&view, &line);) {
        if (!maki_str_contains_nocase(line, d->topic) ||
            maki_str_contains(line, d->options[d->last]) || marked(line))
            continue;
        for (size_t i = 0; i < d->last; i++)
            count += maki_str_contains(line, d->options[i]);
    }
    return count;
}

static bool decision_kept(const planted *d, maki_str view)
{
    bool kept = false;
    for (maki_str line; next_line(&view, &line);) {
        bool asked = maki_str_contains_nocase(line, d->topic);
        if ((asked || !d->by_topic) && maki_str_contains(line, d->options[d->last])) {
            kept = true;
            continue;
        }
        for (size_t i = 0; i < d->last && asked; i++)
            if (maki_str_contains(line, d->options[i]) && !marked(line)) kept = false;
    }
    return kept;
}

static bool is_kept(const planted *one, maki_str view)
{
    if (one->kind == KIND_RULE) return maki_str_contains(view, one->text);
    if (one->kind == KIND_DECISION) return decision_kept(one, view);
    for (maki_str line; next_line(&view, &line);)
        if (has_words(line, one->text)) return true;
    return false;
}

/* ---- the table ------------------------------------------------------------------------------------------------- */

typedef struct score {
    size_t kept, all;
} score;
static const size_t lengths[] = { 12, 40, 200 };
static const size_t conversations[] = { 9, 6, 3 }; /* of each length */
enum { LENGTHS = COUNT(lengths), TIMES = 2 };      /* after one condense, after five */
static const char *const times[TIMES] = { "one condense", "five condenses" };
static score scores[TIMES][SETS][LENGTHS][KINDS];
static uint64_t summaries[TIMES][SETS][LENGTHS], hidden[TIMES][SETS][LENGTHS],
    needed[TIMES][SETS][LENGTHS];
static uint64_t too_long, twice[TIMES], not_marked[TIMES];

static void read_view(play *p, viewed *out)
{
    const maki_view *view;
    maki_err err = { 0 };
    *out = (viewed){ .p = p };
    maki_buf_clear(&p->view);
    if (CHECK_STATUS(maki_conv_view(p->conv, MAKI_NEWEST, MAKI_NEWEST, &view, &err), MAKI_OK, &err))
        CHECK_STATUS(maki_conv_each(p->conv, view, see, out, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_buf_status(&p->view, &err), MAKI_OK, &err);
}

static bool condense(play *p, viewed *out, uint64_t *covered)
{
    maki_change change = { 0 };
    maki_err err = { 0 };
    bool condensed = CHECK_STATUS(
        maki_conv_condense(p->conv, NULL, KEEP, &p->summarizer.measured, &change, &err), MAKI_OK,
        &err);
    read_view(p, out);
    /* An earlier summary is hidden, too: what counts is what it stood for. */
    *covered += change.tokens_before - change.tokens_after + out->summary - p->summary;
    p->summary = out->summary;
    return condensed;
}

static void print_lost(const play *p, const planted *one, const char *after)
{
    maki_str text = one->kind == KIND_DECISION ? one->options[one->last] : one->text;
    printf("# %s lost after %s: %.*s%s%.*s\n", p->name, after, MAKI_PRINTED(one->topic),
           one->topic.len ? ": " : "", MAKI_PRINTED(text));
}

/* Before the first condense nothing is lost: this judges the judge. */
static void check_planted(play *p)
{
    viewed v;
    read_view(p, &v);
    for (size_t i = 0; i < p->planted; i++)
        if (!CHECK(is_kept(&p->all[i], maki_buf_str(&p->view))))
            printf("# %s: %.*s\n", p->name, MAKI_PRINTED(p->all[i].text));
}

static void judge(play *p, size_t time, size_t length, const viewed *v, uint64_t covered)
{
    maki_str view = maki_buf_str(&p->view);
    for (size_t i = 0; i < p->planted; i++) {
        planted *one = &p->all[i];
        score *s = &scores[time][p->set][length][one->kind];
        bool kept = is_kept(one, view);
        s->all++;
        s->kept += kept;
        needed[time][p->set][length] += one->tokens;
        if (one->kind == KIND_RULE && count_of(one->text, view) > 1) twice[time]++;
        if (one->kind == KIND_DECISION) not_marked[time] += unmarked(one, view);
        if (!kept && !one->lost) print_lost(p, one, times[time]);
        one->lost |= !kept;
    }
    summaries[time][p->set][length] += v->summary;
    hidden[time][p->set][length] += covered;
    if (covered >= SHARE_FROM && v->summary * 100 > covered * SHARE_MAX) too_long++;
    if (p->shown) printf("# ---- the view after %s ----\n%.*s", times[time], MAKI_PRINTED(view));
}

static void run_one(play *p, size_t length, const char *path)
{
    maki_conv_options options = { .create = true,
                                  .durability = MAKI_DURABILITY_AT_END,
                                  .threads = 1,
                                  .tokenizer = p->tokenizer };
    maki_err err = { 0 };
    viewed v;
    uint64_t covered = 0;
    p->summary = 0;
    if (!CHECK_STATUS(maki_conv_open(&p->env, path, &options, &p->conv, &err), MAKI_OK, &err))
        return;
    size_t n = p->length;
    for (size_t i = 0; i < LANGUAGES; i++) {
        draw_anew(&languages[i], RULE, n == 200 ? 13 : 6);
        draw_anew(&languages[i], TOPIC, n == 200 ? 7 : 4);
        draw_anew(&languages[i], FACT, n == 200 ? 27 : 12);
    }
    plan(p, n, 1,
         n == 12   ? 2
         : n == 40 ? 5
                   : 12,
         n == 12   ? 1
         : n == 40 ? 3
                   : 6,
         n == 12   ? 3
         : n == 40 ? 9
                   : 24);
    write_turns(p);
    check_planted(p);
    if (condense(p, &v, &covered)) judge(p, 0, length, &v, covered);
    for (size_t round = 1; round < ROUNDS; round++) {
        /* A rule, a decision, an earlier decision decided anew, facts. */
        plan(p, n == 12 ? 10 : n == 40 ? 26 : 60, 0, round == 2, round == 3, round % 2);
        for (size_t i = 0; round == 2 && i < p->planted; i++) {
            if (p->all[i].kind != KIND_DECISION || p->all[i].last + 1 == OPTIONS) continue;
            p->all[i].last++;
            say_decision(p, &p->all[i], free_turn(p, 0, p->turns - 1), OVER);
            break;
        }
        write_turns(p);
        if (condense(p, &v, &covered) && round + 1 == ROUNDS) judge(p, 1, length, &v, covered);
    }
    maki_conv_close(p->conv);
}

static void run_all(play *p, const char *only)
{
    directory d;
    char file[64];
    directory_open(&d);
    for (p->set = 0; p->set < SETS; p->set++) {
        for (size_t length = 0; length < LENGTHS; length++) {
            for (size_t i = 0; i < conversations[length]; i++) {
                snprintf(p->name, sizeof p->name, "%s-%zu-%zu", set_names[p->set], lengths[length],
                         i + 1);
                p->shown = only && strcmp(only, p->name) == 0;
                p->length = lengths[length];
                p->shape = (shape)(i % SHAPES);
                p->random.state = (p->set + 1) * 1000003 + p->length * 101 + i;
                p->arena = maki_arena_new(p->env.alloc, MEMORY);
                p->planted = 0;
                p->calls = 0;
                snprintf(file, sizeof file, "%s.jsonl", p->name);
                run_one(p, length, directory_file(&d, file));
                maki_arena_free(&p->arena);
            }
        }
    }
    directory_close(&d);
}

static double rate(score s)
{
    return s.all ? (double)s.kept / (double)s.all : 1;
}

static void print_table(void)
{
    for (size_t t = 0; t < TIMES; t++) {
        printf(
            "# | after %-12s           rules       decisions           facts   summary   planted\n",
            times[t]);
        for (size_t set = 0; set < SETS; set++) {
            for (size_t l = 0; l < LENGTHS; l++) {
                printf("# | %-8s %4zu messages", set_names[set], lengths[l]);
                for (size_t k = 0; k < KINDS; k++) {
                    score s = scores[t][set][l][k];
                    printf("   %3zu/%-3zu %.3f", s.kept, s.all, rate(s));
                }
                double all = (double)(hidden[t][set][l] + 1) / 100;
                printf("   %4.1f %%   %4.1f %% of %" PRIu64 "\n",
                       (double)summaries[t][set][l] / all, (double)needed[t][set][l] / all,
                       hidden[t][set][l] / conversations[l]);
            }
        }
        printf("# | rules said more than once: %" PRIu64
               "; overridden answers without a mark: %" PRIu64 "\n",
               twice[t], not_marked[t]);
    }
}

static void check_bars(void)
{
    static const char *const kinds[KINDS] = { "rules", "decisions", "facts" };
    static const double bars[TIMES][KINDS] = { { 0.98, 0.98, 0.80 }, { 0.95, 0.95, 0.80 } };
    for (size_t t = 0; t < TIMES; t++) {
        for (size_t set = 0; set < SETS; set++) {
            for (size_t k = 0; k < KINDS; k++) {
                score s = { 0, 0 };
                for (size_t l = 0; l < LENGTHS; l++) {
                    s.kept += scores[t][set][l][k].kept;
                    s.all += scores[t][set][l][k].all;
                }
                tap_row("%s: %s after %s, %.3f of %zu: at least %.2f", set_names[set], kinds[k],
                        times[t], rate(s), s.all, bars[t][k]);
                CHECK(s.all >= 40 && rate(s) >= bars[t][k]);
            }
        }
    }
    tap_row("from %d hidden tokens on, a summary has at most %d %% of them", SHARE_FROM, SHARE_MAX);
    CHECK_EQ(too_long, 0);
    tap_row("a rule stands once");
    CHECK_EQ(twice[0] + twice[1], 0);
}

int main(int argc, char **argv)
{
    static play p;
    maki_offline_options offline = MAKI_OFFLINE_INIT;
    char path[512];
    maki_err err = { 0 };
    maki_summarizer_options in = { .env = &p.env };
    if (argc < 2) return 2;
    p.env = maki_env_system();
    p.text = maki_buf_new(p.env.alloc, MEMORY);
    p.view = maki_buf_new(p.env.alloc, MEMORY);
    tap_row("every conversation is written and condensed five times");
    snprintf(path, sizeof path, "%s/code.txt", argv[1]);
    code_file = directory_read(path);
    for (size_t i = 0; i < LANGUAGES; i++)
        read_language(argv[1], &languages[i]);
    if (CHECK_STATUS(maki_tokenizer_open(&p.env, maki_encoding_at(0), NULL, &p.tokenizer, &err),
                     MAKI_OK, &err) &&
        CHECK_STATUS(maki_summarizer_choose(&in, &p.summarizer, &err), MAKI_OK, &err)) {
        maki_token_counter_init(&p.counter, &p.env);
        offline.tokenizer = p.tokenizer; /* one for all of them is faster */
        p.summarizer.writer = maki_summarizer_offline_with(&offline);
        run_all(&p, argc > 2 ? argv[2] : NULL);
        print_table();
        check_bars();
        maki_token_counter_close(&p.counter);
    }
    maki_tokenizer_close(p.tokenizer);
    maki_buf_free(&p.text);
    maki_buf_free(&p.view);
    return tap_end();
}
