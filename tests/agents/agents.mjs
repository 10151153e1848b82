// agents.mjs -- real agents, each started by `maki connect`, complete turns through the proxy with the fake
// provider: a turn of text, a turn that reads a file, and a later turn of the same conversation.
//
// Run by tests/agents/apart: no network but loopback, a temporary home and a dummy key.
import test from 'node:test';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { build, tempDirectory, quiet, readConversations, readRecorded, root, startFake, startMaki } from '../e2e/lib.mjs';
import { assertSame, startTee } from '../e2e/tee.mjs';

const npm = path.join(root, 'build/npm');
const TURN_MS = 600_000; // an agent that hangs fails the test; none takes a fiftieth of this

/** program: [file, ...first arguments]; settings: its own, which must stay as they are; turn, again: its
 *  arguments for a new conversation and for going on with the last; aside: conversations besides the
 *  main one that each turn may leave in the log (titles, routing, memory). */
const agents = [
  {
    name: 'claude',
    program: [path.join(npm, '@anthropic-ai/claude-code-linux-x64/claude')],
    settings: { '.claude/settings.json': '{}\n' },
    key: { ANTHROPIC_API_KEY: 'sk-dummy' },
    turn: (text) => ['-p', text, '--allowedTools', 'Read'],
    again: (text) => ['-p', text, '--continue'],
    aside: /title/i,
  },
  {
    name: 'codex',
    program: [path.join(npm, '@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex')],
    settings: { '.codex/config.toml': '# mine\n' },
    key: { OPENAI_API_KEY: 'sk-dummy' },
    turn: (text) => ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', text],
    again: (text) => ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', 'resume', '--last', text],
  },
  {
    name: 'opencode',
    program: [path.join(npm, 'opencode-linux-x64/bin/opencode')],
    settings: { '.config/opencode/opencode.json': '{"$schema":"https://opencode.ai/config.json"}\n' }, // it adds that itself
    key: { OPENAI_API_KEY: 'sk-dummy' },
    model: 'fake',
    turn: (text) => ['run', text],
    again: (text) => ['run', '--continue', text],
    aside: /Generate a title/,
  },
  {
    name: 'pi',
    program: ['env', `NODE_PATH=${npm}`, process.execPath, path.join(npm, '@earendil-works/pi-coding-agent/dist/bundle/cli.js')],
    settings: { '.pi/agent/settings.json': '{}\n', '.pi/agent/models.json': '{"providers":{}}\n' },
    key: { OPENAI_API_KEY: 'sk-dummy' },
    model: 'fake',
    turn: (text) => ['-p', text],
    again: (text) => ['--continue', '-p', text],
  },
  {
    name: 'qwen',
    program: [process.execPath, path.join(npm, '@qwen-code/qwen-code/cli.js')],
    settings: { '.qwen/settings.json': '{\n  "$version": 4\n}' }, // older ones it brings up to date itself
    key: { OPENAI_API_KEY: 'sk-dummy' },
    model: 'fake',
    turn: (text) => ['-p', text],
    again: (text) => ['--continue', '-p', text],
    aside: /Managed memory has TWO directories/, // it asks what to remember
  },
  {
    name: 'gemini',
    program: [process.execPath, path.join(npm, '@google/gemini-cli/bundle/gemini.js')],
    settings: { '.gemini/settings.json': '{}\n' },
    key: { GEMINI_API_KEY: 'dummy' },
    turn: (text) => ['--skip-trust', '-p', text],
    again: (text) => ['--skip-trust', '--resume', 'latest', '-p', text],
    aside: /complexity_score/,
  },
];

