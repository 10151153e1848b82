/* model.c -- the slow model of a conversation: its events, its views message by message, and its checks (model.h). */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"

/* ---- the pool ---------------------------------------------------------------------------------- */

static struct {
    char *bytes;
    size_t used;
} pool;
enum { POOL_BYTES = 64 << 20 };

void *model_pool_get(size_t n)
{
    if (!pool.bytes) pool.bytes = malloc(POOL_BYTES);
    n = (n + 15) & ~(size_t)15;
    if (!pool.bytes || pool.used + n > POOL_BYTES) {
        fprintf(stderr, "the model's pool is full\n");
        abort();
    }
    void *p = pool.bytes + pool.used;
    pool.used += n;
    return p;
}

maki_str model_pool_copy(maki_str text)
{
    char *copy = model_pool_get(text.len + 1);
    memcpy(copy, text.ptr, text.len);
    return (maki_str){ copy, text.len };
}

void model_pool_clear(void)
{
    pool.used = 0;
}

/* ---- rows and events ----------------------------------------------------------------------------- */

uint64_t model_last(const model *m)
{
    return m->base + m->row_count;
}

const model_row *model_row_at(const model *m, uint64_t seq)
{
    while (m && seq <= m->base)
        m = m->parent;
    if (!m || seq == 0 || seq > m->base + m->row_count) return NULL;
    return m->rows[seq - m->base - 1];
}

static uint64_t number_of(maki_str object, const char *name)
{
    maki_str value;
    return maki_json_get(object, maki_str_of(name), &value) ? (uint64_t)maki_json_double(value) : 0;
}

static model_type type_of(maki_str event)
{
    static const struct {
        const char *name;
        model_type type;
    } names[] = { { "condense", MODEL_HIDING }, { "truncate", MODEL_HIDING },
                  { "trim", MODEL_TRIM },       { "prune", MODEL_PRUNE },
                  { "pin", MODEL_PIN },         { "unpin", MODEL_UNPIN },
                  { "rewind", MODEL_REWIND },   { "undo", MODEL_UNDO },
                  { "fork", MODEL_FORK } };
    maki_str type;
    if (!maki_json_get(event, MAKI_LIT("type"), &type)) return MODEL_OTHER;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (maki_json_text_is(type, maki_str_of(names[i].name))) return names[i].type;
    }
    return MODEL_OTHER;
}

static void take_trim(model_event *e)
{
    e->trims = model_pool_get(sizeof *e->trims);
    e->trim_count = 1;
    e->trims[0] = (model_trim){
        .seq = e->seq, .block = e->block, .tokens = e->tokens, .head = e->head, .tail = e->tail
    };
}

/* [[seq, block, part, tokens, from, to, "text" ...] ...] */
static void take_edits(model_event *e, maki_str edits)
{
    maki_json_item edit, part;
    maki_json_iter all = maki_json_items(edits);
    e->trims = model_pool_get(maki_json_count(edits) * sizeof *e->trims);
    while (maki_json_next(&all, &edit)) {
        model_trim *trim = &e->trims[e->trim_count++];
        *trim = (model_trim){ .prune = true };
        uint64_t *const fields[] = { &trim->seq, &trim->block, &trim->part, &trim->tokens };
        maki_json_iter parts = maki_json_items(edit.value);
        for (size_t i = 0; maki_json_next(&parts, &part); i++) {
            if (i < 4)
                *fields[i] = (uint64_t)maki_json_double(part.value);
            else if (trim->cut_count < sizeof trim->cuts / sizeof trim->cuts[0])
                trim->cuts[trim->cut_count++] = part.value;
        }
    }
}

