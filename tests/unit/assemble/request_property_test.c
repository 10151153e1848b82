/* request_property_test.c -- a written request, read again, has the content of the conversation.
 *
 * Random conversations in the shapes of all protocols, with parallel calls, results early, late, twice
 * or missing: each is written in every protocol, parsed by the request readers of wire/, and must have the same
 * parts in the same order.  `request_property_test SEED` runs one again. */
#include <stdarg.h>

#include "../history/exchange.h"
#include "assemble/request.h"
#include "wire/content_part.h"

enum { CALLS_MAX = 400, TURN_MAX = 4 };

/* ---- content as lines of text ---------------------------------------------------------------------------------- */

/* Calls are identified by their number, results by the call they answer. */
typedef struct transcript {
    maki_buf lines;
    char ids[CALLS_MAX][80];
    size_t calls;
    bool system_is_user;
} transcript;

static void add_text(maki_buf *out, maki_str content)
{
    maki_content_parts pieces = maki_content_parts_of_content(content);
    maki_content_part piece;
    size_t n = 0;
    while (maki_content_parts_next(&pieces, &piece)) {
        if (piece.kind != MAKI_CONTENT_TEXT) continue;
        if (n++) maki_buf_add(out, MAKI_LIT("\\n"));
        maki_buf_add(out, maki_json_strip_quotes(piece.text));
    }
}

static void add_number(maki_buf *out, size_t n)
{
    char text[24];
    snprintf(text, sizeof text, " %zu ", n);
    maki_buf_add(out, maki_str_of(text));
}

/* The JSON of an input, in a string or not. */
static void add_input(maki_buf *out, maki_str input)
{
    if (!maki_is_string(input))
        maki_buf_add(out, input.len ? input : MAKI_LIT("{}"));
    else
        CHECK_STATUS(maki_json_unescape_to(maki_json_strip_quotes(input), maki_buf_sink(out), NULL),
                     MAKI_OK, NULL);
}

static size_t call_number(const transcript *s, maki_str id)
{
    char text[80];
    size_t n = maki_json_copy_text(id, text, sizeof text - 1);
    text[n] = '\0';
    for (size_t i = s->calls; i > 0; i--) {
        if (strcmp(s->ids[i - 1], text) == 0) return i - 1;
    }
    return CALLS_MAX;
}

static void add_part(transcript *s, const maki_content_part *piece)
{
    switch (piece->kind) {
    case MAKI_CONTENT_TEXT:
        maki_buf_add(&s->lines, MAKI_LIT("text "));
        maki_buf_add(&s->lines, piece->text);
        break;
    case MAKI_CONTENT_IMAGE:
        maki_buf_add(&s->lines, MAKI_LIT("image "));
        maki_buf_add(&s->lines, piece->media.data);
        break;
    case MAKI_CONTENT_CALL: {
        size_t n = maki_json_copy_text(piece->id, s->ids[s->calls], sizeof s->ids[0] - 1);
        s->ids[s->calls][n] = '\0';
        maki_buf_add(&s->lines, MAKI_LIT("call"));
        add_number(&s->lines, s->calls++);
        maki_buf_add(&s->lines, piece->name);
        add_input(&s->lines, piece->input);
        break;
    }
    case MAKI_CONTENT_RESULT:
        maki_buf_add(&s->lines, MAKI_LIT("result"));
        add_number(&s->lines, call_number(s, piece->id));
        add_text(&s->lines, piece->content);
        break;
    default: break;
    }
    maki_buf_add(&s->lines, MAKI_LIT("\n"));
}

static void add_row(transcript *s, maki_str row)
{
    static const char *const names[] = { "?", "system ", "user ", "assistant " };
    maki_content_parts pieces = maki_content_parts_of_row(row);
    maki_content_part piece;
    maki_author by = pieces.author;
    if (by == MAKI_AUTHOR_SYSTEM && s->system_is_user) by = MAKI_AUTHOR_USER;
    while (maki_content_parts_next(&pieces, &piece)) {
        if (piece.kind == MAKI_CONTENT_THINKING) continue;
        if (piece.kind == MAKI_CONTENT_TEXT && maki_is_blank(piece.text)) continue;
        maki_buf_add(&s->lines, maki_str_of(names[by]));
        add_part(s, &piece);
    }
}

static maki_status read_row(void *ctx, const maki_wire_message *message, maki_err *err)
{
    (void)err;
    add_row(ctx, message->row);
    return MAKI_OK;
}

/* ---- random conversations --------------------------------------------------------------------------------------- */

/* `log`: the rows that are appended; `said`: the rows that they mean, in order and complete. */
typedef struct generator {
    tap_random random;
    maki_buf log, said;
    size_t next; /* call */
} generator;

static size_t chance(generator *m, size_t limit)
{
    return tap_below(&m->random, limit);
}

