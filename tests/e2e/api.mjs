// api.mjs -- the daemon's own paths: sessions, operations, events, metrics, the page, and counting tokens for upstreams that cannot.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import zlib from 'node:zlib';
import { build, tempDirectory, PATIENCE_MS, quiet, readConversations, startFake, startMaki, until } from './lib.mjs';

async function say(maki, text, headers = {}) {
  const reply = await fetch(`${maki.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key', ...headers },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: text }] }),
  });
  assert.equal(reply.status, 200);
  return (await reply.json()).choices[0].message.content;
}

const get = (maki, path, init) => fetch(maki.url + path, init);

/** Without what fetch adds and decodes: {status, headers, body}. */
const raw = (maki, path, headers) => new Promise((resolve, reject) => {
  http.get(maki.url + path, { headers }, async (reply) => {
    const pieces = [];
    for await (const piece of reply) pieces.push(piece);
    resolve({ status: reply.statusCode, headers: reply.headers, body: Buffer.concat(pieces) });
  }).on('error', reject);
});

test('sessions, operations and the page', async (t) => {
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url, args: ['--upstream', `openai=${fake.url}`] });
  const answer = await say(maki, '巻き物を開いてください 📜');

  await t.test('the newest conversations, with what they are about', async () => {
    const { sessions, all } = await (await get(maki, '/maki/sessions?limit=5')).json();
    assert.equal(all, 1);
    assert.equal(sessions[0].title, '巻き物を開いてください 📜');
    assert.equal(sessions[0].messages, 2);
    assert.equal(sessions[0].model, 'gpt-4o');
  });

  await t.test('by client, as its User-Agent says', async () => {
    await say(maki, '<system-reminder>x</system-reminder>続けて', { 'user-agent': 'claude-cli/2.1.328 (external, cli)' });
    const list = await (await get(maki, '/maki/ops/session.list', { method: 'POST', body: '{"client":"Claude Code"}' })).json();
    assert.deepEqual(list.sessions.map((s) => [s.title, s.client, s.errors]), [['続けて', 'Claude Code', 0]]);
    assert.equal(list.all, 1);
    assert.deepEqual(list.clients, ['Claude Code', 'node']);
    assert.deepEqual(list.agents, ['proxy']);
    const { all, sessions } = await (await get(maki, '/maki/sessions?limit=1')).json();
    assert.deepEqual([all, sessions.length], [2, 1]);
  });

  await t.test('one conversation, and what was said in it', async () => {
    const { sessions } = await (await get(maki, '/maki/ops/session.list', { method: 'POST', body: '{"title":"巻き物"}' })).json();
    const talk = await (await get(maki, `/maki/sessions/${sessions[0].id}`)).json();
    assert.deepEqual(talk.view.map((m) => [m.role, m.blocks[0].text]),
      [['user', '巻き物を開いてください 📜'], ['assistant', answer]]);
    assert.ok(talk.tokens > 5);
  });

  await t.test('a session by name is found by its key', async () => {
    await say(maki, 'named', { 'x-maki-session': 'my-work' });
    const { sessions } = await (await get(maki, '/maki/sessions')).json();
    assert.ok(sessions.some((s) => s.sessionKey === 'agent:proxy:my-work'));
  });

  for (const [name, path, status] of [
    ['no such session', '/maki/sessions/00000000-0000-4000-8000-000000000000', 404],
    ['a path is no session', '/maki/sessions/..%2f..%2fetc%2fpasswd', 404],
    ['nor with dots', '/maki/sessions/..', 404],
    ['nothing there', '/maki/nothing', 404],
    ['an unknown bare path', '/favicon.png', 404],
  ]) {
    await t.test(name, async () => {
      const reply = await get(maki, path);
      assert.equal(reply.status, status);
      assert.ok((await reply.json()).error.message);
    });
  }

  await t.test('a path without /v1, or with two, says so', async () => {
    const why = async (path) => (await (await get(maki, path, { method: 'POST', body: '{}' })).json()).error.message;
    assert.match(await why('/chat/completions'), /lacks \/v1: the base URL/);
    assert.match(await why('/v1/v1/messages'), /\/v1 twice/);
  });

  await t.test('operations: the list, one that works, and what is refused', async () => {
    const post = async (name, body) => {
      const reply = await get(maki, `/maki/ops/${name}`, { method: 'POST', body });
      return [reply.status, await reply.json()];
    };
    const { ops } = await (await get(maki, '/maki/ops')).json();
    assert.ok(ops.length > 40);
    assert.deepEqual(await post('tokens.count', '{"text":"吾輩は猫である","encoding":"o200k_base"}').then(([s, a]) => [s, a.tokens > 0]), [200, true]);
    const { sessions } = await (await get(maki, '/maki/sessions')).json();
    const [status, told] = await post('history.status', JSON.stringify({ conversation: sessions[0].id }));
    assert.equal(status, 200);
    assert.equal(told.messages, 2);
    assert.equal((await post('tokens.cuont', '{}'))[0], 404);
    assert.match((await post('tokens.cuont', '{}'))[1].error.message, /tokens\.count/);
    assert.equal((await post('tokens.count', '{"text":'))[0], 400);
    for (const name of ['/etc/passwd', 'talk.jsonl', '../x', '.']) {
      assert.equal((await post('history.status', JSON.stringify({ conversation: name })))[0], 403, name);
    }
    assert.equal((await post('session.list', '{"home":"/"}'))[0], 403);
    assert.equal((await post('history.fork', JSON.stringify({ conversation: sessions[0].id, path: 'copy' })))[0], 403);
    const condense = ops.find((op) => op.name === 'history.condense');
    assert.deepEqual(condense.forms.map((form) => [form.chosenBy, form.effect]), [['messages', 'read'], ['conversation', 'append']]);
    assert.match((await post('history.status', JSON.stringify({ conversation: sessions[0].id, modle: 'x' })))[1].error.message, /did you mean `model`/);
    assert.equal((await get(maki, '/maki/sessions', { method: 'DELETE' })).status, 405);
  });

  await t.test('metrics and health', async () => {
    const text = await (await get(maki, '/maki/metrics')).text();
    assert.match(text, /^maki_exchanges_total 3$/m);
    assert.match(text, /^# TYPE maki_exchanges_total counter$/m);
    assert.equal((await (await get(maki, '/maki/health')).json()).ok, true);
  });

  await t.test('the page and its files, with a strict policy', async () => {
    for (const [path, type] of [
      ['/', 'text/html'], ['/maki/page/index.html', 'text/html'], ['/maki/page/lib/preact.js', 'text/javascript'], ['/maki/page/main.js', 'text/javascript'], ['/maki/page/style.css', 'text/css'],
    ]) {
      const reply = await get(maki, path);
      assert.equal(reply.status, 200);
      assert.ok(reply.headers.get('content-type').startsWith(type));
      assert.equal(reply.headers.get('content-security-policy'), "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        + "img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
      assert.ok((await reply.text()).length > 500);
    }
  });

  await t.test('what the page names is served', async () => {
    const names = [...(await (await get(maki, '/')).text()).matchAll(/(?:href|src)="(maki\/[^"]+)"/g)];
    assert.ok(names.length >= 2);
    for (const [, name] of names) assert.equal((await get(maki, `/${name}`)).status, 200, name);
    assert.equal((await get(maki, '/maki/page/nothing.js')).status, 404);
    assert.equal((await get(maki, '/maki/page/../../maki.yaml')).status, 404);
  });

  await t.test('compressed for those who accept it, and sent once', async () => {
    const plain = await raw(maki, '/', {}), compressed = await raw(maki, '/', { 'accept-encoding': 'br, gzip' });
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(compressed.headers['content-encoding'], 'gzip');
    assert.equal(compressed.headers.vary, 'Accept-Encoding');
    assert.deepEqual(zlib.gunzipSync(compressed.body), plain.body);
    assert.notEqual(compressed.headers.etag, plain.headers.etag);
    for (const { headers: { etag } } of [plain, compressed]) {
      const again = await raw(maki, '/', { 'if-none-match': `"other", W/${etag}` });
      assert.equal(again.status, 304);
      assert.equal(again.body.length, 0);
      assert.equal(again.headers['cache-control'], 'no-cache');
    }
    assert.equal((await raw(maki, '/', { 'if-none-match': '"other"' })).status, 200);
    assert.equal((await raw(maki, '/', { 'accept-encoding': 'gzip;q=0' })).headers['content-encoding'], undefined);
    const head = await get(maki, '/', { method: 'HEAD' });
    assert.equal(head.status, 200);
  });
});

test('the demo, played into a running daemon', async (t) => {
  const fake = await startFake(t);
  const token = 's3cret';
  const maki = await startMaki(t, { upstream: fake.url, args: ['--upstream', `demo=${fake.url}`, '--token', token] });
  const post = (path = '/maki/demo', headers = {}) => get(maki, path, { method: 'POST', headers });
  assert.equal((await post()).status, 401);
  assert.equal((await post(`/t/${token}/maki/demo`, { origin: 'https://evil.example' })).status, 403);
  const began = await post(`/t/${token}/maki/demo`);
  assert.equal(began.status, 200);
  assert.deepEqual(await began.json(), { playing: true });
  const sessions = async () => (await (await get(maki, `/t/${token}/maki/sessions`)).json()).sessions;
  await until('the conversations of the demo', async () => (await sessions()).filter((s) => s.client === 'maki demo').length >= 3);
  await until('its end', async () => (await post(`/t/${token}/maki/demo`)).status === 200);
});

test('one demo at a time, and none without the command', async (t) => {
  const fake = await startFake(t);
  const alone = path.join(tempDirectory(t), 'maki-serve');
  fs.copyFileSync(path.join(build, 'maki-serve'), alone);
  fs.chmodSync(alone, 0o700);
  const copied = await startMaki(t, { upstream: fake.url, file: alone });
  const none = await get(copied, '/maki/demo', { method: 'POST' });
  assert.equal(none.status, 404);
  assert.match((await none.json()).error.message, /the program maki is not in the directory/);
  // One that plays until a file exists: a script in place of the command.
  const stop = path.join(path.dirname(alone), 'stop');
  fs.writeFileSync(path.join(path.dirname(alone), 'maki'), `#!/bin/sh\nuntil [ -e ${stop} ]; do sleep 0.01; done\n`, { mode: 0o700 });
  assert.equal((await get(copied, '/maki/demo', { method: 'POST' })).status, 200);
  const second = await get(copied, '/maki/demo', { method: 'POST' });
  assert.equal(second.status, 409);
  assert.match((await second.json()).error.message, /playing already/);
  fs.writeFileSync(stop, '');
  await until('it has ended', async () => (await get(copied, '/maki/demo', { method: 'POST' })).status === 200);
  assert.equal((await get(copied, '/maki/demo', { method: 'GET' })).status, 404);
});

