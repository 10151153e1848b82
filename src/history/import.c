/* import.c -- import a conversation: detect the format, run its reader, and append rows and events in groups.
 *
 * In:    a file or pipe in one of the formats of import.h, and an empty conversation.
 * Out:   rows and events in its log, a final note (manifest {"of":"import"}), and a report of what was skipped.
 *
 * Rows and events are appended in groups, each of which expects the head that the group before it left:
 * at most GROUP_ROWS, the limit of a synced log, or GROUP_BYTES of the source where the log publishes rows as they are
 * written.  The tokens of such a group are counted by all cores. */
#include "history/import.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/files.h"
#include "base/json_access.h"
#include "history/conv_internal.h"
#include "history/import_internal.h"

enum {
    GROUP_ROWS = 1000,
    GROUP_BYTES = 64 << 20,
    GROUP_EVENT_BYTES = 8 << 20,
    ARENA_MAX = 1 << 30,
    FIELDS_MAX = 1 << 28,
    PROGRESS_BYTES = 1 << 20,
    BEGINNING = 1 << 20 /* bytes of a source that its format is detected from */
};

/* ---- groups ---------------------------------------------------------------------------------------- */

static maki_status begin_group(maki_importer *im, maki_err *err)
{
    unsigned char head[MAKI_CHAIN_LEN];
    if (im->open) return MAKI_OK;
    memcpy(head, maki_log_head(im->log), MAKI_CHAIN_LEN);
    maki_status st = maki_log_begin(im->log, head, err);
    im->group_at = maki_source_position(&im->src);
    im->open = st == MAKI_OK;
    return st;
}

static maki_status commit_group(maki_importer *im, maki_err *err)
{
    if (!im->open) return MAKI_OK;
    im->open = false;
    im->in_group = im->event_bytes = 0;
    return maki_log_commit(im->log, err);
}

static bool group_is_full(const maki_importer *im)
{
    if (!maki_log_syncs_at_end(im->log)) return im->in_group == GROUP_ROWS;
    return maki_source_position(&im->src) - im->group_at >= GROUP_BYTES;
}

static maki_status report_progress(maki_importer *im, maki_err *err)
{
    uint64_t done = maki_source_position(&im->src);
    if (!im->options->progress || done - im->reported < PROGRESS_BYTES) return MAKI_OK;
    im->reported = done;
    maki_status st =
        im->options->progress(im->options->ctx, done, im->src.size, im->report->messages);
    return st == MAKI_OK ? st : maki_fail(err, st, "the import was stopped");
}

/* ---- rows and events --------------------------------------------------------------------------------- */

void maki_import_skip(maki_importer *im, const char *why)
{
    maki_import_report *r = im->report;
    if (r->skipped < MAKI_IMPORT_WARNINGS_MAX) r->skipped_at[r->skipped] = im->line;
    r->skipped++;
    if (im->options->skipped) im->options->skipped(im->options->ctx, im->line, why);
}

/* Rows are lines: newlines between tokens become spaces (inside strings there are none). */
static maki_status flatten(maki_importer *im, maki_str *row, maki_err *err)
{
    if (!memchr(row->ptr, '\n', row->len)) return MAKI_OK;
    maki_buf_clear(&im->flat);
    maki_buf_add(&im->flat, *row);
    for (size_t i = 0; i < im->flat.len; i++) {
        if (im->flat.ptr[i] == '\n' || im->flat.ptr[i] == '\r') im->flat.ptr[i] = ' ';
    }
    *row = maki_buf_str(&im->flat);
    return maki_buf_status(&im->flat, err);
}

/* Append a row that has no newlines. */
maki_status maki_import_add_line(maki_importer *im, maki_str row, bool *added, maki_err *err)
{
    maki_err why = { 0 };
    uint64_t seq = 0;
    maki_status st = MAKI_OK;
    *added = false;
    if (im->open && group_is_full(im)) st = commit_group(im, err);
    if (st == MAKI_OK) st = begin_group(im, err);
    if (st != MAKI_OK) return st;
    st = maki_log_add_row(im->log, row, &seq, &why);
    if (st == MAKI_INVALID) {
        maki_import_skip(im, why.msg);
        return MAKI_OK;
    }
    if (st != MAKI_OK) {
        if (err) *err = why;
        return st;
    }
    *added = true;
    im->now.seq = seq;
    im->in_group++;
    im->report->messages++;
    return report_progress(im, err);
}

