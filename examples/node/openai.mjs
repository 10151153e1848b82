// openai.mjs -- OpenAI's library through the daemon: the conversation has a name, and then an operation is run on it.
//
//     maki serve    # in another terminal
//     npm ci && OPENAI_API_KEY=... node openai.mjs
import OpenAI from 'openai';

const daemon = process.env.MAKI_URL ?? 'http://127.0.0.1:4747';
const client = new OpenAI({ baseURL: `${daemon}/v1`, defaultHeaders: { 'x-maki-session': 'sushi-openai' } });
const messages = [];
for (const content of ['巻き寿司の具は何ですか？', 'And to drink? 🍵']) {
  messages.push({ role: 'user', content });
  const answer = await client.chat.completions.create({ model: process.env.MODEL ?? 'gpt-5-mini', messages });
  messages.push(answer.choices[0].message);
  console.log(answer.choices[0].message.content);
}

const status = await fetch(`${daemon}/maki/ops/history.status`, {
  method: 'POST',
  body: JSON.stringify({ conversation: 'sushi-openai' }),
});
console.log('messages', (await status.json()).messages);
