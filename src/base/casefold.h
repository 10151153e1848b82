/* casefold.h -- texts for a search that ignores case, in any language.
 *
 * "Straße" is found by "STRASSE", full-width letters and half-width kana by the usual ones (NFKC with case folding). */
#ifndef MAKI_BASE_CASEFOLD_H
#define MAKI_BASE_CASEFOLD_H

#include <stddef.h>

#include <maki/str.h>

/* Write `text` folded, with a space for each run of white space of any kind; returns the bytes written, at most
 * `capacity`, in complete characters.  Bytes that are not UTF-8 are copied. */
size_t maki_casefold(maki_str text, char *out, size_t capacity);

#endif
