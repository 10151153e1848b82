/* erase.h -- a conversation taken off the disk, with every file that belongs to it.
 *
 *     talk.jsonl  talk.events.jsonl                    what was said, and what was done
 *     talk.idx  talk.idx.FAMILY  and their .new        derived; .new is what a killed process left
 *     talk.jsonl.damaged-N  talk.events.jsonl.damaged-N    what repairs put aside
 *
 * Nothing else in the folder is touched, whatever its name begins with. */
#ifndef MAKI_HISTORY_ERASE_H
#define MAKI_HISTORY_ERASE_H

#include <maki/env.h>

/* `path` is the messages file; nobody else may have it open.  The messages go last: killed on the way, it can be
 * named and erased again.  What is not there is no failure; the first file that cannot be removed is told
 * after all others are gone. */
maki_status maki_conv_erase(const maki_env *env, const char *path, maki_err *err);

/* Of one that was just made and came to nothing.  What was put aside stays: it is of an older one that had the
 * same name. */
void maki_conv_erase_new(const maki_env *env, const char *path);

#endif
