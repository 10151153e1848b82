/* cmd_tokens.c -- maki tokens: count, encode and decode the tokens of files, messages, a text or standard input.
 *
 * The error of a file is stored in its token_file; the others are processed, the errors printed after the table, and the
 * exit code is that of the first. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "base/text.h"
#include "cli.h"
#include "message_print.h"
#include "token_files.h"
#include "token_messages.h"

static const char usage[] =
    "maki tokens count [PATH ...]     count the tokens of files, of all files in directories, or of standard input\n"
    "maki tokens count --messages     files of messages: a JSON array, {\"messages\": [...]}, or JSON lines\n"
    "maki tokens encode [PATH ...]    text to token ids, separated by spaces, a line for each file\n"
    "maki tokens decode [ID ...]      token ids, of the arguments or of standard input, to text\n"
    "\n";

static const char notes[] =
    "\n"
    "PATH may be - for standard input.  When a file cannot be read the error is printed and the others are\n"
    "counted; the exit code is that of the first error: 5 not found, 7 read error, 10 permission denied.\n"
    "\n"
    "Example:\n"
    "  maki tokens count README.md src\n"
    "  maki tokens count --model claude-sonnet-4-5 --messages talk.jsonl\n"
    "  echo 吾輩は猫である | maki tokens encode\n"
    "  maki tokens decode 13225 2375\n";

typedef struct arguments {
    const char *encoding, *model, *text;
    bool messages, special, all, json;
    char **rest; /* paths or ids */
    size_t count;
} arguments;

/* The encoding to count with, the factor for the model, and the possible error. */
typedef struct token_counter {
    const maki_encoding *encoding;
    double factor, error;
    bool exact;
} token_counter;

/* ---- arguments ------------------------------------------------------------------------------------- */

static const maki_option flags[] = {
    { "--encoding NAME", offsetof(arguments, encoding),
      "o200k_base (the default), cl100k_base or claude" },
    { "--model NAME", offsetof(arguments, model),
      "count for this model.  If its encoding is not published, that is the nearest one times\n"
      "a factor, shown as \"about\" with the possible error" },
    { "--text TEXT", offsetof(arguments, text), "this text instead of a file" },
    { "--messages", offsetof(arguments, messages), NULL },
    { "--special", offsetof(arguments, special),
      "<|endoftext|> and other special tokens are one token each, not plain text" },
    { "--all", offsetof(arguments, all),
      "binary files in directories too (.git and symbolic links are always skipped)" },
    { "--json", offsetof(arguments, json), "the answer as JSON: {\"tokens\": N, ...}" },
};

static int parse(int argc, char **argv, arguments *a)
{
    int code = cli_read_options(&cli_tokens, argc, argv, a, SIZE_MAX, &a->count);
    if (code) return code;
    a->rest = argv;
    if (a->encoding && a->model)
        return cli_usage_error("tokens", "only one of ", "--encoding and --model");
    if (a->text && a->count)
        return cli_usage_error("tokens", "--text takes no paths: ", a->rest[0]);
    return 0;
}

/* Look up the counter of a model with the operation tokens.models. */
static int find_model(maki *m, const char *model, token_counter *out)
{
    maki_buf input = cli_buf(), output = cli_buf();
    maki_err err = { 0 };
    maki_str answer;
    maki_jw w;
    char name[40];
    int code = 0;
    maki_jw_init(&w, maki_buf_sink(&input), &err);
    maki_jw_print(&w, "{'model':%s}", maki_str_of(model));
    if (maki_jw_end(&w) != MAKI_OK ||
        cli_run_op(m, "tokens.models", cli_text(&input), &output, &answer, &err) != MAKI_OK) {
        code = cli_fail("tokens --model", &err);
    } else {
        maki_json_text_field(answer, "encoding", name, sizeof name);
        out->encoding = maki_encoding_find(name);
        out->factor = maki_json_number_field(answer, "factor");
        out->error = maki_json_number_field(answer, "error");
        out->exact = out->error == 0;
    }
    maki_buf_free(&input);
    maki_buf_free(&output);
    return code;
}

