// lib.mjs -- helpers of the end-to-end tests: programs, temporary directories, bounded waits.
//
//     const fake = await startFake(t, { record: true });
//     const maki = await startMaki(t, { upstream: fake.url });
//     ... talk to maki.url ...
//     const talks = await readConversations(maki.home);
//
// Everything that was started ends with the test `t`.  Ports are chosen by the kernel.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const build = path.resolve(process.env.MAKI_BUILD || path.join(root, 'build'));

export const PATIENCE_MS = 300_000; // for a failure to show, never for a success to be waited out

/** A directory that is deleted with the test. */
export function tempDirectory(t, name = 'maki-e2e') {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), `${name}-`));
  t.after(() => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Poll until the result is not undefined, null or false.  Fails with `what` after a limit. */
export async function until(what, ask, patience = PATIENCE_MS) {
  const end = Date.now() + patience;
  for (;;) {
    const got = await ask();
    if (got !== undefined && got !== null && got !== false) return got;
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Start a program, and wait for the line with its address. */
async function start(t, file, args, env = {}) {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal)); // all that it wrote has been read
    child.on('error', () => resolve(0)); // it never ran
  });
  let out = '', err = '';
  child.stderr.on('data', (bytes) => (err += bytes));
  const server = {
    child,
    errors: () => err,
    /** Ends it as a user would; gives the exit code, or the signal that ended it. */
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      return exited;
    },
  };
  t.after(async () => {
    const how = await server.stop();
    if (/Sanitizer|runtime error/.test(err)) t.diagnostic(err.slice(0, 4000));
    if (how !== 0 && how !== 'SIGTERM' && how !== 'SIGKILL') {
      throw new Error(`${path.basename(file)} ended with ${how}: ${err}`);
    }
  });
  server.url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${file} did not start: ${out}${err}`)), PATIENCE_MS);
    const failed = (why) => (clearTimeout(timer), reject(new Error(`${file}: ${why}: ${out}${err}`)));
    child.on('error', (error) => failed(error.message));
    child.on('close', (code) => failed(`ended with ${code}`));
    child.stdout.on('data', (bytes) => {
      out += bytes;
      const found = /listening on (http:\/\/\S+)/.exec(out);
      if (found) {
        clearTimeout(timer);
        resolve(found[1]);
      }
    });
  });
  return server;
}

/** The fake provider.  `record`: save its requests in `recorded`, a directory. */
export async function startFake(t, { scenario, record, env } = {}) {
  const args = ['--port', '0'];
  const recorded = record ? tempDirectory(t, 'maki-recorded') : undefined;
  if (scenario) args.push('--scenario', scenario);
  if (record) args.push('--record', recorded);
  const fake = await start(t, path.join(build, 'maki-fake-provider'), args, env);
  return { ...fake, recorded };
}

const PROVIDERS = ['anthropic', 'openai', 'gemini', 'ollama'];

/** The daemon, with `upstream` in the place of every provider.  `under`: a command that starts it (prlimit ...); `file`: another program. */
export async function startMaki(t, { upstream, home = tempDirectory(t, 'maki-home'), args = [], env = {}, under = [], file: program = path.join(build, 'maki-serve') }) {
  const [file, ...before] = [...under, program];
  const maki = await start(t, file,
    [...before, '--listen', '127.0.0.1:0', ...PROVIDERS.flatMap((name) => ['--upstream', `${name}=${upstream}`]), ...args],
    { MAKI_HOME: home, ...env });
  return { ...maki, home };
}

// ---- the daemon's API ---------------------------------------------------------------------------

/** An answer of the daemon's own: {status, text}. */
export async function get(url, target) {
  const reply = await fetch(url + target, { headers: { connection: 'close' } });
  return { status: reply.status, text: await reply.text() };
}

export async function metric(url, name) {
  return Number(new RegExp(`^maki_${name} (\\d+)`, 'm').exec((await get(url, '/maki/metrics')).text)[1]);
}

/** Wait until no exchange is open: then all of them are in the log. */
export const quiet = (maki) => until('all exchanges are over', async () => await metric(maki.url, 'open_exchanges') === 0);

// ---- the log ------------------------------------------------------------------------------------

/** A message of the log in either shape, normalised for what clients write differently. */
export function plain(row) {
  const message = { role: row.role, text: '' };
  const calls = [], results = [];
  const parts = Array.isArray(row.content) ? row.content : [{ type: 'text', text: row.content ?? '' }];
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'input_text' || part.type === 'output_text') message.text += part.text;
    if (part.type === 'tool_use') calls.push({ name: part.name, input: part.input });
    if (part.type === 'tool_result') results.push(textOf(part.content));
  }
  for (const call of row.tool_calls ?? []) {
    const given = call.function.arguments;
    calls.push({ name: call.function.name, input: typeof given === 'string' ? parse(given) : given });
  }
  if (row.role === 'tool') {
    results.push(message.text);
    message.role = 'user';
    message.text = '';
  }
  return { ...message, ...(calls.length ? { calls } : {}), ...(results.length ? { results } : {}) };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text; // the input of a custom tool is not JSON
  }
}

function textOf(content) {
  if (!Array.isArray(content)) return content ?? '';
  return content.map((part) => part.text ?? '').join('');
}

/** Every conversation in the log: {id, rows (unchanged), said (plain, without system messages)}. */
export function readConversations(home) {
  const sessions = path.join(home, 'agents', 'proxy', 'sessions');
  if (!fs.existsSync(sessions)) return [];
  const files = fs.readdirSync(sessions)
    .filter((name) => name.endsWith('.jsonl') && !name.endsWith('.events.jsonl')).sort();
  return files.map((name) => {
    const lines = fs.readFileSync(path.join(sessions, name), 'utf8').split('\n').filter((line) => line);
    const rows = lines.map((line) => JSON.parse(line)).filter((row) => row.role);
    const said = rows.filter((row) => row.role !== 'system' && row.role !== 'developer').map(plain);
    return { id: name.slice(0, -'.jsonl'.length), rows, said };
  });
}

/** The requests that the fake provider received: [{line, fields: [[name, value]], body}], in order. */
export function readRecorded(recorded) {
  return fs.readdirSync(recorded).filter((name) => name.endsWith('.head')).sort().map((name) => {
    const [line, ...fields] = fs.readFileSync(path.join(recorded, name), 'latin1').split('\r\n').slice(0, -1);
    return {
      line,
      fields: fields.map((field) => [field.slice(0, field.indexOf(': ')), field.slice(field.indexOf(': ') + 2)]),
      body: fs.readFileSync(path.join(recorded, name.replace('.head', '.body'))),
    };
  });
}
