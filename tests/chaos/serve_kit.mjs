// serve_kit.mjs -- helpers of the daemon's chaos tests: conversations in every protocol that grow turn by turn, memory and
// descriptors of a process, and a check of the whole log.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from '../e2e/lib.mjs';

export const MB = 1 << 20;
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- a process, as the kernel sees it ---------------------------------------------------------------

/** Anonymous memory of a process, without its program and mapped files. */
export function memoryOf(pid) {
  return Number(/^RssAnon:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

export const descriptorsOf = (pid) => fs.readdirSync(`/proc/${pid}/fd`).length;

/** Sample the memory while `work` runs: {value, most}. */
export async function watchMemory(pid, work) {
  let most = memoryOf(pid);
  const timer = setInterval(() => { most = Math.max(most, memoryOf(pid)); }, 20);
  try {
    const value = await work();
    return { value, most: Math.max(most, memoryOf(pid)) };
  } finally {
    clearInterval(timer);
  }
}

/** The warnings and errors in a daemon's log. */
export const errorLines = (maki) => maki.errors().split('\n').filter((line) => / error /.test(line)).join('\n');

export const inMB = (bytes) => `${(bytes / MB).toFixed(1)} MB`;

// ---- requests ---------------------------------------------------------------------------------------

const events = (text) => text.split('\n').filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
  .map((line) => JSON.parse(line.slice(6)));
const joined = (list, pick) => list.map((item) => pick(item) ?? '').join('');
const bothRoles = (turns) => turns.map(({ role, text }) => ({ role, content: text }));
const geminiParts = (reply) => joined(reply.candidates?.[0]?.content?.parts ?? [], (part) => part.text);

/** One row for each protocol: its path, its request, and the text of its reply. */
export const protocols = {
  chat: {
    path: () => '/v1/chat/completions',
    body: (turns, stream) => ({ model: 'm', stream, messages: bothRoles(turns) }),
    text: (reply, stream) => (stream ? joined(events(reply), (e) => e.choices?.[0]?.delta?.content)
      : JSON.parse(reply).choices[0].message.content),
  },
  messages: {
    path: () => '/v1/messages',
    body: (turns, stream) => ({ model: 'm', max_tokens: 1000, stream, messages: bothRoles(turns) }),
    text: (reply, stream) => (stream ? joined(events(reply), (e) => e.delta?.text)
      : joined(JSON.parse(reply).content, (part) => part.text)),
  },
  responses: {
    path: () => '/v1/responses',
    body: (turns, stream) => ({ model: 'm', stream, input: bothRoles(turns) }),
    text: (reply, stream) => (stream ? joined(events(reply).filter((e) => e.type === 'response.output_text.delta'), (e) => e.delta)
      : joined(JSON.parse(reply).output, (item) => joined(item.content ?? [], (part) => part.text))),
  },
  ollama: {
    path: () => '/api/chat',
    body: (turns, stream) => ({ model: 'm', stream, messages: bothRoles(turns) }),
    text: (reply) => joined(reply.trim().split('\n').map((line) => JSON.parse(line)), (line) => line.message?.content),
  },
  gemini: {
    path: (stream) => `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (turns) => ({ contents: turns.map(({ role, text }) => ({ role: role === 'user' ? 'user' : 'model', parts: [{ text }] })) }),
    text: (reply, stream) => (stream ? joined(events(reply), geminiParts) : geminiParts(JSON.parse(reply))),
  },
};

/** One request: {status, text, whole}.  `whole`: the reply ended as HTTP says it must.  Never throws: a connection
 *  that fails is {status: 0}.  `onStart` gets the request, to be destroyed by whoever wants to vanish. */
export function ask(url, target, body, { headers = {}, agent, onStart, onText } = {}) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return new Promise((resolve) => {
    const pieces = [];
    let reply;
    const end = (whole) => resolve({ status: reply?.statusCode ?? 0, headers: reply?.headers, whole, text: Buffer.concat(pieces).toString() });
    const request = http.request(url + target, { method: 'POST', agent,
      headers: { 'content-type': 'application/json', 'content-length': bytes.length, ...headers } }, (came) => {
      reply = came;
      came.on('data', (piece) => { pieces.push(piece); onText?.(piece); });
      came.on('end', () => end(came.complete));
      came.on('error', () => end(false));
      came.on('close', () => end(came.complete));
    });
    request.on('error', () => end(false));
    request.end(bytes);
    onStart?.(request);
  });
}

/** A conversation that grows by one exchange at a time.  `turns` is what was acknowledged: each user's message
 *  whose reply came whole, and that reply. */
export class Talk {
  constructor(protocol, name, { agent, headers = {} } = {}) {
    Object.assign(this, { protocol: protocols[protocol], name, agent, headers, turns: [], asked: 0 });
  }

  /** Send a turn once.  A complete reply becomes part of the conversation. */
  async ask(url, text, { stream = false, fake, ...more } = {}) {
    const turns = [...this.turns, { role: 'user', text }];
    const headers = { ...this.headers, ...(fake ? { 'x-fake': fake } : {}) };
    const reply = await ask(url, this.protocol.path(stream), this.protocol.body(turns, stream), { agent: this.agent, headers, ...more });
    if (reply.whole && reply.status === 200) {
      this.turns = [...turns, { role: 'assistant', text: this.protocol.text(reply.text, stream) }];
    }
    return reply;
  }
}

// ---- the log ----------------------------------------------------------------------------------------

const run = promisify(execFile);
const program = path.join(build, 'maki');
const sessionsOf = (home) => path.join(home, 'agents', 'proxy', 'sessions');

/** Every conversation of the log passes `maki verify`; how many there are. */
export async function verifyAll(home) {
  const talks = fs.readdirSync(sessionsOf(home)).filter((name) => name.endsWith('.jsonl') && !name.endsWith('.events.jsonl'))
    .map((name) => path.join(sessionsOf(home), name));
  for (let i = 0; i < talks.length; i += 200) {
    await run(program, ['verify', ...talks.slice(i, i + 200)], { env: { ...process.env, MAKI_HOME: home } })
      .catch((error) => assert.fail(`maki verify: ${error.stdout}${error.stderr}`));
  }
  return talks.length;
}

/** The view of a conversation, its newest branch: [{role, text}]. */
export async function viewOf(home, id) {
  const { stdout } = await run(program, ['session', 'show', id, '--json'], { env: { ...process.env, MAKI_HOME: home }, maxBuffer: 256 * MB });
  return stdout;
}

/** The manifests of a conversation: how each exchange ended. */
export function manifestsOf(home, id) {
  const file = path.join(sessionsOf(home), `${id}.events.jsonl`);
  return fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line))
    .filter((event) => event.type === 'manifest');
}
