/* import_internal.h -- shared by the readers of the formats: reading a source in blocks, writing rows
 * and events to the log, and the table of formats. */
#ifndef MAKI_HISTORY_IMPORT_INTERNAL_H
#define MAKI_HISTORY_IMPORT_INTERNAL_H

#include "base/buf.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "history/import.h"
#include "wire/json_row.h"

/* ---- import_source.c: reading a file in blocks ------------------------------------------------- */

typedef struct maki_source {
    const maki_env *env;
    int fd;
    uint64_t size;
    maki_buf text; /* the buffered bytes of the file, from offset `at` */
    uint64_t at;
    size_t pos; /* the next byte to read, in text */
    bool ended; /* text reaches to the end of the file */
} maki_source;

maki_status maki_source_open(maki_source *src, const maki_env *env, int fd, maki_err *err);
void maki_source_close(maki_source *src); /* leaves fd open; accepts one that was zeroed */
void maki_source_seek(maki_source *src, uint64_t at);
uint64_t maki_source_position(const maki_source *src); /* of pos, in the file */

/* The spans below are borrowed until the next call.  *more false: the source has ended. */

/* A line without its end. */
maki_status maki_source_line(maki_source *src, maki_str *line, bool *more, maki_err *err);
/* Skip white space, commas and colons; the next byte, '\0' at the end. */
maki_status maki_source_peek(maki_source *src, char *byte, maki_err *err);
/* Enter the container that begins at the current position. */
void maki_source_enter(maki_source *src);
/* The next item of it (a key of an object is an item too); *more false after its end.  Only the
 * brackets of the item are checked.  An item that the end of the file cuts off is returned
 * incomplete. */
maki_status maki_source_item(maki_source *src, maki_str *item, bool *more, maki_err *err);
/* Skip an item without buffering it. */
maki_status maki_source_skip(maki_source *src, maki_err *err);

/* The length of the value at the beginning of `text`, all of it when the value is cut off; nothing is checked. */
size_t maki_import_value_len(maki_str text);

/* ---- import.c: rows and events into the log ------------------------------------------------------ */

/* A JSON object that is being written. */
typedef struct maki_draft {
    maki_buf text;
    maki_jw w;
} maki_draft;
void maki_draft_open(maki_draft *draft, const maki_alloc *alloc, size_t max);
maki_jw *maki_draft_begin(maki_draft *draft); /* clears it first */
maki_status maki_draft_end(maki_draft *draft, maki_str *text, maki_err *err);

/* A position in the conversation: after row `seq` and event `ev`. */
typedef struct maki_import_position {
    uint64_t seq, ev;
    uint64_t summary_ev; /* the event of the effective summary; 0: none */
} maki_import_position;

typedef struct maki_import_format maki_import_format;
typedef struct maki_tags maki_tags; /* import_tags.c */
typedef struct maki_importer {
    const maki_import_format *format;
    const maki_env *env;
    maki_conv *conv;
    maki_log *log;
    const maki_import_options *options;
    maki_import_report *report;
    maki_source src;
    maki_source ui;    /* roo's UI messages */
    maki_str ui_next;  /* the next UI message, in `ui`; len 0: none remains */
    uint64_t ui_line;  /* its number */
    maki_tags *tags;   /* or NULL */
    maki_draft row;    /* the row being written */
    maki_draft fields; /* of the event being written */
    maki_draft notes;  /* fields of the note that ends the import */
    maki_buf flat;     /* a row without newlines */
    maki_arena arena;
    maki_import_position now;
    uint64_t in_group, reported; /* rows of the open group; bytes at the last call of `progress` */
    uint64_t group_at;           /* where in the source the group began */
    size_t event_bytes;
    bool open;
    uint64_t line; /* the number of the current line or element */
} maki_importer;

/* Append a row and advance im->now.  A row that is not a message is skipped (*added false). */
maki_status maki_import_row(maki_importer *im, maki_str row, bool *added, maki_err *err);
/* The same for a line that was not checked. */
maki_status maki_import_add_line(maki_importer *im, maki_str row, bool *added, maki_err *err);
/* Append the row in im->row. */
maki_status maki_import_synthetic_row(maki_importer *im, bool *added, maki_err *err);
/* Append an event with the fields in im->fields, and advance im->now. */
maki_status maki_import_event(maki_importer *im, const char *type, maki_err *err);
/* Report that the current line is skipped, and why. */
void maki_import_skip(maki_importer *im, const char *why);
/* Check the current line or element; false: it is not a JSON object and is skipped.  The status is in
 * *st. */
