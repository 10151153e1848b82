/* mask.c -- replace credentials in place: that of the request is found by its hash, other keys by their form.
 *
 * A false positive hides a word of an error message, a false negative stores a key.  A replacement is never longer than
 * the text it replaces. */
#include "base/mask.h"

#include <ctype.h>
#include <stdbool.h>

#include "base/str_util.h"

enum { CREDENTIAL_MIN = 3, RUN_MIN = 20 };

maki_credential maki_credential_of(maki_str value)
{
    maki_credential c = { 0 };
    const char *space = maki_str_last(value, ' ');
    if (space) value = maki_str_skip(value, (size_t)(space - value.ptr) + 1);
    if (value.len < CREDENTIAL_MIN) return c;
    c.len = value.len;
    maki_sha256_of(value, c.hash);
    return c;
}

static bool is_credential(maki_str text, const maki_credential *c)
{
    unsigned char hash[MAKI_SHA256_LEN];
    if (!c->len || text.len < c->len) return false;
    maki_sha256_of(maki_str_prefix(text, c->len), hash);
    return memcmp(hash, c->hash, sizeof hash) == 0;
}

static bool is_key_char(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("-_*", c));
}

/* A key has a known prefix or a long run of letters and digits; the runs in a model's name are shorter. */
static bool is_key(maki_str word)
{
    const char *prefixes =
        "sk-|sk_|pk_|rk_|ghp_|gho_|ghs_|github_pat_|glpat-|xox|AIza|AKIA|eyJ|hf_|gsk_|xai-";
    maki_str prefix;
    size_t run = 0, letters = 0;
    while (maki_words_next(&prefixes, &prefix)) {
        if (word.len >= prefix.len + 3 && maki_str_starts(word, prefix)) return true;
    }
    for (size_t i = 0; i < word.len; i++) {
        bool in_run = isalnum((unsigned char)word.ptr[i]) != 0;
        run = in_run ? run + 1 : 0;
        letters = in_run ? letters + (isalpha((unsigned char)word.ptr[i]) != 0) : 0;
        if (run >= RUN_MIN && letters > 0 && letters < run) return true;
    }
    return false;
}

size_t maki_mask(char *text, size_t len, const maki_credential *credential)
{
    size_t out = 0, at = 0;
    while (at < len) {
        maki_str rest = { text + at, len - at };
        size_t n = 0;
        if (is_credential(rest, credential)) {
            n = credential->len;
        } else if (at == 0 || !is_key_char(text[at - 1])) {
            while (n < rest.len && is_key_char(rest.ptr[n]))
                n++;
            if (!is_key(maki_str_prefix(rest, n))) n = 0;
        }
        if (n) {
            memcpy(text + out, "***", 3);
            out += 3;
            at += n;
        } else {
            text[out++] = text[at++];
        }
    }
    return out;
}
