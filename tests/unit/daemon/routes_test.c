/* routes_test.c -- parsing request paths, and the protocol and kind of each route. */
#include "daemon/routes.h"

#include "base/str_util.h"
#include "tap.h"

/* clang-format off */
static const struct route_row { const char *method, *path; bool chosen; maki_route_kind kind; maki_protocol protocol; const char *upstream, *model; } rows[] = {
    { "POST", "/v1/messages",               false, MAKI_ROUTE_RECORD,  MAKI_WIRE_ANTHROPIC, "anthropic", "" },
    { "POST", "/v1/messages/count_tokens",  false, MAKI_ROUTE_COUNT,   MAKI_WIRE_ANTHROPIC, "anthropic", "" },
    { "POST", "/v1/messages/batches",       false, MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "anthropic", "" },
    { "POST", "/v1/chat/completions",       false, MAKI_ROUTE_RECORD,  MAKI_WIRE_CHAT,      "openai", "" },
    { "OPTIONS", "/v1/chat/completions",    false, MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai", "" },
    { "POST", "/v1/responses",              false, MAKI_ROUTE_RECORD,  MAKI_WIRE_RESPONSES, "openai", "" },
    { "GET",  "/v1/responses/resp_1",       false, MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai", "" },
    { "POST", "/v1/embeddings",             false, MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai", "" },
    { "GET",  "/v1/models",                 false, MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai", "" },
    { "POST", "/api/chat",                  false, MAKI_ROUTE_RECORD,  MAKI_WIRE_OLLAMA,    "ollama", "" },
    { "POST", "/api/generate",              false, MAKI_ROUTE_RECORD,  MAKI_WIRE_GENERATE,  "ollama", "" },
    { "GET",  "/api/tags",                  false, MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "ollama", "" },
    { "POST", "/v1beta/models/gemini-2.5-pro:generateContent",       false, MAKI_ROUTE_RECORD,  MAKI_WIRE_GEMINI, "gemini", "gemini-2.5-pro" },
    { "POST", "/v1beta/models/gemini-2.5-pro:streamGenerateContent", false, MAKI_ROUTE_RECORD,  MAKI_WIRE_GEMINI, "gemini", "gemini-2.5-pro" },
    { "POST", "/v1/models/m:countTokens",   false, MAKI_ROUTE_COUNT,   MAKI_WIRE_GEMINI,    "gemini", "m" },
    { "POST", "/v1beta/models/a:b:generateContent", false, MAKI_ROUTE_RECORD, MAKI_WIRE_GEMINI, "gemini", "a:b" },
    { "POST", "/v1beta/models/:generateContent", false, MAKI_ROUTE_RECORD, MAKI_WIRE_GEMINI, "gemini", "" },
    { "POST", "/v1beta/models/m:embedContent", false, MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,   "gemini", "" },
    { "GET",  "/v1beta/models",             false, MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "gemini", "" },
    { "HEAD", "/",                          false, MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "anthropic", "" },
    { "GET",  "/",                          false, MAKI_ROUTE_LOCAL,   MAKI_WIRE_NONE,      NULL, "" },
    { "GET",  "/maki/health",               false, MAKI_ROUTE_LOCAL,   MAKI_WIRE_NONE,      NULL, "" },
    { "POST", "/maki/ops/tokens.count",     false, MAKI_ROUTE_LOCAL,   MAKI_WIRE_NONE,      NULL, "" },
    { "GET",  "/v1/messagesx",              false, MAKI_ROUTE_NONE,    MAKI_WIRE_NONE,      NULL, "" },
    { "GET",  "/makix",                     false, MAKI_ROUTE_NONE,    MAKI_WIRE_NONE,      NULL, "" },
    { "GET",  "/etc/passwd",                false, MAKI_ROUTE_NONE,    MAKI_WIRE_NONE,      NULL, "" },
    { "POST", "/chat/completions",          false, MAKI_ROUTE_NONE,    MAKI_WIRE_NONE,      NULL, "" },
    { "POST", "/chat/completions",          true,  MAKI_ROUTE_RECORD,  MAKI_WIRE_CHAT,      NULL, "" },
    { "POST", "/openai/v1/chat/completions", true, MAKI_ROUTE_RECORD,  MAKI_WIRE_CHAT,      NULL, "" },
    { "POST", "/v1/chat",                   true,  MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      NULL, "" },
    { "GET",  "/maki/health",               true,  MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      NULL, "" },
    { "GET",  "/anything/at/all",           true,  MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      NULL, "" },
};

static const struct hint_row { const char *method, *path, *words; } hints[] = {
    { "POST", "/chat/completions",    "lacks /v1: the base URL of this client must end in /v1" },
    { "POST", "/messages",            "lacks /v1" },
    { "POST", "/responses",           "lacks /v1" },
    { "GET",  "/models",              "lacks /v1" },
    { "POST", "/v1/v1/messages",      "has /v1 twice: the base URL of this client must not end in /v1" },
    { "GET",  "/favicon.png",         "/u/NAME/... forwards any path" },
    { "POST", "/v1/v1/猫",            "/u/NAME/... forwards any path" },
};

static const struct split_row { const char *target; bool good; const char *token, *upstream, *rest, *path, *query; } splits[] = {
    { "/v1/messages?beta=true",       true,  "",       "",       "/v1/messages?beta=true", "/v1/messages", "beta=true" },
    { "/u/openai/v1/models",          true,  "",       "openai", "/v1/models", "/v1/models", "" },
    { "/t/s3cret/u/local/v1/x?key=1", true,  "s3cret", "local",  "/v1/x?key=1", "/v1/x", "key=1" },
    { "/t/s3cret/",                   true,  "s3cret", "",       "/", "/", "" },
    { "/t/s3cret",                    true,  "s3cret", "",       "/", "/", "" },
    { "/u/openai",                    true,  "",       "openai", "/", "/", "" },
    { "/u//v1/models",                true,  "",       "",       "/u//v1/models", "/u//v1/models", "" },
    { "/",                            true,  "",       "",       "/", "/", "" },
    { "*",                            false, "",       "",       "", "", "" },
    { "http://evil/v1/messages",      false, "",       "",       "", "", "" },
    { "/t/s3cret?x=1",                false, "s3cret", "",       "?x=1", "", "x=1" },
};
/* clang-format on */

static void run_routes(void)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        tap_row("%s %s%s", rows[i].method, rows[i].path, rows[i].chosen ? ", upstream named" : "");
        maki_route got = maki_route_find(maki_str_of(rows[i].method), maki_str_of(rows[i].path),
                                         rows[i].chosen, false);
        CHECK_EQ(got.kind, rows[i].kind);
        CHECK_EQ(got.protocol, rows[i].protocol);
        CHECK_TEXT(got.model, maki_str_of(rows[i].model));
        CHECK_CSTR(got.upstream ? got.upstream : "", rows[i].upstream ? rows[i].upstream : "");
    }
    for (size_t i = 0; i < COUNT(hints); i++) {
        tap_row("the hint for %s %s", hints[i].method, hints[i].path);
        const char *hint =
            maki_route_hint(maki_str_of(hints[i].method), maki_str_of(hints[i].path));
        CHECK(strstr(hint, hints[i].words) != NULL);
    }
    tap_row("/v1/models: the upstream depends on anthropic-version");
    maki_route got = maki_route_find(MAKI_LIT("GET"), MAKI_LIT("/v1/models/x"), false, true);
    CHECK_CSTR(got.upstream, "anthropic");
}

/* The longest and most ambiguous path is parsed in linear time. */
static void run_long(void)
{
    static char path[60000];
    static const char front[] = "/v1beta/models/";
    memset(path, ':', sizeof path - 1);
    memcpy(path, front, sizeof front - 1);
    path[sizeof path - 2] = '/';
    tap_row("a path of colons");
    maki_route got = maki_route_find(MAKI_LIT("POST"), maki_str_of(path), false, false);
    CHECK_EQ(got.kind, MAKI_ROUTE_FORWARD);
    CHECK_EQ(got.protocol, MAKI_WIRE_NONE);
}

int main(void)
{
    run_long();
    run_routes();
    for (size_t i = 0; i < COUNT(splits); i++) {
        maki_route_path got;
        tap_row("split %s", splits[i].target);
        CHECK_EQ(maki_route_split(maki_str_of(splits[i].target), &got), splits[i].good);
        CHECK_TEXT(got.token, maki_str_of(splits[i].token));
        CHECK_TEXT(got.upstream, maki_str_of(splits[i].upstream));
        if (!splits[i].good) continue;
        CHECK_TEXT(got.target, maki_str_of(splits[i].rest));
        CHECK_TEXT(got.path, maki_str_of(splits[i].path));
        CHECK_TEXT(got.query, maki_str_of(splits[i].query));
    }
    return tap_end();
}
