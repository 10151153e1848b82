// running_daemon.mjs -- the daemon is found: status, stop, connect and demo use the one that runs, or the address of maki.yaml; a
// second one on the same home is refused with the first one's address.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { build, quiet, readConversations, startFake, startMaki, tempDirectory, until } from './lib.mjs';

/** Run `maki ARGUMENTS` as a person with this home and no other settings would. */
function run(home, args, env = {}) {
  const { MAKI_URL, MAKI_CONFIG, ...rest } = process.env;
  const done = spawnSync(path.join(build, 'maki'), args, { env: { ...rest, MAKI_HOME: home, ...env }, encoding: 'utf8' });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

test('status, stop and connect find the daemon of the home directory', async (t) => {
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url });
  const { pid } = maki.child;

  const status = run(maki.home, ['status']);
  assert.equal(status.code, 0, status.err);
  assert.ok(status.out.includes(`${maki.url}/, process ${pid}`), status.out);
  assert.ok(status.out.includes(`records into ${maki.home}`));
  assert.match(status.out, /nothing failed/);
  const health = JSON.parse(run(maki.home, ['status', '--json']).out);
  assert.deepEqual([health.address, health.pid, health.home, health.recording], [maki.url, pid, maki.home, true]);

  const connect = run(maki.home, ['connect', 'claude', '--print']);
  assert.equal(connect.out, `ANTHROPIC_BASE_URL=${maki.url} claude\n`);

  const stop = run(maki.home, ['stop']);
  assert.equal(stop.code, 0, stop.err);
  assert.ok(stop.out.includes(`process ${pid}`));
  assert.equal(await maki.stop(), 0);
  const config = path.join(maki.home, 'maki.yaml'); // its address: the default one may be in use on this machine
  fs.writeFileSync(config, `serve: {listen: "${new URL(maki.url).host}"}\n`);
  assert.equal(run(maki.home, ['status'], { MAKI_CONFIG: config }).code, 11);
  assert.equal(fs.existsSync(path.join(maki.home, 'serve.pid')), false);
});

test('a second daemon on the same home says where the first one is', async (t) => {
  const maki = await startMaki(t, { upstream: 'http://127.0.0.1:1' });
  const second = run(maki.home, ['serve', '--port', '0']);
  assert.equal(second.code, 6);
  assert.ok(second.err.includes(`${maki.url}, process ${maki.child.pid}`), second.err);
});

test('the pid file of a daemon that was killed is not believed', async (t) => {
  const maki = await startMaki(t, { upstream: 'http://127.0.0.1:1' });
  await maki.stop('SIGKILL');
  assert.equal(fs.existsSync(path.join(maki.home, 'serve.pid')), true);
  assert.equal(run(maki.home, ['connect', 'claude', '--print']).out, 'ANTHROPIC_BASE_URL=http://127.0.0.1:4747 claude\n');
  const again = await startMaki(t, { upstream: 'http://127.0.0.1:1', home: maki.home });
  assert.equal(JSON.parse(run(maki.home, ['status', '--json']).out).pid, again.child.pid);
});

test('without a daemon the address is that of maki.yaml', (t) => {
  const home = tempDirectory(t);
  const config = path.join(home, '設定.yaml');
  for (const [listen, url] of [
    ['"127.0.0.1:5302"', 'http://127.0.0.1:5302'],
    ['["0.0.0.0:5303", "127.0.0.1:5304"]', 'http://127.0.0.1:5303'],
    ['"[::1]:5305"', 'http://[::1]:5305'],
  ]) {
    fs.writeFileSync(config, `serve: {listen: ${listen}}\n`);
    const connect = run(home, ['connect', 'claude', '--print'], { MAKI_CONFIG: config });
    assert.ok(connect.out.includes(`ANTHROPIC_BASE_URL=`) && connect.out.includes(url), connect.out + connect.err);
    assert.ok(run(home, ['status'], { MAKI_CONFIG: config }).err.includes(url));
  }
});

