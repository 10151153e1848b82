// screenshots.mjs -- pictures of the page for the documents: docs/images/*.png, see scripts/screenshots.
//
// One conversation is Maki's own, with everything that can be done to it; others come from agents in several protocols, through
// the proxy.  What a model answers is written here: a relay in front of the fake provider adds its header x-fake.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { op, quiet, root, said, scope, settled, theBrowser } from './kit.mjs';
import { startFake, startMaki, tempDirectory } from '../e2e/lib.mjs';
import { encode, smaller } from './png.mjs';

const OUT = path.join(root, 'docs/images');
const MODEL = 'claude-sonnet-4-5', WINDOW = 32000;
const VIEWPORT = { width: 1400, height: 900 };

/** A scenario of the fake provider: what it answers. */
const say = (text, more = '') => `cached:91,slow:20,say:${[...Buffer.from(text)].map((b) => `%${b.toString(16).toUpperCase().padStart(2, '0')}`).join('')}${more}`;

/** A server in front of the fake provider: the requests that it forwards get the scenarios of `next`, in order. */
async function startRelay(t, fake, next) {
  let number = 0;
  const server = http.createServer((request, reply) => {
    const scenario = next.shift();
    const send = () => request.pipe(http.request(fake.url + request.url, { method: request.method, headers: { ...request.headers, ...(scenario ? { 'x-fake': scenario } : {}) } }, (answer) => {
      reply.writeHead(answer.statusCode, answer.headers);
      answer.pipe(reply);
    }));
    setTimeout(send, 180 + ((37 * number++) % 400)); // a model takes its time
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

/** A daemon with a home of its own; `next`: the scenarios of what `maki chat` asks. */
async function startDaemon(t) {
  const fake = await startFake(t), home = tempDirectory(t, 'maki-shots'), config = path.join(home, 'maki.yaml'), next = [];
  const relay = await startRelay(t, fake, next);
  fs.writeFileSync(config, `llm:\n  provider: anthropic\n  anthropic: {model: ${MODEL}, base_url: "${relay}", api_key: none, context_length: ${WINDOW}}\nsummary: {provider: offline}\n`);
  const env = { MAKI_HOME: home, MAKI_CONFIG: config, HOME: home };
  const args = ['--upstream', `demo=${relay}`];
  return { ...await startMaki(t, { upstream: relay, home, env, args }), env, next };
}

/** Run the command, without blocking the relay in this process. */
async function command(maki, ...args) {
  const child = spawn(path.join(root, 'build/maki'), args,
    { env: { ...process.env, MAKI_URL: maki.url, ...maki.env }, cwd: maki.home, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (bytes) => (errors += bytes));
  const code = await new Promise((done) => child.on('close', done));
  if (code) throw new Error(`maki ${args[0]} ended with ${code}: ${errors}`);
}

/** `maki chat -p`, whose model answers with these scenarios, one a request. */
async function chat(maki, id, question, ...scenarios) {
  maki.next.push(...scenarios);
  await command(maki, 'chat', '-p', question, '--session', id);
}

// ---- a conversation that Maki manages ---------------------------------------------------------------------------------------

const source = (name, lines) => Array.from({ length: lines }, (_, i) => `${String(i + 1).padStart(4)}  ${[
  `static int on_${name}_${i}(request *r, session *s)`, '{', `    row *found = store_find(s->store, "${name}", r->field[${i % 7}]);`,
  `    if (found == NULL) return reply_error(r, ${400 + (i % 4)}, "no such ${name}");`, `    s->last_${name} = found->id;`, '    return reply_page(r, found);', '}', ''][i % 8]}`).join('\n');
const log = (what, lines) => Array.from({ length: lines }, (_, i) => `09:${String(10 + (i >> 4)).padStart(2, '0')}:${String((i * 7) % 60).padStart(2, '0')} ${what} ${i + 1} of ${lines}: ${['ok', 'ok', 'slow', 'ok'][i % 4]}, ${20 + ((i * 37) % 900)} ms`).join('\n');

const text = (words) => ({ type: 'text', text: words });
const call = (id, name, input) => ({ type: 'tool_use', id, name, input });
const result = (id, content, more = {}) => said('user', [{ type: 'tool_result', tool_use_id: id, content, ...more }]);

const PATCH = `--- a/src/login.c
+++ b/src/login.c
@@ -41,6 +41,9 @@ static int on_login(request *r)
     session *s = session_find(r);
-    return reply_page(r, s->user);
+    if (s == NULL) s = session_new(r);
+    if (s->user == NULL) return reply_redirect(r, "/welcome");
+    return reply_page(r, s->user);
 }`;

const RULES = 'The login page crashes for new users. Never touch the audit log, and always run the tests before you commit. 🍣';

const UNDERSTOOD = 'Understood: the audit log stays as it is, and the tests run before each commit. I will read the handler first.';

const OLD = [
  said('assistant', [call('t1', 'Read', { file_path: 'src/login.c' })]),
  result('t1', source('login', 480)),
  said('assistant', [text('The session of a new user is used before it exists. Let me see where it is made.'), call('t2', 'Read', { file_path: 'src/session.c' })]),
  result('t2', source('session', 440)),
  said('assistant', 'The session is made by the first page after the login, which is too late for a new user.'),
  said('user', 'We decided to keep sessions in SQLite, not in Redis. Ship the beta to Osaka first.'),
  said('assistant', [text('Decided: sessions stay in SQLite. I measure the queries of the login before I change them.'), call('t3', 'Bash', { command: 'bin/measure --queries login' })]),
  result('t3', log('query', 800)),
  said('assistant', 'Every query has an index; the slow ones wait for the disk. The crash is not about the database.'),
  said('user', '新規ユーザーでも試してください。ログは日本語でもかまいません。'),
  said('assistant', '承知しました。新規ユーザーのテストを追加して確認します。'),
  said('user', '那么旧用户呢？请也检查一下。'),
  said('assistant', '旧用户不受影响：他们的会话已经存在。'),
];

/** A chart of bars, as a PNG in base64. */
function picture(width = 220, height = 120) {
  const lines = Buffer.alloc((3 * width + 1) * height, 250);
  for (let y = 0; y < height; y++) {
    lines[y * (3 * width + 1)] = 0; // no filter
    for (let x = 12; x < width - 12; x++) {
      const bar = Math.floor((x - 12) / 28), tall = [30, 52, 44, 70, 88, 62, 96][bar];
      if ((x - 12) % 28 < 20 && y >= height - 10 - tall && y < height - 10) lines.set(bar === 6 ? [201, 138, 58] : [74, 127, 181], y * (3 * width + 1) + 1 + 3 * x);
    }
  }
  return encode({ width, height, colours: 2, lines }).toString('base64');
}

const FIX = [
  said('assistant', [{ type: 'thinking', thinking: 'A new user has no session row. Making one in session_find would hide other mistakes, so the handler should make it, and send the user to the welcome page.', signature: 'c2ln' },
    text('The crash comes from a missing session row. The handler has to make it:'),
    call('f1', 'Edit', { file_path: 'src/login.c', old_string: '    return reply_page(r, s->user);', new_string: '    if (s == NULL) s = session_new(r);\n    return reply_page(r, s->user);' })]),
  result('f1', PATCH),
  said('assistant', [text('Now the tests, as you asked.'), call('f2', 'Bash', { command: 'make test' })]),
  result('f2', `${log('test', 120)}\n120 tests: 119 passed, 1 failed: signup_test (flaky on CI)`, { is_error: true }),
  said('assistant', 'One test fails, and it failed before the change too:\n\n| suite | passed | failed |\n|---|---|---|\n| login | 48 | 0 |\n| session | 57 | 0 |\n| signup | 14 | **1** |\n\n```c\n/* signup_test.c: waits for a mail that CI never sends */\nassert(mail_wait(box, 500));\n```'),
  said('assistant', [text('The sessions are the same as in the backup:'), call('f3', 'Bash', { command: 'bin/compare --sessions backup/monday' })]),
  result('f3', log('session', 1000)),
  said('user', [text('<system-reminder>The file src/login.c was changed by the user.</system-reminder>'), text('Signups per day, after the fix. The last bar is today:'),
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture() } }]),
];

async function managed(maki) {
  await chat(maki, 'login-crash', RULES, say(UNDERSTOOD));
  const { sessions: [{ id }] } = await op(maki, 'session.list', {});
  const here = { conversation: id }, add = (messages) => op(maki, 'history.append', { ...here, messages });
  await op(maki, 'history.pin', { ...here, seq: 1 });
  await add(OLD.slice(0, 5));
  await chat(maki, id, 'Is the database a part of it?', say('No: the crash happens before the first query.'));
  await add(OLD.slice(5, 9));
  await chat(maki, id, 'Good. Then only the handler is left?', say('Yes. I looked at both files, and only the handler uses the session too early.'));
  await add(OLD.slice(9));
  await chat(maki, id, '로그인 후에는 어디로 가나요?', say('새 사용자는 환영 페이지로, 다른 사용자는 자신의 페이지로 갑니다.'));
  await op(maki, 'history.condense', { ...here, keepCount: 2 });
  await add(FIX.slice(0, 2));
  await chat(maki, id, 'Looks right. What about the tests?', '500,first:1', say('I run them now.'));
  await add(FIX.slice(2, 5));
  await chat(maki, id, 'Did you look at the old sessions too?', say('I compare them with the backup.'));
  await add(FIX.slice(5));
  await chat(maki, id, 'Is that as it should be?', say('Yes: signups are back, more than before the crash. Two things are left:\n\n1. `signup_test` waits for a mail that CI never sends\n2. the beta for Osaka, as decided\n\nShall I write the test first?', ',think'));
  const { last } = await op(maki, 'session.outline', here);
  await chat(maki, id, 'Drop the tests, we are late.', say('I would rather not: you asked for tests before each commit.'));
  await op(maki, 'history.rewind', { ...here, seq: last });
  await op(maki, 'history.trim', { ...here, seq: last - 8, head: 300, tail: 300 });
  await chat(maki, id, 'Yes, the test first. 🙂', say('Done: the test no longer needs the mail, and all 120 pass.'));
  await op(maki, 'session.rename', { ...here, name: 'Login page crashes for new users' });
  return id;
}

// ---- agents through the proxy -------------------------------------------------------------------------------------------------

async function post(maki, name, agent, target, body, scenario) {
  const reply = await fetch(maki.url + target, {
    method: 'POST', body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-maki-session': name, 'user-agent': agent, authorization: 'Bearer key', 'x-api-key': 'key', 'anthropic-version': '2023-06-01', 'x-goog-api-key': 'key', ...(scenario ? { 'x-fake': scenario } : {}) },
  });
  const answer = await reply.text();
  await quiet(maki);
  return answer;
}

const property = (name) => ({ type: 'object', properties: { [name]: { type: 'string', description: `The ${name} to use, relative to the working directory.` } }, required: [name] });
const TOOLS = [['Read', 'file_path'], ['Edit', 'file_path'], ['Bash', 'command'], ['Grep', 'pattern'], ['Glob', 'pattern'], ['WebFetch', 'url']]
  .map(([name, field]) => ({ name, description: `${name}: works on the files of the project. ${'Paths are relative; large results are shortened. '.repeat(6)}`, input_schema: property(field) }));

/** An agent that uses Anthropic's API; `fails`: scenarios that are answered before the last answer. */
/** The content of a message that was streamed by Anthropic's API; null: it failed. */
function contentOf(stream) {
  const content = [];
  for (const [, data] of stream.matchAll(/^data: (.*)$/gm)) {
    const event = JSON.parse(data), block = content[event.index];
    if (event.type === 'content_block_start') content[event.index] = { ...event.content_block, ...(event.content_block.type === 'tool_use' ? { input: '' } : {}) };
    if (event.delta?.type === 'text_delta') block.text += event.delta.text;
    if (event.delta?.type === 'thinking_delta') block.thinking += event.delta.thinking;
    if (event.delta?.type === 'signature_delta') block.signature = event.delta.signature;
    if (event.delta?.type === 'input_json_delta') block.input += event.delta.partial_json;
  }
  return content.map((block) => (block.type === 'tool_use' ? { ...block, input: JSON.parse(block.input || '{}') } : block));
}

async function claudeCode(maki, name, turns, fails = []) {
  const messages = [], body = () => ({ model: 'claude-sonnet-4-5', max_tokens: 8000, stream: true, system: `You are a careful programmer.\n${'Say what you are going to do before you do it. '.repeat(60)}`, tools: TOOLS, messages });
  const ask = (scenario) => post(maki, name, 'claude-cli/2.1.0 (external, cli)', '/v1/messages', body(), scenario);
  for (const [i, [question, answer, tool, output]] of turns.entries()) {
    const reminder = i === 0 ? [text('<system-reminder>Today is a working day. The project has a file CONTRIBUTING.md.</system-reminder>')] : [];
    messages.push(said('user', [...reminder, text(question)]));
    if (i === turns.length - 1) for (const scenario of fails) await ask(scenario);
    if (tool) {
      const content = contentOf(await ask(say(answer, `,think,tool:${tool[0]} ${JSON.stringify(tool[1])}`)));
      messages.push(said('assistant', content), result(content.find((b) => b.type === 'tool_use').id, output));
      messages.push(said('assistant', contentOf(await ask(say(turns[i][4])))));
    } else {
      messages.push(said('assistant', contentOf(await ask(say(answer)))));
    }
  }
}

async function others(maki) {
  const ask = (name, agent, target, body, words) => post(maki, name, agent, target, body, say(words));
  await ask('g', 'GeminiCLI/0.61.0', '/v1beta/models/gemini-2.5-pro:generateContent', { contents: [{ role: 'user', parts: [{ text: '배포 스크립트를 검토해 주세요. 실패하면 되돌려야 합니다.' }] }] }, '되돌리기 단계가 없습니다. 추가할까요?');
  await ask('o', 'ollama-js/0.6.0', '/api/chat', { model: 'qwen3:8b', stream: false, messages: [said('user', 'Write a haiku about rice and seaweed')] }, 'Rice in the seaweed; / a mat of bamboo turns once. / The knife is still wet.');
  const chinese = [said('system', '你是一位细心的技术作者。'), said('user', '请把 README 的第一段翻译成中文。')];
  await ask('c', 'opencode/1.18.34', '/v1/chat/completions', { model: 'gpt-5', messages: chinese }, '“Maki 保留对话中的每一个字，只发送放得下的部分。”');
  const japanese = [{ role: 'user', content: '検索が遅いです。原因を調べてください。' }];
  await ask('x', 'codex_cli_rs/0.169.0', '/v1/responses', { model: 'gpt-5-codex', instructions: '慎重なプログラマーです。', input: japanese, store: false }, '索引がないため、毎回すべての行を読んでいます。');
  const billing = [['Move billing to the queue worker. Start with a plan.', 'I read the present code first.', ['Read', { file_path: 'src/billing.c' }], source('billing', 900), 'Three calls have to move: `charge`, `refund` and `remind`. I would begin with `remind`, because nothing waits for it.'],
    ['Begin with remind, then.', 'I look for its callers.', ['Grep', { pattern: 'remind\\(' }], 'src/billing.c:88: remind(r, due);\nsrc/cron.c:12: remind(NULL, now);', 'It has two callers. `src/cron.c` can move as it is; in `src/billing.c` the reply has to leave before the reminder does.'],
    ['Good. Is there a test for cron?', 'Yes: `tests/cron_test.c`, with 14 cases. One of them covers `remind`.']];
  await claudeCode(maki, 'billing', billing);
  const failing = [['Summarize the release notes of the last year', 'I read them one after the other.', ['Glob', { pattern: 'notes/*.md' }], Array.from({ length: 12 }, (_, i) => `notes/release-${i + 1}.md`).join('\n'), 'There are twelve, one a month.'],
    ['All of them in one table, please', '| month | change |\n|---|---|\n| March | faster search |\n| June | signups by mail |\n| October | the new login |']];
  await claudeCode(maki, 'notes', failing, ['429,after:2', 'busy', 'window:900,overflow', 'words:the%20server%20is%20restarting,500']);
}

// ---- the pictures ---------------------------------------------------------------------------------------------------------------

async function photographer(t) {
  const browser = await theBrowser(['--font-render-hinting=none']);
  const open = async (maki, at, { viewport = VIEWPORT, scheme = 'light' } = {}) => {
    const context = await browser.newContext({ viewport, colorScheme: scheme, locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' });
    t.after(() => context.close());
    const page = await context.newPage();
    await page.goto(`${maki.url}/${at}`);
    return page;
  };
  const take = async (page, name) => {
    await page.mouse.move(0, 0);
    await page.waitForLoadState('networkidle').catch(() => {});
    const png = smaller(await page.screenshot());
    fs.mkdirSync(OUT, { recursive: true });
    fs.writeFileSync(path.join(OUT, `${name}.png`), png);
    console.log(`screenshots: docs/images/${name}.png, ${Math.ceil(png.length / 1000)} kB`);
    await page.context().close();
  };
  return { open, take };
}

async function main(wanted) {
  const t = scope();
  try {
    const { open, take } = await photographer(t);
    const wants = (name) => wanted.length === 0 || wanted.includes(name);
    const maki = await startDaemon(t);
    if (wants('first-run')) {
      const page = await open(maki, '#/');
      await page.getByRole('button').first().waitFor();
      await take(page, 'first-run');
    }
    await command(maki, 'demo', '--once');
    await others(maki);
    const id = await managed(maki);
    const { sessions } = await op(maki, 'session.list', {});
    const find = (name) => sessions.find((s) => s.sessionKey?.endsWith(`:${name}`)).id;
    const conversation = async (options = {}) => {
      const page = await open(maki, `#/c/${id}`, options);
      await page.locator('.timeline .msg').first().waitFor();
      await page.locator('.chart').waitFor();
      await settled(page);
      return page;
    };
    const pictures = {
      async overview(name) {
        const page = await open(maki, '#/');
        await page.locator('a.item').nth(sessions.length - 1).waitFor();
        await take(page, name);
      },
      async timeline(name) {
        const page = await conversation();
        await page.keyboard.press('Shift+G');
        await settled(page);
        await take(page, name);
      },
      conversation: async (name) => take(await conversation({ viewport: { width: 1400, height: 1250 } }), name),
      dark: async (name) => take(await conversation({ scheme: 'dark' }), name),
      phone: async (name) => take(await conversation({ viewport: { width: 390, height: 844 } }), name),
      async preview(name) {
        const page = await conversation();
        await page.locator('.toolbar .btn.main').click();
        await page.locator('dialog .summary').waitFor();
        await take(page, name);
      },
      async comparison(name) {
        const page = await conversation();
        await page.getByRole('button', { name: 'Compare …' }).click();
        await page.locator('dialog .change').waitFor();
        await page.locator('dialog').getByRole('textbox').first().fill('14');
        await page.locator('dialog').getByRole('button', { name: 'Compare', exact: true }).click();
        await page.locator('dialog .difference').first().waitFor();
        await take(page, name);
      },
      async request(name) {
        const billing = find('billing'), { ev } = await op(maki, 'session.request', { conversation: billing });
        const page = await open(maki, `#/c/${billing}/r/${ev}`);
        await page.locator('aside .request table tr').first().waitFor();
        await settled(page);
        await take(page, name);
      },
      async errors(name) {
        const page = await open(maki, `#/c/${find('notes')}`);
        await page.locator('article.event.err').first().waitFor();
        await settled(page);
        await page.evaluate(() => document.querySelector('article.event.err').scrollIntoView({ block: 'center' }));
        await settled(page);
        await take(page, name);
      },
    };
    for (const [name, picture] of Object.entries(pictures)) if (wants(name)) await picture(name);
  } finally {
    await t.end();
  }
}

await main(process.argv.slice(2));
