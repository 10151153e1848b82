// vercel.mjs -- the AI SDK with an OpenAI-compatible provider; its own loop calls the tool.
import { generateText, streamText, tool as makeTool, jsonSchema, stepCountIs } from 'ai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { assert, bothWays, languages, textTurn, tool, toolTurn } from './common.mjs';

const modelAt = (url) => createOpenAICompatible({ name: 'maki', baseURL: `${url}/v1`, apiKey: 'test', includeUsage: true })('fake');
const common = { maxRetries: 0 };

for (const language of languages) {
  bothWays(`ai, ${language.name}, whole`, async (url) => {
    assert.equal((await generateText({ model: modelAt(url), prompt: language.ask, ...common })).text, language.reply);
  }, [textTurn(language)]);
  bothWays(`ai, ${language.name}, stream`, async (url) => {
    let text = '';
    for await (const piece of streamText({ model: modelAt(url), prompt: language.ask, ...common }).textStream) text += piece;
    assert.equal(text, language.reply);
  }, [textTurn(language)]);
}

const tools = (called) => ({
  [tool.name]: makeTool({
    description: tool.description,
    inputSchema: jsonSchema(tool.parameters),
    execute: (input) => (called.push(input), tool.result),
  }),
});

bothWays('ai, a tool, whole', async (url) => {
  const called = [];
  const { text } = await generateText({ model: modelAt(url), prompt: tool.ask, tools: tools(called), stopWhen: stepCountIs(3), ...common });
  assert.deepEqual(called, [tool.input]);
  assert.equal(text, tool.reply);
}, [toolTurn()]);

bothWays('ai, a tool, stream', async (url) => {
  const called = [];
  const result = streamText({ model: modelAt(url), prompt: tool.ask, tools: tools(called), stopWhen: stepCountIs(3), ...common });
  assert.equal(await result.text, tool.reply);
  assert.deepEqual(called, [tool.input]);
}, [toolTurn()]);
