// oracle.cjs -- texts, and the tokens that npm tiktoken makes of them, for exact.c.
//
//   node oracle.cjs ENCODING SET COUNT [SEED]
//
// ENCODING is o200k_base, cl100k_base or claude.  Sets:
//
//   corpus    documents of 16 KB of build/corpus/mixed.txt, COUNT of them at even distances
//   points    every Unicode code point: alone, doubled, between letters, and among what matters to
//             the patterns; or COUNT of them at even distances
//   random    COUNT strings of the generators in strings.cjs
//   mutated   COUNT parts of the corpus, damaged the way a fuzzer does and made valid again
//
// On standard output, for each text: its length, its bytes, the number of tokens, the tokens; numbers
// have 32 bits, little endian.  The same arguments give the same bytes.
'use strict';
const fs = require('fs');
const path = require('path');
const { Random, makeString, vocabularyWords } = require('./strings.cjs');

const [encoding, set, countText, seedText] = process.argv.slice(2);
const root = path.join(__dirname, '../..');
const count = Number(countText);
const seed = Number(seedText ?? 20261115);
const DOCUMENT = 16384;

function fail(words) {
    process.stderr.write(`oracle: ${words}\n`);
    process.exit(1);
}

function fetched(name) {
    const file = path.join(root, 'build/npm', name);
    if (!fs.existsSync(file)) fail(`${file} is not there; scripts/setup fetches it`);
    return file;
}

function open() {
    const { Tiktoken, get_encoding } = require(fetched('tiktoken'));
    if (encoding !== 'claude') return get_encoding(encoding);
    const claude = require(fetched('@anthropic-ai/tokenizer/claude.json'));
    return new Tiktoken(claude.bpe_ranks, claude.special_tokens, claude.pat_str);
}

function documents() {
    const file = path.join(root, 'build/corpus/mixed.txt');
    if (!fs.existsSync(file)) fail(`${file} is not there; scripts/corpus makes it`);
    const bytes = fs.readFileSync(file);
    return { length: bytes.length / DOCUMENT, at: (i) => bytes.subarray(i * DOCUMENT, (i + 1) * DOCUMENT) };
}

// ---- what goes out ------------------------------------------------------------------------------

const out = Buffer.alloc(4 << 20);
let used = 0;

function flush() {
    for (let at = 0; at < used;) at += fs.writeSync(1, out, at, used - at);
    used = 0;
}

function put(text, ids) {
    // No text here is longer than 64 KB, no character than 3 bytes a unit, and no byte needs two tokens.
    if (used + 8 + text.length * 3 * 5 > out.length) flush();
    const length = out.write(text, used + 4, 'utf8');
    out.writeUInt32LE(length, used);
    used += 4 + length;
    out.writeUInt32LE(ids.length, used);
    used += 4;
    out.set(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength), used);
    used += ids.byteLength;
}

// ---- the sets -----------------------------------------------------------------------------------

function* corpus() {
    const all = documents();
    const step = Math.max(1, all.length / count);
    for (let i = 0; i < all.length; i += step) yield all.at(Math.floor(i)).toString('utf8');
}

function* points() {
    const all = 0x110000 - 0x800;
    const step = Math.max(1, all / count);
    for (let i = 0; i < all; i += step) {
        const n = Math.floor(i);
        const c = String.fromCodePoint(n < 0xd800 ? n : n + 0x800);
        yield c;
        yield c + c;
        yield `a${c}b`;
        yield `A${c}B1${c}'s ${c}c\n${c}  !${c}/`;
    }
}

function* random(tokenizer) {
    const r = new Random(seed);
    const words = vocabularyWords(tokenizer, encoding);
    for (let i = 0; i < count; i++) yield makeString(r, words);
}

// Bytes flipped, set, removed, doubled, moved, and parts of another document put in.
function damage(r, bytes, other) {
    let b = Buffer.from(bytes);
    for (let n = 1 + r.below(12); n > 0; n--) {
        const at = r.below(b.length + 1);
        const end = Math.min(b.length, at + 1 + r.below(r.below(8) ? 6 : 80));
        const from = r.below(other.length);
        const part = other.subarray(from, from + r.below(40));
        switch (r.below(7)) {
        case 0: if (at < b.length) b[at] ^= 1 << r.below(8); break;
        case 1: if (at < b.length) b[at] = r.below(256); break;
        case 2: b = Buffer.concat([b.subarray(0, at), b.subarray(end)]); break;
        case 3: b = Buffer.concat([b.subarray(0, end), b.subarray(at)]); break;
        case 4: b = Buffer.concat([b.subarray(0, at), part, b.subarray(at)]); break;
        case 5: b = Buffer.concat([b.subarray(at), b.subarray(0, at)]); break;
        case 6: b = Buffer.concat([b.subarray(0, at), Buffer.alloc(r.below(20), b[at] ?? 32), b.subarray(end)]); break;
        }
    }
    return b;
}

function* mutated() {
    const all = documents();
    const r = new Random(seed);
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    for (let i = 0; i < count; i++) {
        const length = 1 + r.below(r.below(4) ? 300 : 4000);
        const from = r.below(DOCUMENT - length);
        const part = all.at(r.below(all.length)).subarray(from, from + length);
        yield decoder.decode(damage(r, part, all.at(r.below(all.length))));
    }
}

const sets = { corpus, points, random, mutated };
if (!sets[set] || !(count > 0)) fail('usage: node oracle.cjs ENCODING corpus|points|random|mutated COUNT [SEED]');
const tokenizer = open();
for (const text of sets[set](tokenizer)) put(text, tokenizer.encode_ordinary(text));
flush();
