// page.js -- the conversations that pass through, as they arrive.
//
// Everything comes from the API that any program may use: GET /maki/sessions, /maki/sessions/ID and the
// server-sent events of /maki/events.  Text of conversations is only ever set as text, never as markup.

const texts = {
  en: {
    conversations: 'Conversations', about: 'about', model: 'model', messages: 'messages', window: 'window', last: 'last',
    empty: 'Nothing was said yet. Connect an agent, or play the demo.',
    connect: 'Connect an agent', connectHow: 'Start it through Maki; its own settings stay as they are:',
    sdkHow: 'Or give any client this base URL:', demoHow: 'No key at hand? A sample agent and a fake provider:',
    back: '← all conversations', live: 'live', managing: 'condensing …', lost: 'connection lost, trying again', none: '(no text)',
    figures: (s) => `${s.visible} of ${s.messages} messages in view, ${s.contextUsage} of the window (${fullness(s)} tokens), ${s.events} events`,
  },
  ja: {
    conversations: '会話', about: '内容', model: 'モデル', messages: 'メッセージ', window: 'ウィンドウ', last: '最終',
    empty: 'まだ会話はありません。エージェントを接続するか、デモを実行してください。',
    connect: 'エージェントを接続する', connectHow: 'Maki 経由で起動します。エージェント自身の設定は変わりません。',
    sdkHow: 'または、クライアントのベース URL を次のようにします。', demoHow: '鍵がなくても、サンプルのエージェントと偽のプロバイダーで試せます。',
    back: '← すべての会話', live: '接続中', managing: '要約しています …', lost: '切断されました。再接続しています', none: '(テキストなし)',
    figures: (s) => `${s.messages} 件中 ${s.visible} 件を表示、ウィンドウの ${s.contextUsage}（${fullness(s)} トークン）、イベント ${s.events} 件`,
  },
  zh: {
    conversations: '对话', about: '内容', model: '模型', messages: '消息', window: '窗口', last: '最近',
    empty: '还没有对话。请连接一个代理，或运行演示。',
    connect: '连接代理', connectHow: '通过 Maki 启动，代理自己的设置不会改变：',
    sdkHow: '或者把客户端的基础 URL 设为：', demoHow: '没有密钥？可以用示例代理和假的提供方：',
    back: '← 所有对话', live: '已连接', managing: '正在压缩 …', lost: '连接中断，正在重试', none: '（无文本）',
    figures: (s) => `共 ${s.messages} 条消息，显示 ${s.visible} 条，占窗口的 ${s.contextUsage}（${fullness(s)} 个令牌），${s.events} 个事件`,
  },
};

const $ = (selector) => document.querySelector(selector);
const token = /^\/t\/[^/]+/.exec(location.pathname)?.[0] ?? '';
const api = (path) => fetch(token + path).then((r) => (r.ok ? r.json() : Promise.reject(new Error(r.statusText))));
let language = localStorage.getItem('language') ?? navigator.language.slice(0, 2);
if (!texts[language]) language = 'en';
let open = null; // the id of the conversation that is shown

function element(name, props = {}, ...children) {
  const e = Object.assign(document.createElement(name), props);
  e.append(...children);
  return e;
}

function ago(ms) {
  const seconds = Math.round((ms - Date.now()) / 1000);
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  for (const [unit, size] of [['day', 86400], ['hour', 3600], ['minute', 60]]) {
    if (-seconds >= size) return format.format(Math.round(seconds / size), unit);
  }
  return format.format(Math.min(0, seconds), 'second');
}

/** How full the window is, in tokens; '' for a session that could not be read. */
function fullness(s) {
  return s.window ? `${s.tokens.toLocaleString()} / ${s.window.toLocaleString()}` : '';
}

