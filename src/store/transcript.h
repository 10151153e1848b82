/* transcript.h -- read the facts of a session from its messages and events files.
 *
 *     {"type":"header","version":1,"sessionId":...,"createdAt":...,"sessionKey":...,"channel":...}
 *
 * The header never changes.  What changes is in events: `usage` {input, output, model} is summed, and
 * of `session` {overrides, state} the newest counts.  Files only grow, so a second read begins where the first
 * ended: a reply costs its own bytes, not those of the history. */
#ifndef MAKI_STORE_TRANSCRIPT_H
#define MAKI_STORE_TRANSCRIPT_H

#include "store/session.h"

/* Update *s from its files in `directory`, named by s->id.  s->read_messages and s->read_events are the offsets
 * to read from; 0: nothing was read yet.  MAKI_NOTFOUND: there is no such file. */
maki_status maki_transcript_read(const maki_env *env, const char *directory, maki_session *s,
                                 maki_err *err);

/* Does its events file have bytes that were not read yet? */
bool maki_transcript_has_events(const maki_env *env, const char *directory, const maki_session *s);

#endif
