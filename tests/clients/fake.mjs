// fake.mjs -- the fake provider itself: each scenario does what its name says.
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { assert, test } from './common.mjs';
import { build, readRecorded, startFake } from '../e2e/lib.mjs';

const body = (content, more = {}) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content }], ...more });

/** The reply, and how its connection ended: {status, headers, bytes, whole}. */
function post(fake, where, text, headers = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request(fake.url + where, { method: 'POST', headers, agent: false }, (reply) => {
      const chunks = [];
      const end = (whole) => resolve({
        status: reply.statusCode, headers: reply.headers, text: Buffer.concat(chunks).toString('latin1'),
        length: chunks.reduce((sum, chunk) => sum + chunk.length, 0), whole,
      });
      reply.on('data', (bytes) => chunks.push(bytes));
      reply.on('end', () => end(true));
      reply.on('error', () => end(false));
    });
    request.on('error', reject);
    request.end(text);
  });
}

const paths = {
  '/v1/chat/completions': body('hi'),
  '/v1/responses': JSON.stringify({ model: 'm', input: 'hi' }),
  '/v1/messages': body('hi'),
  '/api/chat': body('hi', { stream: false }),
  '/api/generate': JSON.stringify({ model: 'm', prompt: 'hi', stream: false }),
  '/v1beta/models/m:generateContent': JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
};

test('the same request gives the same bytes', async (t) => {
  const fake = await startFake(t);
  for (const [where, text] of Object.entries(paths)) {
    const [one, two] = [await post(fake, where, text), await post(fake, where, text)];
    assert.equal(one.status, 200);
    assert.equal(one.text, two.text);
    assert.match(Buffer.from(one.text, 'latin1').toString(), /You said: hi/);
  }
});

test('errors, each in its provider\'s shape', async (t) => {
  const fake = await startFake(t);
  for (const [where, text] of Object.entries(paths)) {
    const limit = await post(fake, where, text, { 'x-fake': '429' });
    assert.equal(limit.status, 429);
    assert.equal(limit.headers['retry-after'], '1');
    assert.equal((await post(fake, where, text, { 'x-fake': '500' })).status, 500);
    const overflow = await post(fake, where, text, { 'x-fake': 'overflow' });
    assert.equal(overflow.status, 400);
    assert.ok(JSON.parse(overflow.text).error);
  }
  const wrong = await post(fake, '/v1/messages', '{');
  assert.equal(wrong.status, 400);
  assert.match(JSON.parse(wrong.text).error.message, /invalid JSON/);
  assert.equal((await post(fake, '/v1/nothing', '{}')).status, 404);
  assert.match((await post(fake, '/v1/messages', '{}', { 'x-fake': 'sulky' })).text, /unknown scenario 'sulky'/);
});

test('cut, long and short do not end as they promised', async (t) => {
  const fake = await startFake(t);
  for (const stream of [true, false]) {
    const text = body('hi', { stream });
    const cut = await post(fake, '/v1/chat/completions', text, { 'x-fake': 'cut:100' });
    assert.equal(cut.whole, false);
    assert.equal(cut.length, 100);
    const long = await post(fake, '/v1/chat/completions', text, { 'x-fake': 'long' });
    assert.equal(long.whole, false);
    assert.ok(Number(long.headers['content-length']) > long.length);
  }
  const raw = await new Promise((resolve) => { // more comes than was promised: no library would show that
    const { hostname, port } = new URL(fake.url);
    const socket = net.connect(Number(port), hostname);
    let got = '';
    socket.on('data', (bytes) => (got += bytes.toString('latin1')));
    socket.on('end', () => resolve(got));
    const text = body('hi');
    socket.write(`POST /v1/messages HTTP/1.1\r\nHost: x\r\nx-fake: short\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
  });
  const [head, rest] = raw.split('\r\n\r\n');
  assert.ok(rest.length > Number(/content-length: (\d+)/i.exec(head)[1]));
});

test('slow takes its time between events, hold stops in the middle, silent never answers', async (t) => {
  const fake = await startFake(t);
  const begun = performance.now();
  const slow = await post(fake, '/v1/messages', body('hi', { stream: true }), { 'x-fake': 'slow:20' });
  const took = performance.now() - begun, events = slow.text.split('\n\n').length - 1; // several may come at once
  assert.ok(events > 8);
  assert.ok(took >= events * 20 * 0.9, `${events} events in ${took} ms`);
  for (const content of ['hi', 'hi fake:hold:2']) { // that one alone
    let got = '';
    await new Promise((resolve, reject) => {
      const request = http.request(`${fake.url}/v1/messages`, { method: 'POST', agent: false }, (reply) => {
        reply.on('data', (bytes) => {
          got += bytes;
          if (content !== 'hi' && got.split('\n\n').length > 2) request.destroy();
        });
        reply.on('close', resolve);
      });
      request.on('error', reject);
      request.end(body(content, { stream: true }));
    });
    assert.equal(got.includes('message_stop'), content === 'hi');
    if (content !== 'hi') assert.equal(got.split('\n\n').length - 1, 2);
  }
  const silent = post(fake, '/v1/messages', body('hi'), { 'x-fake': 'silent' });
  const first = await Promise.race([silent, post(fake, '/v1/messages', body('hi')).then(() => 'the other')]);
  assert.equal(first, 'the other');
  silent.catch(() => {}); // it ends with the provider
});

test('a gigabyte passes through a few megabytes of memory', async (t) => {
  // The sanitizer keeps a quarter of a gigabyte of freed memory by default.
  const fake = await startFake(t, { env: { ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:quarantine_size_mb=1` } });
  const most = () => Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${fake.child.pid}/status`, 'utf8'))[1]);
  const before = most();
  const length = await new Promise((resolve, reject) => {
    const request = http.request(`${fake.url}/v1/messages`, { method: 'POST', headers: { 'x-fake': 'huge:1000000000' } }, (reply) => {
      let sum = 0;
      reply.on('data', (bytes) => (sum += bytes.length));
      reply.on('end', () => resolve(sum));
      reply.on('error', reject);
    });
    request.end(body('hi', { stream: true }));
  });
  assert.ok(length >= 1e9);
  assert.ok(most() - before < 16 << 10, `${most() - before} KB more`);
});

test('what is recorded is what was sent', async (t) => {
  const fake = await startFake(t, { record: true });
  const sent = Buffer.from(body('記録 🗒️ "x"\n'));
  await post(fake, '/v1/chat/completions?a=b', sent, { 'X-Odd-Case': 'v  a', 'x-fake': 'text' });
  const [kept] = readRecorded(fake.recorded);
  assert.equal(kept.line, 'POST /v1/chat/completions?a=b HTTP/1.1');
  assert.deepEqual(kept.fields[0], ['X-Odd-Case', 'v  a']);
  assert.deepEqual(kept.body, sent);
});

test('a mistake on the command line is reported', () => {
  const run = (...args) => spawnSync(path.join(build, 'maki-fake-provider'), args, { encoding: 'utf8' });
  assert.match(run('--scenario', 'sulky').stderr, /unknown scenario sulky/);
  assert.equal(run('--scenario').status, 2);
  assert.match(run('--what').stderr, /unknown option --what/);
  assert.match(run('--help').stdout, /--record DIRECTORY/);
});
