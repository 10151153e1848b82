// serve_many.mjs -- ten thousand connections at once, slow readers, and a stop under load.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import net from 'node:net';
import test from 'node:test';
import { metric, quiet, readConversations, startFake, startMaki, until } from '../e2e/lib.mjs';
import { ask, descriptorsOf, errorLines, inMB, manifestsOf, MB, memoryOf, sleep, verifyAll, watchMemory } from './serve_kit.mjs';

const MANY = 10_000;
const body = (text, stream) => JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: text }] });
const post = (text, fake, stream = false, session = '') => {
  const bytes = body(text, stream);
  return `POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nx-fake: ${fake}\r\n${session && `x-maki-session: ${session}\r\n`}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(bytes)}\r\n\r\n${bytes}`;
};

/** The hard limit of descriptors, which the daemon takes as its own. */
const limit = Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).replace('unlimited', '1048576'));

function connect(port) {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => resolve(socket));
    socket.on('error', reject);
  });
}

/** `most` at a time. */
async function eachOf(list, most, work) {
  let next = 0;
  await Promise.all(Array.from({ length: most }, async () => { while (next < list.length) await work(list[next++]); }));
}

/** Send, and wait for an answer that ends with `end`. */
function exchange(socket, request, end) {
  return new Promise((resolve, reject) => {
    let text = '';
    const take = (bytes) => {
      text += bytes;
      if (!text.endsWith(end)) return;
      socket.off('data', take);
      resolve(text);
    };
    socket.on('data', take);
    socket.on('close', () => reject(new Error(`closed after: ${text}`)));
    socket.write(request);
  });
}

/** MANY connections, a request on each at the same time, all answered; then all are closed.  Returns the memory that is kept. */
async function crowd(t, maki, rest, open) {
  const { pid } = maki.child, port = Number(new URL(maki.url).port), sockets = [];
  await eachOf(Array.from({ length: MANY }, (_, i) => i), 200, async (i) => { sockets[i] = await connect(port); });
  await until('all are taken', () => descriptorsOf(pid) >= open + MANY - 50); // some that were open are closed by now
  t.diagnostic(`idle: ${((memoryOf(pid) - rest) / MANY / 1024).toFixed(1)} KB a connection`);
  let right = 0; // by the provider, not by an error of ours
  const { most } = await watchMemory(pid, () => Promise.all(sockets.map(async (socket, i) => {
    const text = await exchange(socket, post(`number ${i}`, 'quick', false, `s${i % 50}`), '}\n');
    if (/^HTTP\/1.1 200 /.test(text)) right++;
  })));
  t.diagnostic(`a request each: ${((most - rest) / MANY / 1024).toFixed(1)} KB a connection`);
  assert.equal(right, MANY);
  assert.ok((most - rest) / MANY < 24 * 1024);
  // a newcomer is served while they all stay
  assert.equal((await ask(maki.url, '/v1/messages', body('one more'))).status, 200);
  for (const socket of sockets) socket.removeAllListeners('close').destroy();
  await until('descriptors are closed', () => descriptorsOf(pid) < open + 500); // of idle connections to upstream, and logs
  // conversations stay open for a minute
  await until('memory is given back', () => memoryOf(pid) - rest < 64 * MB)
    .catch(() => assert.fail(`${inMB(memoryOf(pid) - rest)} are kept`));
  t.diagnostic(`afterwards: ${inMB(memoryOf(pid) - rest)} more than at rest`);
  return memoryOf(pid);
}

const skip = limit < MANY + 2000 && `the hard limit is ${limit} descriptors, ${MANY + 2000} are needed`;
test(`${MANY} connections at once, twice`, { skip }, async (t) => {
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url });
  await ask(maki.url, '/v1/messages', body('first'));
  const rest = memoryOf(maki.child.pid), open = descriptorsOf(maki.child.pid);
  const first = await crowd(t, maki, rest, open);
  await crowd(t, maki, rest, open);
  const more = () => memoryOf(maki.child.pid) - first;
  await until('no more is kept', () => more() < 16 * MB).catch(() => assert.fail(`the second crowd left ${inMB(more())} more`));
  assert.equal(await maki.stop(), 0);
  assert.equal(errorLines(maki), '');
});

