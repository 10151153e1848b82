/* cmd_tokens.c -- maki tokens: count, encode and decode. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "json_input.h"
#include "show.h"
#include "token_files.h"
#include "token_messages.h"
#include "token_work.h"

static const char usage[] =
    "maki tokens count [PATH ...]     the tokens of files, of all files of folders, or of standard input\n"
    "maki tokens count --messages     the same of messages: a JSON array, {\"messages\": [...]}, or one a line\n"
    "maki tokens encode [PATH ...]    the ids, separated by spaces, a line for each file\n"
    "maki tokens decode [ID ...]      the bytes of ids, from the arguments or from standard input\n"
    "\n"
    "  --encoding NAME   o200k_base (the default), cl100k_base or claude\n"
    "  --model NAME      the vocabulary of that model; where there is none, the nearest one times a factor:\n"
    "                    then the count is told as \"about\", with how far it may be off\n"
    "  --text TEXT       this text instead of a file\n"
    "  --special         <|endoftext|> and its like are one token, not plain text\n"
    "  --all             binary files of folders too (.git and links are always passed over)\n"
    "  --json            the answer as JSON: {\"tokens\": N, ...}\n"
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
    int count;
} arguments;

/* How counts are made and what they are worth. */
typedef struct measure {
    const maki_encoding *encoding;
    double factor, error;
    bool exact;
} measure;

/* ---- arguments ------------------------------------------------------------------------------------- */

/* An option with a value: "--name value" or "--name=value".  1: it was, 0: it is another, -1: no value. */
static int take_value(int argc, char **argv, int *i, const char *name, const char **out)
{
    size_t n = strlen(name);
    if (strncmp(argv[*i], name, n) != 0) return 0;
    if (argv[*i][n] == '=') return (*out = argv[*i] + n + 1, 1);
    if (argv[*i][n] != '\0') return 0;
    if (*i + 1 >= argc) return -1;
    *out = argv[++*i];
    return 1;
}

static int parse(int argc, char **argv, arguments *a)
{
    struct {
        const char *name, **value;
    } values[] = { { "--encoding", &a->encoding },
                   { "--model", &a->model },
                   { "--text", &a->text } };
    struct {
        const char *name;
        bool *flag;
    } flags[] = { { "--messages", &a->messages },
                  { "--special", &a->special },
                  { "--all", &a->all },
                  { "--json", &a->json } };
    bool options = true;
    a->rest = argv;
    for (int i = 0; i < argc; i++) {
        bool known = false;
        if (!options || argv[i][0] != '-' || argv[i][1] == '\0') {
            a->rest[a->count++] = argv[i]; /* never ahead of what is read */
            continue;
        }
        if (cli_is(argv[i], "--")) {
            options = false;
            continue;
        }
        for (size_t k = 0; k < sizeof values / sizeof values[0] && !known; k++) {
            int taken = take_value(argc, argv, &i, values[k].name, values[k].value);
            if (taken < 0) return cli_misuse("tokens", "a value is missing after ", argv[i]);
            known = taken > 0;
        }
        for (size_t k = 0; k < sizeof flags / sizeof flags[0] && !known; k++) {
            known = cli_is(argv[i], flags[k].name);
            if (known) *flags[k].flag = true;
        }
        if (!known) return cli_misuse("tokens", "there is no option ", argv[i]);
    }
    if (a->encoding && a->model) {
        return cli_misuse("tokens", "give one of them: ", "--encoding or --model");
    }
    if (a->text && a->count)
        return cli_misuse("tokens", "with --text there are no paths: ", a->rest[0]);
    return 0;
}

