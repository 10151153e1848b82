/* digest.c -- create a digest, and add messages to it: each part is classified and inserted into the sets. */
#include "summary/digest.h"

#include "base/ascii.h"
#include "base/str_util.h"
#include "base/text.h"

enum { FACT_SLOTS = 2 * MAKI_DIGEST_FACTS };

static const char common_words[] =
    "the and for with use using used decided decision let switch instead actually final that this from have will "
    "going now our all are was not but you should want change changed make keep 決定 使用 採用 変更 最終 使いま しま "
    "改用 决定 确定 最终 我们 就用 还是 결정 사용 최종 변경 대신 하기로 합니다 "
    /* nor what is said in passing */
    "anyway back work today morning please look show next 今日 仕事 戻り 次は 今天 接下来 一下 帮我 回到 正事 오늘 지금 "
    "다음 잠깐 주세요 니다 습니 해요 어요 아요 에요 예요 이에 으로 에서 입니 할게요 네요 하고 하는";

maki_status maki_digest_new(maki_arena *arena, maki_digest **out, maki_err *err)
{
    maki_digest *d = maki_arena_get(arena, sizeof *d);
    if (!d) return maki_arena_status(arena, err);
    const struct {
        maki_text_set *set;
        size_t capacity, text_capacity, detail_capacity;
    } sets[] = {
        { &d->files, 512, MAKI_ENTITY_MAX, 64 },
        { &d->runs, 128, 160, 160 },
        { &d->errors, 128, 300, 300 },
        { &d->tasks, 256, 400, 0 },
        { &d->rules, 256, MAKI_DIGEST_RULE, 0 },
        { &d->decisions, 256, MAKI_DIGEST_RULE, 0 },
        { &d->points, 1024, MAKI_DIGEST_SENTENCE, 0 },
        { &d->names, 512, 64, 0 },
        { &d->code, 32, 24, MAKI_ENTITY_MAX },
        { &d->outcome.errors, 16, 300, 0 },
    };
    maki_status st = MAKI_OK;
    for (size_t i = 0; st == MAKI_OK && i < sizeof sets / sizeof *sets; i++)
        st = maki_text_set_init(sets[i].set, arena, sets[i].capacity, sets[i].text_capacity,
                                sets[i].detail_capacity, err);
    maki_keywords_init(&d->keywords);
    maki_term_filter_add(&d->common, maki_str_of(common_words));
    d->arena = arena;
    d->facts = maki_arena_array(arena, MAKI_DIGEST_FACTS, sizeof *d->facts);
    d->uses = maki_arena_array(arena, MAKI_DIGEST_USES, sizeof *d->uses);
    d->fact_slots = maki_arena_array(arena, FACT_SLOTS, sizeof *d->fact_slots);
    if (st == MAKI_OK) st = maki_arena_status(arena, err);
    *out = d;
    return st;
}

/* ---- inserting into the sets ------------------------------------------------------------------------ */

void maki_digest_add_fact(maki_digest *d, maki_fact kind, maki_str text)
{
    uint64_t key = maki_text_item_key(text) ^ (uint64_t)kind << 1;
    size_t slot = (size_t)key % FACT_SLOTS;
    while (d->fact_slots[slot] && d->fact_slots[slot] != key)
        slot = (slot + 1) % FACT_SLOTS;
    if (d->fact_slots[slot] || d->fact_count == MAKI_DIGEST_FACTS) return;
    d->fact_slots[slot] = key;
    d->facts[d->fact_count++] = (maki_found_fact){ kind, maki_arena_copy(d->arena, text) };
}

void maki_digest_on_entity(void *ctx, maki_fact kind, maki_str text)
{
    maki_digest *d = ctx;
    maki_text_set *set = kind == MAKI_FACT_PATH ? &d->files : &d->names;
    maki_digest_add_fact(d, kind, text);
    if (kind == MAKI_FACT_PATH) {
        memcpy(d->reading.file, text.ptr, text.len);
        d->reading.file_len = text.len;
    }
    if (kind == MAKI_FACT_NUMBER) return;
    maki_text_item *item = maki_text_set_add(set, maki_text_item_key(text), text, 1, d->messages);
    if (kind == MAKI_FACT_NAME) item->weight = item->count;
}

