/* entries.h -- the text of a sessions.json, read and written in pieces.
 *
 *     {"version":1,"folder":1700000000000000,"entries":{
 *     "ID":{"id":"ID","agentId":...,"sessionKey":...,"createdAt":...,"updatedAt":...,"model":...,
 *           "messageCount":...,"tokenUsage":{"input":...,"output":...},"overrides":{...},"state":"active",
 *           "channel":...,"read":[bytes of messages, bytes of events]},
 *     ...}}
 *
 * The fields of an entry are the seed's; `channel` and `read` are ours.  `folder` is when the folder of the
 * sessions last changed, in microseconds; as long as that is so there is none that is not in here.  Other
 * programs may have fields of their own at the top and in entries: they are kept as they are.
 *
 * Memory does not grow with the file: what is held is one entry. */
#ifndef MAKI_STORE_ENTRIES_H
#define MAKI_STORE_ENTRIES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json_write.h"
#include "store/session.h"

/* One entry, borrowed until the callback returns; places are of the file. */
typedef struct maki_entry {
    maki_str id;         /* a JSON string */
    maki_str json;       /* the value */
    uint64_t start, end; /* from the quote of the id to one past the value */
} maki_entry;

/* What stands around the entries. */
typedef struct maki_entries_frame {
    uint64_t folder; /* 0: not told, or it was told after the entries */
    bool whole;      /* there was an object `entries` and the text ended as it should */
    maki_buf before; /* other fields, "\"name\":value," each; owned by whoever reads */
    maki_buf after;
} maki_entries_frame;

typedef maki_status (*maki_entry_fn)(void *ctx, const maki_entry *entry, maki_err *err);

/* Each entry in order.  A text that is not such JSON ends the reading: what came until then was handed out, and
 * frame->whole is false; that is no failure.  Not MAKI_OK: the file could not be read, or what `fn` answered.
 * frame->before and after are given back with maki_entries_free. */
maki_status maki_entries_each(const maki_env *env, int fd, maki_entry_fn fn, void *ctx,
                              maki_entries_frame *frame, maki_err *err);
void maki_entries_free(maki_entries_frame *frame); /* accepts a zeroed one */

/* Its id; false when that cannot be one. */
bool maki_entry_id(const maki_entry *entry, char out[MAKI_ID_MAX]);
/* What an entry says; a field of a wrong type counts as missing.  False: it lacks what is needed to trust it. */
bool maki_entry_read(maki_str json, maki_session *out);
/* Is the key of this entry `key`?  Without reading the rest of it. */
bool maki_entry_has_key(maki_str json, maki_str key);
/* "ID":{...} with what `old` (or nothing) has besides. */
void maki_entry_write(maki_jw *out, const maki_session *s, maki_str old);

#endif