bool model_take_event(model *m, maki_str row)
{
    maki_str event, edits;
    row = model_pool_copy(row);
    if (maki_json_check(row, &event, NULL) != MAKI_OK || m->event_count == MODEL_EVENTS)
        return false;
    model_event *e = model_pool_get(sizeof *e);
    *e = (model_event){ .type = type_of(event),
                        .of = m,
                        .ev = number_of(event, "ev"),
                        .at = number_of(event, "at"),
                        .ts = number_of(event, "ts"),
                        .before = number_of(event, "before"),
                        .tokens = number_of(event, "tokens"),
                        .seq = number_of(event, "seq"),
                        .block = number_of(event, "block"),
                        .head = number_of(event, "headUnits"),
                        .tail = number_of(event, "tailUnits"),
                        .to = number_of(event, "to"),
                        .to_ev = number_of(event, "toEv"),
                        .with = number_of(event, "with"),
                        .target = number_of(event, "target") };
    maki_json_get(event, MAKI_LIT("message"), &e->message);
    maki_json_get(event, MAKI_LIT("hidden"), &e->hidden);
    maki_json_get(event, MAKI_LIT("hiddenEvents"), &e->hidden_events);
    maki_json_get(event, MAKI_LIT("hiddenAbove"), &e->hidden_above);
    if (e->type == MODEL_FORK) e->at = m->base;
    if (e->type == MODEL_TRIM) take_trim(e);
    if (e->type == MODEL_PRUNE && maki_json_get(event, MAKI_LIT("edits"), &edits))
        take_edits(e, edits);
    maki_str of;
    uint64_t last = number_of(event, "last");
    bool record = maki_json_get(event, MAKI_LIT("of"), &of) &&
                  maki_json_text_is(of, MAKI_LIT("manage")) && number_of(event, "first") > 0;
    for (uint64_t ev = number_of(event, "first"); record && ev <= last && ev < e->ev; ev++) {
        m->events[ev - 1]->run = number_of(event, "first");
        m->events[ev - 1]->run_to = last;
    }
    m->events[m->event_count++] = e;
    return e->ev == m->event_count && e->at == model_last(m);
}

uint64_t model_event_at(const model *m, uint64_t seq)
{
    uint64_t ev = 0;
    for (size_t i = 0; i < m->event_count; i++) {
        if (m->events[i]->at <= seq) ev = m->events[i]->ev;
    }
    return ev;
}

/* An event counts unless a later one that counts undid it or rewound past it. */
static void count_events(const model *m, uint64_t now, bool counts[MODEL_EVENTS])
{
    for (size_t i = m->event_count; i > 0; i--) {
        const model_event *e = m->events[i - 1];
        counts[i - 1] = e->ev <= now;
        for (size_t k = i; counts[i - 1] && k < m->event_count; k++) {
            const model_event *later = m->events[k];
            if (!counts[k]) continue;
            bool frees = e->type == MODEL_HIDING || e->type == MODEL_TRIM || e->type == MODEL_PRUNE;
            bool run = later->to && frees && later->target <= e->ev && e->ev <= later->to;
            bool it = later->to ? run : later->target == e->ev;
            if (later->type == MODEL_UNDO && it) counts[i - 1] = false;
            if (later->type == MODEL_REWIND && later->to_ev < e->ev) counts[i - 1] = false;
        }
    }
}

bool model_counts(const model *m, uint64_t ev, uint64_t now)
{
    bool counts[MODEL_EVENTS];
    count_events(m, now, counts);
    return ev >= 1 && ev <= m->event_count && counts[ev - 1];
}

/* ---- the view -------------------------------------------------------------------------------------- */

/* Is it the message of an edit that was undone, or a result of its calls? */
static bool of_undone_edit(const model *m, const model_row *row, uint64_t now, const bool *counts)
{
    for (size_t i = 0; i < m->event_count; i++) {
        const model_event *e = m->events[i];
        if (e->type != MODEL_REWIND || !e->with || e->ev > now || counts[i]) continue;
        if (row->seq == e->with) return true;
        const model_row *with = model_row_at(m, e->with);
        bool mine = with && row->answers && with->calls && row->answer >= with->call &&
                    row->answer < with->call + with->calls;
        for (uint64_t s = e->with + 1; mine && s < row->seq; s++) {
            const model_row *between = model_row_at(m, s); /* right after it, no gap */
            mine = between && between->answers && between->answer >= with->call &&
                   between->answer < with->call + with->calls;
        }
        if (mine) return true;
    }
    return false;
}

static bool left_out(const model *m, uint64_t seq, const bool *counts)
{
    for (size_t i = 0; i < m->event_count; i++) {
        const model_event *e = m->events[i];
        if (e->type == MODEL_REWIND && counts[i] && seq > e->to && seq <= e->at) return true;
    }
    return false;
}