void maki_digest_add_task(maki_digest *d, maki_str text, uint8_t kind)
{
    text = maki_str_trim(text);
    if (text.len < 3) return;
    maki_text_item *item =
        maki_text_set_add(&d->tasks, maki_digest_sentence_key(text), text, 1, d->messages);
    item->kind = kind;
    item->state = MAKI_TASK_OPEN;
    item->weight = kind == MAKI_TASK_NEXT ? 1 : 4;
    item->terms = maki_term_bitmap_of(maki_text_item_text(item));
}

uint64_t maki_digest_sentence_key(maki_str text)
{
    uint64_t h = 14695981039346656037u;
    size_t len = 0;
    for (size_t at = 0; at < text.len; at += len) {
        uint32_t code = maki_utf8_decode(text, at, &len);
        bool punctuation = code < 0x80 ? !maki_is_word_char((char)code)
                                       : (code >= 0x2000 && code < 0x2070) ||
                                             (code >= 0x3000 && code < 0x3040) ||
                                             (code >= 0xFF00 && code < 0xFF10);
        uint64_t letter = code < 0x80 ? (unsigned char)maki_lower((char)code) : code;
        if (!punctuation) h = (h ^ letter) * 1099511628211u;
    }
    h ^= h >> 29;
    return h ? h : 1;
}

static maki_subject subject_of(const maki_digest *d, maki_str text)
{
    maki_subject s;
    s.count = maki_terms_of(text, &d->common, s.hashes, MAKI_SUBJECT_TERMS);
    s.terms = maki_term_bitmap_of_terms(s.hashes, s.count);
    return s;
}

static void set_subject(maki_text_item *item, const maki_subject *subject)
{
    item->terms = subject->terms;
    item->counters[1] = subject->count ? subject->hashes[0] : 0;
    item->counters[2] = subject->count ? subject->hashes[subject->count - 1] : 0;
}

static bool has_term(const maki_subject *subject, uint32_t term)
{
    for (size_t i = 0; i < subject->count; i++)
        if (subject->hashes[i] == term) return true;
    return false;
}

static bool has_terms(const maki_subject *all, const maki_subject *some)
{
    for (size_t i = 0; i < some->count; i++)
        if (!has_term(all, some->hashes[i])) return false;
    return some->count > 0;
}

/* How many different terms two sentences have, and share. */
typedef struct overlap {
    unsigned older, newer, shared;
    bool fresh; /* the newer one has a term that the older one lacks */
} overlap;

/* By the bitmaps, which may share a few bits more. */
static overlap estimate(const maki_text_item *old, const maki_subject *subject)
{
    return (overlap){ maki_term_bitmap_shared(&old->terms, &old->terms),
                      maki_term_bitmap_shared(&subject->terms, &subject->terms),
                      maki_term_bitmap_shared(&old->terms, &subject->terms), true };
}

static overlap compare(const maki_digest *d, const maki_text_item *old, const maki_subject *subject)
{
    maki_subject of = subject_of(d, maki_text_item_text(old));
    overlap o = estimate(old, subject);
    o.shared = 0;
    for (size_t i = 0; i < of.count; i++) {
        bool repeated = false;
        for (size_t k = 0; k < i; k++)
            repeated |= of.hashes[k] == of.hashes[i];
        o.shared += !repeated && has_term(subject, of.hashes[i]);
    }
    o.fresh = !has_terms(&of, subject);
    return o;
}

/* How many terms both begin with. */
static size_t shared_beginning(const maki_digest *d, maki_str old, const maki_subject *subject)
{
    maki_subject of = subject_of(d, old);
    size_t n = 0;
    while (n < of.count && n < subject->count && of.hashes[n] == subject->hashes[n])
        n++;
    return n;
}