bool maki_import_object(maki_importer *im, maki_str text, maki_str *object, maki_status *st,
                        maki_err *err);
/* Append a condense event: the message in im->row is inserted before row `before`, rows 1 to before - 1 and the
 * effective summary are hidden. */
maki_status maki_import_condense(maki_importer *im, uint64_t before, maki_err *err);
/* Write the fields `tokens` and `family` of a synthetic message to im->fields. */
maki_status maki_import_tokens(maki_importer *im, maki_str message, maki_err *err);

void maki_import_spans(maki_jw *w, const maki_span64 *spans, size_t count); /* [[1,2],[4,4]] */
/* The field `original`: the line without the fields named, "role content". */
void maki_import_original(maki_jw *w, maki_str line, const char *except);
/* A string field that is not empty, as a JSON string. */
bool maki_import_id(maki_str object, const char *name, maki_str *id);

/* ---- the formats: a row of import_formats.c each ----------------------------------------------------- */

/* What detection reads of an object at the beginning of a source, which may be cut off anywhere. */
enum { MAKI_IMPORT_PROBE_KEYS = 64 };
typedef struct maki_import_probe {
    maki_str keys[MAKI_IMPORT_PROBE_KEYS]; /* of its first fields, as they are spelled */
    size_t count;
    char type[24], role[16]; /* the values of these fields */
    size_t end;              /* one past the object; 0: it is cut off */
    size_t messages;         /* where the list in `messages` or `input` begins; 0: none */
} maki_import_probe;
bool maki_import_probe_has(const maki_import_probe *s, const char *keys); /* one of "role|ts" */

struct maki_import_format {
    const char *name;
    /* Does an object on a line, or an element of an array, show that the source has this format?  NULL: never. */
    bool (*line)(const maki_import_probe *s);
    bool (*element)(const maki_import_probe *s);
    maki_status (*read)(maki_importer *im, maki_err *err);
};
/* In the order in which they are tried; NULL after the last. */
const maki_import_format *maki_import_format_at(size_t i);
/* MAKI_UNSUPPORTED: unknown; the message lists the formats. */
maki_status maki_import_format_find(const char *name, const maki_import_format **out,
                                    maki_err *err);
/* Their names, with commas. */
enum { MAKI_IMPORT_NAMES = 120 };
const char *maki_import_names(char out[MAKI_IMPORT_NAMES]);
/* The format, from the beginning of a source (import_detect.c). */
maki_status maki_import_detect(maki_str beginning, bool all, const maki_import_format **out,
                               maki_err *err);

/* Loops for readers: over each line that is an object; over each object of the array that is the source, or that is the
 * field `messages` of a request body. */
typedef maki_status (*maki_import_object_fn)(void *ctx, maki_str object, maki_err *err);
maki_status maki_import_lines(maki_importer *im, maki_import_object_fn fn, void *ctx,
                              maki_err *err);
maki_status maki_import_elements(maki_importer *im, maki_import_object_fn fn, void *ctx,
                                 maki_err *err);
/* An item of the Responses API as a row; *known false: its type is unknown (import_codex.c). */
maki_status maki_import_item(maki_importer *im, maki_str item, maki_str line, bool *known,
                             maki_err *err);
/* Roo's UI messages (import_array.c): begin, and write those up to the time `ms`. */
maki_status maki_import_ui_open(maki_importer *im, int fd, maki_err *err);
maki_status maki_import_ui(maki_importer *im, double ms, maki_err *err);

/* The formats, in the order in which a source is tried: maki_import_NAME is the row, in the file of its reader.  A new
 * one is that file, a name here, and the file in src/meson.build. */
#define MAKI_IMPORT_MAP(X) \
    X(roo) X(openai) X(anthropic) X(seed) X(pi) X(codex) X(claude) X(opencode) X(plain)
#define MAKI_DECLARE(name) extern const maki_import_format maki_import_##name;
MAKI_IMPORT_MAP(MAKI_DECLARE)
#undef MAKI_DECLARE

/* import_tags.c: messages with the tags of roo, in im->tags. */
maki_status maki_tags_open(maki_importer *im, maki_err *err);
maki_status maki_tags_row(maki_importer *im, maki_str object, maki_err *err);
/* A UI message, which may have the time when the summary or marker of an id took effect; `{0}`: there are no more. */
maki_status maki_tags_ui(maki_importer *im, maki_str ui, maki_err *err);
maki_status maki_tags_end(maki_importer *im, maki_err *err);

#endif
