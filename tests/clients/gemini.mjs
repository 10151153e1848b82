// gemini.mjs -- Google's official library: generateContent, streaming and not, countTokens.
import { GoogleGenAI } from '@google/genai';
import { assert, bothWays, languages, textTurn, tool, toolTurn } from './common.mjs';

const client = (url) => new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: url } });
const model = 'fake';
const config = {
  systemInstruction: 'Be brief.',
  tools: [{ functionDeclarations: [{ name: tool.name, description: tool.description, parametersJsonSchema: tool.parameters }] }],
};

/** The parts of the answer. */
async function ask(url, stream, body) {
  if (!stream) return (await client(url).models.generateContent({ model, ...body })).candidates[0].content.parts;
  const parts = [];
  for await (const piece of await client(url).models.generateContentStream({ model, ...body })) {
    parts.push(...piece.candidates[0].content.parts);
  }
  return parts;
}

const textOf = (parts) => parts.map((part) => part.text ?? '').join('');
const call = (parts) => parts.find((part) => part.functionCall)?.functionCall;

for (const stream of [false, true]) {
  const how = stream ? 'stream' : 'whole';
  for (const language of languages) {
    bothWays(`gemini, ${language.name}, ${how}`, async (url) => {
      assert.equal(textOf(await ask(url, stream, { contents: language.ask })), language.reply);
    }, [textTurn(language)]);
  }
  bothWays(`gemini, a tool, ${how}`, async (url) => {
    const contents = [{ role: 'user', parts: [{ text: tool.ask }] }];
    const first = await ask(url, stream, { contents, config });
    assert.deepEqual(call(first).args, tool.input);
    contents.push({ role: 'model', parts: [{ text: textOf(first) }, { functionCall: call(first) }] });
    contents.push({ role: 'user', parts: [{ functionResponse: { name: tool.name, response: { output: tool.result } } }] });
    assert.equal(textOf(await ask(url, stream, { contents, config })), tool.reply);
  }, [toolTurn()]);
}

bothWays('gemini countTokens and embedContent', async (url) => {
  const { models } = client(url);
  assert.ok((await models.countTokens({ model, contents: '数える' })).totalTokens > 0);
  const embedded = await models.embedContent({ model, contents: ['巻き', '卷'] });
  assert.equal(embedded.embeddings.length, 2);
});
