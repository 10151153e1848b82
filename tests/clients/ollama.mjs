// ollama.mjs -- Ollama's official library: chat, generate, embed, list.
import { Ollama } from 'ollama';
import { assert, bothWays, languages, textTurn, tool, toolTurn } from './common.mjs';

const client = (url) => new Ollama({ host: url });
const model = 'fake';
const tools = [{ type: 'function', function: { name: tool.name, description: tool.description, parameters: tool.parameters } }];

/** The message of a whole answer, or of the parts of a stream put together. */
async function chat(url, stream, body) {
  if (!stream) return (await client(url).chat({ model, ...body })).message;
  const message = { role: 'assistant', content: '' };
  for await (const part of await client(url).chat({ model, stream: true, ...body })) {
    message.content += part.message.content;
    if (part.message.tool_calls) message.tool_calls = part.message.tool_calls;
  }
  return message;
}

for (const stream of [false, true]) {
  const how = stream ? 'stream' : 'whole';
  for (const language of languages) {
    bothWays(`ollama chat, ${language.name}, ${how}`, async (url) => {
      const got = await chat(url, stream, { messages: [{ role: 'user', content: language.ask }] });
      assert.equal(got.content, language.reply);
    }, [textTurn(language)]);
    bothWays(`ollama generate, ${language.name}, ${how}`, async (url) => {
      let text = '';
      if (stream) {
        for await (const part of await client(url).generate({ model, prompt: language.ask, stream })) text += part.response;
      } else {
        text = (await client(url).generate({ model, prompt: language.ask })).response;
      }
      assert.equal(text, language.reply);
    }, [textTurn(language)]);
  }
  bothWays(`ollama chat, a tool, ${how}`, async (url) => {
    const messages = [{ role: 'user', content: tool.ask }];
    const call = await chat(url, stream, { messages, tools });
    assert.deepEqual(call.tool_calls[0].function.arguments, tool.input);
    messages.push(call, { role: 'tool', tool_name: tool.name, content: tool.result });
    assert.equal((await chat(url, stream, { messages, tools })).content, tool.reply);
  }, [toolTurn()]);
}

bothWays('ollama embed, list, show and version', async (url) => {
  const ollama = client(url);
  const { embeddings } = await ollama.embed({ model, input: ['巻き', '卷'] });
  assert.equal(embeddings.length, 2);
  assert.equal(embeddings[0].length, 16);
  assert.deepEqual((await ollama.list()).models.map((row) => row.name), ['fake:latest']);
});
