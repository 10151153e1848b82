// anthropic.mjs -- Anthropic's official library: messages and counting.
import Anthropic from '@anthropic-ai/sdk';
import { assert, bothWays, languages, textTurn, tool, toolTurn } from './common.mjs';

const client = (url) => new Anthropic({ baseURL: url, apiKey: 'sk-ant-test', maxRetries: 0 });
const common = { model: 'fake', max_tokens: 1000 };
const tools = [{ name: tool.name, description: tool.description, input_schema: tool.parameters }];

async function ask(url, stream, body) {
  const anthropic = client(url);
  if (!stream) return anthropic.messages.create({ ...common, ...body });
  return anthropic.messages.stream({ ...common, ...body }).finalMessage();
}

const textOf = (message) => message.content.filter((block) => block.type === 'text').map((block) => block.text).join('');

for (const stream of [false, true]) {
  const how = stream ? 'stream' : 'whole';
  for (const language of languages) {
    bothWays(`anthropic, ${language.name}, ${how}`, async (url) => {
      const got = await ask(url, stream, { messages: [{ role: 'user', content: language.ask }] });
      assert.equal(textOf(got), language.reply);
      assert.equal(got.stop_reason, 'end_turn');
      assert.ok(got.usage.output_tokens > 0);
    }, [textTurn(language)]);
  }
  for (const thinking of [undefined, { type: 'enabled', budget_tokens: 1024 }]) {
    bothWays(`anthropic, a tool${thinking ? ' after thinking' : ''}, ${how}`, async (url) => {
      const messages = [{ role: 'user', content: tool.ask }];
      const system = [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }];
      const body = { tools, system, ...(thinking ? { thinking } : {}), max_tokens: 2000 };
      const first = await ask(url, stream, { ...body, messages });
      assert.equal(first.stop_reason, 'tool_use');
      assert.equal(first.content[0].type, thinking ? 'thinking' : 'text');
      const call = first.content.find((block) => block.type === 'tool_use');
      assert.deepEqual(call.input, tool.input);
      messages.push({ role: 'assistant', content: first.content });
      messages.push({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: call.id, content: [{ type: 'text', text: tool.result }] }],
      });
      assert.equal(textOf(await ask(url, stream, { ...body, messages })), tool.reply);
    }, [toolTurn()]);
  }
}

bothWays('anthropic, many turns are one conversation', async (url) => {
  const messages = [];
  for (const language of languages) {
    messages.push({ role: 'user', content: [{ type: 'text', text: language.ask }] });
    const got = await ask(url, true, { messages });
    assert.equal(textOf(got), language.reply);
    messages.push({ role: 'assistant', content: textOf(got) }); // as a string: the same message still
  }
}, [languages.flatMap(textTurn)]);

bothWays('anthropic count_tokens and models', async (url) => {
  const anthropic = client(url);
  const counted = await anthropic.messages.countTokens({ model: 'fake', messages: [{ role: 'user', content: '数える' }] });
  assert.ok(counted.input_tokens > 0);
  const models = await anthropic.models.list();
  assert.deepEqual(models.data.map((row) => row.id), ['fake']);
});

bothWays('anthropic errors keep their messages', async (url) => {
  const say = (content) => ask(url, false, { messages: [{ role: 'user', content }] });
  await assert.rejects(say('fake:429'), Anthropic.RateLimitError);
  await assert.rejects(say('fake:500'), Anthropic.InternalServerError);
  await assert.rejects(say('fake:overflow'), /prompt is too long/);
}, [[{ role: 'user', text: 'fake:429' }], [{ role: 'user', text: 'fake:500' }], [{ role: 'user', text: 'fake:overflow' }]]);
