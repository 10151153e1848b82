/* tool_calls.c -- digest tool calls and their results: files used, commands run, errors found and solved.
 *
 * A result is read line by line.  What counts as an error depends on the tool: lines of a file that was
 * read are never errors, lines in the output of a failed command are.  An error is solved when the
 * same command, or any use of the same file, succeeds later. */
#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "base/str_util.h"
#include "base/text.h"
#include "summary/digest.h"

enum { COMMAND_MAX = 160, NAME_MAX = 64 };

/* ---- calls ------------------------------------------------------------------------------------------ */

/* Count one use of a file; returns its key. */
static uint64_t add_file_use(maki_digest *d, maki_str path, maki_str tool, maki_tool_kind kind)
{
    static const uint32_t weights[] = {
        [MAKI_TOOL_READ] = 4, [MAKI_TOOL_EDIT] = 8, [MAKI_TOOL_WRITE] = 8, [MAKI_TOOL_DELETE] = 8
    };
    path = maki_str_trim(path);
    if (path.len == 0 || path.len > MAKI_ENTITY_MAX) return 0;
    maki_digest_add_fact(d, MAKI_FACT_PATH, path);
    uint64_t key = maki_text_item_key(path);
    maki_text_item *f = maki_text_set_add(&d->files, key, path, weights[kind], d->messages);
    f->counters[0] += kind == MAKI_TOOL_READ;
    f->counters[1] += kind == MAKI_TOOL_EDIT;
    f->counters[2] += kind == MAKI_TOOL_WRITE;
    f->state = kind == MAKI_TOOL_DELETE ? MAKI_FILE_DELETED : MAKI_FILE_OK;
    maki_text_set_set_detail(&d->files, f, tool);
    if (kind != MAKI_TOOL_READ) {
        d->edited = key;
        d->edited_in = d->messages;
    }
    return key;
}

/* Count the files that a patch names; returns the key of the last. */
static uint64_t add_patched_files(maki_digest *d, maki_str text, maki_str tool)
{
    static const struct {
        const char *mark;
        maki_tool_kind kind;
    } marks[] = { { "*** Update File: ", MAKI_TOOL_EDIT },
                  { "*** Add File: ", MAKI_TOOL_WRITE },
                  { "*** Delete File: ", MAKI_TOOL_DELETE },
                  { "+++ b/", MAKI_TOOL_EDIT } };
    uint64_t key = 0;
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        maki_str line = maki_str_prefix(text, end ? (size_t)(end - text.ptr) : text.len);
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
            maki_str mark = maki_str_of(marks[i].mark);
            if (maki_str_starts(line, mark))
                key = add_file_use(d, maki_str_skip(line, mark.len), tool, marks[i].kind);
        }
        text = maki_str_skip(text, end ? line.len + 1 : line.len);
    }
    return key;
}

/* Decode a JSON string into the buffer, truncated to its capacity. */
static maki_str text_of(maki_str string, char *buffer, size_t capacity)
{
    return (maki_str){ buffer, maki_json_copy_text(string, buffer, capacity) };
}

/* The text of a command: a string, or the last of an array such as ["bash", "-lc", "make test"]. */
static maki_str command_text(maki_str command, char *buffer, size_t capacity)
{
    maki_json_iter iter = maki_json_items(command);
    maki_json_item item;
    maki_str last = { "\"\"", 2 };
    bool shell = false;
    size_t n = 0;
    if (maki_json_kind_of(command) == MAKI_JSON_STRING) return text_of(command, buffer, capacity);
    while (maki_json_next(&iter, &item)) {
        if (maki_json_kind_of(item.value) != MAKI_JSON_STRING) continue;
        last = item.value;
        shell |= maki_json_text_is(item.value, MAKI_LIT("-lc")) ||
                 maki_json_text_is(item.value, MAKI_LIT("-c"));
        if (n + 1 < capacity && n) buffer[n++] = ' ';
        n += maki_json_copy_text(item.value, buffer + n, capacity - n);
    }
    return shell ? text_of(last, buffer, capacity) : (maki_str){ buffer, n };
}