static const char *random_text(generator *m)
{
    static const char *const all[] = { "hello",           "日本語のテキスト", "中文文本",
                                       "한국어 문장",     "👩‍💻🎉",  "line\\nbreak",
                                       "say \\\"yes\\\"", "\\u00e9\\u4e2d",   "\\ud83d\\ude00",
                                       "C:\\\\dir\\t",    "naïve café",       "x" };
    return all[chance(m, COUNT(all))];
}

static void print(maki_buf *out, const char *fmt, ...) MAKI_PRINTF(2, 3);
static void print(maki_buf *out, const char *fmt, ...)
{
    char text[1000];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    maki_buf_add(out, (maki_str){ text, (size_t)n });
}

static void add_plain(generator *m, const char *role, bool both)
{
    const char *text = random_text(m);
    bool image = strcmp(role, "user") == 0 && chance(m, 6) == 0;
    char row[400];
    if (image)
        snprintf(
            row, sizeof row,
            chance(m, 2)
                ? "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"},{\"type\":\"image\",\"source\":"
                  "{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBORw0K\"}}]}\n"
                : "{\"role\":\"user\",\"content\":\"%s\",\"images\":[\"iVBORw0K\"],\"ts\":1}\n",
            text);
    else
        snprintf(row, sizeof row,
                 chance(m, 2)
                     ? "{\"role\":\"%s\",\"content\":\"%s\"}\n"
                     : "{\"role\":\"%s\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}\n",
                 role, text);
    maki_buf_add(&m->log, maki_str_of(row));
    if (both) maki_buf_add(&m->said, maki_str_of(row));
}

/* The shape of the calls of a turn in the log. */
typedef enum shape { ANTHROPIC, OPENAI, APART, OLLAMA, SHAPES } shape;

static void write_calls(generator *m, shape s, size_t count)
{
    size_t first = m->next;
    print(&m->said, "{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"t\"}");
    if (s == ANTHROPIC || s == APART)
        print(
            &m->log,
            "{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"h\"},{\"type\":\"text\",\"text\":\"t\"}%s",
            s == APART ? "]}\n" : "");
    else
        print(&m->log, "{\"role\":\"assistant\",\"content\":\"t\",\"tool_calls\":[");
    for (size_t i = 0; i < count; i++, m->next++) {
        const char *word = random_text(m), *comma = i ? "," : "";
        print(&m->said,
              ",{\"type\":\"tool_use\",\"id\":\"c%zu\",\"name\":\"f%zu\",\"input\":{\"a\":\"%s\"}}",
              first + i, i % 2, word);
        if (s == ANTHROPIC)
            print(
                &m->log,
                ",{\"type\":\"tool_use\",\"id\":\"c%zu\",\"name\":\"f%zu\",\"input\":{\"a\":\"%s\"}}",
                first + i, i % 2, word);
        else if (s == APART)
            print(
                &m->log,
                "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c%zu\",\"type\":\"function\",\"function\":"
                "{\"name\":\"f%zu\",\"arguments\":{\"a\":\"%s\"}}}]}\n",
                first + i, i % 2, word);
        else
            print(
                &m->log,
                "%s{\"id\":\"c%zu\",\"function\":{\"name\":\"f%zu\",\"arguments\":{\"a\":\"%s\"}}}",
                comma, first + i, i % 2, word);
    }
    print(&m->said, "]}\n");
    if (s != APART) print(&m->log, "]}\n");
}

static void write_result(generator *m, maki_buf *out, size_t call, const char *text)
{
    static const char *const forms[] = {
        "{\"role\":\"tool\",\"tool_call_id\":\"c%zu\",\"content\":\"%s\"}\n",
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c%zu\",\"content\":\"%s\"}]}\n",
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c%zu\",\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}]}\n",
    };
    print(out, forms[chance(m, COUNT(forms))], call, text);
}