/** A conversation of two messages; operations on it, as [status, answer]; and how many of them wait for its lock. */
async function conversation(t) {
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url });
  await say(maki, 'はじめ');
  await quiet(maki);
  const { sessions: [{ id }] } = await (await get(maki, '/maki/sessions')).json();
  const file = path.join(maki.home, 'agents/proxy/sessions', `${id}.jsonl`);
  const inode = `:${fs.statSync(file).ino} `;
  const op = async (name, fields = {}) => {
    const reply = await get(maki, `/maki/ops/${name}`, { method: 'POST', body: JSON.stringify({ conversation: id, ...fields }) });
    return [reply.status, await reply.json()];
  };
  const waiting = () => fs.readFileSync('/proc/locks', 'utf8').split('\n')
    .filter((line) => line.includes('-> FLOCK') && line.includes(inode)).length;
  return { maki, file, op, waiting };
}

const message = (content) => ({ messages: [{ role: 'user', content }] });

test('long operations do not delay short ones', async (t) => {
  const { maki, file, op, waiting } = await conversation(t);
  const holder = spawn('flock', [file, 'sh', '-c', 'echo held; cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => holder.stdin.end());
  await new Promise((resolve) => holder.stdout.once('data', resolve));
  const long = ['a', 'b', 'c'].map((text) => op('history.append', message(text)));
  await until('all of them wait for the lock', () => waiting() === long.length);
  assert.equal((await (await get(maki, '/maki/health')).json()).ok, true);
  assert.equal((await op('history.status'))[1].messages, 2);
  assert.equal(waiting(), long.length);
  holder.stdin.end();
  for (const [status] of await Promise.all(long)) assert.equal(status, 200);
  assert.equal((await op('history.status'))[1].messages, 5);
});

test('concurrent operations on one conversation: each runs once, on the newest revision', async (t) => {
  const { op } = await conversation(t);
  const clients = 6, rounds = 8;
  await Promise.all(Array.from({ length: clients }, async (_, client) => {
    for (let round = 0; round < rounds; round++) {
      const [status, { seq }] = await op('history.append', message(`${client}.${round}`));
      assert.equal(status, 200);
      assert.deepEqual(await op('history.pin', { seq }).then(([s]) => s), 200);
    }
  }));
  const [, told] = await op('history.status');
  assert.equal(told.messages, 2 + clients * rounds);
  assert.equal((await op('history.verify'))[1].ok, true);
  const [, { head }] = await op('history.append', message('the last'));
  const expecting = await Promise.all([1, 2, 3].map((n) => op('history.append', { ...message(`${n}`), expect: head })));
  assert.deepEqual(expecting.map(([status]) => status).sort(), [200, 409, 409]);
});

test('events arrive during an exchange', async (t) => {
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url, args: ['--upstream', `openai=${fake.url}`] });
  let received = '';
  const request = http.get(`${maki.url}/maki/events`, (reply) => {
    assert.equal(reply.headers['content-type'], 'text/event-stream');
    reply.on('data', (bytes) => (received += bytes));
    reply.on('error', () => {});
  });
  request.on('error', () => {});
  t.after(() => request.destroy());
  await until('the listener', () => received.length > 0);
  await say(maki, '안녕하세요');
  const line = await until('an event', () => /data: (\{.*\})/.exec(received)?.[1]);
  const event = JSON.parse(line);
  assert.equal(event.type, 'exchange');
  assert.equal(event.end, 'complete');
  assert.equal(event.seq, 2);
});

