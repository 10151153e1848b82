/* model.c -- the providers of the configuration, for commands that summarize.
 *
 * The HTTP client takes milliseconds to load, so it is in a module of its own, maki-send.so, loaded by the first call
 * of maki_model.find.  That call replaces the table of cli_use_model by the module's. */
#include <dlfcn.h>
#include <limits.h>

#include "base/err.h"
#include "cli.h"
#include "http.h"

static maki_status load_module(cli_handle *h, maki_err *err)
{
    char path[PATH_MAX];
    void *module =
        cli_sibling_path(MAKI_SEND_MODULE, path, sizeof path) ? dlopen(path, RTLD_NOW) : NULL;
    void *symbol = module ? dlsym(module, MAKI_SEND_OPEN) : NULL;
    if (!symbol) {
        const char *error = dlerror();
        return maki_fail(err, MAKI_NOTFOUND, "%.100s",
                         error ? error : MAKI_SEND_MODULE ": not found");
    }
    maki_env env = maki_env_system();
    return ((maki_send_open_fn *)symbol)(maki_version(), &env, h->config, h->log, &h->model, err);
}

static maki_status load_and_find(const maki_model *self, const maki_model_name *name,
                                 maki_model_found *out, maki_err *err)
{
    cli_handle *h = self->ctx;
    maki_status st = load_module(h, err);
    return st == MAKI_OK ? h->model.find(&h->model, name, out, err) : st;
}

void cli_use_model(cli_handle *h)
{
    h->model = (maki_model){ .find = load_and_find, .ctx = h };
    maki_set_model(h->m, &h->model);
}
