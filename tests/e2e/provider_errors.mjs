// provider_errors.mjs -- what an exchange leaves: an error with its status, words and model, keys masked; what a request took and cost.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { build, quiet, startMaki, tempDirectory } from './lib.mjs';

const KEY = 'sk-proj-0123456789abcdefABCDEF', OTHER = 'sk-ant-api03-ZZZZyyyyXXXXwwww0123456789';

/** An exchange with an upstream that answers so (undefined: nobody listens); and what each place says about it afterwards. */
async function fail(t, answer) {
  let upstream = 'http://127.0.0.1:1';
  if (answer) {
    const server = http.createServer((request, reply) => {
      request.resume().on('end', () => reply.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body)));
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    upstream = `http://127.0.0.1:${server.address().port}`;
  }
  const maki = await startMaki(t, { upstream });
  await fetch(`${maki.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model: '海苔-9', messages: [{ role: 'user', content: 'もしもし 喂 여보세요 📞' }] }),
  }).then((reply) => reply.text());
  await quiet(maki);
  const { sessions: [{ id }] } = await (await fetch(`${maki.url}/maki/sessions`)).json();
  const run = (...args) => {
    const done = spawnSync(path.join(build, 'maki'), args, { env: { ...process.env, MAKI_HOME: maki.home }, encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    return done.stdout;
  };
  const api = await (await fetch(`${maki.url}/maki/sessions/${id}`)).text();
  return { log: run('history', 'log', id), show: run('session', 'show', id), api };
}

test('a 429: its status, its words and the model that was asked for', async (t) => {
  const told = await fail(t, { status: 429, body: { error: { message: '混み合っています。稍后再试。잠시 후 다시.', type: 'rate_limit_error' } } });
  for (const [where, text] of Object.entries(told)) {
    assert.match(text, /429/, where);
    assert.ok(text.includes('混み合っています。稍后再试。잠시 후 다시.'), `${where}: ${text}`);
  }
  assert.match(told.log, /provider_error .*model="海苔-9" status=429/);
});

test('an overflow', async (t) => {
  const told = await fail(t, { status: 400, body: { error: { message: 'maximum context length is 8192 tokens', code: 'context_length_exceeded' } } });
  assert.match(told.log, /provider_error .*status=400 message="maximum context length is 8192 tokens"/);
  assert.match(told.api, /maximum context length is 8192 tokens/);
});

test('a 401 that repeats the key: it is masked everywhere', async (t) => {
  const told = await fail(t, { status: 401, body: { error: { message: `Incorrect API key provided: ${KEY}. Use ${OTHER}`, code: 'invalid_api_key' } } });
  for (const [where, text] of Object.entries(told)) {
    assert.match(text, /Incorrect API key provided/, where);
    assert.ok(!text.includes(KEY) && !text.includes(OTHER), `${where}: ${text}`);
  }
});

test('a refused connection', async (t) => {
  const told = await fail(t);
  for (const [where, text] of Object.entries(told)) assert.match(text, /refused|connect/i, where);
  assert.match(told.log, /provider_error /);
});

test('what a request took: first byte and duration', async (t) => {
  const told = await fail(t, { status: 200, body: { id: 'x', object: 'chat.completion', model: '海苔-9', usage: { prompt_tokens: 9, completion_tokens: 3 },
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'はい' } }] } });
  assert.match(told.show, /firstMs/);
  const { exchanges } = JSON.parse(told.api);
  assert.ok(exchanges.some(({ firstMs, ms }) => firstMs >= 0 && ms >= firstMs), told.api);
  assert.ok(!told.log.includes('provider_error'));
});

test('the cost that a provider reports for a turn is shown', async (t) => {
  const home = tempDirectory(t, 'maki-home');
  const chunk = (fields) => `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: '海苔-9', ...fields })}\n\n`;
  const server = http.createServer((request, reply) => {
    request.resume().on('end', () => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.write(chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'はい' } }] }));
      reply.write(chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }));
      reply.end(`${chunk({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 3, cost: 0.25 } })}data: [DONE]\n\n`);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const config = path.join(home, 'maki.yaml');
  fs.writeFileSync(config, `llm:\n  provider: dear\n  dear: {model: 海苔-9, api_key: none, context_length: 64000, base_url: "http://127.0.0.1:${server.address().port}"}\n`);
  const env = { ...process.env, MAKI_HOME: home, MAKI_CONFIG: config };
  const run = async (...args) => (await promisify(execFile)(path.join(build, 'maki'), args, { env, cwd: home })).stdout;
  assert.match(await run('chat', '-p', '値段は？ 多少钱 얼마예요 💴', '--session', 'cost'), /はい/);
  const { sessions: [{ id }] } = JSON.parse(await run('session', 'list', '--json'));
  assert.match(await run('session', 'show', id), /usage .*cost=0\.25/);
  assert.ok(JSON.parse(await run('op', 'session.show', JSON.stringify({ conversation: id }))).exchanges.some(({ cost }) => cost === 0.25));
});
