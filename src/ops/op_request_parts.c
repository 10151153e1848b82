/* op_request_parts.c -- session.request: what one recorded request consisted of.
 *
 * In:    a conversation, opened read-only, and the number of the request's manifest.
 * Out:   its parts with their tokens, the messages that changed since the request before, its outcome; with `body` the
 *        request rebuilt from the log.
 * The messages: the spans that a manifest of the proxy has; a turn of Maki sent the view of that revision. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "assemble/request.h"
#include "base/err.h"
#include "base/files.h"
#include "base/json_print.h"
#include "base/spool.h"
#include "base/str_util.h"
#include "history/facts.h"
#include "ops/exchange_list.h"
#include "ops/op_common.h"
#include "ops/operation.h"
#include "store/context_use.h"
#include "token/family.h"
#include "token/tool_list.h"

enum { ROW_MAX = 64 << 20, BLOB_MAX = 64 << 20, SYSTEM_TEXTS = 64, SHA_MAX = 65 };

/* ---- the events ------------------------------------------------------------------------------------------------- */

/* The system prompt and the tools in effect, as events `system` name them. */
typedef struct system_state {
    char sha[SHA_MAX], tools[SHA_MAX]; /* "": none */
} system_state;

typedef struct recorded_request {
    maki_exchange_facts facts;
    uint64_t offset, len; /* of its manifest in the events file */
    system_state system;
} recorded_request;

typedef struct request_reader {
    uint64_t wanted; /* MAKI_NEWEST: the newest */
    system_state system;
    recorded_request request, before; /* facts.ev 0: none */
    maki_str error;                   /* the words of the provider or the network, in the arena */
    maki_arena *arena;
} request_reader;

static void read_system(request_reader *r, maki_str event)
{
    maki_json_text_field(event, "sha", r->system.sha, SHA_MAX);
    maki_json_text_field(event, "tools", r->system.tools, SHA_MAX);
}

/* Only the manifests are parsed here, besides the few events `system`; the wanted one is read again in full. */
static maki_status read_event(void *ctx, uint64_t ev, maki_str row, uint64_t offset, maki_err *err)
{
    request_reader *r = ctx;
    maki_event_head head;
    maki_str event;
    (void)err;
    if (!maki_event_head_of(row, &head)) return MAKI_OK;
    bool begins = maki_exchange_begins(row, &head);
    bool usage = maki_str_equal(head.type, MAKI_LIT("usage"));
    bool error = maki_str_equal(head.type, MAKI_LIT("provider_error"));
    bool system = maki_str_equal(head.type, MAKI_LIT("system"));
    if (begins && ev > r->wanted) return MAKI_CANCELLED;
    if (begins) {
        r->before = r->request;
        r->request = (recorded_request){ .offset = offset, .len = row.len, .system = r->system };
        r->request.facts = (maki_exchange_facts){ .ev = ev, .at = head.at, .ts = head.ts };
        r->error = MAKI_LIT("");
        return MAKI_OK;
    }
    if ((!usage && !error && !system) || maki_json_check(row, &event, NULL) != MAKI_OK)
        return MAKI_OK;
    if (system) read_system(r, event);
    if (usage && !r->request.facts.usage.known)
        maki_exchange_read_usage(event, &r->request.facts.usage);
    if (error) r->error = maki_arena_copy(r->arena, maki_json_string(event, "message"));
    return MAKI_OK;
}

/* Read the manifest of a request in full; *event is in the arena. */
static maki_status read_manifest(maki_log *log, recorded_request *request, maki_arena *arena,
                                 maki_str *event, maki_err *err)
{
    maki_exchange_usage usage = request->facts.usage;
    maki_event_head head;
    maki_buf row = maki_buf_new(maki_log_env(log)->alloc, ROW_MAX);
    maki_status st = maki_log_event_bytes(log, request->offset, request->len, &row, err);
    if (st == MAKI_OK) *event = maki_arena_copy(arena, maki_buf_str(&row));
    maki_buf_free(&row);
    if (st == MAKI_OK) st = maki_arena_status(arena, err);
    if (st == MAKI_OK) st = maki_json_check(*event, event, err);
    if (st != MAKI_OK || !maki_event_head_of(*event, &head)) return st;
    maki_exchange_read_manifest(*event, &head, &request->facts);
    request->facts.usage = usage;
    return MAKI_OK;
}