test('a run that was started over the API is an event, and one that is not due is none', async (t) => {
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url, args: ['--upstream', `openai=${fake.url}`] });
  let events = '';
  const request = http.get(`${maki.url}/maki/events`, (reply) => {
    reply.on('data', (bytes) => (events += bytes));
    reply.on('error', () => {});
  });
  request.on('error', () => {});
  t.after(() => request.destroy());
  await until('the listener', () => events.length > 0);
  await say(maki, '要約する会話です '.repeat(300));
  const { sessions } = await (await get(maki, '/maki/sessions')).json();
  const run = (fields) => fetch(`${maki.url}/maki/ops/manage.run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ conversation: sessions[0].id, ...fields }),
  });
  assert.equal((await run({})).status, 200);
  assert.equal((await run({ force: true, preview: true })).status, 200);
  assert.equal((await run({ force: true })).status, 200);
  const line = await until('managing', () => /data: (\{"type":"managing".*\})/.exec(events)?.[1]);
  const event = JSON.parse(line);
  assert.equal(event.session, sessions[0].id);
  assert.equal(event.reason, 'forced');
  assert.ok(event.tokens > 100 && event.window > 1000 && event.usage > 0);
  assert.equal(events.match(/"managing"/g).length, 1);
});

test('tokens are counted here when upstream cannot', async (t) => {
  const deaf = http.createServer((request, reply) => reply.writeHead(404).end('{"error":"no such path"}'));
  await new Promise((resolve) => deaf.listen(0, '127.0.0.1', resolve));
  t.after(() => deaf.close());
  const upstream = `http://127.0.0.1:${deaf.address().port}`;
  const maki = await startMaki(t, { upstream, args: ['--upstream', `anthropic=${upstream}`, '--upstream', `gemini=${upstream}`] });
  const count = async (path, body) => {
    const reply = await get(maki, path, { method: 'POST', body: JSON.stringify(body) });
    return [reply.status, await reply.json()];
  };
  const [status, told] = await count('/v1/messages/count_tokens?beta=true',
    { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: '你好，世界' }] });
  assert.equal(status, 200);
  assert.ok(told.input_tokens > 3);
  const [, gemini] = await count('/v1beta/models/gemini-2.5-pro:countTokens',
    { contents: [{ role: 'user', parts: [{ text: '你好，世界' }] }] });
  assert.ok(gemini.totalTokens > 2);
  assert.equal((await count('/v1/messages/count_tokens', { nonsense: 1 }))[0], 400);
});

