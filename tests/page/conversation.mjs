// conversation.mjs -- a conversation: its window and figures, the timeline with every kind of message and step, requests.
import fs from 'node:fs';
import { pathToFileURL } from 'node:url';
import { append, assert, message, op, pageTest, run, said, session, shows, start, turns, until } from './kit.mjs';
import { clients, SAID, talkInAll } from './talks.mjs';
import { TEXTS } from './texts.mjs';

pageTest('a conversation in every protocol: what was said, calls with their results, the newest request', async ({ t, open }) => {
  const maki = await start(t);
  const ids = await talkInAll(maki);
  for (const [name, id] of Object.entries(ids)) {
    const page = await open(maki, { at: `#/c/${id}` });
    const timeline = page.locator('.timeline');
    await page.locator('.msg.user strong', { hasText: 'fish' }).first().waitFor(); // Markdown is rendered
    assert.equal(await page.locator('.msg.user code', { hasText: 'roll' }).count() > 0, true, name);
    const call = timeline.locator('.tool', { hasText: 'read_file' });
    await call.first().waitFor();
    await until(`${name}: the result stands with its call`, async () => (await call.first().innerText()).includes(SAID.RESULT));
    assert.match(await call.first().innerText(), /src\/a\.c/, name);
    assert.equal(await timeline.getByText(SAID.RESULT, { exact: true }).count(), 1, `${name}: the result is shown once`);
    assert.ok((await page.locator('.chips').innerText()).includes(clients[name][1]), name);

    // The window by part, and the figures.
    const label = await page.locator('.window[role=img]').getAttribute('aria-label');
    assert.match(label, /of [\d,]+ tokens: .*messages \d+/, name);
    if (name !== 'ollama') assert.match(label, /system \d+/, name);
    assert.match(label, /tools \d+/, name);
    assert.match(await page.locator('.figures').innerText(), /of the window[\s\S]*messages in view/i);

    // What Maki cannot change is not offered, and a line says why.
    assert.match(await page.locator('main').innerText(), /keeps its own history and Maki only watches/);
    for (const word of [TEXTS.get('compact')[0], 'Undo the last step', 'pin', 'edit', 'delete', 'rewind to here']) {
      assert.equal(await page.getByRole('button', { name: word, exact: true }).count(), 0, `${name}: ${word}`);
    }
    assert.equal(await page.locator('input.threshold').count(), 0);

    // The newest request: its parts, what changed, times, the body.
    const request = page.locator('aside .request');
    await request.locator('table tr').first().waitFor();
    const text = await request.innerText();
    assert.match(text, /tools?/i, name);
    assert.match(text, /time to first word[\s\S]*time in all/i, name);
    assert.match(text, /Changed since the request before:.*messages? added/, name);
    await request.getByRole('button', { name: 'body' }).click();
    const body = page.locator('dialog pre.body');
    await body.waitFor();
    assert.ok((await body.innerText()).includes('read_file'), name);
    assert.ok((await body.innerText()).includes('42'), name);
    await page.keyboard.press('Escape');
    await page.context().close();
  }
});

const LONG = Array.from({ length: 300 }, (_, i) => `line ${i + 1} of a long text`).join('\n');
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const DIFF = '--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n-int a;\n+int b;';

const MESSAGES = [
  said('system', 'You are brief.'),
  said('user', '# Heading\n\nA *list*:\n\n- one\n- two\n\n```c\nint x = 1;\n```\n\n```diff\n-old\n+new\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[link](https://example.org/x)'),
  said('assistant', [{ type: 'thinking', thinking: 'I think of noodles.', signature: 's' }, { type: 'text', text: 'Thought.' }]),
  said('user', LONG),
  said('assistant', [{ type: 'text', text: 'Let me edit.' }, { type: 'tool_use', id: 'c1', name: 'edit_file', input: { path: 'x.c', old_string: 'int a;', new_string: 'int b;' } },
    { type: 'tool_use', id: 'c2', name: 'run', input: { command: 'false' } }]),
  said('user', [{ type: 'tool_result', tool_use_id: 'c1', content: DIFF }, { type: 'tool_result', tool_use_id: 'c2', content: 'exit 1', is_error: true }]),
  said('assistant', 'Edited.'),
  said('user', [{ type: 'text', text: '<system-reminder>Keep it short.</system-reminder>' }, { type: 'text', text: 'See this:' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }]),
  said('assistant', 'A dot.'),
];

