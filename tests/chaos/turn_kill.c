/* turn_kill.c -- turns in a process that is killed at random points, again and again, on the same session.
 *
 * The child reports every step of a turn to the parent; after a random number of reports the
 * parent kills it.  Then the session must be valid, with everything that was acknowledged in it, and no
 * request to the provider may have an incomplete answer that is not marked as such, or a call without
 * its result.  Nothing sleeps and nothing is timed.
 *
 *     turn_kill FAKE-PROVIDER [kills] [seed]      by default 200 and 20261116 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <maki/op.h>

#include "base/str_util.h"
#include "engine_kit.h"
#include "tap.h"
#include "wire/content_part.h"

#define CUT_LINE "[The answer ends here: it was cut off]"

enum {
    SESSION_KILLS = 25, /* then another session begins */
    ECHO = 200,         /* bytes of a message that the provider repeats */
    WORDS_MAX = 30,     /* of a child before it is killed */
    CHILD_MAX = 100,    /* more turns than it has time for */
    NUMBERS = SESSION_KILLS * CHILD_MAX
};

/* What a child says. */
typedef struct word {
    char
        kind; /* 'd' a delta, 'r' a row, 'm' context is freed, 'A' turn n is acknowledged, 'E' it failed */
    uint32_t n;
} word;

typedef struct chaos {
    engine_kit kit;
    tap_random random;
    char session[300];
    const char *provider;
    uint32_t next;                  /* the number of the next message */
    uint32_t acknowledged[NUMBERS]; /* in this session */
    size_t acknowledged_count;
    unsigned long seen; /* requests that were checked */
    size_t checked, whole, cut;
    size_t answered; /* turns that were, in all */
} chaos;

static int voice; /* the child's end */

static void report(char kind, uint32_t n)
{
    word w = { .kind = kind, .n = n };
    if (write(voice, &w, sizeof w) != (ssize_t)sizeof w) _exit(1);
}

/* ---- the child -------------------------------------------------------------------------------------------- */

/* Message n: a number, words to fill the window with, and a scenario of the fake provider. */
static const char *message_of(uint32_t n)
{
    static char text[3000];
    int len = snprintf(text, sizeof text, "turn %" PRIu32 ": ", n);
    for (uint32_t i = 0; i < 30 + n * 13 % 60; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "roll nori %" PRIu32 " around rice ",
                        n * 7 + i);
    const char *scenario = n % 5 == 1   ? "fake:cut:420,chunk:60"
                           : n % 5 == 3 ? "fake:tool:read_file {\"path\":\"海.txt\"}"
                                        : "fake:chunk:90";
    snprintf(text + len, sizeof text - (size_t)len, "%s", scenario);
    return text;
}

static maki_status say_delta(void *ctx, const maki_delta *piece, maki_err *err)
{
    (void)ctx, (void)piece, (void)err;
    report('d', 0);
    return MAKI_OK;
}

static maki_status say_managing(void *ctx, const maki_manage_report *done, maki_err *err)
{
    (void)ctx, (void)done, (void)err;
    report('m', 0);
    return MAKI_OK;
}

static maki_status say_row(void *ctx, uint64_t seq, maki_str row, maki_err *err)
{
    (void)ctx, (void)row, (void)err;
    report('r', (uint32_t)seq);
    return MAKI_OK;
}

static void talk(chaos *c)
{
    engine_kit *kit = &c->kit;
    kit->calls.on_delta = say_delta;
    kit->calls.on_managing = say_managing;
    kit->calls.on_row = say_row;
    kit->request.tools = kit_tools;
    for (uint32_t n = c->next;; n++) {
        maki_status st = engine_kit_say(kit, c->session, c->provider, message_of(n));
        if (st != MAKI_OK && n % 5 != 1) {
            fprintf(stderr, "# turn %" PRIu32 ": %s\n", n, kit->err.msg);
            report('E', n);
            _exit(1);
        }
        report('A', n);
    }
}

/* ---- the parent ------------------------------------------------------------------------------------------- */