/* What the operation tokens.models says of the model. */
static int ask_model(maki *m, const char *model, measure *out)
{
    json_input input = { 0 }, answer = { 0 };
    maki_err err = { 0 };
    maki_str value;
    char name[40] = "";
    int code = 0;
    json_input_begin(&input);
    json_input_text(&input, "model", model);
    json_input_end(&input);
    if (maki_op(m, MAKI_LIT("tokens.models"), json_input_str(&input), json_input_sink(&answer),
                &err) != MAKI_OK) {
        code = cli_fail("tokens --model", &err);
    } else {
        maki_str object = json_input_str(&answer);
        if (show_string_field(object, "encoding", &value)) {
            name[maki_json_copy_text(value, name, sizeof name - 1)] = '\0';
        }
        out->encoding = maki_encoding_named(name);
        if (show_field(object, "factor", &value)) out->factor = maki_json_double(value);
        if (show_field(object, "error", &value)) out->error = maki_json_double(value);
        out->exact = out->error == 0;
    }
    json_input_free(&input);
    json_input_free(&answer);
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
    double scaled =
        how->factor == 1 ? (double)file->tokens : ceil((double)file->tokens * how->factor);
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
        t.binary += file->binary;
        if (file->binary || file->err.status != MAKI_OK) continue;
        t.tokens += tokens_of(file, how);
        t.bytes += file->bytes;
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
        if (file->binary || file->err.status != MAKI_OK) continue;
        print_row(tokens_of(file, how), file->messages, file->bytes, a, file->path, "", "");
    }
    if (t.files != 1) print_row(t.tokens, t.messages, t.bytes, a, "total", s.bold, s.off);
    print_worth(a, how, &t, &s);
}

static void print_json(const token_files *files, const arguments *a, const measure *how)
{
    totals t = add_up(files, how);
    bool first = true;
    printf("{\"tokens\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"encoding\":\"%s\",\"exact\":%s",
           t.tokens, t.bytes, maki_encoding_name(how->encoding), how->exact ? "true" : "false");
    if (!how->exact) printf(",\"factor\":%g,\"error\":%g", how->factor, how->error);
    if (a->messages) printf(",\"messages\":%" PRIu64, t.messages);
    if (t.binary) printf(",\"binaryFiles\":%zu", t.binary);
    printf(",\"files\":[");
    for (size_t i = 0; i < files->count; i++) {
        const token_file *file = &files->at[i];
        if (file->binary) continue;
        printf("%s{\"file\":", first ? "" : ",");
        token_name_json(stdout, file->path);
        first = false;
        if (file->err.status != MAKI_OK) {
            printf(",\"error\":{\"code\":\"%s\",\"message\":", maki_status_name(file->err.status));
            token_name_json(stdout, file->err.msg);
            printf("}}");
            continue;
        }
        printf(",\"tokens\":%" PRIu64 ",\"bytes\":%" PRIu64, tokens_of(file, how), file->bytes);
        if (a->messages) printf(",\"messages\":%" PRIu64, file->messages);
        printf("}");
    }
    printf("]}\n");
}

