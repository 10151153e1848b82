/* import_detect.c -- which format a source is, from its beginning.
 *
 * Only the names of top-level fields, `type` and the shape of the first elements are looked at, and
 * the beginning may be cut off anywhere, so nothing here trusts it to be JSON. */
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "history/import_inside.h"

/* What is known of an object. */
typedef struct sight {
    unsigned has; /* bits of the fields below */
    char type[24];
    char role[16];
    char names[100]; /* the first fields, for words */
    size_t end;      /* one past it; 0: the beginning ends inside */
    size_t messages; /* where the value of `messages` or `input` begins; 0: none */
} sight;

static const char *const fields[] = { "role",           "content",
                                      "type",           "messages",
                                      "input",          "info",
                                      "parts",          "uuid",
                                      "sessionId",      "leafUuid",
                                      "payload",        "tool_calls",
                                      "system",         "ts",
                                      "condenseParent", "truncationParent",
                                      "isSummary",      "isTruncationMarker",
                                      "parentId",       "instructions",
                                      "tool_call_id",   "max_tokens",
                                      "timestamp" };
enum {
    ROLE,
    CONTENT,
    TYPE,
    MESSAGES,
    INPUT,
    INFO,
    PARTS,
    UUID,
    SESSION,
    LEAF,
    PAYLOAD,
    TOOL_CALLS,
    SYSTEM,
    TS,
    CONDENSE,
    TRUNCATION,
    SUMMARY,
    MARKER,
    PARENT,
    INSTRUCTIONS,
    TOOL_CALL_ID,
    MAX_TOKENS,
    TIMESTAMP
};
#define HAS(s, field) ((s).has >> (field)&1u)

static size_t space(maki_str t, size_t i)
{
    while (i < t.len && strchr(" \t\r\n,:", t.ptr[i]) && t.ptr[i])
        i++;
    return i;
}

/* One past the value at i; t.len when it is cut off. */
static size_t pass(maki_str t, size_t i)
{
    size_t depth = 0;
    bool string = false;
    for (; i < t.len; i++) {
        char c = t.ptr[i];
        if (string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                string = false;
        } else if (c == '"') {
            string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (depth == 0) return i; /* a number or literal ended before it */
            depth--;
        } else if (depth == 0 && strchr(", \t\r\n", c)) {
            return i;
        } else {
            continue;
        }
        if (!string && depth == 0) return i + 1;
    }
    return t.len;
}

static void copy(char *out, size_t room, maki_str string)
{
    size_t n = string.len > 2 ? string.len - 2 : 0;
    if (n > room - 1) n = room - 1;
    memcpy(out, string.ptr + 1, n);
    out[n] = '\0';
}

static void see_field(sight *s, maki_str key, maki_str value, size_t at)
{
    size_t used = strlen(s->names);
    if (used + key.len + 3 < sizeof s->names) {
        snprintf(s->names + used, sizeof s->names - used, "%s%.*s", used ? ", " : "",
                 (int)key.len - 2, key.ptr + 1);
    }
    for (unsigned f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        if (key.len != strlen(fields[f]) + 2 || memcmp(key.ptr + 1, fields[f], key.len - 2) != 0) {
            continue;
        }
        s->has |= 1u << f;
        if (f == TYPE && value.ptr[0] == '"') copy(s->type, sizeof s->type, value);
        if (f == ROLE && value.ptr[0] == '"') copy(s->role, sizeof s->role, value);
        if ((f == MESSAGES || f == INPUT) && value.ptr[0] == '[') s->messages = at;
    }
}

/* Look at the object at i. */
static sight see(maki_str t, size_t i)
{
    sight s = { 0 };
    i++;
    for (;;) {
        i = space(t, i);
        if (i >= t.len || t.ptr[i] != '"') break;
        size_t key_end = pass(t, i);
        maki_str key = { t.ptr + i, key_end - i };
        size_t at = space(t, key_end);
        if (at >= t.len || key.len < 2) break;
        size_t end = pass(t, at);
        see_field(&s, key, (maki_str){ t.ptr + at, end - at }, at);
        if (end >= t.len) return s;
        i = end;
    }
    if (i < t.len && t.ptr[i] == '}') s.end = i + 1;
    return s;
}

/* ---- arrays ----------------------------------------------------------------------------------------- */

