/* cmd_tokens.c -- maki tokens: count, encode and decode. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/json_print.h"
#include "base/str.h"
#include "cli.h"
#include "message_print.h"
#include "token_files.h"
#include "token_messages.h"

static const char usage[] =
    "maki tokens count [PATH ...]     the tokens of files, of all files of folders, or of standard input\n"
    "maki tokens count --messages     the same of messages: a JSON array, {\"messages\": [...]}, or one a line\n"
    "maki tokens encode [PATH ...]    the ids, separated by spaces, a line for each file\n"
    "maki tokens decode [ID ...]      the bytes of ids, from the arguments or from standard input\n"
    "\n";

static const char notes[] =
    "\n"
    "PATH may be - for standard input.  A file that cannot be read is told and the others are counted;\n"
    "the exit code is then that of the first one: 5 not found, 7 not readable, 10 not allowed.\n"
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

/* How counts are made and what they are worth. */
typedef struct measure {
    const maki_encoding *encoding;
    double factor, error;
    bool exact;
} measure;

/* ---- arguments ------------------------------------------------------------------------------------- */

static const maki_option flags[] = {
    { "--encoding NAME", offsetof(arguments, encoding),
      "o200k_base (the default), cl100k_base or claude" },
    { "--model NAME", offsetof(arguments, model),
      "the vocabulary of that model; where there is none, the nearest one times a factor:\n"
      "then the count is told as \"about\", with how far it may be off" },
    { "--text TEXT", offsetof(arguments, text), "this text instead of a file" },
    { "--messages", offsetof(arguments, messages), NULL },
    { "--special", offsetof(arguments, special),
      "<|endoftext|> and its like are one token, not plain text" },
    { "--all", offsetof(arguments, all),
      "binary files of folders too (.git and links are always passed over)" },
    { "--json", offsetof(arguments, json), "the answer as JSON: {\"tokens\": N, ...}" },
};

static int parse(int argc, char **argv, arguments *a)
{
    int code = cli_read(&cli_tokens, argc, argv, a, SIZE_MAX, &a->count);
    if (code) return code;
    a->rest = argv;
    if (a->encoding && a->model)
        return cli_misuse("tokens", "give one of them: ", "--encoding or --model");
    if (a->text && a->count)
        return cli_misuse("tokens", "with --text there are no paths: ", a->rest[0]);
    return 0;
}

/* What the operation tokens.models says of the model. */
static int ask_model(maki *m, const char *model, measure *out)
{
    maki_buf input = cli_buf(), capacity = cli_buf();
    maki_err err = { 0 };
    maki_str answer;
    maki_jw w;
    char name[40];
    int code = 0;
    maki_jw_init(&w, maki_buf_sink(&input), &err);
    maki_jw_print(&w, "{'model':%s}", maki_str_of(model));
    if (maki_jw_end(&w) != MAKI_OK ||
        cli_ask(m, "tokens.models", cli_text(&input), &capacity, &answer, &err) != MAKI_OK) {
        code = cli_fail("tokens --model", &err);
    } else {
        maki_json_text_field(answer, "encoding", name, sizeof name);
        out->encoding = maki_encoding_named(name);
        out->factor = maki_json_number_field(answer, "factor");
        out->error = maki_json_number_field(answer, "error");
        out->exact = out->error == 0;
    }
    maki_buf_free(&input);
    maki_buf_free(&capacity);
    return code;
}

static int choose(const arguments *a, measure *out)
{
    maki *m = NULL;
    maki_err err = { 0 };
    const char *name = a->encoding ? a->encoding : "o200k_base";
    *out = (measure){ .encoding = maki_encoding_named(name), .factor = 1, .exact = true };
    if (a->model) {
        if (maki_open(NULL, &m, &err) != MAKI_OK) return cli_fail("tokens", &err);
        int code = ask_model(m, a->model, out);
        maki_close(m);
        if (code) return code;
    }
    if (out->encoding) return 0;
    fprintf(stderr, "maki tokens: there is no encoding %.40s; these are:", name);
    for (size_t i = 0; maki_encoding_at(i); i++)
        fprintf(stderr, " %s", maki_encoding_name(maki_encoding_at(i)));
    fputs("\n", stderr);
    return maki_status_exit(MAKI_INVALID);
}

