/* import_tree.c -- transcripts whose lines form a tree: Pi (Clawdbot, OpenClaw) and Claude Code.
 *
 * A line names the one it goes on from.  Where that is not the place the conversation is at, a rewind
 * to the place of that line comes first, so the log tells the tree as it grew and the view at the end
 * is the path to the leaf.  Lines that are no messages have the place of the line before them. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "history/import_inside.h"

/* ---- where lines are ------------------------------------------------------------------------------- */

typedef struct spot {
    uint64_t hash; /* of the id; 0: empty */
    uint32_t seq, ev, made;
    uint32_t row; /* 1: the line is the row `seq` itself */
} spot;

typedef struct tree {
    maki_importing *im;
    spot *spots;
    size_t room, count;
    bool claude;
    maki_place leaf;       /* of the line that decides on the view at the end */
    uint64_t last_message; /* Claude: the hash of the message id of the newest row */
} tree;

static spot *spot_of(spot *spots, size_t room, uint64_t hash)
{
    size_t i = (size_t)(hash * 0x9E3779B97F4A7C15u >> 20) & (room - 1);
    while (spots[i].hash && spots[i].hash != hash)
        i = (i + 1) & (room - 1);
    return &spots[i];
}

static maki_status make_room(tree *t, maki_err *err)
{
    const maki_alloc *alloc = t->im->env->alloc;
    size_t room = t->room ? t->room * 2 : 1024;
    if (t->count * 4 < t->room * 3) return MAKI_OK;
    spot *larger = alloc->resize(alloc, NULL, 0, room * sizeof *larger);
    if (!larger) return maki_fail_nomem(err);
    memset(larger, 0, room * sizeof *larger);
    for (size_t i = 0; i < t->room; i++) {
        if (t->spots[i].hash) *spot_of(larger, room, t->spots[i].hash) = t->spots[i];
    }
    if (t->spots) alloc->resize(alloc, t->spots, t->room * sizeof *larger, 0);
    t->spots = larger;
    t->room = room;
    return MAKI_OK;
}

static uint64_t hash_of(maki_str id)
{
    uint64_t hash = maki_json_text_hash(id);
    return hash ? hash : 1;
}

static maki_status remember(tree *t, maki_str line, maki_place place, bool row, maki_err *err)
{
    maki_str id;
    maki_str name = t->claude ? MAKI_LIT("uuid") : MAKI_LIT("id");
    if (!maki_import_id(line, name, &id)) return MAKI_OK;
    maki_status st = make_room(t, err);
    if (st != MAKI_OK) return st;
    uint64_t hash = hash_of(id);
    spot *s = spot_of(t->spots, t->room, hash);
    if (s->hash == 0) t->count++;
    *s = (spot){ hash, (uint32_t)place.seq, (uint32_t)place.ev, (uint32_t)place.made, row };
    return MAKI_OK;
}

static const spot *find(const tree *t, maki_str object, const char *name)
{
    maki_str id;
    if (t->room == 0 || !maki_import_id(object, maki_str_of(name), &id)) return NULL;
    const spot *s = spot_of(t->spots, t->room, hash_of(id));
    return s->hash ? s : NULL;
}

/* The place a line goes on from: that of its parent, the beginning when it has none, and where we are
 * when it does not say or names a line that is not there. */
static maki_place from(const tree *t, maki_str line)
{
    maki_str value;
    const spot *s = find(t, line, t->claude ? "parentUuid" : "parentId");
    if (!s && t->claude) s = find(t, line, "logicalParentUuid");
    if (s) return (maki_place){ s->seq, s->ev, s->made };
    bool root =
        maki_json_get(line, t->claude ? MAKI_LIT("parentUuid") : MAKI_LIT("parentId"), &value) &&
        maki_json_kind_of(value) == MAKI_JSON_NULL &&
        !maki_import_id(line, MAKI_LIT("logicalParentUuid"), &value);
    return root ? (maki_place){ 0 } : t->im->now;
}

static maki_status go_to(tree *t, maki_place place, maki_err *err)
{
    maki_importing *im = t->im;
    if (place.seq == im->now.seq && place.ev == im->now.ev) return MAKI_OK;
    maki_buf_clear(&im->fields);
    maki_import_number(&im->fields, "\"to\":", place.seq);
    maki_import_number(&im->fields, ",\"toEv\":", place.ev);
    maki_buf_add(&im->fields, MAKI_LIT(",\"imported\":true"));
    maki_status st = maki_import_event(im, "rewind", err);
    im->now.made = place.made;
    return st;
}

/* ---- what lines hold --------------------------------------------------------------------------------- */

static const maki_str message_field[] = { { "message", 7 }, { "role", 4 }, { "toolCallId", 10 } };

