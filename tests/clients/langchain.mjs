// langchain.mjs -- LangChain's agents on OpenAI's and Anthropic's protocols; its own loop calls the tool.
import { createAgent, tool as makeTool } from 'langchain';
import { ChatOpenAI } from '@langchain/openai';
import { ChatAnthropic } from '@langchain/anthropic';
import { assert, bothWays, languages, textTurn, tool, toolTurn } from './common.mjs';

const makers = [
  ['openai', (url) => new ChatOpenAI({ model: 'fake', apiKey: 'test', maxRetries: 0, configuration: { baseURL: `${url}/v1` } })],
  ['anthropic', (url) => new ChatAnthropic({ model: 'fake', apiKey: 'test', maxRetries: 0, anthropicApiUrl: url })],
];
const textOf = (message) => (typeof message.content === 'string' ? message.content :
  message.content.map((part) => part.text ?? '').join(''));

for (const [name, make] of makers) {
  for (const language of languages) {
    bothWays(`langchain ${name}, ${language.name}, whole`, async (url) => {
      assert.equal(textOf(await make(url).invoke(language.ask)), language.reply);
    }, [textTurn(language)]);
    bothWays(`langchain ${name}, ${language.name}, stream`, async (url) => {
      let text = '';
      for await (const piece of await make(url).stream(language.ask)) text += textOf(piece);
      assert.equal(text, language.reply);
    }, [textTurn(language)]);
  }
  bothWays(`langchain ${name}, an agent with a tool`, async (url) => {
    const called = [];
    const read = makeTool((input) => (called.push(input), tool.result),
      { name: tool.name, description: tool.description, schema: tool.parameters });
    const agent = createAgent({ model: make(url), tools: [read] });
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: tool.ask }] });
    assert.deepEqual(called, [tool.input]);
    assert.equal(textOf(messages.at(-1)), tool.reply);
  }, [toolTurn()]);
}