/* A turn of calls with results in any order, with text in between, doubled, or missing. */
static void add_turn(generator *m)
{
    size_t count = 1 + chance(m, TURN_MAX), first = m->next, order[TURN_MAX];
    const char *texts[TURN_MAX] = { 0 };
    write_calls(m, (shape)chance(m, SHAPES), count);
    for (size_t i = 0; i < count; i++) {
        size_t at = chance(m, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    bool between = chance(m, 4) == 0, lost = chance(m, 6) == 0;
    maki_buf waits = maki_buf_new(m->log.alloc, 1 << 16);
    for (size_t i = 0; i < count; i++) {
        size_t call = order[i];
        if (lost && i + 1 == count) break;
        texts[call] = random_text(m);
        write_result(m, &m->log, first + call, texts[call]);
        if (chance(m, 8) == 0) write_result(m, &m->log, first + call, "again");
        if (between && i + 1 < count && !lost) {
            size_t from = m->log.len;
            add_plain(m, "user", false);
            maki_buf_add(&waits, maki_str_skip(maki_buf_str(&m->log), from));
        }
    }
    for (size_t i = 0; i < count; i++)
        write_result(m, &m->said, first + i,
                     texts[i] ? texts[i] : "[No result: the call was interrupted]");
    maki_buf_add(&m->said, maki_buf_str(&waits));
    maki_buf_free(&waits);
}

static void generate(generator *m)
{
    size_t turns = 1 + chance(m, 12);
    add_plain(m, "user", true);
    for (size_t i = 0; i < turns && m->next + TURN_MAX < CALLS_MAX; i++) {
        size_t kind = chance(m, 5);
        if (kind == 0) add_plain(m, "system", true);
        if (kind == 1) add_plain(m, "assistant", true);
        if (kind > 1) add_turn(m);
        add_plain(m, "user", true);
    }
}

/* ---- the round trip ------------------------------------------------------------------------------------------------ */

static void add_lines(transcript *s, maki_str rows)
{
    while (rows.len) {
        const char *newline = memchr(rows.ptr, '\n', rows.len);
        size_t n = (size_t)(newline - rows.ptr);
        add_row(s, maki_str_prefix(rows, n));
        rows = maki_str_skip(rows, n + 1);
    }
}

static maki_status write_and_read(const maki_env *env, maki_conv *conv, maki_protocol protocol,
                                  transcript *back, maki_buf *body, maki_err *err)
{
    const maki_view *view;
    maki_request request = { .protocol = protocol, .model = { "m", 1 } };
    maki_wire_request out;
    maki_status st = maki_conv_view(conv, MAKI_NEWEST, MAKI_NEWEST, &view, err);
    if (st == MAKI_OK) st = maki_request_write(conv, view, &request, maki_buf_sink(body), err);
    if (st == MAKI_OK)
        st = maki_wire_read(env, protocol, maki_buf_str(body), NULL, read_row, back, &out, NULL,
                            err);
    return st;
}

static bool check_protocol(const maki_env *env, maki_conv *conv, maki_protocol protocol,
                           maki_str said)
{
    static transcript want, got;
    maki_buf body = maki_buf_new(env->alloc, 1 << 24);
    maki_err err = { 0 };
    bool apart = maki_wire_system_is_separate(protocol);
    want = (transcript){ .lines = maki_buf_new(env->alloc, 1 << 24), .system_is_user = apart };
    got = (transcript){ .lines = maki_buf_new(env->alloc, 1 << 24), .system_is_user = apart };
    add_lines(&want, said);
    bool good = CHECK_STATUS(write_and_read(env, conv, protocol, &got, &body, &err), MAKI_OK, &err);
    if (good) good = CHECK_TEXT(maki_buf_str(&got.lines), maki_buf_str(&want.lines));
    if (!good)
        printf("# body %.*s\n# got\n%.*s# want\n%.*s", (int)body.len, body.len ? body.ptr : "",
               (int)got.lines.len, got.lines.len ? got.lines.ptr : "", (int)want.lines.len,
               want.lines.ptr);
    maki_buf_free(&want.lines);
    maki_buf_free(&got.lines);
    maki_buf_free(&body);
    return good;
}

static bool check_seed(uint64_t seed)
{
    static const maki_protocol all[] = { MAKI_WIRE_ANTHROPIC, MAKI_WIRE_CHAT, MAKI_WIRE_RESPONSES,
                                         MAKI_WIRE_OLLAMA, MAKI_WIRE_GEMINI };
    static const maki_conv_options options = { .read_only = true };
    maki_env env = maki_env_system();
    maki_conv *conv = NULL;
    maki_err err = { 0 };
    directory f;
    generator m = { .random = { seed * 0x9E3779B97F4A7C15u },
                    .log = maki_buf_new(env.alloc, 1 << 24),
                    .said = maki_buf_new(env.alloc, 1 << 24) };
    generate(&m);
    directory_open(&f);
    directory_write(directory_file(&f, "talk.jsonl"), maki_buf_str(&m.log));
    bool good =
        CHECK_STATUS(maki_conv_open(&env, directory_file(&f, "talk.jsonl"), &options, &conv, &err),
                     MAKI_OK, &err);
    for (size_t i = 0; good && i < COUNT(all); i++)
        good = check_protocol(&env, conv, all[i], maki_buf_str(&m.said));
    if (!good)
        printf("# seed %llu\n# log\n%.*s", (unsigned long long)seed, (int)m.log.len, m.log.ptr);
    maki_conv_close(conv);
    directory_close(&f);
    maki_buf_free(&m.log);
    maki_buf_free(&m.said);
    return good;
}

int main(int argc, char **argv)
{
    uint64_t only = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, last = only ? only : 500;
    tap_row("random conversations have the same content in every protocol");
    for (uint64_t seed = only ? only : 1; seed <= last; seed++) {
        if (!check_seed(seed)) break;
    }
    return tap_end();
}
