/* entries.h -- the text of sessions.json, and the entries in it.
 *
 *     {"version":1,"folder":1700000000000000,"entries":{
 *     "ID":{"id":"ID","agentId":"default","sessionKey":"agent:default:telegram:1", ..., "read":[4096,120]},
 *     ...
 *     }}
 *
 * `folder` is when the folder of the sessions last changed, in microseconds, 0 when that is not known; `read` is how
 * many bytes of messages and events an entry was made from.  Fields that are not ours stay as they are. */
#ifndef MAKI_STORE_ENTRIES_H
#define MAKI_STORE_ENTRIES_H

#include "base/json.h"
#include "base/json_write.h"
#include "store/session.h"

/* Borrowed from the text. */
typedef struct maki_entries {
    maki_str top; /* the whole object */
    maki_str all; /* the object `entries`: each item is one entry */
    uint64_t directory;
} maki_entries;

/* False: that is no JSON, or no view. */
bool maki_entries_read(maki_str text, maki_entries *out);
/* Fields of other programs at the top, into the object that is open. */
void maki_entries_write_others(maki_jw *out, const maki_entries *entries);

/* Its id; false when that cannot be one. */
bool maki_entry_id(const maki_json_item *entry, char out[MAKI_ID_MAX]);
/* What an entry says; a field of a wrong type counts as missing.  False: it lacks what is needed to trust it. */
bool maki_entry_read(maki_str json, maki_session *out);
/* Is the key of this entry `key`?  Without reading the rest of it. */
bool maki_entry_has_key(maki_str json, maki_str key);
/* "ID":{...} with what `old` (or nothing) has besides. */
void maki_entry_write(maki_jw *out, const maki_session *s, maki_str old);

#endif