static int select_counter(const arguments *a, token_counter *out)
{
    maki *m = NULL;
    maki_err err = { 0 };
    const char *name = a->encoding ? a->encoding : "o200k_base";
    *out = (token_counter){ .encoding = maki_encoding_find(name), .factor = 1, .exact = true };
    if (a->model) {
        if (maki_open(NULL, &m, &err) != MAKI_OK) return cli_fail("tokens", &err);
        int code = find_model(m, a->model, out);
        maki_close(m);
        if (code) return code;
    }
    if (out->encoding) return 0;
    fprintf(stderr, "maki tokens: unknown encoding %.40s; the encodings are", name);
    for (size_t i = 0; maki_encoding_at(i); i++)
        fprintf(stderr, " %s", maki_encoding_name(maki_encoding_at(i)));
    fputs("\n", stderr);
    return maki_status_exit(MAKI_INVALID);
}

/* ---- printing ---------------------------------------------------------------------------------------- */

static uint64_t tokens_of(const token_file *file, const token_counter *counter)
{
    double scaled = counter->factor == 1 ? (double)file->counted.tokens
                                         : ceil((double)file->counted.tokens * counter->factor);
    return (uint64_t)scaled + file->fixed;
}

typedef struct totals {
    uint64_t tokens, bytes, messages;
    size_t files, binary;
} totals;

static totals sum_files(const token_files *files, const token_counter *counter)
{
    totals t = { 0 };
    for (size_t i = 0; i < files->count; i++) {
        const token_file *file = &files->items[i];
        t.binary += file->counted.binary;
        if (file->counted.binary || file->counted.err.status != MAKI_OK) continue;
        t.tokens += tokens_of(file, counter);
        t.bytes += file->counted.bytes;
        t.messages += file->messages;
        t.files++;
    }
    return t;
}

static void print_row(uint64_t tokens, uint64_t messages, uint64_t bytes, const arguments *a,
                      const char *name, const char *style, const char *off)
{
    char buf[MAKI_GROUPED_MAX], ratio[32] = "-";
    printf("%s%14s  ", style, maki_grouped(tokens, buf));
    if (a->messages) printf("%9s  ", maki_grouped(messages, buf));
    if (tokens) snprintf(ratio, sizeof ratio, "%.2f", (double)bytes / (double)tokens);
    printf("%14s  %11s  ", maki_grouped(bytes, buf), ratio);
    token_name_print(stdout, name);
    printf("%s\n", off);
}

static void print_exactness(const arguments *a, const token_counter *counter, const totals *t,
                            const cli_style *s)
{
    printf("%s%s", s->dim, maki_encoding_name(counter->encoding));
    if (counter->factor != 1) printf(" x %g", counter->factor);
    if (a->model) {
        printf(" for ");
        token_name_print(stdout, a->model);
    }
    if (counter->exact)
        printf(", exact");
    else
        printf(", estimated: within %.0f %%", counter->error * 100);
    if (t->binary) printf("; %zu binary files skipped (--all counts them)", t->binary);
    printf("%s\n", s->off);
}

static void print_table(const token_files *files, const arguments *a, const token_counter *counter)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    totals t = sum_files(files, counter);
    printf("%s%14s  %s%14s  %11s  %s%s\n", s.dim, counter->exact ? "tokens" : "about tokens",
           a->messages ? " messages  " : "", "bytes", "bytes/token", "file", s.off);
    for (size_t i = 0; i < files->count; i++) {
        const token_file *file = &files->items[i];
        if (file->counted.binary || file->counted.err.status != MAKI_OK) continue;
        print_row(tokens_of(file, counter), file->messages, file->counted.bytes, a, file->name, "",
                  "");
    }
    if (t.files != 1) print_row(t.tokens, t.messages, t.bytes, a, "total", s.bold, s.off);
    print_exactness(a, counter, &t, &s);
}

