/* facts.c -- see facts.h. */
#include "history/facts.h"

#include <math.h>

#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "base/time.h"
#include "history/message.h"

enum {
  LOOK_BACK = 64,
  PER_MESSAGE = 4 /* tokens that a message costs besides its content */
};

static void remember(maki_fact_state *state, maki_str id, uint64_t seq) {
  size_t i = state->next++ % (sizeof state->calls / sizeof state->calls[0]);
  state->calls[i].hash = maki_json_text_hash(id);
  state->calls[i].seq = (uint32_t)seq;
}

/* The newest of the last LOOK_BACK messages before `seq` that makes the call.
 * The limit is what lets every process, and one that reads from the beginning,
 * come to the same answer. */
static uint32_t caller_of(const maki_fact_state *state, maki_str id,
                          uint64_t seq) {
  uint64_t hash = maki_json_text_hash(id);
  size_t room = sizeof state->calls / sizeof state->calls[0];
  size_t n = state->next < room ? state->next : room;
  for (size_t back = 1; back <= n;
       back++) { /* the newest first: ids may be used again */
    size_t i = (state->next - back) % room;
    if (state->calls[i].seq + (uint64_t)LOOK_BACK < seq)
      return 0;
    if (state->calls[i].hash == hash)
      return state->calls[i].seq;
  }
  return 0;
}

/* The calls a message makes, in either shape. */
static bool note_calls(maki_fact_state *state, maki_str row, maki_str content,
                       uint64_t seq) {
  maki_str block, id, calls;
  maki_json_item call;
  bool any = false;
  if (content.len && content.ptr[0] == '[') {
    maki_blocks blocks = maki_content_blocks(content);
    while (maki_blocks_next(&blocks, &block)) {
      if (!maki_block_is(block, MAKI_LIT("tool_use")))
        continue;
      any = true;
      if (maki_block_string(block, MAKI_LIT("id"), &id))
        remember(state, id, seq);
    }
  }
  if (!maki_json_get(row, MAKI_LIT("tool_calls"), &calls))
    return any;
  maki_json_iter iter = maki_json_items(calls);
  while (maki_json_next(&iter, &call)) {
    any = true;
    if (maki_block_string(call.value, MAKI_LIT("id"), &id))
      remember(state, id, seq);
  }
  return any;
}

/* The id of the first call that this message answers. */
static bool answers(maki_role role, maki_str row, maki_str content,
                    maki_str *id) {
  maki_str block;
  *id = (maki_str){"", 0};
  if (role == MAKI_ROLE_TOOL) {
    if (!maki_block_string(row, MAKI_LIT("tool_call_id"), id))
      *id = (maki_str){"", 0};
    return true;
  }
  if (role != MAKI_ROLE_USER || content.len == 0 || content.ptr[0] != '[')
    return false;
  maki_blocks blocks = maki_content_blocks(content);
  while (maki_blocks_next(&blocks, &block)) {
    if (!maki_block_is(block, MAKI_LIT("tool_result")))
      continue;
    if (!maki_block_string(block, MAKI_LIT("tool_use_id"), id))
      *id = (maki_str){"", 0};
    return true;
  }
  return false;
}

/* Is what we remember that of the rows just before `seq`?  Not after opening,
 * nor when another process wrote in between, nor when a group of ours was given
 * up. */
static maki_status remembers(const maki_fact_state *state, maki_log *log,
                             uint64_t seq, bool *out, maki_err *err) {
  maki_row before;
  *out = state->last_seq + 1 == seq && seq > maki_log_base(log) + 1;
  if (!*out || seq != maki_log_last(log) + 1)
    return MAKI_OK; /* inside a group nobody else writes */
  maki_status st = maki_log_row(log, seq - 1, &before, err);
  *out = st == MAKI_OK && before.xxh3 == state->last_hash;
  return st;
}

static maki_status look_at(maki_fact_state *state, maki_log *log, uint64_t seq,
                           maki_buf *row, maki_err *err) {
  maki_row record;
  maki_str content = {"", 0};
  maki_status st = maki_log_row(log, seq, &record, err);
  if (st != MAKI_OK || !(record.flags & MAKI_FACT_CALLS) ||
      (record.flags & MAKI_ROW_BAD))
    return st;
  maki_buf_clear(row);
  st = maki_log_read(log, seq, row, err);
  if (st == MAKI_CORRUPT)
    return MAKI_OK; /* fsck's business: writing goes on */
  if (st != MAKI_OK)
    return st;
  maki_json_get(maki_buf_str(row), MAKI_LIT("content"), &content);
  note_calls(state, maki_buf_str(row), content, seq);
  return MAKI_OK;
}

