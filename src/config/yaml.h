/* yaml.h -- a YAML file as a tree in which every node knows its line.
 *
 * libyaml reads it; what can hurt is refused with words: more than 1 MB, more than 32 levels, more than
 * 10,000 nodes, a key twice in one mapping, tags, merge keys, a second document, what is not UTF-8.  An
 * alias is the node that its anchor names, not a copy of it, so that a small file cannot become a large
 * tree; who walks the tree must count its steps. */
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
    maki_str text; /* of a scalar; a NUL stands behind it */
    bool quoted;   /* it is text even if it looks like a number */
    bool open;     /* its end has not been read yet */
    maki_yaml_item *first, *last;
};

/* The top of the tree, or NULL: the file is empty, or has a mistake (which is then among the problems).
 * Lives in the problems' arena.  MAKI_NOMEM is the only other status. */
maki_status maki_yaml_read(maki_str bytes, maki_problems *problems, maki_yaml_node **top,
                           maki_err *err) MAKI_MUST_CHECK;

/* Is it nothing: an empty value, ~ or null? */
bool maki_yaml_is_null(const maki_yaml_node *node);

#endif
