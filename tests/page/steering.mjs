// steering.mjs -- what a person does to a conversation from the page: each step says what it did, and is undone from there.
import fs from 'node:fs';
import { assert, message, op, pageTest, run, session, shows, start, turns, until } from './kit.mjs';
import { TEXTS } from './texts.mjs';

const toastOf = (page, text) => page.locator('.toast', { hasText: text }).last();
const act = (page, seq, name) => message(page, seq).getByRole('button', { name, exact: true }).click();

pageTest('pin, unpin, edit, delete, rewind and fork, each undone from where it is reported', async ({ t, open }) => {
  const maki = await start(t);
  const { id } = session(maki, 'steer', turns(6));
  const page = await open(maki, { at: `#/c/${id}`, viewport: { width: 1400, height: 2000 } });
  const outline = () => op(maki, 'session.outline', { conversation: id });
  await shows(page, 12);

  await act(page, 3, 'pin');
  await toastOf(page, 'Pinned message 3').waitFor();
  await message(page, 3).locator('.pin').waitFor();
  assert.deepEqual((await outline()).pins, [3]);
  await act(page, 3, 'unpin');
  await toastOf(page, 'Unpinned message 3').waitFor();
  await until('it is not pinned', async () => (await message(page, 3).locator('.pin').count()) === 0);

  await act(page, 9, 'delete');
  await toastOf(page, 'Deleted from message 9 on').waitFor();
  await page.locator('.fold').waitFor();
  assert.equal((await outline()).visible, 8);
  await toastOf(page, 'Deleted from message 9 on').getByRole('button', { name: 'Undo' }).click();
  await shows(page, 12);
  assert.equal((await outline()).visible, 12);
  await toastOf(page, 'Undid').getByRole('button', { name: 'Redo' }).click(); // undoing an undo
  await page.locator('.fold').waitFor();
  assert.equal((await outline()).visible, 8);
  await toastOf(page, 'Undid').getByRole('button', { name: /Redo|Undo/ }).click();
  await shows(page, 12);

  await act(page, 10, 'rewind to here');
  await toastOf(page, 'Rewound to message 10').waitFor();
  assert.equal((await outline()).visible, 10);
  await toastOf(page, 'Rewound to message 10').getByRole('button', { name: 'Undo' }).click();
  await shows(page, 12);

  await act(page, 11, 'edit');
  const text = page.locator('dialog textarea');
  await until('the text', async () => /^Question 6/.test(await text.inputValue()));
  assert.equal(await page.getByRole('button', { name: 'Continue from here' }).isDisabled(), true);
  await text.fill('A better question 日本語');
  await page.getByRole('button', { name: 'Continue from here' }).click();
  await toastOf(page, 'Edited message 11').waitFor();
  await (await shows(page, 13)).getByText('A better question 日本語').waitFor();
  await toastOf(page, 'Edited message 11').getByRole('button', { name: 'Undo' }).click();
  await message(page, 12).waitFor();

  // A step undone from its own row.
  run(maki, ['history', 'truncate', `${maki.home}/agents/default/sessions/${id}.jsonl`, '--fraction', '0.5']);
  const row = page.locator('article.event[aria-label="Truncated"]').first();
  await row.waitFor();
  await row.getByRole('button', { name: 'undo', exact: false }).click();
  await toastOf(page, 'Undid: Truncated').waitFor();
  await until('it is undone', async () => (await outline()).visible >= 12);

  await act(page, 4, 'fork');
  await page.waitForURL((url) => !url.hash.includes(id));
  await page.locator('article.event[aria-label="Forked"]').waitFor();
  await shows(page, 4);
  assert.equal(await message(page, 5).count(), 0);
  await page.locator('.chips a').click(); // to the conversation that it came from
  await shows(page, 12);
});