static void print_json(const token_files *files, const arguments *a, const token_counter *counter)
{
    totals t = sum_files(files, counter);
    maki_jw w;
    maki_jw_init(&w, cli_stdout(), NULL);
    maki_jw_print(&w, "{'tokens':%i,'bytes':%i,'encoding':%z,'exact':%b", t.tokens, t.bytes,
                  maki_encoding_name(counter->encoding), counter->exact);
    if (!counter->exact)
        maki_jw_print(&w, "'factor':%f,'error':%f", counter->factor, counter->error);
    if (a->messages) maki_jw_print(&w, "'messages':%i", t.messages);
    maki_jw_print(&w, "'binaryFiles':%I,'files':[", t.binary);
    for (size_t i = 0; i < files->count; i++) {
        const token_file *file = &files->items[i];
        const maki_err *err = &file->counted.err;
        if (file->counted.binary) continue;
        maki_jw_print(&w, "{'file':");
        maki_jw_string_lossy(&w, maki_str_of(file->name));
        if (err->status != MAKI_OK) {
            maki_jw_print(&w, "'error':{'code':%z,'message':", maki_status_name(err->status));
            maki_jw_string_lossy(&w, maki_str_of(err->msg)); /* it may contain a file name */
            maki_jw_print(&w, "}}");
            continue;
        }
        maki_jw_print(&w, "'tokens':%i,'bytes':%i", tokens_of(file, counter), file->counted.bytes);
        if (a->messages) maki_jw_print(&w, "'messages':%i", file->messages);
        maki_jw_end_object(&w);
    }
    maki_jw_print(&w, "]}");
    (void)!maki_jw_end(&w); /* main.c reports a failed write */
    printf("\n");
}

/* Print the errors of the files; returns the exit code of the first. */
static bool all_failed(const token_files *files)
{
    size_t i = 0;
    while (i < files->count && files->items[i].counted.err.status != MAKI_OK)
        i++;
    return i > 0 && i == files->count;
}

static int print_errors(const token_files *files)
{
    int code = 0;
    for (size_t i = 0; i < files->count; i++) {
        const maki_err *err = &files->items[i].counted.err;
        if (err->status == MAKI_OK) continue;
        if (!code) code = maki_status_exit(err->status);
        fputs("maki tokens: ", stderr);
        token_name_print(stderr, files->items[i].name);
        fprintf(stderr, ": %s\n", err->msg);
    }
    return code;
}

/* ---- count -------------------------------------------------------------------------------------------- */

static void add_paths(const arguments *a, token_files *files)
{
    if (a->count == 0 && isatty(STDIN_FILENO)) {
        fprintf(stderr, "Reading from the terminal; Ctrl-D ends it.\n");
    }
    if (a->count == 0) token_files_add(files, "-");
    for (size_t i = 0; i < a->count; i++)
        token_files_add(files, a->rest[i]);
}

static int count_messages(const arguments *a, token_files *files, token_counter *counter)
{
    maki *m = NULL;
    maki_err err = { 0 };
    token_request request = { .factor = counter->factor, .exact = true };
    if (maki_open(NULL, &m, &err) != MAKI_OK) return cli_fail("tokens", &err);
    const char *field = a->model ? "model" : "encoding";
    const char *name = a->model ? a->model : maki_encoding_name(counter->encoding);
    for (size_t i = 0; i < files->count; i++)
        token_count_messages(m, &files->items[i], field, name, &request);
    maki_close(m);
    counter->factor = request.factor;
    counter->exact = request.exact;
    counter->error = request.error;
    return 0;
}

/* Count (fn NULL) or encode the text of --text. */
static void process_text(const arguments *a, const token_counter *counter, maki_ids_fn fn,
                         void *ctx, maki_token_file *out)
{
    maki_env env = maki_env_system();
    maki_tokenizer *t = NULL;
    maki_tokenizer_options options = MAKI_TOKENIZER_OPTIONS_INIT;
    maki_str text = maki_str_of(a->text);
    options.special = a->special;
    if (maki_tokenizer_open(&env, counter->encoding, &options, &t, &out->err) != MAKI_OK) return;
    out->bytes = text.len;
    if (fn)
        (void)maki_tokenizer_encode(t, text, fn, ctx, &out->err);
    else
        out->tokens = maki_tokenizer_count(t, text);
    maki_tokenizer_close(t);
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
    char detail[60];
    if (total)
        snprintf(detail, sizeof detail, "%" PRIu64 " of %" PRIu64 " MB", done >> 20, total >> 20);
    else
        snprintf(detail, sizeof detail, "%" PRIu64 " MB read", done >> 20);
    cli_progress_show(ctx, "", done, total, detail);
}