test('stop leaves the daemon of another home alone, unless it is named', async (t) => {
  const maki = await startMaki(t, { upstream: 'http://127.0.0.1:1' });
  const home = tempDirectory(t);
  const config = path.join(home, 'maki.yaml');
  fs.writeFileSync(config, `serve: {listen: "${new URL(maki.url).host}"}\n`);
  const stop = run(home, ['stop'], { MAKI_CONFIG: config });
  assert.equal(stop.code, 3, stop.out);
  assert.ok(stop.err.includes(`the daemon at ${maki.url} records into ${maki.home}`), stop.err);
  assert.ok(stop.err.includes(`maki stop --url ${maki.url}`), stop.err);
  assert.ok(run(home, ['status'], { MAKI_CONFIG: config }).out.includes(`records into ${maki.home}`));
  assert.equal(run(home, ['stop', '--url', maki.url]).code, 0);
  assert.equal(await maki.stop(), 0);
});

test('signals that come while it closes do not kill it', async (t) => {
  const maki = await startMaki(t, { upstream: 'http://127.0.0.1:1' });
  const ended = new Promise((resolve) => maki.child.once('exit', (code, signal) => resolve(signal ?? code)));
  const send = () => maki.child.exitCode === null && maki.child.signalCode === null && maki.child.kill('SIGTERM') && setImmediate(send);
  send();
  assert.equal(await ended, 0);
});

test('a daemon that was named and does not answer is not replaced by another', (t) => {
  const demo = run(tempDirectory(t), ['demo', '--once', '--url', 'http://127.0.0.1:1']);
  assert.equal(demo.code, 11);
  assert.match(demo.err, /no daemon answers at http:\/\/127\.0\.0\.1:1/);
});

test('what failed last is reported', async (t) => {
  const maki = await startMaki(t, { upstream: 'http://127.0.0.1:1' });
  const reply = await fetch(`${maki.url}/v1/messages`, { method: 'POST', body: '{"model":"claude","messages":[]}' });
  assert.equal(reply.status, 502);
  const text = await until('the failure', () => /last failure (.*)/.exec(run(maki.home, ['status']).out)?.[1]);
  assert.match(text, /upstream anthropic: /);
});

/** The status of a request, and its fields. */
const ask = (url, options) => new Promise((resolve, reject) => {
  const request = http.request(url, options, (reply) => (reply.resume(), resolve(reply)));
  request.on('error', reject).on('upgrade', (reply, socket) => (socket.destroy(), resolve(reply))).end();
});

test('the first requests of agents are answered as they expect', async (t) => {
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: 'http://127.0.0.1:1', args: ['--upstream', `anthropic=${fake.url}`] });
  const hello = await ask(`${maki.url}/api/hello`, { method: 'HEAD' }); // Claude Code
  assert.notEqual(hello.statusCode, 502);
  const socket = await ask(`${maki.url}/v1/responses`, { // Codex
    headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' },
  });
  assert.equal(socket.statusCode, 426);
});

test('serve --unit prints a systemd user unit', (t) => {
  const unit = run(tempDirectory(t), ['serve', '--unit', '--port', '5306']);
  assert.equal(unit.code, 0, unit.err);
  assert.match(unit.out, /^\[Unit\]$/m);
  assert.match(unit.out, /^ExecStart="\/.*\/maki-serve" "--port" "5306"$/m);
  assert.match(unit.out, /^WantedBy=default\.target$/m);
});

test('doctor checks configuration, state directory, daemon, port and provider', async (t) => {
  const home = tempDirectory(t);
  const config = path.join(home, 'maki.yaml');
  const doctor = (yaml, env = {}) => (fs.writeFileSync(config, yaml), run(home, ['doctor'], { MAKI_CONFIG: config, ANTHROPIC_API_KEY: '', ...env }));
  const fine = doctor('serve: {listen: "127.0.0.1:1"}\n');
  assert.equal(fine.code, 0, fine.out + fine.err);
  for (const line of [`ok     configuration: ${config}`, `ok     state directory: ${home}`,
    'ok     daemon: does not run; maki serve starts it at http://127.0.0.1:1', 'ok     provider: none configured']) {
    assert.ok(fine.out.includes(line), fine.out);
  }
  const keyless = doctor('llm: {provider: anthropic, anthropic: {model: claude-sonnet-4-5}}\n');
  assert.notEqual(keyless.code, 0);
  assert.match(keyless.out, /FAILED provider: .*ANTHROPIC_API_KEY/);
  const typo = doctor('polcy: maki\n');
  assert.notEqual(typo.code, 0);
  assert.match(typo.out, /FAILED configuration/);
  const fake = await startFake(t);
  const taken = doctor(`serve: {listen: "${fake.url.slice(7)}"}\n`);
  assert.notEqual(taken.code, 0);
  assert.match(taken.out, /FAILED daemon: another program listens/);
  const reached = doctor(`llm: {provider: 偽, 偽: {protocol: openai, model: fake-1, base_url: "${fake.url}"}}\n`);
  assert.match(reached.out, /ok     provider: 偽, model fake-1/);
  const maki = await startMaki(t, { upstream: fake.url, home });
  assert.ok(doctor('').out.includes(`ok     daemon: runs at ${maki.url} and records`));
});

