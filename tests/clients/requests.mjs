// requests.mjs -- the requests that Maki writes, compared with those of the official libraries for the same
// conversation: a system prompt, an image, two parallel calls, a failed result, tools, limits.
//
// Each library is given the conversation as its documentation shows it; ours comes out of a log whose rows are in
// Anthropic's shape, and out of one in OpenAI's.  `differs` lists, by protocol, each field in which the two may
// differ and why; everything else must be equal as JSON.
import fs from 'node:fs';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { Ollama } from 'ollama';
import { GoogleGenAI } from '@google/genai';
import { assert, test, tool } from './common.mjs';
import { build, tempDirectory, readRecorded, startFake } from '../e2e/lib.mjs';

const system = 'Be brief. 手短に。';
const image = 'iVBORw0KGgo=';
const see = '何が見えますか？ 👀 "png"';
const looking = '確認します。';
const other = { path: 'b.txt' };
const failed = 'ENOENT: b.txt';
const thanks = '고마워요. 谢谢!';
const model = 'fake';

// ---- the log, in two shapes ----------------------------------------------------------------------------------

const anthropicRows = [
  { role: 'user', content: [{ type: 'text', text: see }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: image } }] },
  { role: 'assistant', content: [
    { type: 'text', text: looking },
    { type: 'tool_use', id: 'call_1', name: tool.name, input: tool.input },
    { type: 'tool_use', id: 'call_2', name: tool.name, input: other }] },
  { role: 'user', content: [
    { type: 'tool_result', tool_use_id: 'call_1', content: tool.result },
    { type: 'tool_result', tool_use_id: 'call_2', content: failed, is_error: true }] },
  { role: 'assistant', content: tool.reply },
  { role: 'user', content: thanks },
];

const openaiCall = (id, input) => ({ id, type: 'function', function: { name: tool.name, arguments: JSON.stringify(input) } });
const openaiRows = [
  { role: 'user', content: [{ type: 'text', text: see }, { type: 'image_url', image_url: { url: `data:image/png;base64,${image}` } }] },
  { role: 'assistant', content: looking, tool_calls: [openaiCall('call_1', tool.input), openaiCall('call_2', other)] },
  { role: 'tool', tool_call_id: 'call_1', content: tool.result },
  { role: 'tool', tool_call_id: 'call_2', content: failed, isError: true },
  { role: 'assistant', content: tool.reply },
  { role: 'user', content: thanks },
];

/** The request that Maki writes. */
function ours(t, rows, protocol) {
  const file = path.join(tempDirectory(t, 'maki-request'), 'talk.jsonl');
  fs.writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const input = {
    conversation: file, protocol, model, system, maxTokens: 1000, temperature: 0.5, stream: true, toolChoice: 'auto',
    tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }],
  };
  const answer = execFileSync(path.join(build, 'maki'), ['op', 'request.build', JSON.stringify(input)], { encoding: 'utf8' });
  return JSON.parse(answer).request;
}

// ---- the libraries -------------------------------------------------------------------------------------------

async function drain(stream) {
  for await (const _ of await stream);
}

const chatTool = { type: 'function', function: { name: tool.name, description: tool.description, parameters: tool.parameters } };