maki_status maki_import_row(maki_importer *im, maki_str row, bool *added, maki_err *err)
{
    maki_status st = flatten(im, &row, err);
    *added = false;
    return st == MAKI_OK ? maki_import_add_line(im, row, added, err) : st;
}

maki_status maki_import_synthetic_row(maki_importer *im, bool *added, maki_err *err)
{
    maki_str row;
    maki_status st = maki_draft_end(&im->row, &row, err);
    return st == MAKI_OK ? maki_import_row(im, row, added, err) : st;
}

maki_status maki_import_event(maki_importer *im, const char *type, maki_err *err)
{
    maki_str fields;
    maki_status st = maki_draft_end(&im->fields, &fields, err);
    if (st == MAKI_OK) st = flatten(im, &fields, err);
    if (st == MAKI_OK && im->event_bytes > GROUP_EVENT_BYTES) st = commit_group(im, err);
    if (st == MAKI_OK) st = begin_group(im, err);
    if (st == MAKI_OK) st = maki_log_add_event(im->log, type, fields, &im->now.ev, err);
    if (st != MAKI_OK) return st;
    im->event_bytes += fields.len;
    im->report->events++;
    return MAKI_OK;
}

maki_status maki_import_tokens(maki_importer *im, maki_str message, maki_err *err)
{
    uint32_t tokens = 0;
    maki_status st =
        maki_token_counter_unchecked(&im->conv->counter, 0, message, NULL, &tokens, err);
    maki_jw_print(&im->fields.w, "'tokens':%i,'family':%z", (uint64_t)tokens, MAKI_LOG_ENCODING);
    return st;
}

maki_status maki_import_condense(maki_importer *im, uint64_t before, maki_err *err)
{
    maki_jw *w = maki_draft_begin(&im->fields);
    maki_span64 all = { 1, before - 1 };
    maki_str message;
    maki_status st = maki_draft_end(&im->row, &message, err);
    if (st != MAKI_OK) return st;
    maki_jw_print(w, "'hidden':");
    maki_import_spans(w, &all, before > 1);
    maki_jw_print(w, "'hiddenEvents':[");
    if (im->now.summary_ev) maki_jw_int(w, (int64_t)im->now.summary_ev);
    maki_jw_print(w, "],'messages':%i,'before':%i", before - 1, before);
    st = maki_import_tokens(im, message, err);
    maki_jw_print(w, "'imported':true,'message':%v", message);
    if (st == MAKI_OK) st = maki_import_event(im, "condense", err);
    if (st == MAKI_OK) im->now.summary_ev = im->now.ev;
    return st;
}

/* ---- JSON drafts ----------------------------------------------------------------------------------------- */

void maki_draft_open(maki_draft *draft, const maki_alloc *alloc, size_t max)
{
    draft->text = maki_buf_new(alloc, max);
    maki_draft_begin(draft);
}

maki_jw *maki_draft_begin(maki_draft *draft)
{
    maki_buf_clear(&draft->text);
    maki_jw_init(&draft->w, maki_buf_sink(&draft->text), NULL);
    return &draft->w;
}

maki_status maki_draft_end(maki_draft *draft, maki_str *text, maki_err *err)
{
    (void)!maki_jw_end(&draft->w); /* its only error is that of the buffer */
    *text = maki_buf_str(&draft->text);
    return maki_buf_status(&draft->text, err);
}

void maki_import_spans(maki_jw *w, const maki_span64 *spans, size_t count)
{
    maki_jw_begin_array(w);
    for (size_t i = 0; i < count; i++)
        maki_jw_print(w, "[%i,%i]", spans[i].from, spans[i].to);
    maki_jw_end_array(w);
}

void maki_import_original(maki_jw *w, maki_str line, const char *except)
{
    maki_jw_field_object(w, "original");
    maki_write_rest(w, line, except);
    maki_jw_end_object(w);
}

bool maki_import_id(maki_str object, const char *name, maki_str *id)
{
    *id = maki_json_string(object, name);
    return id->len > 2;
}