static bool in_spans(maki_str spans, uint64_t seq)
{
    maki_json_item span, end;
    if (!spans.len) return false;
    maki_json_iter all = maki_json_items(spans);
    while (maki_json_next(&all, &span)) {
        double ends[2] = { 0, 0 };
        maki_json_iter two = maki_json_items(span.value);
        for (int i = 0; i < 2 && maki_json_next(&two, &end); i++)
            ends[i] = maki_json_double(end.value);
        if ((double)seq >= ends[0] && (double)seq <= ends[1]) return true;
    }
    return false;
}

/* "hiddenEvents" has events of the same log, "hiddenAbove" pairs: how many forks up, and the event. */
static bool in_events(const model *m, const model_event *e, const model_event *synthetic)
{
    maki_json_item entry, part;
    uint64_t up = 0;
    for (const model *at = m; at != synthetic->of; at = at->parent)
        up++;
    maki_str list = up ? e->hidden_above : e->hidden_events;
    if (!list.len) return false;
    maki_json_iter all = maki_json_items(list);
    while (maki_json_next(&all, &entry)) {
        double pair[2] = { 0, 0 };
        maki_json_iter two = maki_json_items(entry.value);
        for (int i = 0; up && i < 2 && maki_json_next(&two, &part); i++)
            pair[i] = maki_json_double(part.value);
        if (!up) pair[1] = maki_json_double(entry.value);
        if (pair[0] == (double)up && pair[1] == (double)synthetic->ev) return true;
    }
    return false;
}

static void remove_item(model_view *view, size_t at)
{
    view->count--;
    memmove(view->items + at, view->items + at + 1, (view->count - at) * sizeof view->items[0]);
}

static void apply_hiding(const model *m, const model_event *e, model_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const model_item *item = &view->items[i];
        bool gone = item->row ? in_spans(e->hidden, item->row->seq) : in_events(m, e, item->event);
        if (gone) remove_item(view, i--);
    }
    if (!e->message.len) return;
    size_t at = 0;
    while (at < view->count && (view->items[at].row ? view->items[at].row->seq < e->before
                                                    : view->items[at].event->before <= e->before)) {
        at++;
    }
    memmove(view->items + at + 1, view->items + at, (view->count - at) * sizeof view->items[0]);
    view->items[at] = (model_item){ .event = e };
    view->count++;
}

/* Of several trims of one text the last is effective. */
static void put_trim(const model_trim *trim, model_view *view)
{
    for (size_t i = 0; i < view->trim_count; i++) {
        const model_trim *old = view->trims[i];
        if (old->seq != trim->seq || old->block != trim->block || old->part != trim->part) continue;
        view->trims[i] = trim;
        return;
    }
    if (view->trim_count < MODEL_TRIMS) view->trims[view->trim_count++] = trim;
}

static void apply_pin(const model_event *e, model_view *view)
{
    size_t n = 0;
    for (size_t i = 0; i < view->pin_count; i++) {
        if (view->pins[i] != e->seq) view->pins[n++] = view->pins[i];
    }
    if (e->type == MODEL_PIN) view->pins[n++] = e->seq;
    view->pin_count = n;
}

static void see(const model *m, uint64_t seq, uint64_t ev, bool hiding, model_view *out)
{
    bool counts[MODEL_EVENTS];
    count_events(m, ev, counts);
    out->count = out->trim_count = out->pin_count = 0;
    if (m->parent) {
        uint64_t until = seq; /* of the parent's messages */
        for (size_t i = 0; i < m->event_count; i++) {
            const model_event *e = m->events[i];
            if (e->type == MODEL_REWIND && counts[i] && e->to < until) until = e->to;
        }
        /* before the fork, it is a view of the parent at that message */
        uint64_t parent_ev = m->fork_ev;
        if (until >= m->base)
            until = m->base;
        else if (model_event_at(m->parent, until) < parent_ev)
            parent_ev = model_event_at(m->parent, until);
        see(m->parent, until, parent_ev, hiding, out);
    }
    for (uint64_t s = m->base + 1; s <= seq && s <= model_last(m); s++) {
        const model_row *row = model_row_at(m, s);
        if (left_out(m, s, counts) || of_undone_edit(m, row, ev, counts)) continue;
        out->items[out->count++] = (model_item){ .row = row };
    }
    for (size_t i = 0; i < m->event_count; i++) {
        const model_event *e = m->events[i];
        if (!counts[i]) continue;
        if (e->type == MODEL_HIDING && hiding) apply_hiding(m, e, out);
        for (size_t t = 0; t < e->trim_count; t++)
            put_trim(&e->trims[t], out);
        if (e->type == MODEL_PIN || e->type == MODEL_UNPIN) apply_pin(e, out);
    }
}

