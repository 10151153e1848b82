// figures.mjs -- one number: after each step every command and every path of the API reports the same tokens, the same window
// and the same count of hidden messages.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { build, quiet, startFake, startMaki, tempDirectory } from './lib.mjs';

const WINDOW = 32000, MODEL = 'claude-sonnet-4-5', NEWEST = 64 << 10;
const SYSTEM = 'Be brief. 短く答える。 简短回答。 짧게 대답해. 🍣';
const TOOLS = [{ name: 'read_file', description: 'ファイルを読む', input_schema: { type: 'object', properties: { path: { type: 'string' } } } }];

/** A session of `turns` turns with a system prompt and a tool, through the daemon; and both ways to ask about it. */
async function session(t, turns = 8) {
  const fake = await startFake(t);
  const home = tempDirectory(t, 'maki-home');
  const config = path.join(home, 'maki.yaml');
  fs.writeFileSync(config, `llm:\n  provider: anthropic\n  anthropic: {model: ${MODEL}, base_url: "${fake.url}", api_key: none, context_length: ${WINDOW}}\n`);
  const env = { MAKI_CONFIG: config };
  const maki = await startMaki(t, { upstream: fake.url, home, env });
  const messages = [];
  const say = async (text) => {
    messages.push({ role: 'user', content: text });
    const reply = await fetch(`${maki.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'key', 'anthropic-version': '2023-06-01', 'x-maki-session': 'figures' },
      body: JSON.stringify({ model: MODEL, max_tokens: 1000, system: SYSTEM, tools: TOOLS, messages }),
    });
    assert.equal(reply.status, 200);
    messages.push({ role: 'assistant', content: (await reply.json()).content });
    await quiet(maki);
  };
  for (let i = 1; i <= turns; i++) await say(`${i}. src/a${i}.c を直す，修复 고침 🍥 ${`word ${i} `.repeat(60)}`);
  const get = async (target) => (await fetch(maki.url + target)).json();
  const [{ id }] = (await get('/maki/sessions')).sessions;
  const http = async (op, fields = {}) => {
    const reply = await fetch(`${maki.url}/maki/ops/${op}`, { method: 'POST', body: JSON.stringify({ conversation: id, ...fields }) });
    const answer = await reply.json();
    assert.equal(reply.status, 200, `${op}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const run = (args, input = '') => {
    const { status, stdout, stderr } = spawnSync(path.join(build, 'maki'), args,
      { env: { ...process.env, MAKI_HOME: home, ...env }, input, encoding: 'utf8', maxBuffer: 64 << 20 });
    assert.equal(status, 0, `maki ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  const op = (name, fields = {}) => JSON.parse(run(['op', name, JSON.stringify({ conversation: id, ...fields })]));
  return { id, home, say, get, http, run, op, file: path.join(home, 'agents/proxy/sessions', `${id}.jsonl`) };
}

/** Everything that has the tokens of what is sent now: [where, tokens]. */
async function tokensEverywhere({ id, get, http, run, op, file }) {
  const json = (...args) => JSON.parse(run([...args, '--json']));
  const number = (text, pattern) => Number((pattern.exec(text) ?? assert.fail(`${pattern}: ${text}`))[1]);
  const here = (list) => list.sessions.find((s) => s.id === id);
  const parts = (status) => status.parts.reduce((sum, part) => sum + part.tokens, 0);
  const shown = ({ view }, status) => view.reduce((sum, m) => sum + m.tokens, 0) + parts({ parts: status.parts.filter((p) => !p.messages) });
  const status = json('session', 'status', id), overHttp = await http('session.status');
  const list = here(json('session', 'list')), page = here(await get('/maki/sessions')), talk = await get(`/maki/sessions/${id}?limit=1000`);
  const rounding = status.messagesCount + status.parts.length; // each of them is rounded up
  const sum = shown(talk, status);
  assert.ok(Math.abs(sum - status.tokens) <= rounding, `the messages' tokens are ${sum} of ${status.tokens}`);
  const compact = json('session', 'compact', id, '--dry-run'), planned = await http('manage.run', { preview: true });
  for (const [where, { contextWindow }] of [['session compact', compact], ['manage.run', planned]])
    assert.equal(contextWindow, WINDOW, where);
  for (const [where, told] of [['session list', list], ['/maki/sessions', page], ['/maki/sessions/ID', talk]]) {
    assert.deepEqual([told.contextUsage, told.window], [status.contextUsage, WINDOW], where);
  }
  return Object.entries({
    'session status': status.tokens,
    'its parts': parts(status),
    'session status, printed': number(run(['session', 'status', id]), /(\d+) of 32000 tokens/),
    'session.status over HTTP': overHttp.tokens,
    'its parts over HTTP': parts(overHttp),
    'session list': list.tokens,
    'session list, printed': number(run(['session', 'list']), new RegExp(`${id.slice(0, 8)}.* +(\\d+) of +${WINDOW} `)),
    '/maki/sessions': page.tokens,
    '/maki/sessions/ID': talk.tokens,
    'session show, printed': number(run(['session', 'show', id]), /(\d+) of 32000 tokens/),
    'history status': json('history', 'status', id).tokens,
    'history.status over HTTP': (await http('history.status')).tokens,
    'history.effective over HTTP': (await http('history.effective')).tokens,
    'history.diff over HTTP': (await http('history.diff', { a: { seq: 1 } })).tokensB,
    'session compact': compact.tokensBefore,
    'manage.run over HTTP': planned.tokensBefore,
    'manage.prepare': Math.round((op('manage.prepare').contextPercent * WINDOW) / 100),
    'the chat': number(run(['chat', '--session', file], '/status\n'), /(\d+) of 32000 tokens/),
  });
}

async function compare(talk, what, want) {
  const all = await tokensEverywhere(talk);
  for (const [where, tokens] of all) assert.equal(tokens, want ?? all[0][1], `${where}, after ${what}`);
  return all[0][1];
}

const words = (n, what) => `${n} message${n === 1 ? '' : 's'} ${what}`;

test('after each step all report the same tokens, window and hidden messages', async (t) => {
  const talk = await session(t);
  const { id, run, op, http } = talk;
  let tokens = await compare(talk, 'nothing');
  const steps = [
    ['truncate', 'history.truncate', { fraction: 0.4 }], ['pin', 'history.pin', { seq: 12 }],
    ['trim', 'history.trim', { seq: 13, head: 30, tail: 30 }], ['truncate', 'history.truncate', { fraction: 0.4 }],
    ['undo', 'history.undo', {}], ['rewind', 'history.rewind', { seq: 14 }], ['undo', 'history.undo', {}],
    ['condense', 'history.condense', { keepCount: 4 }], ['undo', 'history.undo', {}], ['expand', 'history.expand', { seq: 13 }],
    ['unpin', 'history.unpin', { seq: 12 }], ['edit', 'history.edit', { seq: 15, text: '書き直した 修改 고침 🍡' }],
  ];
  for (const [n, [name, operation, fields]] of steps.entries()) {
    const before = op('history.log');
    const did = n % 2 ? await http(operation, fields) : op(operation, fields);
    const after = op('history.log'), overHttp = await http('history.log');
    const hidden = new Set(before.messages.filter((m) => m.hidden).map((m) => m.seq));
    const gone = after.messages.filter((m) => m.hidden && !hidden.has(m.seq) && m.seq <= before.messages.length).length;
    const back = after.messages.filter((m) => !m.hidden && hidden.has(m.seq)).length;
    assert.deepEqual([did.removed, did.restored ?? 0], [gone, back], name);
    assert.equal(did.effect?.includes(words(gone, 'out of view')) ?? false, gone > 0, `${name}: ${did.effect}`);
    assert.equal(did.effect?.includes(words(back, 'back in view')) ?? false, back > 0, `${name}: ${did.effect}`);
    const step = { event: did.event, removed: did.removed, tokensBefore: did.tokensBefore, tokensAfter: did.tokensAfter };
    for (const log of [after, overHttp]) {
      const { event, removed, tokensBefore, tokensAfter, effect } = log.steps.at(-1);
      assert.deepEqual({ event, removed, tokensBefore, tokensAfter }, step, name);
      assert.equal(effect, did.effect, name);
    }
    const line = run(['history', 'log', id]).trim().split('\n').at(-1);
    assert.ok(line.endsWith(`: ${did.effect ? `${did.effect}, ` : ''}${did.tokensBefore} -> ${did.tokensAfter} tokens`), `${name}: ${line}`);
    assert.equal(did.tokensBefore, tokens, name);
    tokens = await compare(talk, name, did.tokensAfter);
    if (name === 'trim') assert.equal(did.effect, 'message 13 shortened');
    if (name === 'expand') assert.equal(did.effect, 'message 13 expanded');
    if (name !== 'truncate') continue;
    const marker = op('history.effective').messages.map((m) => /^\[Truncation: (\d+) messages hidden\]$/.exec(m.content)?.[1]).find(Boolean);
    const behind = /(\d+) behind the marker/.exec(did.effect)?.[1] ?? String(gone);
    assert.equal(marker, behind, `the marker after ${did.effect}`);
    assert.equal(Number(marker), after.messages.filter((m) => m.hidden).length);
  }
  await talk.say('そして次は？ 接下来呢 그다음은 🍙');
  await compare(talk, 'a turn');
  const did = JSON.parse(run(['session', 'compact', id, '--json']));
  assert.ok(did.messagesRemoved > 0, JSON.stringify(did));
  const record = JSON.parse(fs.readFileSync(talk.file.replace('.jsonl', '.events.jsonl'), 'utf8').trim().split('\n').at(-1));
  assert.deepEqual([record.tokensBefore, record.tokensAfter, record.messagesRemoved], [did.tokensBefore, did.tokensAfter, did.messagesRemoved]);
  await compare(talk, 'a run', did.tokensAfter);
  const undone = await http('manage.undo');
  assert.deepEqual([undone.tokensBefore, undone.tokensAfter, undone.restored], [did.tokensAfter, did.tokensBefore, did.messagesRemoved]);
  await compare(talk, 'its undo', did.tokensBefore);
});

test('the chat and the command line say what a step did in the same words', async (t) => {
  const { id, run, file } = await session(t, 6);
  const chat = (line) => run(['chat', '--session', file], `${line}\n`);
  assert.match(chat('/rewind 11'), /Rewound, 1 message out of view: \d+ -> \d+ tokens/);
  assert.match(chat('/undo'), /Undone: the rewind of event \d+, 1 message back in view, \d+ -> \d+ tokens/);
  assert.match(run(['history', 'truncate', id]), /: [2-9] messages out of view, \d+ -> \d+ tokens/);
  assert.match(run(['history', 'trim', id, '10', '--head', '10', '--tail', '10']), /: message 10 shortened, \d+ -> \d+ tokens/);
  const column = (text) => Number(new RegExp(`^ +10 .*?(user|assistant) +(\\d+) `, 'm').exec(text)[2]);
  assert.ok(column(run(['history', 'effective', id])) < column(run(['history', 'log', id])), 'a trimmed message counts as it is shown');
});

test('the list is as right for a fork, a stale cache and a session that only steps changed', async (t) => {
  const talk = await session(t, 3);
  const { id, home, run, op, file } = talk;
  const listed = () => JSON.parse(run(['session', 'list', '--json'])).sessions;
  const fork = path.join(path.dirname(file), '7f3a0000-0000-4000-8000-000000000002.jsonl');
  run(['history', 'truncate', id]);
  run(['history', 'fork', id, fork]);
  const check = (what) => {
    for (const s of listed()) assert.equal(s.tokens, op('session.status', { conversation: s.id }).tokens, `${what}: ${s.id}`);
  };
  check('at first');
  check('from the cache');
  run(['history', 'rewind', '7f3a', '5']);
  check('after a step of the fork');
  fs.writeFileSync(path.join(home, 'rows'), `${JSON.stringify({ role: 'user', content: '分かれ道 岔路 갈림길 🍤' })}\n`);
  run(['history', 'append', '7f3a'], fs.readFileSync(path.join(home, 'rows')));
  check('after a message');
  const index = file.replace('.jsonl', '.idx');
  const bytes = fs.readFileSync(index);
  bytes[104] ^= 1; // of the cached tokens: its checksum is wrong now
  fs.writeFileSync(index, bytes);
  check('a changed byte in the cache');
  fs.rmSync(index);
  check('no index');
  run(['history', 'pin', id, '1']);
  const events = file.replace('.jsonl', '.events.jsonl'), began = fs.statSync(events).size;
  for (let size = 0; size < NEWEST; size = fs.statSync(events).size - began) {
    await talk.http('history.unpin', { seq: 1 });
    await talk.http('history.pin', { seq: 1 });
  }
  check('more events than are searched for a step');
});