pageTest('the timeline: Markdown, code, diffs, images, long texts, calls, reminders, thinking', async ({ t, open }) => {
  const maki = await start(t);
  const { id } = session(maki, 'kinds', MESSAGES);
  const page = await open(maki, { at: `#/c/${id}/m/2`, viewport: { width: 1400, height: 2600 } });
  const second = await shows(page, 2);
  assert.deepEqual(await second.locator('li').allInnerTexts(), ['one', 'two']);
  assert.equal(await second.locator('pre code').first().innerText(), 'int x = 1;');
  assert.equal(await second.locator('.line.added').innerText(), '+new');
  assert.equal(await second.locator('.line.removed').innerText(), '-old');
  assert.deepEqual(await second.locator('td').allInnerTexts(), ['1', '2']);
  assert.equal(await second.getByRole('link', { name: 'link' }).getAttribute('href'), 'https://example.org/x');
  assert.match(await second.getByRole('link', { name: 'link' }).getAttribute('rel'), /noopener/);
  assert.equal(await second.locator('.heading').innerText(), 'Heading');

  const thinking = (await shows(page, 3)).locator('details.thinking');
  assert.equal(await thinking.getAttribute('open'), null); // folded
  await thinking.locator('summary').click();
  await thinking.getByText('I think of noodles.').last().waitFor();

  // Folded, never cut: the end of it is there after one click.
  const long = await shows(page, 4);
  assert.match(await long.innerText(), /line 1 of a long text/);
  const folded = await long.locator('.folding').evaluate((e) => e.clientHeight < e.scrollHeight);
  assert.ok(folded, 'a long text is folded');
  await long.getByRole('button', { name: /show all/ }).click();
  await until('the whole text', async () => (await long.innerText()).includes('line 300 of a long text'));
  assert.ok(await long.locator('.folding').evaluate((e) => e.clientHeight >= e.scrollHeight), 'unfolded: nothing is hidden');
  await long.getByRole('button', { name: 'show less' }).click();

  const edit = (await shows(page, 5)).locator('.tool').first();
  assert.equal(await edit.locator('.line.added', { hasText: '+int b;' }).count() >= 1, true);
  const failing = message(page, 5).locator('.tool').nth(1);
  await until('the result of the failed call', async () => /failed[\s\S]*exit 1/i.test(await failing.innerText()));
  assert.equal(await message(page, 6).count(), 0); // its results are with their calls

  const eighth = await shows(page, 8);
  const reminder = eighth.locator('details.inserted');
  assert.match(await reminder.locator('summary').innerText(), /inserted by the agent/);
  assert.equal(await reminder.getAttribute('open'), null);
  assert.match(await eighth.innerText(), /See this:/);
  await until('the image', () => eighth.locator('img').evaluate((i) => i.complete && i.naturalWidth === 1));
});

pageTest('a text of a million characters is never cut', async ({ t, open }) => {
  const maki = await start(t, { window: 1_000_000 });
  const text = `${'0123456789'.repeat(30_000)} THE END`;
  const { id } = session(maki, 'long', [said('user', text), said('assistant', 'Long.')]);
  const page = await open(maki, { at: `#/c/${id}/m/1` });
  const long = await shows(page, 1);
  await long.getByRole('button', { name: /show all/ }).click();
  await until('all of it, by pieces', async () => {
    if ((await long.innerText()).includes('THE END')) return true;
    const more = long.getByRole('button', { name: /more characters/ });
    if (await more.count()) await more.first().click();
    return false;
  });
});