/* A block in Anthropic's names: toolCall becomes tool_use, an image gets its source. */
static void add_block(maki_buf *out, maki_str block)
{
    static const maki_str call[] = { { "type", 4 }, { "arguments", 9 } };
    static const maki_str image[] = { { "type", 4 }, { "data", 4 }, { "mimeType", 8 } };
    maki_str value, data;
    if (maki_import_is(block, MAKI_LIT("type"), MAKI_LIT("toolCall"))) {
        maki_buf_add(out, MAKI_LIT("{\"type\":\"tool_use\""));
        maki_import_fields(out, block, call, 2);
        maki_buf_add(out, MAKI_LIT(",\"input\":"));
        bool has = maki_json_get(block, MAKI_LIT("arguments"), &value);
        maki_buf_add(out, has ? value : MAKI_LIT("{}"));
        maki_buf_add(out, MAKI_LIT("}"));
    } else if (maki_import_is(block, MAKI_LIT("type"), MAKI_LIT("image")) &&
               maki_import_id(block, MAKI_LIT("data"), &data) &&
               maki_import_id(block, MAKI_LIT("mimeType"), &value)) {
        maki_buf_add(out, MAKI_LIT("{\"type\":\"image\""));
        maki_import_fields(out, block, image, 3);
        maki_buf_add(out, MAKI_LIT(",\"source\":{\"type\":\"base64\",\"media_type\":"));
        maki_buf_add(out, value);
        maki_buf_add(out, MAKI_LIT(",\"data\":"));
        maki_buf_add(out, data);
        maki_buf_add(out, MAKI_LIT("}}"));
    } else {
        maki_buf_add(out, block);
    }
}

static void add_content(maki_buf *out, maki_str content)
{
    maki_json_iter iter = maki_json_items(content);
    maki_json_item item;
    bool any = false;
    maki_buf_add(out, MAKI_LIT(",\"content\":"));
    if (content.len == 0 || content.ptr[0] != '[') {
        maki_buf_add(out, content.len ? content : MAKI_LIT("null"));
        return;
    }
    maki_buf_add(out, MAKI_LIT("["));
    while (maki_json_next(&iter, &item)) {
        if (any) maki_buf_add(out, MAKI_LIT(","));
        any = true;
        add_block(out, item.value);
    }
    maki_buf_add(out, MAKI_LIT("]"));
}

/* What was run in the shell, as the user's words. */
static void add_shell(maki_buf *out, maki_str message)
{
    maki_str text;
    maki_buf_add(out, MAKI_LIT(",\"content\":\"$ "));
    if (maki_import_id(message, MAKI_LIT("command"), &text))
        maki_buf_add(out, maki_json_inside(text));
    maki_buf_add(out, MAKI_LIT("\\n"));
    if (maki_import_id(message, MAKI_LIT("output"), &text))
        maki_buf_add(out, maki_json_inside(text));
    maki_buf_add(out, MAKI_LIT("\""));
}

/* A message of Pi: its own fields, with our names for roles and blocks. */
static void pi_message(maki_buf *out, maki_str line, maki_str message)
{
    static const maki_str but[] = { { "role", 4 }, { "content", 7 }, { "toolCallId", 10 } };
    static const maki_str shell[] = { { "role", 4 } };
    maki_str role = MAKI_LIT("\"user\""), id, content = { "", 0 };
    bool has_role = maki_import_id(message, MAKI_LIT("role"), &role);
    bool result = has_role && maki_json_text_is(role, MAKI_LIT("toolResult"));
    bool run = has_role && maki_json_text_is(role, MAKI_LIT("bashExecution"));
    bool said = has_role && (maki_json_text_is(role, MAKI_LIT("custom")) ||
                             maki_json_text_is(role, MAKI_LIT("hookMessage")));
    maki_buf_clear(out);
    maki_buf_add(out, MAKI_LIT("{\"role\":"));
    maki_buf_add(out, result ? MAKI_LIT("\"tool\"") : run || said ? MAKI_LIT("\"user\"") : role);
    if (result && maki_import_id(message, MAKI_LIT("toolCallId"), &id)) {
        maki_buf_add(out, MAKI_LIT(",\"tool_call_id\":"));
        maki_buf_add(out, id);
    }
    maki_json_get(message, MAKI_LIT("content"), &content);
    if (run)
        add_shell(out, message);
    else
        add_content(out, content);
    maki_import_fields(out, message, run ? shell : but, run ? 1 : result ? 3 : 2);
    maki_import_original(out, line, message_field, 1);
    if (out->status == MAKI_OK && (result || run || said)) { /* the role goes along */
        out->len--;
        maki_buf_add(out, out->ptr[out->len - 1] == '{' ? MAKI_LIT("\"role\":")
                                                        : MAKI_LIT(",\"role\":"));
        maki_buf_add(out, role);
        maki_buf_add(out, MAKI_LIT("}"));
    }
    maki_buf_add(out, MAKI_LIT("}"));
}