static int count_files(const arguments *a, const token_counter *counter, token_files *files)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    cli_progress progress;
    maki_token_files_options options = {
        .size = sizeof options, .special = a->special, .progress = on_progress, .ctx = &progress
    };
    maki_token_file **list = calloc(files->count, sizeof *list);
    if (!list) {
        maki_fail_nomem(&err);
        return cli_fail("tokens", &err);
    }
    for (size_t i = 0; i < files->count; i++) {
        list[i] = &files->items[i].counted;
        list[i]->skip_binary = list[i]->skip_binary && !a->all;
    }
    cli_progress_start(&progress);
    maki_status st =
        maki_token_count_files(&env, counter->encoding, &options, list, files->count, &err);
    cli_progress_clear(&progress);
    free(list);
    return st == MAKI_OK ? 0 : cli_fail("tokens", &err);
}

static int run_count(const arguments *a, token_counter *counter)
{
    token_files files = { 0 };
    int code = 0;
    if (a->messages && (a->special || a->text)) {
        return cli_usage_error("tokens", "--messages cannot be combined with ",
                               a->text ? "--text" : "--special");
    }
    if (a->text) {
        token_files_add(&files, "-");
        process_text(a, counter, NULL, NULL, &files.items[0].counted);
    } else {
        add_paths(a, &files);
        if (a->messages)
            code = count_messages(a, &files, counter);
        else
            code = count_files(a, counter, &files);
    }
    if (code == 0) {
        if (a->json)
            print_json(&files, a, counter);
        else if (!all_failed(&files))
            print_table(&files, a, counter);
        fflush(stdout); /* the table before the errors on standard error */
        code = print_errors(&files);
    }
    token_files_free(&files);
    return code;
}

/* ---- encode ------------------------------------------------------------------------------------------- */

typedef struct id_writer {
    const char *separator;
    uint64_t count;
} id_writer;

static maki_status write_ids(void *ctx, const uint32_t *ids, size_t n, maki_err *err)
{
    id_writer *w = ctx;
    for (size_t i = 0; i < n; i++) {
        char text[12];
        int first = sizeof text;
        uint32_t id = ids[i];
        do {
            text[--first] = (char)('0' + id % 10);
            id /= 10;
        } while (id);
        if (w->count++) fputs_unlocked(w->separator, stdout);
        fwrite_unlocked(text + first, 1, sizeof text - (size_t)first, stdout);
    }
    if (!ferror(stdout)) return MAKI_OK;
    return maki_fail_errno(err, "");
}

static int run_encode(const arguments *a, const token_counter *counter)
{
    token_files files = { 0 };
    maki_env env = maki_env_system();
    if (a->messages) return cli_usage_error("tokens encode", "unknown option ", "--messages");
    if (a->text)
        token_files_add(&files, "-");
    else
        add_paths(a, &files);
    for (size_t i = 0; i < files.count; i++) {
        token_file *file = &files.items[i];
        id_writer w = { .separator = a->json ? "," : " " };
        if (file->counted.err.status != MAKI_OK) continue;
        if (a->json) printf("{\"tokens\":[");
        if (a->text)
            process_text(a, counter, write_ids, &w, &file->counted);
        else
            (void)maki_token_encode_file(&env, counter->encoding, a->special, &file->counted,
                                         write_ids, &w);
        if (a->json) printf("],\"count\":%" PRIu64 "}", w.count);
        if (a->json || w.count || file->counted.err.status == MAKI_OK) putchar('\n');
    }
    fflush(stdout);
    int code = print_errors(&files);
    token_files_free(&files);
    return code;
}

/* ---- decode ------------------------------------------------------------------------------------------- */

typedef struct id_reader {
    const maki_encoding *encoding;
    uint64_t id, count;
    bool in_number;
    maki_jw *json; /* write the ids as JSON to this; NULL: decode them */
} id_reader;

static int end_number(id_reader *r)
{
    if (!r->in_number) return 0;
    r->in_number = false;
    r->count++;
    if (r->json) {
        maki_jw_int(r->json, (int64_t)r->id);
    } else {
        bool known = r->id < maki_encoding_size(r->encoding);
        maki_str token =
            known ? maki_encoding_token(r->encoding, (uint32_t)r->id) : (maki_str){ "", 0 };
        if (token.len == 0) {
            fflush(stdout);
            fprintf(stderr,
                    "maki tokens decode: id %" PRIu64 " (number %" PRIu64
                    ") is not a token of %s\n",
                    r->id, r->count, maki_encoding_name(r->encoding));
            return maki_status_exit(MAKI_INVALID);
        }
        fwrite(token.ptr, 1, token.len, stdout);
    }
    r->id = 0;
    return 0;
}

