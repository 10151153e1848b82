// kit.mjs -- helpers of the page's tests: one browser for all of them, a daemon with a home of its own, conversations.
//
//     pageTest('the overview', async ({ t, open }) => {
//       const maki = await start(t);
//       const { id } = await session(maki, 'soup', [said('user', 'Hello')]);
//       const page = await open(maki, { at: `#/c/${id}` });
//       ...
//     });
//
// A test fails when the page wrote an error to the console, broke its Content-Security-Policy, or asked another origin than
// the daemon for anything, whatever else it tests.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build, PATIENCE_MS, quiet, root, startFake, startMaki, tempDirectory, until as poll } from '../e2e/lib.mjs';

export const until = (what, ask) => poll(what, ask, PATIENCE);
export { assert, build, quiet, root, tempDirectory };

const PATIENCE = Number(process.env.MAKI_PATIENCE ?? PATIENCE_MS);
const npm = (file) => path.join(root, 'build/npm', file);
const { chromium } = await import(pathToFileURL(npm('playwright-core/index.mjs')));

/** The first Chromium of this machine. */
function chromiumPath() {
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
  const places = (process.env.PATH ?? '').split(':').flatMap((directory) => names.map((name) => path.join(directory, name)));
  return process.env.MAKI_CHROMIUM ?? places.find((file) => fs.existsSync(file)) ?? 'chromium';
}

let browser = null, browserHome = null;

/** The one browser of this process, with a home of its own; `args`: more arguments. */
export async function theBrowser(args = []) {
  browserHome ??= fs.mkdtempSync(path.join(os.tmpdir(), 'maki-browser-'));
  return (browser ??= await chromium.launch({
    executablePath: chromiumPath(), args: ['--disable-dev-shm-usage', ...args], env: { ...process.env, HOME: browserHome }, timeout: PATIENCE,
  }));
}

export async function closeBrowser() {
  await browser?.close();
  if (browserHome) fs.rmSync(browserHome, { recursive: true, force: true, maxRetries: 20 });
  browser = browserHome = null;
}

/** For programs that are not tests: what a test's `t` is to the helpers here; end() undoes what was registered. */
export function scope() {
  const ends = [];
  return {
    after: (fn) => ends.unshift(fn),
    diagnostic: (text) => console.error(text),
    async end() {
      for (const fn of ends.splice(0)) await fn();
      await closeBrowser();
    },
  };
}

/** What a page did that it must not do. */
function guard(context, page, url, wrong, { offline, file, errors = [] }) {
  const known = (text) => errors.some((one) => one.test(text));
  page.on('console', (message) => {
    const text = `${message.text()} ${message.location().url}`;
    if (message.type() === 'error' && !(offline && /ERR_|Failed to load resource/.test(text)) && !known(text)) wrong.push(`console: ${text}`);
  });
  page.on('pageerror', (error) => wrong.push(`error: ${error.stack}`));
  context.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && request.url() !== (file && pathToFileURL(file).href) && !/^(data|blob):/.test(request.url())) wrong.push(`request: ${request.url().slice(0, 200)}`);
  });
}

const WATCH = `addEventListener('securitypolicyviolation', (e) => console.error('CSP: ' + e.violatedDirective + ' ' + e.blockedURI));`;

let closing = false; // is the browser closed after the tests?

/** A test with open(maki, options): a page of the daemon.  `offline`: the daemon goes away in this test; `file`: what
 *  is opened besides; `errors`: what the console may say; `axe`: with axe-core. */
export function pageTest(name, body) {
  if (!closing) after(closeBrowser);
  closing = true;
  test(name, async (t) => {
    const contexts = [], wrong = [], pages = [];
    const open = async (maki, { at = '', viewport = { width: 1400, height: 900 }, scheme = 'light', language = 'en-US', axe = false, ...more } = {}) => {
      const context = await (await theBrowser()).newContext({ viewport, colorScheme: scheme, locale: language, reducedMotion: 'reduce', acceptDownloads: true });
      contexts.push(context);
      context.setDefaultTimeout(PATIENCE);
      await context.addInitScript(WATCH);
      if (axe) await context.addInitScript({ path: npm('axe-core/axe.min.js') });
      const page = await context.newPage();
      guard(context, page, maki.url, wrong, more);
      pages.push(page);
      if (at !== null) await page.goto(`${maki.url}/${at}`);
      return page;
    };
    try {
      await body({ t, open });
    } catch (error) {
      for (const page of pages) t.diagnostic(`at ${page.url()}: ${(await page.locator('body').innerText().catch(() => '')).slice(0, 600)}`);
      if (process.env.MAKI_SHOTS) for (const [i, page] of pages.entries()) await page.screenshot({ path: path.join(process.env.MAKI_SHOTS, `${name.replace(/\W+/g, '-').slice(0, 60)}-${i}.png`) }).catch(() => {});
      if (wrong.length) t.diagnostic(wrong.join('\n').slice(0, 3000));
      throw error;
    } finally {
      for (const context of contexts) await context.close().catch(() => {});
    }
    assert.deepEqual(wrong, [], 'what the page must not do');
  });
}

