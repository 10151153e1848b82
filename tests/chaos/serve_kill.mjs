// serve_kill.mjs -- the daemon is killed (SIGKILL) at random points under load and started again on the same home.
// Every complete reply is in the log, in order and once; conversations continue where they were.
//
// MAKI_KILLS: how often (50).
import assert from 'node:assert/strict';
import test from 'node:test';
import { plain, tempDirectory, readConversations, startFake, startMaki, until } from '../e2e/lib.mjs';
import { errorLines, protocols, sleep, Talk, verifyAll, viewOf } from './serve_kit.mjs';

const KILLS = Number(process.env.MAKI_KILLS ?? 50);
const CLIENTS = 10;
const TURNS = 12; // of a talk; then the client begins another one
const names = Object.keys(protocols);

/** A client that sends turns until it is stopped.  A turn whose reply is incomplete is sent again. */
async function talkOn(number, state, talks) {
  for (let round = 0; !state.over; round++) {
    const name = names[(number + round) % names.length];
    const talk = new Talk(name, `${number}.${round}`);
    talks.push(talk);
    for (let turn = 1; turn <= TURNS && !state.over; turn++) {
      // every third talk is slow, so that kills meet streams in the middle
      const options = { stream: (number + turn) % 2 === 0, fake: number % 3 === 0 ? 'slow:2' : undefined };
      const text = `client ${number}, talk ${round}, turn ${turn}: 続きを 🍣 ${'x'.repeat(200 * (turn % 4))}`;
      const wanted = 2 * turn;
      while (talk.turns.length < wanted) {
        const reply = await talk.ask(state.url, text, options);
        if (talk.turns.length === wanted) break;
        if (reply.status) assert.equal(reply.status, 200, reply.text);
        if (state.over) return;
        await sleep(3);
      }
    }
  }
}

/** One conversation has the messages, exactly as the client has them. */
async function checkTalk(home, talk, conversations) {
  const first = talk.turns[0].text;
  const held = conversations.filter(({ said }) => said[0]?.text === first);
  const spoken = held.filter(({ said }) => said.length > 1);
  assert.equal(spoken.length, 1, `talk ${talk.name} is in ${spoken.length} conversations`);
  // killed after its first message was written and before the table knew it: nothing else is in such a one
  for (const stray of held.filter((one) => one !== spoken[0])) assert.equal(stray.said.length, 1);
  const view = (await viewOf(home, spoken[0].id)).trim().split('\n').map((line) => plain(JSON.parse(line)));
  assert.deepEqual(view.slice(0, talk.turns.length), talk.turns, `talk ${talk.name}`);
  return held.length - 1;
}

test(`${KILLS} kills under load`, async (t) => {
  const fake = await startFake(t);
  const home = tempDirectory(t, 'maki-kill');
  const start = () => startMaki(t, { upstream: fake.url, home });
  let maki = await start();
  const state = { url: maki.url, over: false }, talks = [];
  const clients = Array.from({ length: CLIENTS }, (_, i) => talkOn(i, state, talks));
  let seed = 7; // the same points every time, as far as the machine allows
  for (let kill = 0; kill < KILLS; kill++) {
    const acknowledged = talks.reduce((sum, talk) => sum + talk.turns.length, 0);
    await until('a turn', () => talks.reduce((sum, talk) => sum + talk.turns.length, 0) > acknowledged);
    await sleep(seed = (seed * 73 + 41) % 199);
    assert.equal(await maki.stop('SIGKILL'), 'SIGKILL');
    maki = await start();
    state.url = maki.url;
  }
  state.over = true;
  await Promise.all(clients);
  assert.equal(await maki.stop(), 0);
  assert.equal(errorLines(maki), '');

  const conversations = readConversations(home), kept = talks.filter((talk) => talk.turns.length);
  const exchanges = kept.reduce((sum, talk) => sum + talk.turns.length / 2, 0);
  let strays = 0;
  for (const talk of kept) strays += await checkTalk(home, talk, conversations);
  await verifyAll(home);
  // killed between the making of a file and its first message: one that is empty, at most one a kill
  const empty = conversations.filter(({ said }) => said.length === 0).length;
  assert.ok(empty <= KILLS, `${empty} are empty`);
  assert.ok(conversations.length <= talks.length + strays + empty, `${conversations.length} conversations of ${talks.length} talks`);
  t.diagnostic(`${exchanges} exchanges in ${kept.length} talks, ${strays} first messages recorded twice, ${empty} empty conversations`);
});