bool maki_import_object(maki_importer *im, maki_str text, maki_str *object, maki_status *st,
                        maki_err *err)
{
    maki_err why = { 0 };
    *st = maki_json_check(text, object, &why);
    if (*st == MAKI_OK && maki_json_kind_of(*object) == MAKI_JSON_OBJECT) return true;
    if (*st == MAKI_OK) maki_import_skip(im, "not an object");
    if (*st == MAKI_INVALID || *st == MAKI_TOOBIG) {
        maki_import_skip(im, why.msg);
        *st = MAKI_OK;
    }
    if (*st != MAKI_OK && err) *err = why;
    return false;
}

maki_status maki_import_lines(maki_importer *im, maki_import_object_fn fn, void *ctx, maki_err *err)
{
    maki_status st = MAKI_OK;
    while (st == MAKI_OK) {
        maki_str line, object;
        bool more = true;
        st = maki_source_line(&im->src, &line, &more, err);
        if (st != MAKI_OK || !more) break;
        im->line++;
        if (maki_str_trim(line).len == 0) continue;
        if (maki_import_object(im, line, &object, &st, err)) st = fn(ctx, object, err);
    }
    return st;
}

/* ---- the import ------------------------------------------------------------------------------------------------- */

/* Detect the format, and skip a byte order mark. */
static maki_status detect(maki_importer *im, maki_err *err)
{
    size_t read_bytes = 0;
    char *beginning = im->env->alloc->resize(im->env->alloc, NULL, 0, BEGINNING);
    if (!beginning) return maki_fail_nomem(err);
    maki_status st =
        maki_file_read_at(im->env->files, im->src.fd, 0, beginning, BEGINNING, &read_bytes, err);
    maki_str text = { beginning, read_bytes };
    if (st == MAKI_OK && maki_str_starts(text, MAKI_LIT("\xEF\xBB\xBF"))) {
        text = maki_str_skip(text, 3);
        maki_source_seek(&im->src, 3);
    }
    if (st == MAKI_OK && im->options->format)
        st = maki_import_format_find(im->options->format, &im->format, err);
    else if (st == MAKI_OK)
        st = maki_import_detect(text, read_bytes < BEGINNING, &im->format, err);
    if (st == MAKI_OK) im->report->format = im->format->name;
    im->env->alloc->resize(im->env->alloc, beginning, BEGINNING, 0);
    return st;
}

static maki_status add_note(maki_importer *im, maki_err *err)
{
    const maki_import_report *r = im->report;
    maki_jw *w = maki_draft_begin(&im->fields);
    maki_str notes;
    maki_status st = maki_draft_end(&im->notes, &notes, err);
    maki_jw_print(w, "'of':'import','format':%z,'messages':%i,'skipped':%i,'other':%i", r->format,
                  r->messages, r->skipped, r->other);
    if (notes.len) maki_jw_raw(w, notes);
    return st == MAKI_OK ? maki_import_event(im, "manifest", err) : st;
}

static maki_status read_all(maki_importer *im, int ui_fd, maki_err *err)
{
    maki_status st = detect(im, err);
    if (st == MAKI_OK && ui_fd >= 0) st = maki_import_ui_open(im, ui_fd, err);
    if (st == MAKI_OK) st = im->format->read(im, err);
    if (st == MAKI_OK) st = maki_import_ui(im, INFINITY, err);
    if (st == MAKI_OK) st = add_note(im, err);
    if (st == MAKI_OK) st = commit_group(im, err);
    if (st == MAKI_OK && im->options->progress) {
        im->options->progress(im->options->ctx, im->src.size, im->src.size, im->report->messages);
    }
    return st;
}