const libraries = {
  anthropic: (url) => drain(new Anthropic({ baseURL: url, apiKey: 'k', maxRetries: 0 }).messages.create({
    model, system: [{ type: 'text', text: system }], max_tokens: 1000, temperature: 0.5, stream: true,
    tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }],
    tool_choice: { type: 'auto' }, messages: anthropicRows,
  })),
  openai: (url) => drain(new OpenAI({ baseURL: `${url}/v1`, apiKey: 'k', maxRetries: 0 }).chat.completions.create({
    model, max_tokens: 1000, temperature: 0.5, stream: true, stream_options: { include_usage: true },
    tools: [chatTool], tool_choice: 'auto',
    messages: [{ role: 'system', content: system }, ...openaiRows.map(({ isError, ...row }) => row)],
  })),
  responses: (url) => drain(new OpenAI({ baseURL: `${url}/v1`, apiKey: 'k', maxRetries: 0 }).responses.create({
    model, instructions: system, max_output_tokens: 1000, temperature: 0.5, stream: true, store: false,
    tools: [{ type: 'function', name: tool.name, description: tool.description, parameters: tool.parameters, strict: false }],
    tool_choice: 'auto',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: see }, { type: 'input_image', image_url: `data:image/png;base64,${image}` }] },
      { role: 'assistant', content: looking },
      { type: 'function_call', call_id: 'call_1', name: tool.name, arguments: JSON.stringify(tool.input) },
      { type: 'function_call', call_id: 'call_2', name: tool.name, arguments: JSON.stringify(other) },
      { type: 'function_call_output', call_id: 'call_1', output: tool.result },
      { type: 'function_call_output', call_id: 'call_2', output: failed },
      { role: 'assistant', content: tool.reply },
      { role: 'user', content: thanks },
    ],
  })),
  ollama: (url) => drain(new Ollama({ host: url }).chat({
    model, stream: true, options: { num_predict: 1000, temperature: 0.5 }, tools: [chatTool],
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: see, images: [image] },
      { role: 'assistant', content: looking, tool_calls: [
        { function: { name: tool.name, arguments: tool.input } }, { function: { name: tool.name, arguments: other } }] },
      { role: 'tool', tool_name: tool.name, content: tool.result },
      { role: 'tool', tool_name: tool.name, content: failed },
      { role: 'assistant', content: tool.reply },
      { role: 'user', content: thanks },
    ],
  })),
  gemini: (url) => drain(new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: url } }).models.generateContentStream({
    model,
    config: {
      systemInstruction: system, maxOutputTokens: 1000, temperature: 0.5,
      tools: [{ functionDeclarations: [{ name: tool.name, description: tool.description, parametersJsonSchema: tool.parameters }] }],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
    },
    contents: [
      { role: 'user', parts: [{ text: see }, { inlineData: { mimeType: 'image/png', data: image } }] },
      { role: 'model', parts: [
        { text: looking },
        { functionCall: { name: tool.name, args: tool.input } }, { functionCall: { name: tool.name, args: other } }] },
      { role: 'user', parts: [
        { functionResponse: { name: tool.name, response: { output: tool.result } } },
        { functionResponse: { name: tool.name, response: { error: failed } } }] },
      { role: 'model', parts: [{ text: tool.reply }] },
      { role: 'user', parts: [{ text: thanks }] },
    ],
  })),
};

// ---- allowed differences ---------------------------------------------------------------------------------------

/** APIs that accept both treat a list with one text like a string; Maki keeps the form in the log. */
function asString(content) {
  const [only] = Array.isArray(content) && content.length === 1 ? content : [];
  return only && /^(text|output_text)$/.test(only.type) && Object.keys(only).length === 2 ? only.text : content;
}
const strings = (list) => list.map((message) => ('content' in message ? { ...message, content: asString(message.content) } : message));

/** Arguments are JSON in a string: compared by value. */
const parsed = (json) => JSON.parse(json);

const differs = {
  anthropic: (body) => ({ ...body, messages: strings(body.messages) }),
  openai: (body) => ({
    ...body,
    messages: strings(body.messages).map((message) => (message.tool_calls
      ? { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, function: { ...call.function, arguments: parsed(call.function.arguments) } })) }
      : message)),
  }),
  responses: (body) => ({
    ...body,
    input: strings(body.input).map((item) => (item.arguments ? { ...item, arguments: parsed(item.arguments) } : item)),
  }),
  // Maki names the call that a result answers; the library has no such fields, and older servers ignore them.
  ollama: (body) => ({
    ...body,
    messages: body.messages.map(({ tool_call_id, ...message }) => (message.tool_calls
      ? { ...message, tool_calls: message.tool_calls.map(({ id, ...call }) => call) }
      : message)),
  }),
  // The library adds a role to the system instruction, which has no effect.
  gemini: ({ systemInstruction: { role, ...instruction }, ...body }) => ({ ...body, systemInstruction: instruction }),
};

for (const [protocol, send] of Object.entries(libraries)) {
  for (const [shape, rows] of Object.entries({ "Anthropic's": anthropicRows, "OpenAI's": openaiRows })) {
    test(`${protocol}: the request of a log in ${shape} shape is what the library sends`, async (t) => {
      const fake = await startFake(t, { record: true });
      await send(fake.url);
      const [recorded] = readRecorded(fake.recorded);
      const theirs = JSON.parse(recorded.body.toString());
      assert.deepEqual(differs[protocol](ours(t, rows, protocol)), differs[protocol](theirs));
    });
  }
}
