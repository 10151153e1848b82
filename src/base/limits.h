/* limits.h -- limits that several directories of src/ share.  A limit of one file is defined in that file. */
#ifndef MAKI_BASE_LIMITS_H
#define MAKI_BASE_LIMITS_H

enum {
    MAKI_PATH_MAX = 4096, /* a path, with its NUL */
    MAKI_ID_MAX = 128,    /* a session's or an agent's id, with its NUL */
    MAKI_KEY_MAX = 400,   /* a session's key */
    MAKI_MODEL_MAX = 96   /* a model's name */
};

#endif