function setTexts() {
  const t = texts[language];
  document.documentElement.lang = language;
  for (const e of document.querySelectorAll('[data-text]')) e.textContent = t[e.dataset.text];
  $('#languages').replaceChildren(...Object.keys(texts).map((code) => {
    const name = new Intl.DisplayNames([code], { type: 'language' }).of(code);
    const button = element('button', { textContent: name, lang: code, onclick: () => choose(code) });
    button.setAttribute('aria-current', code === language);
    return button;
  }));
  const at = location.origin + token;
  $('#commands').textContent = ['claude', 'codex', 'opencode', 'pi', 'qwen', 'gemini'].map((a) => `maki connect ${a}`).join('\n');
  $('#addresses').textContent = `ANTHROPIC_BASE_URL=${at}\nOPENAI_BASE_URL=${at}/v1\nOLLAMA_HOST=${at}\nGOOGLE_GEMINI_BASE_URL=${at}`;
}

function choose(code) {
  language = code;
  localStorage.setItem('language', code);
  setTexts();
  refresh();
}

function row(s, fresh) {
  const link = element('a', { className: 'open', href: `#${s.id}`, textContent: s.title || texts[language].none });
  const tr = element('tr', { className: fresh === s.id ? 'fresh' : '' },
    element('td', {}, link), element('td', { textContent: s.model }),
    element('td', { className: 'n', textContent: s.messages.toLocaleString() }),
    element('td', { className: 'n', textContent: s.window ? `${s.contextUsage} · ${fullness(s)}` : '' }),
    element('td', { textContent: ago(s.updatedAt) }));
  return tr;
}

async function showList(fresh) {
  const { sessions } = await api('/maki/sessions?limit=100');
  $('#empty').hidden = sessions.length > 0;
  $('#list table').hidden = sessions.length === 0;
  $('#list tbody').replaceChildren(...sessions.map((s) => row(s, fresh)));
}

function block(b) {
  if (b.type === 'text') return element('div', { className: 'block', textContent: b.text ?? '' });
  const words = [b.type, b.name, b.text].filter(Boolean).join(' · ');
  return element('div', { className: 'block tool', textContent: words });
}

function message(m) {
  const head = element('div', {}, element('span', { textContent: m.seq ? `#${m.seq}` : '▸' }),
    element('span', { textContent: m.role }), element('span', { textContent: m.tokens ? `${m.tokens} tokens` : '' }),
    element('span', { textContent: m.at ? new Date(m.at).toLocaleTimeString(language) : '' }));
  return element('li', { className: m.role }, head, ...m.blocks.map(block));
}

async function showTalk(id) {
  const talk = await api(`/maki/sessions/${id}?limit=200`);
  if (open !== id) return;
  $('#talk-title').textContent = id;
  $('#figures').textContent = texts[language].figures(talk);
  const last = talk.exchanges.findLast((e) => e.of === 'exchange'), cost = talk.exchanges.findLast((e) => e.cost);
  const failed = talk.exchanges.filter((e) => e.type === 'provider_error');
  $('#view').replaceChildren(...talk.view.map(message),
    ...failed.map((e) => element('li', { className: 'error', textContent: `${e.upstream} ${e.model ?? ''} ${e.status ?? ''} ${e.message ?? ''}` })),
    ...(last ? [element('li', { textContent: `${last.model} ${last.status}: ${last.firstMs} ms, ${last.ms} ms${cost ? `, $${cost.cost}` : ''}` })] : []));
}

async function refresh(fresh) {
  open = location.hash.slice(1) || null;
  $('#list').hidden = $('#connect').hidden = open !== null;
  $('#talk').hidden = open === null;
  try {
    await (open ? showTalk(open) : showList(fresh));
  } catch (error) {
    $('#state').textContent = error.message;
  }
}

function listen() {
  const events = new EventSource(token + '/maki/events');
  let waiting = null;
  events.onopen = () => { $('#state').textContent = texts[language].live; refresh(); };
  events.onerror = () => { $('#state').textContent = texts[language].lost; };
  events.onmessage = (event) => { // many may come at once: one look a quarter of a second
    const { session, type } = JSON.parse(event.data);
    if (type === 'managing') $('#state').textContent = texts[language].managing;
    if (open && open !== session) return;
    waiting ??= setTimeout(() => { waiting = null; refresh(session); }, 250);
  };
}

$('#back').onclick = () => { location.hash = ''; };
addEventListener('hashchange', () => refresh());
addEventListener('keydown', (event) => { if (event.key === 'Escape' && open) location.hash = ''; });
setTexts();
listen();
refresh();
