/* policy_config.h -- read the policy of an agent from a configuration. */
#ifndef MAKI_MANAGE_POLICY_CONFIG_H
#define MAKI_MANAGE_POLICY_CONFIG_H

#include <maki/config.h>

#include "base/arena.h"
#include "manage/policy.h"

enum { MAKI_PLACEHOLDER_MAX = 500 /* bytes */ };

/* The policy of an agent's conversations: `agents.AGENT.policy`, else `policy`, else clawdbot with the values
 * of `agents.AGENT.pruning` when that is enabled, else `default_name` (maki; files for tasks).  `agent` may be
 * empty, and `config` NULL: nothing is configured.
 *
 * A name is first looked for in `policies`, then among the presets, so a file can replace a preset.  Strings
 * are borrowed from the configuration, lists are in the arena.  MAKI_NOTFOUND: unknown policy;
 * MAKI_INVALID: it has too many steps, or an invalid one. */
maki_status maki_policy_from_config(const maki_config *config, maki_str agent,
                                    const char *default_name, maki_arena *arena, maki_policy *out,
                                    maki_err *err) MAKI_MUST_CHECK;
/* The policy of that name: from `policies`, else the preset. */
maki_status maki_policy_configured(const maki_config *config, maki_str name, maki_arena *arena,
                                   maki_policy *out, maki_err *err) MAKI_MUST_CHECK;

#endif
