/* routes.c -- match a request's path: first the protocols' own paths (wire/protocol.h), then the table below. */
#include "daemon/routes.h"

#include <stdio.h>

#include "base/str_util.h"
#include "wire/protocol.h"

/* A star matches one segment or a part of it; two at the end match all that follows. */
typedef struct route_row {
    const char *method; /* NULL: any */
    const char *path;
    maki_route_kind kind;
    const char *upstream;
} route_row;

/* clang-format off */
static const route_row rows[] = {
    { NULL,   "/v1/messages/**",                     MAKI_ROUTE_FORWARD, "anthropic" },
    { "HEAD", "/",                                   MAKI_ROUTE_FORWARD, "anthropic" },
    { "HEAD", "/api/hello",                          MAKI_ROUTE_FORWARD, "anthropic" }, /* Claude Code's first request */
    { NULL,   "/v1/responses/**",                    MAKI_ROUTE_FORWARD, "openai" },
    { NULL,   "/v1/chat/completions",                MAKI_ROUTE_FORWARD, "openai" },
    { NULL,   "/v1/responses",                       MAKI_ROUTE_FORWARD, "openai" },
    { NULL,   "/v1/messages",                        MAKI_ROUTE_FORWARD, "anthropic" },
    { NULL,   "/v1/completions",                     MAKI_ROUTE_FORWARD, "openai" },
    { NULL,   "/v1/embeddings",                      MAKI_ROUTE_FORWARD, "openai" },
    { NULL,   "/v1/moderations",                     MAKI_ROUTE_FORWARD, "openai" },
    { "POST", "/v1*/models/*:*",                     MAKI_ROUTE_FORWARD, "gemini" },
    { NULL,   "/v1/models",                          MAKI_ROUTE_FORWARD, "openai" },
    { NULL,   "/v1/models/**",                       MAKI_ROUTE_FORWARD, "openai" },
    { NULL,   "/v1beta/**",                          MAKI_ROUTE_FORWARD, "gemini" },
    { NULL,   "/v1alpha/**",                         MAKI_ROUTE_FORWARD, "gemini" },
    { NULL,   "/api/*",                              MAKI_ROUTE_FORWARD, "ollama" },
    { NULL,   "/api/blobs/*",                        MAKI_ROUTE_FORWARD, "ollama" },
    { NULL,   "/",                                   MAKI_ROUTE_LOCAL,   NULL },
    { NULL,   "/maki",                               MAKI_ROUTE_LOCAL,   NULL },
    { NULL,   "/maki/**",                            MAKI_ROUTE_LOCAL,   NULL },
};
/* clang-format on */
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

/* Does the pattern match all of `path`?  *star is what the last single star matched.  On a mismatch the last star matches
 * one character more; those before it need no backtracking, because no star matches a slash. */
static bool matches(const char *pattern, maki_str path, maki_str *star)
{
    const char *after = NULL; /* what follows the last star, which matches [from, to) */
    size_t offset = 0, from = 0, to = 0;
    while (*pattern || offset < path.len) {
        if (pattern[0] == '*' && pattern[1] == '*') return offset < path.len;
        if (*pattern == '*') {
            after = ++pattern;
            from = to = offset;
        } else if (*pattern && offset < path.len && *pattern == path.ptr[offset]) {
            pattern++, offset++;
        } else if (after && to < path.len && path.ptr[to] != '/') {
            pattern = after;
            offset = ++to;
        } else {
            return false;
        }
    }
    if (after) *star = (maki_str){ path.ptr + from, to - from };
    return true;
}

/* The same for any suffix of a path that begins with a slash; the version in front may be missing. */
static bool matches_end(const char *pattern, maki_str path, maki_str *star)
{
    bool version = strncmp(pattern, "/v1", 3) == 0;
    const char *unversioned = version ? strchr(pattern + 1, '/') : pattern;
    for (size_t i = 0; i < path.len; i++) {
        if (path.ptr[i] == '/' && matches(unversioned, maki_str_skip(path, i), star)) return true;
    }
    return false;
}

