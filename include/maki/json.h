/* json.h -- read JSON text in place: nothing is copied and no tree is built.
 *
 * A value is the span of its bytes (a maki_str without white space around it), borrowed from the text.  Call
 * maki_json_check first: every other function trusts that its input has passed it.  On other bytes results are undefined
 * and reads may leave the span. */
#ifndef MAKI_JSON_H
#define MAKI_JSON_H

#include <stdbool.h>

#include <maki/status.h>
#include <maki/str.h>

MAKI_BEGIN_DECLS

typedef enum maki_json_kind {
    MAKI_JSON_NULL,
    MAKI_JSON_BOOL,
    MAKI_JSON_NUMBER,
    MAKI_JSON_STRING,
    MAKI_JSON_ARRAY,
    MAKI_JSON_OBJECT
} maki_json_kind;

/* Is `text` one JSON value (RFC 8259, at most 512 levels deep)?  On MAKI_OK *value is its span,
 * without the white space around it; else *err has the byte position and the reason. */
MAKI_API maki_status maki_json_check(maki_str text, maki_str *value, maki_err *err) MAKI_MUST_CHECK;

MAKI_API maki_json_kind maki_json_kind_of(maki_str value);
MAKI_API const char *maki_json_kind_name(maki_json_kind kind); /* "a string", "an object" ... */

/* An element of an array or a field of an object. */
typedef struct maki_json_item {
    maki_str key; /* the escaped bytes between the quotes of the key; empty in an array */
    maki_str value;
    const char *start; /* of the item: the quote of its key, or the value */
} maki_json_item;

typedef struct maki_json_iter {
    const char *at;
    const char *end;
    bool object;
} maki_json_iter;

/* Iterate over a container (any other value has no items). */
MAKI_API maki_json_iter maki_json_items(maki_str container);
MAKI_API bool maki_json_next(maki_json_iter *iter, maki_json_item *item);
/* A loop over items, each a maki_json_item called `item`:
 *
 *     MAKI_JSON_EACH(field, maki_json_items(object))
 *         bytes += field.value.len;
 *
 * With a condition it ends before the first item for which that is false. */
#define MAKI_JSON_EACH(item, items) MAKI_JSON_EACH_WHILE(true, item, items)
#define MAKI_JSON_EACH_WHILE(condition, item, items)                                     \
    for (maki_json_iter item##_iter = (items), *item##_left = &item##_iter; item##_left; \
         item##_left = NULL)                                                             \
        for (maki_json_item item; (condition) && maki_json_next(item##_left, &item);)
MAKI_API size_t maki_json_count(maki_str container);

/* The value of a field; of a duplicate key the last, as in JavaScript. */
MAKI_API bool maki_json_get(maki_str object, maki_str name, maki_str *value);

/* Decode a string into out[capacity], truncated to complete characters.  Returns the bytes written.  Lone surrogates
 * become U+FFFD. */
MAKI_API size_t maki_json_copy_text(maki_str string, char *out, size_t capacity);
/* Is the text of this string exactly `text`? */
MAKI_API bool maki_json_text_is(maki_str string, maki_str text);

/* The nearest double; too large ones become infinite. */
MAKI_API double maki_json_double(maki_str number);
MAKI_API bool maki_json_true(maki_str value); /* is it the literal true? */

MAKI_END_DECLS

#endif
