/* sentence.c -- split a text into sentences, and classify each: a rule, a decision, a task, a question, or facts.
 *
 * In:     the sentences of a text in order, d->reading has the role.
 * Out:    items of the digest's sets, each sentence word for word in one of them.
 * Always: each sentence of a person is inserted somewhere, in doubt as the kind that is kept longer: a lost rule cannot
 *         be followed, a false one costs a line. */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/str_util.h"
#include "base/text.h"
#include "summary/digest.h"

enum {
    SENTENCE_MIN = 6,
    SPELLING_MAX = 2 * MAKI_DIGEST_SENTENCE, /* a comma and a character of 3 bytes: 6 */
    REASON_MAX = 240,                        /* bytes of a sentence that joins the rule before it */
    SOFT = 4,                                /* weight of a rule in soft words */
    SCORE_MAX = 12,
    IDENTIFIER = 2,
    FACTS = 2, /* weight of a sign of facts */
    ASKED = 1, /* of a request */
    HEADING_MAX = 96
};

/* ---- splitting ------------------------------------------------------------------------------------- */

static bool is_closing(maki_str text, size_t at)
{
    size_t len = 0;
    uint32_t code = at < text.len ? maki_utf8_decode(text, at, &len) : 0;
    return code == 0x300D || code == 0x300F || code == 0xFF09 || code == 0x201D || code == 0x2019;
}

/* "Dr. Ito", "J. Ito", "e.g. this": the period does not end a sentence. */
static bool is_abbreviation(maki_str text, size_t point)
{
    size_t start = point;
    while (start > 0 && text.ptr[start - 1] != ' ' && text.ptr[start - 1] != '(')
        start--;
    maki_str word = { text.ptr + start, point - start };
    return (word.len == 1 && maki_is_upper(word.ptr[0])) ||
           maki_str_in(word, "Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|e.g|i.e|approx|incl|resp");
}

/* "Which one? → That one." is one sentence. */
static bool answer_follows(maki_str text, size_t end)
{
    return maki_str_starts(maki_str_skip(text, end), MAKI_LIT(" →"));
}

/* "leave it alone? same goes for ...", "too dear... the other one then" */
static bool continues(maki_str text, size_t stop, size_t end)
{
    bool dots = stop > 0 && text.ptr[stop] == '.' && text.ptr[stop - 1] == '.';
    char next = end + 1 < text.len ? text.ptr[end + 1] : ' ';
    return dots || (next >= 'a' && next <= 'z') || answer_follows(text, end);
}

/* "好吗?那就" and "했어요.그리고" have no space between sentences. */
static bool is_cjk_at(maki_str text, size_t at)
{
    unsigned char c = at < text.len ? (unsigned char)text.ptr[at] : 0;
    return c >= 0xE3 && c <= 0xED && !is_closing(text, at);
}

static bool is_cjk_before(maki_str text, size_t at)
{
    return at >= 3 && is_cjk_at(text, at - 3);
}

size_t maki_sentence_len(maki_str text)
{
    size_t len = 0, cut = 0;
    for (size_t at = 0; at < text.len; at += len) {
        uint32_t code = maki_utf8_decode(text, at, &len);
        size_t end = at + len;
        if (end > MAKI_DIGEST_SENTENCE) return cut ? cut : at;
        if (code == ' ' || code == 0x3001 || code == 0xFF0C) cut = end;
        bool wide = code == 0x3002 || code == 0xFF01 || code == 0xFF1F;
        if (wide && !is_closing(text, end) && !answer_follows(text, end)) return end;
        bool stop = code == '!' || code == '?' || (code == '.' && !is_abbreviation(text, at));
        if (stop && end < text.len && text.ptr[end] == ' ' && !continues(text, at, end)) return end;
        if (stop && is_cjk_at(text, end) && (code != '.' || is_cjk_before(text, at))) return end;
    }
    return text.len;
}

