/* entities.h -- find paths, identifiers of code and numbers in a text.
 *
 * These facts must survive a summary word for word.  They are detected by their form alone.
 * A path has a slash and looks like one, or is a name with the extension of
 * a source or text file; a name has an underscore or capitals inside; a number has two digits or more. */
#ifndef MAKI_SUMMARY_ENTITIES_H
#define MAKI_SUMMARY_ENTITIES_H

#include <stdbool.h>

#include <maki/str.h>

/* All kinds of facts; the first three are found here. */
typedef enum maki_fact {
    MAKI_FACT_PATH,
    MAKI_FACT_NAME,
    MAKI_FACT_NUMBER,
    MAKI_FACT_ERROR,
    MAKI_FACT_TASK,
    MAKI_FACT_KINDS
} maki_fact;

enum { MAKI_ENTITY_MAX = 160 }; /* bytes; longer words are ignored */

typedef void (*maki_entity_fn)(void *ctx, maki_fact what, maki_str text);

/* Call fn for each, in text order.  `text` is valid UTF-8. */
void maki_entities_in(maki_str text, maki_entity_fn fn, void *ctx);

/* Does this look like the path of a file?  White space and CJK characters may be in it. */
bool maki_is_path(maki_str word);
/* An identifier: an underscore inside, or a capital after a lower-case letter. */
bool maki_is_name(maki_str word);

#endif