/* Parse integers, separated by white space, commas or brackets, and decode each. */
static int decode_bytes(id_reader *r, const char *text, size_t n)
{
    int code = 0;
    for (size_t i = 0; i < n && code == 0; i++) {
        char c = text[i];
        if (c >= '0' && c <= '9') {
            r->in_number = true;
            if (r->id <= UINT32_MAX) r->id = r->id * 10 + (uint64_t)(c - '0');
        } else if (c && strchr(" \t\r\n,[]", c)) {
            code = end_number(r);
        } else {
            fflush(stdout);
            fprintf(stderr, "maki tokens decode: not an integer: '%c', after %" PRIu64 " ids\n", c,
                    r->count);
            code = maki_status_exit(MAKI_INVALID);
        }
    }
    return code;
}

static int read_ids(const arguments *a, id_reader *reader)
{
    int code = 0;
    char block[1 << 14];
    size_t n;
    for (size_t i = 0; i < a->count && code == 0; i++) {
        code = decode_bytes(reader, a->rest[i], strlen(a->rest[i]));
        if (code == 0) code = end_number(reader);
    }
    if (a->count) return code;
    if (isatty(STDIN_FILENO)) fprintf(stderr, "Reading ids from the terminal; Ctrl-D ends it.\n");
    while (code == 0 && (n = fread(block, 1, sizeof block, stdin)) > 0)
        code = decode_bytes(reader, block, n);
    if (code == 0 && ferror(stdin)) {
        maki_err err = { 0 };
        maki_fail_errno(&err, "");
        code = cli_fail("tokens decode", &err);
    }
    return code ? code : end_number(reader);
}

/* The answer of the operation tokens.decode. */
static int decode_json(const arguments *a, id_reader *reader)
{
    maki_buf input = cli_buf();
    maki_jw w;
    maki *m = NULL;
    maki_err err = { 0 };
    reader->json = &w;
    maki_jw_init(&w, maki_buf_sink(&input), &err);
    maki_jw_print(&w, "{'encoding':%z,'tokens':[", maki_encoding_name(reader->encoding));
    int code = read_ids(a, reader);
    maki_jw_print(&w, "]}");
    if (code == 0) {
        if (maki_jw_end(&w) != MAKI_OK || maki_open(NULL, &m, &err) != MAKI_OK ||
            maki_op(m, MAKI_LIT("tokens.decode"), cli_text(&input), cli_stdout(), &err) != MAKI_OK)
            code = cli_fail("tokens decode", &err);
        maki_close(m);
        putchar('\n');
    }
    maki_buf_free(&input);
    return code;
}

static int run_decode(const arguments *a, const token_counter *counter)
{
    id_reader reader = { .encoding = counter->encoding };
    if (a->messages || a->special || a->text || a->all) {
        return cli_usage_error("tokens decode", "the only options are ",
                               "--encoding, --model and --json");
    }
    return a->json ? decode_json(a, &reader) : read_ids(a, &reader);
}

/* ---- the command ---------------------------------------------------------------------------------------- */

static int run(int argc, char **argv)
{
    arguments a = { 0 };
    token_counter counter;
    const char *subcommand = argc > 1 ? argv[1] : "";
    bool count = cli_streq(subcommand, "count"), encode = cli_streq(subcommand, "encode");
    if (!count && !encode && !cli_streq(subcommand, "decode")) {
        return cli_unknown("tokens", "subcommand", subcommand, "count|encode|decode");
    }
    int code = parse(argc - 1, argv + 1, &a);
    if (code == 0) code = select_counter(&a, &counter);
    if (code) return code;
    return count    ? run_count(&a, &counter)
           : encode ? run_encode(&a, &counter)
                    : run_decode(&a, &counter);
}

const cli_command cli_tokens = { .name = "tokens",
                                 .help = "count, encode and decode tokens",
                                 .run = run,
                                 .usage = usage,
                                 CLI_OPTIONS(flags),
                                 .notes = notes };