/* ---- printing ---------------------------------------------------------------------------------------- */

/* 1234567 as 1,234,567. */
static const char *grouped(uint64_t value, char out[32])
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value), k = 0;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) out[k++] = ',';
        out[k++] = digits[i];
    }
    out[k] = '\0';
    return out;
}

static uint64_t tokens_of(const token_file *file, const measure *how)
{
    double scaled = how->factor == 1 ? (double)file->counted.tokens
                                     : ceil((double)file->counted.tokens * how->factor);
    return (uint64_t)scaled + file->fixed;
}

typedef struct totals {
    uint64_t tokens, bytes, messages;
    size_t files, binary;
} totals;

static totals add_up(const token_files *files, const measure *how)
{
    totals t = { 0 };
    for (size_t i = 0; i < files->count; i++) {
        const token_file *file = &files->at[i];
        t.binary += file->counted.binary;
        if (file->counted.binary || file->counted.err.status != MAKI_OK) continue;
        t.tokens += tokens_of(file, how);
        t.bytes += file->counted.bytes;
        t.messages += file->messages;
        t.files++;
    }
    return t;
}

static void print_row(uint64_t tokens, uint64_t messages, uint64_t bytes, const arguments *a,
                      const char *name, const char *style, const char *off)
{
    char buf[32], per[32] = "-";
    printf("%s%14s  ", style, grouped(tokens, buf));
    if (a->messages) printf("%9s  ", grouped(messages, buf));
    if (tokens) snprintf(per, sizeof per, "%.2f", (double)bytes / (double)tokens);
    printf("%14s  %11s  ", grouped(bytes, buf), per);
    token_name_print(stdout, name);
    printf("%s\n", off);
}

static void print_worth(const arguments *a, const measure *how, const totals *t, const cli_style *s)
{
    printf("%s%s", s->dim, maki_encoding_name(how->encoding));
    if (how->factor != 1) printf(" x %g", how->factor);
    if (a->model) {
        printf(" for ");
        token_name_print(stdout, a->model);
    }
    if (how->exact)
        printf(", exact");
    else
        printf(", about: it may be off by %.0f %%", how->error * 100);
    if (t->binary) printf("; %zu binary files passed over (--all counts them)", t->binary);
    printf("%s\n", s->off);
}

static void print_table(const token_files *files, const arguments *a, const measure *how)
{
    cli_style s = cli_style_of(STDOUT_FILENO);
    totals t = add_up(files, how);
    printf("%s%14s  %s%14s  %11s  %s%s\n", s.dim, how->exact ? "tokens" : "about tokens",
           a->messages ? " messages  " : "", "bytes", "bytes/token", "file", s.off);
    for (size_t i = 0; i < files->count; i++) {
        const token_file *file = &files->at[i];
        if (file->counted.binary || file->counted.err.status != MAKI_OK) continue;
        print_row(tokens_of(file, how), file->messages, file->counted.bytes, a, file->name, "", "");
    }
    if (t.files != 1) print_row(t.tokens, t.messages, t.bytes, a, "total", s.bold, s.off);
    print_worth(a, how, &t, &s);
}

