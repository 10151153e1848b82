// openai.mjs -- OpenAI's official library: chat completions, responses, embeddings, models.
import OpenAI from 'openai';
import { assert, bothWays, languages, textTurn, tool, toolTurn } from './common.mjs';

const client = (url) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
const model = 'fake';

// ---- chat completions ---------------------------------------------------------------------------

const chatTools = [{
  type: 'function',
  function: { name: tool.name, description: tool.description, parameters: tool.parameters },
}];

/** A whole answer, or a stream put together by the library. */
async function chat(url, stream, body) {
  const openai = client(url);
  if (!stream) return (await openai.chat.completions.create({ model, ...body })).choices[0];
  const runner = openai.chat.completions.stream({ model, stream_options: { include_usage: true }, ...body });
  const whole = await runner.finalChatCompletion();
  assert.ok(whole.usage.total_tokens > 0);
  return whole.choices[0];
}

async function chatWithTool(url, stream) {
  const messages = [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: tool.ask }];
  const call = await chat(url, stream, { messages, tools: chatTools });
  assert.equal(call.finish_reason, 'tool_calls');
  assert.equal(call.message.content, tool.looking);
  assert.deepEqual(JSON.parse(call.message.tool_calls[0].function.arguments), tool.input);
  messages.push(call.message, { role: 'tool', tool_call_id: call.message.tool_calls[0].id, content: tool.result });
  const end = await chat(url, stream, { messages, tools: chatTools });
  assert.equal(end.finish_reason, 'stop');
  assert.equal(end.message.content, tool.reply);
}

for (const stream of [false, true]) {
  const how = stream ? 'stream' : 'whole';
  for (const language of languages) {
    bothWays(`openai chat, ${language.name}, ${how}`, async (url) => {
      const got = await chat(url, stream, { messages: [{ role: 'user', content: language.ask }] });
      assert.equal(got.message.content, language.reply);
    }, [textTurn(language)]);
  }
  bothWays(`openai chat, a tool, ${how}`, (url) => chatWithTool(url, stream), [toolTurn()]);
}

bothWays('openai chat, many turns are one conversation', async (url) => {
  const messages = [];
  for (const { ask, reply } of languages) {
    messages.push({ role: 'user', content: ask });
    const got = await chat(url, true, { messages });
    assert.equal(got.message.content, reply);
    messages.push({ role: 'assistant', content: got.message.content });
  }
}, [languages.flatMap(textTurn)]);

// ---- responses ----------------------------------------------------------------------------------

const responseTools = [{
  type: 'function', name: tool.name, description: tool.description, parameters: tool.parameters, strict: false,
}];

async function respond(url, stream, body) {
  const openai = client(url);
  if (!stream) return openai.responses.create({ model, ...body });
  return openai.responses.stream({ model, ...body }).finalResponse();
}

async function respondWithTool(url, stream) {
  const input = [{ role: 'user', content: tool.ask }];
  const first = await respond(url, stream, { input, tools: responseTools });
  assert.equal(first.output_text, tool.looking);
  const call = first.output.find((item) => item.type === 'function_call');
  assert.deepEqual(JSON.parse(call.arguments), tool.input);
  for (const item of first.output) {
    const { parsed_arguments, ...sent } = item; // the library adds it for its callers
    input.push(sent);
  }
  input.push({ type: 'function_call_output', call_id: call.call_id, output: tool.result });
  const last = await respond(url, stream, { input, tools: responseTools });
  assert.equal(last.output_text, tool.reply);
}

/** In this protocol a text and a call are items, side by side. */
function itemTurn() {
  const [asked, answered, ...rest] = toolTurn();
  const { calls, ...text } = answered;
  return [asked, text, { role: 'assistant', text: '', calls }, ...rest];
}

for (const stream of [false, true]) {
  const how = stream ? 'stream' : 'whole';
  for (const language of languages) {
    bothWays(`openai responses, ${language.name}, ${how}`, async (url) => {
      const got = await respond(url, stream, { input: language.ask });
      assert.equal(got.output_text, language.reply);
      assert.ok(got.usage.total_tokens > 0);
    }, [textTurn(language)]);
  }
  bothWays(`openai responses, a tool, ${how}`, (url) => respondWithTool(url, stream), [itemTurn()]);
}

// ---- the rest -----------------------------------------------------------------------------------

bothWays('openai embeddings, base64 and floats, and models', async (url) => {
  const openai = client(url);
  const input = ['巻き', '卷'];
  const encoded = await openai.embeddings.create({ model: 'fake-embed', input });
  const floats = await openai.embeddings.create({ model: 'fake-embed', input, encoding_format: 'float' });
  assert.equal(encoded.data.length, 2);
  assert.equal(encoded.data[0].embedding.length, 16);
  assert.deepEqual([...encoded.data[0].embedding], floats.data[0].embedding);
  assert.notDeepEqual(floats.data[0].embedding, floats.data[1].embedding);
  assert.deepEqual((await openai.models.list()).data.map((row) => row.id), ['fake']);
});

bothWays('openai errors keep their words', async (url) => {
  const ask = (content) => client(url).chat.completions.create({ model, messages: [{ role: 'user', content }] });
  await assert.rejects(ask('fake:429'), (error) => error instanceof OpenAI.RateLimitError && error.headers.get('retry-after') === '1');
  await assert.rejects(ask('fake:500'), OpenAI.InternalServerError);
  await assert.rejects(ask('fake:overflow'), (error) => error.code === 'context_length_exceeded');
}, [[{ role: 'user', text: 'fake:429' }], [{ role: 'user', text: 'fake:500' }], [{ role: 'user', text: 'fake:overflow' }]]);