/** A home with the agent's settings, a directory to work in, and the agent on PATH under its own name. */
function prepare(t, agent) {
  const place = tempDirectory(t, `maki-agent-${agent.name}`);
  const [bin, home, work] = ['bin', 'home', 'work'].map((name) => path.join(place, name));
  for (const made of [bin, home, work]) fs.mkdirSync(made);
  for (const [file, text] of Object.entries(agent.settings)) {
    fs.mkdirSync(path.dirname(path.join(home, file)), { recursive: true });
    fs.writeFileSync(path.join(home, file), text);
  }
  const words = agent.program.map((word) => `'${word}'`).join(' ');
  fs.writeFileSync(path.join(bin, agent.name), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  fs.writeFileSync(path.join(work, 'hello.txt'), 'The secret word is maguro 鮪.\n');
  return { bin, home, work };
}

/** Run a turn and give what the agent printed. */
async function run(place, agent, url, home, args) {
  const model = agent.model ? ['--model', agent.model] : [];
  const child = spawn(path.join(build, 'maki'), ['connect', agent.name, '--url', url, ...model, '--', ...args], {
    cwd: place.work,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${place.bin}:${path.dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: place.home, MAKI_HOME: home, LANG: 'C.UTF-8', TERM: 'dumb', ...agent.key,
    },
  });
  let out = '', err = '';
  child.stdout.on('data', (bytes) => (out += bytes));
  child.stderr.on('data', (bytes) => (err += bytes));
  const timer = setTimeout(() => child.kill('SIGKILL'), TURN_MS);
  const code = await new Promise((resolve) => child.on('close', (status, signal) => resolve(status ?? signal)));
  clearTimeout(timer);
  assert.equal(code, 0, `${agent.name} ended with ${code}: ${out}${err}`);
  return out;
}

const has = (talk, text) => talk.said.some((message) => message.text.includes(text));
const calls = (talk) => talk.said.flatMap((message) => message.calls ?? []);
const results = (talk) => talk.said.flatMap((message) => message.results ?? []);

/** The one conversation in which this was asked and `reply` answered, the side requests left out. */
function mainTalk(home, agent, ask, reply) {
  const found = readConversations(home).filter((talk) =>
    has(talk, ask) && talk.said.some((message) => message.role === 'assistant' && message.text.includes(reply)) &&
    !(agent.aside && talk.said.some((message) => agent.aside.test(message.text))));
  assert.equal(found.length, 1, `${agent.name}: ${found.length} conversations hold "${ask}"`);
  return found[0];
}

for (const agent of agents) {
  test(`${agent.name}: text, a tool, and going on, each conversation once in the log`, async (t) => {
    const place = prepare(t, agent);
    const fake = await startFake(t, { record: true });
    const maki = await startMaki(t, { upstream: fake.url });
    const tee = await startTee(t, maki.url);
    const say = async (args) => {
      const out = await run(place, agent, tee.url, maki.home, args);
      await quiet(maki); // an agent may leave before the last byte of a reply
      return out;
    };

    const asked = '答えは何ですか';
    assert.match(await say(agent.turn(asked)), /ですね。わかりました。🍣/);
    const text = mainTalk(maki.home, agent, asked, 'ですね。わかりました。🍣');
    assert.equal(calls(text).length, 0);

    const file = path.join(place.work, 'hello.txt');
    assert.match(await say(agent.turn(`Read it. fake:agent ${file}`)), /maguro 鮪/);
    const read = mainTalk(maki.home, agent, `fake:agent ${file}`, 'maguro');
    assert.notEqual(read.id, text.id);
    assert.equal(calls(read).length, 1);
    assert.equal(results(read).length, 1);
    assert.match(results(read)[0], /maguro 鮪/);

    assert.match(await say(agent.again('And again?')), /You said: .*And again\?/);
    assert.equal(mainTalk(maki.home, agent, 'And again?', 'And again?').id, read.id);

    for (const [name, was] of Object.entries(agent.settings)) {
      assert.equal(fs.readFileSync(path.join(place.home, name), 'utf8'), was, `${name} was changed`);
    }
    const sent = tee.requests().filter((request) => !request.line.includes(' /maki/'));
    t.diagnostic(`${sent.length} requests; ${readConversations(maki.home).length} conversations`);
    assertSame(sent, readRecorded(fake.recorded));
  });
}