static void print_json(const token_files *files, const arguments *a, const measure *how)
{
    totals t = add_up(files, how);
    maki_jw w;
    maki_jw_init(&w, cli_stdout(), NULL);
    maki_jw_print(&w, "{'tokens':%i,'bytes':%i,'encoding':%z,'exact':%b", t.tokens, t.bytes,
                  maki_encoding_name(how->encoding), how->exact);
    if (!how->exact) maki_jw_print(&w, "'factor':%f,'error':%f", how->factor, how->error);
    if (a->messages) maki_jw_print(&w, "'messages':%i", t.messages);
    maki_jw_print(&w, "'binaryFiles':%I,'files':[", t.binary);
    for (size_t i = 0; i < files->count; i++) {
        const token_file *file = &files->at[i];
        const maki_err *err = &file->counted.err;
        if (file->counted.binary) continue;
        maki_jw_print(&w, "{'file':");
        maki_jw_string_lossy(&w, maki_str_of(file->name));
        if (err->status != MAKI_OK) {
            maki_jw_print(&w, "'error':{'code':%z,'message':", maki_status_name(err->status));
            maki_jw_string_lossy(&w, maki_str_of(err->msg)); /* it may name a file */
            maki_jw_print(&w, "}}");
            continue;
        }
        maki_jw_print(&w, "'tokens':%i,'bytes':%i", tokens_of(file, how), file->counted.bytes);
        if (a->messages) maki_jw_print(&w, "'messages':%i", file->messages);
        maki_jw_end_object(&w);
    }
    maki_jw_print(&w, "]}");
    (void)!maki_jw_end(&w); /* the program tells it at its end */
    printf("\n");
}

/* Tell what could not be read; returns the exit code of the first. */
static int tell_errors(const token_files *files)
{
    int code = 0;
    for (size_t i = 0; i < files->count; i++) {
        const maki_err *err = &files->at[i].counted.err;
        if (err->status == MAKI_OK) continue;
        if (!code) code = maki_status_exit(err->status);
        fputs("maki tokens: ", stderr);
        token_name_print(stderr, files->at[i].name);
        fprintf(stderr, ": %s\n", err->msg);
    }
    return code;
}

/* ---- count -------------------------------------------------------------------------------------------- */

static void gather(const arguments *a, token_files *files)
{
    if (a->count == 0 && isatty(STDIN_FILENO)) {
        fprintf(stderr, "Reading from the terminal; end it with Ctrl-D.\n");
    }
    if (a->count == 0) token_files_add(files, "-");
    for (size_t i = 0; i < a->count; i++)
        token_files_add(files, a->rest[i]);
}

static int count_messages(const arguments *a, token_files *files, measure *how)
{
    maki *m = NULL;
    maki_err err = { 0 };
    token_request request = { .factor = how->factor, .exact = true };
    if (maki_open(NULL, &m, &err) != MAKI_OK) return cli_fail("tokens", &err);
    const char *field = a->model ? "model" : "encoding";
    const char *name = a->model ? a->model : maki_encoding_name(how->encoding);
    for (size_t i = 0; i < files->count; i++)
        token_count_messages(m, &files->at[i], field, name, &request);
    maki_close(m);
    how->factor = request.factor;
    how->exact = request.exact;
    how->error = request.error;
    return 0;
}

/* The text of --text: counted (fn NULL) or encoded. */
static void read_text(const arguments *a, const measure *how, maki_ids_fn fn, void *ctx,
                      maki_token_file *out)
{
    maki_env env = maki_env_system();
    maki_tokenizer *t = NULL;
    maki_tokenizer_options options = MAKI_TOKENIZER_OPTIONS_INIT;
    maki_str text = maki_str_of(a->text);
    options.special = a->special;
    if (maki_tokenizer_open(&env, how->encoding, &options, &t, &out->err) != MAKI_OK) return;
    out->bytes = text.len;
    if (fn)
        (void)maki_tokenizer_encode(t, text, fn, ctx, &out->err);
    else
        out->tokens = maki_tokenizer_count(t, text);
    maki_tokenizer_close(t);
}

/* On a terminal: nothing is shown in the first second, and nothing stays. */
typedef struct bar {
    struct timespec next;
    bool shown;
} bar;

