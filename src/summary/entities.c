/* entities.c -- split a text into words, and report those that are paths, identifiers or numbers by their form.
 *
 * Words that only look like paths ("and/or", "2024/05/01", "github.com/x/y", "Node.js", "res.json()")
 * would crowd out real ones, so a slash alone does not make a path. */
#include "summary/entities.h"

#include <string.h>

#include "base/ascii.h"
#include "base/str_util.h"

static bool is_word_char(char c)
{
    return maki_is_word_char(c) || c == '.' || c == '/' || c == '-' || c == '~' || c == '@';
}

/* ---- paths ----------------------------------------------------------------------------------- */

static const char extensions[] =
    "c|h|cc|cpp|cxx|hpp|hh|rs|go|py|pyi|ipynb|js|ts|tsx|jsx|mjs|cjs|json|jsonl|json5|yaml|yml|"
    "toml|md|mdx|rst|txt|sh|bash|zsh|fish|ps1|bat|sql|html|htm|css|scss|sass|less|java|kt|kts|"
    "swift|rb|php|cs|fs|scala|clj|ex|exs|erl|hs|ml|lua|pl|r|jl|dart|vue|svelte|astro|xml|ini|cfg|"
    "conf|lock|log|csv|tsv|proto|graphql|gql|tf|hcl|nix|cmake|mk|gradle|properties|svg|png|jpg|"
    "jpeg|gif|webp|pdf|zip|gz|tar|wasm|so|a|patch|diff|db|sqlite|tex|tmpl|hbs|ejs|snap|service|"
    "env";
static const char directories[] =
    "src|lib|libs|test|tests|spec|docs|doc|bin|app|apps|pkg|cmd|internal|include|scripts|"
    "packages|web|build|config|public|server|client|api|tools|examples|assets|migrations|"
    "components";
static const char not_files[] =
    "Node.js|Next.js|Vue.js|Nuxt.js|Three.js|D3.js|Express.js|React.js|node.js|process.env|"
    "import.meta.env";

static maki_str extension_of(maki_str word)
{
    for (size_t i = word.len; i > 0 && word.ptr[i - 1] != '/'; i--) {
        if (word.ptr[i - 1] == '.' && i > 1) return maki_str_skip(word, i);
    }
    return (maki_str){ "", 0 };
}

static bool has_extension(maki_str word)
{
    maki_str ext = extension_of(word);
    if (ext.len == 0 || ext.len > 10 || !maki_str_in(ext, extensions)) return false;
    bool letter = false; /* "3.14.c" is no name */
    for (size_t i = 0; i < word.len - ext.len - 1; i++)
        letter |= !maki_is_digit(word.ptr[i]) && word.ptr[i] != '.';
    return letter || word.ptr[0] == '.';
}

static bool is_host(maki_str first)
{
    const char *ends = ".com|.org|.net|.io|.dev|.jp|.cn";
    maki_str end;
    while (maki_words_next(&ends, &end)) {
        if (first.len > end.len && maki_str_ends(first, end)) return true;
    }
    return false;
}

static bool is_slashed_path(maki_str word, size_t slashes)
{
    size_t first = (size_t)((const char *)memchr(word.ptr, '/', word.len) - word.ptr);
    bool has_letter = false;
    for (size_t i = 0; i < word.len; i++)
        has_letter |=
            maki_is_lower(word.ptr[i]) || maki_is_upper(word.ptr[i]) || (word.ptr[i] & 0x80);
    if (!has_letter || word.ptr[word.len - 1] == '/' || is_host(maki_str_prefix(word, first)))
        return false;
    if (has_extension(word)) return true;
    bool rooted = first == 0 || word.ptr[0] == '.' || word.ptr[0] == '~';
    return slashes >= 2 && (rooted || maki_str_in(maki_str_prefix(word, first), directories));
}

bool maki_is_path(maki_str word)
{
    size_t slashes = 0;
    if (word.len < 3 || word.len > MAKI_ENTITY_MAX || memchr(word.ptr, '\n', word.len))
        return false;
    for (size_t i = 0; i < word.len; i++)
        slashes += word.ptr[i] == '/';
    if (maki_str_contains(word, MAKI_LIT("//"))) return false;
    if (slashes) return is_slashed_path(word, slashes);
    if (maki_str_in(word, "Makefile|Dockerfile|Gemfile|Cargo.lock|.env|.gitignore")) return true;
    return has_extension(word) && !maki_str_in(word, not_files);
}

