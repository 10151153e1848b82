// tiktoken.cjs -- the peer of bench_tokens: npm tiktoken (WASM) on the same documents.
//
//   node bench/tiktoken.cjs ENCODING STEP FILE...
//
// For each file {"mbs", "tokens"}: megabytes a second over every STEP-th document of 16 KB, which are
// strings before the clock starts, and their tokens.  It is slow, and as fast on a part as on the whole.
'use strict';
const fs = require('fs');
const path = require('path');
const { get_encoding } = require(path.join(__dirname, '../build/npm/tiktoken'));
const DOCUMENT = 16384;

const [encoding, stepText, ...files] = process.argv.slice(2);
const step = Number(stepText) * DOCUMENT;
const tokenizer = get_encoding(encoding);
const told = files.map((file) => {
    const bytes = fs.readFileSync(file);
    const texts = [];
    for (let at = 0; at < bytes.length; at += step) texts.push(bytes.toString('utf8', at, at + DOCUMENT));
    tokenizer.encode_ordinary(texts[0]); // compiled by now
    let tokens = 0;
    const began = process.hrtime.bigint();
    for (const text of texts) tokens += tokenizer.encode_ordinary(text).length;
    const seconds = Number(process.hrtime.bigint() - began) / 1e9;
    return { mbs: texts.length * DOCUMENT / 1e6 / seconds, tokens };
});
console.log(JSON.stringify(told));