/* ---- the messages of a request ------------------------------------------------------------------------------------ */

/* Messages [from, to] of the log as items with their logs. */
static maki_status add_span(maki_conv *conv, maki_view *sent, maki_span64 span, maki_arena *arena,
                            maki_err *err)
{
    const maki_view *all;
    maki_status st = maki_conv_all_messages(conv, &all, err);
    for (size_t i = 0; st == MAKI_OK && i < all->count; i++) {
        maki_view_item item = all->items[i];
        if (item.from < span.from) item.from = span.from;
        if (item.to > span.to) item.to = span.to;
        if (item.from > item.to) continue;
        st = maki_arena_add(arena, &sent->items, &sent->count, &sent->capacity, &item, sizeof item,
                            err);
    }
    return st;
}

/* The newest message that was sent: before the rows of the reply, which were written after the request began. */
static maki_status last_sent(maki_conv *conv, const maki_exchange_facts *x, uint64_t *out,
                             maki_err *err)
{
    maki_log *log = maki_conv_log(conv);
    int64_t began = x->ts - (int64_t)x->ms;
    uint64_t last = maki_log_last(log);
    maki_status st = MAKI_OK;
    *out = x->at < last ? x->at : last;
    for (uint64_t seq = *out; maki_exchange_replied(x) && seq > maki_log_base(log); seq--) {
        maki_index_record row;
        st = maki_log_row(log, seq, &row, err);
        if (st != MAKI_OK || (row.flags & MAKI_ROW_ROLE) != MAKI_ROLE_ASSISTANT) break;
        if (seq < x->at && row.ts < began) break;
        *out = seq - 1;
    }
    return st;
}

/* The messages of a request, as a view in the arena. */
static maki_status read_sent(maki_conv *conv, const maki_exchange_facts *x, maki_str event,
                             maki_arena *arena, maki_view *sent, maki_err *err)
{
    maki_str spans = maki_json_field(event, "spans");
    maki_json_item part;
    const maki_view *view;
    uint64_t seq = 0;
    *sent = (maki_view){ 0 };
    if (!spans.len) {
        maki_status st = last_sent(conv, x, &seq, err);
        if (st == MAKI_OK) st = maki_conv_view(conv, seq, x->ev - 1, &view, err);
        if (st == MAKI_OK) st = maki_view_copy(view, arena, sent, err);
        sent->pins = NULL; /* of the view made last */
        sent->pin_count = 0;
        return st;
    }
    maki_status st = MAKI_OK;
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(spans)) {
        maki_json_iter pair = maki_json_items(item.value);
        maki_span64 span = { 0 };
        if (maki_json_next(&pair, &part)) (void)maki_json_uint(part.value, &span.from);
        if (maki_json_next(&pair, &part)) (void)maki_json_uint(part.value, &span.to);
        st = add_span(conv, sent, span, arena, err);
    }
    return st;
}

/* ---- parts ---------------------------------------------------------------------------------------------------------- */

/* Tokens of parts as differences of rounded running sums, so that they add up. */
typedef struct part_sum {
    double scale, counted, total;
} part_sum;

static double next_part(part_sum *sum, double tokens)
{
    double before = sum->total;
    sum->counted += tokens;
    sum->total = maki_scaled_tokens(sum->counted, sum->scale);
    return sum->total - before;
}