/* Whose messages are these?  `dflt` when nothing tells. */
static bool whose(maki_str t, size_t i, maki_import_format *out, bool *any)
{
    bool blocks = false;
    *any = false;
    for (int n = 0; n < 64; n++) {
        i = space(t, i);
        if (i >= t.len || t.ptr[i] != '{') break;
        sight s = see(t, i);
        if (HAS(s, INFO) && HAS(s, PARTS)) {
            *out = MAKI_IMPORT_OPENCODE;
            return *any = true;
        }
        bool cut = s.end == 0 && HAS(s, CONTENT); /* what tells comes after a long content */
        if (!HAS(s, ROLE) && !s.type[0] && !cut) return *any;
        *any = true;
        if (HAS(s, CONDENSE) || HAS(s, TRUNCATION) || HAS(s, SUMMARY) || HAS(s, MARKER) ||
            (HAS(s, TS) && HAS(s, ROLE))) {
            *out = MAKI_IMPORT_ROO;
            return true;
        }
        bool openai = HAS(s, TOOL_CALLS) || HAS(s, TOOL_CALL_ID) || (!HAS(s, ROLE) && !cut) ||
                      strcmp(s.role, "system") == 0 || strcmp(s.role, "developer") == 0 ||
                      strcmp(s.role, "tool") == 0;
        if (openai) {
            *out = MAKI_IMPORT_OPENAI;
            return true;
        }
        size_t end = s.end ? s.end : t.len;
        maki_str object = { t.ptr + i, end - i };
        blocks |= maki_str_has(object, MAKI_LIT("\"tool_use\"")) ||
                  maki_str_has(object, MAKI_LIT("\"tool_result\"")) ||
                  maki_str_has(object, MAKI_LIT("\"thinking\""));
        if (s.end == 0) break;
        i = s.end;
    }
    *out = blocks ? MAKI_IMPORT_ANTHROPIC : MAKI_IMPORT_OPENAI;
    return *any;
}

static bool array_format(maki_str t, size_t i, maki_import_format *out)
{
    bool any = false;
    size_t first = space(t, i + 1);
    if (first < t.len && t.ptr[first] == ']') {
        *out = MAKI_IMPORT_OPENAI; /* nothing in it: any will do */
        return true;
    }
    return whose(t, first, out, &any);
}

/* ---- objects --------------------------------------------------------------------------------------------- */

static bool one_of(const char *type, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(type, list[i]) == 0) return true;
    }
    return false;
}

static bool object_format(maki_str t, const sight *s, maki_import_format *out)
{
    static const char *const codex[] = { "session_meta", "response_item", "event_msg",
                                         "turn_context", "compacted" };
    static const char *const claude[] = { "user", "assistant", "system", "summary" };
    static const char *const items[] = { "message", "function_call", "function_call_output",
                                         "reasoning" };
    if (s->messages && (HAS(*s, MESSAGES) || HAS(*s, INPUT))) {
        maki_import_format shape = MAKI_IMPORT_OPENAI;
        if (!array_format(t, s->messages, &shape)) return false;
        bool anthropic = shape == MAKI_IMPORT_OPENAI && HAS(*s, SYSTEM);
        *out = anthropic ? MAKI_IMPORT_ANTHROPIC : shape;
        return true;
    }
    if (s->end == 0 && (HAS(*s, SYSTEM) || HAS(*s, MAX_TOKENS))) { /* a body that begins long */
        *out = MAKI_IMPORT_ANTHROPIC;
        return true;
    }
    if (strcmp(s->type, "header") == 0)
        *out = MAKI_IMPORT_SEED;
    else if (strcmp(s->type, "session") == 0)
        *out = MAKI_IMPORT_PI;
    else if (HAS(*s, PAYLOAD) && one_of(s->type, codex, 5))
        *out = MAKI_IMPORT_CODEX;
    else if (HAS(*s, INSTRUCTIONS) && HAS(*s, TIMESTAMP) && !s->type[0])
        *out = MAKI_IMPORT_CODEX;
    else if (one_of(s->type, items, 4) && !HAS(*s, PARENT))
        *out = MAKI_IMPORT_CODEX;
    else if (HAS(*s, LEAF) || ((HAS(*s, UUID) || HAS(*s, SESSION)) && one_of(s->type, claude, 4))) {
        *out = MAKI_IMPORT_CLAUDE;
    } else if ((HAS(*s, ROLE) || (s->end == 0 && HAS(*s, CONTENT))) && !HAS(*s, UUID))
        *out = MAKI_IMPORT_LINES;
    else
        return false;
    return true;
}

static maki_status unknown(const char *saw, const char *more, maki_err *err)
{
    return maki_fail(err, MAKI_UNSUPPORTED,
                     "%s%.70s; understood are roo, openai, anthropic, lines, seed, pi (Clawdbot), "
                     "claude, codex and opencode",
                     saw, more);
}

maki_status maki_import_detect(maki_str t, bool all, maki_import_format *out, maki_err *err)
{
    sight first = { 0 };
    size_t i = space(t, 0);
    if (i >= t.len) return unknown(all ? "the source is empty" : "white space only", "", err);
    if (t.ptr[i] == '[') {
        if (array_format(t, i, out)) return MAKI_OK;
        return unknown("an array whose elements are no messages", "", err);
    }
    for (int n = 0; n < 64; n++) { /* the first line that tells */
        i = space(t, i);
        if (i >= t.len) break;
        if (t.ptr[i] == '{') {
            sight s = see(t, i);
            if (!first.has && !first.names[0]) first = s;
            if (object_format(t, &s, out)) return MAKI_OK;
            if (s.end) {
                i = s.end;
                continue;
            }
        }
        const char *newline = memchr(t.ptr + i, '\n', t.len - i);
        if (!newline) break;
        i = (size_t)(newline - t.ptr) + 1;
    }
    if (first.names[0]) return unknown("objects with the fields ", first.names, err);
    return unknown("this is no JSON", "", err);
}
