/* import_formats.c -- the table of import formats, by name and by index (import_internal.h lists them). */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "history/import_internal.h"

#define LISTED(name) &maki_import_##name,
static const maki_import_format *const formats[] = { MAKI_IMPORT_MAP(LISTED) };

const maki_import_format *maki_import_format_at(size_t i)
{
    return i < sizeof formats / sizeof formats[0] ? formats[i] : NULL;
}

const char *maki_import_names(char out[MAKI_IMPORT_NAMES])
{
    size_t n = 0;
    for (size_t i = 0; maki_import_format_at(i); i++)
        n += (size_t)snprintf(out + n, MAKI_IMPORT_NAMES - n, "%s%s", n ? ", " : "",
                              maki_import_format_at(i)->name);
    return out;
}

maki_status maki_import_format_find(const char *name, const maki_import_format **out, maki_err *err)
{
    char names[MAKI_IMPORT_NAMES];
    for (size_t i = 0; (*out = maki_import_format_at(i)) != NULL; i++) {
        if (strcmp((*out)->name, name) == 0) return MAKI_OK;
    }
    return maki_fail(err, MAKI_UNSUPPORTED, "no format \"%.40s\"; there are %s", name,
                     maki_import_names(names));
}
