// hostile.mjs -- content that would do harm is shown, and does none.
import fs from 'node:fs';
import { assert, message, op, pageTest, quiet, said, session, shows, start, until } from './kit.mjs';

const PWN = 'window.__pwned=1';
const TAG = `<img src=x onerror="${PWN}"><script>${PWN}</script><svg onload="${PWN}">`;
const RTL = 'safe \u202Etxt.exe\u202C done';
const NESTED = Array.from({ length: 200 }, (_, i) => `${'  '.repeat(i)}- level ${i}`).join('\n');
const LINKS = [`[javascript](javascript:${PWN})`, `[data](data:text/html,<script>${PWN}</script>)`, '[vbscript](vbscript:msgbox)', `![picture](https://evil.example/x.png)`,
  `<javascript:${PWN}>`, `[obfuscated](java&#115;cript:${PWN})`, `[tab](java\tscript:${PWN})`, '[fine](https://example.org/)'].join('\n\n');
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const BIG_PNG = Buffer.concat([PNG, Buffer.alloc(5_000_000)]).toString('base64'); // what follows the end is no part of the image

const MESSAGES = [
  said('user', TAG),
  said('assistant', LINKS),
  said('user', 'x'.repeat(1 << 20)),
  said('assistant', RTL),
  said('user', NESTED),
  said('assistant', [{ type: 'text', text: TAG }, { type: 'tool_use', id: `<b>${PWN}`, name: TAG.slice(0, 60), input: { [TAG]: TAG, old_string: TAG, new_string: TAG } }]),
  said('user', [{ type: 'tool_result', tool_use_id: `<b>${PWN}`, content: TAG, is_error: true }]),
  said('assistant', [{ type: 'thinking', thinking: TAG, signature: 's' }, { type: TAG, payload: TAG }, { type: 'text', text: `| ${TAG} | b |\n|---|---|\n| ${TAG} | [x](javascript:${PWN}) |` }]),
  said('user', [{ type: 'text', text: 'a big one' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: BIG_PNG } }]),
  said('user', [{ type: 'image', source: { type: 'base64', media_type: `image/svg+xml`, data: Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg"><script>${PWN}</script></svg>`).toString('base64') } },
    { type: 'image', source: { type: 'url', url: `javascript:${PWN}` } }, { type: 'image', source: { type: 'url', url: 'https://evil.example/track.png' } }]),
  said('assistant', '**'.repeat(20_000)),
  said('user', '['.repeat(20_000)),
  said('assistant', '```\n<script>' + PWN + '</script>\n```\n\n> '.repeat(3) + `${'> '.repeat(300)}quoted`),
];

const harmless = async (page) => {
  assert.equal(await page.evaluate(() => window.__pwned), undefined);
  assert.deepEqual(await page.evaluate(() => [...document.querySelectorAll('#app a, #app img, #app script, #app svg, #app iframe, dialog a')]
    .map((e) => e.getAttribute('href') ?? e.getAttribute('src') ?? '').filter((url) => !/^(#|https?:|mailto:|data:image\/(png|jpe?g|gif|webp|avif|bmp);|$)/i.test(url))), []);
  assert.equal(await page.locator('#app script, #app iframe, #app object, #app [onerror], #app [onload]').count(), 0);
};

pageTest('hostile messages are shown and do nothing', async ({ t, open }) => {
  const maki = await start(t, { window: 10_000_000 });
  const { id } = session(maki, 'hostile', MESSAGES);
  await op(maki, 'session.rename', { conversation: id, name: '<img src=x onerror=window.__pwned=1><b>' });
  const page = await open(maki, { at: `#/c/${id}` });
  for (let seq = 1; seq <= MESSAGES.length; seq++) {
    await page.goto(`${maki.url}/#/c/${id}/m/${seq}`);
    if (seq !== 7) await shows(page, seq); // 7 is shown with the call in 6
    await harmless(page);
  }
  const text = (seq) => page.goto(`${maki.url}/#/c/${id}/m/${seq}`).then(() => shows(page, seq)).then((m) => m.innerText());
  assert.ok((await text(1)).includes(TAG), 'tags are shown as they are written');
  const links = await text(2);
  for (const word of ['javascript', 'data', 'vbscript', 'picture', 'obfuscated', 'fine']) assert.ok(links.includes(word), word);
  assert.deepEqual(await message(page, 2).locator('.text a').evaluateAll((all) => all.map((a) => a.href)).then((all) => all.filter((href) => /^https:/.test(href)).includes('https://example.org/')), true);

  // A line of a megabyte folds, and unfolds whole.
  await text(3);
  await message(page, 3).getByRole('button', { name: /show all 1,048,576 characters/ }).click();
  await until('the whole line, by pieces', async () => {
    if (((await message(page, 3).innerText()).match(/x/g) ?? []).length >= 1 << 20) return true;
    const more = message(page, 3).getByRole('button', { name: /more characters/ });
    if (await more.count()) await more.first().click();
    return false;
  });
  assert.ok((await text(4)).includes('safe') && (await text(4)).includes('done'));
  assert.match(await text(5), /level 0[\s\S]*level 12/);
  const tool = await text(6);
  assert.ok(tool.includes('onerror'), 'the name and the arguments of the call');
  await text(9);
  const image = message(page, 9).locator('img');
  if (await image.count() === 0) await message(page, 9).getByRole('button', { name: /Show image/ }).click();
  await until('an image of 5 MB', () => image.evaluate((i) => i.complete && i.naturalWidth === 1));
  await harmless(page);
  await page.goto(`${maki.url}/`);
  await page.locator('a.item').waitFor();
  await harmless(page);
});

pageTest('hostile names of models, clients, conversations and errors; bytes that are no UTF-8', async ({ t, open }) => {
  const maki = await start(t);
  const hostile = `${TAG.slice(0, 42)}`;
  const ask = (body) => fetch(`${maki.url}/v1/messages`, { method: 'POST', headers: { 'x-maki-session': 'evil <b>', 'user-agent': '<script>x</script>/1', 'x-api-key': 'key' }, body });
  const body = JSON.stringify({ model: hostile, max_tokens: 10, system: TAG, tools: [{ name: 'a', description: TAG, input_schema: {} }], messages: [{ role: 'user', content: `${TAG} QQ` }] });
  await ask(Buffer.concat([Buffer.from(body.slice(0, body.indexOf('QQ'))), Buffer.from([0xff, 0xfe, 0xc3, 0x28]), Buffer.from(body.slice(body.indexOf('QQ') + 2))])).then((r) => r.text());
  await ask(body).then((r) => r.text());
  await ask(JSON.stringify({ model: hostile, max_tokens: 10, messages: [{ role: 'user', content: 'fake:500,words:<script>window.__pwned=1</script>' }] })).then((r) => r.text());
  await quiet(maki);

  // Bytes that are no UTF-8, appended to a log by another program; and a row that was changed after it was written.
  const broken = session(maki, 'broken', [said('user', 'fine')]);
  fs.appendFileSync(broken.path, Buffer.from('{"role":"user","content":"before \xff\xfe\xc3\x28 after"}\n{"role":"assistant","content":"and on"}\n', 'latin1'));
  const changed = session(maki, 'changed', [said('user', 'before ZZZZ after'), said('assistant', 'yes')]);
  fs.writeFileSync(changed.path, fs.readFileSync(changed.path, 'latin1').replace('ZZZZ', '\xff\xfe\xc3\x28'), 'latin1');

  const page = await open(maki, { errors: [/status of 500.*session\.messages/] });
  await page.locator('a.item').nth(1).waitFor();
  await harmless(page);
  let failures = 0;
  page.on('response', (r) => { failures += r.status() >= 500; });
  const { sessions } = await op(maki, 'session.list', {});
  assert.ok(sessions.length >= 2);
  for (const { id } of sessions) {
    await page.goto(`${maki.url}/#/c/${id}`);
    await page.locator('article.msg:not(.waiting), article.event.err, .msg.bad').first().waitFor();
    await harmless(page);
  }
  await page.goto(`${maki.url}/#/c/${broken.id}/m/1`);
  await shows(page, 1);
  await harmless(page);
  await (await shows(page, 3)).getByText('and on').waitFor();
  await shows(page, 2);
  await page.goto(`${maki.url}/#/c/${changed.id}`);
  await page.locator('.msg.bad', { hasText: 'is not what was written' }).first().waitFor();
  assert.ok(failures < 12, `${failures} requests that failed: they are not repeated for ever`);
});

pageTest('addresses that mean nothing are answered in words', async ({ t, open }) => {
  const maki = await start(t);
  const { id } = session(maki, 'here', [said('user', 'Hello')]);
  const page = await open(maki, { at: '#/c/00000000-0000-4000-8000-000000000000', errors: [/Failed to load resource.*session\./] });
  await page.getByText('This conversation does not exist').waitFor();
  for (const hash of [`#/c/${id}/m/999999`, `#/c/${id}/e/77`, `#/c/${id}/r/77`, `#/c/${id}/m/-1`, `#/c/${id}/x/<script>`, '#/zzz/%E0%A4%A', '#/c/%2e%2e%2f%2e%2e']) {
    await page.goto(`${maki.url}/${hash}`);
    await page.locator('main').first().waitFor();
    await harmless(page);
  }
});
