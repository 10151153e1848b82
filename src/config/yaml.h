/* yaml.h -- parse a YAML file into a tree whose nodes have positions.
 *
 * libyaml parses it.  These are problems: more than 1 MB, more than 32 levels, more than 10,000 nodes, a duplicate key, tags,
 * merge keys, a second document, invalid UTF-8.  An alias is the node of its anchor, not a copy of it, so that a small file
 * cannot become a large tree; a caller that traverses the tree must limit its steps. */
#ifndef MAKI_CONFIG_YAML_H
#define MAKI_CONFIG_YAML_H

#include "config/problems.h"

enum { MAKI_YAML_BYTES = 1 << 20, MAKI_YAML_DEPTH = 32, MAKI_YAML_NODES = 10000 };

typedef enum maki_yaml_kind { MAKI_YAML_SCALAR, MAKI_YAML_LIST, MAKI_YAML_MAP } maki_yaml_kind;

typedef struct maki_yaml_node maki_yaml_node;

/* An item of a list, or a pair of a mapping. */
typedef struct maki_yaml_item {
    maki_str key;
    maki_text_position key_at;
    maki_yaml_node *value;
    struct maki_yaml_item *next;
} maki_yaml_item;

struct maki_yaml_node {
    maki_yaml_kind kind;
    maki_text_position at;
    maki_str text; /* of a scalar; NUL-terminated */
    bool quoted;   /* it is a string even if it looks like a number */
    bool open;     /* its end has not been parsed yet */
    maki_yaml_item *first, *last;
};

/* *top is the root, in the arena of `problems`; NULL: the file is empty, or has a mistake, which was added to `problems`.  The
 * status is MAKI_OK, MAKI_NOMEM or MAKI_TOOBIG. */
maki_status maki_yaml_read(maki_str bytes, maki_problems *problems, maki_yaml_node **top,
                           maki_err *err) MAKI_MUST_CHECK;

/* Is it an empty value, ~ or null? */
bool maki_yaml_is_null(const maki_yaml_node *node);

#endif
