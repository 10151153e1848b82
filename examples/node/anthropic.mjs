// anthropic.mjs -- Anthropic's library through the daemon: the conversation has a name, and then an operation is run on it.
//
//     maki serve    # in another terminal
//     npm ci && ANTHROPIC_API_KEY=... node anthropic.mjs
import Anthropic from '@anthropic-ai/sdk';

const daemon = process.env.MAKI_URL ?? 'http://127.0.0.1:4747';
const client = new Anthropic({ baseURL: daemon, defaultHeaders: { 'x-maki-session': 'sushi-anthropic' } });
const messages = [];
for (const content of ['卷寿司里有什么？', '그리고 마실 것은요? 🍵']) {
  messages.push({ role: 'user', content });
  const answer = await client.messages.create({ model: process.env.MODEL ?? 'claude-sonnet-5-5', max_tokens: 1024, messages });
  messages.push({ role: 'assistant', content: answer.content });
  console.log(answer.content[0].text);
}

const status = await fetch(`${daemon}/maki/ops/history.status`, {
  method: 'POST',
  body: JSON.stringify({ conversation: 'sushi-anthropic' }),
});
console.log('messages', (await status.json()).messages);
