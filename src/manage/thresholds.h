/* thresholds.h -- the defaults and ranges of the thresholds of a run (DESIGN.md section 4). */
#ifndef MAKI_MANAGE_THRESHOLDS_H
#define MAKI_MANAGE_THRESHOLDS_H

#define MAKI_RESERVED_OUTPUT   8192.0 /* tokens reserved for the answer by default */
#define MAKI_THRESHOLD_DEFAULT 75.0   /* percent of the window */
#define MAKI_THRESHOLD_MIN     5.0    /* a profile's threshold is valid from here */
#define MAKI_THRESHOLD_MAX     100.0  /* to here, in percent */
#define MAKI_THRESHOLD_INHERIT (-1.0)
#define MAKI_THRESHOLD_NEVER   101.0
#define MAKI_MIN_REDUCTION     0.2 /* a condense that saves a smaller share has failed */

/* The share of tokens saved; 0 when there were none. */
static inline double maki_reduction(double before, double after)
{
    return before > 0 ? (before - after) / before : 0;
}

#endif
