/* tool_kind.h -- classify a tool by its name, and read the arguments and command of a call.
 *
 * Agents name their tools differently (Read, read_file, str_replace_editor, Bash, execute_command), but
 * the words in the names and the names of the arguments are few. */
#ifndef MAKI_SUMMARY_TOOL_KIND_H
#define MAKI_SUMMARY_TOOL_KIND_H

#include "base/json_access.h"

typedef enum maki_tool_kind {
    MAKI_TOOL_OTHER,
    MAKI_TOOL_READ,
    MAKI_TOOL_EDIT,
    MAKI_TOOL_WRITE,
    MAKI_TOOL_DELETE,
    MAKI_TOOL_RUN,
    MAKI_TOOL_SEARCH,
    MAKI_TOOL_TODO
} maki_tool_kind;

/* JSON values, borrowed; len 0 for what the call does not have. */
typedef struct maki_tool_args {
    maki_str path;    /* a string */
    maki_str paths;   /* an array of strings, or of objects with a path */
    maki_str command; /* a string or an array of strings */
    maki_str patch;   /* a string */
    maki_str todos;   /* an array or a string */
} maki_tool_args;

/* Of a tool's name, unescaped. */
maki_tool_kind maki_tool_kind_of(maki_str name);
/* From the arguments, a JSON object that was checked. */
maki_tool_args maki_tool_args_of(maki_str input);
/* From truncated arguments: those that are complete. */
maki_tool_args maki_tool_args_truncated(maki_str head);
/* One tool may do several things: then its argument `command` says which ("view", "create"). */
maki_tool_kind maki_tool_kind_by_command(maki_tool_kind kind, maki_tool_args *args);

/* The name of a command: one line without a leading "cd", and without a redirection or pipe at its end.
 * Two runs of one command have the same.  Returns its length in out[capacity]. */
size_t maki_command_name(maki_str command, char *out, size_t capacity);
/* Does a run of `whole` include one of `part` ("npm test" and "npm test -- cart")?  Both are names. */
bool maki_command_includes(maki_str whole, maki_str part);
/* Does this command only display files or text?  Then its output does not show whether it failed. */
bool maki_command_only_displays(maki_str name);

#endif