/* Percentage of the terms of the shorter sentence that both share; 0 when it is less than `min_percent`. */
static unsigned overlap_percent(overlap o, unsigned min_percent)
{
    if (o.shared < 2) return 0;
    unsigned percent = o.shared * 100 / (o.older < o.newer ? o.older : o.newer);
    return percent >= min_percent ? percent : 0;
}

static bool has_digit(maki_str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (maki_is_digit(text.ptr[i])) return true;
    return false;
}

/* The item of a set with the most similar subject, the newest of equals; NULL: none reaches `min_percent`. */
static maki_text_item *find_similar(const maki_digest *d, const maki_text_set *set,
                                    const maki_text_item *newest, const maki_subject *subject,
                                    unsigned min_percent, bool overridden)
{
    bool numbers = newest->len == 0 || has_digit(maki_text_item_text(newest));
    maki_text_item *best = NULL;
    unsigned best_percent = min_percent;
    for (size_t i = 0; i < set->count; i++) {
        maki_text_item *e = &set->at[i];
        bool open = e->key != newest->key && e->kind >= newest->kind &&
                    (overridden || e->state == MAKI_DECISION_LATEST);
        if (!open || !overlap_percent(estimate(e, subject), best_percent)) continue;
        overlap o = compare(d, e, subject);
        unsigned percent = overlap_percent(o, best_percent);
        if (percent < best_percent || (!o.fresh && !numbers)) continue; /* it says nothing new */
        best = e;
        best_percent = percent;
    }
    return best;
}

/* The user's newest decision other than `before`, at most RECENT messages old; NULL: none. */
static maki_text_item *newest_user_decision(maki_text_set *set, const maki_text_item *before,
                                            uint32_t now)
{
    enum { RECENT = 2 };
    maki_text_item *last = NULL;
    for (size_t i = 0; i < set->count; i++) {
        maki_text_item *e = &set->at[i];
        bool open =
            e->kind == MAKI_BY_USER && e->state == MAKI_DECISION_LATEST && e->key != before->key;
        if (open && e->last + RECENT >= now && (!last || e->last >= last->last)) last = e;
    }
    return last;
}

/* ---- statements on the same subject ------------------------------------------------------------------ */

/* Words that only a few sentences of people have say what a sentence is about, in any language.  So it is enough to know, of
 * each term, who had it last: a later statement finds the one before on its subject by its rare terms. */

/* Where a term is, or would replace the more frequent of the two in its slot. */
static maki_term_use *use_of(const maki_digest *d, uint32_t term)
{
    maki_term_use *slot = &d->uses[term % (MAKI_DIGEST_USES / 2) * 2];
    if (slot[0].term == term || slot[1].term == term) return &slot[slot[0].term != term];
    return &slot[slot[0].sentences < slot[1].sentences];
}

static void note_uses(maki_digest *d, const maki_subject *subject, uint64_t key)
{
    for (size_t i = 0; i < subject->count; i++) {
        maki_term_use *use = use_of(d, subject->hashes[i]);
        if (use->term != subject->hashes[i])
            *use = (maki_term_use){ .term = subject->hashes[i] };
        else if (use->key == key)
            continue;
        use->key = key;
        use->sentences++;
    }
}

/* "Package manager" of "Package manager: yarn."; len 0: none. */
static maki_str topic_of(maki_str text)
{
    enum { TOPIC_MAX = 64 };
    static const char general[] =
        "Note|NB|PS|P.S.|FYI|TODO|Reminder|Important|Warning|Caution|Hint|Tip|Question|"
        "Update|Correction|Idea|Example|Error|Fix|Result|Answer|Rule|Rules|注意|備考|"
        "補足|例|質問|备注|例如|提示|问题|참고|주의|질문|예";
    const maki_str wide = MAKI_LIT("：");
    maki_str none = { text.ptr, 0 };
    for (size_t i = 1; i + 1 < text.len && i < TOPIC_MAX; i++) {
        char next = text.ptr[i + 1];
        bool narrow = text.ptr[i] == ':' && (next == ' ' || (next & 0x80));
        if (!narrow && !maki_str_starts(maki_str_skip(text, i), wide)) continue;
        maki_str topic = maki_str_prefix(text, i);
        return maki_str_in(topic, general) ? none : topic;
    }
    return none;
}