/** Steps of every kind, made by the command. */
function steps(maki, file) {
  const history = (...args) => JSON.parse(run(maki, ['history', ...args, '--json']));
  const did = {};
  did.rewind = history('rewind', file, '38');
  append(maki, file, turns(1)); // what comes after a rewind is no part of the folded range
  did.pin = history('pin', file, '3');
  did.trim = history('trim', file, '5', '--head', '20', '--tail', '20');
  did.truncate = history('truncate', file, '--fraction', '0.3');
  did.condense = history('condense', file, '--keep', '6');
  did.unpin = history('unpin', file, '3');
  did.undo = history('undo', file);
  return did;
}

pageTest('steps of every kind are rows: condensed, truncated, shortened, pinned, rewound, undone, forked', async ({ t, open }) => {
  const maki = await start(t);
  const { id, path } = session(maki, 'steps', turns(20, 60));
  steps(maki, path);
  const fork = JSON.parse(run(maki, ['history', 'fork', path, `${path.replace(/[^/]*$/, '')}forked-one.jsonl`, '10', '--json']));
  assert.equal(fork.seq, 10);
  const page = await open(maki, { at: `#/c/${id}`, viewport: { width: 1400, height: 3000 } });
  const row = (type) => page.locator(`article.event[aria-label="${type}"]`);
  const condensed = row('Condensed');
  await condensed.first().waitFor();
  const text = await condensed.first().innerText();
  assert.match(text, /[\d,]+ → [\d,]+ tokens/); // before, after, saved
  assert.match(text, /−\d+ %/);
  assert.match(text, /offline summary/);
  assert.match(text, /facts kept \d+ of \d+/);
  assert.match(text, /messages? /);
  await condensed.first().getByRole('button', { name: 'show the summary' }).click();
  await condensed.first().locator('.summary').waitFor();
  for (const type of ['Rewound', 'Pinned', 'Undone']) await row(type).first().waitFor();

  // The hidden range is folded in place and unfolds.
  const fold = page.locator('.fold').first();
  assert.match(await fold.innerText(), /\d+ messages? (hidden|left behind by a rewind), every word kept/);
  await fold.getByRole('button', { name: 'show' }).click();
  await shows(page, 2);
  assert.match(await message(page, 2).getAttribute('class'), /gone/);
  await row('Text shortened').first().waitFor(); // an undone or folded step is in the range that it worked on
  await row('Truncated').first().waitFor();
  await fold.getByRole('button', { name: 'hide' }).click();
  await until('the range is folded', async () => (await message(page, 2).count()) === 0);

  // The chart has a mark for each of them; a mark leads to its row.
  assert.match(await page.locator('.chart svg').getAttribute('aria-label'), /Tokens over time: [\d,]+ now/);
  const mark = page.locator('.mark-step[title^="Condensed"]').first();
  await mark.click();
  await page.waitForURL(/\/e\/\d+$/);
  await page.locator('article.event.selected').waitFor();

  const forked = (await op(maki, 'session.list', {})).sessions.find((s) => s.id !== id);
  await page.goto(`${maki.url}/#/c/${forked.id}`);
  await page.locator('article.event[aria-label="Forked"]').waitFor();
});