/* A message of Claude Code: its bytes, and the line around it. */
static void claude_message(maki_buf *out, maki_str line, maki_str message)
{
    maki_str value;
    maki_buf_clear(out);
    size_t inside = message.len - 1;
    maki_buf_add(out, maki_str_to(message, inside));
    if (!maki_json_get(message, MAKI_LIT("timestamp"), &value) &&
        maki_json_get(line, MAKI_LIT("timestamp"), &value)) {
        maki_buf_add(out, MAKI_LIT(",\"timestamp\":"));
        maki_buf_add(out, value);
    }
    maki_import_original(out, line, message_field, 1);
    maki_buf_add(out, MAKI_LIT("}"));
}

/* {"role":"user","content":"<summary>...","isSummary":true,...}: the summary in a string field. */
static void summary_message(maki_buf *out, maki_str line, maki_str field, bool condense)
{
    maki_str text, id, role;
    maki_buf_clear(out);
    maki_buf_add(out, MAKI_LIT("{\"role\":\"user\",\"content\":\"<summary>\\n"));
    if (maki_import_id(line, field, &text)) maki_buf_add(out, maki_json_inside(text));
    maki_buf_add(out, MAKI_LIT("\\n</summary>\""));
    if (maki_json_get(line, MAKI_LIT("timestamp"), &role)) {
        maki_buf_add(out, MAKI_LIT(",\"timestamp\":"));
        maki_buf_add(out, role);
    }
    if (condense) {
        maki_buf_add(out, MAKI_LIT(",\"isSummary\":true,\"condenseId\":"));
        maki_buf_add(out,
                     maki_import_id(line, MAKI_LIT("id"), &id) ? id : MAKI_LIT("\"compaction\""));
    }
    maki_import_original(out, line, &field, 1);
    maki_buf_add(out, MAKI_LIT("}"));
}

/* ---- Pi ------------------------------------------------------------------------------------------------- */

static maki_status pi_compaction(tree *t, maki_str line, maki_err *err)
{
    maki_importing *im = t->im;
    const spot *kept = find(t, line, "firstKeptEntryId");
    uint64_t before = im->now.seq + 1;
    if (kept) before = kept->row ? kept->seq : kept->seq + 1u;
    summary_message(&im->row, line, MAKI_LIT("summary"), true);
    maki_status st = maki_buf_status(&im->row, err);
    return st == MAKI_OK ? maki_import_condense(im, before, maki_buf_str(&im->row), err) : st;
}

static maki_status pi_line(void *ctx, maki_str line, maki_err *err)
{
    tree *t = ctx;
    maki_importing *im = t->im;
    maki_str message = { "", 0 }, type = { "", 0 };
    maki_place place = from(t, line);
    bool added = false;
    if (!maki_import_id(line, MAKI_LIT("type"), &type)) {
        im->report->other++;
        return MAKI_OK;
    }
    bool plain = maki_json_text_is(type, MAKI_LIT("message")) &&
                 maki_json_get(line, MAKI_LIT("message"), &message) &&
                 maki_json_kind_of(message) == MAKI_JSON_OBJECT;
    bool custom = maki_json_text_is(type, MAKI_LIT("custom_message"));
    bool branch = maki_json_text_is(type, MAKI_LIT("branch_summary"));
    bool compaction = maki_json_text_is(type, MAKI_LIT("compaction"));
    if (!plain && !custom && !branch && !compaction) {
        im->report->other++;
        if (maki_json_text_is(type, MAKI_LIT("session"))) {
            if (im->line == 1) {
                maki_buf_add(&im->notes, MAKI_LIT(",\"header\":"));
                maki_buf_add(&im->notes, line);
            }
            return MAKI_OK;
        }
        t->leaf = place;
        return remember(t, line, place, false, err);
    }
    maki_status st = go_to(t, place, err);
    if (st != MAKI_OK) return st;
    if (compaction) {
        st = pi_compaction(t, line, err);
    } else {
        static const maki_str content_field = { "content", 7 };
        maki_str content = { "", 0 };
        if (plain) pi_message(&im->row, line, message);
        if (branch) summary_message(&im->row, line, MAKI_LIT("summary"), false);
        if (custom) {
            maki_json_get(line, MAKI_LIT("content"), &content);
            maki_buf_clear(&im->row);
            maki_buf_add(&im->row, MAKI_LIT("{\"role\":\"user\""));
            add_content(&im->row, content);
            maki_import_original(&im->row, line, &content_field, 1);
            maki_buf_add(&im->row, MAKI_LIT("}"));
        }
        st = maki_import_made_row(im, &added, err);
    }
    t->leaf = im->now;
    return st == MAKI_OK ? remember(t, line, im->now, added, err) : st;
}

