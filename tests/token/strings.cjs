// strings.cjs -- strings that look random and are the same in every run, from several generators.
//
// Each generator aims at a part of the patterns or of the merging: a string of random code points
// would almost never hold a contraction or two newlines after spaces.
'use strict';
const fs = require('fs');
const path = require('path');

// mulberry32
class Random {
    constructor(seed) { this.state = seed >>> 0; }
    next() {
        this.state = (this.state + 0x6d2b79f5) >>> 0;
        let t = this.state;
        t = Math.imul(t ^ (t >>> 15), t | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return (t ^ (t >>> 14)) >>> 0;
    }
    below(n) { return this.next() % n; }
    of(list) { return list[this.below(list.length)]; }
}

// ---- characters ---------------------------------------------------------------------------------

const classes = {};
{
    let name = '';
    const file = path.join(__dirname, '../../src/token/classes.txt');
    for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
        if (line.startsWith('#') || !line.trim()) continue;
        if (!line.startsWith(' ')) { classes[name = line.trim()] = []; continue; }
        for (const word of line.trim().split(/\s+/)) {
            const [a, b] = word.split('-').map((hex) => parseInt(hex, 16));
            for (let c = a; c <= (b ?? a); c++) classes[name].push(c);
        }
    }
}

const chars = (text) => Array.from(text);
const range = (a, b) => Array.from({ length: b - a + 1 }, (_, i) => String.fromCodePoint(a + i));
const fromClass = (r, name) => String.fromCodePoint(r.of(classes[name]));

const ASCII = range(32, 126);
const PUNCTUATION = chars('!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~、。「」・，！？：；…—’‘“”«»¿¡€£¥©™°±×÷');
const SPACES = chars('    \n\n\r\t\v\f\u00a0\u0085\u1680\u2003\u2028\u2029\u202f\u205f\u3000');
// Near misses: no White_Space, whatever other definitions say.
const NOT_SPACES = chars('\u200b\u180e\ufeff\u001c\u001f\u2060\u00ad\u200d\0');
const KANJI = [...range(0x4e00, 0x9fff), ...chars('日本語中国語人大一的是不了在有時間年月会社電話開発環境設定'.repeat(300))];
const KANA = [...range(0x3041, 0x3096), ...range(0x30a1, 0x30fc), ...chars('ーっゃゅょ゛゜ゝヽｱｶﾞｯｰ'.repeat(4))];
const HANGUL = [...range(0xac00, 0xd7a3), ...range(0x1100, 0x11ff), ...chars('이그는가을를에의하고입니다한국어안녕'.repeat(200))];
const EMOJI = ['😀', '👍', '👩', '👨', '🧑', '❤', '☺', '✈', '🏳', '🌈', '🇯', '🇵', '🇰', '🇷', '🎉', '1⃣', '#️⃣', '🫠', '🪿', '🧗'];
const JOINERS = ['\u200d', '\ufe0f', '\ufe0e', '🏻', '🏽', '🏿', '♂️', '♀️', '\u20e3', '💻', '🚀'];
const CONTRACTIONS = ['s', 't', 're', 've', 'm', 'll', 'd', 'S', 'T', 'RE', 'Re', 'rE', 'VE', 'M', 'LL', 'lL', 'D', 'ſ', 'K', 'e', 'r', 'l', 'v', ''];
const WORDS = chars('').concat('the of and to in is that it was for on are with as his they be at one have this from or had by hot but some what there we can out other were all your when up use word how said an each she which do their time if will way about many then them would write like so these her long make thing see him two has look more day could go come did my sound no most number who over know water than call first people may down side been now find any new work part take get place made live where after back little only round man year came show every good me give our under name very through just form much great think say help low line before turn cause same mean differ move right boy old too does tell sentence set three want air well also play small end put home read hand port large spell add even land here must big high such follow act why ask men change went light kind off need house picture try us again animal point mother world near build self earth father don can won isn they you it Über naïve façade Straße ΑΘΗΝΑ Москва привет مرحبا שלום नमस्ते ไทย Việt İstanbul ǅemal'.split(' '));
const CODE = ['int ', 'return', '{\n', '}\n', '    ', '\t', '\t\t', '\r\n', '\n\n', ' = ', '==', '!=', '=>', '->', '();', '[i]', '//', ' // ', '/*', '*/', '#include <', '.h>', '"%s\\n"', 'camelCase', 'PascalCase', 'snake_case', 'SCREAMING_CASE', 'x1', 'HTTPServer', 'iPhone', 'const ', 'function(', 'def __init__(self):', 'lambda', '<div class="', '</div>', '{"key": ', 'null', '0x1F', '1e-9', '3.14159', '...', '&&', '||', '<<=', '${', '}`', '://', 'www.', '.com/', '?q=', '%20', '\\u3042', '---', '===', '***', '日本', 'コメント'];
// What the patterns decide on, at close quarters.
const EDGE = chars("''''sStTrReEvVmMlLdDſK  \n\n\r\t\u3000\u00a0//!.^aAzZ09五あア한Ǆǅǆʰªº\u0300\u20dd\u200d😀²½٣Ⅳ\u{1d7d8}\u{10400}\u{10428}\u{e000}\u0378");