/* ---- score ------------------------------------------------------------------------------------------ */

static bool has_cjk(maki_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        if (c >= 0xE3 && c <= 0xED) return true;
    }
    return false;
}

uint32_t maki_digest_score(maki_str s, unsigned bits, bool person)
{
    uint32_t n = (bits & MAKI_KEYWORD_ABOUT ? 2 : 0) + (bits & MAKI_KEYWORD_DATE ? 1 : 0);
    bool cjk = has_cjk(s), inside = false, first = true, counted = false;
    char before = ' ';
    size_t len = 0, katakana = 0;
    for (size_t at = 0; at < s.len && n < SCORE_MAX; at += len) {
        uint32_t code = maki_utf8_decode(s, at, &len);
        char c = code < 0x80 ? (char)code : ' ';
        bool word = maki_is_word_char(c);
        if (word && !inside) {
            bool alone = at + 1 == s.len || !maki_is_word_char(s.ptr[at + 1]); /* "I" is no name */
            counted = maki_is_digit(c);
            n += counted || (!alone && (cjk || (maki_is_upper(c) && !first)));
            first = false;
        } else if (word && !counted) { /* a46fdf9, max_rows, src/base, db.example.org */
            counted = maki_is_digit(c) || c == '_' || before == '/' || before == '.';
            n += counted && person ? IDENTIFIER : 0;
        }
        before = c;
        inside = word || (inside && (c == '.' || c == '/' || c == '-' || c == '\''));
        katakana = code >= 0x30A1 && code <= 0x30FC ? katakana + 1 : 0;
        n += katakana == 3;
        n += (code == ':' && at + 1 < s.len && s.ptr[at + 1] == ' ') || code == 0xFF1A ? 2 : 0;
        n += code == '`' || code == '"' || code == '@' || code == '%' || code == '$' ||
             code == '#' || code == 0x201C || code == 0x300C || code == 0x300E || code == 0x20AC ||
             code == 0xA5;
    }
    return n;
}

/* ---- tasks and errors closed --------------------------------------------------------------------------- */

/* "The cache headers are done": tasks of which the sentence repeats half the words are closed. */
static void close_tasks_like(maki_digest *d, const maki_term_bitmap *said)
{
    for (size_t i = 0; i < d->tasks.count; i++) {
        maki_text_item *t = &d->tasks.at[i];
        unsigned shared = maki_term_bitmap_shared(&t->terms, said);
        bool said_so = t->kind == MAKI_TASK_SENTENCE || t->kind == MAKI_TASK_NEXT;
        if (said_so && t->last < d->messages && shared >= 2 &&
            shared * 2 >= maki_term_bitmap_shared(&t->terms, &t->terms))
            t->state = MAKI_TASK_CLOSED;
    }
}

/* "The TypeError in items is fixed": errors of which it repeats a third of the words are solved. */
static void solve_errors_like(maki_digest *d, const maki_term_bitmap *said, maki_str sentence)
{
    for (size_t i = 0; i < d->errors.count; i++) {
        maki_text_item *e = &d->errors.at[i];
        unsigned shared = maki_term_bitmap_shared(&e->terms, said);
        if (e->state != MAKI_ERROR_OPEN || shared < 3 ||
            shared * 3 < maki_term_bitmap_shared(&e->terms, &e->terms))
            continue;
        e->state = MAKI_ERROR_SOLVED;
        maki_text_set_set_detail(&d->errors, e, sentence);
    }
}

static void close_settled(maki_digest *d, maki_str s, unsigned bits)
{
    if (!(bits & MAKI_KEYWORD_DONE) || (bits & (MAKI_KEYWORD_NOT | MAKI_KEYWORD_OPEN))) return;
    maki_term_bitmap said = maki_term_bitmap_of(s);
    close_tasks_like(d, &said);
    if (bits & MAKI_KEYWORD_FIXED) solve_errors_like(d, &said, s);
}

