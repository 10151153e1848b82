/* config_reference.h -- the reference page of all settings, docs/configuration.md, from their table. */
#ifndef MAKI_CLI_CONFIG_REFERENCE_H
#define MAKI_CLI_CONFIG_REFERENCE_H

void config_reference_print(void);

#endif
