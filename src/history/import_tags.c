/* import_tags.c -- convert roo's tags on messages to condense and truncate events.
 *
 * In:    the messages of an array in order, and its UI messages.
 * Out:   rows without tags; an event for each summary and marker, in the order of the array; tags that name nothing as
 *        `orphans` in the note of the import.
 *
 * One pass: a tag is recorded as (id, span of rows) until the event of the summary or marker of that id is written with
 * all spans recorded so far.  Spans tagged after that get a second event at the end.  A summary that is itself tagged is
 * recorded by the number of its event.
 *
 * In the array a summary comes before the messages that it left visible, though it was made after them.  Its UI message
 * has the time: until then the summary is queued, and so are those after it in the array.  So undoing the newest event
 * restores the view before it, and a view of an earlier revision shows the messages. */
#include "base/id_map.h"
#include "base/json_access.h"
#include "history/import_internal.h"

enum { CONDENSE, TRUNCATE };

static const struct {
    const char *type, *id_field, *tag_field, *ui_type,
        *ui_field; /* the last two: of its UI message */
} kinds[] = { { "condense", "condenseId", "condenseParent", "condense_context", "contextCondense" },
              { "truncate", "truncationId", "truncationParent", "sliding_window_truncation",
                "contextTruncation" } };

/* The rows and events that are tagged with one id and not written yet. */
typedef struct tagged_set {
    maki_str id;
    bool present; /* the event of its summary or marker is written */
    double since; /* the time it took effect; 0: unknown so far */
    maki_span64 *spans;
    size_t count, capacity;
    uint64_t *evs;
    size_t ev_count, ev_capacity;
} tagged_set;

/* The tags and flags of a message.  As in roo, only strings that are not empty count. */
typedef struct tagged {
    maki_str tag[2]; /* the parents' ids; len 0: none */
    maki_str id[2];  /* of a summary, of a marker */
    bool flag[2];
} tagged;

/* A summary or marker that has not taken effect yet. */
typedef struct queued {
    tagged t;
    maki_str object;
    uint64_t before; /* the row before which it is inserted */
} queued;

struct maki_tags {
    struct {
        maki_id_map ids; /* of the ids, the indexes in list */
        tagged_set *list;
        size_t count, capacity;
    } of[2];
    queued *queue;
    size_t written, count, capacity; /* of the queue */
};

maki_status maki_tags_open(maki_importer *im, maki_err *err)
{
    im->tags = maki_arena_get(&im->arena, sizeof *im->tags);
    return maki_arena_status(&im->arena, err);
}

static maki_status find_or_add_set(maki_tags *tags, int kind, maki_str id, maki_arena *arena,
                                   tagged_set **out, maki_err *err)
{
    size_t i = 0;
    if (!maki_id_map_find(&tags->of[kind].ids, id, &i)) {
        tagged_set *list = maki_arena_grow(arena, tags->of[kind].list, tags->of[kind].count,
                                           &tags->of[kind].capacity, sizeof *list);
        if (!list) return maki_arena_status(arena, err);
        tags->of[kind].list = list;
        i = tags->of[kind].count++;
        list[i] = (tagged_set){ .id = maki_arena_copy(arena, id) };
        maki_status st = maki_arena_status(arena, err);
        if (st == MAKI_OK) st = maki_id_map_add(&tags->of[kind].ids, list[i].id, i, arena, err);
        if (st != MAKI_OK) return st;
    }
    *out = &tags->of[kind].list[i];
    return MAKI_OK;
}

static maki_status add_row(tagged_set *n, uint64_t seq, maki_arena *arena, maki_err *err)
{
    if (n->count && n->spans[n->count - 1].to + 1 == seq) {
        n->spans[n->count - 1].to = seq;
        return MAKI_OK;
    }
    maki_span64 one = { seq, seq };
    return maki_arena_add(arena, &n->spans, &n->count, &n->capacity, &one, sizeof one, err);
}

/* ---- one message ---------------------------------------------------------------------------------------- */

static bool is_tag(maki_json_item item, int kind)
{
    return item.value.ptr[0] == '"' && item.value.len > 2 &&
           maki_json_key_is(item.key, maki_str_of(kinds[kind].tag_field));
}