static bool is_question(maki_str s)
{
    const char *ends = "?|？|か。|吗。|까.";
    maki_str end;
    while (maki_words_next(&ends, &end)) {
        if (s.len > end.len && maki_str_ends(s, end)) return true;
    }
    return false;
}

/* ---- classifying ------------------------------------------------------------------------------------- */

/* A sentence and its classification. */
typedef struct sentence {
    maki_str text;
    unsigned bits;
    bool question, item, reason; /* an item of a list; it begins as a reason or exception does */
    uint32_t score;
} sentence;

static unsigned manner_of(const sentence *s)
{
    return (s->bits & MAKI_KEYWORD_DECISION ? MAKI_DECIDES : 0) |
           (s->bits & MAKI_KEYWORD_CHANGE ? MAKI_CHANGES : 0) | (s->score ? MAKI_NAMES : 0);
}

/* Concatenate two sentences into out[2 * MAKI_DIGEST_SENTENCE]. */
static maki_str join(maki_str a, maki_str b, char *out)
{
    bool space = a.len && !(a.ptr[a.len - 1] & 0x80);
    memcpy(out, a.ptr, a.len);
    out[a.len] = ' ';
    memcpy(out + a.len + space, b.ptr, b.len);
    return (maki_str){ out, a.len + space + b.len };
}

/* Append a reason or exception to the rule or decision just inserted; false: there is none, or no space. */
static bool add_reason(maki_digest *d, maki_str reason)
{
    maki_digest_reader *r = &d->reading;
    char both[MAKI_DIGEST_RULE + MAKI_DIGEST_SENTENCE + 1];
    maki_text_item *of =
        r->before_set ? maki_text_set_find(r->before_set, r->before_set_key) : NULL;
    r->before_set = NULL;
    if (!of || of->len + reason.len + 1 > MAKI_DIGEST_RULE || reason.len > REASON_MAX) return false;
    if (of->first != d->messages) return false; /* inserted earlier in the same words */
    maki_text_set_set_text(&d->rules, of, join(maki_text_item_text(of), reason, both));
    return true;
}

static void insert(maki_digest *d, maki_text_set *in, maki_str text, uint32_t weight,
                   unsigned manner)
{
    maki_digest_reader *r = &d->reading;
    if (in == &d->rules)
        maki_digest_add_rule(d, text, weight);
    else
        maki_digest_add_decision(d, text, MAKI_BY_USER, weight, manner);
    r->before_set = in;
    r->before_changed = in == &d->decisions && (manner & MAKI_CHANGES);
    r->before_set_key = maki_digest_sentence_key(text);
}

/* Insert after the previous sentence: what it refers to, or the heading of its list. */
static void insert_with_previous(maki_digest *d, maki_text_set *in, const sentence *s,
                                 uint32_t weight)
{
    maki_digest_reader *r = &d->reading;
    char both[2 * MAKI_DIGEST_SENTENCE + 1];
    maki_str before = { r->before, r->before_len }, text = s->text;
    bool colon = maki_str_ends(before, MAKI_LIT(":")) || maki_str_ends(before, MAKI_LIT("："));
    bool heading = s->item && r->list && colon,
         fits = before.len && before.len + text.len < MAKI_DIGEST_RULE;
    if (fits && (heading || (!s->item && !r->before_set))) text = join(before, text, both);
    insert(d, in, text, weight, manner_of(s));
}

/* "The place changes again.  Oslo." */
static bool is_value(const maki_digest_reader *r, const sentence *s)
{
    enum { SHORT = 24 };
    unsigned other = MAKI_KEYWORD_DECISION | MAKI_KEYWORD_WISH | MAKI_KEYWORD_ASK;
    return r->before_changed && s->text.len < SHORT && !(s->bits & other);
}

