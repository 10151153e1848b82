/* title.c -- find the first text of a person in a message and cut it to a title. */
#include "store/title.h"

#include <stdbool.h>

#include "base/ascii.h"
#include "base/json_access.h"
#include "base/str_util.h"
#include "wire/content_part.h"
#include "wire/inserted_text.h"

static bool is_blank(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7f;
}

/* Without the bytes of a character that does not fit. */
static size_t complete(const char *text, size_t n)
{
    size_t at = n;
    while (at > 0 && ((unsigned char)text[at - 1] & 0xc0) == 0x80)
        at--;
    if (at == 0) return n;
    unsigned char lead = (unsigned char)text[at - 1];
    size_t want = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    return n - at + 1 < want ? at - 1 : n;
}

void maki_title_of_text(maki_str text, char *out, size_t capacity)
{
    size_t n = 0, i = 0;
    for (; i < text.len && n + 1 < capacity; i++) {
        bool blank = is_blank(text.ptr[i]);
        if (blank && (n == 0 || out[n - 1] == ' ')) continue;
        out[n++] = blank ? ' ' : text.ptr[i];
    }
    n = complete(out, n);
    if (n && out[n - 1] == ' ') n--;
    out[n] = '\0';
}

/* "<word" */
static bool begins_with_tag(maki_str text)
{
    return text.len > 1 && text.ptr[0] == '<' && maki_is_alnum(text.ptr[1]);
}

bool maki_title_of(maki_str row, bool allow_unknown_tags, maki_arena *arena, char *out,
                   size_t capacity)
{
    maki_content_part part;
    maki_content_parts parts = maki_content_parts_of_row(row);
    out[0] = '\0';
    if (parts.author != MAKI_AUTHOR_USER) return false;
    while (!out[0] && maki_content_parts_next(&parts, &part)) {
        if (part.kind != MAKI_CONTENT_TEXT || !part.text.len) continue;
        maki_str text = maki_inserted_none(maki_json_text(part.text, arena));
        if (allow_unknown_tags || !begins_with_tag(text)) maki_title_of_text(text, out, capacity);
    }
    return out[0] != '\0';
}
