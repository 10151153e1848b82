// events.mjs -- /maki/events reports what other processes do to sessions: `changed` for each change of a session's files, `managing`
// when the command or the chat starts a run.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { build, metric, startFake, startMaki, tempDirectory, until } from './lib.mjs';

/** A listener: `events` has what arrived, in order. */
async function listen(t, maki) {
  const listener = { events: [], text: '' };
  const request = http.get(`${maki.url}/maki/events`, (reply) => {
    reply.setEncoding('utf8');
    reply.on('data', (piece) => {
      listener.text += piece;
      const lines = listener.text.split('\n');
      listener.text = lines.pop();
      for (const line of lines) {
        if (line.startsWith('data: ')) listener.events.push(JSON.parse(line.slice(6)));
      }
      listener.ready = true;
    });
    reply.on('error', () => {});
  });
  request.on('error', () => {});
  listener.close = () => request.destroy();
  t.after(listener.close);
  await until('the listener', () => listener.ready);
  return listener;
}

/** A daemon, and commands of the same home; `maki.yaml` names the fake provider. */
async function start(t, extra = '') {
  const fake = await startFake(t);
  const home = tempDirectory(t, 'maki-home');
  const config = path.join(home, 'maki.yaml');
  fs.writeFileSync(config, `llm:\n  provider: anthropic\n  anthropic: {model: claude-sonnet-4-5, base_url: "${fake.url}", api_key: none, context_length: 32000}\n${extra}`);
  const env = { ...process.env, MAKI_HOME: home, MAKI_CONFIG: config };
  const maki = await startMaki(t, { upstream: fake.url, home, env: { MAKI_CONFIG: config } });
  const run = (args, input = '') => {
    const done = spawnSync(path.join(build, 'maki'), args, { env, input, encoding: 'utf8' });
    assert.equal(done.status, 0, `maki ${args.join(' ')}: ${done.stderr}`);
    return done.stdout;
  };
  return { maki, home, run, env };
}

const changes = (listener, id) => listener.events.filter((e) => e.type === 'changed' && (!id || e.session === id));

/** The daemon's inotify descriptors: how many directories each watches. */
const watches = (maki) => fs.readdirSync(`/proc/${maki.child.pid}/fd`).flatMap((fd) => {
  try {
    if (!fs.readlinkSync(`/proc/${maki.child.pid}/fd/${fd}`).includes('inotify')) return [];
    return [fs.readFileSync(`/proc/${maki.child.pid}/fdinfo/${fd}`, 'utf8').match(/^inotify wd:/gm)?.length ?? 0];
  } catch {
    return []; // closed meanwhile
  }
});

/** A session of a few messages, made by the command. */
function session(run, name, words = 60) {
  const rows = Array.from({ length: 12 }, (_, i) => JSON.stringify({ role: i % 2 ? 'assistant' : 'user', content: `${i} 巻き ${'word '.repeat(words)}` }));
  const { id } = JSON.parse(run(['session', 'resolve', '--channel', 'cli', '--sender', name, '--json']));
  run(['history', 'append', id], rows.join('\n') + '\n');
  return id;
}

test('a step that a command makes is an event', async (t) => {
  const { maki, run } = await start(t);
  const id = session(run, 'steps');
  const listener = await listen(t, maki);
  for (const args of [['pin', id, '3'], ['truncate', id], ['undo', id]]) {
    const before = changes(listener, id).length;
    run(['history', ...args]);
    const event = await until(`changed after ${args[0]}`, () => changes(listener, id)[before]);
    assert.deepEqual(event, { type: 'changed', agent: 'default', session: id });
  }
  assert.equal(listener.events.filter((e) => e.type === 'managing').length, 0);
});