function repeat(r, n, make) {
    let text = '';
    for (let i = 0; i < n; i++) text += make();
    return text;
}

function length(r) {
    const kind = r.below(20000);
    if (kind === 0) return 1000 + r.below(4000); // few: the oracle is slow on these
    if (kind < 20) return 200 + r.below(600);
    if (kind < 2000) return r.below(200);
    return r.below(40);
}

function mixCase(r, word) {
    switch (r.below(4)) {
    case 0: return word.toUpperCase();
    case 1: return word.charAt(0).toUpperCase() + word.slice(1);
    case 2: return chars(word).map((c) => r.below(2) ? c.toUpperCase() : c.toLowerCase()).join('');
    default: return word;
    }
}

// ---- generators ---------------------------------------------------------------------------------

const anyPoint = (r) => {
    const c = r.below(0x110000 - 0x800);
    return String.fromCodePoint(c < 0xd800 ? c : c + 0x800);
};
const lowPoint = (r) => String.fromCodePoint(r.below(0x3000));
const digit = (r) => r.below(3) ? r.of(ASCII.slice(16, 26)) : fromClass(r, 'number');
const cased = (r) => fromClass(r, r.of(['upper', 'upper', 'lower', 'lower', 'other-letter', 'mark']));
const asciiLetter = (r) => String.fromCharCode((r.below(2) ? 65 : 97) + r.below(26));

const generators = {
    ascii: (r, n) => repeat(r, n, () => r.of(ASCII)),
    control: (r, n) => repeat(r, n, () => String.fromCharCode(r.below(128))),
    letters: (r, n) => repeat(r, n, () => asciiLetter(r)),
    words: (r, n) => repeat(r, Math.ceil(n / 5), () => (r.below(6) ? ' ' : r.of(PUNCTUATION)) +
        mixCase(r, r.of(WORDS)) + (r.below(4) ? '' : r.of(["'", "'", '’']) + r.of(CONTRACTIONS)) +
        (r.below(8) ? '' : r.of(PUNCTUATION))),
    spaces: (r, n) => repeat(r, Math.ceil(n / 3), () => repeat(r, r.below(5), () => r.of(SPACES)) +
        (r.below(3) ? '' : r.of([r.of(NOT_SPACES), r.of(WORDS), r.of(PUNCTUATION), digit(r), r.of(KANA)]))),
    digits: (r, n) => repeat(r, Math.ceil(n / 3), () => repeat(r, r.below(8), () => digit(r)) +
        r.of(['', '', ' ', ',', '.', 'a', '年', '\n', '\u0300', fromClass(r, 'mark')])),
    kanji: (r, n) => repeat(r, n, () => r.below(9) ? r.of(KANJI) : r.of(PUNCTUATION)),
    japanese: (r, n) => repeat(r, n, () => r.below(3) ? r.of(KANA) : r.below(4) ? r.of(KANJI) : r.of(PUNCTUATION)),
    hangul: (r, n) => repeat(r, n, () => r.below(5) ? r.of(HANGUL) : r.of([' ', ' ', '.', '\u1100', '漢'])),
    emoji: (r, n) => repeat(r, Math.ceil(n / 2), () => r.of(EMOJI) + (r.below(2) ? r.of(JOINERS) : '') +
        (r.below(5) ? '' : r.of(['a', ' ', '\n', '。', r.of(EMOJI)]))),
    marks: (r, n) => repeat(r, n, () => r.below(2) ? fromClass(r, 'mark') : r.of([r.of(ASCII), cased(r), r.of(SPACES), digit(r)])),
    cases: (r, n) => repeat(r, n, () => r.below(12) ? cased(r) : r.of(["'", ' ', "'s", "'LL", '\u0300'])),
    anything: (r, n) => repeat(r, n, () => r.below(2) ? anyPoint(r) : lowPoint(r)),
    code: (r, n) => repeat(r, Math.ceil(n / 5), () => r.of(CODE)),
    edge: (r, n) => repeat(r, n > 30 ? n : r.below(13), () => r.of(EDGE)),
    runs: (r, n) => repeat(r, 1 + r.below(4), () =>
        r.of([r.of(ASCII), r.of(SPACES), r.of(PUNCTUATION), r.of(KANA), r.of(KANJI), r.of(EMOJI), cased(r), digit(r)]).repeat(r.below(1 + n))),
    vocabulary: (r, n, words) => repeat(r, Math.ceil(n / 6), () => r.of(words)),
};
const names = [...Object.keys(generators), 'edge', 'edge', 'words', 'vocabulary', 'runs'];

function makeString(r, words) {
    const n = length(r);
    if (r.below(6)) return generators[r.of(names)](r, n, words);
    return repeat(r, 2 + r.below(5), () => generators[r.of(names)](r, Math.ceil(n / 4), words));
}

// The tokens that are text by themselves: put together they are merged in ways of their own.
function vocabularyWords(tokenizer, encoding) {
    const size = { o200k_base: 199998, cl100k_base: 100256, claude: 64739 }[encoding];
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const words = [];
    for (let id = encoding === 'claude' ? 5 : 0; id < size; id++) {
        try { words.push(decoder.decode(tokenizer.decode_single_token_bytes(id))); } catch { /* part of a character */ }
    }
    return words;
}

module.exports = { Random, makeString, vocabularyWords };