/* The paths of the protocols: all of them POST. */
static bool find_protocol_path(maki_str path, bool named, maki_route *found)
{
    for (maki_protocol p = MAKI_WIRE_NONE; maki_protocol_next(&p);) {
        const maki_protocol_spec *spec = maki_protocol_of(p);
        for (const maki_api_path *api = spec->paths; api->path; api++) {
            maki_str star = { "", 0 };
            if (!matches(api->path, path, &star) && !(named && matches_end(api->path, path, &star)))
                continue;
            *found = (maki_route){ .kind = api->counts ? MAKI_ROUTE_COUNT : MAKI_ROUTE_RECORD,
                                   .protocol = p,
                                   .upstream = named ? NULL : spec->upstream,
                                   .model = spec->model_in_path ? star : (maki_str){ "", 0 } };
            return true;
        }
    }
    return false;
}

static const char *upstream_of(const route_row *row, maki_str path, bool anthropic)
{
    return anthropic && maki_str_starts(path, MAKI_LIT("/v1/models")) ? "anthropic" : row->upstream;
}

maki_route maki_route_find(maki_str method, maki_str path, bool named, bool anthropic)
{
    maki_route found = { .kind = named ? MAKI_ROUTE_FORWARD : MAKI_ROUTE_NONE, .model = { "", 0 } };
    maki_str star;
    if (maki_str_equal(method, MAKI_LIT("POST")) && find_protocol_path(path, named, &found))
        return found;
    for (size_t i = 0; !named && i < ROW_COUNT; i++) {
        const route_row *row = &rows[i];
        if (row->method && !maki_str_equal(method, maki_str_of(row->method))) continue;
        if (!matches(row->path, path, &star)) continue;
        found.kind = row->kind;
        found.upstream = upstream_of(row, path, anthropic);
        break;
    }
    return found;
}

static bool is_known(maki_str method, maki_str path)
{
    maki_route_kind kind = maki_route_find(method, path, false, false).kind;
    return kind != MAKI_ROUTE_NONE && kind != MAKI_ROUTE_LOCAL;
}

const char *maki_route_hint(maki_str method, maki_str path)
{
    char versioned[200];
    int n = snprintf(versioned, sizeof versioned, "/v1%.*s", (int)(path.len < 190 ? path.len : 0),
                     path.ptr);
    if (is_known(method, (maki_str){ versioned, (size_t)n }))
        return "the path lacks /v1: the base URL of this client must end in /v1, as in "
               "http://127.0.0.1:4747/v1";
    if (maki_str_starts(path, MAKI_LIT("/v1/v1/")) && is_known(method, maki_str_skip(path, 3)))
        return "the path has /v1 twice: the base URL of this client must not end in /v1";
    return "unknown path; /u/NAME/... forwards any path to the "
           "upstream NAME, / says how to connect";
}

/* Remove "/LETTER/WORD" from the front. */
static bool cut_prefix(maki_str *target, char letter, maki_str *word)
{
    const char front[] = { '/', letter, '/' };
    if (!maki_str_starts(*target, (maki_str){ front, 3 })) return false;
    maki_str rest = maki_str_skip(*target, 3);
    size_t n = 0;
    while (n < rest.len && rest.ptr[n] != '/' && rest.ptr[n] != '?')
        n++;
    if (n == 0) return false;
    *word = maki_str_prefix(rest, n);
    *target = maki_str_skip(rest, n);
    return true;
}

bool maki_route_split(maki_str target, maki_route_path *out)
{
    *out = (maki_route_path){ .token = { "", 0 }, .upstream = { "", 0 }, .query = { "", 0 } };
    if (target.len == 0 || target.ptr[0] != '/') return false;
    cut_prefix(&target, 't', &out->token);
    cut_prefix(&target, 'u', &out->upstream);
    if (target.len == 0) target = MAKI_LIT("/"); /* "/u/openai": a base URL without a slash */
    const char *mark = memchr(target.ptr, '?', target.len);
    out->target = target;
    out->path = mark ? maki_str_prefix(target, (size_t)(mark - target.ptr)) : target;
    if (mark) out->query = maki_str_skip(target, out->path.len + 1);
    return out->path.len > 0; /* "/t/TOKEN?x" has no path */
}