/* ---- names and numbers ----------------------------------------------------------------------- */

bool maki_is_name(maki_str word)
{
    bool inside = false, letter = false;
    if (word.len < 4 || word.len > 64 || maki_is_digit(word.ptr[0])) return false;
    for (size_t i = 0; i < word.len; i++) {
        char c = word.ptr[i];
        if (!maki_is_word_char(c)) return false;
        letter |= maki_is_lower(c) || maki_is_upper(c);
        if (i == 0 || i + 1 == word.len) continue;
        inside |= c == '_' && word.ptr[i - 1] != '_';
        inside |= maki_is_upper(c) && maki_is_lower(word.ptr[i - 1]);
    }
    return inside && letter;
}

static bool is_number(maki_str word)
{
    size_t digits = 0;
    for (size_t i = 0; i < word.len; i++) {
        if (!maki_is_digit(word.ptr[i]) && word.ptr[i] != '.') return false;
        digits += maki_is_digit(word.ptr[i]);
    }
    return digits >= 2;
}

/* ---- scanning --------------------------------------------------------------------------------- */

static maki_str strip(maki_str word)
{
    while (word.len && (word.ptr[word.len - 1] == '.' || word.ptr[word.len - 1] == '-'))
        word.len--;
    while (word.len && (word.ptr[0] == '-' || word.ptr[0] == '@'))
        word = maki_str_skip(word, 1);
    return word;
}

/* The names between the dots, slashes and dashes of a word. */
static void find_names(maki_str word, maki_entity_fn fn, void *ctx)
{
    size_t start = 0;
    for (size_t i = 0; i <= word.len; i++) {
        if (i < word.len && (maki_is_word_char(word.ptr[i]))) continue;
        maki_str part = { word.ptr + start, i - start };
        if (maki_is_name(part)) fn(ctx, MAKI_FACT_NAME, part);
        start = i + 1;
    }
}

static void classify_word(maki_str word, bool is_call, maki_entity_fn fn, void *ctx)
{
    bool slash = memchr(word.ptr, '/', word.len) != NULL;
    word = strip(word);
    if (word.len == 0 || word.len > MAKI_ENTITY_MAX) return;
    if ((slash || !is_call) && maki_is_path(word)) {
        fn(ctx, MAKI_FACT_PATH, word);
    } else if (is_number(word)) {
        fn(ctx, MAKI_FACT_NUMBER, word);
    } else {
        find_names(word, fn, ctx);
    }
}

/* Report a path in backticks, which may have any characters but spaces; returns its length with them, 0: none. */
static size_t find_quoted_path(maki_str text, size_t at, maki_entity_fn fn, void *ctx)
{
    maki_str rest = maki_str_skip(text, at + 1);
    size_t limit = rest.len < MAKI_ENTITY_MAX ? rest.len : MAKI_ENTITY_MAX;
    const char *end = memchr(rest.ptr, '`', limit);
    bool non_ascii = false;
    if (!end) return 0;
    maki_str inside = maki_str_prefix(rest, (size_t)(end - rest.ptr));
    for (size_t i = 0; i < inside.len; i++) {
        if (inside.ptr[i] == ' ') return 0;
        non_ascii |= (inside.ptr[i] & 0x80) != 0;
    }
    if (!non_ascii || !maki_is_path(inside)) return 0;
    fn(ctx, MAKI_FACT_PATH, inside);
    return inside.len + 2;
}

void maki_entities_in(maki_str text, maki_entity_fn fn, void *ctx)
{
    size_t at = 0;
    while (at < text.len) {
        size_t skip = text.ptr[at] == '`' ? find_quoted_path(text, at, fn, ctx) : 0;
        size_t end = at + skip;
        while (end < text.len && skip == 0 && is_word_char(text.ptr[end]))
            end++;
        if (skip == 0 && end > at) {
            bool is_call = end < text.len && text.ptr[end] == '(';
            bool url = end + 2 < text.len && memcmp(text.ptr + end, "://", 3) == 0;
            while (url && end < text.len && text.ptr[end] != ' ' && (text.ptr[end] & 0x80) == 0)
                end++;
            if (!url) classify_word((maki_str){ text.ptr + at, end - at }, is_call, fn, ctx);
        }
        at = end > at ? end : at + 1;
    }
}
