// serve_full.mjs -- a full disk: requests are still forwarded, recording is off and reported; when there is space
// again, recording resumes by itself and the log is complete.
//
// Runs on a small disk of its own at $TINY_DISK (tiny_disk makes it).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { build, get, metric, plain, readConversations, startFake, startMaki, until } from '../e2e/lib.mjs';
import { ask, protocols, Talk, verifyAll, viewOf } from './serve_kit.mjs';

const disk = process.env.TINY_DISK;
const ballast = path.join(disk, 'ballast');
const home = path.join(disk, 'home');

/** Fill the disk except for `left` bytes (whole pages, as the disk counts). */
function fill(left = 0) {
  const fd = fs.openSync(ballast, 'a');
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    const piece = Buffer.alloc(size, 'x');
    try {
      while (fs.writeSync(fd, piece) === size);
    } catch (error) {
      assert.equal(error.code, 'ENOSPC');
    }
  }
  fs.closeSync(fd);
  free(left);
}

function free(bytes) {
  if (bytes) fs.truncateSync(ballast, Math.max(0, fs.statSync(ballast).size - bytes));
}

/** All events of /maki/events. */
function listen(t, url) {
  const told = [];
  const request = http.get(`${url}/maki/events`, (reply) => {
    let text = '';
    reply.on('data', (bytes) => {
      text += bytes;
      const lines = text.split('\n');
      text = lines.pop();
      for (const line of lines) if (line.startsWith('data: ')) told.push(JSON.parse(line.slice(6)));
    });
    reply.on('error', () => {});
  });
  request.on('error', () => {});
  t.after(() => request.destroy());
  return told;
}

async function start(t, env) {
  fs.rmSync(disk + '/home', { recursive: true, force: true });
  fs.rmSync(ballast, { force: true });
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url, home, env });
  const health = async () => JSON.parse((await get(maki.url, '/maki/health')).text);
  return { maki, health };
}

/** One more turn in every protocol, streaming and not; every reply is right. */
async function turnOfAll(talks, url, words, options) {
  for (const [i, talk] of talks.entries()) {
    const before = talk.turns.length;
    const reply = await talk.ask(url, `${words} ${talk.name} 次へ`, { stream: i % 2 === 0, ...options });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(talk.turns.length, before + 2, `${talk.name}: the reply was cut`);
    assert.ok(talk.turns.at(-1).text.includes(words.slice(0, 8)), talk.turns.at(-1).text);
  }
}

async function checkLog(talks) {
  const conversations = readConversations(home);
  for (const talk of talks) {
    const views = [];
    for (const { id } of conversations.filter(({ said }) => said[0]?.text === talk.turns[0].text)) {
      views.push((await viewOf(home, id)).trim().split('\n').map((line) => plain(JSON.parse(line))));
    }
    assert.ok(views.some((view) => JSON.stringify(view) === JSON.stringify(talk.turns)), `${talk.name} is not in the log`);
  }
  await verifyAll(home);
}

test('a full disk: replies continue, recording is off, and on again when there is space', async (t) => {
  const { maki, health } = await start(t);
  const talks = Object.keys(protocols).map((name) => new Talk(name, name));
  const told = listen(t, maki.url);
  await until('a listener', async () => await metric(maki.url, 'event_listeners') === 1);
  await turnOfAll(talks, maki.url, 'before');
  assert.equal((await health()).recording, true);
  assert.equal(await metric(maki.url, 'recording'), 1);

  fill();
  const late = Object.keys(protocols).map((name) => new Talk(name, `late ${name}`)); // conversations that begin now
  for (let i = 0; i < 20; i++) await turnOfAll([...talks, ...late], maki.url, `full ${i}`);
  const now = await health();
  assert.equal(now.ok, true);
  assert.equal(now.recording, false);
  assert.match(now.why, /No space left on device/);
  assert.ok(await metric(maki.url, 'record_failures_total') > 100);
  assert.equal(await metric(maki.url, 'recording'), 0);
  await until('its line', () => / error recording_off /.test(maki.errors()));
  const said = maki.errors().split('\n').filter((line) => / error recording_off /.test(line));
  assert.equal(said.length, 1, maki.errors());
  assert.match(said[0], /No space left on device/);
  await until('the event', () => told.some((event) => event.type === 'recording' && event.on === false && /No space/.test(event.why)));
  const files = fs.readdirSync(path.join(home, 'agents/proxy/sessions')).length;
  assert.ok(files < 4 * 5, `${files} files: something is left of conversations that could not be recorded`);

  fs.rmSync(ballast);
  await turnOfAll([...talks, ...late], maki.url, 'after');
  assert.deepEqual(Object.keys(await health()).includes('why'), false);
  assert.equal((await health()).recording, true);
  await until('its line', () => / info recording_on$/m.test(maki.errors()));
  await until('the event', () => told.some((event) => event.type === 'recording' && event.on === true));
  await turnOfAll([...talks, ...late], maki.url, 'at last');
  assert.equal(await maki.stop(), 0);
  await checkLog([...talks, ...late]);
});