/** The length of a file; 0 when it is gone. */
const sizeOf = (file) => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Every file below a directory. */
function* filesIn(directory) {
  for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
    const at = path.join(directory, entry.name);
    if (entry.isDirectory()) yield* filesIn(at);
    else if (entry.isFile()) yield at;
  }
}

/** Files that a process has open or mapped, including unlinked ones. */
function* filesOf(pid) {
  for (const kind of ['fd', 'map_files']) {
    let names = [];
    try {
      names = fs.readdirSync(`/proc/${pid}/${kind}`);
    } catch {} // map_files is for root alone
    for (const name of names) {
      const at = `/proc/${pid}/${kind}/${name}`;
      try {
        const stat = fs.statSync(at);
        if (stat.isFile() && stat.size < 64 << 20) yield at;
      } catch {} // closed meanwhile
    }
  }
}

test('keys are in no file that is open, mapped or stored, during a request and after it', async (t) => {
  const canary = 'CANARY-7h3-k3y';
  let seen;
  const upstream = http.createServer((request, reply) => {
    request.resume();
    request.on('end', () => {
      seen = request.headers;
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.write('data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"待って"}}]}\n\n');
    });
  });
  await new Promise((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  t.after(() => (upstream.closeAllConnections(), upstream.close()));
  const url = `http://127.0.0.1:${upstream.address().port}`;
  const maki = await startMaki(t, { upstream: url, args: ['--upstream', `openai=${url}`] });
  const body = JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'あ'.repeat(1 << 20) }] });
  const request = http.request(`${maki.url}/v1/chat/completions?key=${canary}-3`, {
    method: 'POST', headers: { authorization: `Bearer ${canary}-1`, 'x-api-key': `${canary}-2`, 'content-type': 'application/json' },
  });
  let got = '';
  request.on('response', (reply) => {
    reply.on('data', (bytes) => (got += bytes));
    reply.on('error', () => {});
  });
  request.on('error', () => {});
  request.end(body);
  await until('the first words', () => got.includes('待って'));
  assert.equal(seen.authorization, `Bearer ${canary}-1`);
  await until('the request in the log', () => [...filesIn(maki.home)].some((file) => sizeOf(file) > body.length - 1000));
  let looked = 0;
  for (const file of [...filesIn(maki.home), ...filesOf(maki.child.pid)]) {
    let bytes;
    try {
      bytes = fs.readFileSync(file);
    } catch {
      continue; // closed meanwhile
    }
    looked++;
    assert.ok(!bytes.includes(canary), file);
  }
  assert.ok(looked > 5, `${looked} files`);
  request.destroy();
  await maki.stop();
  for (const file of filesIn(maki.home)) assert.ok(!fs.readFileSync(file).includes(canary), file);
  assert.ok(!maki.errors().includes(canary));
});

