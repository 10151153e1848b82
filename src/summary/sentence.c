/* sentence.c -- split a text into sentences, and classify each: a rule, a decision, a task, a question, or facts.
 *
 * In:     the sentences of a text in order, d->reading has the role.
 * Out:    items of the digest's sets, each sentence word for word in one of them.
 * Always: each sentence of a person is inserted somewhere, in doubt as the kind that is kept longer: a lost rule cannot
 *         be followed, a false one costs a line. */
#include <string.h>

#include "base/ascii.h"
#include "base/str_util.h"
#include "base/text.h"
#include "summary/digest.h"

enum {
    SENTENCE_MIN = 6,
    REASON_MAX = 240, /* bytes of a sentence that joins the rule before it */
    SOFT = 4,         /* weight of a rule in soft words */
    SCORE_MAX = 12,
    ASKED = 3, /* additional weight of a request */
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

/* "leave it alone? same goes for ...", "too dear... the other one then" */
static bool continues(maki_str text, size_t stop, size_t end)
{
    bool dots = stop > 0 && text.ptr[stop] == '.' && text.ptr[stop - 1] == '.';
    char next = end + 1 < text.len ? text.ptr[end + 1] : ' ';
    return dots || (next >= 'a' && next <= 'z');
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
        if (wide && !is_closing(text, end)) return end;
        bool stop = code == '!' || code == '?' || (code == '.' && !is_abbreviation(text, at));
        if (stop && end < text.len && text.ptr[end] == ' ' && !continues(text, at, end)) return end;
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

uint32_t maki_digest_score(maki_digest *d, maki_str s, unsigned bits)
{
    uint32_t n = (bits & MAKI_KEYWORD_ABOUT ? 2 : 0) + (bits & MAKI_KEYWORD_DATE ? 1 : 0);
    bool cjk = has_cjk(s), inside = false, first = true;
    size_t len = 0, katakana = 0;
    (void)d;
    for (size_t at = 0; at < s.len && n < SCORE_MAX; at += len) {
        uint32_t code = maki_utf8_decode(s, at, &len);
        char c = code < 0x80 ? (char)code : ' ';
        bool word = maki_is_word(c);
        if (word && !inside) {
            bool alone = at + 1 == s.len || !maki_is_word(s.ptr[at + 1]); /* "I" is no name */
            n += maki_is_digit(c) || (!alone && (cjk || (maki_is_upper(c) && !first)));
            first = false;
        }
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

static void insert(maki_digest *d, maki_text_set *in, maki_str text, uint32_t weight, bool change)
{
    maki_digest_reader *r = &d->reading;
    if (in == &d->rules)
        maki_digest_add_rule(d, text, weight);
    else
        maki_digest_add_decision(d, text, MAKI_BY_USER, weight, change);
    r->before_set = in;
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
    insert(d, in, text, weight, s->bits & MAKI_KEYWORD_CHANGE);
}

static bool classify_user_sentence(maki_digest *d, const sentence *s)
{
    maki_digest_reader *r = &d->reading;
    unsigned bits = s->bits;
    bool rule = bits & MAKI_KEYWORD_RULE, decision = bits & MAKI_KEYWORD_DECISION;
    uint32_t weight = rule ? MAKI_WEIGHT_ALWAYS : SOFT;
    if (s->item && r->list) {
        insert_with_previous(d, r->list, s, MAKI_WEIGHT_ALWAYS);
    } else if (s->reason && !rule && !s->question && add_reason(d, s->text)) {
        return true;
    } else if (s->question && !rule) {
        maki_digest_add_task(d, s->text, MAKI_TASK_QUESTION);
        return false;
    } else if (decision ? !rule || (bits & MAKI_KEYWORD_CHANGE)
                        : !rule && maki_digest_is_decided(d, s->text)) {
        insert(d, &d->decisions, s->text, MAKI_WEIGHT_ALWAYS, bits & MAKI_KEYWORD_CHANGE);
    } else if ((bits & MAKI_KEYWORD_REFER) && (bits & (MAKI_KEYWORD_RULE | MAKI_KEYWORD_WISH))) {
        insert_with_previous(d, &d->rules, s, MAKI_WEIGHT_ALWAYS);
    } else if (rule) {
        insert(d, &d->rules, s->text, s->question ? SOFT : weight, false);
        if (decision) maki_digest_mark_overridden(d, s->text);
    } else if (bits & MAKI_KEYWORD_OPEN) {
        maki_digest_add_task(d, s->text, MAKI_TASK_SENTENCE);
        return false;
    } else if (bits & (MAKI_KEYWORD_REFER | MAKI_KEYWORD_WISH)) {
        insert(d, &d->rules, s->text, SOFT, false);
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
        maki_digest_add_decision(d, s->text, MAKI_BY_ASSISTANT, 2, s->bits & MAKI_KEYWORD_CHANGE);
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

/* Replace every ’ by ', so that phrases need one spelling; in out[MAKI_DIGEST_SENTENCE]. */
static maki_str straight_quotes(maki_str text, char *out)
{
    const maki_str curly = MAKI_LIT("’");
    size_t n = 0;
    if (text.len > MAKI_DIGEST_SENTENCE || !maki_str_has(text, curly)) return text;
    for (size_t i = 0; i < text.len; i++) {
        bool here = maki_str_starts(maki_str_from(text, i), curly);
        out[n++] = here ? '\'' : text.ptr[i];
        i += here ? curly.len - 1 : 0;
    }
    return (maki_str){ out, n };
}

static sentence read_sentence(maki_digest *d, maki_str text, bool item)
{
    char copy[MAKI_DIGEST_SENTENCE];
    size_t known = d->fact_count;
    sentence s = { .text = maki_str_trim(text), .item = item };
    maki_entities_in(text, maki_digest_on_entity, d);
    s.bits = maki_keywords_each(&d->keywords, straight_quotes(s.text, copy), detect_reason, &s);
    s.question = is_question(s.text);
    s.score = 2 * (uint32_t)(d->fact_count - known) + maki_digest_score(d, s.text, s.bits);
    if (s.score > SCORE_MAX) s.score = SCORE_MAX;
    s.score += MAKI_FOCUS_WEIGHT * maki_focus_in(&d->focus, s.text);
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
    maki_digest_add_point(d, s->text, kind, s->score + (kind == MAKI_BY_ASSISTANT ? 0 : asks));
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

bool maki_digest_add_sentence(maki_digest *d, maki_str text, bool item)
{
    maki_digest_reader *r = &d->reading;
    bool person = r->role != MAKI_ROLE_ASSISTANT, inserted = true;
    sentence s = read_sentence(d, text, item);
    if (s.text.len < SENTENCE_MIN) return false;
    if (!opens_list(d, &s)) {
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
    while (text.len) {
        size_t n = maki_sentence_len(text);
        sentence s = read_sentence(d, maki_str_to(text, n), false);
        text = maki_str_from(text, n);
        if (s.text.len >= SENTENCE_MIN) insert_point(d, &s, kind);
    }
}
