// common.mjs -- the same conversations for every client library: to the fake provider directly, and through
// the proxy, whose log must then have every message.
import test from 'node:test';
import assert from 'node:assert/strict';
import { quiet, readConversations, startFake, startMaki } from '../e2e/lib.mjs';

export { assert, test };

/** What a user says in each language, and what the fake provider answers. */
export const languages = [
  { name: 'English', ask: 'Which fish is in the roll?', reply: 'You said: Which fish is in the roll?' },
  { name: 'Japanese', ask: '巻き寿司の具は何ですか？', reply: '「巻き寿司の具は何ですか？」ですね。わかりました。🍣' },
  { name: 'Chinese', ask: '请解释一下上下文窗口。', reply: '你说的是“请解释一下上下文窗口。”，明白了。' },
  { name: 'Korean', ask: '컨텍스트 창을 설명해 주세요.', reply: '“컨텍스트 창을 설명해 주세요.”라고 하셨네요. 알겠습니다.' },
  { name: 'emoji and escapes', ask: '👩‍👩‍👧 "quoted" \\ back\tslash', reply: 'You said: 👩‍👩‍👧 "quoted" \\ back\tslash' },
];

export const tool = {
  name: 'read_file',
  description: 'Read a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  input: { path: 'メモ/a "b".txt' },
  result: '秘密は🐟 "maguro" です。',
  ask: 'ファイルを読んでください。 fake:tool:read_file {"path":"メモ/a \\"b\\".txt"}',
  looking: '確認します。',
  reply: 'ツールの答えは「秘密は🐟 "maguro" です。」です。',
};

/** The log of a turn of text, and of a turn with a call of the tool. */
export const textTurn = ({ ask, reply }) => [{ role: 'user', text: ask }, { role: 'assistant', text: reply }];
export const toolTurn = () => [
  { role: 'user', text: tool.ask },
  { role: 'assistant', text: tool.looking, calls: [{ name: tool.name, input: tool.input }] },
  { role: 'user', text: '', results: [tool.result] },
  { role: 'assistant', text: tool.reply },
];

/** Run `talk(url)` against the fake provider and through the proxy.  `expect`: the conversations that the
 *  log must hold afterwards, in the order in which they began. */
export function bothWays(name, talk, expect = []) {
  test(`${name}, directly`, async (t) => {
    const fake = await startFake(t);
    await talk(fake.url, t);
  });
  test(`${name}, through the proxy`, async (t) => {
    const fake = await startFake(t);
    const maki = await startMaki(t, { upstream: fake.url });
    await talk(maki.url, t);
    await quiet(maki); // a library may go on as soon as it understood the end of a stream, which is before its last byte
    logHolds(maki.home, expect);
  });
}

/** The log holds these conversations and no others, in whatever order. */
function logHolds(home, expect) {
  const inOrder = (talks) => talks.map((said) => JSON.stringify(said)).sort().map(JSON.parse);
  assert.deepEqual(inOrder(readConversations(home).map((talk) => talk.said)), inOrder(expect));
}