test('so are a step over the API, an exchange, and what no program of Maki writes', async (t) => {
  const { maki, run, home } = await start(t);
  const id = session(run, 'others');
  const listener = await listen(t, maki);
  await fetch(`${maki.url}/maki/ops/history.pin`, { method: 'POST', body: JSON.stringify({ conversation: id, seq: 2 }) });
  await until('changed over the API', () => changes(listener, id).length === 1);
  await fetch(`${maki.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'key', 'anthropic-version': '2023-06-01', 'x-maki-session': 'sushi-bar' },
    body: JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: 'もしもし' }] }),
  });
  const exchange = await until('changed by an exchange', () => changes(listener).find((e) => e.agent === 'proxy'));
  assert.equal(exchange.session, (await until('exchange', () => listener.events.find((e) => e.type === 'exchange'))).session);
  const other = 'copied-by-hand';
  const directory = path.join(home, 'agents/default/sessions');
  fs.copyFileSync(path.join(directory, `${id}.jsonl`), path.join(directory, `${other}.jsonl`));
  await until('changed by cp', () => changes(listener, other).length === 1);
  fs.rmSync(path.join(directory, `${other}.jsonl`));
  await until('changed by rm', () => changes(listener, other).length === 2);
});

test('a new agent, and its first session, are seen', async (t) => {
  const { maki, run } = await start(t);
  const listener = await listen(t, maki);
  run(['session', 'resolve', '--channel', 'cli', '--sender', 'first', '--agent', 'ramen']);
  const event = await until('changed', () => changes(listener).find((e) => e.agent === 'ramen'));
  assert.ok(event.session.length > 8);
});

test('a run of `maki session compact` is `managing` before it ends, then `changed`', async (t) => {
  const { maki, run } = await start(t);
  const id = session(run, 'compacted', 300);
  const listener = await listen(t, maki);
  const report = JSON.parse(run(['session', 'compact', id, '--json']));
  assert.equal(report.reason, 'forced');
  await until('both', () => listener.events.some((e) => e.type === 'managing') && changes(listener, id).length > 0);
  const types = listener.events.map((e) => e.type);
  assert.equal(types[0], 'managing');
  assert.equal(types.filter((type) => type === 'managing').length, 1);
  const { type, session: of, reason, tokens, window, usage } = listener.events[0];
  assert.deepEqual([type, of, reason, window], ['managing', id, 'forced', 32000]);
  assert.ok(tokens === report.tokensBefore && usage > 0 && usage < 1);
});

test('a run that a turn of `maki chat` begins is `managing`', async (t) => {
  const { maki, run } = await start(t);
  const id = session(run, 'chatting', 5000);
  const listener = await listen(t, maki);
  run(['chat', '-p', 'もう一言', '--session', id]);
  const event = await until('managing', () => listener.events.find((e) => e.type === 'managing'));
  assert.equal(event.session, id);
  assert.equal(event.window, 32000);
  assert.ok(event.tokens > 32000);
});

test('two listeners get each event once; the watch ends with the last of them and begins again', async (t) => {
  const { maki, run } = await start(t);
  const id = session(run, 'twice');
  const [a, b] = [await listen(t, maki), await listen(t, maki)];
  run(['session', 'pin', id, '2']);
  await until('both', () => changes(a, id).length === 1 && changes(b, id).length === 1);
  a.close();
  b.close();
  await until('nobody listens', async () => await metric(maki.url, 'event_listeners') === 0);
  assert.deepEqual(watches(maki), []);
  const c = await listen(t, maki);
  assert.equal(watches(maki).length, 1);
  run(['session', 'pin', id, '3']);
  await until('changed', () => changes(c, id).length === 1);
  assert.equal(changes(c).length, 1);
});

test('ten thousand sessions in a directory: one watch, and too many changes at once are one event', async (t) => {
  const { maki, run, home } = await start(t);
  const id = session(run, 'many');
  const directory = path.join(home, 'agents/default/sessions');
  const row = JSON.stringify({ role: 'user', content: '海老' }) + '\n';
  for (let i = 0; i < 10_000; i++) fs.writeFileSync(path.join(directory, `s${i}.jsonl`), row);
  const listener = await listen(t, maki);
  const [directories] = watches(maki);
  assert.ok(directories <= 1 + 2 * fs.readdirSync(path.join(home, 'agents')).length, `${directories}`);
  run(['history', 'pin', path.join(directory, `${id}.jsonl`), '2']);
  await until('one changed', () => changes(listener, id).length === 1);
  for (let i = 0; i < 10_000; i++) fs.appendFileSync(path.join(directory, `s${i}.jsonl`), row);
  await until('any session', () => changes(listener).some((e) => e.session === undefined));
  run(['history', 'pin', path.join(directory, `${id}.jsonl`), '3']);
  await until('a single one again', () => changes(listener, id).length >= 2 || changes(listener).at(-1).session === undefined);
});

test('without a daemon, and with a FIFO that a killed one left, a run ends as ever', async (t) => {
  const { maki, run, home } = await start(t);
  const fifo = path.join(home, 'serve.events');
  assert.ok(fs.statSync(fifo).isFIFO());
  assert.equal(fs.statSync(fifo).mode & 0o777, 0o600);
  await maki.stop('SIGKILL');
  assert.ok(fs.statSync(fifo).isFIFO());
  run(['session', 'compact', session(run, 'alone', 300)]);
  const again = await startMaki(t, { upstream: 'http://127.0.0.1:1', home });
  const listener = await listen(t, again);
  const id = session(run, 'again', 300);
  run(['session', 'compact', id]);
  await until('managing', () => listener.events.find((e) => e.type === 'managing' && e.session === id));
  assert.equal(await again.stop(), 0);
  assert.equal(fs.existsSync(fifo), false);
});

test('lines in the FIFO that are no events are dropped', async (t) => {
  const { maki, run, home } = await start(t);
  const id = session(run, 'fifo', 300);
  const listener = await listen(t, maki);
  const writer = spawn('sh', ['-c', 'cat > "$1"', 'sh', path.join(home, 'serve.events')], { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => writer.on('close', resolve));
  writer.stdin.end(`not JSON\n\n{"type":"recording","on":false}\n${'x'.repeat(70_000)}\n[1]\n{"type":"managing","session":"`);
  await ended;
  run(['session', 'compact', id]);
  run(['session', 'compact', id]);
  const event = await until('managing', () => listener.events.find((e) => e.type === 'managing'));
  assert.equal(event.session, id);
  assert.equal(listener.events.some((e) => e.type === 'recording'), false);
});
