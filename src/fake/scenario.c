/* scenario.c -- parse a scenario by tables of keywords: those without a value, and those with one. */
#include "fake/scenario.h"

#include <stddef.h>

#include "base/json_access.h"
#include "base/str_util.h"

enum { HOUR_MS = 3600000 };

/* Keywords without a value. */
static const struct keyword {
    const char *word;
    fake_action action;
} keywords[] = {
    { "text", FAKE_TEXT },        { "429", FAKE_RATE_LIMIT },
    { "500", FAKE_SERVER_ERROR }, { "overflow", FAKE_OVERFLOW },
    { "corrupt", FAKE_CORRUPT },  { "long", FAKE_LONG },
    { "short", FAKE_SHORT },      { "silent", FAKE_SILENT },
    { "quick", FAKE_QUICK },      { "quickstream", FAKE_QUICK_STREAM },
    { "agent", FAKE_AGENT },      { "busy", FAKE_BUSY },
    { "key", FAKE_KEY },          { "forbidden", FAKE_FORBIDDEN },
    { "nomodel", FAKE_NO_MODEL }, { "quota", FAKE_QUOTA },
};

static bool is_word_end(char c)
{
    return memchr(", \n\r\t\"<\\", c, 8) != NULL;
}

static maki_str next_word(maki_str *rest)
{
    size_t n = 0;
    while (n < rest->len && !is_word_end(rest->ptr[n]))
        n++;
    maki_str word = maki_str_prefix(*rest, n);
    *rest = maki_str_skip(*rest, n);
    return word;
}

/* Parse a JSON object at the start of `text`: match its braces, then validate it. */
static bool parse_object(maki_str text, maki_str *object)
{
    unsigned depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (quoted && c == '\\') i++;
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '{') depth++;
        if (c == '}' && --depth == 0)
            return maki_json_check(maki_str_prefix(text, i + 1), object, NULL) == MAKI_OK;
        if (depth == 0) return false;
    }
    return false;
}

static maki_str skip_space(maki_str text)
{
    while (text.len && (text.ptr[0] == ' ' || text.ptr[0] == ','))
        text = maki_str_skip(text, 1);
    return text;
}

static bool parse_keyword(maki_str word, fake_scenario *scenario)
{
    const struct keyword *row = MAKI_TABLE_FIND(keywords, word);
    bool think = maki_str_equal(word, MAKI_LIT("think"));
    if (row) scenario->action = row->action;
    scenario->think = scenario->think || think;
    return row || think;
}

/* NAME:TEXT and NAME:NUMBER, and where the value is stored. */
static const struct valued_keyword {
    const char *name;
    size_t text, number; /* offsets in a scenario; 0: the other type */
    size_t flag;         /* offset of a bool that is set; 0: none */
} valued_keywords[] = {
    { "say:", offsetof(fake_scenario, say), 0, 0 },
    { "words:", offsetof(fake_scenario, error_text), 0, 0 },
    { "after:", offsetof(fake_scenario, retry_after), 0, 0 },
    { "afterms:", offsetof(fake_scenario, retry_after_ms), 0, 0 },
    { "reset:", offsetof(fake_scenario, ratelimit_reset), 0, 0 },
    { "again:", offsetof(fake_scenario, should_retry), 0, 0 },
    { "delay:", offsetof(fake_scenario, retry_delay), 0, 0 },
    { "stop:", offsetof(fake_scenario, stop), 0, 0 },
    { "id:", offsetof(fake_scenario, request_id), 0, 0 },
    { "tool:", offsetof(fake_scenario, tool), 0, 0 },
    { "slow:", 0, offsetof(fake_scenario, slow_ms), 0 },
    { "cut:", 0, offsetof(fake_scenario, cut), offsetof(fake_scenario, has_cut) },
    { "fail:", 0, offsetof(fake_scenario, fail), offsetof(fake_scenario, has_fail) },
    { "hold:", 0, offsetof(fake_scenario, hold), offsetof(fake_scenario, has_hold) },
    { "huge:", 0, offsetof(fake_scenario, huge), 0 },
    { "chunk:", 0, offsetof(fake_scenario, chunk), 0 },
    { "first:", 0, offsetof(fake_scenario, first), 0 },
    { "window:", 0, offsetof(fake_scenario, window), 0 },
};

static bool parse_valued(maki_str word, fake_scenario *scenario)
{
    for (size_t i = 0; i < sizeof valued_keywords / sizeof valued_keywords[0]; i++) {
        const struct valued_keyword *row = &valued_keywords[i];
        maki_str name = maki_str_of(row->name), value;
        char *base = (char *)scenario;
        if (!maki_str_starts(word, name)) continue;
        value = maki_str_skip(word, name.len);
        if (row->flag) *(bool *)(void *)(base + row->flag) = true;
        if (row->number) return maki_str_number(value, (uint64_t *)(void *)(base + row->number));
        *(maki_str *)(void *)(base + row->text) = value;
        return value.len > 0;
    }
    return false;
}

bool fake_scenario_read(maki_str text, fake_scenario *out, maki_str *unknown)
{
    fake_scenario scenario = { 0 };
    do {
        maki_str word = next_word(&text);
        *unknown = word;
        if (!parse_keyword(word, &scenario) && !parse_valued(word, &scenario)) return false;
        if (scenario.slow_ms > HOUR_MS) scenario.slow_ms = HOUR_MS;
        if (maki_str_starts(word, MAKI_LIT("tool:"))) {
            scenario.action = FAKE_TOOL;
            scenario.arguments = MAKI_LIT("{}");
        }
        if (scenario.action == FAKE_AGENT && !scenario.arguments.len) {
            text = skip_space(text);
            scenario.arguments = next_word(&text);
        }
        if (scenario.action == FAKE_TOOL && skip_space(text).len &&
            skip_space(text).ptr[0] == '{') {
            text = skip_space(text);
            if (!parse_object(text, &scenario.arguments)) return false;
            text = maki_str_skip(text, scenario.arguments.len);
        }
        if (!text.len || text.ptr[0] != ',') break;
        text = maki_str_skip(text, 1);
    } while (text.len);
    *out = scenario;
    return true;
}

maki_str fake_scenario_find(maki_str user_text)
{
    size_t found = maki_str_find_nocase(user_text, MAKI_LIT("fake:"));
    return found < user_text.len ? maki_str_skip(user_text, found + 5) : (maki_str){ 0 };
}
