/* import_tree.c -- import transcripts whose lines form a tree: Pi (Clawdbot, OpenClaw) and Claude Code.
 *
 * In:    lines in the order in which they were written, each with the id of its parent.
 * Out:   a row for each message; where its parent is not the current position, a rewind to the position of the parent
 *        first; compactions as condense events.  The view at the end is the path to the leaf.
 *
 * A line that is not a message has the position of its parent. */
#include <string.h>

#include "base/err.h"
#include "base/json_access.h"
#include "history/import_internal.h"
#include "wire/message_writer_internal.h"

/* ---- positions of lines ------------------------------------------------------------------------------ */

typedef struct line_slot {
    uint64_t hash; /* of the id; 0: empty */
    uint32_t seq, ev, summary_ev;
    uint32_t row; /* 1: the line is the row `seq` itself */
} line_slot;

typedef struct tree {
    maki_importer *im;
    line_slot *slots;
    size_t capacity, count;
    bool claude;
    maki_import_position leaf; /* of the line that decides on the view at the end */
    uint64_t last_message;     /* Claude: the hash of the message id of the newest row */
} tree;

static line_slot *slot_of(line_slot *slots, size_t capacity, uint64_t hash)
{
    size_t i = (size_t)(hash * 0x9E3779B97F4A7C15u >> 20) & (capacity - 1);
    while (slots[i].hash && slots[i].hash != hash)
        i = (i + 1) & (capacity - 1);
    return &slots[i];
}

static maki_status grow_slots(tree *t, maki_err *err)
{
    const maki_alloc *alloc = t->im->env->alloc;
    size_t capacity = t->capacity ? t->capacity * 2 : 1024;
    if (t->count * 4 < t->capacity * 3) return MAKI_OK;
    line_slot *larger = alloc->resize(alloc, NULL, 0, capacity * sizeof *larger);
    if (!larger) return maki_fail_nomem(err);
    memset(larger, 0, capacity * sizeof *larger);
    for (size_t i = 0; i < t->capacity; i++) {
        if (t->slots[i].hash) *slot_of(larger, capacity, t->slots[i].hash) = t->slots[i];
    }
    if (t->slots) alloc->resize(alloc, t->slots, t->capacity * sizeof *larger, 0);
    t->slots = larger;
    t->capacity = capacity;
    return MAKI_OK;
}

static uint64_t hash_of(maki_str id)
{
    uint64_t hash = maki_json_text_hash(id);
    return hash ? hash : 1;
}

static maki_status save_position(tree *t, maki_str line, maki_import_position position, bool row,
                                 maki_err *err)
{
    maki_str id;
    if (!maki_import_id(line, t->claude ? "uuid" : "id", &id)) return MAKI_OK;
    maki_status st = grow_slots(t, err);
    if (st != MAKI_OK) return st;
    uint64_t hash = hash_of(id);
    line_slot *s = slot_of(t->slots, t->capacity, hash);
    if (s->hash == 0) t->count++;
    *s = (line_slot){ hash, (uint32_t)position.seq, (uint32_t)position.ev,
                      (uint32_t)position.summary_ev, row };
    return MAKI_OK;
}

static const line_slot *find_slot(const tree *t, maki_str object, const char *name)
{
    maki_str id;
    if (t->capacity == 0 || !maki_import_id(object, name, &id)) return NULL;
    const line_slot *s = slot_of(t->slots, t->capacity, hash_of(id));
    return s->hash ? s : NULL;
}

/* The position that a line continues: that of its parent; the beginning when it has none; the current one when it does
 * not name a parent, or an unknown one. */
static maki_import_position parent_position(const tree *t, maki_str line)
{
    const char *parent = t->claude ? "parentUuid" : "parentId";
    maki_str value;
    const line_slot *s = find_slot(t, line, parent);
    if (!s && t->claude) s = find_slot(t, line, "logicalParentUuid");
    if (s) return (maki_import_position){ s->seq, s->ev, s->summary_ev };
    bool root = maki_json_get(line, maki_str_of(parent), &value) &&
                maki_json_kind_of(value) == MAKI_JSON_NULL &&
                !maki_import_id(line, "logicalParentUuid", &value);
    return root ? (maki_import_position){ 0 } : t->im->now;
}

static maki_status rewind_to(tree *t, maki_import_position position, maki_err *err)
{
    maki_importer *im = t->im;
    if (position.seq == im->now.seq && position.ev == im->now.ev) return MAKI_OK;
    maki_jw_print(maki_draft_begin(&im->fields), "'to':%i,'toEv':%i,'imported':true", position.seq,
                  position.ev);
    maki_status st = maki_import_event(im, "rewind", err);
    im->now.summary_ev = position.summary_ev;
    return st;
}

/* ---- rows from lines ---------------------------------------------------------------------------------- */

