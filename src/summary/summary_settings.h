/* summary_settings.h -- the settings of summaries in a configuration, for one profile. */
#ifndef MAKI_SUMMARY_SETTINGS_H
#define MAKI_SUMMARY_SETTINGS_H

#include <maki/config.h>

#include "summary/offline.h"

/* Texts are borrowed from the configuration. */
typedef struct maki_summary_settings {
    maki_str provider; /* one of `llm`; len 0: offline */
    maki_str model;    /* len 0: the provider's own */
    maki_str prompt;   /* as maki_prompt_of takes it */
    maki_str focus;    /* of one call: what the summary must keep above all; len 0: nothing */
    uint64_t max_tokens;
    int64_t timeout_ms;
    double ratio; /* the share of tokens that a summary should save */
    bool has_lang;
    maki_lang lang;            /* with has_lang; else that of the text */
    bool background;           /* prepare summaries before they are needed (manage/prepare.h) */
    double background_percent; /* of the window; 0: by the threshold */
} maki_summary_settings;

/* The defaults: offline. */
extern const maki_summary_settings maki_summary_defaults;

/* `profile` is the id of the model whose conversation it is, as in `profiles`; `task` says that it is one of
 * tasks, which have a prompt of their own and aim at 30 to 40 % of the length. */
maki_status maki_summary_settings_read(const maki_config *config, maki_str profile, bool task,
                                       maki_summary_settings *out, maki_err *err) MAKI_MUST_CHECK;

/* The offline summarizer with these settings. */
maki_offline_options maki_summary_offline(const maki_summary_settings *settings);

#endif