static void read_tags(maki_str object, tagged *t)
{
    *t = (tagged){ 0 };
    MAKI_JSON_EACH(item, maki_json_items(object)) {
        bool string = item.value.ptr[0] == '"' && item.value.len > 2;
        for (int k = 0; k < 2; k++) {
            if (is_tag(item, k)) t->tag[k] = item.value;
            if (string && maki_json_key_is(item.key, maki_str_of(kinds[k].id_field))) {
                t->id[k] = item.value;
            }
        }
        if (maki_json_key_is(item.key, MAKI_LIT("isSummary")))
            t->flag[0] = maki_json_true(item.value);
        if (maki_json_key_is(item.key, MAKI_LIT("isTruncationMarker"))) {
            t->flag[1] = maki_json_true(item.value);
        }
    }
}

/* Write the message without its tags; all other bytes are kept. */
static void write_without_tags(maki_str object, maki_jw *w)
{
    const char *end = object.ptr + 1; /* of the item before */
    bool kept = false, first = true;
    MAKI_JSON_EACH(item, maki_json_items(object)) {
        const char *value_end = item.value.ptr + item.value.len;
        if (first) maki_jw_bytes(w, (maki_str){ object.ptr, (size_t)(item.start - object.ptr) });
        first = false;
        if (!is_tag(item, CONDENSE) && !is_tag(item, TRUNCATE)) {
            const char *from = kept ? end : item.start;
            maki_jw_bytes(w, (maki_str){ from, (size_t)(value_end - from) });
            kept = true;
        }
        end = value_end;
    }
    maki_jw_bytes(w, (maki_str){ end, (size_t)(object.ptr + object.len - end) });
}

/* ---- events ------------------------------------------------------------------------------------------------ */

static void write_evs(maki_jw *w, const char *name, const tagged_set *n)
{
    maki_jw_field_array(w, name);
    for (size_t i = 0; i < n->ev_count; i++)
        maki_jw_int(w, (int64_t)n->evs[i]);
    maki_jw_end_array(w);
}

static uint64_t rows_of(const tagged_set *n)
{
    uint64_t rows = 0;
    for (size_t i = 0; i < n->count; i++)
        rows += n->spans[i].to - n->spans[i].from + 1;
    return rows;
}

/* Write the event of an id: with its message, inserted before row `before`; without one for spans that were tagged after
 * the first event. */
static maki_status write_event(maki_importer *im, int kind, tagged_set *n, maki_str message,
                               uint64_t before, maki_err *err)
{
    maki_jw *w = maki_draft_begin(&im->fields);
    maki_jw_print(w, "'id':%v,'hidden':", n->id);
    maki_import_spans(w, n->spans, n->count);
    write_evs(w, "hiddenEvents", n);
    maki_jw_field_count(w, "messages", rows_of(n));
    if (message.len) {
        maki_jw_field_count(w, "before", before);
        maki_status st = maki_import_tokens(im, message, err);
        if (st != MAKI_OK) return st;
    }
    maki_jw_print(w, "'message':%v,'imported':true", message);
    if (n->since > 0) maki_jw_print(w, "'since':%f", n->since);
    n->present = true;
    n->count = n->ev_count = 0;
    return maki_import_event(im, kinds[kind].type, err);
}

/* Write the event of a summary or marker.  One that is both gets an event for each id, but its message only in one. */
static maki_status write_synthetic(maki_importer *im, const queued *synthetic, maki_err *err)
{
    maki_tags *tags = im->tags;
    const tagged *t = &synthetic->t;
    maki_str object = synthetic->object;
    maki_status st = MAKI_OK;
    uint64_t ev = 0;
    for (int k = 0; st == MAKI_OK && k < 2; k++) {
        tagged_set *n = NULL;
        if (!t->flag[k] || t->id[k].len == 0) continue;
        st = find_or_add_set(tags, k, t->id[k], &im->arena, &n, err);
        if (st == MAKI_OK)
            st = write_event(im, k, n, ev ? (maki_str){ 0 } : object, synthetic->before, err);
        if (ev == 0) ev = im->now.ev;
    }
    for (int k = 0; st == MAKI_OK && k < 2; k++) {
        tagged_set *n = NULL;
        if (t->tag[k].len == 0) continue;
        st = find_or_add_set(tags, k, t->tag[k], &im->arena, &n, err);
        if (st == MAKI_OK)
            st = maki_arena_add(&im->arena, &n->evs, &n->ev_count, &n->ev_capacity, &ev, sizeof ev,
                                err);
    }
    return st;
}

/* Write the events of the queue up to index `count`. */
static maki_status write_queue(maki_importer *im, size_t count, maki_err *err)
{
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && im->tags->written < count)
        st = write_synthetic(im, &im->tags->queue[im->tags->written++], err);
    return st;
}

