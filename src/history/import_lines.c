/* import_lines.c -- import JSON lines that are messages, with or without a header row.
 *
 * In:    lines of JSON, the first of which may be a header.
 * Out:   each line as a row, byte for byte; the header goes into the note of the import, empty lines are skipped. */
#include <string.h>

#include "history/import_internal.h"

/* Remove spaces and tabs at both ends; true: nothing remains. */
static bool trim_blank(maki_str *line)
{
    while (line->len && (line->ptr[0] == ' ' || line->ptr[0] == '\t'))
        *line = maki_str_skip(*line, 1);
    while (line->len && (line->ptr[line->len - 1] == ' ' || line->ptr[line->len - 1] == '\t')) {
        line->len--;
    }
    return line->len == 0;
}

static maki_status read(maki_importer *im, maki_err *err)
{
    maki_str line;
    bool more = true, added = false;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK) {
        st = maki_source_line(&im->src, &line, &more, err);
        if (st != MAKI_OK || !more) break;
        im->line++;
        if (trim_blank(&line)) continue;
        if (im->line == 1 && maki_str_starts(line, MAKI_LIT("{\"type\":\"header\""))) {
            im->report->other++;
            maki_str object;
            if (!maki_import_object(im, line, &object, &st, err)) continue;
            maki_jw_print(&im->notes.w, "'header':%v", object);
            continue;
        }
        st = maki_import_add_line(im, line, &added, err);
    }
    return st;
}

static bool is_message(const maki_import_probe *s)
{
    bool cut = s->end == 0 && maki_import_probe_has(s, "content");
    return (maki_import_probe_has(s, "role") || cut) && !maki_import_probe_has(s, "uuid");
}

const maki_import_format maki_import_plain = { "lines", is_message, NULL, read };

static bool is_header(const maki_import_probe *s)
{
    return strcmp(s->type, "header") == 0;
}

const maki_import_format maki_import_seed = { "seed", is_header, NULL, read };