/* The next word of letters, digits and hyphens; false: none. */
static bool next_word(maki_str *text, maki_str *word)
{
    size_t start = 0, end;
    while (start < text->len && !maki_is_word_char(text->ptr[start]))
        start++;
    for (end = start;
         end < text->len && (maki_is_word_char(text->ptr[end]) || text->ptr[end] == '-');)
        end++;
    *word = (maki_str){ text->ptr + start, end - start };
    *text = maki_str_skip(*text, end);
    return word->len > 0;
}

/* 74278d5 or ABC-123: the name of one commit, one ticket. */
static bool is_reference(maki_str word)
{
    enum { HEX_MIN = 7, HEX_MAX = 40 };
    size_t hex = 0, digits = 0, upper = 0;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        digits += maki_is_digit(c);
        hex += maki_is_digit(c) || (c >= 'a' && c <= 'f');
        upper += maki_is_upper(c) && upper == i;
    }
    bool commit = hex == word.len && word.len >= HEX_MIN && word.len <= HEX_MAX && digits < hex;
    return (commit && digits) || (upper >= 2 && upper + 1 < word.len && word.ptr[upper] == '-' &&
                                  upper + 1 + digits == word.len);
}

/* Is each about another commit or ticket? */
static bool other_references(maki_str a, maki_str b)
{
    bool any = false;
    for (maki_str word, rest = a; next_word(&rest, &word);) {
        if (!is_reference(word)) continue;
        if (maki_str_contains(b, word)) return false;
        any = true;
    }
    for (maki_str word, rest = b; any && next_word(&rest, &word);)
        if (is_reference(word)) return true;
    return false;
}

/* A hash of a term in one bit. */
static uint64_t term_bit(uint32_t term)
{
    return (uint64_t)1 << (term & 63);
}

static unsigned bits_of(uint64_t terms)
{
    return (unsigned)__builtin_popcountll(terms);
}

/* The bitmap folded to 64 bits: the bits of its terms. */
static uint64_t folded(const maki_term_bitmap *a)
{
    return a->bits[0] | a->bits[1] | a->bits[2] | a->bits[3];
}

/* "Lunch: pizza.", then "Lunch: soup." or "Lunch is soup now." */
static bool same_topic(const maki_digest *d, const maki_text_item *old, maki_str text,
                       const maki_subject *subject, unsigned manner)
{
    maki_str before = topic_of(maki_text_item_text(old)), now = topic_of(text);
    if (!before.len && !now.len) return false;
    maki_subject of = subject_of(d, before.len ? before : now);
    if (before.len)
        return has_terms(subject, &of) && ((manner & (MAKI_DECIDES | MAKI_CHANGES)) || now.len);
    maki_subject all = subject_of(d, maki_text_item_text(old));
    bool decided = old >= d->decisions.at && old < d->decisions.at + d->decisions.count;
    return (decided || of.count > 1) && has_terms(&all, &of);
}

/* Percentage of the older statement's terms that the newer one repeats, if it is about the same; else 0.  The more
 * a sentence says that something changed, the fewer they need to be: "Redux is out" names only the old value.  One that
 * says nothing of the kind must have the older one's first term: "the sync is on Monday", "the sync is on Friday". */