/* "My sister always sings": words of a rule in talk about somebody. */
static bool is_talk(const sentence *s)
{
    uint32_t about = s->bits & MAKI_KEYWORD_ABOUT ? 2 : 0; /* "by the way" names nothing */
    return (s->bits & MAKI_KEYWORD_TALK) && !(s->bits & MAKI_KEYWORD_POLITE) &&
           s->score < about + IDENTIFIER;
}

static bool classify_user_sentence(maki_digest *d, const sentence *s)
{
    maki_digest_reader *r = &d->reading;
    unsigned bits = s->bits;
    bool decision = bits & MAKI_KEYWORD_DECISION;
    bool asks = maki_keywords_demand(bits & ~(unsigned)MAKI_KEYWORD_RULE);
    bool rule = (bits & MAKI_KEYWORD_RULE) || (asks && !decision);
    uint32_t weight = rule && !is_talk(s) ? MAKI_WEIGHT_ALWAYS : SOFT;
    bool changes = decision && (bits & MAKI_KEYWORD_CHANGE);
    if (s->item && r->list && !(changes && r->list == &d->rules)) {
        insert_with_previous(d, r->list, s, MAKI_WEIGHT_ALWAYS);
        if (maki_digest_is_decided(d, s->text, manner_of(s) & MAKI_NAMES))
            maki_digest_mark_overridden(d, s->text, manner_of(s));
    } else if ((s->reason || is_value(r, s)) && !rule && !s->question && add_reason(d, s->text)) {
        return true;
    } else if (s->question && !rule) {
        maki_digest_add_task(d, s->text, MAKI_TASK_QUESTION);
        return false;
    } else if (decision ? !rule || (bits & MAKI_KEYWORD_CHANGE)
                        : !rule && maki_digest_is_decided(d, s->text, manner_of(s))) {
        insert(d, &d->decisions, s->text, MAKI_WEIGHT_ALWAYS, manner_of(s));
    } else if ((bits & MAKI_KEYWORD_REFER) && (bits & (MAKI_KEYWORD_RULE | MAKI_KEYWORD_WISH))) {
        insert_with_previous(d, &d->rules, s, MAKI_WEIGHT_ALWAYS);
    } else if (rule) {
        insert(d, &d->rules, s->text, s->question && !asks ? SOFT : weight, 0);
        if (decision || maki_digest_is_decided(d, s->text, manner_of(s) & MAKI_NAMES))
            maki_digest_mark_overridden(d, s->text, manner_of(s));
    } else if (bits & MAKI_KEYWORD_OPEN) {
        maki_digest_add_task(d, s->text, MAKI_TASK_SENTENCE);
        return false;
    } else if (bits & (MAKI_KEYWORD_REFER | MAKI_KEYWORD_WISH)) {
        insert(d, &d->rules, s->text, SOFT, 0);
    } else {
        if (bits & MAKI_KEYWORD_NEXT) maki_digest_add_task(d, s->text, MAKI_TASK_NEXT);
        return false;
    }
    return true;
}

/* Does the model only repeat a decision or rule of the last message of a person? */
static bool repeats_person(maki_digest *d, maki_str text)
{
    maki_term_bitmap said = maki_term_bitmap_of(text);
    maki_text_set *sets[] = { &d->decisions, &d->rules };
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < sets[k]->count; i++) {
            const maki_text_item *e = &sets[k]->at[i];
            if (e->last + 1 < d->messages || e->kind != MAKI_BY_USER) continue;
            maki_term_bitmap of = maki_term_bitmap_of(maki_text_item_text(e));
            unsigned shared = maki_term_bitmap_shared(&of, &said);
            if (shared >= 3 && shared * 2 >= maki_term_bitmap_shared(&said, &said)) return true;
        }
    }
    return false;
}