static maki_status put_item(maki_jw *out, maki_conv *conv, const maki_view *sent,
                            maki_view_item item, part_sum *sum, maki_err *err)
{
    maki_view_totals total;
    maki_view single = *sent;
    single.items = &item;
    single.count = single.capacity = 1;
    maki_status st = maki_conv_total(conv, &single, &total, err);
    if (st != MAKI_OK) return st;
    double tokens = next_part(sum, (double)total.tokens);
    if (item.from) {
        maki_jw_print(out, "{'part':'messages','from':%i,'to':%i,'tokens':%f}", item.from, item.to,
                      tokens);
        return MAKI_OK;
    }
    bool summary = item.synthetic->type == MAKI_EVENT_CONDENSE;
    maki_jw_print(out, "{'part':%z,'ev':%i,'up':%I,'tokens':%f}", summary ? "summary" : "marker",
                  item.synthetic->ev, (int64_t)item.up, tokens);
    return MAKI_OK;
}

static size_t count_tools(maki_str tools)
{
    maki_tool_list list = maki_tool_list_of(tools);
    maki_tool tool;
    size_t n = 0;
    while (maki_tool_list_next(&list, &tool))
        n++;
    return n;
}

static maki_status put_parts(maki_jw *out, maki_conv *conv, const recorded_request *request,
                             const maki_view *sent, maki_str tools, double scale, maki_err *err)
{
    part_sum sum = { .scale = scale };
    const maki_exchange_facts *x = &request->facts;
    maki_status st = MAKI_OK;
    maki_jw_field_array(out, "parts");
    if (x->system > 0)
        maki_jw_print(out, "{'part':'system','tokens':%f}", next_part(&sum, x->system));
    if (x->tools > 0)
        maki_jw_print(out, "{'part':'tools','tokens':%f,'count':%I}", next_part(&sum, x->tools),
                      (uint64_t)count_tools(tools));
    for (size_t i = 0; st == MAKI_OK && i < sent->count; i++) {
        maki_view_item item = sent->items[i];
        while (item.from && i + 1 < sent->count && sent->items[i + 1].from == item.to + 1 &&
               sent->items[i + 1].log == item.log)
            item.to = sent->items[++i].to;
        st = put_item(out, conv, sent, item, &sum, err);
    }
    maki_jw_end_array(out);
    maki_jw_field_number(out, "tokens", sum.total);
    return st;
}

/* ---- what changed ---------------------------------------------------------------------------------------------------- */

/* The messages of `view` that `other` lacks, as ranges. */
static void put_only_in(maki_jw *out, const char *name, const maki_view *view,
                        const maki_view *other)
{
    maki_jw_field_array(out, name);
    for (size_t i = 0; i < view->count; i++) {
        uint64_t from = view->items[i].from;
        const uint64_t to = view->items[i].to;
        for (size_t k = 0; from && k < other->count && from <= to; k++) { /* both are in order */
            const maki_view_item *known = &other->items[k];
            if (known->from == 0 || known->to < from) continue;
            if (known->from > to) break;
            if (known->from > from) maki_jw_print(out, "[%i,%i]", from, known->from - 1);
            from = known->to + 1;
        }
        if (from && from <= to) maki_jw_print(out, "[%i,%i]", from, to);
    }
    maki_jw_end_array(out);
}

static bool has_synthetic(const maki_view *view, const maki_view_item *item)
{
    for (size_t i = 0; i < view->count; i++) {
        const maki_view_item *own = &view->items[i];
        if (own->from == 0 && own->log == item->log && own->synthetic->ev == item->synthetic->ev)
            return true;
    }
    return false;
}

static void put_synthetic(maki_jw *out, const maki_view *a, const maki_view *b)
{
    for (size_t i = 0; i < a->count; i++) {
        const maki_view_item *item = &a->items[i];
        if (item->from == 0 && !has_synthetic(b, item))
            maki_jw_int(out, (int64_t)item->synthetic->ev);
    }
}

/* A place in a view: an item, and in a range of messages the next of them. */
typedef struct view_place {
    const maki_view *view;
    size_t item;
    uint64_t seq; /* 0: a synthetic message, or the end */
} view_place;