static uint64_t add_command(maki_digest *d, maki_str command, maki_str tool)
{
    enum { COMMAND_BYTES = 1 << 14 };
    char buffer[COMMAND_BYTES], name[COMMAND_MAX];
    maki_str text = command_text(command, buffer, sizeof buffer);
    if (maki_str_contains(text, MAKI_LIT("*** Begin Patch")))
        return add_patched_files(d, text, tool);
    size_t n = maki_command_name(text, name, sizeof name);
    if (n == 0) return 0;
    maki_entities_in((maki_str){ name, n }, maki_digest_on_entity, d);
    uint64_t key = maki_text_item_key((maki_str){ name, n });
    maki_text_item *run = maki_text_set_add(&d->runs, key, (maki_str){ name, n }, 1, d->messages);
    run->weight = maki_command_only_displays((maki_str){ name, n }) ? 1 : 4;
    run->state = MAKI_RUN_UNKNOWN;
    run->detail_len = 0;
    run->counters[0] = 0;
    return key;
}

/* ---- task lists --------------------------------------------------------------------------------------- */

static void task_item(maki_digest *d, maki_str item)
{
    char buffer[512];
    maki_str text =
        maki_json_first_field(item, "content|step|text|title|task|description", MAKI_JSON_STRING);
    bool closed = maki_json_true_field(item, "completed") ||
                  maki_json_field_in(item, "status", "completed|done|cancelled|complete|finished");
    if (text.len && !closed)
        maki_digest_add_task(d, text_of(text, buffer, sizeof buffer), MAKI_TASK_LIST);
}

static void task_line(void *ctx, maki_str line, bool more)
{
    line = maki_str_trim(line);
    size_t at = maki_str_find_nocase(line, MAKI_LIT("[ ]"));
    if (at == line.len) at = maki_str_find_nocase(line, MAKI_LIT("[-]"));
    if (at < 4 && at + 3 < line.len && !more)
        maki_digest_add_task(ctx, maki_str_skip(line, at + 3), MAKI_TASK_LIST);
}

/* The newest list replaces all earlier ones. */
static void replace_tasks(maki_digest *d, maki_str tasks)
{
    maki_json_iter iter = maki_json_items(tasks);
    maki_json_item item;
    for (size_t i = 0; i < d->tasks.count; i++) {
        if (d->tasks.at[i].kind == MAKI_TASK_LIST) d->tasks.at[i].state = MAKI_TASK_CLOSED;
    }
    if (maki_json_kind_of(tasks) == MAKI_JSON_STRING)
        maki_line_reader_string(&d->lines, tasks, task_line, d);
    else
        while (maki_json_next(&iter, &item))
            task_item(d, item.value);
}

/* ---- one call ------------------------------------------------------------------------------------------- */

static uint64_t add_file_uses(maki_digest *d, maki_str paths, maki_str tool, maki_tool_kind kind)
{
    maki_json_iter iter = maki_json_items(paths);
    maki_json_item item;
    char buffer[MAKI_ENTITY_MAX + 1];
    uint64_t key = 0;
    while (maki_json_next(&iter, &item)) {
        maki_str path = item.value;
        bool object = maki_json_kind_of(path) == MAKI_JSON_OBJECT;
        if (object && !maki_json_string_field(item.value, "path", &path)) continue;
        if (maki_json_kind_of(path) != MAKI_JSON_STRING) continue;
        key = add_file_use(d, text_of(path, buffer, sizeof buffer), tool, kind);
    }
    return key;
}

static bool uses_file(maki_tool_kind kind)
{
    return kind == MAKI_TOOL_READ || kind == MAKI_TOOL_EDIT || kind == MAKI_TOOL_WRITE ||
           kind == MAKI_TOOL_DELETE;
}