test('space that is freed page by page: every recorded exchange is complete', async (t) => {
  const { maki } = await start(t);
  const talks = Object.keys(protocols).map((name) => new Talk(name, name));
  await turnOfAll(talks, maki.url, 'before');
  fill();
  for (let i = 0; i < 60; i++) {
    free(4096);
    await turnOfAll([talks[i % talks.length], new Talk('chat', `new ${i}`)], maki.url, `page ${i} ${'長い'.repeat(i * 5)}`);
  }
  assert.ok(await metric(maki.url, 'record_failures_total') > 0);
  fs.rmSync(ballast);
  await turnOfAll(talks, maki.url, 'after');
  assert.equal(await maki.stop(), 0);
  await checkLog(talks);
});

test('no space for temporary files: bodies of some megabytes are still forwarded', async (t) => {
  const { maki } = await start(t, { TMPDIR: disk });
  const words = 'x'.repeat(5 << 20);
  fill();
  const reply = await ask(maki.url, '/v1/messages', { model: 'm', messages: [{ role: 'user', content: words }] }, { headers: { 'x-fake': 'say:ok' } });
  assert.equal(reply.status, 200, reply.text);
  assert.match(reply.text, /"ok"/);
  free(2 << 20); // the disk fills up in the middle of the body
  const other = await ask(maki.url, '/v1/messages', { model: 'm', messages: [{ role: 'user', content: words }] }, { headers: { 'x-fake': 'say:ok' } });
  assert.equal(other.status, 200, other.text);
  fs.rmSync(ballast);
  assert.equal(await maki.stop(), 0);
  await verifyAll(home);
});

test('a start without space: replies are forwarded, recording is off and reported, and on when there is space', async (t) => {
  fs.rmSync(home, { recursive: true, force: true });
  fill();
  t.after(() => fs.rmSync(ballast, { force: true }));
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url, home });
  const health = async () => JSON.parse((await get(maki.url, '/maki/health')).text);
  const now = await health();
  assert.equal(now.ok, true);
  assert.equal(now.recording, false);
  assert.match(now.why, /^conversations cannot be stored in .*home: .*No space left on device$/);
  assert.equal(await metric(maki.url, 'recording'), 0);
  assert.equal(await metric(maki.url, 'record_failures_total'), 0);
  const talks = Object.keys(protocols).map((name) => new Talk(name, name));
  for (let i = 0; i < 3; i++) await turnOfAll(talks, maki.url, `no space ${i}`);
  assert.ok(await metric(maki.url, 'record_failures_total') >= 3 * talks.length);
  await until('its line', () => / error recording_off /.test(maki.errors()));
  assert.equal(maki.errors().split('\n').filter((line) => / error recording_off /.test(line)).length, 1, maki.errors());

  fs.rmSync(ballast);
  await until('recording', async () => (await health()).recording);
  await until('its line', () => / info recording_on$/m.test(maki.errors()));
  await turnOfAll(talks, maki.url, 'after');
  await turnOfAll(talks, maki.url, 'at last');
  assert.equal(await metric(maki.url, 'recording'), 1);
  assert.equal(await maki.stop(), 0);
  await checkLog(talks);
});

test('a start without space on a home that has conversations: they continue when there is space', async (t) => {
  const { maki } = await start(t);
  const talks = Object.keys(protocols).map((name) => new Talk(name, name));
  await turnOfAll(talks, maki.url, 'before');
  await maki.stop('SIGKILL');
  for (const name of ['journal.0', 'journal.1']) fs.truncateSync(path.join(home, 'agents/proxy', name), 1 << 14);
  fill();
  const fake = await startFake(t);
  const again = await startMaki(t, { upstream: fake.url, home });
  await turnOfAll(talks, again.url, 'no space');
  fs.rmSync(ballast);
  await until('a turn that is recorded', async () => {
    await turnOfAll(talks, again.url, 'there is space');
    return await metric(again.url, 'recording') === 1;
  });
  await turnOfAll(talks, again.url, 'at last');
  assert.equal(await again.stop(), 0);
  assert.equal(readConversations(home).length, talks.length);
  await checkLog(talks);
});

test('a home that is not writable stops the start with an error', (t) => {
  fs.rmSync(home, { recursive: true, force: true });
  fs.writeFileSync(home, 'no directory');
  t.after(() => fs.rmSync(home, { force: true }));
  const { status, stderr } = spawnSync(path.join(build, 'maki-serve'), ['--listen', '127.0.0.1:0', '--home', home], { encoding: 'utf8' });
  assert.match(stderr, /^maki serve: conversations cannot be stored in .*home: /m);
  assert.notEqual(status, 0);
});