void model_see(const model *m, uint64_t seq, uint64_t ev, bool hiding, model_view *out)
{
    if (ev == UINT64_MAX && seq < model_last(m)) ev = model_event_at(m, seq);
    see(m, seq < model_last(m) ? seq : model_last(m), ev, hiding, out);
}

void model_untouched(const model *m, model_view *out)
{
    static const bool none[MODEL_EVENTS];
    out->count = out->trim_count = out->pin_count = 0;
    if (m->parent) see(m->parent, m->base, m->fork_ev, true, out);
    for (uint64_t s = m->base + 1; s <= model_last(m); s++) {
        const model_row *row = model_row_at(m, s);
        if (of_undone_edit(m, row, UINT64_MAX, none)) continue;
        out->items[out->count++] = (model_item){ .row = row };
    }
}

/* ---- asking it --------------------------------------------------------------------------------------- */

bool model_has(const model_view *view, uint64_t seq)
{
    for (size_t i = 0; i < view->count; i++) {
        if (view->items[i].row && view->items[i].row->seq == seq) return true;
    }
    return false;
}

bool model_pinned(const model_view *view, uint64_t seq)
{
    for (size_t i = 0; i < view->pin_count; i++) {
        if (view->pins[i] == seq) return true;
    }
    return false;
}

uint64_t model_tokens(const model_view *view)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < view->count; i++) {
        const model_row *row = view->items[i].row;
        sum += row ? row->tokens : view->items[i].event->tokens;
        for (size_t t = 0; row && t < view->trim_count; t++) {
            if (view->trims[t]->seq == row->seq) sum -= view->trims[t]->tokens;
        }
    }
    return sum;
}

/* One character of escaped text, a surrogate pair being one: its bytes, and its UTF-16 units. */
static size_t step(maki_str text, size_t at, unsigned *units)
{
    unsigned char c = (unsigned char)text.ptr[at];
    *units = 1;
    if (c == '\\' && text.ptr[at + 1] == 'u') {
        bool high = strchr("dD", text.ptr[at + 2]) && strchr("89abAB", text.ptr[at + 3]);
        if (high) *units = 2; /* the generator writes whole pairs only */
        return high ? 12 : 6;
    }
    if (c == '\\') return 2;
    if (c >= 0xF0) *units = 2;
    return c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
}

static uint64_t units_of(maki_str text)
{
    uint64_t sum = 0;
    unsigned units = 0;
    for (size_t at = 0; at < text.len; at += step(text, at, &units), sum += units) {
    }
    return sum;
}

/* Where the first character begins that `units` do not hold any more. */
static size_t head_of(maki_str text, uint64_t units)
{
    size_t at = 0;
    unsigned n = 0;
    while (at < text.len) {
        size_t len = step(text, at, &n);
        if (n > units) break;
        units -= n;
        at += len;
    }
    return at;
}

/* Where the longest end of at most `units` begins. */
static size_t tail_of(maki_str text, uint64_t units)
{
    size_t at = 0;
    unsigned n = 0;
    for (uint64_t left = units_of(text); at < text.len && left > units; left -= n)
        at += step(text, at, &n);
    return at;
}

static void join(maki_str *out, maki_str text)
{
    memcpy((char *)(uintptr_t)out->ptr + out->len, text.ptr, text.len);
    out->len += text.len;
}

/* The head and the tail, a note between them. */
static void write_ends(maki_str *out, maki_str old, const model_trim *trim)
{
    char note[120];
    uint64_t all = units_of(old);
    snprintf(note, sizeof note, "\\n\\n[... %llu of %llu characters trimmed ...]\\n\\n",
             (unsigned long long)(all - trim->head - trim->tail), (unsigned long long)all);
    join(out, maki_str_prefix(old, head_of(old, trim->head)));
    join(out, maki_str_of(note));
    join(out, maki_str_skip(old, tail_of(old, trim->tail)));
}