/* Remember the rows just before `seq`. */
static maki_status look_back(maki_fact_state *state, maki_log *log,
                             uint64_t seq, maki_err *err) {
  uint64_t first = maki_log_base(log) + 1, last = maki_log_last(log);
  bool known = false;
  maki_status st = remembers(state, log, seq, &known, err);
  if (st != MAKI_OK || known)
    return st;
  state->next = 0;
  if (last >= seq)
    last = seq - 1;
  maki_buf row = maki_buf_new(state->alloc, (size_t)MAKI_ROW_MAX);
  uint64_t from = last >= first + LOOK_BACK ? last - LOOK_BACK + 1 : first;
  for (uint64_t s = from; st == MAKI_OK && s <= last; s++)
    st = look_at(state, log, s, &row, err);
  maki_buf_free(&row);
  return st;
}

/* When it was said: ts or createdAt in ms, or timestamp as a time. */
static int64_t time_of(maki_str row) {
  maki_str value;
  char text[40];
  double ms = 0;
  if ((maki_json_get(row, MAKI_LIT("ts"), &value) ||
       maki_json_get(row, MAKI_LIT("createdAt"), &value) ||
       maki_json_get(row, MAKI_LIT("timestamp"), &value))) {
    if (maki_json_kind_of(value) == MAKI_JSON_NUMBER)
      ms = maki_json_double(value);
    if (maki_json_kind_of(value) == MAKI_JSON_STRING) {
      size_t n = maki_json_copy_text(value, text, sizeof text);
      if (!maki_time_parse((maki_str){text, n}, &ms))
        ms = 0;
    }
  }
  return fabs(ms) < 9e15 ? (int64_t)ms : 0;
}

static uint32_t tokens_of(maki_str row, maki_str content) {
  maki_str calls;
  uint64_t units = content.len ? maki_json_units(content) : 0;
  if (maki_json_get(row, MAKI_LIT("tool_calls"), &calls))
    units += maki_json_units(calls);
  return (uint32_t)((units + 3) / 4 + PER_MESSAGE);
}

maki_status maki_facts_of(void *ctx, maki_log *log, uint64_t seq, maki_str row,
                          maki_facts *out, maki_err *err) {
  maki_fact_state *state = ctx;
  maki_str object, content = {"", 0}, id;
  maki_status st = look_back(state, log, seq, err);
  if (st != MAKI_OK)
    return st;
  state->last_seq = seq;
  state->last_hash = maki_row_hash(row);
  st = maki_json_check(row, &object, err);
  if (st == MAKI_TOOBIG)
    return maki_fail(err, MAKI_INVALID, "message %llu is nested too deep",
                     (unsigned long long)seq);
  if (st != MAKI_OK)
    return st;
  maki_str role = {"", 0}, flag;
  if (maki_json_kind_of(object) != MAKI_JSON_OBJECT ||
      !maki_block_string(object, MAKI_LIT("role"), &role)) {
    return maki_fail(err, MAKI_INVALID,
                     "message %llu must be an object with a role",
                     (unsigned long long)seq);
  }
  if (maki_json_get(object, MAKI_LIT("content"), &content) &&
      maki_json_kind_of(content) == MAKI_JSON_NULL) {
    content = (maki_str){"", 0};
  }
  maki_role kind = maki_role_of(role);
  *out =
      (maki_facts){.ts = time_of(object), .tokens = tokens_of(object, content)};
  out->flags = (uint32_t)kind;
  if (answers(kind, object, content, &id)) {
    out->flags |= MAKI_FACT_ANSWERS;
    if (id.len)
      out->call_seq = caller_of(state, id, seq);
  }
  if (kind == MAKI_ROLE_ASSISTANT && note_calls(state, object, content, seq)) {
    out->flags |= MAKI_FACT_CALLS;
  }
  if (maki_json_get(object, MAKI_LIT("isSummary"), &flag) &&
      maki_json_true(flag)) {
    out->flags |= MAKI_FACT_SUMMARY;
  }
  if (maki_json_get(object, MAKI_LIT("isTruncationMarker"), &flag) &&
      maki_json_true(flag)) {
    out->flags |= MAKI_FACT_MARKER;
  }
  return st;
}
