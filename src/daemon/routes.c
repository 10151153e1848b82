/* routes.c -- see routes.h. */
#include "daemon/routes.h"

#include "base/str.h"

/* A star stands for one segment or a part of it; two at the end for all that follows. */
typedef struct route_row {
    const char *method; /* NULL: any */
    const char *path;
    maki_route_kind kind;
    maki_protocol protocol;
    const char *upstream;
} route_row;

/* clang-format off */
static const route_row rows[] = {
    { "POST", "/v1/messages",                        MAKI_ROUTE_RECORD,  MAKI_WIRE_ANTHROPIC, "anthropic" },
    { "POST", "/v1/messages/count_tokens",           MAKI_ROUTE_COUNT,   MAKI_WIRE_ANTHROPIC, "anthropic" },
    { NULL,   "/v1/messages/**",                     MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "anthropic" },
    { "HEAD", "/",                                   MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "anthropic" },
    { "POST", "/v1/chat/completions",                MAKI_ROUTE_RECORD,  MAKI_WIRE_CHAT,      "openai" },
    { "POST", "/v1/responses",                       MAKI_ROUTE_RECORD,  MAKI_WIRE_RESPONSES, "openai" },
    { NULL,   "/v1/responses/**",                    MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai" },
    { NULL,   "/v1/chat/completions",                MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai" },
    { NULL,   "/v1/responses",                       MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai" },
    { NULL,   "/v1/messages",                        MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "anthropic" },
    { NULL,   "/v1/completions",                     MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai" },
    { NULL,   "/v1/embeddings",                      MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai" },
    { NULL,   "/v1/moderations",                     MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai" },
    { "POST", "/v1*/models/*:generateContent",       MAKI_ROUTE_RECORD,  MAKI_WIRE_GEMINI,    "gemini" },
    { "POST", "/v1*/models/*:streamGenerateContent", MAKI_ROUTE_RECORD,  MAKI_WIRE_GEMINI,    "gemini" },
    { "POST", "/v1*/models/*:countTokens",           MAKI_ROUTE_COUNT,   MAKI_WIRE_GEMINI,    "gemini" },
    { "POST", "/v1*/models/*:*",                     MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "gemini" },
    { NULL,   "/v1/models",                          MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai" },
    { NULL,   "/v1/models/**",                       MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "openai" },
    { NULL,   "/v1beta/**",                          MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "gemini" },
    { NULL,   "/v1alpha/**",                         MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "gemini" },
    { "POST", "/api/chat",                           MAKI_ROUTE_RECORD,  MAKI_WIRE_OLLAMA,    "ollama" },
    { "POST", "/api/generate",                       MAKI_ROUTE_RECORD,  MAKI_WIRE_GENERATE,  "ollama" },
    { NULL,   "/api/*",                              MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "ollama" },
    { NULL,   "/api/blobs/*",                        MAKI_ROUTE_FORWARD, MAKI_WIRE_NONE,      "ollama" },
    { NULL,   "/",                                   MAKI_ROUTE_LOCAL,   MAKI_WIRE_NONE,      NULL },
    { NULL,   "/maki",                               MAKI_ROUTE_LOCAL,   MAKI_WIRE_NONE,      NULL },
    { NULL,   "/maki/**",                            MAKI_ROUTE_LOCAL,   MAKI_WIRE_NONE,      NULL },
};
/* clang-format on */
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* Does the pattern match all of `path`?  *star is what the last single star stood for.  When it does not go on, the
 * last star takes one character more; those before it need no second try, because none may pass a slash. */
static bool matches(const char *pattern, maki_str path, maki_str *star)
{
    const char *after = NULL; /* the last star; it stands for [from, to) */
    size_t at = 0, from = 0, to = 0;
    while (*pattern || at < path.len) {
        if (pattern[0] == '*' && pattern[1] == '*') return at < path.len;
        if (*pattern == '*') {
            after = ++pattern;
            from = to = at;
        } else if (*pattern && at < path.len && *pattern == path.ptr[at]) {
            pattern++, at++;
        } else if (after && to < path.len && path.ptr[to] != '/') {
            pattern = after;
            at = ++to;
        } else {
            return false;
        }
    }
    if (after) *star = (maki_str){ path.ptr + from, to - from };
    return true;
}

/* The same for the end of a path, from any slash on; the version in front may be missing. */
static bool matches_end(const char *pattern, maki_str path, maki_str *star)
{
    bool version = strncmp(pattern, "/v1", 3) == 0;
    const char *later = version ? strchr(pattern + 1, '/') : pattern;
    for (size_t i = 0; i < path.len; i++) {
        if (path.ptr[i] == '/' && matches(later, maki_str_from(path, i), star)) return true;
    }
    return false;
}

static bool is_worth_a_search(const route_row *row)
{
    return row->kind == MAKI_ROUTE_RECORD || row->kind == MAKI_ROUTE_COUNT;
}

maki_route maki_route_find(maki_str method, maki_str path, bool chosen, bool anthropic)
{
    maki_route found = { .kind = chosen ? MAKI_ROUTE_FORWARD : MAKI_ROUTE_NONE,
                         .model = { "", 0 } };
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const route_row *row = &rows[i];
        maki_str star = { "", 0 };
        if (row->method && !maki_str_is(method, maki_str_of(row->method))) continue;
        if (chosen && !is_worth_a_search(row)) continue;
        if (!matches(row->path, path, &star) && !(chosen && matches_end(row->path, path, &star))) {
            continue;
        }
        found = (maki_route){ .kind = row->kind, .protocol = row->protocol, .model = { "", 0 } };
        if (!chosen) found.upstream = row->upstream;
        if (row->protocol == MAKI_WIRE_GEMINI) found.model = star;
        break;
    }
    bool models = !chosen && maki_str_starts(path, MAKI_LIT("/v1/models"));
    if (models && anthropic) found.upstream = "anthropic";
    return found;
}

/* Take "/LETTER/WORD" off the front. */
static bool take_prefix(maki_str *target, char letter, maki_str *word)
{
    const char front[] = { '/', letter, '/' };
    if (!maki_str_starts(*target, (maki_str){ front, 3 })) return false;
    maki_str rest = maki_str_from(*target, 3);
    size_t n = 0;
    while (n < rest.len && rest.ptr[n] != '/' && rest.ptr[n] != '?')
        n++;
    if (n == 0) return false;
    *word = maki_str_to(rest, n);
    *target = maki_str_from(rest, n);
    return true;
}

bool maki_route_split(maki_str target, maki_route_path *out)
{
    *out = (maki_route_path){ .token = { "", 0 }, .upstream = { "", 0 }, .query = { "", 0 } };
    if (target.len == 0 || target.ptr[0] != '/') return false;
    take_prefix(&target, 't', &out->token);
    take_prefix(&target, 'u', &out->upstream);
    if (target.len == 0) target = MAKI_LIT("/"); /* "/u/openai": a base without its slash */
    const char *mark = memchr(target.ptr, '?', target.len);
    out->target = target;
    out->path = mark ? maki_str_to(target, (size_t)(mark - target.ptr)) : target;
    if (mark) out->query = maki_str_from(target, out->path.len + 1);
    return out->path.len > 0; /* "/t/TOKEN?x" has no path */
}
