// long.mjs -- very long conversations and lists: only what is on the screen is in the document, and memory stays flat.
import fs from 'node:fs';
import path from 'node:path';
import { assert, message, op, pageTest, run, said, session, settled, shows, start, until } from './kit.mjs';

const MESSAGES = 100_000, STEPS = 1_000, SESSIONS = 10_000;
const ROWS_MAX = 300; // in the document, however long the list is
const GROWTH_MAX = 10 << 20; // bytes of the heap, from the beginning to the end

/** Scroll to the end in this many steps, a frame or more each; how many rows were in the document at most. */
const scrolled = (page, steps) => page.evaluate(async (count) => {
  const main = document.querySelector('main');
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  let most = 0;
  for (let i = 1; i <= count; i++) {
    main.scrollTop = (i / count) * (main.scrollHeight - main.clientHeight);
    await frame();
    most = Math.max(most, document.querySelectorAll('.virtual-row').length);
  }
  return most;
}, steps);

async function heapOf(page, cdp) {
  await cdp.send('HeapProfiler.collectGarbage');
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find((m) => m.name === 'JSHeapUsedSize').value;
}

pageTest('a conversation of 100,000 messages and 1,000 steps: few rows in the document, flat memory', async ({ t, open }) => {
  const maki = await start(t, { window: 10_000_000 });
  const { id, path: file } = session(maki, 'long', []);
  const words = 'maki nori roll of rice and fish 巻き寿司 海苔 '.repeat(4);
  const row = (i) => said(i % 2 ? 'assistant' : 'user', `${i}: ${words}${'.'.repeat(i % 50)}`);
  const rows = (from, count) => Array.from({ length: count }, (_, i) => row(from + i));
  const first = MESSAGES - 2 * STEPS; // then a step after each two messages
  fs.appendFileSync(file, rows(1, first).map((r) => `${JSON.stringify(r)}\n`).join(''));
  const steps = Array.from({ length: STEPS }, (_, i) => [{ op: 'history.append', input: { conversation: file, messages: rows(first + 1 + 2 * i, 2) } },
    { op: i % 2 ? 'history.trim' : 'history.pin', input: { conversation: file, seq: 50 + 97 * i, ...(i % 2 ? { head: 10, tail: 10 } : {}) } }]).flat();
  const began = Date.now();
  run(maki, ['op', '--lines'], steps.map((s) => `${JSON.stringify(s)}\n`).join(''));
  t.diagnostic(`steps ${Date.now() - began} ms`);

  const page = await open(maki, { at: `#/c/${id}` });
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('HeapProfiler.enable');
  await cdp.send('Performance.enable');
  await shows(page, 3);
  await settled(page);
  const outline = await op(maki, 'session.outline', { conversation: id });
  assert.deepEqual([outline.last, outline.steps.length], [MESSAGES, STEPS]);

  t.diagnostic(`shown ${Date.now() - began} ms`);
  // A first look at the end, so that what is kept once is there before it is measured.
  await page.keyboard.press('Shift+G');
  await shows(page, MESSAGES);
  await page.keyboard.press('g');
  await shows(page, 3);
  const before = await heapOf(page, cdp);
  const most = await scrolled(page, 200);
  await page.keyboard.press('Shift+G');
  await shows(page, MESSAGES);
  t.diagnostic(`scrolled ${Date.now() - began} ms`);
  const growth = (await heapOf(page, cdp)) - before;
  t.diagnostic(`${most} rows at most, ${(growth / 1e6).toFixed(1)} MB more`);
  assert.ok(most <= ROWS_MAX, `${most} rows in the document`);
  assert.ok(growth < GROWTH_MAX, `${growth} bytes more`);

  await page.goto(`${maki.url}/#/c/${id}/m/51234`);
  await shows(page, 51234);
  assert.match(await message(page, 51234).innerText(), /51234: maki/);
});

pageTest('10,000 conversations scroll: only the visible ones are in the document', async ({ t, open }) => {
  const maki = await start(t);
  const first = session(maki, 'first', [said('user', 'The first of all')]);
  const [header, row] = fs.readFileSync(first.path, 'utf8').trim().split('\n');
  const directory = path.dirname(first.path);
  for (let i = 1; i < SESSIONS; i++) {
    const id = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
    const file = path.join(directory, `${id}.jsonl`);
    fs.writeFileSync(file, `${header.replaceAll(first.id, id).replace(':first', `:s${i}`)}\n${row.replace('The first of all', `Conversation number ${i}`)}\n`);
    const when = Date.now() / 1000 - i * 600;
    fs.utimesSync(file, when, when);
  }
  const page = await open(maki);
  await page.locator('a.item').first().waitFor();
  await until('all of them', async () => /10,000/.test(await page.locator('.filters').innerText()));
  assert.ok(await page.locator('h2.day').count() >= 1);
  const most = await scrolled(page, 40);
  await page.getByText(`Conversation number ${SESSIONS - 1}`, { exact: true }).waitFor();
  assert.ok(most <= ROWS_MAX, `${most} rows in the document`);
  await page.getByRole('searchbox').fill('number 7777');
  await until('the one that is searched', async () => (await page.locator('a.item').count()) === 1);
  assert.match(await page.locator('a.item').innerText(), /Conversation number 7777/);
});