static bool classify_model_sentence(maki_digest *d, const sentence *s)
{
    if (s->question)
        maki_digest_add_task(d, s->text, MAKI_TASK_QUESTION);
    else if (s->bits & MAKI_KEYWORD_OPEN)
        maki_digest_add_task(d, s->text, MAKI_TASK_SENTENCE);
    else if (s->bits & MAKI_KEYWORD_NEXT)
        maki_digest_add_task(d, s->text, MAKI_TASK_NEXT);
    else if ((s->bits & MAKI_KEYWORD_SETTLED) && !repeats_person(d, s->text))
        maki_digest_add_decision(d, s->text, MAKI_BY_ASSISTANT, 2, manner_of(s));
    else
        return repeats_person(d, s->text);
    return true;
}

static void detect_reason(void *ctx, unsigned bits, maki_str before, maki_str after)
{
    sentence *s = ctx;
    bool ends = after.len <= 3 && (after.ptr[-1] & 0x80); /* "...からです。" */
    s->reason |= (bits & MAKI_KEYWORD_REASON) && (before.len == 0 || ends);
}

/* Phrases need one spelling: ’ becomes ', and a comma before a Chinese or Japanese character a wide one; in
 * out[SPELLING_MAX]. */
static maki_str one_spelling(maki_str text, char *out)
{
    const maki_str curly = MAKI_LIT("’"), wide = MAKI_LIT("，");
    size_t n = 0;
    if (text.len > MAKI_DIGEST_SENTENCE ||
        !(maki_str_contains(text, curly) || memchr(text.ptr, ',', text.len)))
        return text;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == ',' && is_cjk_at(text, i + 1)) {
            memcpy(out + n, wide.ptr, wide.len);
            n += wide.len;
            continue;
        }
        bool here = maki_str_starts(maki_str_skip(text, i), curly);
        out[n++] = here ? '\'' : text.ptr[i];
        i += here ? curly.len - 1 : 0;
    }
    return (maki_str){ out, n };
}

static sentence read_sentence(maki_digest *d, maki_str text, bool item, bool person)
{
    char copy[SPELLING_MAX];
    size_t known = d->fact_count;
    sentence s = { .text = maki_str_trim(text), .item = item };
    maki_entities_in(text, maki_digest_on_entity, d);
    s.bits = maki_keywords_each(&d->keywords, one_spelling(s.text, copy), detect_reason, &s);
    s.question = is_question(s.text);
    s.score = 2 * (uint32_t)(d->fact_count - known) + maki_digest_score(s.text, s.bits, person);
    if (s.score > SCORE_MAX) s.score = SCORE_MAX;
    s.score += MAKI_FOCUS_WEIGHT * maki_focus_count_matches(&d->focus, s.text);
    return s;
}

/* Insert a sentence as a point; true: it is about goals or people, or what somebody asked to keep. */
static bool insert_point(maki_digest *d, const sentence *s, uint8_t kind)
{
    unsigned wishes = MAKI_KEYWORD_ASK | MAKI_KEYWORD_WISH | MAKI_KEYWORD_REFER;
    uint32_t asks = (s->bits & wishes) && !s->question ? ASKED : 0;
    if (kind == MAKI_BY_ASSISTANT && s->score < 2) return false;
    if (kind == MAKI_BY_USER && (s->bits & MAKI_KEYWORD_ABOUT) && !s->question) kind = MAKI_ABOUT;
    if (s->score >= MAKI_FOCUS_WEIGHT) kind = MAKI_ABOUT;
    maki_digest_add_point(d, s->text, kind,
                          FACTS * s->score + (kind == MAKI_BY_ASSISTANT ? 0 : asks));
    if (kind != MAKI_BY_ASSISTANT && !s->question) maki_digest_stated(d, s->text);
    return kind == MAKI_ABOUT;
}

static void save_previous(maki_digest *d, maki_str text)
{
    maki_digest_reader *r = &d->reading;
    r->before_len = text.len <= sizeof r->before ? text.len : 0;
    memcpy(r->before, text.ptr, r->before_len);
}

