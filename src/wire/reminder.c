/* reminder.c -- find reminders at the beginning of a text, in decoded bytes: clients escape them differently. */
#include "wire/reminder.h"

#include <string.h>

#include "base/json_access.h"
#include "base/str_util.h"
#include "wire/inserted_text.h"

enum { TAG_MAX = 32 }; /* longer tags are in no row of the table */

typedef struct reminder_scanner {
    uint64_t at;                   /* decoded bytes so far */
    uint64_t end;                  /* of the last complete reminder, with white space */
    const maki_inserted_tags *row; /* the reminder that is open; NULL: none */
    char tag[TAG_MAX];             /* the bytes since the last '<' */
    size_t tag_len;                /* 0: not in a tag */
} reminder_scanner;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* A complete tag: does it open or close a reminder?  False: the text of the user begins with it. */
static bool finish_tag(reminder_scanner *s)
{
    maki_str tag = { s->tag, s->tag_len };
    s->tag_len = 0;
    if (s->row) {
        if (maki_str_equal(tag, s->row->close)) {
            s->row = NULL;
            s->end = s->at;
        }
        return true;
    }
    size_t count;
    const maki_inserted_tags *rows = maki_inserted_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].temporary && maki_str_equal(tag, rows[i].open)) s->row = &rows[i];
    }
    return s->row != NULL;
}

/* False: what follows is no reminder. */
static bool add_byte(reminder_scanner *s, char c)
{
    s->at++;
    if (c == '<') s->tag_len = 0;
    if (c == '<' || s->tag_len) {
        if (s->tag_len == TAG_MAX) {
            s->tag_len = 0;
            return s->row != NULL;
        }
        s->tag[s->tag_len++] = c;
        return c != '>' || finish_tag(s);
    }
    if (s->row) return true;
    if (is_space(c) && s->end) s->end = s->at;
    return is_space(c);
}

static maki_status add_bytes(void *ctx, maki_str bytes, maki_err *err)
{
    (void)err;
    for (size_t i = 0; i < bytes.len; i++) {
        if (!add_byte(ctx, bytes.ptr[i])) return MAKI_CANCELLED;
    }
    return MAKI_OK;
}

uint64_t maki_reminders_len(maki_str text)
{
    reminder_scanner s = { .at = 0 };
    if (text.len < 2) return 0;
    maki_str escaped = maki_json_strip_quotes(text);
    if (escaped.len == 0 || !strchr("<\\ \t", escaped.ptr[0])) return 0; /* most texts */
    (void)maki_json_unescape_to(escaped, (maki_sink){ add_bytes, &s }, NULL);
    return s.end;
}
