// serve_faults.mjs -- an upstream that is slow, down, closes early or sends a wrong length, and clients that disconnect:
// what the client gets, and what is recorded.
import assert from 'node:assert/strict';
import test from 'node:test';
import { metric, quiet, readConversations, startFake, startMaki, until } from '../e2e/lib.mjs';
import { Client, Upstream, within } from '../e2e/transport_kit.mjs';
import { ask, descriptorsOf, errorLines, manifestsOf, protocols, Talk, verifyAll } from './serve_kit.mjs';

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
const delta = (text) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`;
const json = (text) => JSON.stringify({ id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }] });
const counted = (body, length = Buffer.byteLength(body)) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;
const question = (text, stream) => ({ model: 'm', stream, messages: [{ role: 'user', content: text }] });

async function pair(t, answer, args = []) {
  const up = await Upstream.start(t, answer);
  return { up, maki: await startMaki(t, { upstream: up.url, args }) };
}

/** The only exchange: how it ended, and the assistant's row if there is one. */
async function recorded(maki) {
  await quiet(maki);
  const [talk, ...others] = readConversations(maki.home);
  assert.equal(others.length, 0);
  const [manifest] = manifestsOf(maki.home, talk.id);
  return { end: manifest.end, status: manifest.status, row: talk.rows.find((row) => row.role === 'assistant'), talk };
}

async function finish(maki) {
  assert.equal(await maki.stop(), 0);
  assert.equal(errorLines(maki), '');
  await verifyAll(maki.home);
}

// ---- upstream ---------------------------------------------------------------------------------------

test('an upstream that sends byte by byte: every byte arrives and is recorded', async (t) => {
  const text = 'すし 🍣 "slowly"';
  const bytes = Buffer.from(HEAD + [...text].map((letter) => chunk(delta(letter))).join('') + chunk('data: [DONE]\n\n') + '0\r\n\r\n');
  const { maki } = await pair(t, (_, socket) => {
    socket.setNoDelay();
    let at = 0;
    const more = () => { // one byte a turn of the loop
      if (at === bytes.length || socket.destroyed) return;
      socket.write(bytes.subarray(at, ++at));
      setImmediate(more);
    };
    more();
  });
  const reply = await ask(maki.url, '/v1/chat/completions', question('ゆっくり', true));
  assert.ok(reply.whole);
  assert.equal(reply.text, [...text].map(delta).join('') + 'data: [DONE]\n\n');
  const { end, row } = await recorded(maki);
  assert.equal(end, 'complete');
  assert.equal(row.content, text);
  await finish(maki);
});

test('an upstream that refuses connections: 502, and the request is in the log', async (t) => {
  const maki = await startMaki(t, { upstream: 'http://127.0.0.1:1' }); // the kernel gives that port to nobody
  const reply = await ask(maki.url, '/v1/chat/completions', question('誰かいますか'));
  assert.equal(reply.status, 502);
  assert.match(JSON.parse(reply.text).error.message, /upstream openai: /);
  const { end, status, talk } = await recorded(maki);
  assert.equal(end, 'cut');
  assert.equal(status, 0);
  assert.equal(talk.said[0].text, '誰かいますか');
  await finish(maki);
});

test('an upstream that cannot be reached: an error within the connect timeout', async (t) => {
  // documentation's own network: no route, or no answer
  const maki = await startMaki(t, { upstream: 'http://192.0.2.1:9', args: ['--connect-timeout', '500ms'] });
  const reply = await ask(maki.url, '/v1/chat/completions', question('hello'));
  assert.ok([502, 504].includes(reply.status), reply.text);
  assert.equal((await recorded(maki)).end, 'cut');
  await finish(maki);
});

test('an upstream that never answers: 504', async (t) => {
  const { maki } = await pair(t, () => {}, ['--upstream-timeout', '1s']);
  const reply = await ask(maki.url, '/v1/chat/completions', question('hello'));
  assert.equal(reply.status, 504);
  assert.equal((await recorded(maki)).end, 'cut');
  await finish(maki);
});

for (const [what, stream, bytes, end, text] of [
  ['in the middle of the head', false, 'HTTP/1.1 200 OK\r\nContent-Ty', 'cut', undefined],
  ['right after the head', true, HEAD, 'cut', undefined],
  ['in the middle of a body', false, counted(json('half of this')).slice(0, -20), 'cut', undefined],
  ['in the middle of a stream', true, HEAD + chunk(delta('half ')) + chunk(delta('of it')) + 'ff\r\ndata: {"cho', 'cut', 'half of it'],
  ['in the middle of a chunk\'s size', true, HEAD + chunk(delta('most')) + '1', 'cut', 'most'],
  ['before the last chunk', true, HEAD + chunk(delta('all')) + chunk('data: [DONE]\n\n'), 'cut', 'all'],
]) {
  test(`cut ${what}`, async (t) => {
    const { maki } = await pair(t, (_, socket) => socket.end(bytes));
    const reply = await ask(maki.url, '/v1/chat/completions', question('切れる', stream));
    if (bytes.includes('\r\n\r\n')) assert.equal(reply.whole, false, 'the client must see that it was cut');
    else assert.equal(reply.status, 502);
    const log = await recorded(maki);
    assert.equal(log.end, end);
    assert.equal(log.row?.content, text);
    if (text) assert.equal(log.row.meta.end, 'cut');
    await finish(maki);
  });
}

test('a Content-Length that is too long: the client sees a truncated reply', async (t) => {
  const { maki } = await pair(t, (_, socket) => socket.end(counted(json('short'), 5000)));
  const reply = await ask(maki.url, '/v1/chat/completions', question('長さ'));
  assert.equal(reply.whole, false);
  assert.equal(reply.text, json('short'));
  assert.equal((await recorded(maki)).end, 'cut');
  await finish(maki);
});

test('a Content-Length that is too short: the reply is cut to it, and the rest is not a second reply', async (t) => {
  const { maki } = await pair(t, (_, socket) => socket.write(counted(json('right')) + 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'));
  for (let i = 0; i < 5; i++) {
    const reply = await ask(maki.url, '/v1/chat/completions', question(`長さ ${i}`));
    assert.equal(reply.text, json('right'));
  }
  await quiet(maki);
  for (const talk of readConversations(maki.home)) assert.equal(talk.rows[1].content, 'right');
  await finish(maki);
});

test('every protocol, cut by the provider after each hundred bytes: the log stays valid, and a retry continues', async (t) => {
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url });
  for (const name of Object.keys(protocols)) {
    const talk = new Talk(name, name);
    for (const stream of [true, false]) {
      for (let cut = 0; cut < 900; cut += 100) {
        const reply = await talk.ask(maki.url, `cut ${name} ${stream}`, { stream, fake: `cut:${cut}` });
        if (reply.whole) break; // it was shorter
      }
      await talk.ask(maki.url, `cut ${name} ${stream}`, { stream });
    }
  }
  await quiet(maki);
  assert.equal(readConversations(maki.home).length, Object.keys(protocols).length);
  await finish(maki);
});

// ---- clients ----------------------------------------------------------------------------------------

test('a client that disconnects in the middle of a stream: the upstream request ends, the partial reply is in the log', async (t) => {
  let left;
  const gone = new Promise((resolve) => { left = resolve; });
  const { maki } = await pair(t, (_, socket) => {
    socket.on('close', left);
    socket.write(HEAD + chunk(delta('これは')) + chunk(delta('途中')));
  });
  let request;
  await ask(maki.url, '/v1/chat/completions', question('さようなら', true), {
    onStart: (started) => { request = started; },
    onText: (bytes) => { if (String(bytes).includes('途中')) request.destroy(); },
  });
  await within(gone, 'upstream is left');
  const { end, row } = await recorded(maki);
  assert.equal(end, 'client gone');
  assert.equal(row.content, 'これは途中');
  assert.equal(row.meta.end, 'client gone');
  await finish(maki);
});

test('clients that disconnect while they send: nothing is recorded, no descriptor leaks', async (t) => {
  const { maki } = await pair(t, () => {});
  await ask(maki.url, '/nothing', '{}');
  const before = descriptorsOf(maki.child.pid);
  const { port } = new URL(maki.url);
  for (const [sent, promised] of [[10, 100], [70_000, 200_000], [3 << 20, 5 << 20]]) {
    const clients = Array.from({ length: 20 }, () => new Client(Number(port))
      .send(`POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${promised}\r\n\r\n${'x'.repeat(sent)}`));
    await until('they are there', async () => await metric(maki.url, 'open_exchanges') === clients.length);
    for (const client of clients) client.close();
    await quiet(maki);
  }
  await until('descriptors are closed', () => descriptorsOf(maki.child.pid) <= before + 2);
  assert.equal(readConversations(maki.home).length, 0);
  await finish(maki);
});

for (const [what, args, send, answer] of [
  ['half a head and then nothing: told so', ['--head-timeout', '300ms'], 'POST /v1/messages HTTP/1.1\r\nHost: loc', /^HTTP\/1.1 408 /],
  ['not even a byte: closed', ['--idle-timeout', '1s'], '', /^$/],
]) {
  test(`${what}, and its connection is freed`, async (t) => {
    const { maki } = await pair(t, () => {}, args);
    const { port } = new URL(maki.url);
    const clients = Array.from({ length: 200 }, () => new Client(Number(port)).send(send));
    for (const client of clients) assert.match(await client.closed(), answer);
    await until('they are gone', async () => await metric(maki.url, 'open_connections') <= 2);
    await finish(maki);
  });
}