/* ---- Claude Code ------------------------------------------------------------------------------------------ */

static bool has_results(maki_str message)
{
    maki_str content;
    maki_json_item item;
    if (!maki_json_get(message, MAKI_LIT("content"), &content)) return false;
    maki_json_iter iter = maki_json_items(content);
    while (maki_json_next(&iter, &item)) {
        if (maki_import_is(item.value, MAKI_LIT("type"), MAKI_LIT("tool_result"))) return true;
    }
    return false;
}

/* Is it a new branch?  The parts of one reply, and the results of calls made side by side, hang on
 * different lines of the same turn: they go on where the conversation is. */
static bool branches(const tree *t, maki_str message, maki_place place, uint64_t message_id)
{
    const maki_place *now = &t->im->now;
    if (place.ev != now->ev) return true;
    if (place.seq == now->seq) return false;
    return !(has_results(message) || (message_id && message_id == t->last_message));
}

static maki_status claude_condense(tree *t, maki_str line, maki_str message, maki_err *err)
{
    maki_importing *im = t->im;
    maki_str id;
    claude_message(&im->row, line, message);
    if (maki_buf_status(&im->row, NULL) == MAKI_OK) {
        im->row.len--;
        maki_buf_add(&im->row, MAKI_LIT(",\"isSummary\":true,\"condenseId\":"));
        bool has = maki_import_id(line, MAKI_LIT("uuid"), &id);
        maki_buf_add(&im->row, has ? id : MAKI_LIT("\"compact\""));
        maki_buf_add(&im->row, MAKI_LIT("}"));
    }
    maki_status st = maki_buf_status(&im->row, err);
    if (st != MAKI_OK) return st;
    return maki_import_condense(im, im->now.seq + 1, maki_buf_str(&im->row), err);
}

static maki_status claude_line(void *ctx, maki_str line, maki_err *err)
{
    tree *t = ctx;
    maki_importing *im = t->im;
    maki_str message, role, id;
    maki_place place = from(t, line);
    bool added = false;
    bool is_message = (maki_import_is(line, MAKI_LIT("type"), MAKI_LIT("user")) ||
                       maki_import_is(line, MAKI_LIT("type"), MAKI_LIT("assistant"))) &&
                      maki_json_get(line, MAKI_LIT("message"), &message) &&
                      maki_json_kind_of(message) == MAKI_JSON_OBJECT &&
                      maki_import_id(message, MAKI_LIT("role"), &role);
    if (!is_message) {
        im->report->other++;
        return remember(t, line, place, false, err);
    }
    uint64_t message_id = maki_import_id(message, MAKI_LIT("id"), &id) ? hash_of(id) : 0;
    maki_status st = MAKI_OK;
    if (branches(t, message, place, message_id)) st = go_to(t, place, err);
    if (st != MAKI_OK) return st;
    if (maki_import_true(line, MAKI_LIT("isCompactSummary"))) {
        st = claude_condense(t, line, message, err);
    } else {
        claude_message(&im->row, line, message);
        st = maki_import_made_row(im, &added, err);
    }
    if (message_id) t->last_message = message_id;
    if (!maki_import_true(line, MAKI_LIT("isSidechain"))) t->leaf = im->now;
    return st == MAKI_OK ? remember(t, line, im->now, added, err) : st;
}

/* ---- all lines ---------------------------------------------------------------------------------------------- */

static maki_status read(maki_importing *im, maki_import_object_fn fn, maki_err *err)
{
    const maki_alloc *alloc = im->env->alloc;
    tree t = { .im = im, .claude = fn == claude_line };
    maki_status st = maki_import_lines(im, fn, &t, err);
    if (st == MAKI_OK) st = go_to(&t, t.leaf, err);
    if (t.spots) alloc->resize(alloc, t.spots, t.room * sizeof *t.spots, 0);
    return st;
}

static maki_status read_pi(maki_importing *im, maki_err *err)
{
    return read(im, pi_line, err);
}

static maki_status read_claude(maki_importing *im, maki_err *err)
{
    return read(im, claude_line, err);
}

static bool is_pi(const maki_sight *s)
{
    return strcmp(s->type, "session") == 0;
}

static bool is_claude(const maki_sight *s)
{
    static const char *const types[] = { "user", "assistant", "system", "summary" };
    bool session = maki_sight_has(s, "uuid") || maki_sight_has(s, "sessionId");
    for (size_t i = 0; session && i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(s->type, types[i]) == 0) return true;
    }
    return maki_sight_has(s, "leafUuid");
}

const maki_import_format maki_import_pi = { "pi", is_pi, NULL, read_pi };
const maki_import_format maki_import_claude = { "claude", is_claude, NULL, read_claude };
