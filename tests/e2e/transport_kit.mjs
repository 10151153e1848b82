// transport_kit.mjs -- the daemon, an upstream and clients on raw sockets, so that a test sees every byte.
//
// MAKI_SERVE names the program.  Nothing here waits longer than LIMIT; whatever a test starts is ended by it.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';

export const LIMIT = 300_000;
export const program = process.env.MAKI_SERVE;

export function within(promise, what, ms = LIMIT) {
  let timer;
  const late = new Promise((_, no) => { timer = setTimeout(() => no(new Error(`${what}: not within ${ms} ms`)), ms); });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// Poll until `ask` returns something true.
export async function until(ask, what) {
  for (const end = Date.now() + LIMIT; Date.now() < end; ) {
    const got = await ask();
    if (got) return got;
    await new Promise((r) => setTimeout(r, 10));
  }
  throw new Error(`${what}: never`);
}

// Poll until the number that `look` returns has stayed the same for a while.  On a slow machine it may be too small,
// so use it for upper limits only.
export async function settled(look) {
  let last = look();
  await until(async () => {
    await new Promise((r) => setTimeout(r, 300));
    const same = look() === last;
    last = look();
    return same;
  }, 'it comes to rest');
}

export class Daemon {
  // With `listen` null it listens where the configuration says.
  static async start(t, args = [], env = {}, listen = '127.0.0.1:0') {
    const d = new Daemon();
    d.home = fs.mkdtempSync(path.join(os.tmpdir(), 'maki-e2e-'));
    d.log = '';
    d.process = spawn(program, [...(listen ? ['--listen', listen] : []), '--home', d.home, ...args],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, MAKI_TOKEN: '', ...env } });
    d.exit = new Promise((r) => d.process.once('close', (code, signal) => r({ code, signal }))); // and all its output is read
    d.process.stderr.on('data', (b) => { d.log += b; });
    t.after(() => d.kill());
    d.port = await within(new Promise((yes, no) => {
      let said = '';
      d.process.stdout.on('data', (b) => {
        said += b;
        const port = /:(\d+)\n/.exec(said)?.[1];
        if (port) yes(Number(port));
      });
      d.process.once('close', () => no(new Error(`the daemon ended: ${d.log}`)));
    }), 'the daemon starts');
    return d;
  }

  async kill() {
    this.process.kill('SIGKILL');
    await this.exit;
    fs.rmSync(this.home, { recursive: true, force: true });
  }

  // SIGTERM, and a clean end: what sanitizers find makes it fail.
  async stop() {
    this.process.kill('SIGTERM');
    const { code } = await within(this.exit, 'the daemon stops');
    if (code !== 0) throw new Error(`the daemon ended with ${code}: ${this.log}`);
  }

  async metric(name) {
    const text = await ask(this.port, 'GET /maki/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    return Number(new RegExp(`^maki_${name} (\\d+)`, 'm').exec(text)[1]);
  }
}

// An upstream: `answer(request, socket)` gets the head as text and the body as it came (chunks and all).
export class Upstream {
  static async start(t, answer) {
    const u = new Upstream();
    u.requests = [];
    u.sockets = new Set();
    u.server = net.createServer((socket) => u.serve(socket, answer));
    await new Promise((r) => u.server.listen(0, '127.0.0.1', r));
    u.port = u.server.address().port;
    u.url = `http://127.0.0.1:${u.port}`;
    t.after(() => u.stop());
    return u;
  }

  stop() {
    for (const s of this.sockets) s.destroy();
    return new Promise((r) => this.server.close(r));
  }

  serve(socket, answer) {
    let held = Buffer.alloc(0), parts = [], size = 0, enough = 0;
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      parts.push(bytes);
      size += bytes.length;
      if (size < enough) return; // a large body is put together once, when it is here
      held = Buffer.concat([held, ...parts]);
      parts = [];
      enough = wholeLength(held);
      for (let request; (request = takeRequest(held)); ) {
        held = held.subarray(request.length);
        size = held.length;
        enough = 0;
        this.requests.push(request);
        answer(request, socket);
      }
    });
  }
}

// The bytes of a request with a Content-Length; 0: not known yet, or no such field.
function wholeLength(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  const length = end < 0 ? null : /\r\ncontent-length: *(\d+)/i.exec(bytes.subarray(0, end + 2).toString('latin1'));
  return length ? end + 4 + Number(length[1]) : 0;
}

function takeRequest(bytes) {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = bytes.subarray(0, end + 4).toString('latin1');
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  let last = end + 4;
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
    const mark = bytes.indexOf('0\r\n\r\n', end + 4);
    if (mark < 0) return null;
    last = mark + 5;
  } else if (length) {
    last += Number(length[1]);
  }
  if (bytes.length < last) return null;
  return { head, body: bytes.subarray(end + 4, last), length: last };
}

// The bytes inside of chunks.
export function unchunk(bytes) {
  const parts = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at);
    const size = parseInt(bytes.subarray(at, line).toString(), 16);
    if (!size) return Buffer.concat(parts);
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

export class Client {
  constructor(port) {
    this.socket = net.connect(port, '127.0.0.1');
    this.bytes = Buffer.alloc(0);
    this.ended = false;
    this.changed = () => {};
    this.socket.on('data', (b) => { this.bytes = Buffer.concat([this.bytes, b]); this.changed(); });
    this.socket.on('close', () => { this.ended = true; this.changed(); });
    this.socket.on('error', () => {});
  }

  get text() { return this.bytes.toString(); }
  send(bytes) { this.socket.write(bytes); return this; }
  close() { this.socket.destroy(); }

  // Until what came satisfies `test`.
  wait(test) {
    return within(new Promise((yes, no) => {
      const look = () => {
        if (test(this.text)) yes(this.text);
        else if (this.ended) no(new Error(`closed: ${this.text}`));
      };
      this.changed = look;
      look();
    }), 'an answer');
  }

  closed() {
    return within(new Promise((yes) => {
      const look = () => { if (this.ended) yes(this.text); };
      this.changed = look;
      look();
    }), 'the connection closes');
  }
}

// One request on a connection of its own; the whole answer until it closes.
export async function ask(port, request) {
  const client = new Client(port);
  const text = await client.send(request).closed();
  client.close();
  return text;
}

// The same of a daemon that soon closes idle connections: it may have closed one before the request was sent.
export const askInTime = (port, request) => until(() => ask(port, request), 'a request that was sent in time');

export function post(target, body, fields = '') {
  const bytes = Buffer.from(body);
  return Buffer.concat([
    Buffer.from(`POST ${target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bytes.length}\r\n${fields}\r\n`), bytes]);
}

export const ok = (body, fields = '') =>
  `HTTP/1.1 200 OK\r\n${fields}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

// Every file under a directory, as bytes.
export function files(directory) {
  return fs.readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const at = path.join(directory, entry.name);
    return entry.isDirectory() ? files(at) : entry.isFile() ? [{ path: at, bytes: fs.readFileSync(at) }] : [];
  });
}
