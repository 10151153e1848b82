/* focus.c -- split a text into the words of a focus, and count them in a sentence. */
#include "summary/focus.h"

#include <stdbool.h>
#include <string.h>

#include "base/ascii.h"
#include "base/casefold.h"
#include "base/str_util.h"

enum { LETTERS_MIN = 4, FOLDED_MAX = 2048 };

/* The bytes of a character that joins words in Japanese and Chinese: hiragana, punctuation; 0: none is here. */
static size_t separator_len(maki_str text, size_t at)
{
    const unsigned char *c = (const unsigned char *)text.ptr + at;
    if (text.len - at < 3) return 0;
    bool hiragana = c[0] == 0xe3 && (c[1] == 0x81 || (c[1] == 0x82 && c[2] < 0xa0));
    bool punctuation = (c[0] == 0xe3 && c[1] == 0x80) || (c[0] == 0xef && c[1] == 0xbc);
    return hiragana || punctuation ? 3 : 0;
}

static bool is_word_byte(char c)
{
    return (unsigned char)c >= 0x80 || maki_is_word_char(c);
}

/* Is it a word that a text is about, not one that joins? */
static bool is_content_word(maki_str word)
{
    for (size_t i = 0; i < word.len; i++) {
        if ((unsigned char)word.ptr[i] >= 0x80) return word.len >= 6;
        if (maki_is_digit(word.ptr[i]) || maki_is_upper(word.ptr[i])) return word.len > 1;
    }
    return word.len >= LETTERS_MIN;
}

static void add_word(maki_focus *focus, maki_str word)
{
    size_t space = sizeof focus->text - focus->len;
    if (!is_content_word(word) || focus->count == MAKI_FOCUS_WORDS || word.len * 2 + 1 > space)
        return;
    size_t n = maki_casefold(word, focus->text + focus->len, space - 1);
    if (n == 0) return;
    focus->len += n;
    focus->text[focus->len++] = '\0';
    focus->count++;
}

void maki_focus_set(maki_focus *focus, maki_str text)
{
    *focus = (maki_focus){ .len = 0 };
    size_t from = 0;
    for (size_t i = 0; i <= text.len;) {
        size_t separator = i < text.len ? separator_len(text, i) : 0;
        if (i < text.len && !separator && is_word_byte(text.ptr[i])) {
            i++;
            continue;
        }
        add_word(focus, maki_str_prefix(maki_str_skip(text, from), i - from));
        i += separator ? separator : 1;
        from = i;
    }
}

unsigned maki_focus_count_matches(const maki_focus *focus, maki_str text)
{
    char folded[FOLDED_MAX];
    unsigned found = 0;
    if (!focus->count) return 0;
    size_t n = maki_casefold(text, folded, sizeof folded);
    for (size_t at = 0; at < focus->len; at += strlen(focus->text + at) + 1)
        found += maki_str_contains((maki_str){ folded, n }, maki_str_of(focus->text + at));
    return found;
}