static void show_bar(void *ctx, uint64_t done, uint64_t total)
{
    bar *b = ctx;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec < b->next.tv_sec ||
        (now.tv_sec == b->next.tv_sec && now.tv_nsec < b->next.tv_nsec))
        return;
    now.tv_nsec += 200000000;
    b->next = (struct timespec){ now.tv_sec + now.tv_nsec / 1000000000, now.tv_nsec % 1000000000 };
    b->shown = true;
    int full = total == 0 ? 0 : done < total ? (int)(done * 30 / total) : 30;
    if (total)
        fprintf(stderr, "\r[%.*s%.*s] %3d %%  %" PRIu64 " of %" PRIu64 " MB ", full,
                "##############################", 30 - full, "------------------------------",
                full * 100 / 30, done >> 20, total >> 20);
    else
        fprintf(stderr, "\r%" PRIu64 " MB read ", done >> 20);
}

static int count_files(const arguments *a, const measure *how, token_files *files)
{
    maki_env env = maki_env_system();
    maki_err err = { 0 };
    bar b = { .shown = false };
    maki_token_files_options options = { .size = sizeof options, .special = a->special };
    maki_token_file **list = calloc(files->count, sizeof *list);
    if (!list) {
        maki_fail_nomem(&err);
        return cli_fail("tokens", &err);
    }
    for (size_t i = 0; i < files->count; i++) {
        list[i] = &files->at[i].counted;
        list[i]->skip_binary = list[i]->skip_binary && !a->all;
    }
    clock_gettime(CLOCK_MONOTONIC, &b.next);
    b.next.tv_sec++;
    if (isatty(STDERR_FILENO)) {
        options.progress = show_bar;
        options.ctx = &b;
    }
    maki_status st =
        maki_token_count_files(&env, how->encoding, &options, list, files->count, &err);
    if (b.shown) fprintf(stderr, "\r%70s\r", "");
    free(list);
    return st == MAKI_OK ? 0 : cli_fail("tokens", &err);
}

static int run_count(const arguments *a, measure *how)
{
    token_files files = { 0 };
    int code = 0;
    if (a->messages && (a->special || a->text)) {
        return cli_misuse("tokens", "not with --messages: ", a->text ? "--text" : "--special");
    }
    if (a->text) {
        token_files_add(&files, "-");
        read_text(a, how, NULL, NULL, &files.at[0].counted);
    } else {
        gather(a, &files);
        if (a->messages)
            code = count_messages(a, &files, how);
        else
            code = count_files(a, how, &files);
    }
    if (code == 0) {
        if (a->json)
            print_json(&files, a, how);
        else
            print_table(&files, a, how);
        fflush(stdout); /* the table before what is told on the other side */
        code = tell_errors(&files);
    }
    token_files_free(&files);
    return code;
}

/* ---- encode ------------------------------------------------------------------------------------------- */

typedef struct id_writer {
    const char *between;
    uint64_t n;
} id_writer;

static maki_status write_ids(void *ctx, const uint32_t *ids, size_t n, maki_err *err)
{
    id_writer *w = ctx;
    for (size_t i = 0; i < n; i++) {
        char text[12];
        int at = sizeof text;
        uint32_t id = ids[i];
        do {
            text[--at] = (char)('0' + id % 10);
            id /= 10;
        } while (id);
        if (w->n++) fputs_unlocked(w->between, stdout);
        fwrite_unlocked(text + at, 1, sizeof text - (size_t)at, stdout);
    }
    if (!ferror(stdout)) return MAKI_OK;
    return maki_fail_errno(err, "");
}

static int run_encode(const arguments *a, const measure *how)
{
    token_files files = { 0 };
    maki_env env = maki_env_system();
    if (a->messages) return cli_misuse("tokens encode", "there is no option ", "--messages");
    if (a->text)
        token_files_add(&files, "-");
    else
        gather(a, &files);
    for (size_t i = 0; i < files.count; i++) {
        token_file *file = &files.at[i];
        id_writer w = { .between = a->json ? "," : " " };
        if (file->counted.err.status != MAKI_OK) continue;
        if (a->json) printf("{\"tokens\":[");
        if (a->text)
            read_text(a, how, write_ids, &w, &file->counted);
        else
            (void)maki_token_encode_file(&env, how->encoding, a->special, &file->counted, write_ids,
                                         &w);
        if (a->json) printf("],\"count\":%" PRIu64 "}", w.n);
        if (a->json || w.n || file->counted.err.status == MAKI_OK) putchar('\n');
    }
    fflush(stdout);
    int code = tell_errors(&files);
    token_files_free(&files);
    return code;
}

