/* mood.c -- words into a mood. */
#include "fake/mood.h"

#include "base/json.h"
#include "base/str.h"

/* A word without a value, and what it means. */
static const struct plain_word {
    const char *word;
    fake_deed deed;
} plain_words[] = {
    { "text", FAKE_SAY },         { "429", FAKE_LIMIT },
    { "500", FAKE_BROKEN },       { "overflow", FAKE_OVERFLOW },
    { "garbage", FAKE_GARBAGE },  { "long", FAKE_LONG },
    { "short", FAKE_SHORT },      { "silent", FAKE_SILENT },
    { "quick", FAKE_QUICK },      { "quickstream", FAKE_QUICK_STREAM },
    { "agent", FAKE_AGENT },      { "busy", FAKE_BUSY },
    { "key", FAKE_KEY },          { "forbidden", FAKE_FORBIDDEN },
    { "nomodel", FAKE_NO_MODEL }, { "quota", FAKE_QUOTA },
};

static bool ends_word(char c)
{
    return c == ',' || c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '"' || c == '<' ||
           c == '\\';
}

static maki_str take_word(maki_str *rest)
{
    size_t n = 0;
    while (n < rest->len && !ends_word(rest->ptr[n]))
        n++;
    maki_str word = maki_str_to(*rest, n);
    *rest = maki_str_from(*rest, n);
    return word;
}

static bool read_number(maki_str digits, uint64_t *out)
{
    uint64_t value = 0;
    if (digits.len == 0 || digits.len > 18) return false;
    for (size_t i = 0; i < digits.len; i++) {
        if (digits.ptr[i] < '0' || digits.ptr[i] > '9') return false;
        value = value * 10 + (uint64_t)(digits.ptr[i] - '0');
    }
    *out = value;
    return true;
}

/* A JSON object at the beginning of `text`: the braces are matched, then it is checked. */
static bool take_object(maki_str text, maki_str *object)
{
    unsigned deep = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (quoted && c == '\\') i++;
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '{') deep++;
        if (c == '}' && --deep == 0) {
            return maki_json_check(maki_str_to(text, i + 1), object, NULL) == MAKI_OK;
        }
        if (deep == 0) return false;
    }
    return false;
}

static maki_str skip_space(maki_str text)
{
    while (text.len && (text.ptr[0] == ' ' || text.ptr[0] == ','))
        text = maki_str_from(text, 1);
    return text;
}

static bool read_plain(maki_str word, fake_mood *mood)
{
    for (size_t i = 0; i < sizeof plain_words / sizeof plain_words[0]; i++) {
        if (!maki_str_is(word, maki_str_of(plain_words[i].word))) continue;
        mood->deed = plain_words[i].deed;
        return true;
    }
    mood->think = mood->think || maki_str_is(word, MAKI_LIT("think"));
    return maki_str_is(word, MAKI_LIT("think"));
}

/* NAME:TEXT */
static bool read_text(maki_str word, const char *name, maki_str *out)
{
    maki_str start = maki_str_of(name);
    if (!maki_str_starts(word, start) || word.len == start.len) return false;
    *out = maki_str_from(word, start.len);
    return true;
}

/* NAME:NUMBER */
static bool read_amount(maki_str word, const char *name, uint64_t *out)
{
    maki_str digits;
    return read_text(word, name, &digits) && read_number(digits, out);
}

/* NAME:VALUE */
static bool read_valued(maki_str word, fake_mood *mood)
{
    uint64_t n;
    if (maki_str_starts(word, MAKI_LIT("tool:"))) {
        mood->deed = FAKE_TOOL;
        mood->tool = maki_str_from(word, 5);
        mood->arguments = MAKI_LIT("{}");
        return mood->tool.len > 0;
    }
    if (read_text(word, "say:", &mood->say) || read_text(word, "after:", &mood->after) ||
        read_text(word, "afterms:", &mood->after_ms) || read_text(word, "words:", &mood->words) ||
        read_text(word, "reset:", &mood->reset) || read_text(word, "again:", &mood->again) ||
        read_text(word, "delay:", &mood->delay) || read_text(word, "stop:", &mood->stop) ||
        read_text(word, "id:", &mood->id)) {
        return true;
    }
    if (read_amount(word, "slow:", &n)) {
        mood->slow_ms = n < 3600000 ? (uint32_t)n : 3600000;
        return true;
    }
    if (read_amount(word, "cut:", &mood->cut)) return mood->cuts = true;
    if (read_amount(word, "fail:", &mood->fail)) return mood->fails = true;
    if (read_amount(word, "hold:", &mood->hold)) return mood->holds = true;
    return read_amount(word, "huge:", &mood->huge) || read_amount(word, "chunk:", &mood->chunk) ||
           read_amount(word, "first:", &mood->first) || read_amount(word, "window:", &mood->window);
}

bool fake_mood_read(maki_str words, fake_mood *out, maki_str *unknown)
{
    fake_mood mood = { 0 };
    do {
        maki_str word = take_word(&words);
        *unknown = word;
        if (!read_plain(word, &mood) && !read_valued(word, &mood)) return false;
        if (mood.deed == FAKE_AGENT && !mood.arguments.len) {
            words = skip_space(words);
            mood.arguments = take_word(&words);
        }
        if (mood.deed == FAKE_TOOL && skip_space(words).len && skip_space(words).ptr[0] == '{') {
            words = skip_space(words);
            if (!take_object(words, &mood.arguments)) return false;
            words = maki_str_from(words, mood.arguments.len);
        }
        if (!words.len || words.ptr[0] != ',') break;
        words = maki_str_from(words, 1);
    } while (words.len);
    *out = mood;
    return true;
}

maki_str fake_mood_in(maki_str said)
{
    size_t at = maki_str_find_nocase(said, MAKI_LIT("fake:"));
    return at < said.len ? maki_str_from(said, at + 5) : (maki_str){ 0 };
}
