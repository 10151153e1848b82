/* time.h -- times as people write them. */
#ifndef MAKI_BASE_TIME_H
#define MAKI_BASE_TIME_H

#include <stdbool.h>

#include <maki/str.h>

/* ISO 8601 ("2026-01-27", "2026-01-27T09:30:00.125Z", "2026-01-27T18:30+09:00") as milliseconds since
 * 1970.  Without an offset it is UTC.  False when it is not such a time. */
bool maki_time_parse(maki_str text, double *ms);

#endif
