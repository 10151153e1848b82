// serve_config.mjs -- the daemon as maki.yaml describes it; its command line wins.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { ask, askInTime, Client, Daemon, LIMIT, ok, post, program, until, Upstream, within } from './transport_kit.mjs';

function write(t, text) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'maki-config-'));
  t.after(() => fs.rmSync(directory, { recursive: true, force: true }));
  const file = path.join(directory, '設定.yaml');
  fs.writeFileSync(file, text);
  return file;
}

async function reply(port, target, fields = '') {
  const c = new Client(port).send(post(target, '{"model":"qwen-3"}', fields));
  const text = await c.wait((x) => x.includes('\r\n\r\n') && /who=\w+;|error/.test(x));
  c.close();
  return text;
}

const get = (fields = '') => `GET /maki/health HTTP/1.1\r\nHost: localhost\r\n${fields}Connection: close\r\n\r\n`;

// The daemon with `text` as its configuration, its anthropic being `answer`.
async function configured(t, text, answer = (_, s) => s.write(ok('who=it;'))) {
  const up = await Upstream.start(t, answer);
  const d = await Daemon.start(t, ['--config', write(t, `upstreams: {anthropic: "${up.url}"}\n${text}`)]);
  return { d, up };
}

// ---- the effect of each setting, which names its test -------------------------------------------------------

test('serve.listen', async (t) => {
  const d = await Daemon.start(t, ['--config', write(t, "serve: {listen: ['127.0.0.1:0']}\n")], {}, null);
  assert.match(await ask(d.port, get()), /^HTTP\/1.1 200 /);
  await d.stop();
});

test('serve.token and serve.limits.head', async (t) => {
  const d = await Daemon.start(t, [], { MAKI_CONFIG: write(t, 'serve:\n  token: secret-token\n  limits: {head: 1k}\n') });
  assert.match(await ask(d.port, 'GET /maki/sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'), /^HTTP\/1.1 401/);
  assert.match(await ask(d.port, 'GET /maki/sessions HTTP/1.1\r\nHost: localhost\r\nx-maki-token: secret-token\r\n' +
    'Connection: close\r\n\r\n'), /^HTTP\/1.1 200/);
  assert.match(await ask(d.port, `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(2000)}\r\n\r\n`), /^HTTP\/1.1 431/);
  await d.stop();
});

