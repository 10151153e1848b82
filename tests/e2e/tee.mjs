// tee.mjs -- a proxy between a client and the daemon that forwards every byte and saves what the client sent, to
// compare it with what arrived upstream.
//
// It is a plain socket without an HTTP library, so the saved bytes are those on the wire.
import net from 'node:net';
import assert from 'node:assert/strict';

/** {url, requests()}: requests in the form of readRecorded in lib.mjs. */
export async function startTee(t, target) {
  const { hostname, port } = new URL(target);
  const streams = []; // one a connection
  const server = net.createServer((client) => {
    const chunks = [];
    streams.push(chunks);
    const daemon = net.connect(Number(port), hostname);
    client.setNoDelay();
    daemon.setNoDelay();
    client.on('data', (bytes) => chunks.push(bytes));
    client.pipe(daemon).pipe(client);
    for (const [one, other] of [[client, daemon], [daemon, client]]) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests: () => streams.flatMap((chunks) => readRequests(Buffer.concat(chunks))),
  };
}

/** The requests in the bytes of a connection. */
function readRequests(bytes) {
  const found = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\r\n\r\n', at);
    assert.ok(end >= 0, 'a head that does not end');
    const [line, ...lines] = bytes.toString('latin1', at, end).split('\r\n');
    const fields = lines.map((field) => {
      const colon = field.indexOf(':');
      return [field.slice(0, colon), field.slice(colon + 1).trim()];
    });
    const [body, next] = readBody(bytes, end + 4, fields);
    found.push({ line, fields, body });
    at = next;
  }
  return found;
}

function readBody(bytes, at, fields) {
  const value = (name) => fields.find((field) => field[0].toLowerCase() === name)?.[1];
  if (value('transfer-encoding') !== 'chunked') {
    const length = Number(value('content-length') ?? 0);
    return [bytes.subarray(at, at + length), at + length];
  }
  const parts = [];
  for (;;) {
    const end = bytes.indexOf('\r\n', at);
    const length = parseInt(bytes.toString('latin1', at, end), 16);
    if (length === 0) return [Buffer.concat(parts), end + 4];
    parts.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}

// ---- comparing ----------------------------------------------------------------------------------

/** Fields that the proxy may change: they belong to one connection, to us, or to the framing. */
const OURS = new Set(['host', 'connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade',
  'content-length', 'expect', 'accept-encoding']);

function kept(request) {
  const named = request.fields.filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(',').map((word) => word.trim()));
  return request.fields.filter(([name]) => {
    const lower = name.toLowerCase();
    return !OURS.has(lower) && !named.includes(lower) && !lower.startsWith('x-maki-') && !lower.startsWith('proxy-');
  });
}

const byContent = (requests) => requests
  .map((request) => JSON.stringify([request.line, kept(request), request.body.toString('base64')]))
  .sort();

/** What clients sent is what arrived: the line, the body byte for byte, and every field that is the client's,
 *  its name as written, its value and its place. */
export function assertSame(sent, arrived) {
  assert.equal(arrived.length, sent.length);
  const wanted = byContent(sent), got = byContent(arrived);
  for (let i = 0; i < wanted.length; i++) {
    if (wanted[i] !== got[i]) assert.deepEqual(JSON.parse(got[i]), JSON.parse(wanted[i]));
  }
  for (const request of arrived) {
    const encodings = request.fields.filter(([name]) => name.toLowerCase() === 'accept-encoding');
    assert.ok(encodings.every(([, value]) => value === 'identity'), 'a reply could be compressed');
  }
}
