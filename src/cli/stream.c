/* stream.c -- the commands that read or write a conversation one message at a time: log, effective, show, append, export,
 * import, delete.
 *
 * They call the library instead of an operation: memory use does not depend on the length of the
 * conversation. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer_print.h"
#include "base/json_access.h"
#include "base/json_print.h"
#include "base/str_util.h"
#include "message_print.h"

/* The value of an argument, or NULL. */
static const char *argument_value(const cli_parsed *parsed, const char *field, const char **shape)
{
    const maki_op_argument *a = parsed->bound.command->arguments;
    for (size_t i = 0; a[i].shape; i++) {
        if (!cli_streq(a[i].field, field)) continue;
        if (shape) *shape = a[i].shape;
        return parsed->args.values[i];
    }
    return NULL;
}

/* An optional number: 0, or the exit code after printing the error. */
static int parse_number(const cli_parsed *parsed, const char *field, uint64_t *out)
{
    char what[64];
    const char *shape = "", *value = argument_value(parsed, field, &shape);
    if (!value) return 0;
    snprintf(what, sizeof what, "%s: not a number: ", shape);
    if (!*value || strspn(value, "0123456789") != strlen(value))
        return cli_usage_error(parsed->bound.group, what, value);
    *out = strtoull(value, NULL, 10);
    return 0;
}

/* ---- listing --------------------------------------------------------------------------------------- */

typedef struct listing {
    cli_style s;
    bool json;
    uint64_t skip; /* messages before the first that is shown */
    double scale;  /* tokens of the model per token of o200k_base */
    maki_conversation *c;
    maki_buf buf;
    maki_str status; /* the answer of session.status, in `buf`; none for JSON */
} listing;

static maki_status print_message(void *ctx, const maki_message *m, maki_err *err)
{
    listing *l = ctx;
    (void)err;
    if (l->skip)
        l->skip--;
    else if (l->json)
        printf("%.*s\n", (int)m->json.len, m->json.ptr);
    else
        show_message(m, &l->s, l->scale, 120);
    return ferror(stdout) ? MAKI_CANCELLED : MAKI_OK; /* main.c reports it */
}

static maki_status print_event(void *ctx, uint64_t ev, maki_str json, maki_err *err)
{
    static const char fields[] = "at|hidden|seq|to|toEv|with|target|parent|what|of|reason|"
                                 "action|failed|cancelled|cost|tokensBefore|tokensAfter|factsKept|"
                                 "factsLost|summarizer|ms|messagesRemoved|fallback|upstream|model|"
                                 "status|end|code|message|firstMs|input|output";
    const listing *l = ctx;
    maki_effect step;
    if (l->json) {
        printf("%.*s\n", MAKI_PRINTED(json));
        return MAKI_OK;
    }
    bool error = maki_json_field_is(json, "type", "provider_error");
    maki_status st = maki_conversation_effect(l->c, ev, &step, err);
    if (st != MAKI_OK && st != MAKI_NOTFOUND) return st;
    printf("%s%6" PRIu64 " ", error ? l->s.red : l->s.cyan, ev);
    show_string(json, "type", 20);
    printf("%s", error ? "" : l->s.off);
    MAKI_JSON_EACH(item, maki_json_items(json)) {
        if (maki_json_key_in(item.key, fields))
            printf(" %.*s=%.*s", MAKI_PRINTED(item.key),
                   (int)(item.value.len < 100 ? item.value.len : 100), item.value.ptr);
    }
    if (st == MAKI_OK)
        printf(": %s%s%.0f -> %.0f tokens", step.effect, step.effect[0] ? ", " : "",
               step.tokens_before, step.tokens_after);
    printf("%s\n", error ? l->s.off : "");
    return MAKI_OK;
}

/* Print the events of exchanges: provider errors, and the usage and duration of requests. */
static maki_status print_exchange(void *ctx, uint64_t ev, maki_str json, maki_err *err)
{
    bool shown = maki_json_field_in(json, "type", "provider_error|usage") ||
                 maki_json_field_is(json, "of", "exchange");
    return shown ? print_event(ctx, ev, json, err) : MAKI_OK;
}

/* Open the conversation to be listed, and read its status (context usage, scale) unless printing JSON. */
static maki_status begin_listing(maki *m, const cli_parsed *parsed, maki_open_mode mode, listing *l,
                                 maki_err *err)
{
    maki_buf input = cli_buf();
    maki_jw w;
    *l = (listing){ .s = parsed->style, .json = parsed->args.json, .buf = cli_buf() };
    maki_status st = maki_conversation_open(m, parsed->args.conversation, mode, &l->c, err);
    if (st != MAKI_OK || l->json) return st;
    maki_jw_init(&w, maki_buf_sink(&input), NULL);
    maki_jw_print(&w, "{'conversation':%s}", maki_str_of(parsed->args.conversation));
    (void)!maki_jw_end(&w);
    st = cli_run_op(m, "session.status", cli_text(&input), &l->buf, &l->status, err);
    if (st == MAKI_OK) l->scale = maki_json_number_field(l->status, "scale");
    maki_buf_free(&input);
    return st;
}