/* Tell what could not be read; returns the exit code of the first. */
static int tell_errors(const token_files *files)
{
    int code = 0;
    for (size_t i = 0; i < files->count; i++) {
        const maki_err *err = &files->at[i].err;
        if (err->status == MAKI_OK) continue;
        if (!code) code = maki_status_exit(err->status);
        fputs("maki tokens: ", stderr);
        token_name_print(stderr, files->at[i].path);
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
    for (int i = 0; i < a->count; i++)
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

static maki_status count_text(const char *text, const token_options *options, token_file *file)
{
    maki_env env = maki_env_system();
    maki_tokenizer *t = NULL;
    maki_tokenizer_options how = MAKI_TOKENIZER_OPTIONS_INIT;
    how.special = options->special;
    maki_status st = maki_tokenizer_open(&env, options->encoding, &how, &t, &file->err);
    if (st != MAKI_OK) return st;
    file->bytes = strlen(text);
    file->tokens = maki_tokenizer_count(t, (maki_str){ text, strlen(text) });
    maki_tokenizer_close(t);
    return MAKI_OK;
}

static int run_count(const arguments *a, measure *how)
{
    token_files files = { 0 };
    token_options options = { how->encoding, a->special, a->all };
    int code = 0;
    if (a->messages && (a->special || a->text)) {
        return cli_misuse("tokens", "not with --messages: ", a->text ? "--text" : "--special");
    }
    if (a->text) {
        token_files_add(&files, "-");
        count_text(a->text, &options, &files.at[0]);
    } else {
        gather(a, &files);
        if (a->messages)
            code = count_messages(a, &files, how);
        else
            token_count_files(&files, &options);
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
    *err = token_errno();
    return err->status;
}

static void encode_text(const char *text, const token_options *options, id_writer *w,
                        token_file *file)
{
    maki_env env = maki_env_system();
    maki_tokenizer *t = NULL;
    maki_tokenizer_options how = MAKI_TOKENIZER_OPTIONS_INIT;
    how.special = options->special;
    maki_status st = maki_tokenizer_open(&env, options->encoding, &how, &t, &file->err);
    if (st == MAKI_OK) {
        st = maki_tokenizer_encode(t, (maki_str){ text, strlen(text) }, write_ids, w, &file->err);
    }
    maki_tokenizer_close(t);
}

static int run_encode(const arguments *a, const measure *how)
{
    token_files files = { 0 };
    token_options options = { how->encoding, a->special, a->all };
    if (a->messages) return cli_misuse("tokens encode", "there is no option ", "--messages");
    if (a->text)
        token_files_add(&files, "-");
    else
        gather(a, &files);
    for (size_t i = 0; i < files.count; i++) {
        token_file *file = &files.at[i];
        id_writer w = { .between = a->json ? "," : " " };
        if (file->err.status != MAKI_OK) continue;
        if (a->json) printf("{\"tokens\":[");
        if (a->text)
            encode_text(a->text, &options, &w, file);
        else
            token_encode_file(file, &options, write_ids, &w);
        if (a->json) printf("],\"count\":%" PRIu64 "}", w.n);
        if (a->json || w.n || file->err.status == MAKI_OK) putchar('\n');
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
    maki_sink *json; /* where ids go instead of being decoded; NULL: nowhere */
} id_reader;

static int end_number(id_reader *r)
{
    char text[24];
    if (!r->in_number) return 0;
    r->in_number = false;
    if (r->json) {
        snprintf(text, sizeof text, "%s%" PRIu64, r->count++ ? "," : "", r->id);
        r->json->write(r->json->ctx, (maki_str){ text, strlen(text) }, NULL);
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
    for (int i = 0; i < a->count && code == 0; i++) {
        code = decode_bytes(reader, a->rest[i], strlen(a->rest[i]));
        if (code == 0) code = end_number(reader);
    }
    if (a->count) return code;
    if (isatty(STDIN_FILENO))
        fprintf(stderr, "Reading ids from the terminal; end it with Ctrl-D.\n");
    while (code == 0 && (n = fread(block, 1, sizeof block, stdin)) > 0)
        code = decode_bytes(reader, block, n);
    if (code == 0 && ferror(stdin)) {
        maki_err err = token_errno();
        code = cli_fail("tokens decode", &err);
    }
    return code ? code : end_number(reader);
}

/* As the operation answers it. */
static int decode_json(const arguments *a, id_reader *reader)
{
    json_input input = { 0 };
    maki_sink sink = json_input_sink(&input);
    maki *m = NULL;
    maki_err err = { 0 };
    reader->json = &sink;
    json_input_begin(&input);
    json_input_text(&input, "encoding", maki_encoding_name(reader->encoding));
    json_input_raw(&input, "tokens", "[");
    int code = read_ids(a, reader);
    sink.write(sink.ctx, MAKI_LIT("]"), NULL);
    json_input_end(&input);
    if (code == 0) {
        if (maki_open(NULL, &m, &err) != MAKI_OK ||
            maki_op(m, MAKI_LIT("tokens.decode"), json_input_str(&input), cli_stdout(), &err) !=
                MAKI_OK) {
            code = cli_fail("tokens decode", &err);
        }
        maki_close(m);
        putchar('\n');
    }
    json_input_free(&input);
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
    int code = parse(argc - 2, argv + 2, &a);
    if (code == 0) code = choose(&a, &how);
    if (code) return code;
    return count ? run_count(&a, &how) : encode ? run_encode(&a, &how) : run_decode(&a, &how);
}

const cli_command cli_tokens = {
    .name = "tokens", .help = "count, encode and decode tokens", .run = run, .usage = usage
};
