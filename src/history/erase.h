/* erase.h -- delete a conversation: every file that belongs to it.
 *
 *     talk.jsonl  talk.events.jsonl                    the messages, and the events
 *     talk.idx  talk.idx.FAMILY  and their .new        the index; .new is what a killed process left
 *     talk.jsonl.damaged-N  talk.events.jsonl.damaged-N    damaged copies that repairs left
 *
 * Nothing else in the directory is touched, whatever its name begins with. */
#ifndef MAKI_HISTORY_ERASE_H
#define MAKI_HISTORY_ERASE_H

#include <maki/env.h>

/* `path` is the messages file.  Waits for a group that another handle is writing, so the caller may not be in one; open
 * handles find at their next group that the files are gone.  The messages are removed last: when the process is
 * killed halfway, the conversation can be named and erased again.  A missing file is no failure; the error of the first
 * file that cannot be removed is returned after all others are removed. */
maki_status maki_conv_erase(const maki_env *env, const char *path, maki_err *err);

/* Delete one whose creation failed.  Damaged copies stay: they belong to an older conversation of the same name. */
void maki_conv_erase_new(const maki_env *env, const char *path);

#endif