/* "Ground rules:" and the like: select the set for the items of the list that follows. */
static bool opens_list(maki_digest *d, const sentence *s)
{
    maki_digest_reader *r = &d->reading;
    bool colon = maki_str_ends(s->text, MAKI_LIT(":")) || maki_str_ends(s->text, MAKI_LIT("："));
    bool heading = colon || s->text.ptr[0] == '#' || maki_str_starts(s->text, MAKI_LIT("**")) ||
                   maki_str_starts(s->text, MAKI_LIT("【"));
    if (s->item) return false;
    r->list = NULL;
    if (r->role == MAKI_ROLE_ASSISTANT || s->text.len > HEADING_MAX) return false;
    if (colon && (s->bits & MAKI_KEYWORD_DECISION)) r->list = &d->decisions;
    unsigned rules = heading ? MAKI_KEYWORD_RULE | MAKI_KEYWORD_WISH : 0;
    if (s->bits & (rules | MAKI_KEYWORD_LIST)) r->list = &d->rules;
    return heading && r->list;
}

/* "Yes, Bootstrap.", "The second one.": a short answer at the beginning of a text is inserted with what it answers, so that it
 * has a subject. */
static bool insert_answered(maki_digest *d, const sentence *s)
{
    enum { SHORT = 64 };
    maki_digest_reader *r = &d->reading;
    unsigned answers =
        MAKI_KEYWORD_CHOICE | (d->asked_question ? MAKI_KEYWORD_ANSWER | MAKI_KEYWORD_DECISION : 0);
    char both[MAKI_DIGEST_SENTENCE + 8];
    if (r->role != MAKI_ROLE_USER || r->before_len || r->answered || !d->asked_len || s->question ||
        s->text.len >= SHORT || !(s->bits & answers) || (s->bits & MAKI_KEYWORD_RULE) ||
        d->asked_len + s->text.len + 5 >= MAKI_DIGEST_SENTENCE)
        return false;
    int n = snprintf(both, sizeof both, "%.*s → %.*s", (int)d->asked_len, d->asked,
                     MAKI_PRINTED(s->text));
    maki_digest_add_point(d, (maki_str){ both, (size_t)n }, MAKI_BY_USER, FACTS * (s->score + 1));
    maki_digest_stated(d, (maki_str){ both, (size_t)n });
    r->answered = true;
    return true;
}

bool maki_digest_add_sentence(maki_digest *d, maki_str text, bool item)
{
    maki_digest_reader *r = &d->reading;
    bool person = r->role != MAKI_ROLE_ASSISTANT, inserted = true;
    sentence s = read_sentence(d, text, item, person);
    if (s.text.len < SENTENCE_MIN) return false;
    if (insert_answered(d, &s)) {
        inserted = false;
    } else if (!opens_list(d, &s)) {
        inserted = person ? classify_user_sentence(d, &s) : classify_model_sentence(d, &s);
        if (!inserted) r->before_set = NULL;
        if (!inserted) inserted = insert_point(d, &s, person ? MAKI_BY_USER : MAKI_BY_ASSISTANT);
        close_settled(d, s.text, s.bits);
    }
    if (!item || !r->list) save_previous(d, s.text);
    return inserted && person;
}

void maki_digest_add_sentences(maki_digest *d, maki_str text, uint8_t kind)
{
    const unsigned rules = MAKI_KEYWORD_RULE | MAKI_KEYWORD_WISH | MAKI_KEYWORD_REFER;
    while (text.len) {
        size_t n = maki_sentence_len(text);
        sentence s = read_sentence(d, maki_str_prefix(text, n), false, kind != MAKI_BY_ASSISTANT);
        text = maki_str_skip(text, n);
        if (s.text.len < SENTENCE_MIN) continue;
        if (kind == MAKI_BY_USER && !s.question && (s.bits & rules))
            maki_digest_add_rule(d, s.text, SOFT);
        else
            insert_point(d, &s, kind);
    }
}
