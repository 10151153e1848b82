/* transcript.h -- what the files of one session say about it.
 *
 *     {"type":"header","version":1,"sessionId":...,"createdAt":...,"sessionKey":...,"channel":...}
 *
 * The header has what never changes.  What changes is in events: `usage` {input, output, model} adds up, and
 * `session` {overrides, state} says what holds from now on.  Files only grow, so a second look reads what
 * came since the first: a reply costs its own bytes, not those of the history. */
#ifndef MAKI_STORE_TRANSCRIPT_H
#define MAKI_STORE_TRANSCRIPT_H

#include "store/session.h"

/* Bring *s up to date with its files in `folder`, which s->id names.  s->read_messages and s->read_events say
 * how far it is already; 0: nothing is known but agent and id.  MAKI_NOTFOUND: there is no such file. */
maki_status maki_transcript_read(const maki_env *env, const char *directory, maki_session *s,
                                 maki_err *err);

/* Is there more in its events file than was read? */
bool maki_transcript_has_events(const maki_env *env, const char *directory, const maki_session *s);

/* Tokens of all its rows in o200k_base, as the index says; 0 without one. */
uint64_t maki_transcript_tokens(const maki_env *env, const char *directory, const char *id);

#endif