/* Write the event of a summary or marker now, or queue it when UI messages that may have its time are pending. */
static maki_status add_synthetic(maki_importer *im, const tagged *t, maki_str object, maki_err *err)
{
    maki_tags *tags = im->tags;
    queued synthetic = { .t = *t, .object = object, .before = im->now.seq + 1 };
    bool effective = im->ui_next.len == 0;
    for (int k = 0; k < 2; k++) {
        size_t i = 0;
        effective |= t->flag[k] && maki_id_map_find(&tags->of[k].ids, t->id[k], &i) &&
                     tags->of[k].list[i].since > 0;
    }
    if (effective) {
        maki_status st = write_queue(im, tags->count, err);
        return st == MAKI_OK ? write_synthetic(im, &synthetic, err) : st;
    }
    synthetic.object = maki_arena_copy(&im->arena, object);
    for (int k = 0; k < 2; k++) {
        synthetic.t.id[k] = maki_arena_copy(&im->arena, t->id[k]);
        synthetic.t.tag[k] = maki_arena_copy(&im->arena, t->tag[k]);
    }
    maki_status st = maki_arena_status(&im->arena, err);
    if (st != MAKI_OK) return st;
    return maki_arena_add(&im->arena, &tags->queue, &tags->count, &tags->capacity, &synthetic,
                          sizeof synthetic, err);
}

maki_status maki_tags_ui(maki_importer *im, maki_str ui, maki_err *err)
{
    maki_tags *tags = im->tags;
    maki_str id;
    maki_status st = MAKI_OK;
    if (!ui.len) return write_queue(im, tags->count, err);
    for (int k = 0; st == MAKI_OK && k < 2; k++) {
        tagged_set *n = NULL;
        bool matches =
            maki_json_field_is(ui, "say", kinds[k].ui_type) &&
            maki_import_id(maki_json_field(ui, kinds[k].ui_field), kinds[k].id_field, &id);
        if (!matches) continue;
        st = find_or_add_set(tags, k, id, &im->arena, &n, err);
        if (st == MAKI_OK && !n->present) n->since = maki_json_number_field(ui, "ts");
        for (size_t i = tags->written; st == MAKI_OK && i < tags->count; i++) {
            const tagged *t = &tags->queue[i].t;
            if (t->flag[k] && maki_json_same_text(t->id[k], id)) st = write_queue(im, i + 1, err);
        }
    }
    return st;
}

maki_status maki_tags_row(maki_importer *im, maki_str object, maki_err *err)
{
    maki_tags *tags = im->tags;
    tagged t;
    maki_str role;
    bool added = false;
    read_tags(object, &t);
    bool any = t.tag[0].len || t.tag[1].len;
    bool event = (t.flag[0] && t.id[0].len) || (t.flag[1] && t.id[1].len);
    if (any || event) im->report->format = maki_import_roo.name;
    if (any) {
        write_without_tags(object, maki_draft_begin(&im->row));
        maki_status st = maki_draft_end(&im->row, &object, err);
        if (st != MAKI_OK) return st;
    }
    if (event && maki_import_id(object, "role", &role)) {
        return add_synthetic(im, &t, object, err);
    }
    double ts = maki_json_number_field(object, "ts");
    maki_status st = ts > 0 ? maki_import_ui(im, ts, err) : MAKI_OK;
    if (st == MAKI_OK) st = maki_import_row(im, object, &added, err);
    for (int k = 0; st == MAKI_OK && added && k < 2; k++) {
        tagged_set *n = NULL;
        if (t.tag[k].len == 0) continue;
        st = find_or_add_set(tags, k, t.tag[k], &im->arena, &n, err);
        if (st == MAKI_OK) st = add_row(n, im->now.seq, &im->arena, err);
    }
    return st;
}

maki_status maki_tags_end(maki_importer *im, maki_err *err)
{
    maki_tags *tags = im->tags;
    maki_jw *w = &im->notes.w;
    maki_status st = MAKI_OK;
    bool any = false;
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; st == MAKI_OK && i < tags->of[k].count; i++) {
            tagged_set *n = &tags->of[k].list[i];
            if (n->count == 0 && n->ev_count == 0) continue;
            if (n->present) {
                st = write_event(im, k, n, (maki_str){ 0 }, 0, err);
                continue;
            }
            if (!any) maki_jw_field_array(w, "orphans");
            any = true;
            maki_jw_print(w, "{'tag':%z,'id':%v,'rows':", kinds[k].tag_field, n->id);
            maki_import_spans(w, n->spans, n->count);
            write_evs(w, "events", n);
            maki_jw_end_object(w);
        }
    }
    if (any) maki_jw_end_array(w);
    return st;
}
