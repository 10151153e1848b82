/* entries.h -- read and write sessions.json: its top level, and its entries, one for each session.
 *
 *     {"version":1,"folder":1700000000000000,"entries":{
 *     "ID":{"id":"ID","agentId":"default","sessionKey":"agent:default:telegram:1", ..., "read":[4096,120]},
 *     ...
 *     }}
 *
 * `folder` is the time of the last change of the sessions directory, in microseconds, 0: unknown; `read` is how
 * many bytes of messages and events an entry was read from.  Unknown fields are preserved. */
#ifndef MAKI_STORE_ENTRIES_H
#define MAKI_STORE_ENTRIES_H

#include "base/json_access.h"
#include "base/json_write.h"
#include "store/session.h"

/* Borrowed from the text. */
typedef struct maki_entries {
    maki_str top;       /* the top-level object */
    maki_str all;       /* the object `entries`, an item for each session */
    uint64_t directory; /* the field `folder` */
} maki_entries;

/* False: not valid JSON, or not a session index. */
bool maki_entries_read(maki_str text, maki_entries *out);
/* Write the unknown fields of the top level into the open object. */
void maki_entries_write_others(maki_jw *out, const maki_entries *entries);

/* The id of an entry; false: invalid. */
bool maki_entry_id(const maki_json_item *entry, char out[MAKI_ID_MAX]);
/* Read an entry; a field of a wrong type counts as missing.  False: a required field is missing. */
bool maki_entry_read(maki_str json, maki_session *out);
/* Is the session key of this entry `key`?  The other fields are not parsed. */
bool maki_entry_has_key(maki_str json, maki_str key);
/* Write "ID":{...}, with the unknown fields of `old` (an entry, or empty). */
void maki_entry_write(maki_jw *out, const maki_session *s, maki_str old);

#endif
