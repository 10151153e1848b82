// transport.mjs -- the daemon forwards requests and replies byte for byte; and what happens when either side is slow,
// disconnects, sends invalid HTTP or exceeds a limit.
import assert from 'node:assert/strict';
import net from 'node:net';
import test from 'node:test';
import zlib from 'node:zlib';
import { ask, askInTime, Client, Daemon, files, ok, post, settled, unchunk, until, Upstream, within } from './transport_kit.mjs';

const SSE = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = (text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

async function pair(t, answer, args = [], env = {}) {
  const up = await Upstream.start(t, answer);
  const d = await Daemon.start(t, ['--upstream', `anthropic=${up.url}`, '--upstream', `openai=${up.url}/v1`,
    '--upstream', `gemini=${up.url}`, '--upstream', `ollama=${up.url}`, ...args], env);
  return { up, d };
}

// ---- what is forwarded ------------------------------------------------------------------------------

test('head and body reach upstream unchanged', async (t) => {
  const { up, d } = await pair(t, (_, s) => s.write(ok('{}')));
  const body = '{"model":"m","messages":[{"role":"user","content":"日本語 中文 한국어 🍣"}]}';
  const c = new Client(d.port).send(post('/v1/messages?beta=true&x=%2F..', body,
    'anthropic-Version:2023-06-01\r\nX-Empty:\r\nX-Twice: 1\r\nx-twice:  2\r\nAccept-Encoding: gzip, br\r\n' +
    'X-Maki-Session: s\r\nConnection: keep-alive\r\nAuthorization: Bearer k\r\n'));
  await c.wait((x) => x.endsWith('{}'));
  assert.equal(up.requests[0].head,
    `POST /v1/messages?beta=true&x=%2F.. HTTP/1.1\r\nHost: 127.0.0.1:${up.port}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    'anthropic-Version:2023-06-01\r\nX-Empty:\r\nX-Twice: 1\r\nx-twice:  2\r\nAccept-Encoding: identity\r\n' +
    'Authorization: Bearer k\r\n\r\n');
  assert.equal(up.requests[0].body.toString(), body);
  c.close();
  await d.stop();
});

test('a reply reaches the client unchanged', async (t) => {
  const { d } = await pair(t, (_, s) => s.write(
    'HTTP/1.1 203 Sort Of\r\nX-A: 1\r\nx-a:2\r\nConnection: keep-alive\r\nContent-Length: 6\r\nX-Last: z\r\n\r\n日本'));
  const c = new Client(d.port).send(post('/v1/messages', '{}'));
  assert.equal(await c.wait((x) => x.endsWith('日本')),
    'HTTP/1.1 203 Sort Of\r\nX-A: 1\r\nx-a:2\r\nContent-Length: 6\r\nX-Last: z\r\n\r\n日本');
  c.close();
  await d.stop();
});

test('keep-alive, on both sides', async (t) => {
  const { up, d } = await pair(t, (_, s) => s.write(ok('a')));
  const c = new Client(d.port);
  for (let i = 1; i <= 5; i++) {
    c.send(post('/v1/chat/completions', `{"n":${i}}`));
    await c.wait((x) => x.split('HTTP/1.1 200').length === i + 1 && x.endsWith('a'));
  }
  assert.equal(up.requests.length, 5);
  assert.equal(up.sockets.size, 1);
  c.close();
  await d.stop();
});

test('pipelined requests are answered in order', async (t) => {
  const { d } = await pair(t, (r, s) => s.write(ok(r.body.toString())));
  const c = new Client(d.port);
  c.send(Buffer.concat([1, 2, 3, 4].map((n) => post('/v1/messages', `"${n}"`))));
  const text = await c.wait((x) => x.endsWith('"4"'));
  assert.deepEqual(text.match(/"\d"/g), ['"1"', '"2"', '"3"', '"4"']);
  c.close();
  await d.stop();
});

test('a chunked body with trailers', async (t) => {
  const { up, d } = await pair(t, (_, s) => s.write(ok('done')));
  const c = new Client(d.port).send('POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
  c.send('3\r\n{"a\r\n');
  await until(() => up.sockets.size === 1, 'upstream is called before the body is whole');
  c.send('4;x=y\r\n":1}\r\n0\r\nTrailer: 1\r\n\r\n');
  await c.wait((x) => x.endsWith('done'));
  assert.match(up.requests[0].head, /\r\nTransfer-Encoding: chunked\r\n/);
  assert.doesNotMatch(up.requests[0].head, /content-length/i);
  assert.equal(unchunk(up.requests[0].body).toString(), '{"a":1}');
  c.close();
  await d.stop();
});

test('a stream is forwarded piece by piece, and ends when upstream ends it', async (t) => {
  let out;
  const { d } = await pair(t, (_, s) => { out = s; s.write(SSE + chunk('data: 一\n\n')); });
  const c = new Client(d.port).send(post('/v1/messages', '{}'));
  await c.wait((x) => x.endsWith('data: 一\n\n\r\n'));
  out.write(chunk('data: 二\n\n'));
  await c.wait((x) => x.endsWith('data: 二\n\n\r\n'));
  out.write('0\r\nX-Trailer: 1\r\n\r\n');
  const text = await c.wait((x) => x.endsWith('\r\n0\r\n\r\n'));
  assert.match(text, /Transfer-Encoding: chunked/);
  c.close();
  await d.stop();
});

test('a reply without a length is chunked for the client; an HTTP/1.0 client gets it until the close', async (t) => {
  const { d } = await pair(t, (_, s) => s.end('HTTP/1.1 200 OK\r\nX: 1\r\n\r\nhello'));
  const c = new Client(d.port).send(post('/v1/messages', '{}'));
  assert.match(await c.wait((x) => x.endsWith('0\r\n\r\n')), /\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/);
  c.close();
  const text = await ask(d.port, 'POST /v1/messages HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}');
  assert.match(text, /Connection: close\r\n\r\nhello$/);
  await d.stop();
});

test('HEAD, OPTIONS, 204, 304 and 1xx', async (t) => {
  const { up, d } = await pair(t, (r, s) => {
    if (r.head.startsWith('HEAD')) s.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
    else if (r.head.startsWith('OPTIONS')) s.write('HTTP/1.1 204 No Content\r\nAllow: POST\r\n\r\n');
    else if (r.head.includes('/304')) s.write('HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n');
    else s.write('HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n' + ok('real'));
  });
  const c = new Client(d.port).send('HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  assert.equal(await c.wait((x) => x.endsWith('\r\n\r\n')), 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n');
  c.send('HEAD / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n');
  assert.equal(await c.wait((x) => x.endsWith('\r\n\r\n') && x.lastIndexOf('HTTP/1.1') > 0), 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n'.repeat(2));
  c.send('OPTIONS /v1/messages HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await c.wait((x) => x.endsWith('HTTP/1.1 204 No Content\r\nAllow: POST\r\n\r\n'));
  c.send('GET /v1/models/304 HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await c.wait((x) => x.endsWith('HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n'));
  c.send('GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await c.wait((x) => x.endsWith('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nreal'));
  assert.equal(up.requests.length, 5);
  c.close();
  await d.stop();
});

test('Expect: the client gets 100 Continue', async (t) => {
  const { up, d } = await pair(t, (_, s) => s.write(ok('x')));
  const c = new Client(d.port).send('POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n');
  await c.wait((x) => x === 'HTTP/1.1 100 Continue\r\n\r\n');
  c.send('{}');
  await c.wait((x) => x.endsWith('x'));
  assert.doesNotMatch(up.requests[0].head, /expect/i);

  // and again on the same connection, on which all was quiet meanwhile
  c.send('POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n');
  await c.wait((x) => x.split('100 Continue').length === 3);
  c.send('{}');
  await c.wait((x) => x.endsWith('x') && x.split('200 OK').length === 3);
  c.close();
  await d.stop();
});

test('a compressed body is forwarded unchanged', async (t) => {
  const { up, d } = await pair(t, (_, s) => s.write(ok('x')));
  const bytes = zlib.gzipSync('{"model":"m","messages":[]}');
  const c = new Client(d.port).send(post('/v1/messages', bytes, 'Content-Encoding: gzip\r\n'));
  await c.wait((x) => x.endsWith('x'));
  assert.deepEqual(up.requests[0].body, bytes);
  c.close();
  await d.stop();
});

test('50 MB in both directions', async (t) => {
  const big = Buffer.alloc(50 << 20);
  for (let i = 0; i < big.length; i += 4096) big.writeUInt32LE(i, i);
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${big.length}\r\n\r\n`;
  const { d } = await pair(t, (r, s) => {
    s.write(head);
    s.write(r.body);
  });
  const parts = [];
  const c = new Client(d.port);
  c.socket.removeAllListeners('data');
  const done = new Promise((yes) => {
    let n = 0;
    c.socket.on('data', (b) => { parts.push(b); n += b.length; if (n === head.length + big.length) yes(); });
  });
  c.send(post('/v1/messages', big));
  await within(done, 'the reply');
  assert.ok(Buffer.concat(parts).subarray(head.length).equals(big));
  c.close();
  await d.stop();
});

// ---- which upstream ---------------------------------------------------------------------------------

test('the upstream by path, field, model and protocol', async (t) => {
  const mine = await Upstream.start(t, (_, s) => s.write(ok('mine')));
  const { up, d } = await pair(t, (_, s) => s.write(ok('usual')), ['--upstream', `local=${mine.url}/api/v1 models=qwen*,*llama*`]);
  const c = new Client(d.port);
  const go = async (target, body, fields, want) => {
    const before = c.text.length;
    c.send(post(target, body, fields));
    await c.wait((x) => x.length > before && x.endsWith(want));
  };
  await go('/v1/chat/completions', '{"model":"gpt-5"}', '', 'usual');
  await go('/v1/chat/completions', '{"messages":[],"model":"qwen3"}', '', 'mine');
  await go('/v1/chat/completions', 'no JSON at all', '', 'usual');
  await go('/v1/messages', '{"model":"x"}', 'X-Maki-Upstream: local\r\n', 'mine');
  await go('/u/local/chat/completions?a=1', '{"model":"x"}', '', 'mine');
  await go('/u/openai/v1/anything', '{"model":"qwen"}', '', 'usual');
  await go('/u/nobody/v1/messages', '{}', '', 'NAME=URL"}}\n');
  assert.deepEqual(mine.requests.map((r) => r.head.split('\r\n')[0]), [
    'POST /api/v1/chat/completions HTTP/1.1', 'POST /api/v1/messages HTTP/1.1', 'POST /api/v1/chat/completions?a=1 HTTP/1.1']);
  assert.equal(up.requests.length, 3);
  c.close();
  await d.stop();
});

test('a client that disconnects while the model of its request is looked up', async (t) => {
  const { up, d } = await pair(t, (_, s) => s.write(ok('usual')), ['--upstream', 'local=http://127.0.0.1:1 models=qwen*']);
  const body = `{"messages":["${'x'.repeat(8 << 20)}"],"model":"gpt-5"}`;
  for (let i = 0; i < 4; i++) {
    const c = new Client(d.port);
    await new Promise((done) => c.socket.write(post('/v1/chat/completions', body), done));
    c.close();
  }
  const c = new Client(d.port).send(post('/v1/chat/completions', '{"model":"gpt-5"}'));
  await c.wait((x) => x.endsWith('usual'));
  c.close();
  await until(async () => (await d.metric('open_exchanges')) === 0, 'nothing is open');
  assert.ok(up.requests.length >= 1);
  await d.stop();
});

// ---- faults -----------------------------------------------------------------------------------------

test('an upstream that refuses connections: 502', async (t) => {
  const d = await Daemon.start(t, ['--upstream', 'anthropic=http://127.0.0.1:1']); // the kernel gives that port to nobody
  const c = new Client(d.port).send(post('/v1/messages', '{}'));
  const text = await c.wait((x) => x.endsWith('}}\n'));
  assert.match(text, /^HTTP\/1.1 502 /);
  assert.match(text, /"type":"upstream_error","message":"upstream anthropic: /);
  assert.equal(await d.metric('upstream_failures_total'), 1);
  c.close();
  await d.stop();
});

test('an upstream that sends nothing: 504', async (t) => {
  const { d } = await pair(t, () => {}, ['--upstream-timeout', '1s']);
  const c = new Client(d.port).send(post('/v1/messages', '{}'));
  assert.match(await c.wait((x) => x.endsWith('}}\n')), /^HTTP\/1.1 504 [^]*upstream_timeout/);
  c.close();
  await d.stop();
});

test('an upstream that closes without a reply: 502', async (t) => {
  const { d } = await pair(t, (_, s) => s.end());
  const c = new Client(d.port).send(post('/v1/messages', '{}'));
  assert.match(await c.wait((x) => x.endsWith('}}\n')), /^HTTP\/1.1 502 /);
  c.close();
  await d.stop();
});

test('an upstream that closed a kept connection: the request is sent again', async (t) => {
  let n = 0;
  const { d } = await pair(t, (_, s) => { n++; s.write(ok('x')); if (n === 1) s.end(); });
  const c = new Client(d.port).send(post('/v1/messages', '{"n":1}'));
  await c.wait((x) => x.endsWith('x'));
  c.send(post('/v1/messages', '{"n":2}'));
  await c.wait((x) => x.split('HTTP/1.1 200').length === 3 && x.endsWith('x'));
  c.close();
  await d.stop();
});

test('the client can see that a reply is truncated', async (t) => {
  const { d } = await pair(t, (r, s) => {
    if (r.head.includes('/chat')) s.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort');
    else s.end(SSE + chunk('data: 1\n\n'));
  });
  const streamed = await ask(d.port, post('/v1/messages', '{}'));
  assert.ok(streamed.endsWith('data: 1\n\n\r\n'));
  const counted = await ask(d.port, post('/v1/chat/completions', '{}'));
  assert.ok(counted.endsWith('Content-Length: 100\r\n\r\nshort'));
  assert.equal(await d.metric('upstream_failures_total'), 2);
  await d.stop();
});

test('a reply longer than its Content-Length is cut to it', async (t) => {
  const { d } = await pair(t, (_, s) => s.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef'));
  const c = new Client(d.port).send(post('/v1/messages', '{}'));
  assert.match(await c.wait((x) => x.includes('\r\n\r\nabc')), /\r\n\r\nabc$/);
  c.send(post('/v1/messages', '{}'));
  await c.wait((x) => x.split('\r\n\r\nabc').length === 3);
  c.close();
  await d.stop();
});

test('a reply that is not HTTP: 502', async (t) => {
  const { d } = await pair(t, (_, s) => s.end('hello, this is not HTTP\r\n\r\n'));
  const c = new Client(d.port).send(post('/v1/messages', '{}'));
  assert.match(await c.wait((x) => x.endsWith('}}\n')), /^HTTP\/1.1 502 /);
  c.close();
  await d.stop();
});

test('a client that disconnects ends the request upstream', async (t) => {
  let gone;
  const left = new Promise((r) => { gone = r; });
  const { d } = await pair(t, (_, s) => { s.on('close', gone); s.write(SSE + chunk('data: 1\n\n')); });
  const c = new Client(d.port).send(post('/v1/messages', '{}'));
  await c.wait((x) => x.includes('data: 1'));
  c.close();
  await within(left, 'the connection to upstream ends');
  await until(async () => await d.metric('open_exchanges') === 0, 'the exchange is over');
  assert.equal(await d.metric('client_gone_total'), 1);
  await d.stop();
});

test('a client that disconnects before its body is complete', async (t) => {
  const { up, d } = await pair(t, () => {});
  const c = new Client(d.port).send('POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
  await until(() => up.sockets.size === 1, 'upstream is called');
  c.close();
  await until(() => up.sockets.size === 0, 'upstream is left');
  await until(async () => await d.metric('open_exchanges') === 0, 'the exchange is over');
  await d.stop();
});

test('a slow client pauses upstream', async (t) => {
  const piece = Buffer.alloc(64 << 10, 'x');
  let out, sent = 0, stalled = false;
  const { d } = await pair(t, (_, s) => {
    out = s;
    s.write(SSE);
    const more = () => {
      while (sent < 64 << 20) {
        sent += piece.length;
        if (!s.write(chunk(piece.toString()))) { stalled = true; s.once('drain', more); return; }
      }
      s.write('0\r\n\r\n');
    };
    more();
  });
  const c = new Client(d.port);
  c.socket.pause();
  c.send(post('/v1/messages', '{}'));
  await until(() => stalled && out.writableNeedDrain, 'upstream has to wait');
  await settled(() => sent);
  assert.ok(sent < 40 << 20, `${sent} bytes were taken for a client that reads nothing`);
  let n = 0, tail = '';
  c.socket.removeAllListeners('data');
  const done = new Promise((yes) => c.socket.on('data', (b) => {
    n += b.length;
    tail = (tail + b.subarray(-8)).slice(-8);
    if (tail.endsWith('0\r\n\r\n')) yes();
  }));
  c.socket.resume();
  await within(done, 'all of it');
  assert.ok(n > 64 << 20);
  c.close();
  await d.stop();
});

test('a slow upstream pauses the client', async (t) => {
  const slow = net.createServer((s) => { slow.socket = s; s.pause(); s.on('error', () => {}); });
  await new Promise((r) => slow.listen(0, '127.0.0.1', r));
  t.after(() => { slow.socket?.destroy(); slow.close(); });
  const d = await Daemon.start(t, ['--upstream', `anthropic=http://127.0.0.1:${slow.address().port}`]);
  const piece = Buffer.alloc(64 << 10, 'x'), total = 64 << 20;
  const c = new Client(d.port).send(`POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${total}\r\n\r\n`);
  let sent = 0;
  const more = () => {
    while (sent < total) {
      sent += piece.length;
      if (!c.socket.write(piece)) { c.socket.once('drain', more); return; }
    }
  };
  more();
  await until(() => slow.socket && c.socket.writableNeedDrain, 'the client has to wait');
  await settled(() => sent);
  assert.ok(sent < 40 << 20, `${sent} bytes were taken for an upstream that reads nothing`);
  let n = 0;
  const whole = new Promise((r) => slow.socket.on('data', (b) => { n += b.length; if (n > total) r(); }));
  slow.socket.resume();
  await within(whole, 'all of it');
  slow.socket.write(ok('thanks'));
  await c.wait((x) => x.endsWith('thanks'));
  c.close();
  await d.stop();
});

// ---- limits -----------------------------------------------------------------------------------------

test('limits are enforced with an error', async (t) => {
  const { up, d } = await pair(t, (_, s) => s.write(ok('x')),
    ['--max-body', '1k', '--max-head', '512', '--max-connections', '4', '--head-timeout', '300ms', '--body-timeout', '300ms']);
  assert.match(await ask(d.port, post('/v1/messages', 'x'.repeat(2000))), /^HTTP\/1.1 413 /);
  assert.match(await ask(d.port, `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'y'.repeat(600)}\r\n\r\n`), /^HTTP\/1.1 431 /);
  assert.match(await ask(d.port, 'GET / HT'), /^HTTP\/1.1 408 /);
  assert.match(await ask(d.port, 'POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab'), /^HTTP\/1.1 408 /);
  assert.match(await ask(d.port, 'POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n'), /^HTTP\/1.1 400 /);
  assert.match(await ask(d.port, 'POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n'), /^HTTP\/1.1 501 /);
  assert.match(await ask(d.port, 'GET / HTTP/3.0\r\nHost: localhost\r\n\r\n'), /^HTTP\/1.1 505 /);
  const idle = Array.from({ length: 4 }, () => new Client(d.port));
  await Promise.all(idle.map((c) => within(new Promise((r) => c.socket.once('connect', r)), 'a connection')));
  await until(async () => /^HTTP\/1.1 503 /.test(await ask(d.port, 'GET / HTTP/1.1\r\n')), 'one too many');
  idle.forEach((c) => c.close());
  assert.equal(up.requests.length, 0);
  await d.stop();
});

test('idle connections are closed', async (t) => {
  const { d } = await pair(t, (_, s) => s.write(ok('x')), ['--idle-timeout', '200ms']);
  assert.match(await askInTime(d.port, post('/v1/messages', '{}')), /\r\n\r\nx$/);
  await d.stop();
});

test('unknown paths are not forwarded', async (t) => {
  const { up, d } = await pair(t, (_, s) => s.write(ok('x')));
  for (const path of ['/nope', '/v1', '/v1/messages/../x/', '/maki/../etc/passwd', '/s/x@1/v1/messages', '*']) {
    const text = await ask(d.port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    if (path.startsWith('/v1/messages/')) continue; // under a known path: forwarded
    assert.match(text, /^HTTP\/1.1 404 /, path);
  }
  assert.ok(up.requests.length <= 1);
  await d.stop();
});

// ---- safety -----------------------------------------------------------------------------------------

test('Host and Origin', async (t) => {
  const { up, d } = await pair(t, (_, s) => s.write(ok('x')), ['--allow-origin', 'https://ok.example']);
  const go = (fields) => ask(d.port, `POST /v1/messages HTTP/1.1\r\n${fields}Content-Length: 2\r\nConnection: close\r\n\r\n{}`);
  assert.match(await go('Host: evil.example\r\n'), /^HTTP\/1.1 421 /);
  assert.match(await go(`Host: localhost:${d.port}\r\nOrigin: https://evil.example\r\n`), /^HTTP\/1.1 403 /);
  assert.match(await go('Host: localhost\r\nSec-Fetch-Site: cross-site\r\n'), /^HTTP\/1.1 403 /);
  assert.equal(up.requests.length, 0);
  assert.match(await go(`Host: localhost:${d.port}\r\nOrigin: http://localhost:${d.port}\r\n`), /^HTTP\/1.1 200 /);
  assert.match(await go('Host: localhost\r\nOrigin: https://ok.example\r\n'), /^HTTP\/1.1 200 /);
  assert.equal(await d.metric('refused_total'), 3);
  await d.stop();
});

test('a token, by field or by path; Authorization is not touched', async (t) => {
  const { up, d } = await pair(t, (_, s) => s.write(ok('x')), [], { MAKI_TOKEN: 'tok3n' });
  const go = (target, fields = '') => ask(d.port, `POST ${target} HTTP/1.1\r\nHost: localhost\r\n${fields}Content-Length: 2\r\nConnection: close\r\n\r\n{}`);
  assert.match(await go('/v1/messages'), /^HTTP\/1.1 401 /);
  assert.match(await go('/v1/messages', 'X-Maki-Token: tok3\r\n'), /^HTTP\/1.1 401 /);
  assert.match(await go('/t/wrong/v1/messages'), /^HTTP\/1.1 401 /);
  assert.match(await go('/v1/messages', 'X-Maki-Token: tok3n\r\nAuthorization: Bearer k\r\n'), /^HTTP\/1.1 200 /);
  assert.match(await go('/t/tok3n/u/openai/v1/chat/completions'), /^HTTP\/1.1 200 /);
  assert.equal(up.requests.length, 2);
  assert.match(up.requests[0].head, /\r\nAuthorization: Bearer k\r\n/);
  assert.doesNotMatch(up.requests[0].head + up.requests[1].head, /tok3n/);
  await d.stop();
});

test('keys are in no file and no line of the log', async (t) => {
  const { d } = await pair(t, (_, s) => s.end(), ['--log-level', 'debug']);
  const canary = 'CANARY-k9x7q2';
  const fields = `Authorization: Bearer ${canary}-1\r\nx-api-key: ${canary}-2\r\nx-goog-api-key: ${canary}-3\r\nConnection: close\r\n`;
  await ask(d.port, post(`/v1/messages?key=${canary}-4`, '{"model":"m","messages":[{"role":"user","content":"hi"}]}', fields));
  await ask(d.port, post(`/v1beta/models/m:generateContent?key=${canary}-5`, '{"contents":[]}', fields));
  await ask(d.port, `GET /nope?key=${canary}-6 HTTP/1.1\r\nHost: evil\r\n${fields}\r\n`);
  const metrics = await ask(d.port, 'GET /maki/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await d.stop();
  assert.ok(!metrics.includes(canary));
  assert.ok(d.log.includes('upstream_failed'), d.log);
  assert.ok(!d.log.includes(canary), d.log);
  for (const file of files(d.home)) assert.ok(!file.bytes.includes(canary), file.path);
});

// ---- the daemon's own paths -------------------------------------------------------------------------

test('events are sent to listeners, and a stop ends them', async (t) => {
  const { d } = await pair(t, (_, s) => s.write(ok('x')));
  const c = new Client(d.port).send('GET /maki/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
  assert.match(await c.wait((x) => x.includes(': ')), /text\/event-stream/);
  await until(async () => await d.metric('event_listeners') === 1, 'a listener');
  await d.stop();
  assert.match(await c.closed(), /0\r\n\r\n$/);
});

test('health', async (t) => {
  const { d } = await pair(t, () => {});
  assert.match(await ask(d.port, 'GET /maki/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'), /^HTTP\/1.1 200 [^]*"ok":true/);
  await d.stop();
});

// ---- stopping ---------------------------------------------------------------------------------------

test('a stop finishes open requests', async (t) => {
  let out;
  const { d } = await pair(t, (_, s) => { out = s; s.write(SSE + chunk('data: 1\n\n')); });
  const idle = new Client(d.port);
  const c = new Client(d.port).send(post('/v1/messages', '{}'));
  await c.wait((x) => x.includes('data: 1'));
  d.process.kill('SIGTERM');
  await idle.closed();
  await until(async () => {
    const probe = new Client(d.port);
    await within(Promise.race([new Promise((r) => probe.socket.once('connect', r)), probe.closed()]), 'a probe');
    const refused = probe.ended || probe.socket.destroyed;
    probe.close();
    return refused;
  }, 'no more connections');
  out.write(chunk('data: 2\n\n') + '0\r\n\r\n');
  assert.match(await c.closed(), /data: 2\n\n\r\n0\r\n\r\n$/);
  assert.deepEqual(await within(d.exit, 'the end'), { code: 0, signal: null });
});

test('a stop waits no longer than configured; a second signal ends at once', async (t) => {
  for (const how of ['limit', 'signal']) {
    const { d } = await pair(t, (_, s) => s.write(SSE + chunk('data: 1\n\n')), how === 'limit' ? ['--stop-timeout', '200ms'] : []);
    const c = new Client(d.port).send(post('/v1/messages', '{}'));
    await c.wait((x) => x.includes('data: 1'));
    d.process.kill('SIGTERM');
    if (how === 'signal') {
      await until(() => d.log.includes('stopping'), 'it stops');
      d.process.kill('SIGINT');
    }
    assert.deepEqual(await within(d.exit, 'the end'), { code: 0, signal: null });
    assert.ok(!(await c.closed()).endsWith('0\r\n\r\n'));
  }
});

test('many connections at once', async (t) => {
  const { d } = await pair(t, (r, s) => s.write(ok(r.body.toString())));
  const clients = Array.from({ length: 300 }, () => new Client(d.port));
  await Promise.all(clients.map(async (c, i) => {
    c.send(post('/v1/messages', `"n${i}"`));
    await c.wait((x) => x.endsWith(`"n${i}"`));
  }));
  clients.forEach((c) => c.close());
  await until(async () => await d.metric('open_connections') <= 2, 'they are gone');
  await d.stop();
});