pageTest('free space: a preview with what would go and the summary, a focus, then the run and its undo', async ({ t, open }) => {
  const maki = await start(t);
  const { id } = session(maki, 'compact', turns(30, 50));
  const page = await open(maki, { at: `#/c/${id}` });
  await page.getByRole('button', { name: TEXTS.get('compact')[0] }).first().click();
  const dialog = page.locator('dialog');
  await dialog.locator('.change').waitFor();
  assert.match(await dialog.locator('.change').innerText(), /[\d,]+ → [\d,]+ tokens, −\d+ %/);
  assert.match(await dialog.locator('.preview').innerText(), /\d+–\d+/); // the messages that would go
  await dialog.locator('.summary').waitFor();
  assert.equal((await op(maki, 'session.outline', { conversation: id })).visible, 60, 'a preview changes nothing');
  const asked = page.waitForRequest((r) => r.url().endsWith('/manage.run') && /Question 17/.test(r.postData() ?? ''));
  await dialog.getByRole('textbox').fill('Question 17');
  await dialog.getByRole('button', { name: 'Preview' }).click();
  assert.deepEqual([JSON.parse((await asked).postData()).focus, JSON.parse((await asked).postData()).preview], ['Question 17', true]);
  await until('the summary has the focus', async () => /Question 17/.test(await dialog.locator('.summary').innerText().catch(() => '')));
  await dialog.getByRole('button', { name: TEXTS.get('compactNow')[0] }).click();
  const toast = page.locator('.toast', { hasText: '→' }).last();
  await toast.waitFor();
  await page.locator('article.event[aria-label="Condensed"]').first().waitFor();
  assert.equal((await op(maki, 'session.outline', { conversation: id })).visible < 60, true);
  await toast.getByRole('button', { name: 'Undo' }).click();
  await page.locator('.toast', { hasText: 'Undid the run' }).waitFor();
  await until('all are in view again', async () => (await op(maki, 'session.outline', { conversation: id })).visible === 60);
});

pageTest('compare two points: added, hidden', async ({ t, open }) => {
  const maki = await start(t);
  const { id, path } = session(maki, 'compare', turns(20, 30));
  run(maki, ['history', 'condense', path, '--keep', '4']);
  run(maki, ['chat', '-p', 'and now?', '--session', id]);
  const page = await open(maki, { at: `#/c/${id}` });
  await page.getByRole('button', { name: 'Compare …' }).click();
  const dialog = page.locator('dialog');
  await dialog.locator('.change').waitFor();
  await dialog.getByRole('textbox').first().fill('38');
  await dialog.getByRole('button', { name: 'Compare', exact: true }).click();
  await until('what was added and hidden', async () => {
    const text = await dialog.innerText();
    return /Added/.test(text) && /Hidden/.test(text) && /and now\?/.test(text);
  });
  await dialog.locator('.difference a').first().click();
  await page.waitForURL(/\/[me]\/\d+$/);
});

pageTest('rename; erasing asks, and alone cannot be undone', async ({ t, open }) => {
  const maki = await start(t);
  const { id, path } = session(maki, 'gone', turns(3));
  const page = await open(maki, { at: `#/c/${id}` });
  await page.getByRole('button', { name: 'rename', exact: true }).click();
  await page.locator('dialog input').fill('Tofu 豆腐');
  await page.keyboard.press('Enter');
  await page.locator('.toast', { hasText: 'Renamed to Tofu 豆腐' }).waitFor();
  await until('the name', async () => (await page.locator('h1').first().innerText()) === 'Tofu 豆腐');
  await page.getByRole('button', { name: 'Erase …' }).click();
  const dialog = page.locator('dialog');
  assert.match(await dialog.innerText(), /Tofu 豆腐/);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await until('it is closed', async () => (await dialog.count()) === 0);
  assert.ok(fs.existsSync(path));
  await page.getByRole('button', { name: 'Erase …' }).click();
  await dialog.getByRole('button', { name: 'Erase', exact: true }).click();
  await page.locator('.toast', { hasText: 'Erased, with 6 messages' }).waitFor();
  assert.equal(fs.existsSync(path), false);
  assert.equal(await page.locator('.toast button', { hasText: 'Undo' }).count(), 0);
  await page.waitForURL(/#\/$/);
});

pageTest('a step that is refused says why', async ({ t, open }) => {
  const maki = await start(t);
  const { id } = session(maki, 'refused', turns(2));
  const page = await open(maki, { at: `#/c/${id}`, errors: [/Failed to load resource/] });
  await page.getByRole('button', { name: 'Undo the last step' }).click();
  await page.locator('.toast.bad').waitFor();
  assert.match(await page.locator('.toast.bad').innerText(), /undo/i);
});
