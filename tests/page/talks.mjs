// talks.mjs -- the same conversation with the fake provider in every protocol: Markdown, a tool call, and its result.
import { assert, quiet } from './kit.mjs';

const ASK = 'Which **fish** is in the `roll`?';
const ARGUMENTS = { path: 'src/a.c' };
const LOOK = `Read it. fake:tool:read_file ${JSON.stringify(ARGUMENTS)}`;
const RESULT = 'int main(void) { return 42; }';
const parameters = { type: 'object', properties: { path: { type: 'string' } } };
const tool = { name: 'read_file', description: 'Read a file.', parameters };

async function post(url, name, agent, path, body) {
  const reply = await fetch(url + path, {
    method: 'POST', body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', 'x-maki-session': name, 'user-agent': agent, authorization: 'Bearer key', 'x-api-key': 'key', 'anthropic-version': '2023-06-01', 'x-goog-api-key': 'key' },
  });
  const answer = await reply.json();
  assert.equal(reply.status, 200, JSON.stringify(answer));
  return answer;
}

const protocols = {
  async openai(ask) {
    const messages = [];
    const say = async (...rows) => {
      messages.push(...rows);
      messages.push((await ask('/v1/chat/completions', { model: 'fake', messages, tools: [{ type: 'function', function: tool }] })).choices[0].message);
    };
    await say({ role: 'system', content: 'Be brief.' }, { role: 'user', content: ASK });
    await say({ role: 'user', content: LOOK });
    await say({ role: 'tool', tool_call_id: messages.at(-1).tool_calls[0].id, content: RESULT });
  },
  async responses(ask) {
    const input = [];
    const say = async (row) => {
      input.push(row);
      input.push(...(await ask('/v1/responses', { model: 'fake', instructions: 'Be brief.', input, tools: [{ type: 'function', ...tool }], store: false })).output);
    };
    await say({ role: 'user', content: ASK });
    await say({ role: 'user', content: LOOK });
    await say({ type: 'function_call_output', call_id: input.at(-1).call_id, output: RESULT });
  },
  async anthropic(ask) {
    const messages = [];
    const say = async (content) => {
      messages.push({ role: 'user', content });
      const body = { model: 'fake', max_tokens: 1000, system: 'Be brief.', messages, tools: [{ name: tool.name, description: tool.description, input_schema: parameters }] };
      messages.push({ role: 'assistant', content: (await ask('/v1/messages', body)).content });
    };
    await say([{ type: 'text', text: '<system-reminder>Be careful.</system-reminder>' }, { type: 'text', text: ASK }]);
    await say(LOOK);
    await say([{ type: 'tool_result', tool_use_id: messages.at(-1).content.find((b) => b.type === 'tool_use').id, content: RESULT }]);
  },
  async gemini(ask) {
    const contents = [];
    const say = async (part) => {
      contents.push({ role: 'user', parts: [part] });
      const body = { systemInstruction: { parts: [{ text: 'Be brief.' }] }, contents, tools: [{ functionDeclarations: [tool] }] };
      contents.push((await ask('/v1beta/models/fake:generateContent', body)).candidates[0].content);
    };
    await say({ text: ASK });
    await say({ text: LOOK });
    await say({ functionResponse: { name: tool.name, response: { result: RESULT } } });
  },
  async ollama(ask) {
    const messages = [];
    const say = async (row) => {
      messages.push(row);
      messages.push((await ask('/api/chat', { model: 'fake', stream: false, messages, tools: [{ type: 'function', function: tool }] })).message);
    };
    await say({ role: 'user', content: ASK });
    await say({ role: 'user', content: LOOK });
    await say({ role: 'tool', tool_name: tool.name, content: RESULT });
  },
};

// Who sends them, and how the page names it.
export const clients = {
  openai: ['OpenAI/JS 6.1.0', 'OpenAI SDK'], responses: ['codex_cli_rs/0.169.0', 'Codex'], anthropic: ['claude-cli/2.1.0 (external, cli)', 'Claude Code'],
  gemini: ['GeminiCLI/0.61.0', 'Gemini CLI'], ollama: ['ollama-js/0.6.0', 'Ollama client'],
};

/** One conversation in each protocol: { openai: id... }. */
export async function talkInAll(maki) {
  const ids = {};
  for (const [name, talk] of Object.entries(protocols)) {
    await talk((path, body) => post(maki.url, name, clients[name][0], path, body));
    await quiet(maki);
    const { sessions } = await (await fetch(`${maki.url}/maki/sessions`)).json();
    ids[name] = sessions.find((s) => s.sessionKey?.endsWith(`:${name}`))?.id ?? sessions.find((s) => !Object.values(ids).includes(s.id)).id;
  }
  return ids;
}

export const SAID = { ASK, LOOK, RESULT, ARGUMENTS };
