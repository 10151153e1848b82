// texts.mjs -- every text of the page is in one table, in three languages, and each of them is used.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { root } from '../e2e/lib.mjs';

const web = path.join(root, 'web');
const source = fs.readFileSync(path.join(web, 'text.js'), 'utf8');
const table = /^const texts = (\{[\s\S]*?^\});$/m.exec(source)[1];
export const TEXTS = new Map(Object.entries(Function(`'use strict'; return (${table});`)()));
export const KEYS = new Set(TEXTS.keys());

const files = fs.readdirSync(web).filter((name) => name.endsWith('.js') && name !== 'text.js');
const code = files.map((name) => fs.readFileSync(path.join(web, name), 'utf8')).join('\n');

test('every text has three languages, with the same values in them', () => {
  for (const [key, row] of TEXTS) {
    assert.equal(row.length, 3, key);
    for (const text of row) assert.ok(typeof text === 'string' && text.trim(), key);
    const values = row.map((text) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]).filter((name) => name !== 's').sort().join()); // {s}: the plural's
    assert.equal(new Set(values).size, 1, `${key}: ${values}`);
  }
  const names = [...table.matchAll(/^ {2}(\w+):/gm)].map((m) => m[1]);
  assert.deepEqual(names.filter((name, i) => names.indexOf(name) !== i), [], 'twice in the table');
});

/** The keys that the code names, and the beginnings of those that it builds: t(`part_${name}`). */
function used() {
  const keys = new Set(), beginnings = new Set();
  for (const [, argument] of code.matchAll(/\bt\(((?:[^()`]|`[^`]*`|\([^()]*\))*)/g)) {
    const first = argument.split(/,\s*\{/)[0].replace(/[!=]== '\w+'/g, '');
    for (const [, key] of first.matchAll(/'(\w+)'/g)) keys.add(key);
    for (const [, beginning] of first.matchAll(/`(\w+)\$\{/g)) beginnings.add(beginning);
  }
  for (const [, list] of code.matchAll(/^const HELP = (.*);$/gm)) for (const [, key] of list.matchAll(/, '(\w+)'\]/g)) keys.add(key);
  return { keys, beginnings };
}

test('every text that the page names is in the table', () => {
  const { keys, beginnings } = used();
  assert.ok(keys.size > 150, `${keys.size} texts are named`);
  assert.deepEqual([...keys].filter((key) => !KEYS.has(key)), []);
  assert.deepEqual([...beginnings].filter((b) => ![...KEYS].some((key) => key.startsWith(b))), []);
});

test('every text in the table is used', () => {
  const { keys, beginnings } = used();
  assert.deepEqual([...KEYS].filter((key) => !keys.has(key) && ![...beginnings].some((b) => key.startsWith(b)) && !code.includes(`'${key}'`)), []);
});

test('the page has less than 200 kB before compression, and names no other place', () => {
  const size = fs.readdirSync(web).reduce((sum, name) => sum + fs.statSync(path.join(web, name)).size, 0);
  assert.ok(size < 200_000, `${size} bytes`);
  for (const name of fs.readdirSync(web).filter((file) => /\.(js|css|html)$/.test(file))) {
    const text = fs.readFileSync(path.join(web, name), 'utf8');
    assert.equal(/(?:src|href)=["']?(?:https?:)?\/\//.test(text) || /@import|url\(\s*["']?https?:/.test(text), false, name);
    assert.equal(/\beval\(|new Function|innerHTML|outerHTML|document\.write|dangerouslySetInnerHTML/.test(text), false, name);
  }
});
