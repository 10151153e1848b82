/* event_memory.h -- an allocator for libevent's small blocks.
 *
 * libevent allocates 16 bytes for every descriptor that it has ever seen, and never frees them.  It does so when a
 * connection begins, so after ten thousand connections each such block would prevent an otherwise empty heap
 * page from being freed.  In this pool they are adjacent. */
#ifndef MAKI_NET_EVENT_MEMORY_H
#define MAKI_NET_EVENT_MEMORY_H

/* Install it for the process, before any other call of libevent.  If no memory can be reserved, malloc is used. */
void maki_event_memory_install(void);

#endif