test('x-maki-session may be a name of any language', async (t) => {
  const fake = await startFake(t);
  const maki = await startMaki(t, { upstream: fake.url });
  const utf8 = (name) => Buffer.from(name).toString('latin1'); // as curl sends it
  const names = [['料理 🍳', utf8('料理 🍳')], ['my run', 'my run'], ['café', 'café'], ['둘"째', utf8('둘"째')], ['長'.repeat(99), utf8('長'.repeat(99))]];
  for (const [name, sent] of names) {
    const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: `I am ${name}` }] });
    const headers = { 'content-type': 'application/json', authorization: 'Bearer key', 'x-maki-session': sent };
    await new Promise((resolve, reject) => http.request(`${maki.url}/v1/chat/completions`, { method: 'POST', headers }, (reply) =>
      reply.resume().on('end', resolve)).on('error', reject).end(Buffer.from(body))); // of a string, Node writes the head as UTF-8, too
  }
  await quiet(maki);
  for (const name of ['料理 🍳', 'my run', 'café', '둘째', '長'.repeat(48)]) {
    const shown = run(maki.home, ['session', 'show', name]);
    assert.equal(shown.code, 0, shown.err);
    assert.match(shown.out, /I am/);
  }
});

test('a session that is deleted while the daemon has it open is gone; what its client says next begins another', async (t) => {
  const fake = await startFake(t);
  const home = tempDirectory(t);
  const sessions = path.join(home, 'agents/proxy/sessions');
  const maki = await startMaki(t, { upstream: fake.url, home });
  const ask = (messages, headers = {}, stream = false) => fetch(`${maki.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer key', ...headers },
    body: JSON.stringify({ model: 'gpt-4o', messages, stream }),
  });
  const say = async (messages, text, headers) => {
    messages.push({ role: 'user', content: text });
    const reply = await (await ask(messages, headers)).json();
    messages.push(reply.choices[0].message);
    await quiet(maki);
  };
  const texts = () => readConversations(home).map(({ said }) => said.map(({ text }) => text));
  const remove = () => {
    const [{ id }, ...others] = readConversations(home);
    assert.equal(others.length, 0);
    const done = run(home, ['session', 'delete', id, '--yes']);
    assert.equal(done.code, 0, done.err);
    return id;
  };

  for (const headers of [{}, { 'x-maki-session': 'cooking' }, { 'x-session-id': 'c1' }]) {
    const messages = [];
    await say(messages, 'first', headers);
    await say(messages, 'second', headers);
    const deleted = remove();
    assert.deepEqual(fs.readdirSync(sessions).filter((name) => name.includes(deleted)), []);
    await say(messages, 'third', headers);
    await say(messages, 'fourth', headers);
    assert.deepEqual(texts(), [messages.map(({ content }) => content)], 'all that the client sent is in one new log');
    assert.notEqual(readConversations(home)[0].id, deleted);
    remove();
  }

  // while a reply arrives: it is not recorded, the client has it whole, and the next request is recorded again
  const messages = [{ role: 'user', content: 'slowly fake:hold:2' }];
  const reply = await ask(messages, {}, true);
  const reader = reply.body.getReader();
  await reader.read();
  await until('the request is recorded', () => readConversations(home).length === 1); // the reply may be faster
  const deleted = remove();
  await reader.cancel();
  await quiet(maki);
  assert.deepEqual(fs.readdirSync(sessions).filter((name) => name.endsWith('.jsonl')), []);
  await say([], 'afterwards', {});
  assert.deepEqual(texts().map(([first]) => first), ['afterwards']);

  await maki.stop('SIGKILL');
  await startMaki(t, { upstream: fake.url, home });
  assert.deepEqual(texts().map(([first]) => first), ['afterwards']);
  assert.equal(fs.readdirSync(sessions).some((name) => name.includes(deleted)), false);
});