test('fewer descriptors than connections would need: requests wait, none fails, all are recorded', async (t) => {
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url, under: ['prlimit', '--nofile=1000'] });
  const { port } = new URL(maki.url), number = 450; // 900 descriptors, where 250 are kept for files
  const sockets = await Promise.all(Array.from({ length: number }, () => connect(Number(port))));
  const replies = await Promise.all(sockets.map((socket, i) => exchange(socket, post(`number ${i}`, 'slow:30', true), '0\r\n\r\n')));
  for (const text of replies) assert.match(text, /^HTTP\/1.1 200 [^]*message_stop/);
  for (const socket of sockets) socket.removeAllListeners('close').destroy();
  assert.equal(await maki.stop(), 0);
  assert.equal(errorLines(maki), '');
  assert.equal(readConversations(maki.home).filter(({ said }) => said.length === 2).length, number);
});

test('clients that read a kilobyte a second: memory stays flat, upstream waits', async (t) => {
  const CLIENTS = 50, SECONDS = 5;
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url });
  const { port } = new URL(maki.url);
  await ask(maki.url, '/v1/messages', body('first'));
  const rest = memoryOf(maki.child.pid), taken = await metric(maki.url, 'reply_bytes_total');
  const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => connect(Number(port))));
  for (const [i, socket] of sockets.entries()) {
    socket.pause();
    socket.write(post(`slow ${i}`, 'huge:100000000', true));
  }
  let flow = 0;
  for (let second = 0; second < SECONDS; second++) {
    await sleep(1000);
    for (const socket of sockets) socket.read(1024);
    const now = await metric(maki.url, 'reply_bytes_total');
    if (second > 1) flow = Math.max(flow, now - taken);
  }
  const held = memoryOf(maki.child.pid) - rest;
  t.diagnostic(`${inMB(flow)} of ${CLIENTS * 100} MB were taken from upstream, ${inMB(held)} of memory`);
  assert.ok(flow < CLIENTS * 12 * MB, 'upstream does not wait'); // what the kernel's buffers and ours hold
  assert.ok(held < CLIENTS * MB, `${inMB(held)} for ${CLIENTS} clients`);
  for (const socket of sockets) socket.destroy();
  await quiet(maki);
  await until('memory is given back', () => memoryOf(maki.child.pid) - rest < 24 * MB)
    .catch(() => assert.fail(`${inMB(memoryOf(maki.child.pid) - rest)} are kept`));
  for (const { id } of readConversations(maki.home).filter(({ said }) => /^slow/.test(said[0].text))) {
    assert.deepEqual(manifestsOf(maki.home, id).map(({ end }) => end), ['client gone']);
  }
  assert.equal(await maki.stop(), 0);
  assert.equal(errorLines(maki), '');
  await verifyAll(maki.home);
});

test('a stop during fifty streams: all finish and are recorded', async (t) => {
  const STREAMS = 50;
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url });
  let begun = 0;
  const streams = Array.from({ length: STREAMS }, (_, i) => {
    let first = true;
    return ask(maki.url, '/v1/messages', body(`stream ${i} 最後まで`, true), {
      headers: { 'x-fake': 'slow:100' },
      onText: () => { if (first) begun++; first = false; },
    });
  });
  await until('all have begun', () => begun === STREAMS);
  maki.child.kill('SIGTERM');
  for (const [i, reply] of (await Promise.all(streams)).entries()) {
    assert.ok(reply.whole, `stream ${i} was cut`);
    assert.match(reply.text, /message_stop/);
  }
  assert.equal(await maki.stop(), 0);
  assert.equal(errorLines(maki), '');
  const talks = readConversations(maki.home);
  assert.equal(talks.length, STREAMS);
  for (const { id, said } of talks) {
    assert.equal(said.length, 2);
    assert.match(said[1].text, /最後まで/);
    assert.deepEqual(manifestsOf(maki.home, id).map(({ end }) => end), ['complete']);
  }
  await verifyAll(maki.home);
});