static const maki_view_item *item_at(view_place *p)
{
    if (p->item == p->view->count) return NULL;
    if (!p->seq) p->seq = p->view->items[p->item].from;
    return &p->view->items[p->item];
}

/* Move `n` messages on, at most to the end of the item; a synthetic message is one. */
static void move_on(view_place *p, uint64_t n)
{
    const maki_view_item *item = &p->view->items[p->item];
    p->seq = item->from && p->seq + n <= item->to ? p->seq + n : 0;
    p->item += p->seq == 0;
}

/* The next message of the log from there on; 0: none. */
static uint64_t next_message(view_place p)
{
    const maki_view_item *item;
    while ((item = item_at(&p)) && !p.seq)
        p.item++;
    return p.seq;
}

/* The first message of `before` that is not at its place in `now`; 0: `now` begins with all of it. */
static uint64_t first_difference(const maki_view *before, const maki_view *now)
{
    view_place a = { .view = before }, b = { .view = now };
    const maki_view_item *x, *y;
    while ((x = item_at(&a))) {
        y = item_at(&b);
        if (!y || a.seq != b.seq ||
            (!a.seq && (x->log != y->log || x->synthetic->ev != y->synthetic->ev)))
            return next_message(a);
        uint64_t rest_a = x->to - a.seq, rest_b = y->to - b.seq;
        uint64_t n = a.seq ? 1 + (rest_a < rest_b ? rest_a : rest_b) : 1;
        move_on(&a, n);
        move_on(&b, n);
    }
    return 0;
}

static void put_changed(maki_jw *out, const request_reader *r, const maki_view *before,
                        const maki_view *now)
{
    const recorded_request *a = &r->before, *b = &r->request;
    bool tools = strcmp(a->system.tools, b->system.tools) != 0 || a->facts.tools != b->facts.tools;
    bool sha = strcmp(a->system.sha, b->system.sha) != 0;
    bool system = a->facts.system != b->facts.system || (sha && !tools);
    maki_jw_print(out, "'changed':{'system':%b,'tools':%b", system, tools);
    put_only_in(out, "added", now, before);
    put_only_in(out, "removed", before, now);
    maki_jw_field_array(out, "synthetic");
    put_synthetic(out, now, before);
    put_synthetic(out, before, now);
    maki_jw_end_array(out);
    maki_jw_print(out, "'first':%i}", first_difference(before, now));
}

/* ---- the body -------------------------------------------------------------------------------------------------------- */

