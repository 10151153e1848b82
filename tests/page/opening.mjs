// opening.mjs -- what a page asks for when it opens, and details of how messages and steps are written.
import fs from 'node:fs';
import path from 'node:path';
import { assert, op, pageTest, root, run, said, session, shows, start, turns, until } from './kit.mjs';

pageTest('a conversation opens in one round of requests: all modules at once, the first messages with the outline', async ({ t, open }) => {
  const maki = await start(t);
  const index = await (await fetch(`${maki.url}/`)).text();
  const modules = [...index.matchAll(/<link rel="modulepreload" href="maki\/page\/([^"]+)">/g)].map((m) => m[1]);
  const files = fs.readdirSync(path.join(root, 'web')).filter((name) => name.endsWith('.js'));
  assert.deepEqual(modules.sort(), [...files, 'lib/preact.js'].sort());

  const { id } = session(maki, 'opening', turns(60));
  for (const [at, seq] of [['', 1], ['/m/101', 101]]) {
    const page = await open(maki, { at: null }), asked = [];
    page.on('request', (request) => { if (request.url().endsWith('/session.messages')) asked.push(JSON.parse(request.postData()).from); });
    const first = page.waitForRequest((request) => request.url().endsWith('/session.messages'));
    await page.route('**/session.outline', async (route) => { // answered only when the messages were asked for
      await first;
      await route.continue();
    });
    await page.goto(`${maki.url}/#/c/${id}${at}`);
    await shows(page, seq);
    assert.equal(asked[0], seq - (seq - 1) % 40, 'the page of messages that is shown first');
    assert.equal(new Set(asked).size, asked.length, 'each page of messages is asked for once');
    await page.context().close();
  }
});

pageTest('a message that arrives while the page opens is shown', async ({ t, open }) => {
  const maki = await start(t);
  const { id, path: file } = session(maki, 'late', turns(2));
  const page = await open(maki, { at: null });
  const answered = page.waitForResponse((response) => response.url().endsWith('/session.messages'));
  await page.route('**/session.outline', async (route) => { // after the first messages were answered
    await answered;
    run(maki, ['history', 'append', file], `${JSON.stringify(said('user', 'the late one'))}\n`);
    await route.continue();
  }, { times: 1 });
  await page.goto(`${maki.url}/#/c/${id}`);
  await until('the late one', async () => /the late one/.test(await (await shows(page, 5)).innerText()));
});

pageTest('the header of a diff is not a change; a summary has its headings outside its lists; a name is shown once', async ({ t, open }) => {
  const maki = await start(t);
  const { id } = session(maki, 'words', [said('user', '```diff\n--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\n-old\n+new\n--- a row that was removed\n```'), said('assistant', 'Done.'),
    ...turns(30, 50)]);
  await op(maki, 'session.rename', { conversation: id, name: 'Changed words' });
  const page = await open(maki, { at: `#/c/${id}` });
  const diff = await shows(page, 1);
  assert.deepEqual(await diff.locator('.line.hunk').allInnerTexts(), ['--- a/x.c', '+++ b/x.c', '@@ -1 +1 @@']);
  assert.deepEqual(await diff.locator('.line.removed').allInnerTexts(), ['-old', '--- a row that was removed']);
  assert.equal((await page.locator('.heading, .chips').allInnerTexts()).join(' ').split('Changed words').length - 1, 1);
  await page.locator('.toolbar .btn.main').click();
  await page.locator('dialog .summary li').first().waitFor();
  const items = await page.locator('dialog .summary li').allInnerTexts();
  assert.deepEqual(items.filter((item) => item.includes('\n')), []);
});
