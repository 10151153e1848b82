/* event_fifo_reader.h -- events of other processes for /maki/events, from the FIFO in the state directory.
 *
 * `maki session compact` and `maki chat` write there that a run starts (store/event_fifo.h).  Read on the loop, always, so
 * that nothing old is waiting for the first listener. */
#ifndef MAKI_DAEMON_EVENT_FIFO_READER_H
#define MAKI_DAEMON_EVENT_FIFO_READER_H

#include "daemon/broadcast.h"

typedef struct maki_event_fifo_reader maki_event_fifo_reader;

/* Create the FIFO in `home`; the daemon has locked serve.pid there.  NULL where none can be made (no such files, a
 * read-only disk): then only this process's events are sent. */
maki_event_fifo_reader *maki_event_fifo_reader_open(const maki_env *env, struct event_base *base,
                                                    const char *home, maki_broadcast *broadcast);
/* Removes the FIFO.  Accepts NULL. */
void maki_event_fifo_reader_close(maki_event_fifo_reader *reader);

#endif