/* A blob of the proxy (proxy/system_prompt.h), JSON in the arena; len 0: it is not there. */
static maki_str read_blob(maki_op_call *call, maki_conv *conv, const char *sha)
{
    char path[MAKI_PATH_MAX + SHA_MAX + 32];
    maki_session_location location;
    maki_str json = MAKI_LIT(""), value = MAKI_LIT("");
    const maki_files *files = call->m->env.files;
    if (strlen(sha) != SHA_MAX - 1 || !maki_str_only(maki_str_of(sha), "0123456789abcdef") ||
        !maki_session_location_of(maki_log_path(maki_conv_log(conv)), &location))
        return value;
    snprintf(path, sizeof path, "%s/agents/proxy/blobs/%s.json", location.home, sha);
    int fd = files->open(files, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return value;
    off_t size = maki_file_size(files, fd);
    size_t got = 0;
    char *bytes = size > 0 && size <= BLOB_MAX ? maki_arena_get(call->arena, (size_t)size) : NULL;
    if (bytes && maki_file_read_at(files, fd, 0, bytes, (size_t)size, &got, NULL) == MAKI_OK)
        json = (maki_str){ bytes, got };
    files->close(files, fd);
    return json.len && maki_json_check(json, &value, NULL) == MAKI_OK ? value : MAKI_LIT("");
}

/* The texts of a system prompt of any protocol: a string, blocks, messages, parts. */
static void collect_texts(maki_str value, int depth, maki_arena *arena, maki_str *texts,
                          size_t *count)
{
    maki_json_kind kind = value.len ? maki_json_kind_of(value) : MAKI_JSON_NULL;
    if (*count == SYSTEM_TEXTS || depth == 0) return;
    if (kind == MAKI_JSON_STRING) texts[(*count)++] = maki_json_text(value, arena);
    if (kind == MAKI_JSON_ARRAY) {
        MAKI_JSON_EACH(item, maki_json_items(value))
            collect_texts(item.value, depth - 1, arena, texts, count);
    }
    if (kind != MAKI_JSON_OBJECT) return;
    static const char *const fields[] = { "text", "content", "parts" };
    for (size_t i = 0; i < 3; i++)
        collect_texts(maki_json_field(value, fields[i]), depth - 1, arena, texts, count);
}

/* Write the field `body`, null when the protocol cannot be written; *exact: its bytes are those that were sent. */
static maki_status put_body(maki_op_call *call, maki_conv *conv, const recorded_request *r,
                            maki_str event, const maki_view *sent, maki_str tools, maki_jw *out,
                            bool *exact, maki_err *err)
{
    char protocol[24], hash[24], rebuilt[24];
    maki_str texts[SYSTEM_TEXTS], body = MAKI_LIT("");
    size_t count = 0;
    maki_err why = { 0 };
    maki_json_text_field(event, "protocol", protocol, sizeof protocol);
    maki_json_text_field(event, "body", hash, sizeof hash);
    collect_texts(read_blob(call, conv, r->system.sha), 4, call->arena, texts, &count);
    maki_request request = {
        .model = maki_str_of(r->facts.model), .system = texts, .system_count = count, .tools = tools
    };
    maki_spool spool = maki_spool_new(&call->m->env, MAKI_SPOOL_MEMORY);
    maki_status st = maki_arena_status(call->arena, err);
    if (st == MAKI_OK)
        st = maki_request_protocol_parse(maki_str_of(protocol), &request.protocol, &why);
    if (st == MAKI_OK) st = maki_request_write(conv, sent, &request, maki_spool_sink(&spool), &why);
    if (st == MAKI_OK) st = maki_spool_text(&spool, &body, &why);
    maki_jw_key(out, MAKI_LIT("body"));
    if (st == MAKI_OK) {
        snprintf(rebuilt, sizeof rebuilt, "%016" PRIx64, maki_row_hash(body));
        *exact = strcmp(hash, rebuilt) == 0;
        maki_jw_raw(out, body);
    } else if (st == MAKI_UNSUPPORTED || st == MAKI_REFUSED) {
        maki_jw_null(out);
        st = MAKI_OK;
    } else if (err && why.status != MAKI_OK) {
        *err = why;
    }
    maki_spool_free(&spool);
    return st;
}

/* ---- the answer ------------------------------------------------------------------------------------------------------ */

static void put_outcome(maki_jw *out, const request_reader *r, maki_str event)
{
    const maki_exchange_facts *x = &r->request.facts;
    maki_str hash = maki_json_field(event, "body");
    maki_jw_print(out, "{'ev':%i,'at':%i,'ts':%i,'protocol':%v,'upstream':%v,'path':%v,'model':%s",
                  x->ev, x->at, x->ts, maki_json_field(event, "protocol"),
                  maki_json_field(event, "upstream"), maki_json_field(event, "path"),
                  maki_str_of(x->model));
    maki_jw_print(out,
                  "'status':%i,'end':%z,'stop':%v,'firstMs':%f,'ms':%f,'bytes':%i,'hash':%v,"
                  "'error':%v",
                  (int64_t)x->status, x->end, maki_json_field(event, "stop"), x->first_ms, x->ms,
                  maki_json_uint_field(event, MAKI_LIT("bytes")), hash,
                  r->error.len ? r->error : maki_json_field(event, "error"));
    maki_jw_key(out, MAKI_LIT("usage"));
    const maki_exchange_usage *u = &x->usage;
    if (!u->known) {
        maki_jw_null(out);
        return;
    }
    maki_jw_print(out, "{'input':%f,'output':%f,'cacheRead':%f,'cacheWrite':%f,'reasoning':%f",
                  u->input, u->output, u->cache_read, u->cache_write, u->reasoning);
    if (u->has_cost) maki_jw_field_number(out, "cost", u->cost);
    maki_jw_end_object(out);
}

/* What is not known of it. */
static const char *note_of(maki_str event, bool exact)
{
    if (exact) return "";
    if (maki_json_field(event, "spans").len)
        return "forwarded as the agent sent it: the log has its messages, and the system prompt and tools where they "
               "were recorded; options and the order of fields are not kept";
    return "written by Maki from the view of that revision; retrieved memories, options and the order of fields are "
           "not kept";
}

static maki_status put_request(maki_op_call *call, maki_conv *conv, request_reader *r, maki_jw *out,
                               maki_err *err)
{
    maki_context_use use;
    maki_run_limits_options given = { .config = call->m->config };
    maki_str event = MAKI_LIT(""), event_before = MAKI_LIT("");
    maki_view sent, sent_before = { 0 };
    uint64_t last = 0;
    bool exact = false;
    maki_log *log = maki_conv_log(conv);
    maki_status st = maki_context_use_of(conv, &given, &use, err);
    if (st == MAKI_OK) st = read_manifest(log, &r->request, call->arena, &event, err);
    if (st == MAKI_OK && r->before.facts.ev)
        st = read_manifest(log, &r->before, call->arena, &event_before, err);
    if (st == MAKI_OK && r->before.facts.ev)
        st = read_sent(conv, &r->before.facts, event_before, call->arena, &sent_before, err);
    if (st == MAKI_OK) st = read_sent(conv, &r->request.facts, event, call->arena, &sent, err);
    if (st == MAKI_OK) st = last_sent(conv, &r->request.facts, &last, err);
    if (st != MAKI_OK) return st;
    maki_str tools = read_blob(call, conv, r->request.system.tools);
    put_outcome(out, r, event);
    st = put_parts(out, conv, &r->request, &sent, tools, use.scale, err);
    maki_jw_field_count(out, "reply", last < r->request.facts.at ? r->request.facts.at : 0);
    maki_jw_key(out, MAKI_LIT("before"));
    if (r->before.facts.ev) {
        maki_jw_print(out, "{'ev':%i}", r->before.facts.ev);
        put_changed(out, r, &sent_before, &sent);
    } else {
        maki_jw_null(out);
    }
    if (st == MAKI_OK && maki_input_bool(call, "body", false))
        st = put_body(call, conv, &r->request, event, &sent, tools, out, &exact, err);
    maki_jw_print(out, "'exact':%b,'note':%z}", exact, note_of(event, exact));
    return st;
}

maki_status maki_op_session_request(maki_op_call *call, maki_jw *out, maki_err *err)
{
    maki_conv *conv = NULL;
    maki_str value;
    request_reader r = { .wanted = MAKI_NEWEST, .arena = call->arena, .error = MAKI_LIT("") };
    bool named = maki_input_value(call, "ev", &value);
    if (named) r.wanted = (uint64_t)maki_json_double(value);
    maki_status st = maki_field_conversation(call, MAKI_ACCESS_READ, &conv, err);
    if (st == MAKI_OK) st = maki_log_each_event(maki_conv_log(conv), read_event, &r, err);
    if (st == MAKI_CANCELLED) st = MAKI_OK; /* the next request was reached */
    if (st == MAKI_OK) st = maki_arena_status(call->arena, err);
    if (st == MAKI_OK && !r.request.facts.ev)
        st = maki_fail(err, MAKI_NOTFOUND, "no request of this conversation was recorded");
    if (st == MAKI_OK && named && r.request.facts.ev != r.wanted)
        st = maki_fail(err, MAKI_NOTFOUND, "event %" PRIu64 " is not the manifest of a request",
                       r.wanted);
    if (st == MAKI_OK) st = put_request(call, conv, &r, out, err);
    maki_conv_close(conv);
    return st;
}