static unsigned same_subject(const maki_digest *d, const maki_text_item *old, maki_str text,
                             const maki_subject *subject, uint32_t rare, unsigned manner)
{
    enum { SHORT_TERMS = 4 };
    overlap o = compare(d, old, subject);
    bool clear = (manner & MAKI_NAMES) || !(~manner & (MAKI_DECIDES | MAKI_CHANGES));
    bool enough = o.shared >= (clear ? 2 : 3), same = false;
    bool pair =
        o.shared >= 2 || !(rare & MAKI_TERM_CJK); /* two characters alone, as 发布, say little */
    bool open = old->kind != MAKI_BY_ASSISTANT && old->state == MAKI_DECISION_LATEST;
    if (!open || o.shared == 0 || !o.fresh) return 0;
    if (old->last == d->messages && !(manner & MAKI_CHANGES)) return 0;
    if (!(manner & MAKI_CHANGES) && other_references(maki_text_item_text(old), text)) return 0;
    if (same_topic(d, old, text, subject, manner)) return o.shared * 100 / o.older;
    if (has_term(subject, old->counters[1]))
        same = enough && (clear ? o.shared * 2 >= o.older : o.shared * 5 >= o.older * 3);
    if (manner & (MAKI_DECIDES | MAKI_CHANGES))
        same |= (old->link & term_bit(rare)) &&
                (pair || bits_of(old->link) < 2 || subject->hashes[0] == rare);
    if (clear && (manner & (MAKI_DECIDES | MAKI_CHANGES)))
        same |= shared_beginning(d, maki_text_item_text(old), subject) >= 2;
    if (manner & MAKI_DECIDES)
        same |= enough && o.shared * 2 >= (o.older < o.newer ? o.older : o.newer);
    if (manner & MAKI_CHANGES) {
        bool value = (pair && has_term(subject, old->counters[2])) || o.older <= SHORT_TERMS;
        same |= enough && o.shared * 3 >= o.older;
        same |= enough && o.shared * 5 >= (o.older < o.newer ? o.older : o.newer) * 2;
        same |= clear && value && !has_digit(maki_text_item_text(old));
        same |= clear && (manner & MAKI_DECIDES) && o.older <= SHORT_TERMS &&
                has_term(subject, old->counters[1]);
    }
    return same ? o.shared * 100 / o.older : 0;
}

/* A rule that may be overridden has a subject. */
static maki_text_item *soft_rule(const maki_digest *d, uint64_t key)
{
    maki_text_item *rule = maki_text_set_find(&d->rules, key);
    return rule && rule->counters[1] ? rule : NULL;
}

/* What a person stated before about the same, the most similar; NULL: nothing. */
static maki_text_item *find_statement(maki_digest *d, maki_str text, const maki_subject *subject,
                                      uint64_t key, unsigned manner)
{
    enum { RARE = 3 };
    maki_text_item *best = NULL;
    unsigned best_percent = 0;
    uint64_t before = key;
    for (size_t i = 0; i < subject->count; i++) {
        const maki_term_use *use = use_of(d, subject->hashes[i]);
        if (use->term != subject->hashes[i] || use->sentences > RARE || use->key == key ||
            use->key == before)
            continue;
        before = use->key;
        maki_text_item *old = maki_text_set_find(&d->decisions, use->key);
        if (!old) old = maki_text_set_find(&d->points, use->key);
        if (!old) old = soft_rule(d, use->key);
        unsigned percent = old ? same_subject(d, old, text, subject, use->term, manner) : 0;
        if (percent <= best_percent) continue;
        best = old;
        best_percent = percent;
    }
    return best;
}

/* With a question that it answers, "Which one? → It", which is a point of its own. */
static void mark_overridden(maki_digest *d, maki_text_item *item)
{
    maki_str text = maki_text_item_text(item);
    item->state = MAKI_DECISION_OVERRIDDEN;
    if (item >= d->decisions.at && item < d->decisions.at + d->decisions.count) item->weight = 1;
    bool rule = item >= d->rules.at && item < d->rules.at + d->rules.count;
    if (rule && item->weight >= MAKI_WEIGHT_ALWAYS) item->weight = MAKI_WEIGHT_ALWAYS - 1;
    for (size_t i = 0; i < d->points.count; i++) {
        maki_text_item *p = &d->points.at[i];
        if (p->len > item->len && maki_str_ends(maki_text_item_text(p), text))
            p->state = MAKI_DECISION_OVERRIDDEN;
    }
}

static void override_item(maki_digest *d, maki_text_item *old, maki_text_item *newest)
{
    newest->link = folded(&old->terms) & folded(&newest->terms);
    mark_overridden(d, old);
}

/* A decision overrides older ones on the same question, but the model's do not override the user's.  One that says
 * only "no, the other one" overrides the user's newest decision. */
