// conversation.mjs -- a conversation from Node: append, condense, write a request, rewind.  Needs libmaki, and koffi to call it.
//
//     npm ci && node conversation.mjs talk.jsonl
import koffi from 'koffi';

koffi.struct('maki_str', { ptr: 'void *', len: 'size_t' });
koffi.struct('maki_text', { ptr: 'const char *', len: 'size_t' }); // maki_str, given a string
koffi.struct('maki_err', { status: 'int', code: koffi.array('char', 32), msg: koffi.array('char', 200) });
koffi.proto('int maki_write(void *ctx, maki_str bytes, void *err)');
koffi.struct('maki_sink', { write: koffi.pointer('maki_write'), ctx: 'void *' });
const lib = koffi.load(process.env.LIBMAKI ?? 'libmaki.so.0');
const maki_open = lib.func('int maki_open(void *options, _Out_ void **out, _Out_ maki_err *err)');
const maki_op = lib.func('int maki_op(void *m, maki_text name, maki_text input, maki_sink out, _Out_ maki_err *err)');
const maki_close = lib.func('void maki_close(void *m)');

const borrowed = (text) => ({ ptr: text, len: Buffer.byteLength(text) });

/** A handle; `op` runs any operation: JSON in, JSON out. */
class Maki {
  #handle = [null];

  constructor() {
    const err = {};
    if (maki_open(null, this.#handle, err)) throw new Error(err.msg);
  }

  op(name, fields) {
    const parts = [], err = {};
    const write = koffi.register((ctx, bytes) => {
      parts.push(Buffer.from(koffi.view(bytes.ptr, Number(bytes.len)).slice(0)));
      return 0;
    }, koffi.pointer('maki_write'));
    const status = maki_op(this.#handle[0], borrowed(name), borrowed(JSON.stringify(fields)), { write, ctx: null }, err);
    koffi.unregister(write);
    if (status) throw new Error(`${err.msg} (${err.code})`);
    return JSON.parse(Buffer.concat(parts));
  }

  close() {
    maki_close(this.#handle[0]);
  }
}

const maki = new Maki();
const conversation = process.argv[2] ?? 'talk.jsonl';
const said = ['巻き寿司の具は何ですか？', 'まぐろときゅうりです。 🍣', '나무젓가락은요?', '네, 드릴게요.', '谢谢！', '不客气。', 'And some tea, please.'];
const messages = said.map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content }));
console.log('history.append', maki.op('history.append', { conversation, messages }).seq);
const summarizer = { chunks: ['Sushi with tuna; chopsticks come.'], cost: 0 }; // your own summary; without it Maki writes one
console.log('history.condense', maki.op('history.condense', { conversation, keepCount: 3, summarizer }).removed);
const { request } = maki.op('request.build', { conversation, protocol: 'anthropic', model: 'claude-sonnet-5-5', maxTokens: 4096 });
console.log('request.build', JSON.stringify(request));
console.log('history.rewind', maki.op('history.rewind', { conversation, seq: 4 }).visible);
maki.close();