/* Record what the call does; returns the key of the file or run, 0: none. */
static uint64_t read_call(maki_digest *d, maki_tool_kind kind, maki_tool_args *args, maki_str tool)
{
    char buffer[MAKI_ENTITY_MAX + 1];
    enum { PATCH_MAX = 1 << 14 };
    char patch[PATCH_MAX];
    if (kind == MAKI_TOOL_TODO && args->todos.len) replace_tasks(d, args->todos);
    if (kind == MAKI_TOOL_TODO) return 0;
    bool run = kind == MAKI_TOOL_RUN || (kind == MAKI_TOOL_OTHER && args->path.len == 0);
    if (run && args->command.len) return add_command(d, args->command, tool);
    if (uses_file(kind) && args->path.len)
        return add_file_use(d, text_of(args->path, buffer, sizeof buffer), tool, kind);
    if (uses_file(kind) && args->paths.len) return add_file_uses(d, args->paths, tool, kind);
    if (uses_file(kind) && args->patch.len)
        return add_patched_files(d, text_of(args->patch, patch, sizeof patch), tool);
    if (args->path.len) {
        maki_str path = text_of(args->path, buffer, sizeof buffer);
        if (maki_is_path(path)) maki_digest_on_entity(d, MAKI_FACT_PATH, path);
    }
    return 0;
}

/* The arguments: an object, or (OpenAI) a string that holds one. */
static maki_tool_args args_of(maki_digest *d, maki_str input)
{
    maki_str value;
    if (input.len == 0) return (maki_tool_args){ 0 };
    if (maki_json_kind_of(input) != MAKI_JSON_STRING) return maki_tool_args_of(input);
    maki_str text = text_of(input, d->args, sizeof d->args);
    if (maki_json_check(text, &value, NULL) == MAKI_OK) return maki_tool_args_of(value);
    return maki_tool_args_truncated(text);
}

void maki_digest_add_call(maki_digest *d, const maki_message_part *part)
{
    char buffer[NAME_MAX];
    maki_str tool =
        part->name.len ? text_of(part->name, buffer, sizeof buffer) : (maki_str){ "", 0 };
    maki_tool_args args = args_of(d, part->value);
    maki_tool_kind kind = maki_tool_kind_by_command(maki_tool_kind_of(tool), &args);
    maki_open_call *call = &d->calls[d->next_call++ % MAKI_DIGEST_CALLS];
    d->tool_calls++;
    *call = (maki_open_call){ .kind = kind, .tool = maki_text_item_key(tool) };
    if (part->id.len) call->id = maki_json_text_hash(part->id) | 1;
    call->link = read_call(d, kind, &args, tool);
    if (kind == MAKI_TOOL_OTHER && call->link) call->kind = MAKI_TOOL_RUN;
    if (call->link == 0) call->link = call->tool;
}

/* ---- results ---------------------------------------------------------------------------------------------- */

/* What is next to the phrases of a line of output. */
typedef struct phrase_context {
    bool
        counts; /* a number right next to a word that counts: "2 failed", "passed: 10", "失敗 1 件" */
    bool has_code;
    uint32_t code;
} phrase_context;

static void read_context(void *ctx, unsigned bits, maki_str before, maki_str after)
{
    phrase_context *a = ctx;
    size_t n = before.len, skip = 0;
    if (bits & MAKI_KEYWORD_COUNTS) {
        while (skip < after.len && (after.ptr[skip] == ':' || after.ptr[skip] == ' '))
            skip++;
        a->counts |= n >= 2 && before.ptr[n - 1] == ' ' && maki_is_digit(before.ptr[n - 2]);
        a->counts |= skip && skip < after.len && maki_is_digit(after.ptr[skip]);
    }
    if (!(bits & MAKI_KEYWORD_EXIT) || a->has_code) return;
    while (skip < 4 && skip < after.len && !maki_is_digit(after.ptr[skip]))
        skip++;
    for (n = 0; n < 6 && skip + n < after.len && maki_is_digit(after.ptr[skip + n]); n++)
        a->code = a->code * 10 + (uint32_t)(after.ptr[skip + n] - '0');
    a->has_code = n > 0;
}