static void override_older(maki_digest *d, maki_text_item *newest, maki_str text,
                           const maki_subject *subject, unsigned manner)
{
    bool change = manner & MAKI_CHANGES;
    enum { SHORT_TERMS = 3, CHANGE_PERCENT = 50, POINT_PERCENT = 50, SAME_PERCENT = 67 };
    maki_text_item *best = find_similar(d, &d->decisions, newest, subject,
                                        change ? CHANGE_PERCENT : SAME_PERCENT, false);
    maki_text_item *point = find_similar(d, &d->points, newest, subject, POINT_PERCENT, false);
    if (!best && !point && newest->kind != MAKI_BY_ASSISTANT)
        best = find_statement(d, text, subject, newest->key, manner | MAKI_DECIDES);
    bool without_subject = !best && !point && change && subject->count > 0 &&
                           (manner & (MAKI_NAMES | MAKI_DECIDES) || d->reading.before_len == 0) &&
                           maki_term_bitmap_shared(&newest->terms, &newest->terms) <= SHORT_TERMS;
    if (without_subject) best = newest_user_decision(&d->decisions, newest, d->messages);
    if (point) override_item(d, point, newest);
    if (best) override_item(d, best, newest);
}

/* "House rules: lunch is at noon": what the rule itself says. */
static maki_str without_heading(const maki_digest *d, maki_str text)
{
    maki_str heading = topic_of(text);
    const unsigned rules = MAKI_KEYWORD_RULE | MAKI_KEYWORD_WISH | MAKI_KEYWORD_LIST;
    if (!heading.len || !(maki_keywords_in(&d->keywords, heading) & rules)) return text;
    return maki_str_skip(text, heading.len + 1);
}

void maki_digest_add_rule(maki_digest *d, maki_str text, uint32_t weight)
{
    maki_text_item *rule =
        maki_text_set_add(&d->rules, maki_digest_sentence_key(text), text, weight, d->messages);
    rule->counters[0] = ++d->sequence;
    rule->counters[1] = 0;
    maki_str alone = without_heading(d, text);
    if (weight >= MAKI_WEIGHT_ALWAYS && maki_keywords_demand(maki_keywords_in(&d->keywords, alone)))
        return;
    maki_subject subject =
        subject_of(d, alone); /* what only sounds like a rule may be overridden */
    set_subject(rule, &subject);
    rule->state = MAKI_DECISION_LATEST;
    note_uses(d, &subject, rule->key);
}

bool maki_digest_is_decided(maki_digest *d, maki_str text, unsigned manner)
{
    maki_subject subject = subject_of(d, text);
    const maki_text_item item = { .key = maki_digest_sentence_key(text), .kind = MAKI_BY_USER };
    return find_similar(d, &d->decisions, &item, &subject, 60, true) != NULL ||
           find_statement(d, text, &subject, item.key, manner) != NULL;
}

void maki_digest_stated(maki_digest *d, maki_str text)
{
    maki_subject subject = subject_of(d, text);
    note_uses(d, &subject, maki_digest_sentence_key(text));
}

void maki_digest_mark_overridden(maki_digest *d, maki_str text, unsigned manner)
{
    maki_subject subject = subject_of(d, text);
    maki_text_item item = { .terms = subject.terms };
    override_older(d, &item, text, &subject, manner);
}

void maki_digest_add_decision(maki_digest *d, maki_str text, uint8_t by, uint32_t weight,
                              unsigned manner)
{
    maki_text_item *item =
        maki_text_set_add(&d->decisions, maki_digest_sentence_key(text), text, weight, d->messages);
    bool known = item->count > 1 && item->state == MAKI_DECISION_LATEST;
    if (item->count == 1 || by == MAKI_BY_USER) item->kind = by;
    item->state = MAKI_DECISION_LATEST;
    item->counters[0] = ++d->sequence;
    maki_subject subject = subject_of(d, text);
    set_subject(item, &subject);
    if (!known) override_older(d, item, text, &subject, manner);
    if (by != MAKI_BY_ASSISTANT) note_uses(d, &subject, item->key);
}

