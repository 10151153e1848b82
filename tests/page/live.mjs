// live.mjs -- steps made anywhere appear on the open page, and the reader stays where they are.
import { append, assert, message, op, pageTest, place, run, said, session, settled, shows, start, turns, until } from './kit.mjs';
import { startMaki } from '../e2e/lib.mjs';

pageTest('steps from the command line appear, and the reader keeps the place', async ({ t, open }) => {
  const maki = await start(t);
  const { id, path } = session(maki, 'live', turns(200, 20));
  const page = await open(maki, { at: `#/c/${id}/m/200` });
  await shows(page, 200);
  await page.mouse.move(500, 500);
  await page.mouse.wheel(0, 300);
  await settled(page);
  const before = await place(page);
  assert.ok(before && Number(before[0].slice(1)) > 150, `in the middle: ${before}`);
  const stays = async (what) => {
    await settled(page);
    const now = await place(page);
    assert.equal(now[0], before[0], `after ${what}`);
    assert.ok(Math.abs(now[1] - before[1]) <= 1, `after ${what}: ${before[1]} -> ${now[1]}`);
  };
  const count = async (n) => until(`${n} messages`, async () => (await page.locator('.end').innerText()).startsWith(`${n} messages`));

  append(maki, path, [said('user', 'One more'), said('assistant', 'Yes.')]);
  await count(402);
  await stays('an append');
  run(maki, ['history', 'pin', path, '20']);
  await until('the pin', async () => (await op(maki, 'session.outline', { conversation: id })).pins.length === 1);
  run(maki, ['history', 'truncate', path, '--fraction', '0.3']);
  await until('the truncation', async () => !/402 of 402/.test(await page.locator('.figures').innerText()));
  await stays('a pin and a truncation above');
  run(maki, ['history', 'undo', path]);
  await until('the undo', async () => /402 of 402/.test(await page.locator('.figures').innerText()));
  await stays('an undo');
  run(maki, ['history', 'condense', path, '--keep', '250']);
  await until('the summary', async () => /condensed/.test(await page.locator('.figures').innerText()) && /\b1×/.test(await page.locator('.figures').innerText()));
  await stays('a summary above');
});

pageTest('a reader at the end stays at the end', async ({ t, open }) => {
  const maki = await start(t);
  const { id, path } = session(maki, 'end', turns(60, 20));
  const page = await open(maki, { at: `#/c/${id}` });
  await page.locator('main.conversation .msg').first().waitFor();
  await page.keyboard.press('Shift+G');
  await shows(page, 120);
  await settled(page);
  append(maki, path, [said('user', 'News'), said('assistant', 'Really.')]);
  await shows(page, 122);
  await settled(page);
  assert.ok(await page.evaluate(() => { const m = document.querySelector('main'); return m.scrollTop + m.clientHeight >= m.scrollHeight - 4; }));
});

pageTest('the daemon goes away and comes back under an open page', async ({ t, open }) => {
  const maki = await start(t);
  const { id, path } = session(maki, 'restart', turns(10));
  const page = await open(maki, { at: `#/c/${id}`, offline: true });
  const live = page.locator('header .live');
  await shows(page, 2);
  await until('it is connected', async () => (await live.innerText()) === 'recording');
  await maki.stop();
  await until('it is not', async () => /connection lost/.test(await live.innerText()));
  append(maki, path, [said('user', 'meanwhile'), said('assistant', 'indeed')]);
  await startMaki(t, { upstream: maki.fake.url, home: maki.home, env: maki.env, args: ['--listen', maki.url.slice('http://'.length)] });
  await until('it is again', async () => (await live.innerText()) === 'recording');
  await until('what happened meanwhile', async () => (await page.locator('.end').innerText()).startsWith('22 messages'));
  run(maki, ['history', 'truncate', path]);
  await page.locator('article.event[aria-label="Truncated"]').waitFor(); // and it is live again
  assert.equal(await message(page, 22).count() >= 0, true);
});

pageTest('two pages: what is done on one shows on the other, also that it was erased', async ({ t, open }) => {
  const maki = await start(t);
  const { id } = session(maki, 'two', turns(3));
  const one = await open(maki, { at: `#/c/${id}` });
  const two = await open(maki, { at: `#/c/${id}`, errors: [/status of 404.*session\./] });
  await shows(one, 2);
  await shows(two, 2);
  await message(one, 2).getByRole('button', { name: 'pin', exact: true }).click();
  await message(two, 2).locator('.pin').waitFor();
  await two.locator('article.event[aria-label="Pinned"]').waitFor();
  await one.getByRole('button', { name: 'Erase …' }).click();
  await one.locator('dialog').getByRole('button', { name: 'Erase', exact: true }).click();
  await two.getByText('This conversation does not exist (any more).').waitFor();
});

pageTest('an answer that is written right now, and a chat in a terminal, appear', async ({ t, open }) => {
  const maki = await start(t);
  run(maki, ['chat', '-p', 'first', '--session', 'talk']);
  const { sessions: [{ id }] } = await op(maki, 'session.list', {});
  const page = await open(maki, { at: `#/c/${id}` });
  await shows(page, 2);
  run(maki, ['chat', '-p', 'and then', '--session', 'talk']);
  await (await shows(page, 4)).getByText('You said: and then').waitFor();
  await until('the newest request', async () => /messages 1–3/.test(await page.locator('aside .request').innerText()));
});
