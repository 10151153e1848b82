// serve_load.mjs -- mixed load for a while: all protocols, streaming and not, tool calls, retries, branches, big bodies,
// listeners, clients that disconnect.  Memory and descriptors do not grow, and there are no errors.
//
// MAKI_LOAD_SECONDS: how long (300).  Under two minutes, memory is not checked: it has not settled yet.
import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { get, metric, quiet, startFake, startMaki } from '../e2e/lib.mjs';
import { ask, descriptorsOf, errorLines, inMB, MB, memoryOf, protocols, sleep, Talk, verifyAll } from './serve_kit.mjs';

const SECONDS = Number(process.env.MAKI_LOAD_SECONDS ?? 300);
const BOUND = 8 * MB; // between the first minute and the last
const CLIENTS = 12;
const names = Object.keys(protocols);

/** A small generator of numbers: the same run each time, as far as the machine allows. */
const numbers = (seed) => (below) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor(seed / 65536) % below; };

const tools = [{ type: 'function', function: { name: 'read_file', parameters: { type: 'object', properties: { path: { type: 'string' } } } } }];

/** One call of a tool and its result, in chat completions. */
async function useTool(url, n) {
  const messages = [{ role: 'user', content: `ファイル ${n} fake:tool:read_file {"path":"${n}.txt"}` }];
  const called = await ask(url, '/v1/chat/completions', { model: 'm', tools, messages });
  assert.equal(called.status, 200, called.text);
  const { message } = JSON.parse(called.text).choices[0];
  messages.push(message, { role: 'tool', tool_call_id: message.tool_calls[0].id, content: `中身 ${n}` });
  const said = await ask(url, '/v1/chat/completions', { model: 'm', tools, messages });
  assert.match(said.text, new RegExp(`中身 ${n}`));
}

/** Begin a stream and disconnect in the middle of it. */
async function vanish(url, n) {
  let request;
  await ask(url, '/v1/messages', { model: 'm', stream: true, messages: [{ role: 'user', content: `消える ${n}` }] },
    { headers: { 'x-fake': 'slow:5' }, onStart: (started) => { request = started; }, onText: () => request.destroy() });
}

const deeds = [
  [10, async (c) => { // a talk goes on
    const talk = c.talks[c.random(c.talks.length)];
    const reply = await talk.ask(c.url, `${c.name} ${c.n} 続き`, { stream: c.random(2) === 0, fake: c.random(4) === 0 ? 'slow:1' : undefined });
    assert.equal(reply.status, 200, reply.text);
    assert.ok(reply.whole);
    if (talk.turns.length > 40) c.talks[c.talks.indexOf(talk)] = new Talk(names[c.random(names.length)], c.name);
  }],
  [2, async (c) => { // the past is edited: a branch
    const talk = c.talks[c.random(c.talks.length)];
    if (talk.turns.length < 6) return;
    talk.turns = talk.turns.slice(0, 2 * (1 + c.random(talk.turns.length / 2 - 1)));
    assert.equal((await talk.ask(c.url, `${c.name} ${c.n} 別の道`)).status, 200);
  }],
  [2, async (c) => { // a limit is hit, and the same is asked again
    const talk = c.talks[c.random(c.talks.length)], text = `${c.name} ${c.n} もう一度`;
    assert.equal((await talk.ask(c.url, text, { fake: '429' })).status, 429);
    assert.equal((await talk.ask(c.url, text, { fake: '500' })).status, 500);
    assert.equal((await talk.ask(c.url, text)).status, 200);
  }],
  [1, async (c) => { await useTool(c.url, `${c.name}-${c.n}`); }],
  [2, async (c) => { await vanish(c.url, `${c.name}-${c.n}`); }],
  [1, async (c) => { // cut by upstream
    await ask(c.url, '/v1/chat/completions', { model: 'm', stream: true, messages: [{ role: 'user', content: `切 ${c.name} ${c.n}` }] }, { headers: { 'x-fake': 'cut:300' } });
  }],
  [1, async (c) => { // a large body, through a file
    const content = `${c.name} ${c.n} ${'big '.repeat(400_000)}`;
    assert.equal((await ask(c.url, '/v1/messages', { model: 'm', messages: [{ role: 'user', content }] }, { headers: { 'x-fake': 'say:ok' } })).status, 200);
  }],
  [1, async (c) => { // a large reply
    assert.ok((await ask(c.url, '/v1/chat/completions', { model: 'm', stream: true, messages: [{ role: 'user', content: `long ${c.name} ${c.n}` }] }, { headers: { 'x-fake': 'huge:2000000' } })).whole);
  }],
  [2, async (c) => { assert.equal((await get(c.url, '/maki/sessions?limit=20')).status, 200); }],
  [1, async (c) => { assert.equal((await get(c.url, '/maki/health')).status, 200); }],
  [1, async (c) => { assert.equal((await ask(c.url, '/v1/messages/count_tokens', { model: 'm', messages: [{ role: 'user', content: 'count' }] })).status, 200); }],
  [1, (c) => new Promise((done) => { // a listener of the events, for a short time
    const request = http.get(`${c.url}/maki/events`, (reply) => { reply.resume(); reply.on('error', () => {}); setTimeout(() => request.destroy(), 50); });
    request.on('error', () => {});
    request.on('close', done);
  })],
];
const lots = deeds.flatMap(([weight, deed]) => Array(weight).fill(deed));

async function client(number, url, state) {
  const c = { url, name: `client ${number}`, random: numbers(number + 1), n: 0, agent: new http.Agent({ keepAlive: true, maxSockets: 2 }) };
  c.talks = names.map((name) => new Talk(name, c.name, { agent: c.agent }));
  for (; !state.over; c.n++) {
    await lots[c.random(lots.length)](c);
    state.done++;
  }
  c.agent.destroy();
}

/** The minimum of several samples: memory that is kept, without transient peaks. */
async function levelOf(pid) {
  let memory = Infinity, descriptors = Infinity;
  for (let i = 0; i < 20; i++) {
    memory = Math.min(memory, memoryOf(pid));
    descriptors = Math.min(descriptors, descriptorsOf(pid));
    await sleep(100);
  }
  return { memory, descriptors };
}

test(`${SECONDS} seconds of mixed load`, async (t) => {
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url });
  const state = { over: false, done: 0 }, { pid } = maki.child;
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i, maki.url, state)));
  clients.catch(() => {}); // told below
  const settled = Math.min(60, SECONDS / 2) * 1000;
  await Promise.race([sleep(settled), clients]);
  const early = await levelOf(pid);
  await Promise.race([sleep(Math.max(0, SECONDS * 1000 - settled - 2000)), clients]);
  const late = await levelOf(pid);
  state.over = true;
  await clients;
  await quiet(maki);
  t.diagnostic(`${state.done} deeds; ${inMB(early.memory)} and ${early.descriptors} descriptors early, ${inMB(late.memory)} and ${late.descriptors} late`);
  assert.equal(await metric(maki.url, 'record_failures_total'), 0);
  assert.equal(errorLines(maki), '');
  if (SECONDS >= 120) {
    assert.ok(late.memory - early.memory < BOUND, `memory grew by ${inMB(late.memory - early.memory)}`);
    assert.ok(late.descriptors - early.descriptors < 50, `${late.descriptors - early.descriptors} descriptors more`);
  }
  assert.equal(await maki.stop(), 0);
  assert.ok(await verifyAll(maki.home) > CLIENTS); // gigabytes by now: more than can be read into this process
});