/* The topic of a decision of an earlier summary, from what it overrode. */
static void read_topic(const maki_digest *d, maki_text_item *item, const maki_subject *subject)
{
    for (size_t i = 0; i < subject->count; i++) {
        const maki_term_use *use = use_of(d, subject->hashes[i]);
        const maki_text_item *old =
            use->term == subject->hashes[i] ? maki_text_set_find(&d->decisions, use->key) : NULL;
        if (old && old->state == MAKI_DECISION_OVERRIDDEN) item->link |= term_bit(use->term);
    }
}

void maki_digest_add_earlier_decision(maki_digest *d, maki_str text, bool overridden)
{
    maki_text_item *item = maki_text_set_add(&d->decisions, maki_digest_sentence_key(text), text,
                                             overridden ? 1 : MAKI_WEIGHT_ALWAYS + 1, d->messages);
    item->state = overridden ? MAKI_DECISION_OVERRIDDEN : MAKI_DECISION_LATEST;
    item->counters[0] = ++d->sequence;
    maki_subject subject = subject_of(d, text);
    set_subject(item, &subject);
    if (!overridden) read_topic(d, item, &subject);
    note_uses(d, &subject, item->key);
}

void maki_digest_add_point(maki_digest *d, maki_str text, uint8_t kind, uint32_t weight)
{
    uint64_t key = maki_digest_sentence_key(text);
    text = maki_str_trim(text);
    if (text.len == 0 || text.len > MAKI_DIGEST_SENTENCE) return;
    if (maki_text_set_find(&d->rules, key) || maki_text_set_find(&d->decisions, key)) return;
    if (weight == 0 && (kind != MAKI_BY_USER || d->messages > MAKI_DIGEST_SHORT) &&
        d->points.count > d->points.capacity / 2)
        return;
    maki_text_item *item = maki_text_set_add(&d->points, key, text, weight, d->messages);
    if (item->count == 1) item->kind = kind;
    item->state = MAKI_DECISION_LATEST;
    item->counters[0] = ++d->sequence;
    maki_subject subject = subject_of(d, text);
    set_subject(item, &subject);
    if (kind == MAKI_ABOUT || (kind == MAKI_BY_USER && item->kind != MAKI_ABOUT)) item->kind = kind;
}

void maki_digest_add_error(maki_digest *d, maki_str line, uint64_t link, uint32_t weight)
{
    if (line.len == 0) return;
    maki_text_item *e =
        maki_text_set_add(&d->errors, maki_text_item_key(line), line, weight, d->messages);
    e->state = MAKI_ERROR_OPEN;
    e->link = link;
    e->detail_len = 0;
    e->terms = maki_term_bitmap_of(maki_text_item_text(e));
}

/* ---- messages ---------------------------------------------------------------------------------------- */

void maki_digest_add(maki_digest *d, maki_str json)
{
    maki_message_parts parts;
    maki_message_part part;
    d->messages++;
    if (!maki_message_parts_of(json, &parts)) return;
    while (maki_message_parts_next(&parts, &part)) {
        switch (part.kind) {
        case MAKI_PART_CALL: maki_digest_add_call(d, &part); break;
        case MAKI_PART_RESULT: maki_digest_add_result(d, &part); break;
        case MAKI_PART_MEDIUM: break;
        case MAKI_PART_TEXT:
            if (parts.is_summary) d->summaries++;
            if (parts.is_summary)
                maki_digest_add_previous_summary(d, part.value);
            else
                maki_digest_add_text(d, parts.role, part.value);
        }
    }
}

/* Close announced next steps that are more than RECENT messages old: they are done or abandoned. */
void maki_digest_end(maki_digest *d)
{
    enum { RECENT = 8 }; /* messages */
    for (size_t i = 0; i < d->tasks.count; i++) {
        maki_text_item *t = &d->tasks.at[i];
        if (t->kind == MAKI_TASK_NEXT && t->last + RECENT < d->messages)
            t->state = MAKI_TASK_CLOSED;
    }
}
