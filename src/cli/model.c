/* model.c -- the providers of the configuration, for commands that summarise; see cli.h.
 *
 * Loading what speaks HTTP takes milliseconds, so it waits in maki-send.so until a summary is to be written by a model. */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>

#include "cli.h"
#include "http.h"

static maki_status load(cli_handle *h, maki_err *err)
{
    char path[PATH_MAX];
    void *module =
        cli_path_beside(MAKI_SEND_MODULE, path, sizeof path) ? dlopen(path, RTLD_NOW) : NULL;
    void *symbol = module ? dlsym(module, MAKI_SEND_OPEN) : NULL;
    if (!symbol) {
        const char *why = dlerror();
        *err = (maki_err){ .status = MAKI_NOTFOUND };
        snprintf(err->msg, sizeof err->msg, "%.100s", why ? why : MAKI_SEND_MODULE " is not there");
        return err->status;
    }
    maki_env env = maki_env_system();
    return ((maki_send_open_fn *)symbol)(maki_version(), &env, h->config, h->log, &h->model, err);
}

/* The first question replaces this table by the real one. */
static maki_status find(const maki_model *self, const maki_model_name *name, maki_model_found *out,
                        maki_err *err)
{
    cli_handle *h = self->ctx;
    maki_status st = load(h, err);
    return st == MAKI_OK ? h->model.find(&h->model, name, out, err) : st;
}

void cli_use_model(cli_handle *h)
{
    h->model = (maki_model){ .find = find, .ctx = h };
    maki_use_model(h->m, &h->model);
}
