/* maki.h -- everything a user of libmaki needs. */
#ifndef MAKI_H
#define MAKI_H

#include <maki/config.h>
#include <maki/conversation.h>
#include <maki/env.h>
#include <maki/json.h>
#include <maki/model.h>
#include <maki/op.h>
#include <maki/status.h>
#include <maki/str.h>
#include <maki/token.h>

MAKI_BEGIN_DECLS

/* "0.1.0" */
MAKI_API const char *maki_version(void);

MAKI_END_DECLS

#endif
