// questions.mjs -- five questions that a person asks, each answered in at most three clicks.
import { assert, message, op, pageTest, run, said, session, shows, start, turns, until } from './kit.mjs';

/** A page whose clicks are counted: click(locator). */
function counted(page) {
  let clicks = 0;
  return {
    async click(locator) {
      clicks++;
      await locator.click();
    },
    done(question) {
      assert.ok(clicks <= 3, `${question}: ${clicks} clicks`);
    },
  };
}

pageTest('five questions, in at most three clicks each', async ({ t, open }) => {
  const maki = await start(t);
  const fact = 'The secret fish is MAGURO-42.';
  const { id, path } = session(maki, 'five', [said('user', fact), said('assistant', 'Noted.'), ...turns(30, 40)]);
  run(maki, ['history', 'condense', path, '--keep', '6']);
  run(maki, ['chat', '-p', 'the first question by chat', '--session', id]);
  run(maki, ['chat', '-p', 'the mistake', '--session', id]);
  const page = await open(maki);
  const begin = async () => {
    await page.goto(`${maki.url}/#/`);
    await page.locator('a.item').first().waitFor();
    return counted(page);
  };
  const item = page.locator(`a.item[href="#/c/${id}"]`);

  // Why did it forget X?  The row of the summary says which messages it hides; the range unfolds to X.
  let q = await begin();
  await q.click(item);
  const condensed = page.locator('article.event[aria-label="Condensed"]').first();
  await condensed.waitFor();
  assert.match(await condensed.innerText(), /messages \d+–\d+/);
  await q.click(page.locator('.fold button').first());
  await until('X', async () => (await page.locator('.msg.gone').allInnerTexts()).some((text) => text.includes('MAGURO-42') || text.includes('Noted.')));
  q.done('why did it forget X');

  // What did this request send?
  q = await begin();
  await q.click(item);
  await q.click(page.locator('aside .request').getByRole('button', { name: 'body' }));
  await until('the body', async () => (await page.locator('dialog pre.body').innerText().catch(() => '')).includes('the mistake'));
  q.done('what did this request send');
  await page.keyboard.press('Escape');

  // How full is it, and with what?
  q = await begin();
  await q.click(item);
  await page.locator('.legend').waitFor();
  assert.match(await page.locator('.legend').innerText(), /summary [\d.k]+[\s\S]*messages [\d.k]+[\s\S]*free [\d.k]+/);
  assert.match(await page.locator('.figures').innerText(), /\d+ %/);
  q.done('how full is it, and with what');

  // What did it save?
  q = await begin();
  await q.click(item);
  await until('tokens not sent', async () => /tokens not sent\s*−[\d.,kM]+/i.test(await page.locator('.figures').innerText()));
  assert.match(await condensed.innerText(), /[\d,]+ → [\d,]+ tokens −\d+ %/);
  q.done('what did it save');

  // How do I get back to before the mistake?
  const { last } = await op(maki, 'session.outline', { conversation: id });
  q = await begin();
  await q.click(item);
  await shows(page, 1);
  await page.keyboard.press('Shift+G');
  await shows(page, last - 2);
  await q.click(message(page, last - 2).getByRole('button', { name: 'rewind to here' }));
  await page.locator('.toast', { hasText: 'Rewound to message' }).waitFor();
  await until('the mistake is out of view', async () => (await op(maki, 'session.outline', { conversation: id })).rows.some(([kind, from, to]) => kind === 'h' && from <= last - 1 && to >= last));
  q.done('how do I get back to before the mistake');
});