/* Read reports until it is time, kill, and read the rest. */
static void kill_one(chaos *c, pid_t child, int ear)
{
    uint64_t left = 1 + tap_below(&c->random, WORDS_MAX);
    word w;
    ssize_t got;
    while ((got = read(ear, &w, sizeof w)) != 0) {
        if (got < 0 && errno == EINTR) continue;
        if (got != (ssize_t)sizeof w) break;
        CHECK(w.kind != 'E');
        if (w.kind == 'A' && c->acknowledged_count < COUNT(c->acknowledged)) {
            c->acknowledged[c->acknowledged_count++] = w.n;
            c->answered++;
        }
        if (left && --left == 0) kill(child, SIGKILL);
    }
}

static void run_child(chaos *c)
{
    int pipes[2];
    if (!CHECK(pipe(pipes) == 0)) return;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(pipes[0]);
        voice = pipes[1];
        talk(c);
    }
    close(pipes[1]);
    kill_one(c, child, pipes[0]);
    close(pipes[0]);
    waitpid(child, NULL, 0);
}

/* ---- what is left ------------------------------------------------------------------------------------------ */

typedef struct finding {
    bool asked[NUMBERS], answered[NUMBERS]; /* by the number of the message, from `first` on */
    uint32_t first, last;                   /* last: the question that was read last */
} finding;

static bool number_in(maki_str text, const char *before, uint32_t *n)
{
    maki_str head = maki_str_of(before);
    if (!maki_str_starts(text, head)) return false;
    *n = (uint32_t)strtoul(text.ptr + head.len, NULL, 10); /* a quote ends the text */
    return true;
}

/* Whatever the provider says after a question is its answer: it may speak of a tool that the turn before, which
 * was killed, had called. */
static maki_status look_at(void *ctx, const maki_view_message *seen, maki_err *err)
{
    finding *f = ctx;
    maki_content_parts pieces = maki_content_parts_of_row(seen->json);
    maki_content_part piece;
    bool answers = maki_content_parts_of_row(seen->json).author == MAKI_AUTHOR_ASSISTANT;
    (void)err;
    while (maki_content_parts_next(&pieces, &piece)) {
        if (piece.kind != MAKI_CONTENT_TEXT || piece.text.len < 3) continue;
        if (!answers && !number_in(maki_json_strip_quotes(piece.text), "turn ", &f->last)) continue;
        if (f->last < f->first || f->last - f->first >= NUMBERS) continue;
        (answers ? f->answered : f->asked)[f->last - f->first] = true;
    }
    return MAKI_OK;
}