static void write_cuts(maki_str *out, maki_str old, const model_trim *trim)
{
    size_t done = 0;
    uint64_t all = units_of(old);
    for (size_t i = 0; i + 2 < trim->cut_count; i += 3) {
        uint64_t from = (uint64_t)maki_json_double(trim->cuts[i]);
        uint64_t to = (uint64_t)maki_json_double(trim->cuts[i + 1]);
        maki_str text = trim->cuts[i + 2];
        size_t at = head_of(old, from);
        if (at < done) continue; /* it begins inside a pair that the last one took whole */
        join(out, (maki_str){ old.ptr + done, at - done });
        join(out, (maki_str){ text.ptr + 1, text.len - 2 });
        done = tail_of(old, all - to);
    }
    join(out, maki_str_skip(old, done));
}

static void write_shorter(maki_str *out, const model_text *text, maki_str old,
                          const model_trim *trim)
{
    if (!trim->prune) {
        write_ends(out, old, trim);
    } else if (!text->whole) {
        write_cuts(out, old, trim);
    } else {
        join(out, MAKI_LIT("{\"type\":\"text\",\"text\":"));
        join(out, trim->cuts[2]);
        join(out, MAKI_LIT("}"));
    }
}

maki_str model_json(const model_view *view, size_t item)
{
    const model_row *row = view->items[item].row;
    if (!row) return view->items[item].event->message;
    maki_str out = { NULL, 0 };
    size_t done = 0;
    for (size_t k = 0; k < row->text_count; k++) { /* in the order of the bytes */
        const model_text *text = &row->texts[k];
        for (size_t t = 0; t < view->trim_count; t++) {
            const model_trim *trim = view->trims[t];
            bool this_one = trim->seq == row->seq && trim->block == text->block &&
                            trim->part == text->part && !(trim->prune && trim->cut_count == 0);
            if (!this_one) continue;
            if (!out.ptr) out.ptr = model_pool_get(2 * row->json.len + 4096);
            join(&out, (maki_str){ row->json.ptr + done, text->at - done });
            write_shorter(&out, text, (maki_str){ row->json.ptr + text->at, text->len }, trim);
            done = text->at + text->len;
        }
    }
    if (!out.ptr) return row->json;
    join(&out, maki_str_skip(row->json, done));
    return out;
}

/* ---- is it a view that a provider would take? ----------------------------------------------------------- */

static bool answers_one_of(const model_row *row, const model_row *call)
{
    return row->answers && row->answer >= call->call && row->answer < call->call + call->calls;
}

bool model_misplaced(const model_view *view, size_t i)
{
    const model_row *row = view->items[i].row;
    if (!row) return false;
    if (row->answers) {
        size_t k = i;
        while (k > 0 && view->items[k - 1].row && view->items[k - 1].row->answers)
            k--;
        const model_row *call = k > 0 ? view->items[k - 1].row : NULL;
        return !call || !answers_one_of(row, call);
    }
    if (!row->calls) return false;
    unsigned answered = 0;
    size_t k = i + 1;
    for (; k < view->count; k++) {
        const model_row *next = view->items[k].row;
        if (!next || !answers_one_of(next, row)) break;
        answered += next->answers;
    }
    return answered < row->calls && k < view->count;
}

unsigned model_pending(const model_view *view, unsigned *first)
{
    size_t k = view->count;
    unsigned answered = 0;
    while (k > 0 && view->items[k - 1].row && view->items[k - 1].row->answers) {
        answered += view->items[--k].row->answers;
    }
    const model_row *call = k > 0 ? view->items[k - 1].row : NULL;
    if (!call || answered >= call->calls) return 0;
    *first = call->call + answered;
    return call->calls - answered;
}

const char *model_broken(const model_view *view, const model_view *rows)
{
    bool first = true;
    for (size_t i = 0; i < rows->count; i++) {
        const model_row *row = rows->items[i].row;
        bool there = model_has(view, row->seq);
        if (row->system && !there) return "a system message is hidden";
        if (model_pinned(rows, row->seq) && !there) return "a pinned message is hidden";
        if (!row->system && first) {
            first = false;
            if (!there) return "the first message is hidden";
        }
    }
    /* What a rewind itself left broken (a call that nobody ever answered) is not the hiding's fault. */
    for (size_t i = 0; i < view->count; i++) {
        if (!model_misplaced(view, i)) continue;
        for (size_t k = 0; k < rows->count; k++) {
            if (rows->items[k].row == view->items[i].row && !model_misplaced(rows, k)) {
                return "a tool call and its result were parted";
            }
        }
    }
    return NULL;
}
