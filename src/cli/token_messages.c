/* token_messages.c -- count the messages of a file, each by a call of the operation tokens.count: memory grows with the
 * longest one.
 *
 * A file is mapped; a file without a size (a pipe, /proc) is read. */
#include "token_messages.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "cli.h"
#include "http.h"
#include "message_print.h"

/* ---- the text of a file -------------------------------------------------------------------------- */

typedef struct text_of_file {
    maki_str text;
    void *map; /* NULL: the file was read into `in` */
    maki_buf in;
} text_of_file;

static bool open_text(const token_file *file, text_of_file *out)
{
    bool is_stdin = !file->counted.path;
    int fd = is_stdin ? STDIN_FILENO : open(file->name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    bool ok = fd >= 0;
    *out = (text_of_file){ .text = { "", 0 }, .in = cli_buf() };
    if (ok && !is_stdin && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            out->map = map;
            out->text = (maki_str){ map, (size_t)st.st_size };
        }
    }
    if (ok && !out->map) {
        ok = cli_read_all(fd, &out->in);
        out->text = cli_text(&out->in);
    }
    int error = errno;
    if (fd > STDIN_FILENO) close(fd);
    errno = error;
    return ok;
}

static void close_text(text_of_file *text)
{
    if (text->map) munmap(text->map, text->text.len);
    maki_buf_free(&text->in);
}

static const char not_messages[] =
    "not messages: an array of them, {\"messages\": [...]}, or an object with a role a line";

/* ---- one call of tokens.count ----------------------------------------------------------------------- */

typedef struct counting {
    maki *m;
    const char *field, *name;
    token_file *file;
    token_request *request;
    maki_buf input, answer;
    uint64_t
        reply; /* tokens of the reply's prefix: in the answer of each call, to be counted once */
} counting;

/* Call it with {..., "field": before value after} and add up its answer. */
static maki_status count_field(counting *c, const char *field, const char *before, maki_str value,
                               const char *after)
{
    maki_str answer, exact;
    maki_jw w;
    maki_buf_clear(&c->input);
    maki_jw_init(&w, maki_buf_sink(&c->input), &c->file->counted.err);
    maki_jw_begin_object(&w);
    maki_jw_field_string(&w, c->field, maki_str_of(c->name));
    maki_jw_key(&w, maki_str_of(field));
    maki_jw_begin_value(&w);
    maki_jw_bytes(&w, maki_str_of(before));
    maki_jw_bytes(&w, value);
    maki_jw_bytes(&w, maki_str_of(after));
    maki_jw_end_object(&w);
    maki_status st = maki_jw_end(&w);
    if (st == MAKI_OK)
        st = cli_run_op(c->m, "tokens.count", cli_text(&c->input), &c->answer, &answer,
                        &c->file->counted.err);
    if (st != MAKI_OK) return st;
    double error = maki_json_number_field(answer, "error");
    uint64_t reply = (uint64_t)maki_json_number_field(answer, "reply");
    c->file->counted.tokens += (uint64_t)maki_json_number_field(answer, "counted");
    c->file->fixed += (uint64_t)maki_json_number_field(answer, "fixed") - reply;
    if (reply) c->reply = reply;
    c->request->factor = maki_json_number_field(answer, "factor");
    if (error > c->request->error) c->request->error = error;
    if (show_field(answer, "exact", &exact)) c->request->exact &= maki_json_true(exact);
    return MAKI_OK;
}

static maki_status fail_invalid(counting *c, const char *what)
{
    return maki_fail(&c->file->counted.err, MAKI_INVALID, "%s", what);
}

static maki_status count_message(counting *c, maki_str message)
{
    if (maki_json_kind_of(message) != MAKI_JSON_OBJECT)
        return fail_invalid(c, "a message must be an object");
    c->file->messages++;
    return count_field(c, "messages", "[", message, "]");
}

static maki_status count_array(counting *c, maki_str array)
{
    maki_status st = MAKI_OK;
    MAKI_JSON_EACH_WHILE(st == MAKI_OK, item, maki_json_items(array))
        st = count_message(c, item.value);
    return st;
}

/* A request: {"messages": [...], "system", "tools"}. */
static maki_status count_request(counting *c, maki_str object)
{
    maki_str messages, value;
    bool found =
        show_field(object, "messages", &messages) || show_field(object, "contents", &messages);
    if (!found || maki_json_kind_of(messages) != MAKI_JSON_ARRAY) {
        return show_field(object, "role", &value) ? count_message(c, object)
                                                  : fail_invalid(c, not_messages);
    }
    maki_status st = count_array(c, messages);
    if (st == MAKI_OK && show_field(object, "system", &value) &&
        maki_json_kind_of(value) != MAKI_JSON_NULL) {
        st = count_field(c, "system", "", value, "");
    }
    if (st == MAKI_OK && show_field(object, "tools", &value) &&
        maki_json_kind_of(value) == MAKI_JSON_ARRAY) {
        st = count_field(c, "tools", "", value, "");
    }
    return st;
}

/* ---- files -------------------------------------------------------------------------------------------- */

/* The first row of a session's file, or another object that is not a message. */
static bool is_header(maki_str value)
{
    maki_str role;
    return maki_json_kind_of(value) == MAKI_JSON_OBJECT && !show_field(value, "role", &role);
}

static maki_status count_lines(counting *c, maki_str text)
{
    maki_status st = MAKI_OK;
    for (uint64_t line = 1; text.len && st == MAKI_OK; line++) {
        maki_str value, row;
        maki_str_take(&text, '\n', &row);
        if (maki_str_only(row, " \t\r")) continue;
        st = maki_json_check(row, &value, &c->file->counted.err);
        if (st == MAKI_OK && !is_header(value)) st = count_message(c, value);
        if (st != MAKI_OK) {
            maki_err first = c->file->counted.err;
            maki_fail(&c->file->counted.err, st, "line %llu: %.150s", (unsigned long long)line,
                      first.msg);
        }
    }
    return st;
}

/* JSON lines: the first line is a value of its own. */
static bool is_lines(maki_str text, maki_err *err)
{
    maki_str value, first;
    return maki_str_take(&text, '\n', &first) && maki_json_check(first, &value, err) == MAKI_OK;
}

static maki_status count_text(counting *c, maki_str text)
{
    maki_str value;
    maki_err whole = { 0 }, line = { 0 };
    if (maki_json_check(text, &value, &whole) == MAKI_OK) {
        maki_json_kind kind = maki_json_kind_of(value);
        if (kind == MAKI_JSON_ARRAY) return count_array(c, value);
        if (kind == MAKI_JSON_OBJECT) return count_request(c, value);
        return fail_invalid(c, not_messages);
    }
    if (is_lines(text, &line)) return count_lines(c, text);
    c->file->counted.err = whole;
    return whole.status;
}

void token_count_messages(maki *m, token_file *file, const char *field, const char *name,
                          token_request *request)
{
    counting c = { .m = m,
                   .field = field,
                   .name = name,
                   .file = file,
                   .request = request,
                   .input = cli_buf(),
                   .answer = cli_buf() };
    text_of_file text;
    if (file->counted.err.status != MAKI_OK) return;
    if (!open_text(file, &text)) {
        maki_fail_errno(&file->counted.err, "");
        return;
    }
    file->counted.bytes = text.text.len;
    if (text.text.len) {
        maki_status st = count_text(&c, text.text);
        if (st == MAKI_OK) file->fixed += c.reply;
    }
    close_text(&text);
    maki_buf_free(&c.input);
    maki_buf_free(&c.answer);
}
