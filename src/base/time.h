/* time.h -- parse ISO 8601 dates and times. */
#ifndef MAKI_BASE_TIME_H
#define MAKI_BASE_TIME_H

#include <stdbool.h>

#include <maki/str.h>

/* ISO 8601 ("2026-01-27", "2026-01-27T09:30:00.125Z", "2026-01-27T18:30+09:00") as milliseconds since
 * 1970.  Without an offset it is UTC.  False for anything else. */
bool maki_time_parse(maki_str text, double *ms);

#endif