test('files in the directory that the daemon was started in are no conversations', async (t) => {
  const before = process.cwd();
  process.chdir(tempDirectory(t));
  t.after(() => process.chdir(before));
  const row = '{"role":"user","content":"秘密 🔑"}\n';
  fs.writeFileSync('notes', row);
  fs.mkdirSync('talk');
  fs.writeFileSync('talk/messages.jsonl', row);
  const maki = await startMaki(t, { upstream: 'http://127.0.0.1:9' });
  for (const name of ['notes', 'talk']) {
    const body = JSON.stringify({ conversation: name });
    const reply = await get(maki, '/maki/ops/history.log', { method: 'POST', body });
    assert.equal(reply.status, 403, name);
    assert.doesNotMatch(await reply.text(), /秘密/);
    const shown = await get(maki, `/maki/sessions/${name}`);
    assert.equal(shown.status, 404, name);
    assert.doesNotMatch(await shown.text(), /秘密/);
  }
  assert.deepEqual(fs.readdirSync('.').sort(), ['notes', 'talk']);
});

test('HEAD /maki/events ends', async (t) => {
  const maki = await startMaki(t, { upstream: 'http://127.0.0.1:9' });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const ask = (method, path) => new Promise((resolve, reject) => {
    const request = http.request(maki.url + path, { method, agent, timeout: PATIENCE_MS }, (reply) => {
      reply.resume().on('end', () => resolve(reply.statusCode));
    });
    request.on('timeout', () => request.destroy(new Error(`${method} ${path}: no answer`)));
    request.on('error', reject).end();
  });
  assert.equal(await ask('HEAD', '/maki/events'), 200);
  assert.equal(await ask('GET', '/maki/health'), 200);
});

test('a deleted session stays deleted when the daemon is killed before its journal is empty', async (t) => {
  const fake = await startFake(t);
  const home = tempDirectory(t, 'maki-deleted');
  const sessions = path.join(home, 'agents/proxy/sessions');
  const maki = await startMaki(t, { upstream: fake.url, home });
  await say(maki, 'ひみつ 🤫');
  await say(maki, 'this one stays');
  const [{ id }] = readConversations(home).filter(({ said }) => said[0].text === 'ひみつ 🤫');
  for (const name of fs.readdirSync(sessions)) if (name.startsWith(id)) fs.rmSync(path.join(sessions, name));
  await maki.stop('SIGKILL');
  await startMaki(t, { upstream: fake.url, home });
  assert.deepEqual(readConversations(home).map(({ said }) => said[0].text), ['this one stays']);
  assert.deepEqual(fs.readdirSync(sessions).filter((name) => name.startsWith(id)), []);
});