static void on_line(void *ctx, maki_str line, bool more)
{
    maki_digest *d = ctx;
    maki_outcome *o = &d->outcome;
    phrase_context context = { 0 };
    (void)more;
    line = maki_str_trim(line);
    if (line.len == 0) return;
    if (o->lines++ == 0) o->first_len = maki_line_copy(o->first, sizeof o->first, line);
    if (!o->of_run) return;
    unsigned bits = maki_keywords_each(&d->keywords, line, read_context, &context);
    if (context.has_code) {
        o->has_code = true;
        o->code = context.code;
        return;
    }
    o->last_len = maki_line_copy(o->last, sizeof o->last, line);
    bool error = (bits & MAKI_KEYWORD_ERROR) && !(bits & MAKI_KEYWORD_NO_ERROR);
    if (context.counts && !(bits & MAKI_KEYWORD_ERROR_LINE)) {
        o->counts_len = maki_line_copy(o->counts, sizeof o->counts, line);
        o->reports_error |= error;
        return;
    }
    if (!error) return;
    o->reports_error |= (bits & MAKI_KEYWORD_ERROR_LINE) || maki_str_starts(line, MAKI_LIT("FAIL"));
    if (o->errors.count == o->errors.capacity) return;
    maki_text_set_add(&o->errors, maki_text_item_key(line), line,
                      bits & MAKI_KEYWORD_GENERIC ? 1 : 4, d->messages);
}

static void read_content(maki_digest *d, maki_str content)
{
    maki_blocks blocks = maki_content_blocks(content);
    maki_str block;
    maki_message_part part;
    while (maki_blocks_next(&blocks, &block)) {
        if (maki_message_part_of_block(block, &part) && part.kind == MAKI_PART_TEXT)
            maki_line_reader_string(&d->lines, part.value, on_line, d);
    }
}

/* Some agents wrap the output of a command: {"output": "...", "metadata": {"exit_code": 1}}. */
static bool read_wrapped(maki_digest *d, maki_str content)
{
    maki_str value;
    if (maki_json_kind_of(content) != MAKI_JSON_STRING ||
        !maki_str_starts(content, MAKI_LIT("\"{\\\"output\\\"")))
        return false;
    maki_str text = text_of(content, d->args, sizeof d->args);
    if (maki_json_check(text, &value, NULL) != MAKI_OK) return false;
    maki_str output = maki_json_string(value, "output");
    if (!output.len) return false;
    maki_line_reader_string(&d->lines, output, on_line, d);
    double code = maki_json_number(maki_json_field(value, "metadata"), "exit_code", NAN);
    if (isnan(code)) return true;
    d->outcome.has_code = true;
    d->outcome.code = code >= 0 && code < 1e6 ? (uint32_t)code : 1;
    return true;
}

/* Did the error come from `link`, or from a run that `run` includes? */
static bool comes_from(maki_digest *d, const maki_text_item *error, uint64_t link,
                       const maki_text_item *run)
{
    if (error->link == link) return true;
    maki_text_item *failed = run ? maki_text_set_find(&d->runs, error->link) : NULL;
    return failed && maki_command_includes(maki_text_item_text(run), maki_text_item_text(failed));
}

void maki_digest_mark_solved(maki_digest *d, uint64_t link)
{
    const maki_text_item *run = maki_text_set_find(&d->runs, link);
    for (size_t i = 0; link && i < d->errors.count; i++) {
        maki_text_item *e = &d->errors.at[i];
        if (e->state != MAKI_ERROR_OPEN || !comes_from(d, e, link, run)) continue;
        e->state = MAKI_ERROR_SOLVED;
        maki_text_item *file =
            d->edited_in >= e->last ? maki_text_set_find(&d->files, d->edited) : NULL;
        if (file) maki_text_set_set_detail(&d->errors, e, maki_text_item_text(file));
    }
}

