/* samples.c -- the table of sample texts.  Their lengths were computed with Python, not with the code under test. */
#include "samples.h"

#define T(text)                   \
    {                             \
        "" text, sizeof(text) - 1 \
    }

/* clang-format off */
const sample samples[] = {
    /* name, text, UTF-16 units */
    { "empty", T(""), 0 },
    { "ASCII", T("The quick brown fox."), 20 },
    { "Latin with accents", T("Größe naïve façade Žluťoučký kůň"), 32 },
    { "combining marks", T("e\u0301 a\u0308\u0323 o\u0302\u0301"), 10 },
    { "Japanese", T("巻物は日本語で書かれている。"), 14 },
    { "Japanese, half width and marks", T("ｶﾞｷﾞｸﾞ・ハ\u309A"), 9 },
    { "Chinese", T("上下文引擎记住每一句话"), 11 },
    { "Chinese beyond U+FFFF", T("𠮷野家で𩸽を"), 8 },
    { "Korean", T("안녕하세요 세계"), 8 },
    { "Korean in jamo", T("\u1112\u1161\u11AB\u1100\u1173\u11AF"), 6 },
    { "Arabic with vowel signs", T("السَّلامُ عَلَيْكُمْ"), 20 },
    { "Hebrew", T("שָׁלוֹם"), 7 },
    { "Hindi", T("नमस्ते दुनिया"), 13 },
    { "Thai", T("สวัสดีชาวโลก"), 12 },
    { "emoji", T("😀🎉🍣"), 6 },
    { "emoji joined by ZWJ", T("👨\u200D👩\u200D👧\u200D👦 👩🏽\u200D🚀"), 19 },
    { "flags and keycaps", T("🇯🇵🇰🇷 1\uFE0F\u20E3"), 12 },
    { "the last code point", T("\U0010FFFF\uFFFF"), 3 },
    { "quotes and controls", T("say \"hi\\\"\n\tend\001\177"), 16 },
    { "a NUL inside", T("a\000b"), 3 },
};
/* clang-format on */
const size_t sample_count = sizeof samples / sizeof samples[0];
