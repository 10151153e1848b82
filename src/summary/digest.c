/* digest.c -- create a digest, and add messages to it: each part is classified and inserted into the sets. */
#include "summary/digest.h"

#include "base/ascii.h"
#include "base/str_util.h"
#include "base/text.h"

enum { FACT_SLOTS = 2 * MAKI_DIGEST_FACTS };

static const char common_words[] =
    "the and for with use using used decided decision let switch instead actually final that this from have will "
    "going now our all are was not but you should want change changed make keep 決定 使用 採用 変更 最終 使いま しま "
    "改用 决定 确定 最终 我们 就用 还是 결정 사용 최종 변경 대신 하기로 합니다";

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
        bool punctuation = code < 0x80 ? !maki_is_word((char)code)
                                       : (code >= 0x2000 && code < 0x2070) ||
                                             (code >= 0x3000 && code < 0x3040) ||
                                             (code >= 0xFF00 && code < 0xFF10);
        uint64_t letter = code < 0x80 ? (unsigned char)maki_lower((char)code) : code;
        if (!punctuation) h = (h ^ letter) * 1099511628211u;
    }
    h ^= h >> 29;
    return h ? h : 1;
}

void maki_digest_add_rule(maki_digest *d, maki_str text, uint32_t weight)
{
    maki_text_item *rule =
        maki_text_set_add(&d->rules, maki_digest_sentence_key(text), text, weight, d->messages);
    rule->counters[0] = ++d->sequence;
}

static maki_term_bitmap subject_of(const maki_digest *d, maki_str text)
{
    return maki_term_bitmap_without(text, &d->common);
}

/* Percentage of the terms of the shorter sentence that both share; 0 when it is less than `min_percent`. */
static unsigned overlap_percent(const maki_text_item *a, const maki_text_item *b,
                                unsigned min_percent)
{
    unsigned shared = maki_term_bitmap_shared(&a->terms, &b->terms);
    unsigned a_terms = maki_term_bitmap_shared(&a->terms, &a->terms);
    unsigned b_terms = maki_term_bitmap_shared(&b->terms, &b->terms);
    if (shared < 2) return 0;
    unsigned percent = shared * 100 / (a_terms < b_terms ? a_terms : b_terms);
    return percent >= min_percent ? percent : 0;
}

/* The item of a set with the most similar subject, the newest of equals; NULL: none reaches `min_percent`. */
static maki_text_item *find_similar(maki_text_set *set, const maki_text_item *other,
                                    unsigned min_percent, uint8_t min_kind)
{
    maki_text_item *best = NULL;
    unsigned best_percent = min_percent;
    for (size_t i = 0; i < set->count; i++) {
        maki_text_item *e = &set->at[i];
        unsigned percent = e->key != other->key && e->kind >= min_kind
                               ? overlap_percent(e, other, min_percent)
                               : 0;
        if (percent < best_percent) continue;
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

/* A decision overrides older ones on the same question, but the model's do not override the user's.  One that says
 * only "no, the other one" overrides the user's newest decision. */
static void override_older(maki_digest *d, const maki_text_item *newest, bool change)
{
    enum { SHORT_TERMS = 3, CHANGE_PERCENT = 50, POINT_PERCENT = 50, SAME_PERCENT = 67 };
    maki_text_item *best =
        find_similar(&d->decisions, newest, change ? CHANGE_PERCENT : SAME_PERCENT, newest->kind);
    maki_text_item *point = find_similar(&d->points, newest, POINT_PERCENT, newest->kind);
    if (point && (!best || best->state == MAKI_DECISION_LATEST))
        point->state = MAKI_DECISION_OVERRIDDEN;
    bool without_subject = !best && !point && change &&
                           maki_term_bitmap_shared(&newest->terms, &newest->terms) <= SHORT_TERMS;
    if (without_subject) best = newest_user_decision(&d->decisions, newest, d->messages);
    if (!best) return;
    best->state = MAKI_DECISION_OVERRIDDEN;
    best->weight = 1;
}

bool maki_digest_is_decided(maki_digest *d, maki_str text)
{
    maki_text_item item = { .terms = subject_of(d, text) };
    return find_similar(&d->decisions, &item, 60, MAKI_BY_USER) != NULL;
}

void maki_digest_mark_overridden(maki_digest *d, maki_str text)
{
    maki_text_item item = { .terms = subject_of(d, text) };
    override_older(d, &item, true);
}

void maki_digest_add_decision(maki_digest *d, maki_str text, uint8_t by, uint32_t weight,
                              bool change)
{
    maki_text_item *item =
        maki_text_set_add(&d->decisions, maki_digest_sentence_key(text), text, weight, d->messages);
    bool known = item->count > 1 && item->state == MAKI_DECISION_LATEST;
    if (item->count == 1 || by == MAKI_BY_USER) item->kind = by;
    item->state = MAKI_DECISION_LATEST;
    item->counters[0] = ++d->sequence;
    item->terms = subject_of(d, maki_text_item_text(item));
    if (!known) override_older(d, item, change);
}

void maki_digest_add_earlier_decision(maki_digest *d, maki_str text, bool overridden)
{
    maki_text_item *item = maki_text_set_add(&d->decisions, maki_digest_sentence_key(text), text,
                                             overridden ? 1 : MAKI_WEIGHT_ALWAYS + 1, d->messages);
    item->state = overridden ? MAKI_DECISION_OVERRIDDEN : MAKI_DECISION_LATEST;
    item->counters[0] = ++d->sequence;
    item->terms = subject_of(d, maki_text_item_text(item));
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
    item->terms = subject_of(d, text);
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
