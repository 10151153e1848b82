/* event_memory.h -- where libevent keeps what is small.
 *
 * libevent keeps 16 bytes for every descriptor that it has ever seen, and never gives them back.  It takes them
 * while a connection begins, so after a crowd of ten thousand each of them would hold a page of the heap that is
 * otherwise empty.  Here they lie side by side. */
#ifndef MAKI_NET_EVENT_MEMORY_H
#define MAKI_NET_EVENT_MEMORY_H

/* For the whole process, before anything else of libevent is called.  Without memory it changes nothing. */
void maki_event_memory_use(void);

#endif
