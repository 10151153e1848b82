/* encoding_tables.c -- the tables that make_tables wrote, embedded as read-only data. */
#include "base/platform.h"

MAKI_EMBED(maki_table_o200k, "token/o200k_base.bin");
MAKI_EMBED(maki_table_cl100k, "token/cl100k_base.bin");
MAKI_EMBED(maki_table_claude, "token/claude.bin");
