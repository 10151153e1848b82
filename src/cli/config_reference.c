/* config_reference.c -- see config_reference.h. */
#include "config_reference.h"

#include <stdio.h>

#include <maki/config.h>

static const char head[] =
    "# Configuration\n"
    "\n"
    "<!-- Made by `maki config reference`; do not edit. -->\n"
    "\n"
    "Maki works without a configuration.  To change something, write a `maki.yaml` (YAML, so JSON too):\n"
    "\n"
    "```yaml\n"
    "autoCondenseContextPercent: 70     # make room a little earlier\n"
    "profileThresholds:\n"
    "  claude-opus-4-5-20251101: 80     # later for this model\n"
    "  gpt-3.5-turbo: 50\n"
    "upstreams:\n"
    "  openai: http://127.0.0.1:9999/v1 # one line each\n"
    "  local: {url: \"http://127.0.0.1:8000/v1\", models: [qwen*, llama-3*]}\n"
    "llm:\n"
    "  provider: openai\n"
    "  openai: {model: gpt-4o, context_length: 128000, api_key: \"${OPENAI_API_KEY}\"}\n"
    "policies:\n"
    "  gentle:\n"
    "    - step: prune_tools\n"
    "    - {step: condense, keep: 5}\n"
    "policy: gentle\n"
    "```\n"
    "\n"
    "- **Where**: the file of `--config`, else `$MAKI_CONFIG`, `./maki.yaml`, `$XDG_CONFIG_HOME/maki/maki.yaml` (usually `~/.config`).\n"
    "- **What wins**: options of the command line, then the variables of the environment named below, the file, the default.\n"
    "- **Variables**: `${NAME}` in a value is taken from the environment, `${NAME:-default}` has a default, `$${` is `${` itself.\n"
    "  A variable that is not set is an error; for a secret only when the secret is needed.\n"
    "- **Names**: `agents.*.maxTurns` is `agents: {NAME: {maxTurns: ...}}`; `#` is a place in a list.  `a.b: 1` and `a: {b: 1}` are the same.\n"
    "- **Mistakes**: an unknown key or a bad value is an error with its line; `maki config check` shows all of them,\n"
    "  `maki config show` what is in force and where it came from.\n"
    "- Every setting here acts.  The last section lists those that a file may have already, of parts of Maki that are still to come.\n";

static void print_default(const maki_config_setting *s)
{
    if (s->initial)
        printf(" `%s` |", s->initial);
    else
        printf(" |");
}

static void print_setting(const maki_config_setting *s)
{
    char wanted[400] = "";
    printf("| `%s` |", s->path);
    if (s->type == MAKI_CONFIG_SAME) {
        printf(" another name of `%s` | |", s->choices);
    } else {
        (void)maki_config_expected(s, wanted, sizeof wanted);
        printf(" %s |", wanted);
        print_default(s);
    }
    printf(" %s", s->help);
    if (s->variable) printf("; `$%s` wins over the file", s->variable);
    if (s->editor) printf("; also `rooCode.` and `roo-code.` before it");
    printf(" |\n");
}

static void print_named_defaults(void)
{
    const char *path, *initial;
    printf("\n## Defaults of some names\n\n| setting | default |\n|---|---|\n");
    for (size_t i = 0; maki_config_named_default(i, &path, &initial), path; i++)
        printf("| `%s` | `%s` |\n", path, initial);
}

static bool any_of(const maki_config_part *part, bool unused)
{
    for (size_t j = 0; j < part->count; j++) {
        if (part->settings[j].unused == unused) return true;
    }
    return false;
}

static void print_table(const maki_config_part *part, bool unused)
{
    if (!any_of(part, unused)) return;
    printf("\n%s %s\n\n", unused ? "###" : "##", part->title);
    if (!unused) printf("%s\n\n", part->help);
    printf("| setting | value | default | what it %s |\n|---|---|---|---|\n",
           unused ? "will do" : "does");
    for (size_t j = 0; j < part->count; j++) {
        if (part->settings[j].unused == unused) print_setting(&part->settings[j]);
    }
}

void config_reference_print(void)
{
    fputs(head, stdout);
    for (size_t i = 0; i < maki_config_part_count(); i++)
        print_table(maki_config_part_at(i), false);
    print_named_defaults();
    printf("\n## Without effect yet\n\nRead and checked, so that a file can be complete.\n");
    for (size_t i = 0; i < maki_config_part_count(); i++)
        print_table(maki_config_part_at(i), true);
}
