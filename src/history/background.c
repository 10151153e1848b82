/* background.c -- see background.h. */
#include "history/background.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#include "base/err.h"
#include "history/facts.h"

struct maki_background {
    maki_env env;
    size_t family;
    pthread_t thread;
    atomic_bool stop, ended;
    maki_status status; /* the thread's until it has been joined */
    maki_fact_state facts;
    maki_tally first, other; /* the thread's: of the log's own index, and of the family */
    size_t size, count;
    maki_background_log logs[];
};

static maki_status watch(void *ctx, uint64_t done, uint64_t total)
{
    const maki_background *bg = ctx;
    (void)done;
    (void)total;
    return atomic_load(&bg->stop) ? MAKI_CANCELLED : MAKI_OK;
}

static maki_status count_log(maki_background *bg, const maki_background_log *of)
{
    maki_beside_family family = { maki_tally_name(bg->family), maki_tally_read, &bg->other };
    maki_beside_how how = { .threads = 1, .progress = watch, .ctx = bg };
    maki_log_options options = { .read_only = true,
                                 .family = MAKI_FAMILY,
                                 .facts = maki_facts_of,
                                 .facts_ctx = &bg->facts,
                                 .tokens = maki_tally_row,
                                 .tokens_ctx = &bg->first,
                                 .threads = 1,
                                 .progress = watch,
                                 .progress_ctx = bg };
    maki_log *log = NULL;
    maki_beside *b = NULL;
    bool own = of->private_fd >= 0;
    maki_status st = maki_log_open(&bg->env, of->path, &options, &log, NULL);
    if (st == MAKI_OK) st = maki_beside_open(log, &family, own, of->private_fd, &b, NULL);
    if (st == MAKI_OK) st = maki_beside_count(b, &how, NULL);
    maki_beside_close(b);
    maki_log_close(log);
    return st;
}

static void *run(void *arg)
{
    maki_background *bg = arg;
    for (size_t i = 0; bg->status == MAKI_OK && i < bg->count; i++)
        bg->status = count_log(bg, &bg->logs[i]);
    maki_tally_close(&bg->first);
    maki_tally_close(&bg->other);
    atomic_store(&bg->ended, true);
    return NULL;
}

/* The logs, and their paths behind them. */
static void copy_logs(maki_background *bg, const maki_background_log *logs, size_t count)
{
    char *text = (char *)&bg->logs[count];
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(logs[i].path) + 1;
        bg->logs[i] = (maki_background_log){ memcpy(text, logs[i].path, len), logs[i].private_fd };
        text += len;
    }
    bg->count = count;
}

static maki_status start(maki_background *bg, maki_err *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the threads of the host */
    int failed = pthread_create(&bg->thread, NULL, run, bg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed ? maki_fail(err, MAKI_IO, "no thread can be started: %s", strerror(failed))
                  : MAKI_OK;
}

maki_status maki_background_start(const maki_env *env, size_t family,
                                  const maki_background_log *logs, size_t count,
                                  maki_background **out, maki_err *err)
{
    size_t size = sizeof(maki_background) + count * sizeof logs[0];
    for (size_t i = 0; i < count; i++)
        size += strlen(logs[i].path) + 1;
    maki_background *bg = env->alloc->resize(env->alloc, NULL, 0, size);
    if (!bg) return maki_fail_nomem(err);
    memset(bg, 0, size);
    bg->env = *env;
    bg->family = family;
    bg->size = size;
    bg->facts.alloc = env->alloc;
    maki_tally_init(&bg->first, env, 0);
    maki_tally_init(&bg->other, env, family);
    copy_logs(bg, logs, count);
    maki_status st = start(bg, err);
    if (st != MAKI_OK) {
        env->alloc->resize(env->alloc, bg, size, 0);
        return st;
    }
    *out = bg;
    return MAKI_OK;
}

bool maki_background_ended(const maki_background *bg)
{
    return atomic_load(&bg->ended);
}

maki_status maki_background_end(maki_background *bg)
{
    atomic_store(&bg->stop, true);
    pthread_join(bg->thread, NULL);
    maki_status st = bg->status;
    const maki_alloc *alloc = bg->env.alloc;
    alloc->resize(alloc, bg, bg->size, 0);
    return st;
}
