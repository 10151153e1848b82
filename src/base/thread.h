/* thread.h -- a thread that takes no signals: those are for whoever waits for them. */
#ifndef MAKI_BASE_THREAD_H
#define MAKI_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* False: none could be started. */
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