/* Everything that was acknowledged is there: the question, and the answer where there was one. */
static void check_rows(chaos *c, maki_conv *conv)
{
    static finding f;
    const maki_view *all;
    maki_err err = { .msg = "" };
    if (c->acknowledged_count == 0) return;
    memset(&f, 0, sizeof f);
    f.first = c->acknowledged[0];
    maki_status st = maki_conv_all_messages(conv, &all, &err);
    if (st == MAKI_OK) st = maki_conv_each(conv, all, look_at, &f, &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    for (size_t i = 0; i < c->acknowledged_count; i++) {
        uint32_t n = c->acknowledged[i], at = n - f.first;
        if (!CHECK(at < NUMBERS && f.asked[at])) continue;
        if (n % 5 != 1 && n % 5 != 3) CHECK(f.answered[at]);
    }
}

static maki_status drop(void *ctx, maki_str bytes, maki_err *err)
{
    (void)ctx, (void)bytes, (void)err;
    return MAKI_OK;
}

/* `maki verify`: every byte of it. */
static void check_files(const chaos *c)
{
    char input[400];
    maki *m = NULL;
    maki_err err = { .msg = "" };
    snprintf(input, sizeof input, "{\"conversation\":\"%s\"}", c->session);
    maki_status st = maki_open(NULL, &m, &err);
    if (st == MAKI_OK)
        st = maki_op(m, MAKI_LIT("history.verify"), maki_str_of(input), (maki_sink){ drop, NULL },
                     &err);
    CHECK_STATUS(st, MAKI_OK, &err);
    maki_close(m);
}

/* The next start: it puts right what was torn; then everything must be as it was written. */
static void check_session(chaos *c)
{
    maki_conv_options how = { .create = true, .durability = MAKI_DURABILITY_AT_END };
    maki_conv *conv = NULL;
    maki_err err = { .msg = "" };
    if (!CHECK_STATUS(maki_conv_open(&c->kit.env, c->session, &how, &conv, &err), MAKI_OK, &err))
        return;
    check_rows(c, conv);
    maki_conv_close(conv);
    check_files(c);
}

/* ---- what was sent ------------------------------------------------------------------------------------------ */

static maki_status look_at_sent(void *ctx, const maki_wire_message *message, maki_err *err)
{
    chaos *c = ctx;
    maki_content_parts pieces = maki_content_parts_of_row(message->row);
    maki_content_part piece;
    (void)err;
    if (maki_content_parts_of_row(message->row).author != MAKI_AUTHOR_ASSISTANT) return MAKI_OK;
    while (maki_content_parts_next(&pieces, &piece)) {
        if (piece.kind != MAKI_CONTENT_TEXT || piece.text.len < 3) continue;
        maki_str text = maki_json_strip_quotes(piece.text);
        if (!maki_str_starts(text, MAKI_LIT("You said: turn "))) continue;
        bool whole = text.len == strlen("You said: ") + ECHO;
        bool says = maki_str_contains(text, MAKI_LIT(CUT_LINE));
        CHECK(whole || says);
        c->whole += whole;
        c->cut += says;
    }
    return MAKI_OK;
}

/* The protocol of a request, by its path. */
static maki_protocol protocol_of(const char *head)
{
    static const char *const paths[] = { "/v1/messages", "/v1/chat/", "/v1/responses", "/api/chat",
                                         "enerateContent" };
    for (size_t i = 0; i < KIT_PROVIDERS; i++) {
        if (strstr(head, paths[i])) return engine_kit_protocol(kit_providers[i]);
    }
    return MAKI_WIRE_NONE;
}

/* Did all of it arrive?  Who was killed in the middle of sending has not asked anything. */
static bool is_all_there(const char *head, const char *body)
{
    const char *length = strcasestr(head, "content-length:");
    return length && strtoul(length + strlen("content-length:"), NULL, 10) == strlen(body);
}

static void check_request(chaos *c, unsigned nth)
{
    engine_kit *kit = &c->kit;
    maki_wire_request request;
    maki_err err = { .msg = "" };
    char *body = engine_kit_kept(kit, nth, "body"), *head = engine_kit_kept(kit, nth, "head");
    if (CHECK(body && head) && is_all_there(head, body)) {
        maki_protocol protocol = protocol_of(head);
        engine_kit_paired(kit, protocol, maki_str_of(body));
        CHECK_STATUS(maki_wire_read(&kit->env, protocol, maki_str_of(body), NULL, look_at_sent, c,
                                    &request, NULL, &err),
                     MAKI_OK, &err);
        c->checked++;
    }
    free(body);
    free(head);
}

/* All but the newest, which the provider may still be writing down; it is looked at the next time. */
static void check_sent(chaos *c)
{
    unsigned long newest = engine_kit_requests(&c->kit);
    for (; c->seen + 1 < newest; c->seen++)
        check_request(c, (unsigned)(newest - c->seen - 1));
}

int main(int argc, char **argv)
{
    static chaos c;
    size_t kills = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) : 200;
    c.random.state = argc > 3 ? strtoull(argv[3], NULL, 10) | 1 : 20261116;
    if (!engine_kit_open(&c.kit, argc, argv, NULL)) return tap_end();
    tap_row("%zu kills in the middle of turns", kills);
    for (size_t k = 0; k < kills; k++) {
        char name[64];
        if (k % SESSION_KILLS == 0) {
            c.acknowledged_count = 0;
            snprintf(name, sizeof name, "session-%zu", k);
            snprintf(c.session, sizeof c.session, "%s", engine_kit_session(&c.kit, name));
        }
        c.provider = kit_providers[k % KIT_PROVIDERS];
        run_child(&c);
        check_session(&c);
        check_sent(&c);
        c.next += CHILD_MAX; /* numbers that no other child has used */
    }
    CHECK(c.answered > 0 && c.checked > c.answered && c.whole > 0 && c.cut > 0);
    printf("# %zu turns answered, %zu requests checked: %zu whole answers in them, %zu cut\n",
           c.answered, c.checked, c.whole, c.cut);
    engine_kit_close(&c.kit);
    return tap_end();
}
