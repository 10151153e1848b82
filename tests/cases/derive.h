/* derive.h -- expected values that are derived from an answer, instead of being a field of it. */
#ifndef MAKI_TESTS_DERIVE_H
#define MAKI_TESTS_DERIVE_H

#include <stdbool.h>

#include "base/buf.h"

/* Write the reading for `op` into *out; false when its cases look at the answer as it is.
 *   history.repair_pairs  {"sequence": ["user:text", "assistant:id+id", "tool:id:text" ...]}, the
 *                         text of a result that was not in the input being "synthetic"
 *   prune.tools           {"changed": [{index, action, text}]}
 *   tools.project         {"names": [...], "enums": {"tool.argument": [...]}} */
bool derive_answer(const char *op, maki_str input, maki_str answer, maki_buf *out);

#endif
