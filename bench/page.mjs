// page.mjs -- the page with a conversation of 100,000 messages and 1,000 steps, in Chromium; for bench/page.py.
//
//     node bench/page.mjs ROUNDS        MAKI_BUILD: where the programs are
//
// Prints one JSON object with a sample a round of each:
//     firstMs      from navigation until the window's bar and the first messages are in the document and were painted
//     frameMs      the longest frame while scrolling 20,000 pixels from the middle on, and then to the end
//     heapBytes    what the scrolling adds to the heap
//     elements     the most elements in the document
// A round is a page in a new context: nothing is cached.
import fs from 'node:fs';
import { op, run, said, scope, session, start, theBrowser, until } from '../tests/page/kit.mjs';

const MESSAGES = 100_000, STEPS = 1_000, PIXELS = 20_000, PIXELS_FRAME = 100;

/** The conversation: pins and trims among its last messages, so that the timeline has a row for each. */
async function makeConversation(maki) {
  const { id, path } = session(maki, 'long', []);
  const words = 'maki nori roll of rice and fish 巻き寿司 海苔 '.repeat(4);
  const rows = (from, count) => Array.from({ length: count }, (_, i) => said((from + i) % 2 ? 'user' : 'assistant', `${from + i}: ${words}${'.'.repeat(i % 50)}`));
  const first = MESSAGES - 2 * STEPS; // then a step after each two messages
  fs.appendFileSync(path, rows(1, first).map((row) => `${JSON.stringify(row)}\n`).join(''));
  const steps = Array.from({ length: STEPS }, (_, i) => [{ op: 'history.append', input: { conversation: path, messages: rows(first + 1 + 2 * i, 2) } },
    { op: i % 2 ? 'history.trim' : 'history.pin', input: { conversation: path, seq: 50 + 97 * i, ...(i % 2 ? { head: 10, tail: 10 } : {}) } }]).flat();
  run(maki, ['op', '--lines'], steps.map((step) => `${JSON.stringify(step)}\n`).join(''));
  const outline = await op(maki, 'session.outline', { conversation: id });
  if (outline.last !== MESSAGES || outline.steps.length !== STEPS) throw new Error(`${outline.last} messages, ${outline.steps.length} steps`);
  return id;
}

// In the page: note when the bar and the first messages are there, and the frame with them was painted.
const WATCH = `{
  const seen = () => document.querySelector('.window .fill') && document.querySelector('article.msg[id]');
  const watcher = new MutationObserver(() => {
    if (!seen()) return;
    watcher.disconnect();
    requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = () => { window.firstMs = performance.now(); }; port2.postMessage(0); });
  });
  addEventListener('DOMContentLoaded', () => watcher.observe(document.body, { childList: true, subtree: true }));
}`;

/** In the page: scroll from the middle, a step a frame, then to the end; the longest frame and the most elements. */
async function scroll({ pixels, step }) {
  const main = document.querySelector('main'), frames = [];
  const frame = () => new Promise(requestAnimationFrame);
  let elements = 0, before;
  const next = async () => {
    const now = await frame();
    frames.push(now - before);
    before = now;
    elements = Math.max(elements, document.querySelectorAll('*').length);
  };
  main.scrollTop = main.scrollHeight / 2;
  before = await frame();
  for (let at = 0; at < pixels; at += step) {
    main.scrollTop += step;
    await next();
  }
  main.scrollTop = main.scrollHeight;
  for (let i = 0; i < 30; i++) await next();
  return { longest: Math.max(...frames), median: frames.sort((a, b) => a - b)[frames.length >> 1], elements };
}

async function heapOf(cdp) {
  await cdp.send('HeapProfiler.collectGarbage');
  return (await cdp.send('Runtime.getHeapUsage')).usedSize;
}

async function round(browser, maki, id) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, reducedMotion: 'reduce' });
  try {
    await context.addInitScript(WATCH);
    const page = await context.newPage();
    await page.goto(`${maki.url}/#/c/${id}`);
    await page.waitForFunction(() => window.firstMs);
    const firstMs = await page.evaluate(() => window.firstMs);
    await page.waitForLoadState('networkidle').catch(() => {});
    const cdp = await context.newCDPSession(page);
    const before = await heapOf(cdp);
    const { longest, median, elements } = await page.evaluate(scroll, { pixels: PIXELS, step: PIXELS_FRAME });
    await until('the end', () => page.evaluate((last) => document.querySelector(`#m${last}`) !== null, MESSAGES));
    return { firstMs, frameMs: longest, medianFrameMs: median, heapBytes: (await heapOf(cdp)) - before, elements };
  } finally {
    await context.close();
  }
}

const t = scope();
try {
  const maki = await start(t, { window: 10_000_000 });
  const id = await makeConversation(maki), browser = await theBrowser(), samples = {};
  for (let i = 0; i <= Number(process.argv[2] ?? 5); i++) {
    const figures = await round(browser, maki, id);
    if (i > 0) for (const [name, value] of Object.entries(figures)) (samples[name] ??= []).push(value); // the first one warms the caches
    if (process.env.MAKI_BENCH_SAY) console.error(figures);
  }
  console.log(JSON.stringify(samples));
} finally {
  await t.end();
}