/* Write a block in Anthropic's names: toolCall becomes tool_use, an image gets its source. */
static void write_block(maki_jw *w, maki_str block)
{
    maki_str type, data;
    if (maki_json_field_in(block, "type", "toolCall")) {
        maki_str arguments = maki_json_field(block, "arguments");
        maki_jw_print(w, "{'type':'tool_use'");
        maki_write_rest(w, block, "type arguments");
        maki_jw_print(w, "'input':%v}", arguments.len ? arguments : MAKI_LIT("{}"));
    } else if (maki_json_field_in(block, "type", "image") && maki_import_id(block, "data", &data) &&
               maki_import_id(block, "mimeType", &type)) {
        maki_jw_print(w, "{'type':'image'");
        maki_write_rest(w, block, "type data mimeType");
        maki_jw_print(w, "'source':{'type':'base64','media_type':%v,'data':%v}}", type, data);
    } else {
        maki_jw_raw(w, block);
    }
}

/* Write the field `content`. */
static void write_content(maki_jw *w, maki_str content)
{
    if (maki_json_kind_of(content) != MAKI_JSON_ARRAY) {
        maki_jw_field_raw(w, "content", content.len ? content : MAKI_LIT("null"));
        return;
    }
    maki_jw_field_array(w, "content");
    MAKI_JSON_EACH(item, maki_json_items(content))
        write_block(w, item.value);
    maki_jw_end_array(w);
}

/* A string field without its quotes; empty when it is missing. */
static maki_str inside_of(maki_str object, const char *name)
{
    maki_str text;
    return maki_import_id(object, name, &text) ? maki_json_strip_quotes(text) : (maki_str){ "", 0 };
}

/* Write a command that the user ran, with its output, as text of the user. */
static void write_shell(maki_jw *w, maki_str message)
{
    const maki_str parts[] = { MAKI_LIT("$ "), inside_of(message, "command"), MAKI_LIT("\\n"),
                               inside_of(message, "output") };
    maki_jw_key(w, MAKI_LIT("content"));
    maki_write_joined(w, parts, 4);
}

/* Write a message of Pi: its own fields in OpenAI's or Anthropic's names, the line's as `original`; left open. */
static void pi_message(maki_jw *w, maki_str line, maki_str message)
{
    maki_str role, id = { "", 0 }, written = MAKI_LIT("\"user\"");
    bool has_role = maki_import_id(message, "role", &role);
    bool is_result = has_role && maki_json_text_in(role, "toolResult");
    bool is_shell = has_role && maki_json_text_in(role, "bashExecution");
    bool is_custom = has_role && maki_json_text_in(role, "custom|hookMessage");
    if (is_result) (void)maki_import_id(message, "toolCallId", &id);
    if (is_result)
        written = MAKI_LIT("\"tool\"");
    else if (has_role && !is_shell && !is_custom)
        written = role;
    maki_jw_print(w, "{'role':%v,'tool_call_id':%v", written, id);
    if (is_shell)
        write_shell(w, message);
    else
        write_content(w, maki_json_field(message, "content"));
    maki_write_rest(w, message,
                    is_shell    ? "role"
                    : is_result ? "role content toolCallId"
                                : "role content");
    maki_jw_field_object(w, "original");
    maki_write_rest(w, line, "message");
    if (is_result || is_shell || is_custom) maki_jw_field_raw(w, "role", role);
    maki_jw_end_object(w);
}

/* Write a message of Claude Code unchanged, with the time of its line, and the line's fields as
 * `original`; left open. */
static void claude_message(maki_jw *w, maki_str line, maki_str message)
{
    maki_jw_begin_object(w);
    maki_jw_raw(w, (maki_str){ message.ptr + 1, message.len - 2 });
    if (!maki_json_field(message, "timestamp").len)
        maki_jw_print(w, "'timestamp':%v", maki_json_field(line, "timestamp"));
    maki_import_original(w, line, "message");
}

/* Write a summary of Pi, of another branch or of earlier messages; the object is left open. */
static void summary_message(maki_jw *w, maki_str line)
{
    const maki_str parts[] = { MAKI_LIT("<summary>\\n"), inside_of(line, "summary"),
                               MAKI_LIT("\\n</summary>") };
    maki_jw_print(w, "{'role':'user','content':");
    maki_write_joined(w, parts, 3);
    maki_jw_print(w, "'timestamp':%v", maki_json_field(line, "timestamp"));
}

static maki_status pi_compaction(tree *t, maki_str line, maki_err *err)
{
    maki_importer *im = t->im;
    maki_jw *w = maki_draft_begin(&im->row);
    maki_str id;
    const line_slot *first_kept = find_slot(t, line, "firstKeptEntryId");
    uint64_t before = im->now.seq + 1;
    if (first_kept) before = first_kept->row ? first_kept->seq : first_kept->seq + 1u;
    summary_message(w, line);
    maki_jw_print(w, "'isSummary':true,'condenseId':%v",
                  maki_import_id(line, "id", &id) ? id : MAKI_LIT("\"compaction\""));
    maki_import_original(w, line, "summary");
    maki_jw_end_object(w);
    return maki_import_condense(im, before, err);
}