pageTest('tool output that was shortened by a run: the row says where, and it is expanded', async ({ t, open }) => {
  const maki = await start(t, { window: 16000 });
  const file = Array.from({ length: 200 }, (_, k) => `line ${k} of the file, int value_${(k * 31) % 97};`).join('\n');
  const read = (i) => [said('user', 'Read it again.'), said('assistant', [{ type: 'tool_use', id: `c${i}`, name: 'read_file', input: { path: 'a.c' } }]),
    said('user', [{ type: 'tool_result', tool_use_id: `c${i}`, content: file }]), said('assistant', 'It is fine.')];
  const { id } = session(maki, 'prune', [1, 2, 3, 4, 5, 6].flatMap(read)); // the same each time: the newest stays
  await op(maki, 'manage.run', { conversation: id, contextWindow: 16000, policy: 'maki' });
  const outline = await op(maki, 'session.outline', { conversation: id });
  const prune = outline.steps.find((step) => step.type === 'prune');
  assert.ok(prune, JSON.stringify(outline.steps));
  const page = await open(maki, { at: `#/c/${id}/e/${prune.ev}`, viewport: { width: 1400, height: 2600 } });
  const row = page.locator(`#e${prune.ev}`);
  await row.waitFor();
  assert.match(await row.innerText(), /Tool output shortened[\s\S]*[\d,]+ → [\d,]+ tokens/);
  const seq = outline.shortened[0]; // a result, which is shown with its call in the message before
  await row.getByRole('link', { name: String(seq), exact: true }).click();
  await page.locator(`#m${seq - 1}.selected`).waitFor();
  const result = message(page, seq - 1).locator('.tool .who');
  assert.match(await result.innerText(), new RegExp(`message ${seq}[\\s\\S]*\\d+ tokens of [\\d,]+`));
  await result.getByRole('button', { name: 'expand' }).click();
  await page.locator('.toast', { hasText: `Expanded message ${seq}` }).waitFor();
  await until('it is whole again', async () => !(await op(maki, 'session.outline', { conversation: id })).shortened.includes(seq));
});

