/* token_reference.h -- the tokens of a text, slowly: what src/token must agree with on any bytes.
 *
 * Independent of src/token except the encoding and the list of character classes.  The regular
 * expressions are matched as they are written, alternative by alternative and with backtracking; a
 * piece is merged by looking for the best pair among all, again and again.  Time grows with the
 * square of a piece's length. */
#ifndef TOKEN_REFERENCE_H
#define TOKEN_REFERENCE_H

#include <maki/token.h>

typedef struct token_reference token_reference;

/* Never NULL; it aborts when there is no memory, like all of this file. */
token_reference *token_reference_open(const maki_encoding *encoding);
void token_reference_close(token_reference *reference);

/* `fn` gets the ids of one piece at a time. */
void token_reference_encode(const token_reference *reference, maki_str text, maki_ids_fn fn,
                            void *ctx);
/* The same as if the text, which is not empty, were one piece. */
void token_reference_merge(const token_reference *reference, maki_str text, maki_ids_fn fn,
                           void *ctx);

#endif
