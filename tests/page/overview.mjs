// overview.mjs -- the list of conversations, and the page before there are any.
import { append, assert, op, pageTest, quiet, said, session, start, turns, until } from './kit.mjs';
import { clients, talkInAll } from './talks.mjs';

pageTest('first run: three steps with the real address, and the demo', async ({ t, open }) => {
  const maki = await start(t);
  const page = await open(maki);
  await page.locator('ol.steps').waitFor();
  assert.equal(await page.locator('ol.steps > li').count(), 3);
  const lines = await page.locator('ol.steps code').allTextContents();
  for (const line of ['maki connect claude', 'maki connect codex', `ANTHROPIC_BASE_URL=${maki.url}`, `OPENAI_BASE_URL=${maki.url}/v1`, `OLLAMA_HOST=${maki.url}`]) assert.ok(lines.includes(line), `${line}: ${lines}`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.locator('li', { hasText: `OPENAI_BASE_URL=` }).getByRole('button').nth(1).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `OPENAI_BASE_URL=${maki.url}/v1`);
  await page.getByRole('button', { name: 'Play the demo' }).click();
  await page.locator('a.item').first().waitFor(); // it appears by itself
  await page.locator('details.corner summary').waitFor(); // the steps are folded into a corner now
  assert.equal(await page.locator('ol.steps').isVisible(), false);
});

pageTest('overview: what each conversation shows, filters, live arrival', async ({ t, open }) => {
  const maki = await start(t);
  const ids = await talkInAll(maki);
  const soup = session(maki, 'soup', turns(6, 40));
  const page = await open(maki);
  const item = (id) => page.locator(`a.item[href="#/c/${id}"]`);
  for (const [name, id] of Object.entries(ids)) {
    const text = await item(id).innerText();
    assert.match(text, /Which \*\*fish\*\* is in the/, name);
    assert.ok(text.includes(clients[name][1]), `${name}: ${text}`);
    assert.match(text, /fake/, name);
    assert.ok(await item(id).locator('.mini[role=img]').count(), `${name}: how full the window is`);
  }
  assert.match(await page.locator('h2.day').first().innerText(), /today/i);

  await page.locator('select').first().selectOption('Codex');
  await until('one conversation of Codex', async () => (await page.locator('a.item').count()) === 1);
  assert.equal(await item(ids.responses).count(), 1);
  await page.getByRole('button', { name: 'Show all' }).click();
  await item(ids.gemini).waitFor();
  await page.getByRole('searchbox').fill('question 1');
  await until('one conversation with these words', async () => (await page.locator('a.item').count()) === 1);
  assert.equal(await item(soup.id).count(), 1);
  await page.getByRole('searchbox').fill('');
  await item(ids.gemini).waitFor();

  // A failed request shows as such; a conversation that begins now appears without a reload.
  const failed = await fetch(`${maki.url}/v1/messages`, {
    method: 'POST', body: JSON.stringify({ model: 'fake', max_tokens: 10, messages: [{ role: 'user', content: 'A new one fake:429,words:slow_down' }] }),
    headers: { 'x-maki-session': 'late', 'x-api-key': 'key' },
  });
  assert.equal(failed.status, 429);
  await quiet(maki);
  const late = page.locator('a.item', { hasText: 'A new one' });
  await late.waitFor();
  assert.match(await late.innerText(), /429/);
  await page.locator('select[aria-label="State"]').selectOption('failed');
  await until('the failed conversation alone', async () => (await page.locator('a.item').count()) === 1);
  assert.equal(await late.count(), 1);
  await page.getByRole('button', { name: 'Show all' }).click();

  // Renamed, and what was done last.
  await op(maki, 'session.rename', { conversation: soup.id, name: 'dinner' });
  await op(maki, 'history.truncate', { conversation: soup.id });
  await page.locator('a.item', { hasText: 'dinner' }).waitFor();
  await until('its last action', async () => /Truncated/.test(await item(soup.id).innerText()));
});

pageTest('overview: grouped by day', async ({ t, open }) => {
  const maki = await start(t);
  session(maki, 'a', [said('user', 'one')]);
  session(maki, 'b', [said('user', 'two')]);
  const page = await open(maki, { at: null });
  await page.route('**/maki/ops/session.list', async (route) => {
    const answer = await (await route.fetch()).json();
    answer.sessions.forEach((s, i) => { s.updatedAt -= i * 86_400_000; });
    await route.fulfill({ json: answer });
  });
  await page.goto(`${maki.url}/`);
  await page.locator('h2.day').nth(1).waitFor();
  assert.deepEqual((await page.locator('h2.day').allInnerTexts()).map((s) => s.toLowerCase()), ['today', 'yesterday']);
});