static int end_listing(const cli_parsed *parsed, listing *l, maki_status st, const maki_err *err)
{
    maki_buf_free(&l->buf);
    maki_conversation_close(l->c);
    return st == MAKI_OK || st == MAKI_CANCELLED ? 0 : cli_fail(parsed->bound.group, err);
}

int stream_log(maki *m, const cli_parsed *parsed)
{
    listing l;
    maki_err err = { 0 };
    maki_status st = begin_listing(m, parsed, MAKI_OPEN_READ_SHARED, &l, &err);
    if (st == MAKI_OK) st = maki_conversation_each(l.c, MAKI_LATEST, true, print_message, &l, &err);
    if (st == MAKI_OK && maki_conversation_events(l.c) > 0) {
        if (!l.json) printf("\n%sevents%s\n", l.s.bold, l.s.off);
        st = maki_conversation_each_event(l.c, print_event, &l, &err);
    }
    return end_listing(parsed, &l, st, &err);
}

static int parse_revision(const cli_parsed *parsed, maki_revision *out)
{
    *out = MAKI_LATEST;
    int code = parse_number(parsed, "seq", &out->seq);
    return code ? code : parse_number(parsed, "ev", &out->ev);
}

int stream_view(maki *m, const cli_parsed *parsed)
{
    listing l;
    maki_revision revision;
    maki_err err = { 0 };
    int code = parse_revision(parsed, &revision);
    if (code) return code;
    maki_status st = begin_listing(m, parsed, MAKI_OPEN_READ_SHARED, &l, &err);
    if (st == MAKI_OK) st = maki_conversation_each(l.c, revision, false, print_message, &l, &err);
    return end_listing(parsed, &l, st, &err);
}

/* A line about the conversation, and the newest messages of its view. */
int stream_show(maki *m, const cli_parsed *parsed)
{
    listing l;
    maki_token_total total;
    maki_err err = { 0 };
    uint64_t max = UINT64_MAX;
    char use[16];
    int code = parse_number(parsed, "limit", &max);
    if (code) return code;
    maki_status st = begin_listing(m, parsed, MAKI_OPEN_READ, &l, &err);
    if (st == MAKI_OK) st = maki_conversation_view_tokens(l.c, MAKI_LATEST, &total, &err);
    if (st == MAKI_OK && total.messages > max) l.skip = total.messages - max;
    if (st == MAKI_OK && !l.json)
        printf("%s%s%s: %" PRIu64 " message%s in view of %" PRIu64
               ", %s of the window, %.0f of %.0f tokens, %" PRIu64 " event%s\n",
               l.s.bold, parsed->args.conversation, l.s.off, total.messages,
               cli_plural(total.messages), maki_conversation_last(l.c),
               maki_json_text_field(l.status, "contextUsage", use, sizeof use),
               maki_json_number_field(l.status, "tokens"),
               maki_json_number_field(l.status, "window"), maki_conversation_events(l.c),
               cli_plural(maki_conversation_events(l.c)));
    if (st == MAKI_OK)
        st = maki_conversation_each(l.c, MAKI_LATEST, false, print_message, &l, &err);
    if (st == MAKI_OK && !l.json) st = maki_conversation_each_event(l.c, print_exchange, &l, &err);
    return end_listing(parsed, &l, st, &err);
}

/* ---- writing --------------------------------------------------------------------------------------- */

static maki_status open_to_append(maki *m, const cli_parsed *parsed, maki_conversation **out,
                                  maki_err *err)
{
    return maki_conversation_open(m, parsed->args.conversation, MAKI_OPEN_CREATE, out, err);
}

