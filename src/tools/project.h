/* project.h -- select the tools that the model is shown: by phase, permission, environment and budget.
 *
 * A tool that is left out has a reason.  An urgent task shows those with the highest priority; otherwise tools are shown in
 * their order until the budget is used up. */
#ifndef MAKI_TOOLS_PROJECT_H
#define MAKI_TOOLS_PROJECT_H

#include <stdbool.h>

#include "base/arena.h"

#define MAKI_TOOL_BUDGET      2000.0 /* tokens for definitions */
#define MAKI_URGENT_TOOLS_MAX 5      /* tools shown when the task is urgent */

typedef struct maki_project_input {
    maki_str tools;       /* a JSON array of objects with a name */
    maki_str phase;       /* not escaped */
    maki_str permissions; /* a JSON array of strings, or len 0 */
    bool production;
    bool urgent;
    maki_str production_enums; /* {tool: {argument: [values]}}, or len 0 for the default ones */
} maki_project_input;

typedef struct maki_projected {
    maki_str raw;   /* the definition of the input */
    maki_str shown; /* the one to show: production restricts arguments */
    double priority;
    const char *left_out; /* the reason, or NULL: shown */
} maki_projected;

typedef struct maki_projection {
    maki_projected *all; /* every tool; those shown are in the order to show them in */
    size_t count;
} maki_projection;

maki_status maki_project(const maki_project_input *in, maki_arena *arena, maki_projection *out,
                         maki_err *err);
#endif