test('serve.allow_hosts', async (t) => {
  const { d } = await configured(t, 'serve: {allow_hosts: [maki.example]}\n');
  const go = (host) => ask(d.port, `GET /maki/health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  assert.match(await go('maki.example'), /^HTTP\/1.1 200 /);
  assert.match(await go('evil.example'), /^HTTP\/1.1 421 /);
  await d.stop();
});

test('serve.allow_origins', async (t) => {
  const { d } = await configured(t, 'serve: {allow_origins: "https://ok.example"}\n');
  assert.match(await ask(d.port, get('Origin: https://ok.example\r\n')), /^HTTP\/1.1 200 /);
  assert.match(await ask(d.port, get('Origin: https://evil.example\r\n')), /^HTTP\/1.1 403 /);
  await d.stop();
});

test('serve.ca_file', async (t) => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'maki-tls-'));
  t.after(() => fs.rmSync(directory, { recursive: true, force: true }));
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => path.join(directory, name));
  const made = spawnSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost',
    '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', cert], { encoding: 'utf8' });
  assert.equal(made.status, 0, made.stderr);
  const server = https.createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) }, (_, r) => r.end('who=tls;'));
  await new Promise((r) => server.listen(0, '127.0.0.1', r));
  t.after(() => { server.closeAllConnections(); server.close(); });
  const upstream = `upstreams: {openai: "https://127.0.0.1:${server.address().port}"}\n`;
  const trusting = await Daemon.start(t, ['--config', write(t, `${upstream}serve: {ca_file: "${cert}"}\n`)]);
  assert.match(await reply(trusting.port, '/v1/chat/completions'), /who=tls/);
  await trusting.stop();
  const wary = await Daemon.start(t, ['--config', write(t, upstream)]);
  assert.match(await reply(wary.port, '/v1/chat/completions'), /^HTTP\/1.1 502 /);
  await wary.stop();
});

test('serve.limits.connections', async (t) => {
  const { d } = await configured(t, 'serve: {limits: {connections: 2}}\n');
  const idle = [new Client(d.port), new Client(d.port)];
  await until(async () => /^HTTP\/1.1 503 /.test(await ask(d.port, 'GET / HTTP/1.1\r\n')), 'one too many');
  idle.forEach((c) => c.close());
  await d.stop();
});

test('serve.limits.body', async (t) => {
  const { d, up } = await configured(t, 'serve: {limits: {body: 1k}}\n');
  assert.match(await ask(d.port, post('/v1/messages', 'x'.repeat(2000))), /^HTTP\/1.1 413 /);
  assert.equal(up.requests.length, 0);
  await d.stop();
});

test('serve.timeouts.idle', async (t) => {
  const { d } = await configured(t, 'serve: {timeouts: {idle: 200ms}}\n');
  assert.match(await askInTime(d.port, post('/v1/messages', '{}')), /who=it;$/);
  await d.stop();
});

test('serve.timeouts.head', async (t) => {
  const { d } = await configured(t, 'serve: {timeouts: {head: 200ms}}\n');
  assert.match(await ask(d.port, 'GET / HT'), /^HTTP\/1.1 408 /);
  await d.stop();
});

test('serve.timeouts.body', async (t) => {
  const { d } = await configured(t, 'serve: {timeouts: {body: 200ms}}\n');
  assert.match(await ask(d.port, 'POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab'), /^HTTP\/1.1 408 /);
  await d.stop();
});

test('serve.timeouts.write', async (t) => {
  const piece = Buffer.alloc(1 << 20, 'x');
  let gone;
  const closed = new Promise((r) => { gone = r; });
  const { d } = await configured(t, 'serve: {timeouts: {write: 300ms}}\n', (_, s) => {
    s.once('close', gone);
    s.write('HTTP/1.1 200 OK\r\n\r\n');
    const more = () => { while (!s.destroyed && s.write(piece)); s.once('drain', more); };
    more();
  });
  const c = new Client(d.port);
  c.socket.pause();
  c.send(post('/v1/messages', '{}'));
  await within(closed, 'a client that takes nothing is given up'); // and with it what it asked for
  c.close();
  await d.stop();
});

// Has the kernel sent a second SYN to this port, because the first was not answered?
function isUnanswered(port) {
  const SYN_SENT = '02', to = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return fs.readFileSync('/proc/net/tcp', 'utf8').split('\n').map((line) => line.trim().split(/\s+/))
    .some((row) => row[2] === to && row[3] === SYN_SENT && parseInt(row[6], 16) > 0);
}

test('serve.timeouts.connect', async (t) => {
  // A listener that never accepts, its queue full: who comes then gets no answer at all.
  const deaf = spawn(process.execPath, ['-e', `require('net').createServer().listen({port: 0, host: '127.0.0.1', backlog: 1},
    function () { console.log(this.address().port); })`], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => deaf.kill('SIGKILL'));
  const port = Number(await within(new Promise((r) => deaf.stdout.once('data', r)), 'a listener'));
  deaf.kill('SIGSTOP');
  const queue = [];
  t.after(() => queue.forEach((s) => s.destroy()));
  for (let full = false; !full; ) {
    const s = net.connect(port, '127.0.0.1');
    queue.push(s);
    s.on('error', () => {});
    full = await until(() => (s.connecting ? isUnanswered(port) : 'no'), 'an answer, or none') === true;
  }
  const d = await Daemon.start(t, ['--config', write(t, `upstreams: {openai: "http://127.0.0.1:${port}"}\n` +
    'serve: {timeouts: {connect: 300ms}}\n')]);
  assert.match(await reply(d.port, '/v1/chat/completions'), /^HTTP\/1.1 50[24] /);
  await d.stop();
});

test('serve.timeouts.upstream', async (t) => {
  const { d } = await configured(t, 'serve: {timeouts: {upstream: 300ms}}\n', () => {});
  assert.match(await reply(d.port, '/v1/messages'), /^HTTP\/1.1 504 [^]*upstream_timeout/);
  await d.stop();
});

test('serve.timeouts.stop', async (t) => {
  const { d } = await configured(t, 'serve: {timeouts: {stop: 200ms}}\n', (_, s) => s.write('HTTP/1.1 200 OK\r\n\r\ndata: 1\n\n'));
  const c = new Client(d.port).send(post('/v1/messages', '{}'));
  await c.wait((x) => x.includes('data: 1'));
  await d.stop(); // the stream goes on, but not for longer than this
  c.close();
});

test('upstreams.*, upstreams.*.url and upstreams.*.models', async (t) => {
  const a = await Upstream.start(t, (_, s) => s.write(ok('who=first;')));
  const b = await Upstream.start(t, (_, s) => s.write(ok('who=second;')));
  const file = write(t, `upstreams:\n  openai: ${a.url}/v1\n  local: {url: "${b.url}", models: [qwen*]}\n`);
  const d = await Daemon.start(t, ['--config', file]);
  assert.match(await reply(d.port, '/v1/chat/completions'), /who=second/);
  assert.match(await reply(d.port, '/u/openai/v1/chat/completions'), /who=first/);
  await d.stop();
});

test('log.level', async (t) => {
  for (const [level, told] of [['debug', true], ['error', false]]) {
    const { d } = await configured(t, `log: {level: ${level}}\n`);
    assert.match(await ask(d.port, 'GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n'), /^HTTP\/1.1 421 /);
    await d.stop();
    assert.equal(/ debug refused /.test(d.log), told, d.log);
    assert.equal(/ info stopping/.test(d.log), told, d.log);
  }
});

// ---- the rest ----------------------------------------------------------------------------------------

test('an upstream of the command line wins over the file', async (t) => {
  const a = await Upstream.start(t, (_, s) => s.write(ok('who=file;')));
  const b = await Upstream.start(t, (_, s) => s.write(ok('who=line;')));
  const d = await Daemon.start(t, ['--config', write(t, `upstreams: {openai: "${a.url}"}\n`),
    '--upstream', `openai=${b.url}`]);
  assert.match(await reply(d.port, '/v1/chat/completions'), /who=line/);
  await d.stop();
});

test('operations of the API use the configuration, and log their lines', async (t) => {
  const { d } = await configured(t, 'window: {minimum: 40000}\ncontextWindow: 50000\nprofileThresholds: {qwen-3: 3}\n');
  const directory = path.join(d.home, 'agents', 'default', 'sessions');
  fs.mkdirSync(directory, { recursive: true });
  fs.writeFileSync(path.join(directory, 's1.jsonl'), '{"role":"user","content":"こんにちは"}\n{"role":"assistant","content":"やあ"}\n');
  const run = async (input) => ask(d.port, post('/maki/ops/manage.run', JSON.stringify({ conversation: 's1', ...input }),
    'Content-Type: application/json\r\nConnection: close\r\n'));
  assert.match(await run({ model: 'qwen-3' }), /"contextWindow":50000,"windowFrom":"configuration","threshold":75/);
  assert.match(await run({ contextWindow: 30000 }), /WINDOW_TOO_SMALL/);
  await d.stop();
  assert.match(d.log, / warn threshold_invalid value=3 profile=qwen-3 using=75\n/);
  assert.match(d.log, / info context_check total_tokens=\d+ context_window=50000 usage=\S+ messages=2 action=none session=s1\n/);
});

test('an invalid file stops the start with the line of its error', async (t) => {
  const file = write(t, 'serve:\n  lisen: 127.0.0.1:0\n');
  const got = spawnSync(program, ['--config', file], { encoding: 'utf8', timeout: LIMIT });
  assert.equal(got.status, 2);
  assert.match(got.stderr, /設定\.yaml:2:3: unknown setting serve\.lisen; did you mean listen\?/);
});