int stream_append(maki *m, const cli_parsed *parsed)
{
    maki_conversation *c = NULL;
    maki_err err = { 0 };
    char *line = NULL;
    size_t capacity = 0, number = 0;
    uint64_t seq = 0;
    ssize_t n;
    maki_status st = MAKI_OK;
    while (st == MAKI_OK && (n = getline(&line, &capacity, stdin)) > 0) {
        maki_str text = { line, (size_t)n };
        number++;
        while (text.len && isspace((unsigned char)text.ptr[text.len - 1]))
            text.len--;
        if (text.len == 0) continue;
        if (!c) st = maki_message_check(text, &err); /* a refusal leaves no file */
        if (st == MAKI_OK && !c) st = open_to_append(m, parsed, &c, &err);
        if (st == MAKI_OK) st = maki_conversation_append(c, text, &seq, &err);
    }
    if (st == MAKI_OK && !c) st = open_to_append(m, parsed, &c, &err);
    if (c) seq = maki_conversation_last(c);
    free(line);
    maki_conversation_close(c);
    if (st != MAKI_OK) {
        fprintf(stderr, "maki history: line %zu: %s\n", number, err.msg);
        return maki_status_exit(st);
    }
    printf("%" PRIu64 " message%s\n", seq, cli_plural(seq));
    return 0;
}

/* Asks for confirmation unless --yes was given, because a deletion cannot be undone. */
int stream_delete(maki *m, const cli_parsed *parsed)
{
    char line[16] = "";
    const char *id = parsed->args.conversation;
    maki_buf input = cli_buf(), output = cli_buf();
    maki_str answer;
    maki_err err = { 0 };
    maki_jw w;
    if (!argument_value(parsed, "yes", NULL)) {
        if (!isatty(STDIN_FILENO))
            return cli_usage_error("session", "delete cannot ask without a terminal: add --yes",
                                   "");
        printf("Delete %s and all its messages?  This cannot be undone.  [y/N] ", id);
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin) || (line[0] != 'y' && line[0] != 'Y')) {
            printf("Nothing was deleted.\n");
            return 0;
        }
    }
    maki_jw_init(&w, maki_buf_sink(&input), &err);
    maki_jw_print(&w, "{'conversation':%z,'yes':true}", id);
    maki_status st = maki_jw_end(&w);
    if (st == MAKI_OK)
        st = cli_run_op(m, "session.delete", cli_text(&input), &output, &answer, &err);
    if (output.len && parsed->args.json) printf("%.*s\n", (int)output.len, output.ptr);
    if (st == MAKI_OK && !parsed->args.json) printf("Deleted %s.\n", id);
    maki_buf_free(&input);
    maki_buf_free(&output);
    return st == MAKI_OK ? 0 : cli_fail("session", &err);
}

int stream_export(maki *m, const cli_parsed *parsed)
{
    const char *format = argument_value(parsed, "format", NULL);
    maki_revision revision;
    maki_conversation *c = NULL;
    maki_err err = { 0 };
    int code = parse_revision(parsed, &revision);
    if (code) return code;
    if (!format) format = "roo";
    maki_sink out = cli_stdout();
    maki_status st =
        maki_conversation_open(m, parsed->args.conversation, MAKI_OPEN_READ_SHARED, &c, &err);
    if (st == MAKI_OK) st = maki_conversation_export(c, revision, format, out, &err);
    if (st == MAKI_OK && !cli_streq(format, "lines")) st = out.write(out.ctx, MAKI_LIT("\n"), &err);
    maki_conversation_close(c);
    return st == MAKI_OK ? 0 : cli_fail("history export", &err);
}

static maki_status on_progress(void *ctx, uint64_t done, uint64_t total, uint64_t messages)
{
    char detail[40];
    snprintf(detail, sizeof detail, "%" PRIu64 " message%s", messages, cli_plural(messages));
    cli_progress_show(ctx, "", done, total, detail);
    return MAKI_OK;
}

static void on_skipped(void *ctx, uint64_t line, const char *why)
{
    (void)ctx;
    fprintf(stderr, "maki history import: line %" PRIu64 " skipped: %s\n", line, why);
}

int stream_import(maki *m, const cli_parsed *parsed)
{
    cli_progress progress = { .shown = false };
    maki_import_hooks hooks = { on_progress, on_skipped, &progress };
    maki_import_result imported;
    maki_err err = { 0 };
    maki_status st = maki_conversation_import(
        m, argument_value(parsed, "source", NULL), parsed->args.conversation,
        argument_value(parsed, "format", NULL), &hooks, &imported, &err);
    if (progress.shown) fputc('\n', stderr);
    if (st != MAKI_OK) return cli_fail("history import", &err);
    printf("Imported %" PRIu64 " message%s (%s), %" PRIu64 " event%s", imported.messages,
           cli_plural(imported.messages), imported.format, imported.events,
           cli_plural(imported.events));
    if (imported.other)
        printf(", %" PRIu64 " other line%s skipped", imported.other, cli_plural(imported.other));
    if (imported.skipped)
        printf(", %" PRIu64 " broken line%s skipped", imported.skipped,
               cli_plural(imported.skipped));
    printf(".\n");
    return 0;
}
