/* exact.c -- our tokens against those of npm tiktoken, text by text.
 *
 *     exact NODE ORACLE ENCODING SET COUNT [SEED]
 *
 * Starts the oracle (oracle.cjs says what it sends) and compares, for each text: the ids; their
 * number when only counting; the bytes that decoding gives; the same without memory, without AVX2 and
 * when the text comes in parts.  Now and then the slow reference of fuzz/ is compared too: it serves
 * where there is no oracle.  The first differences are shown with what is around them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <maki/token.h>

#include "ids.h"
#include "tap.h"
#include "token/encoding.h"
#include "token_reference.h"

enum { SHOWN = 3, TEXT_MAX = 1 << 20, REFERENCE_MAX = 1000, REFERENCE_EVERY = 16 };

/* The ways to get ids. */
enum { USUAL, BARE, PLAIN, PARTS, REFERENCE, WAYS };
static const char *const ways[] = { "encoded", "encoded without memory", "encoded without AVX2",
                                    "encoded in parts", "by the slow reference" };

typedef struct oracle {
    FILE *out;
    pid_t pid;
} oracle;

typedef struct subject {
    const maki_encoding *encoding;
    maki_encoding plain_encoding;         /* without AVX2 */
    maki_tokenizer *usual, *bare, *plain; /* the last two have no memory */
    token_reference *reference;
    tap_random random;
    uint64_t texts, tokens, differences[WAYS];
} subject;

/* ---- the oracle ---------------------------------------------------------------------------- */

static bool oracle_start(oracle *o, char **command)
{
    int ends[2];
    if (pipe(ends) != 0) return false;
    o->pid = fork();
    if (o->pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execvp(command[0], command);
        perror(command[0]);
        _exit(127);
    }
    close(ends[1]);
    o->out = fdopen(ends[0], "rb");
    return o->pid > 0 && o->out;
}

/* True when it sent everything and said so. */
static bool oracle_end(oracle *o)
{
    int status = 0;
    fclose(o->out);
    return waitpid(o->pid, &status, 0) == o->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool read_number(oracle *o, uint32_t *out)
{
    return fread(out, 1, sizeof *out, o->out) == sizeof *out;
}

/* The text in memory that ends where it ends, so that reading past it is seen; the ids in `want`.
 * NULL at the end, and when the record is torn. */
static char *read_text(oracle *o, uint32_t *len, id_list *want)
{
    uint32_t count;
    if (!read_number(o, len) || *len > TEXT_MAX) return NULL;
    char *text = malloc(*len ? *len : 1);
    bool whole = text && fread(text, 1, *len, o->out) == *len && read_number(o, &count);
    want->count = 0;
    for (uint32_t i = 0; whole && i < count; i++) {
        uint32_t id = 0;
        whole = read_number(o, &id);
        ids_add(want, &id, 1);
    }
    if (whole) return text;
    free(text);
    return NULL;
}

/* ---- one text ------------------------------------------------------------------------------ */

static void compare(subject *s, int way, maki_str text, const id_list *want, const id_list *have)
{
    if (CHECK(ids_same(want, have))) return;
    if (s->differences[way]++ < SHOWN)
        ids_show_difference(s->encoding, ways[way], text, want, have);
}

static maki_status collect(void *ctx, const uint32_t *more, size_t n, maki_err *err)
{
    (void)err;
    ids_add(ctx, more, n);
    return MAKI_OK;
}

static void check_text(subject *s, maki_str text, const id_list *want)
{
    static id_list have;
    ids_encode(&have, s->usual, text);
    compare(s, USUAL, text, want, &have);
    CHECK_EQ(maki_tokenizer_count(s->usual, text), want->count);
    ids_encode(&have, s->bare, text);
    compare(s, BARE, text, want, &have);
    CHECK_EQ(maki_tokenizer_count(s->bare, text), want->count);
    ids_encode(&have, s->plain, text);
    compare(s, PLAIN, text, want, &have);
    uint64_t counted = ids_encode_parts(&have, s->usual, text, &s->random);
    compare(s, PARTS, text, want, &have);
    CHECK_EQ(counted, want->count);
    CHECK_EQ(ids_count_parts(s->usual, text, &s->random), want->count);
    CHECK(ids_decode_to(s->encoding, want, text));
    if (s->texts % REFERENCE_EVERY == 0 && text.len <= REFERENCE_MAX) {
        have.count = 0;
        token_reference_encode(s->reference, text, collect, &have);
        compare(s, REFERENCE, text, want, &have);
    }
    s->texts++;
    s->tokens += want->count;
}

static void check_all(subject *s, oracle *o)
{
    id_list want = { 0 };
    uint32_t len;
    char *text;
    while ((text = read_text(o, &len, &want))) {
        check_text(s, (maki_str){ text, len }, &want);
        free(text);
    }
    ids_free(&want);
}

static bool subject_open(subject *s, const char *name)
{
    maki_tokenizer_options bare = MAKI_TOKENIZER_OPTIONS_INIT;
    maki_env env = maki_env_system();
    bare.no_cache = true;
    s->encoding = maki_encoding_find(name);
    if (!s->encoding) return false;
    s->plain_encoding = *s->encoding;
    s->plain_encoding.scan_avx2 = s->encoding->scan;
    s->reference = token_reference_open(s->encoding);
    return maki_tokenizer_open(&env, s->encoding, NULL, &s->usual, NULL) == MAKI_OK &&
           maki_tokenizer_open(&env, s->encoding, &bare, &s->bare, NULL) == MAKI_OK &&
           maki_tokenizer_open(&env, &s->plain_encoding, &bare, &s->plain, NULL) == MAKI_OK;
}

static void subject_close(subject *s)
{
    maki_tokenizer_close(s->usual);
    maki_tokenizer_close(s->bare);
    maki_tokenizer_close(s->plain);
    token_reference_close(s->reference);
}

int main(int argc, char **argv)
{
    oracle o = { 0 };
    subject s = { .random = { 20261115 } };
    if (argc < 6) {
        fprintf(stderr, "usage: exact NODE ORACLE ENCODING SET COUNT [SEED]\n");
        return 2;
    }
    tap_row("%s, %s: the same as the oracle", argv[3], argv[4]);
    if (!CHECK(subject_open(&s, argv[3])) || !CHECK(oracle_start(&o, argv + 1))) return tap_end();
    check_all(&s, &o);
    tap_row("%s, %s: the oracle sent everything", argv[3], argv[4]);
    CHECK(oracle_end(&o) && s.texts > 0);
    printf("# %s, %s: %llu texts, %llu tokens\n", argv[3], argv[4], (unsigned long long)s.texts,
           (unsigned long long)s.tokens);
    for (int way = 0; way < WAYS; way++) {
        if (s.differences[way])
            printf("# %s: %llu differ\n", ways[way], (unsigned long long)s.differences[way]);
    }
    subject_close(&s);
    return tap_end();
}
