// serve_huge.mjs -- replies and requests of a gigabyte: every byte arrives, and the daemon's memory stays small.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { metric, readConversations, startFake, startMaki } from '../e2e/lib.mjs';
import { inMB, manifestsOf, MB, memoryOf, verifyAll, watchMemory } from './serve_kit.mjs';

const GIGABYTE = 1e9;
const BOUND = 32 * MB; // above what it has at rest

/** POST, and the hash of the reply's bytes.  `body` yields buffers. */
function post(url, target, length, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request(url + target, { method: 'POST', agent: false,
      headers: { 'content-type': 'application/json', 'content-length': length, ...headers } }, (reply) => {
      const hash = crypto.createHash('sha1');
      let size = 0;
      reply.on('data', (bytes) => { size += bytes.length; hash.update(bytes); });
      reply.on('end', () => resolve({ status: reply.statusCode, size, whole: reply.complete, hash: hash.digest('hex') }));
      reply.on('error', reject);
    });
    request.on('error', reject);
    (async () => {
      for (const piece of body) {
        if (!request.write(piece)) await new Promise((drained) => request.once('drain', drained));
      }
      request.end();
    })();
  });
}

const small = (fields) => {
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'go on' }], ...fields }));
  return [body.length, [body]];
};

async function daemon(t, options) {
  const fake = await startFake(t, options);
  const maki = await startMaki(t, { upstream: fake.url });
  await post(maki.url, '/v1/messages', ...small({})); // so that it has what it needs for any request
  return { fake, maki, rest: memoryOf(maki.child.pid) };
}

function isFlat(t, what, most, rest) {
  t.diagnostic(`${what}: ${inMB(rest)} at rest, ${inMB(most)} at most`);
  assert.ok(most - rest < BOUND, `${what}: ${inMB(most - rest)} more than at rest`);
}

for (const [what, target, fields, size] of [
  ['a stream of a gigabyte', '/v1/messages', { stream: true }, GIGABYTE],
  ['a JSON body of a gigabyte', '/v1/chat/completions', {}, GIGABYTE],
  ['a stream of 200 MB, which is recorded', '/v1/chat/completions', { stream: true }, 2e8],
  ['a JSON body of 200 MB, which is recorded', '/v1/messages', {}, 2e8],
]) {
  test(what, async (t) => {
    const { fake, maki, rest } = await daemon(t);
    const headers = { 'x-fake': `huge:${size}` };
    const direct = await post(fake.url, target, ...small(fields), headers);
    const { value: passed, most } = await watchMemory(maki.child.pid, () => post(maki.url, target, ...small(fields), headers));
    assert.ok(direct.size >= size * 0.9, `${direct.size} bytes`);
    assert.deepEqual(passed, direct);
    isFlat(t, what, most, rest);
    const kept = size < 512 * MB; // a longer row is not taken, and that is said
    assert.equal(await metric(maki.url, 'record_failures_total'), kept ? 0 : 1);
    assert.equal(await maki.stop(), 0);
    await verifyAll(maki.home);
    const ends = readConversations(maki.home).flatMap(({ id }) => manifestsOf(maki.home, id)).map(({ end }) => end);
    assert.deepEqual(ends.sort(), ['complete', kept ? 'complete' : 'too long']);
    assert.equal(/ error record_failed status=TOOBIG /.test(maki.errors()), !kept);
    const held = readLengths(maki.home);
    assert.equal(held.some((length) => length > size / 2), kept, `the log has rows of ${held}`);
  });
}

/** The lengths of all rows of the log. */
function readLengths(home) {
  const sessions = path.join(home, 'agents', 'proxy', 'sessions');
  return fs.readdirSync(sessions).filter((name) => name.endsWith('.jsonl') && !name.endsWith('.events.jsonl')).flatMap((name) => {
    const bytes = fs.readFileSync(path.join(sessions, name)), lengths = [];
    for (let at = 0, end; (end = bytes.indexOf(10, at)) >= 0; at = end + 1) lengths.push(end - at);
    return lengths;
  });
}

/** A request of about a gigabyte, in messages of `each` bytes. */
function bigRequest(each) {
  const text = Buffer.alloc(1 << 20, 'The quick brown fox jumps over the lazy dog. '), parts = [];
  const add = (words) => parts.push(Buffer.from(words));
  add('{"model":"m","messages":[');
  for (let sent = 0, i = 0; sent < GIGABYTE; sent += each, i++) {
    add(`${i ? ',' : ''}{"role":"${i % 2 ? 'assistant' : 'user'}","content":"`);
    for (let left = each; left > 0; left -= text.length) parts.push(left < text.length ? text.subarray(0, left) : text);
    add('"}');
  }
  add(']}');
  return parts;
}

for (const [what, each, failures] of [
  ['a request of a gigabyte, one message', GIGABYTE, 1], // longer than a row may be: forwarded, not recorded
  ['a request of a gigabyte, 101 messages', GIGABYTE / 100 - 1, 0],
]) {
  test(what, async (t) => {
    const { fake, maki, rest } = await daemon(t, { record: true });
    const parts = bigRequest(each), sent = crypto.createHash('sha1');
    for (const part of parts) sent.update(part);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const { value: reply, most } = await watchMemory(maki.child.pid, () => post(maki.url, '/v1/chat/completions', length, parts));
    assert.equal(reply.status, 200);
    const body = fs.readdirSync(fake.recorded).filter((name) => name.endsWith('.body')).sort().at(-1);
    const came = crypto.createHash('sha1');
    for await (const piece of fs.createReadStream(path.join(fake.recorded, body), { highWaterMark: MB })) came.update(piece);
    assert.equal(came.digest('hex'), sent.digest('hex'));
    isFlat(t, what, most, rest);
    assert.equal(await metric(maki.url, 'record_failures_total'), failures);
    assert.equal(await maki.stop(), 0);
    await verifyAll(maki.home);
  });
}
