/* delta_decoder_test.c -- pieces of replies as text: emoji cut in two, long ones, kinds that take turns. */
#include "send/delta_decoder.h"

#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "tap.h"

typedef struct heard {
    char text[20000];
    size_t len, times;
    maki_status answer;
} heard;

static maki_status on_delta(void *ctx, const maki_delta *piece, maki_err *err)
{
    static const char *const names[] = { "t", "r", "c", "i" };
    heard *h = ctx;
    (void)err;
    h->times++;
    h->len += (size_t)snprintf(h->text + h->len, sizeof h->text - h->len, "%s%u(%.*s%s%.*s)",
                               names[piece->kind], (unsigned)piece->call, (int)piece->text.len,
                               piece->text.ptr, piece->id.len ? "#" : "", (int)piece->id.len,
                               piece->id.ptr ? piece->id.ptr : "");
    return h->answer;
}

/* Pieces as "t:text", kinds t, r, c, i; values are what stands between the quotes. */
/* clang-format off */
static const struct hear_row { const char *name; const char *pieces[6]; const char *want; } rows[] = {
    { "plain",                    { "t:hello", "t: world" },                      "t0(hello)t0( world)" },
    { "escapes",                  { "t:a\\nb\\\"c\\\\d\\u6d77" },                 "t0(a\nb\"c\\d海)" },
    { "a pair",                   { "t:\\ud83c\\udf63" },                         "t0(🍣)" },
    { "a pair in two",            { "t:x\\ud83c", "t:\\udf63y" },                 "t0(x)t0(🍣y)" },
    { "in capitals",              { "t:\\uD83C", "t:\\uDF63" },                   "t0(🍣)" },
    { "two pairs",                { "t:\\ud83c", "t:\\udf63\\ud83c", "t:\\udf63" }, "t0(🍣)t0(🍣)" },
    { "half a pair at the end",   { "t:x\\ud83c" },                               "t0(x)t0(\xef\xbf\xbd)" },
    { "half a pair, then others", { "t:\\ud83c", "t:abc" },                       "t0(\xef\xbf\xbd" "abc)" },
    { "half a pair, then a kind", { "t:\\ud83c", "r:\\udf63" },                   "t0(\xef\xbf\xbd)r0(\xef\xbf\xbd)" },
    { "only the second",          { "t:\\udf63" },                                "t0(\xef\xbf\xbd)" },
    { "an escaped backslash",     { "t:\\\\ud83c", "t:x" },                       "t0(\\ud83c)t0(x)" },
    { "two of them",              { "t:\\\\\\ud83c", "t:\\udf63" },               "t0(\\)t0(🍣)" },
    { "kinds in turn",            { "r:thinks", "t:says", "c:read", "i:{\\\"a\\\":", "i:1}" }, "r0(thinks)t0(says)c0(read#id)i0({\"a\":)i0(1})" },
};
/* clang-format on */

static maki_wire_delta piece_of(const char *text, char *capacity, size_t size)
{
    static const char kinds[] = "trci";
    snprintf(capacity, size, "\"%s\"", text + 2);
    return (maki_wire_delta){ .kind = (maki_delta_kind)(strchr(kinds, text[0]) - kinds),
                              .value = maki_str_of(capacity),
                              .id = text[0] == 'c' ? MAKI_LIT("\"id\"") : (maki_str){ 0 } };
}

static void run_rows(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        static heard h;
        h = (heard){ .answer = MAKI_OK };
        maki_delta_decoder hear = maki_delta_decoder_new(on_delta, &h);
        maki_err err;
        char capacity[200];
        tap_row("%s", rows[i].name);
        for (size_t k = 0; k < COUNT(rows[i].pieces) && rows[i].pieces[k]; k++) {
            maki_wire_delta piece = piece_of(rows[i].pieces[k], capacity, sizeof capacity);
            CHECK_STATUS(maki_delta_decoder_piece(&hear, &piece, &err), MAKI_OK, &err);
        }
        CHECK_STATUS(maki_delta_decoder_end(&hear, &err), MAKI_OK, &err);
        CHECK_CSTR(h.text, rows[i].want);
    }
}

static void run_long(void)
{
    static heard h;
    static char value[9100] = "\"";
    maki_delta_decoder hear = maki_delta_decoder_new(on_delta, &h);
    maki_wire_delta piece = { .kind = MAKI_DELTA_TEXT };
    maki_err err;
    tap_row("a long piece comes in several");
    while (strlen(value) < 9000)
        strcat(value, "abc\\n");
    strcat(value, "\"");
    piece.value = maki_str_of(value);
    CHECK_STATUS(maki_delta_decoder_piece(&hear, &piece, &err), MAKI_OK, &err);
    CHECK(h.times > 1 && h.times < 10);

    tap_row("a long one without escapes in one");
    memset(value + 1, 'x', 9000);
    h = (heard){ .answer = MAKI_OK };
    piece.value = (maki_str){ value, 9002 };
    value[9001] = '"';
    CHECK_STATUS(maki_delta_decoder_piece(&hear, &piece, &err), MAKI_OK, &err);
    CHECK_EQ(h.times, 1);

    tap_row("what the listener answers comes back");
    h = (heard){ .answer = MAKI_CANCELLED };
    piece.value = MAKI_LIT("\"x\"");
    CHECK_STATUS(maki_delta_decoder_piece(&hear, &piece, &err), MAKI_CANCELLED, NULL);

    tap_row("an input that is an object is told as it is");
    h = (heard){ .answer = MAKI_OK };
    piece =
        (maki_wire_delta){ .kind = MAKI_DELTA_INPUT, .call = 3, .value = MAKI_LIT("{\"a\": 1}") };
    CHECK_STATUS(maki_delta_decoder_piece(&hear, &piece, &err), MAKI_OK, &err);
    CHECK_CSTR(h.text, "i3({\"a\": 1})");

    tap_row("nobody listens");
    hear = maki_delta_decoder_new(NULL, NULL);
    CHECK_STATUS(maki_delta_decoder_piece(&hear, &piece, &err), MAKI_OK, &err);
    CHECK_STATUS(maki_delta_decoder_end(&hear, &err), MAKI_OK, &err);
}

int main(void)
{
    run_rows();
    run_long();
    return tap_end();
}