pageTest('errors of the provider have their status and words', async ({ t, open }) => {
  const maki = await start(t);
  const headers = { 'x-maki-session': 'fails', 'x-api-key': 'key' };
  const messages = [{ role: 'user', content: 'Hello' }];
  const ask = () => fetch(`${maki.url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify({ model: 'fake', max_tokens: 10, messages }) });
  messages.push({ role: 'assistant', content: (await (await ask()).json()).content });
  messages.push({ role: 'user', content: 'Again fake:overflow' });
  assert.equal((await ask()).status, 400);
  const { sessions: [{ id }] } = await op(maki, 'session.list', {});
  const page = await open(maki, { at: `#/c/${id}` });
  const error = page.locator('article.event.err').first();
  await error.waitFor();
  assert.match(await error.innerText(), /400[\s\S]*prompt is too long/);
  assert.match(await page.locator('.figures').innerText(), /errors\s*1/i);
  const colour = (locator) => locator.evaluate((e) => getComputedStyle(e).color);
  assert.notEqual(await colour(error.locator('b')), await colour(page.locator('.msg').first()));
});

pageTest('the threshold is moved for this conversation, and undone', async ({ t, open }) => {
  const maki = await start(t);
  const { id } = session(maki, 'threshold', turns(4));
  const page = await open(maki, { at: `#/c/${id}` });
  const slider = page.getByRole('slider', { name: 'Threshold' });
  await slider.waitFor();
  const before = await slider.inputValue();
  await slider.evaluate((e) => { e.value = '55'; e.dispatchEvent(new Event('input', { bubbles: true })); e.dispatchEvent(new Event('change', { bubbles: true })); });
  await page.locator('.toast', { hasText: 'Threshold: 55 %' }).waitFor();
  assert.equal(Math.round((await op(maki, 'session.status', { conversation: id })).threshold), 55);
  await until('the mark', async () => /55 %/.test(await page.locator('.mark').innerText()));
  await page.locator('.toast', { hasText: 'Threshold: 55 %' }).getByRole('button', { name: 'Undo' }).click();
  await until('the threshold as before', async () => Math.round((await op(maki, 'session.status', { conversation: id })).threshold) === Number(before));
});

pageTest('what the model sees: as one text, and each request by its address', async ({ t, open }) => {
  const maki = await start(t);
  for (const text of ['first question', 'second question', 'third question']) run(maki, ['chat', '-p', `${text} ${'and more words '.repeat(40)}`, '--session', 'talk']);
  const { sessions: [{ id }] } = await op(maki, 'session.list', {});
  const newest = await op(maki, 'session.request', { conversation: id });
  const page = await open(maki, { at: `#/c/${id}` });
  const request = page.locator('aside .request');
  await request.locator('table tr').first().waitFor();
  await request.getByRole('button', { name: /before/ }).click();
  await page.waitForURL(new RegExp(`/r/${newest.before.ev}$`));
  await until('the request before', async () => !/Changed since[^.]*third/.test(await request.innerText()) && /Newest request/.test(await request.innerText()));
  await request.getByRole('link', { name: 'reply' }).click();
  await page.waitForURL(/\/m\/4$/);
  await page.locator('#m4.selected').waitFor();
  await page.locator('.msg .who button.link', { hasText: 'first word' }).first().click(); // from a reply to its request
  await page.waitForURL(/\/r\/\d+$/);

  await page.goto(`${maki.url}/#/c/${id}`);
  run(maki, ['history', 'condense', `${maki.home}/agents/default/sessions/${id}.jsonl`, '--keep', '2']);
  await page.locator('article.event[aria-label="Condensed"]').waitFor();
  await page.getByRole('link', { name: 'What the model sees' }).click();
  await page.locator('main.reading').waitFor();
  await page.locator('.reading .summary, .reading article.event').first().waitFor();
  assert.equal(await page.locator('.reading .fold').count(), 0);
  assert.equal(await message(page, 1).count() + await message(page, 2).count() + await message(page, 3).count() < 3, true, 'hidden messages are not in it');
  await (await shows(page, 5)).getByText(/third question/).waitFor();
});

pageTest('save as page: one file that asks for nothing, keys and chosen words masked', async ({ t, open }) => {
  const maki = await start(t);
  const key = `sk-${'a1B2c3D4'.repeat(4)}`;
  const { id, path } = session(maki, 'save', [...turns(30), said('user', `my key is ${key}, the project is Tamago <script>window.__pwned = 1</script>`), said('assistant', 'Noted: Tamago.')]);
  run(maki, ['history', 'condense', path, '--keep', '4']);
  const page = await open(maki, { at: `#/c/${id}` });
  await page.getByRole('button', { name: 'Save …' }).click();
  await page.locator('dialog textarea').fill('tamago\n');
  await page.getByRole('checkbox', { name: /hidden messages/ }).check();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as page' }).click()]);
  const file = `${maki.home}/saved.html`;
  await download.saveAs(file);
  const html = fs.readFileSync(file, 'utf8');
  for (const word of [key, 'Tamago', 'tamago']) assert.equal(html.includes(word), false, `${word} is masked`);
  assert.match(html, /my key is \*\*\*/);
  assert.equal((html.match(/Question \d+:/g) ?? []).length >= 30, true, 'hidden messages are in it');
  assert.equal(/<(?:script|link|img|iframe)\b/i.test(html), false);

  const saved = await open(maki, { at: null, file });
  const asked = [];
  saved.on('request', (r) => asked.push(r.url()));
  await saved.goto(pathToFileURL(file).href);
  assert.deepEqual(asked, [pathToFileURL(file).href]);
  assert.match(await saved.locator('body').innerText(), /Answer 30/);
  assert.equal(await saved.evaluate(() => window.__pwned), undefined);

  // For other programs.
  await page.getByRole('button', { name: 'Save …' }).click();
  const [lines] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'lines', exact: true }).click()]);
  await lines.saveAs(`${maki.home}/lines.jsonl`);
  assert.equal(fs.readFileSync(`${maki.home}/lines.jsonl`, 'utf8').trim().split('\n').map((l) => JSON.parse(l)).length >= 62, true);
});