/* Insert the error lines of a failed run, generic ones only if there are no others; without any the last line. */
static void add_errors(maki_digest *d, uint64_t link)
{
    maki_outcome *o = &d->outcome;
    bool special = false;
    for (size_t i = 0; i < o->errors.count; i++)
        special |= o->errors.at[i].weight > 1;
    for (size_t i = 0; i < o->errors.count; i++) {
        const maki_text_item *line = &o->errors.at[i];
        if (line->weight > 1 || !special)
            maki_digest_add_error(d, maki_text_item_text(line), link, line->weight);
    }
    if (o->errors.count == 0) maki_digest_add_error(d, (maki_str){ o->last, o->last_len }, link, 4);
}

static void finish_run(maki_digest *d, uint64_t link, bool is_error)
{
    maki_outcome *o = &d->outcome;
    maki_text_item *run = maki_text_set_find(&d->runs, link);
    bool displays = run && maki_command_only_displays(maki_text_item_text(run));
    bool failed = o->has_code ? o->code != 0 : is_error || (o->reports_error && !displays);
    if (displays && !is_error) failed = false; /* "grep" that finds nothing ends with 1 */
    if (run) {
        run->state = failed ? MAKI_RUN_FAILED : MAKI_RUN_OK;
        run->counters[0] = o->has_code ? o->code + 1 : 0;
        maki_text_set_set_detail(&d->runs, run, (maki_str){ o->counts, o->counts_len });
    }
    if (failed) {
        add_errors(d, link);
    } else {
        maki_digest_mark_solved(d, link);
    }
}

/* Does the first line of a result report a failure? */
static bool reports_failure(const maki_digest *d)
{
    const char *openings = "error|<error|<tool_use_error|failed|エラー|错误|오류|no such file";
    maki_str first = { d->outcome.first, d->outcome.first_len }, opening;
    while (maki_words_next(&openings, &opening)) {
        if (maki_str_find_nocase(first, opening) == 0 && first.len) return true;
    }
    return false;
}

static void finish_other(maki_digest *d, const maki_open_call *call, bool is_error)
{
    maki_outcome *o = &d->outcome;
    maki_text_item *file = uses_file(call->kind) ? maki_text_set_find(&d->files, call->link) : NULL;
    if (is_error || reports_failure(d)) {
        if (file) file->state = MAKI_FILE_FAILED;
        maki_digest_add_error(d, (maki_str){ o->first, o->first_len }, call->link, 4);
    } else {
        maki_digest_mark_solved(d, call->link);
    }
}

static maki_open_call find_call(const maki_digest *d, maki_str id)
{
    uint64_t key = id.len ? maki_json_text_hash(id) | 1 : 0;
    for (size_t i = 0; key && i < MAKI_DIGEST_CALLS; i++) {
        if (d->calls[i].id == key) return d->calls[i];
    }
    return (maki_open_call){ 0 };
}

void maki_digest_add_result(maki_digest *d, const maki_message_part *part)
{
    maki_outcome *o = &d->outcome;
    maki_str content = part->value;
    maki_open_call call = find_call(d, part->id);
    maki_text_set lines = o->errors;
    *o = (maki_outcome){ .errors = lines, .of_run = call.kind == MAKI_TOOL_RUN };
    maki_text_set_clear(&o->errors);
    if (content.len && !read_wrapped(d, content)) read_content(d, content);
    if (call.kind == MAKI_TOOL_RUN) {
        finish_run(d, call.link, part->failed);
    } else if (call.kind != MAKI_TOOL_TODO) {
        finish_other(d, &call, part->failed);
    }
}
