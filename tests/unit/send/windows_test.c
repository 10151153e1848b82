/* windows_test.c -- windows that providers tell. */
#include <stdio.h>
#include <string.h>

#include "base/str_util.h"
#include "send_kit.h"
#include "tap.h"

/* clang-format off */
static const struct window_row { const char *name; maki_protocol protocol; const char *model; uint64_t said, want; } rows[] = {
    { "ollama",    MAKI_WIRE_OLLAMA,    "fake",           0,     8192 },
    { "mine",      MAKI_WIRE_OLLAMA,    "fake",           0,     8192 },
    { "ollama",    MAKI_WIRE_OLLAMA,    "fake",           32768, 32768 }, /* llm.ollama.context_length wins */
    { "lmstudio",  MAKI_WIRE_CHAT,      "fake",           0,     16384 },
    { "lmstudio",  MAKI_WIRE_CHAT,      "fake-large",     0,     262144 },
    { "lmstudio",  MAKI_WIRE_CHAT,      "unheard-of",     0,     0 },
    { "gemini",    MAKI_WIRE_GEMINI,    "fake",           0,     1048576 },
    { "gemini",    MAKI_WIRE_GEMINI,    "models/fake",    0,     1048576 },
    { "gemini",    MAKI_WIRE_GEMINI,    "nothing/there",  0,     0 },
    { "openai",    MAKI_WIRE_CHAT,      "fake",           0,     0 },
    { "anthropic", MAKI_WIRE_ANTHROPIC, "fake",           0,     0 },
};
/* clang-format on */

static void run_rows(send_kit *kit)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct window_row *row = &rows[i];
        maki_sender *sender = NULL;
        uint64_t tokens = 1;
        tap_row("%s: %s, %s", row->name, row->model, row->said ? "configured" : "asked");
        send_kit_is(kit, row->protocol, "");
        snprintf(kit->provider.name, sizeof kit->provider.name, "%s", row->name);
        kit->provider.model = maki_str_of(row->model);
        kit->provider.window = row->said;
        CHECK_STATUS(maki_sender_open(&kit->options, &sender, &kit->err), MAKI_OK, &kit->err);
        maki_status st = maki_sender_window(sender, MAKI_LIT(""), NULL, NULL, &tokens, &kit->err);
        CHECK_STATUS(st, MAKI_OK, &kit->err);
        CHECK_EQ(tokens, row->want);
        maki_sender_close(sender);
        CHECK_EQ(fake_alloc_live(&kit->fe), 0);
    }
}

static void run_any_model(send_kit *kit)
{
    maki_sender *sender = NULL;
    uint64_t tokens = 1;
    tap_row("a configured window without a model holds for whichever is named");
    send_kit_is(kit, MAKI_WIRE_OLLAMA, "");
    kit->provider.model = MAKI_LIT("");
    kit->provider.window = 4096;
    CHECK_STATUS(maki_sender_open(&kit->options, &sender, &kit->err), MAKI_OK, &kit->err);
    CHECK_STATUS(maki_sender_window(sender, MAKI_LIT("海苔"), NULL, NULL, &tokens, &kit->err),
                 MAKI_OK, &kit->err);
    CHECK_EQ(tokens, 4096);
    maki_sender_close(sender);
    kit->provider.window = 0;
}

static void run_unreachable(send_kit *kit, const char *scenario)
{
    maki_sender *sender = NULL;
    uint64_t tokens = 1;
    tap_row("a provider that cannot say it just now: %s", scenario);
    send_kit_is(kit, MAKI_WIRE_OLLAMA, scenario);
    CHECK_STATUS(maki_sender_open(&kit->options, &sender, &kit->err), MAKI_OK, &kit->err);
    CHECK_STATUS(maki_sender_window(sender, MAKI_LIT("fake"), NULL, NULL, &tokens, &kit->err),
                 MAKI_OK, &kit->err);
    CHECK_EQ(tokens, 0);
    maki_sender_close(sender);
}

static bool is_true(void *ctx)
{
    (void)ctx;
    return true;
}

static void run_cancelled(send_kit *kit)
{
    maki_sender *sender = NULL;
    uint64_t tokens = 1;
    tap_row("a provider that says nothing is not waited for by who wants to stop");
    send_kit_is(kit, MAKI_WIRE_OLLAMA, "silent");
    CHECK_STATUS(maki_sender_open(&kit->options, &sender, &kit->err), MAKI_OK, &kit->err);
    CHECK_STATUS(maki_sender_window(sender, MAKI_LIT("fake"), is_true, NULL, &tokens, &kit->err),
                 MAKI_CANCELLED, &kit->err);
    CHECK_EQ(tokens, 0);
    maki_sender_close(sender);
}

static void run_kept(send_kit *kit)
{
    maki_sender *sender = NULL;
    uint64_t tokens = 0;
    tap_row("what was told is kept when the provider is gone");
    send_kit_is(kit, MAKI_WIRE_OLLAMA, "");
    CHECK_STATUS(maki_sender_open(&kit->options, &sender, &kit->err), MAKI_OK, &kit->err);
    CHECK_STATUS(maki_sender_window(sender, MAKI_LIT("fake"), NULL, NULL, &tokens, &kit->err),
                 MAKI_OK, &kit->err);
    CHECK_EQ(tokens, 8192);
    send_kit_close(kit);
    tokens = 0;
    CHECK_STATUS(maki_sender_window(sender, MAKI_LIT("fake"), NULL, NULL, &tokens, &kit->err),
                 MAKI_OK, &kit->err);
    CHECK_EQ(tokens, 8192);
    CHECK_STATUS(maki_sender_window(sender, MAKI_LIT("other"), NULL, NULL, &tokens, &kit->err),
                 MAKI_OK, &kit->err);
    CHECK_EQ(tokens, 0);
    maki_sender_close(sender);
}

int main(int argc, char **argv)
{
    static send_kit kit;
    if (send_kit_open(&kit, argc, argv)) {
        run_rows(&kit);
        run_any_model(&kit);
        run_unreachable(&kit, "500");
        run_unreachable(&kit, "corrupt");
        run_cancelled(&kit);
        run_kept(&kit); /* ends the provider */
    }
    return tap_end();
}
