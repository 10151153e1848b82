/* thread.h -- start a thread with all signals blocked: the main thread handles them. */
#ifndef MAKI_BASE_THREAD_H
#define MAKI_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* False on failure. */
static inline bool maki_thread_start(pthread_t *thread, void *(*run)(void *ctx), void *ctx)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(thread, NULL, run, ctx) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

#endif
