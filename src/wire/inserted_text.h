/* inserted_text.h -- the texts that agents insert into messages of the user: reminders, the environment, output of commands.
 *
 * A person did not write them: a title does not begin with them, and the page shows them apart.  Each is a block between
 * two tags of one table, at the beginning or at the end of a text; one in the middle is a text, because a person may
 * quote it.  Texts are decoded here, not JSON. */
#ifndef MAKI_WIRE_INSERTED_TEXT_H
#define MAKI_WIRE_INSERTED_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <maki/str.h>

typedef struct maki_inserted_tags {
    maki_str open, close;
    bool
        temporary; /* the agent leaves it out, or writes another one, when it resumes the conversation (canon.h) */
} maki_inserted_tags;

/* The table; *count rows. */
const maki_inserted_tags *maki_inserted_table(size_t *count);

/* How many bytes at the beginning of `text` are inserted, the white space after them included; 0: none. */
size_t maki_inserted_head(maki_str text);
/* The same at its end, the white space before them included. */
size_t maki_inserted_tail(maki_str text);
/* What a person wrote of `text`: without what is inserted, without white space at both ends, and without the tags that an
 * agent puts around the person's words (<task>, <user_query> ...).  len 0: nothing. */
maki_str maki_inserted_none(maki_str text);

#endif
