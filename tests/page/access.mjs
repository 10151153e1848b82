// access.mjs -- for everyone: axe-core in light, dark and on a phone, no sideways scrolling, the keyboard, three languages, addresses.
import { append, assert, message, op, pageTest, run, said, session, settled, shows, sideways, start, turns, until } from './kit.mjs';
import { KEYS, TEXTS } from './texts.mjs';

const WIDE = said('user', `A line that does not break: ${'x'.repeat(400)}\n\n| ${Array.from({ length: 14 }, (_, i) => `column ${i}`).join(' | ')} |\n|${'---|'.repeat(14)}\n| ${'cell | '.repeat(14)}\n\n\`\`\`\n${'code '.repeat(80)}\n\`\`\``);

/** A conversation with a row of every kind. */
async function everything(maki) {
  const made = session(maki, 'everything', [said('system', 'Be brief.'), WIDE, said('assistant', [{ type: 'thinking', thinking: 'Hm.', signature: 's' }, { type: 'text', text: 'Thought.' },
    { type: 'tool_use', id: 'c1', name: 'read_file', input: { path: 'a'.repeat(200) } }]), said('user', [{ type: 'tool_result', tool_use_id: 'c1', content: 'y'.repeat(500), is_error: true }]),
  said('assistant', 'Read.'), said('user', [{ type: 'text', text: '<system-reminder>Be careful.</system-reminder>' }, { type: 'text', text: 'Go on.' }]), ...turns(15, 30)]);
  const history = (...args) => run(maki, ['history', ...args]);
  history('pin', made.path, '2');
  history('trim', made.path, '7', '--head', '10', '--tail', '10');
  history('condense', made.path, '--keep', '6');
  run(maki, ['chat', '-p', 'What now?', '--session', made.id]);
  history('undo', made.path);
  history('condense', made.path, '--keep', '6');
  await fetch(`${maki.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': 'key' }, body: JSON.stringify({ model: 'fake', max_tokens: 9, messages: [{ role: 'user', content: 'Hi fake:429' }] }) }).then((r) => r.text());
  return made;
}

/** Every view of the page: name, and how to come there. */
const views = (maki, id) => [
  ['overview', async (page) => { await page.goto(`${maki.url}/#/`); await page.locator('main.overview a.item').first().waitFor(); }],
  ['conversation', async (page) => { await page.goto(`${maki.url}/#/c/${id}`); await shows(page, 2); await settled(page); }],
  ['a hidden range unfolded', async (page) => { await page.goto(`${maki.url}/#/c/${id}/m/8`); await shows(page, 8); await settled(page); }],
  ['as one text', async (page) => { await page.goto(`${maki.url}/#/c/${id}/text`); await page.locator('main.reading .msg').first().waitFor(); }],
  ...[TEXTS.get('compact')[0], 'Compare …', 'Save …', 'rename', 'Erase …'].map((name) => [`dialog ${name}`, async (page) => {
    await page.goto(`${maki.url}/#/c/${id}`);
    await page.getByRole('button', { name, exact: true }).first().click();
    await page.locator('dialog[open] p').first().waitFor();
    await until('the dialog is ready', async () => (await page.locator('dialog [aria-busy=true]').count()) === 0);
  }]),
  ['dialog keys', async (page) => { await page.goto(`${maki.url}/#/`); await page.getByRole('button', { name: 'Keyboard' }).click(); await page.locator('dialog[open] dl').waitFor(); }],
];
const closeDialog = async (page) => { if (await page.locator('dialog[open]').count()) await page.keyboard.press('Escape'); };

async function serious(page) {
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
  return violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
    .map((v) => `${v.id}: ${v.nodes.slice(0, 4).map((n) => `${n.html.slice(0, 160)} ${n.any[0]?.message ?? ''}`).join(' | ')}`);
}

for (const [name, options] of [['light', {}], ['dark', { scheme: 'dark' }], ['on a phone', { viewport: { width: 390, height: 844 } }]]) {
  pageTest(`axe-core finds no serious problem, ${name}`, async ({ t, open }) => {
    const empty = await start(t);
    const first = await open(empty, { axe: true, ...options });
    await first.locator('ol.steps').waitFor();
    assert.deepEqual(await serious(first), [], 'first run');
    await first.context().close();
    const maki = await start(t);
    const { id } = await everything(maki);
    const page = await open(maki, { axe: true, ...options });
    const found = [];
    for (const [view, go] of views(maki, id)) {
      await go(page);
      found.push(...(await serious(page)).map((problem) => `${view}: ${problem}`));
      await closeDialog(page);
    }
    assert.deepEqual(found, []);
  });
}

pageTest('nothing scrolls sideways from 320 pixels on', async ({ t, open }) => {
  const maki = await start(t);
  const { id } = await everything(maki);
  const page = await open(maki);
  const found = [];
  for (const [view, go] of views(maki, id)) {
    await page.setViewportSize({ width: 1400, height: 900 });
    await go(page);
    for (const width of [1400, 1000, 768, 390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      found.push(...(await sideways(page)).map((what) => `${view} at ${width}: ${what}`));
    }
    await closeDialog(page);
  }
  assert.deepEqual(found, []);
});

pageTest('the keyboard: ? / j k g G o Escape, and Tab reaches every action', async ({ t, open }) => {
  const maki = await start(t);
  const { id, path } = session(maki, 'keys', turns(20, 30));
  session(maki, 'other', turns(1));
  run(maki, ['history', 'condense', path, '--keep', '8']);
  for (const text of ['one', 'two']) run(maki, ['chat', '-p', text, '--session', id]);
  const page = await open(maki);
  const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.getAttribute('href') || document.activeElement?.className);
  await page.locator('a.item').nth(1).waitFor();

  await page.keyboard.press('?');
  await page.locator('dialog[open]').waitFor();
  assert.ok(await page.locator('dialog kbd').count() >= 8);
  await page.keyboard.press('Escape');
  await until('closed', async () => (await page.locator('dialog').count()) === 0);
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.type), 'search');
  await page.keyboard.type('word24');
  await until('what was searched', async () => (await page.locator('a.item').count()) === 1);
  await page.keyboard.press('Escape');
  assert.notEqual(await page.evaluate(() => document.activeElement.type), 'search');
  await page.getByRole('searchbox').fill('');
  await page.locator('a.item').nth(1).waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('j');
  const one = await focused();
  await page.keyboard.press('j');
  const two = await focused();
  assert.match(one, /^#\/c\//);
  assert.notEqual(one, two);
  await page.keyboard.press('k');
  assert.equal(await focused(), one);
  await page.keyboard.press('o');
  await page.waitForURL(/#\/c\//);
  await page.keyboard.press('Escape');
  await page.waitForURL(/#\/$/);

  await page.goto(`${maki.url}/#/c/${id}`);
  await page.locator('main .msg:not(.waiting)').first().waitFor();
  await page.keyboard.press('Shift+G');
  await shows(page, 44);
  await page.keyboard.press('g');
  await until('the beginning', () => page.evaluate(() => document.querySelector('main').scrollTop === 0));
  const seen = [];
  for (let i = 0; i < 6; i++) {
    await page.keyboard.press('j');
    seen.push(await focused());
  }
  assert.equal(new Set(seen).size, 6, `six different: ${seen}`);
  await page.keyboard.press('k');
  assert.equal(await focused(), seen[4]);
  await page.locator('.fold button').first().focus();
  await page.keyboard.press('o');
  await shows(page, 2);
  await page.goto(`${maki.url}/#/c/${id}/m/40`);
  await shows(page, 40);
  await page.keyboard.press('Escape');
  await page.waitForURL((url) => url.hash === `#/c/${id}`);
  await until('the newest request', async () => /Newest request/i.test(await page.locator('aside .request h2').innerText().catch(() => '')));
  await page.keyboard.press('[');
  await page.waitForURL(/\/r\/\d+$/);
  await page.locator('aside').getByRole('button', { name: 'Newest request' }).waitFor();
  await page.keyboard.press(']');
  await page.waitForURL((url) => url.hash === `#/c/${id}`);

  // Tab: every button and link that is shown is reached, and shows that it has the focus.
  const all = await page.evaluate(() => [...document.querySelectorAll('a[href], button, input, select, summary')].filter((e) => e.getClientRects().length && !e.disabled && e.tabIndex >= 0).length);
  await page.evaluate(() => { document.activeElement?.blur(); window.__reached = new Set(); addEventListener('focusin', (e) => window.__reached.add(e.target)); });
  let unseen = '';
  for (let i = 0; i < 2 * all + 40; i++) {
    await page.keyboard.press('Tab');
    const state = await page.evaluate(() => {
      const e = document.activeElement, style = getComputedStyle(e);
      const shown = e === document.body || style.outlineStyle !== 'none' || style.boxShadow !== 'none';
      return { body: e === document.body, shown, what: e.outerHTML.slice(0, 100) };
    });
    if (!state.shown) unseen = state.what;
    if (state.body && i > 10) break;
  }
  assert.equal(unseen, '', 'the focus is visible');
  const missed = await page.evaluate(() => [...document.querySelectorAll('main .toolbar a, main .toolbar button, main .msg:not(.waiting) button, main .fold button, main .event button, aside button, aside a, header a, header button, header input, nav a')]
    .filter((e) => e.getClientRects().length && !e.disabled && !window.__reached.has(e)).map((e) => e.outerHTML.slice(0, 120)));
  assert.deepEqual(missed, []);
});

pageTest('an address opens its place after a reload: message, step, request, text', async ({ t, open }) => {
  const maki = await start(t);
  const { id, path } = session(maki, 'places', turns(100, 20));
  run(maki, ['history', 'condense', path, '--keep', '20']);
  run(maki, ['chat', '-p', 'and now?', '--session', id]);
  const outline = await op(maki, 'session.outline', { conversation: id });
  const condensed = outline.steps.find((s) => s.type === 'condense').ev;
  const request = (await op(maki, 'session.request', { conversation: id })).ev;
  const page = await open(maki);
  const visible = (locator) => until('it is in the visible part', () => locator.evaluate((e) => { const r = e.getBoundingClientRect(); return r.bottom > 0 && r.top < innerHeight; }));
  for (const [hash, what] of [[`m/190`, '#m190.selected'], ['m/100', '#m100.selected'], [`e/${condensed}`, `#e${condensed}.selected`]]) {
    await page.goto('about:blank').catch(() => {});
    await page.goto(`${maki.url}/#/c/${id}/${hash}`);
    await page.locator(what).waitFor();
    await visible(page.locator(what));
    await page.reload();
    await page.locator(what).waitFor();
    await visible(page.locator(what));
  }
  await page.goto(`${maki.url}/#/c/${id}/r/${request}`);
  await page.reload();
  await until('that request', async () => /Request, as it was sent/i.test(await page.locator('aside .request').innerText()));
  await page.goto(`${maki.url}/#/c/${id}/text`);
  await page.reload();
  await page.locator('main.reading .msg').first().waitFor();
});

pageTest('three languages: every text follows, none is missing', async ({ t, open }) => {
  const maki = await start(t);
  const { id } = await everything(maki);
  const page = await open(maki);
  const names = { en: 'English', ja: '日本語', zh: '中文' };
  const words = {};
  for (const code of ['en', 'ja', 'zh']) {
    await page.goto(`${maki.url}/#/`);
    await page.getByRole('button', { name: names[code] }).click();
    await until('the language', () => page.evaluate((c) => document.documentElement.lang === c, code));
    words[code] = new Set();
    for (const hash of ['#/', `#/c/${id}`, `#/c/${id}/m/8`]) {
      await page.goto(`${maki.url}/${hash}`);
      if (hash === '#/') await page.locator('a.item').first().waitFor();
      else await settled(page);
      const texts = await page.evaluate(() => [document.body.innerText, ...[...document.querySelectorAll('[aria-label], [title], [placeholder]')]
        .flatMap((e) => [e.getAttribute('aria-label'), e.getAttribute('title'), e.getAttribute('placeholder')])].filter(Boolean).join('\n'));
      assert.equal(/\bundefined\b|\bnull\b|\[object |\{\w+\}|NaN/.test(texts), false, `${code} ${hash}: ${/.*(?:undefined|null|\[object |\{\w+\}|NaN).*/.exec(texts)}`);
      for (const line of texts.split('\n')) words[code].add(line.trim());
    }
  }
  const shown = [...words.ja].filter((line) => KEYS.has(line) && !/^[a-z]+$/.test(line));
  assert.deepEqual(shown, [], 'names of texts');
  // The texts of the page that are shown in English are not shown in the other languages.
  for (const [index, code] of [[1, 'ja'], [2, 'zh']]) {
    const english = [...words[code]].filter((line) => [...TEXTS].some(([, row]) => row[0] === line && row[index] !== line && line.length > 3 && !/[{]/.test(row[0])));
    assert.deepEqual(english, [], code);
  }
});

pageTest('on a phone: one column, the request as a sheet, the way back', async ({ t, open }) => {
  const maki = await start(t);
  run(maki, ['chat', '-p', 'Hello', '--session', 'talk']);
  const page = await open(maki, { viewport: { width: 390, height: 844 } });
  await page.locator('a.item').click();
  await shows(page, 2);
  assert.equal(await page.locator('a.item').first().isVisible(), false, 'the list is hidden');
  const { width } = await message(page, 2).boundingBox();
  assert.ok(width > 300, `a message is ${width} pixels wide`);
  assert.equal(await page.locator('aside .request').isVisible(), false);
  await page.getByRole('button', { name: 'Newest request' }).click();
  await page.locator('aside .request table').waitFor();
  assert.deepEqual(await sideways(page), []);
  await page.locator('aside').getByRole('button', { name: 'Close' }).click();
  await until('the sheet is closed', async () => !(await page.locator('aside .request').isVisible()));
  await page.locator('a.back').click();
  await page.locator('main.overview a.item').waitFor();
});

pageTest('under a token in the path, everything keeps it; without it nothing is shown', async ({ t, open }) => {
  const maki = await start(t, { args: ['--token', 'open-sesame'] });
  const { id } = session(maki, 'secret', turns(2));
  const page = await open(maki, { at: 't/open-sesame/' });
  await page.locator('a.item').click();
  await shows(page, 4);
  await until('it is live', async () => (await page.locator('header .live').innerText()) === 'recording');
  await message(page, 3).getByRole('button', { name: 'pin', exact: true }).click();
  await message(page, 3).locator('.pin').waitFor();
  assert.match(page.url(), /\/t\/open-sesame\/#\/c\//);
  assert.equal((await fetch(`${maki.url}/maki/ops/session.outline`, { method: 'POST', body: JSON.stringify({ conversation: id }) })).status >= 400, true);
});

pageTest('the language and the colours of the machine are kept; on paper nothing is cut', async ({ t, open }) => {
  const maki = await start(t);
  const { id } = session(maki, 'look', turns(3));
  const page = await open(maki, { at: `#/c/${id}`, language: 'ja-JP' });
  await shows(page, 2);
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'ja');
  await page.getByRole('button', { name: '中文' }).click();
  await page.reload();
  await until('the chosen language', () => page.evaluate(() => document.documentElement.lang === 'zh'));
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.notEqual(await background(), light);
  await page.emulateMedia({ media: 'print', colorScheme: 'light' });
  assert.equal(await page.locator('header.top').isVisible(), false, 'no header on paper');
  assert.equal(await page.evaluate(() => { const m = document.querySelector('main'); return m.scrollHeight <= m.clientHeight + 1; }), true, 'main does not scroll on paper');
});
