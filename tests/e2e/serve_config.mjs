// serve_config.mjs -- the daemon as maki.yaml describes it; its command line wins.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { ask, Client, Daemon, ok, post, program, Upstream } from './transport_kit.mjs';

function write(t, text) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'maki-config-'));
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, '設定.yaml');
  fs.writeFileSync(file, text);
  return file;
}

async function reply(port, target, fields = '') {
  const c = new Client(port).send(post(target, '{"model":"qwen-3"}', fields));
  const text = await c.wait((x) => x.includes('\r\n\r\n') && /who=\w+;|error/.test(x));
  c.close();
  return text;
}

test('upstreams of the file, by name and by model', async (t) => {
  const a = await Upstream.start(t, (_, s) => s.write(ok('who=first;')));
  const b = await Upstream.start(t, (_, s) => s.write(ok('who=second;')));
  const file = write(t, `upstreams:\n  openai: ${a.url}/v1\n  local: {url: "${b.url}", models: [qwen*]}\n`);
  const d = await Daemon.start(t, ['--config', file]);
  assert.match(await reply(d.port, '/v1/chat/completions'), /who=second/);
  assert.match(await reply(d.port, '/u/openai/v1/chat/completions'), /who=first/);
  await d.stop();
});

test('an upstream of the command line wins over the file', async (t) => {
  const a = await Upstream.start(t, (_, s) => s.write(ok('who=file;')));
  const b = await Upstream.start(t, (_, s) => s.write(ok('who=line;')));
  const d = await Daemon.start(t, ['--config', write(t, `upstreams: {openai: "${a.url}"}\n`),
    '--upstream', `openai=${b.url}`]);
  assert.match(await reply(d.port, '/v1/chat/completions'), /who=line/);
  await d.stop();
});

test('token and limits of the file', async (t) => {
  const d = await Daemon.start(t, [], { MAKI_CONFIG: write(t, 'serve:\n  token: secret-token\n  limits: {head: 1k}\n') });
  assert.match(await ask(d.port, 'GET /maki/sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'), /^HTTP\/1.1 401/);
  assert.match(await ask(d.port, 'GET /maki/sessions HTTP/1.1\r\nHost: localhost\r\nx-maki-token: secret-token\r\n' +
    'Connection: close\r\n\r\n'), /^HTTP\/1.1 200/);
  assert.match(await ask(d.port, `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(2000)}\r\n\r\n`), /^HTTP\/1.1 431/);
  await d.stop();
});

test('a broken file stops the start with its line', async (t) => {
  const file = write(t, 'serve:\n  lisen: 127.0.0.1:0\n');
  const got = spawnSync(program, ['--config', file], { encoding: 'utf8', timeout: 60_000 });
  assert.equal(got.status, 2);
  assert.match(got.stderr, /設定\.yaml:2:3: there is no setting serve\.lisen; did you mean listen\?/);
});