// ---- the daemon and the command -----------------------------------------------------------------------------------------

/** A daemon with a home and a configuration of its own, and the fake provider; `window`: of the model of `maki chat`. */
export async function start(t, { window = 32000, args = [], scenario } = {}) {
  const fake = await startFake(t, { scenario });
  const home = tempDirectory(t, 'maki-page'), config = path.join(home, 'maki.yaml');
  fs.writeFileSync(config, `llm:\n  provider: fake\n  fake: {protocol: openai, model: fake-1, base_url: "${fake.url}", api_key: none, context_length: ${window}}\nsummary: {provider: offline}\n`);
  const env = { MAKI_HOME: home, MAKI_CONFIG: config, HOME: home };
  const maki = await startMaki(t, { upstream: fake.url, home, env, args });
  return { ...maki, fake, env };
}

/** Run `maki ARGUMENTS` with the home of this daemon; what it printed. */
export function run(maki, args, input = '') {
  const { status, stdout, stderr } = spawnSync(path.join(build, 'maki'), args,
    { env: { ...process.env, MAKI_URL: maki.url, ...maki.env }, cwd: maki.home, input, encoding: 'utf8', maxBuffer: 256 << 20 });
  assert.equal(status, 0, `maki ${args.join(' ')}: ${stderr}${stdout.slice(0, 500)}`);
  return stdout;
}

/** Call an operation over HTTP. */
export async function op(maki, name, input = {}) {
  const reply = await fetch(`${maki.url}/maki/ops/${name}`, { method: 'POST', body: JSON.stringify(input) });
  const answer = await reply.json();
  assert.equal(reply.status, 200, `${name}: ${JSON.stringify(answer)}`);
  return answer;
}

// ---- conversations --------------------------------------------------------------------------------------------------------

export const said = (role, content) => ({ role, content });

/** A session of the agent "default" with these messages, written by the command: { id, path }. */
export function session(maki, name, messages) {
  const calls = [{ op: 'session.resolve', input: { channel: 'test', sender: name } },
    { op: 'history.append', input: { conversation: `agent:default:test:${name}`, messages } }].slice(0, messages.length ? 2 : 1);
  const [made] = run(maki, ['op', '--lines'], calls.map((call) => `${JSON.stringify(call)}\n`).join('')).split('\n');
  const { id } = JSON.parse(made);
  return { id, path: path.join(maki.home, 'agents/default/sessions', `${id}.jsonl`) };
}

export const append = (maki, file, messages) => run(maki, ['history', 'append', file], messages.map((m) => `${JSON.stringify(m)}\n`).join(''));

/** `turns` turns: a question and an answer each, of about `words` words. */
export function turns(count, words = 12) {
  const text = (what, i) => `${what} ${i}: ${Array.from({ length: words }, (_, k) => `word${(i * 7 + k) % 97}`).join(' ')}.`;
  return Array.from({ length: count }, (_, i) => [said('user', text('Question', i + 1)), said('assistant', text('Answer', i + 1))]).flat();
}

// ---- what the page shows --------------------------------------------------------------------------------------------------

export const message = (page, seq) => page.locator(`#m${seq}`);

/** Wait until the timeline shows message `seq`, and nothing in view waits to be loaded. */
export async function shows(page, seq) {
  await message(page, seq).waitFor();
  return message(page, seq);
}

/** The first message that is fully visible, and where: [number, pixels]. */
export const place = (page) => page.evaluate(() => {
  const top = document.querySelector('main').getBoundingClientRect().top;
  const first = [...document.querySelectorAll('article.msg[id]')].find((e) => e.getBoundingClientRect().top >= top);
  return first ? [first.id, Math.round(first.getBoundingClientRect().top - top)] : null;
});

/** Wait until the timeline is at rest: nothing waits to be loaded, and nothing moved since the last look. */
export async function settled(page) {
  let before = '';
  await until('the timeline is at rest', async () => {
    const now = await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
      const main = document.querySelector('main');
      const waiting = document.querySelector('.msg.waiting, .event.waiting, main > .dim:only-child');
      done(waiting || !main ? '' : `${main.scrollTop} ${main.scrollHeight} ${document.querySelectorAll('.virtual-row').length}`);
    }))));
    const same = now !== '' && now === before;
    before = now;
    return same;
  });
}

/** Elements that a reader could scroll sideways; none: []. */
export const sideways = (page) => page.evaluate(() => [document.scrollingElement, ...document.querySelectorAll('main, aside, dialog[open], dialog[open] .dialog, nav.list')]
  .filter((e) => e.getClientRects().length && e.scrollWidth > e.clientWidth).map((e) => `${e.tagName}.${e.className} ${e.scrollWidth} > ${e.clientWidth}`));
