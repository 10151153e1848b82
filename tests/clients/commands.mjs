// commands.mjs -- the commands maki connect and maki demo.
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { assert, test } from './common.mjs';
import { build, tempDirectory, readConversations, startFake, startMaki } from '../e2e/lib.mjs';

const agents = ['claude', 'codex', 'opencode', 'pi', 'qwen', 'gemini'];

/** {code, out, err} of a command. */
async function maki(args, env = {}) {
  const child = spawn(path.join(build, 'maki'), args, {
    stdio: ['ignore', 'pipe', 'pipe'], env: { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', ...env },
  });
  let out = '', err = '';
  child.stdout.on('data', (bytes) => (out += bytes));
  child.stderr.on('data', (bytes) => (err += bytes));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, out, err };
}

/** A directory for PATH with fake agents that print how they were called. */
function fakeAgents(t) {
  const bin = tempDirectory(t, 'maki-bin');
  for (const name of agents) {
    fs.writeFileSync(path.join(bin, name), '#!/bin/sh\nenv\nprintf "<%s>" "$0" "$@"\n', { mode: 0o755 });
  }
  return bin;
}

test('connect starts each agent with the daemon\'s address and its own arguments as they are', async (t) => {
  const fake = await startFake(t);
  const daemon = await startMaki(t, { upstream: fake.url });
  const env = { PATH: `${fakeAgents(t)}:/usr/bin:/bin`, HOME: tempDirectory(t), MAKI_HOME: daemon.home, MAKI_URL: daemon.url };
  for (const name of agents) {
    const odd = ['-p', 'it\'s {url} "日本"  $HOME', ''];
    const { code, out, err } = await maki(['connect', name, '--', ...odd], env);
    assert.equal(code, 0, err);
    const file = /<-e><([^>]*)>/.exec(out)?.[1];
    assert.ok((file ? fs.readFileSync(file, 'utf8') : out).includes(daemon.url), `${name}: ${out}`);
    assert.ok(out.endsWith(odd.map((word) => `<${word}>`).join('')), out);
  }
  assert.deepEqual(fs.readdirSync(env.HOME), [], 'something was written to the home directory');
});

test('connect --print shows a line that a shell runs', async (t) => {
  const env = { HOME: tempDirectory(t), MAKI_HOME: tempDirectory(t) };
  for (const name of agents) {
    const { code, out } = await maki(['connect', name, '--model', 'm/1', '--print', '--', 'it\'s'], env);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`(^| )${name} .*'it'\\\\''s'\n$`));
  }
});

test('connect says what is missing and what to do', async (t) => {
  const env = { HOME: tempDirectory(t), MAKI_HOME: tempDirectory(t) };
  const nobody = { ...env, PATH: `${fakeAgents(t)}:/usr/bin:/bin`, MAKI_URL: 'http://127.0.0.1:1' };
  assert.match((await maki(['connect'], env)).err, /missing: agent; there are claude/);
  assert.match((await maki(['connect', 'emacs'], env)).err, /unknown agent emacs; there are claude, codex/);
  assert.match((await maki(['connect', 'claude', '-p'], env)).err, /come after --/);
  assert.match((await maki(['connect', 'claude', '--url', 'https://x'], env)).err, /http:\/\/HOST:PORT/);
  assert.match((await maki(['connect', 'pi', '--model', 'a"b'], env)).err, /not the name of a model/);
  const absent = await maki(['connect', 'claude'], env);
  assert.equal(absent.code, 5);
  assert.match(absent.err, /not on PATH; install it with: npm install -g @anthropic-ai\/claude-code/);
  const silent = await maki(['connect', 'claude'], nobody);
  assert.equal(silent.code, 11);
  assert.match(silent.err, /nothing answers at .*\nStart the daemon with `maki serve`/);
  const fake = await startFake(t);
  assert.match((await maki(['connect', 'claude', '--url', fake.url], nobody)).err, /is not Maki \(HTTP 404/);
});

test('gemini keeps its own home when its settings choose a key', async (t) => {
  const env = { HOME: tempDirectory(t), MAKI_HOME: tempDirectory(t) };
  assert.match((await maki(['connect', 'gemini', '--print'], env)).out, /GEMINI_CLI_HOME=/);
  fs.mkdirSync(path.join(env.HOME, '.gemini'));
  fs.writeFileSync(path.join(env.HOME, '.gemini/settings.json'), '{"security":{"auth":{"selectedType":"gemini-api-key"}}}');
  assert.doesNotMatch((await maki(['connect', 'gemini', '--print'], env)).out, /GEMINI_CLI_HOME=/);
});

test('demo starts a daemon when none runs, and its conversations are in the log', async (t) => {
  const home = tempDirectory(t);
  const config = path.join(home, 'maki.yaml'); // at its address none runs
  fs.writeFileSync(config, 'serve: {listen: "127.0.0.1:1"}\n');
  const { code, out, err } = await maki(['demo', '--once'], { HOME: tempDirectory(t), MAKI_HOME: home, MAKI_CONFIG: config });
  assert.equal(code, 0, err);
  assert.match(out, /started for this demo/);
  const talks = readConversations(home);
  assert.deepEqual(talks.map((talk) => talk.said.length).sort((a, b) => a - b), [6, 8, 10]);
  const spoken = JSON.stringify(talks.map((talk) => talk.said));
  const lines = (agent) => {
    const sessions = path.join(home, 'agents', agent, 'sessions');
    return fs.readdirSync(sessions).filter((name) => name.endsWith('.events.jsonl'))
      .flatMap((name) => fs.readFileSync(path.join(sessions, name), 'utf8').trim().split('\n').map(JSON.parse));
  };
  assert.equal(lines('proxy').filter((event) => event.type === 'provider_error' && event.status === 429).length, 1);
  assert.deepEqual(lines('default').map((event) => event.type), ['pin', 'trim', 'condense', 'rewind', 'undo', 'session']);
  for (const words of ['You are welcome. 🍣', '索引を追加しました', '不客气']) assert.ok(spoken.includes(words));
});

test('demo says what is wrong with its arguments', async () => {
  assert.match((await maki(['demo', '--fast'])).err, /unknown option --fast/);
  assert.match((await maki(['demo', '--url', 'here'])).err, /http:\/\/HOST:PORT, not here/);
});