/* ---- decode ------------------------------------------------------------------------------------------- */

typedef struct id_reader {
    const maki_encoding *encoding;
    uint64_t id, count;
    bool in_number;
    maki_jw *json; /* where ids go instead of being decoded; NULL: nowhere */
} id_reader;

static int end_number(id_reader *r)
{
    if (!r->in_number) return 0;
    r->in_number = false;
    if (r->json) {
        maki_jw_int(r->json, (int64_t)r->id);
        r->count++;
        r->id = 0;
        return 0;
    }
    bool known = r->id < maki_encoding_size(r->encoding);
    maki_str token =
        known ? maki_encoding_token(r->encoding, (uint32_t)r->id) : (maki_str){ "", 0 };
    if (token.len == 0) {
        fflush(stdout);
        fprintf(stderr, "maki tokens decode: %" PRIu64 ", the %" PRIu64 ". id, is no token of %s\n",
                r->id, r->count + 1, maki_encoding_name(r->encoding));
        return maki_status_exit(MAKI_INVALID);
    }
    fwrite(token.ptr, 1, token.len, stdout);
    r->count++;
    r->id = 0;
    return 0;
}

/* Numbers with white space, commas or brackets between them. */
static int decode_bytes(id_reader *r, const char *text, size_t n)
{
    const uint64_t most = UINT32_MAX;
    int code = 0;
    for (size_t i = 0; i < n && code == 0; i++) {
        char c = text[i];
        if (c >= '0' && c <= '9') {
            r->in_number = true;
            if (r->id <= most) r->id = r->id * 10 + (uint64_t)(c - '0');
        } else if (c && strchr(" \t\r\n,[]", c)) {
            code = end_number(r);
        } else {
            fflush(stdout);
            fprintf(stderr,
                    "maki tokens decode: ids are whole numbers; this is none, after %" PRIu64
                    " of them\n",
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
    if (isatty(STDIN_FILENO))
        fprintf(stderr, "Reading ids from the terminal; end it with Ctrl-D.\n");
    while (code == 0 && (n = fread(block, 1, sizeof block, stdin)) > 0)
        code = decode_bytes(reader, block, n);
    if (code == 0 && ferror(stdin)) {
        maki_err err = { 0 };
        maki_fail_errno(&err, "");
        code = cli_fail("tokens decode", &err);
    }
    return code ? code : end_number(reader);
}

/* As the operation answers it. */
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

static int run_decode(const arguments *a, const measure *how)
{
    id_reader reader = { .encoding = how->encoding };
    if (a->messages || a->special || a->text || a->all) {
        return cli_misuse("tokens decode", "it takes ids and ", "--encoding, --model or --json");
    }
    return a->json ? decode_json(a, &reader) : read_ids(a, &reader);
}

/* ---- the command ---------------------------------------------------------------------------------------- */

static int run(int argc, char **argv)
{
    arguments a = { 0 };
    measure how;
    const char *what = argc > 1 ? argv[1] : "";
    bool count = cli_is(what, "count"), encode = cli_is(what, "encode");
    if (!count && !encode && !cli_is(what, "decode")) {
        return cli_misuse("tokens", argc > 1 ? "there is no subcommand " : "missing: ",
                          argc > 1 ? what : "count, encode or decode");
    }
    int code = parse(argc - 1, argv + 1, &a);
    if (code == 0) code = choose(&a, &how);
    if (code) return code;
    return count ? run_count(&a, &how) : encode ? run_encode(&a, &how) : run_decode(&a, &how);
}

const cli_command cli_tokens = { .name = "tokens",
                                 .help = "count, encode and decode tokens",
                                 .run = run,
                                 .usage = usage,
                                 CLI_OPTIONS(flags),
                                 .notes = notes };