static maki_status import_fd(const maki_env *env, int fd, int ui_fd, maki_conv *into,
                             const maki_import_options *options, maki_import_report *report,
                             maki_err *err)
{
    const maki_alloc *alloc = env->alloc;
    maki_log *log = maki_conv_log(into);
    *report = (maki_import_report){ 0 };
    if (maki_log_last(log) > 0 || maki_log_events(log) > 0) {
        return maki_fail(err, MAKI_INVALID, "an import needs an empty conversation");
    }
    maki_importer im = { .env = env,
                         .conv = into,
                         .log = log,
                         .options = options,
                         .report = report,
                         .flat = maki_buf_new(alloc, (size_t)MAKI_ROW_MAX),
                         .arena = maki_arena_new(alloc, ARENA_MAX) };
    maki_draft_open(&im.row, alloc, (size_t)MAKI_ROW_MAX);
    maki_draft_open(&im.fields, alloc, FIELDS_MAX);
    maki_draft_open(&im.notes, alloc, FIELDS_MAX);
    maki_status st = maki_source_open(&im.src, env, fd, err);
    if (st == MAKI_OK) st = read_all(&im, ui_fd, err);
    if (im.open) maki_log_abort(log);
    maki_source_close(&im.src);
    maki_source_close(&im.ui);
    maki_buf_free(&im.row.text);
    maki_buf_free(&im.fields.text);
    maki_buf_free(&im.flat);
    maki_buf_free(&im.notes.text);
    maki_arena_free(&im.arena);
    return st;
}

/* A pipe cannot be read twice: copy it to an unlinked file. */
static maki_status spool(const maki_env *env, int fd, int *out, maki_err *err)
{
    enum { CHUNK = 1 << 16 };
    const maki_files *files = env->files;
    *out = files->temp(files);
    if (*out < 0) return maki_fail_errno(err, "cannot create a temporary file");
    char *chunk = env->alloc->resize(env->alloc, NULL, 0, CHUNK);
    maki_status st = chunk ? MAKI_OK : maki_fail_nomem(err);
    while (st == MAKI_OK) {
        ssize_t n = files->read(files, fd, chunk, CHUNK);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) st = maki_fail_errno(err, "cannot read");
        if (n <= 0) break;
        st = maki_file_write(files, *out, (maki_str){ chunk, (size_t)n }, err);
    }
    if (chunk) env->alloc->resize(env->alloc, chunk, CHUNK, 0);
    if (st != MAKI_OK) {
        files->close(files, *out);
        *out = -1;
    }
    return st;
}

static maki_status import_from(const maki_env *env, int fd, int ui_fd, maki_conv *into,
                               const maki_import_options *options, maki_import_report *report,
                               maki_err *err)
{
    char byte = 0;
    int copy = -1;
    maki_status st = MAKI_OK;
    if (env->files->pread(env->files, fd, &byte, 1, 0) < 0) {
        if (errno == ESPIPE)
            st = spool(env, fd, &copy, err);
        else if (errno != EINTR)
            st = maki_fail_errno(err, "cannot read the source");
    }
    if (st == MAKI_OK)
        st = import_fd(env, copy >= 0 ? copy : fd, ui_fd, into, options, report, err);
    if (copy >= 0) env->files->close(env->files, copy);
    return st;
}

/* The UI messages: the file given, or ui_messages.json next to roo's API messages. */
static maki_status open_ui(const maki_env *env, const char *path, const char *ui_path, int *fd,
                           maki_err *err)
{
    const maki_files *files = env->files;
    static const char api[] = "api_conversation_history.json";
    char sibling[MAKI_PATH_MAX];
    const char *slash = path ? strrchr(path, '/') : NULL;
    int directory = slash ? (int)(slash - path) + 1 : 0;
    bool given = ui_path != NULL;
    *fd = -1;
    if (!given) {
        if (!path || strcmp(path + directory, api) != 0 || directory > MAKI_PATH_MAX - 40)
            return MAKI_OK;
        snprintf(sibling, sizeof sibling, "%.*sui_messages.json", directory, path);
        ui_path = sibling;
    }
    *fd = files->open(files, ui_path, O_RDONLY, 0);
    if (*fd < 0 && (given || errno != ENOENT))
        return maki_fail_errno(err, "cannot open the UI messages");
    return MAKI_OK;
}

static const maki_import_options defaults = { 0 };

maki_status maki_import(const maki_env *env, const char *path, maki_conv *into,
                        const maki_import_options *options, maki_import_report *report,
                        maki_err *err)
{
    int ui = -1;
    if (!options) options = &defaults;
    int fd = env->files->open(env->files, path, O_RDONLY, 0);
    if (fd < 0) return maki_fail_errno(err, "cannot open the source");
    maki_status st = open_ui(env, path, options->ui_path, &ui, err);
    if (st == MAKI_OK) st = import_from(env, fd, ui, into, options, report, err);
    if (ui >= 0) env->files->close(env->files, ui);
    env->files->close(env->files, fd);
    return st;
}
