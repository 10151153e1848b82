// bytes.mjs -- a thousand requests of the client libraries reach the provider byte for byte.
import OpenAI from 'openai';
import Anthropic from '@anthropic-ai/sdk';
import { Ollama } from 'ollama';
import { GoogleGenAI } from '@google/genai';
import { generateText, streamText } from 'ai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { ChatAnthropic } from '@langchain/anthropic';
import { assert, languages, test, tool } from './common.mjs';
import { readRecorded, startFake, startMaki } from '../e2e/lib.mjs';
import { assertSame, startTee } from '../e2e/tee.mjs';

const REQUESTS = 1000;
const model = 'fake';

const finish = async (stream) => {
  for await (const piece of stream) void piece;
};

/** Every way to ask; each makes one request. */
function ways(url) {
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: url, apiKey: 'sk-ant-test', maxRetries: 0 });
  const ollama = new Ollama({ host: url });
  const google = new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: url } });
  const vercel = createOpenAICompatible({ name: 'maki', baseURL: `${url}/v1`, apiKey: 'test' })(model);
  const chain = new ChatOpenAI({ model, apiKey: 'test', maxRetries: 0, configuration: { baseURL: `${url}/v1` } });
  const chainAnthropic = new ChatAnthropic({ model, apiKey: 'test', maxRetries: 0, anthropicApiUrl: url });
  const user = (content) => [{ role: 'user', content }];
  const tools = [{ type: 'function', function: { name: tool.name, parameters: tool.parameters } }];
  return [
    (text) => openai.chat.completions.create({ model, messages: user(text), tools }),
    async (text) => finish(await openai.chat.completions.create({ model, messages: user(text), stream: true })),
    (text) => openai.responses.create({ model, input: text }),
    async (text) => finish(await openai.responses.create({ model, input: user(text), stream: true })),
    (text) => openai.embeddings.create({ model, input: text }),
    () => openai.models.list(),
    (text) => anthropic.messages.create({ model, max_tokens: 99, messages: user(text) }),
    async (text) => finish(await anthropic.messages.create({ model, max_tokens: 99, messages: user(text), stream: true })),
    (text) => anthropic.messages.countTokens({ model, messages: user(text) }),
    (text) => ollama.chat({ model, messages: user(text) }),
    async (text) => finish(await ollama.chat({ model, messages: user(text), stream: true })),
    (text) => ollama.embed({ model, input: text }),
    () => ollama.list(),
    (text) => google.models.generateContent({ model, contents: text }),
    async (text) => finish(await google.models.generateContentStream({ model, contents: text })),
    (text) => google.models.countTokens({ model, contents: text }),
    (text) => generateText({ model: vercel, prompt: text, maxRetries: 0 }),
    (text) => finish(streamText({ model: vercel, prompt: text, maxRetries: 0 }).textStream),
    (text) => chain.invoke(text),
    async (text) => finish(await chain.stream(text)),
    (text) => chainAnthropic.invoke(text),
  ];
}

test('a thousand requests reach the provider byte for byte', async (t) => {
  const fake = await startFake(t, { record: true });
  const maki = await startMaki(t, { upstream: fake.url });
  const tee = await startTee(t, maki.url);
  const all = ways(tee.url);
  for (let n = 0; n < REQUESTS;) {
    const text = `${languages[n % languages.length].ask} #${n}${' 長い文'.repeat(n % 7 === 0 ? 500 : 1)}`;
    await Promise.all(all.map((way) => way(text))); // at once: connections are kept and shared
    n += all.length;
  }
  const sent = tee.requests();
  assert.ok(sent.length >= REQUESTS);
  assertSame(sent, readRecorded(fake.recorded));
});