static maki_status pi_line(void *ctx, maki_str line, maki_err *err)
{
    tree *t = ctx;
    maki_importer *im = t->im;
    maki_str message = maki_json_field(line, "message"), type;
    maki_import_position position = parent_position(t, line);
    bool added = false;
    if (!maki_import_id(line, "type", &type)) {
        im->report->other++;
        return MAKI_OK;
    }
    bool plain =
        maki_json_text_in(type, "message") && maki_json_kind_of(message) == MAKI_JSON_OBJECT;
    bool custom = maki_json_text_in(type, "custom_message");
    bool branch = maki_json_text_in(type, "branch_summary");
    bool compaction = maki_json_text_in(type, "compaction");
    if (!plain && !custom && !branch && !compaction) {
        im->report->other++;
        if (maki_json_text_in(type, "session")) {
            if (im->line == 1) maki_jw_print(&im->notes.w, "'header':%v", line);
            return MAKI_OK;
        }
        t->leaf = position;
        return save_position(t, line, position, false, err);
    }
    maki_status st = rewind_to(t, position, err);
    if (st != MAKI_OK) return st;
    if (compaction) {
        st = pi_compaction(t, line, err);
    } else {
        maki_jw *w = maki_draft_begin(&im->row);
        if (plain) pi_message(w, line, message);
        if (branch) summary_message(w, line);
        if (custom) maki_jw_print(w, "{'role':'user'");
        if (custom) write_content(w, maki_json_field(line, "content"));
        if (!plain) maki_import_original(w, line, custom ? "content" : "summary");
        maki_jw_end_object(w);
        st = maki_import_synthetic_row(im, &added, err);
    }
    t->leaf = im->now;
    return st == MAKI_OK ? save_position(t, line, im->now, added, err) : st;
}

/* ---- Claude Code ------------------------------------------------------------------------------------------ */

static bool has_results(maki_str message)
{
    MAKI_JSON_EACH(item, maki_json_items(maki_json_field(message, "content"))) {
        if (maki_json_field_in(item.value, "type", "tool_result")) return true;
    }
    return false;
}

/* Does the line begin a new branch?  The parts of one reply, and the results of parallel calls, have different
 * lines of the same turn as parents: they continue at the current end. */
static bool is_new_branch(const tree *t, maki_str message, maki_import_position position,
                          uint64_t message_id)
{
    const maki_import_position *now = &t->im->now;
    if (position.ev != now->ev) return true;
    if (position.seq == now->seq) return false;
    return !(has_results(message) || (message_id && message_id == t->last_message));
}

static maki_status claude_line(void *ctx, maki_str line, maki_err *err)
{
    tree *t = ctx;
    maki_importer *im = t->im;
    maki_str message = maki_json_field(line, "message"), id;
    maki_import_position position = parent_position(t, line);
    bool added = false;
    if (!maki_json_field_in(line, "type", "user|assistant") ||
        maki_json_kind_of(message) != MAKI_JSON_OBJECT || !maki_import_id(message, "role", &id)) {
        im->report->other++;
        return save_position(t, line, position, false, err);
    }
    uint64_t message_id = maki_import_id(message, "id", &id) ? hash_of(id) : 0;
    maki_status st = MAKI_OK;
    if (is_new_branch(t, message, position, message_id)) st = rewind_to(t, position, err);
    if (st != MAKI_OK) return st;
    maki_jw *w = maki_draft_begin(&im->row);
    claude_message(w, line, message);
    if (maki_json_true_field(line, "isCompactSummary")) {
        maki_jw_print(w, "'isSummary':true,'condenseId':%v}",
                      maki_import_id(line, "uuid", &id) ? id : MAKI_LIT("\"compact\""));
        st = maki_import_condense(im, im->now.seq + 1, err);
    } else {
        maki_jw_end_object(w);
        st = maki_import_synthetic_row(im, &added, err);
    }
    if (message_id) t->last_message = message_id;
    if (!maki_json_true_field(line, "isSidechain")) t->leaf = im->now;
    return st == MAKI_OK ? save_position(t, line, im->now, added, err) : st;
}

/* ---- all lines ---------------------------------------------------------------------------------------------- */

static maki_status read(maki_importer *im, maki_import_object_fn fn, maki_err *err)
{
    const maki_alloc *alloc = im->env->alloc;
    tree t = { .im = im, .claude = fn == claude_line };
    maki_status st = maki_import_lines(im, fn, &t, err);
    if (st == MAKI_OK) st = rewind_to(&t, t.leaf, err);
    if (t.slots) alloc->resize(alloc, t.slots, t.capacity * sizeof *t.slots, 0);
    return st;
}

static maki_status read_pi(maki_importer *im, maki_err *err)
{
    return read(im, pi_line, err);
}

static maki_status read_claude(maki_importer *im, maki_err *err)
{
    return read(im, claude_line, err);
}

static bool is_pi(const maki_import_probe *s)
{
    return strcmp(s->type, "session") == 0;
}

static bool is_claude(const maki_import_probe *s)
{
    bool session = maki_import_probe_has(s, "uuid|sessionId");
    return (session && maki_str_in(maki_str_of(s->type), "user|assistant|system|summary")) ||
           maki_import_probe_has(s, "leafUuid");
}

const maki_import_format maki_import_pi = { "pi", is_pi, NULL, read_pi };
const maki_import_format maki_import_claude = { "claude", is_claude, NULL, read_claude };
