/* import.h -- import a file of another program into a conversation, without loss and in constant memory.
 *
 *     roo         api_conversation_history.json: an array with tags, and ui_messages.json next to it
 *     openai      an array of chat messages, or a request body with `messages` (or `input`)
 *     anthropic   an array of messages, or a request body with `messages` and `system`
 *     lines       JSON lines, a message each; the messages file of Maki is one
 *     seed        the same after a header {"type":"header","version":1}
 *     pi          the transcript of Clawdbot, OpenClaw and Pi: lines in a tree
 *     claude      a session of Claude Code: lines in a tree
 *     codex       a rollout of Codex
 *     opencode    the session export of opencode
 *
 * Messages keep their bytes (newlines between tokens become spaces).  Where a line wraps a message, the other fields
 * of the line are kept in a field `original`; a line of another kind is converted to a message, and `original` has the
 * fields without a place in it.
 *
 * What happened to the messages becomes events (timeline.h), so that the view after the import is
 * what the other program would have sent:
 *
 *   - tags are removed from the rows; a summary or marker becomes a condense or truncate event that
 *     carries it and hides the rows its tag named.  It is written at the time of its UI message;
 *     without one, at the position of the summary.  Rows tagged after that get a
 *     second event without a message, with the summary's `id`.  Tags that name nothing hide nothing;
 *     they are recorded in the note of the import, and exported again;
 *   - a tree is written in the order of its lines: before a line whose parent is not the line before it, a rewind
 *     is written.  Abandoned branches stay in the log; undo brings them back;
 *   - compactions become condense events;
 *   - one event of type manifest, {"of":"import","format",...}, describes the source; UI messages are
 *     events {"of":"ui","ui":{...}}.
 *
 * Invalid lines are skipped, counted and reported by number.  A byte order mark, CRLF, empty lines and a
 * torn last line are accepted.  Trees take about 50 bytes of memory per line, tags about 16 per span;
 * nothing else in memory grows with the source.
 *
 * `into` is empty and was opened for writing, best with MAKI_DURABILITY_AT_END.  After a failure it has the rows
 * read so far: the caller removes it. */
#ifndef MAKI_HISTORY_IMPORT_H
#define MAKI_HISTORY_IMPORT_H

#include "history/conv.h"

typedef struct maki_import_options {
    const char *format; /* one of those above; NULL: detected from the first lines */
    const char
        *ui_path; /* roo's UI messages; NULL: ui_messages.json next to the source, if it exists */
    /* Called about every megabyte; a status other than MAKI_OK stops the import with it.  May be NULL. */
    maki_status (*progress)(void *ctx, uint64_t done, uint64_t total, uint64_t messages);
    /* A line (from 1; in an array: an element) that was skipped, and why.  May be NULL. */
    void (*skipped)(void *ctx, uint64_t line, const char *why);
    void *ctx;
} maki_import_options;

enum { MAKI_IMPORT_WARNINGS_MAX = 8 };

typedef struct maki_import_report {
    const char *format; /* a constant */
    uint64_t messages;  /* rows written */
    uint64_t events;    /* written about them */
    uint64_t skipped;   /* lines that could not be read */
    uint64_t other;     /* known lines that are not messages: titles, settings ... */
    uint64_t skipped_at[MAKI_IMPORT_WARNINGS_MAX]; /* the numbers of the first ones */
} maki_import_report;

/* Read the file at `path` (a pipe is copied to a temporary file first).  MAKI_UNSUPPORTED: the format given
 * or detected is none of the above.  `options` may be NULL. */
maki_status maki_import(const maki_env *env, const char *path, maki_conv *into,
                        const maki_import_options *options, maki_import_report *report,
                        maki_err *err) MAKI_MUST_CHECK;

#endif
