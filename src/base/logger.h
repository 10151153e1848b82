/* logger.h -- a structured logger: one event per line, key=value.
 *
 *     2026-01-27T09:30:00.125Z info context_check session=abc usage=0.75 action=compress
 *
 * Values are typed, never formatted text, so a message body cannot be logged by accident: a string longer than
 * MAKI_LOG_VALUE_MAX bytes is truncated, and what looks like a key or a token is masked. */
#ifndef MAKI_BASE_LOGGER_H
#define MAKI_BASE_LOGGER_H

#include <stdbool.h>
#include <stdint.h>

#include <maki/env.h>

enum { MAKI_LOG_VALUE_MAX = 120 };

typedef enum maki_level { MAKI_DEBUG, MAKI_INFO, MAKI_WARN, MAKI_ERROR } maki_level;

/* Parse "debug", "info", "warn" or "error"; false, and *out unchanged, for anything else. */
bool maki_level_parse(maki_str name, maki_level *out);
const char *maki_level_name(maki_level level);

typedef struct maki_logger {
    const maki_clock *clock;
    maki_sink sink;
    maki_level min_level; /* lower levels are not written */
} maki_logger;

typedef struct maki_kv {
    const char *key;
    enum { MAKI_KV_STR, MAKI_KV_INT, MAKI_KV_NUM } type;
    maki_str str;
    int64_t integer;
    double number;
} maki_kv;

#define MAKI_KV_S(k, s) ((maki_kv){ .key = (k), .type = MAKI_KV_STR, .str = (s) })
#define MAKI_KV_I(k, i) ((maki_kv){ .key = (k), .type = MAKI_KV_INT, .integer = (int64_t)(i) })
#define MAKI_KV_N(k, n) ((maki_kv){ .key = (k), .type = MAKI_KV_NUM, .number = (n) })

/* Write one event; a NULL logger writes nothing.  A failure of the sink is ignored: logging never stops the caller. */
void maki_log_event(const maki_logger *logger, maki_level level, const char *event,
                    const maki_kv *values, size_t count);

#endif
