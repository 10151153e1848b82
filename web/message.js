// message.js -- one message as it was said: texts, thinking, images, and tool calls with their results.
import { html, useEffect, useState } from './lib/preact.js';
import { bytes, clock, date, number, seconds, short } from './format.js';
import { diff, Markdown } from './markdown.js';
import { wholeMessage } from './stores.js';
import { t } from './text.js';

const FOLD_LINES = 24, FOLD_CHARACTERS = 1800; // of a text; longer ones are folded
const RESULT_LINES = 6;
const PIECE = 100_000; // characters of a very long text that are shown at a time
const IMAGE = /^image\/(png|jpe?g|gif|webp|avif|bmp)$/i;

const PREVIEW = 300; // characters of a folded part, of which one line is shown

const linesOf = (text) => text.split('\n').length;
const preview = (text) => text.slice(0, PREVIEW).replace(/^\s*<[\w-]+>|<\/[\w-]+>\s*$/g, '');
const isDiff = (text) => /^(diff --git|--- |@@ )/m.test(text) && /^[+-]/m.test(text);

/** A text of any length, a piece at a time. */
function Long({ text }) {
  const [shown, setShown] = useState(PIECE);
  if (text.length <= shown) return text;
  return html`${text.slice(0, shown)} <button class="link" onClick=${() => setShown(shown + PIECE)}>${t('showMore', { n: short(text.length - shown) })}</button>`;
}

/**
 * A text that is folded when it is long.  `part` as session.messages answers it, with `length` where the daemon cut it;
 * `whole()` fetches all of it.
 */
function Folding({ text, length, lines, whole, children, label }) {
  const [open, setOpen] = useState(false);
  const [full, setFull] = useState(null);
  const [error, setError] = useState(null);
  const count = linesOf(text);
  const folds = length || count > lines || text.length > FOLD_CHARACTERS;
  const show = async () => {
    setOpen(!open);
    if (open || !length || full != null) return;
    try {
      setFull(await whole());
    } catch (e) {
      setError(e.message);
    }
  };
  if (!folds) return children(text);
  const body = open ? full ?? text : text;
  return html`<div class=${`folding ${open ? 'open' : ''} ${lines <= RESULT_LINES ? 'small' : ''}`}>${children(body)}</div>
    ${error && html`<p class="bad">${error}</p>`}
    <button class="link" aria-expanded=${open} onClick=${show}>${open ? t('showLess')
      : length ? t('showAllCharacters', { n: number(length) }) : t('showAllLines', { n: number(count) })}<span class="hidden-title"> ${label}</span></button>`;
}

function Picture({ part, load }) {
  const [data, setData] = useState(part.data ?? null);
  const show = async () => setData(await load());
  const size = part.bytes ? bytes(part.bytes) : '';
  if (part.url) return html`<p class="picture"><a href=${part.url} target="_blank" rel="noopener noreferrer">${part.url}</a></p>`;
  if (!IMAGE.test(part.mediaType ?? '')) return html`<p class="picture dim">${part.mediaType || t('file')} ${size}</p>`;
  if (!data) return html`<p class="picture"><button class="btn" onClick=${show}>${t('showImage', { size })}</button></p>`;
  return html`<figure class="picture"><img src=${`data:${part.mediaType};base64,${data}`} alt=${t('imageAlt', { type: part.mediaType })} loading="lazy"/>
    <figcaption class="dim">${part.mediaType} ${size}</figcaption></figure>`;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The arguments of a call: an edit as a diff, others as JSON. */
function Arguments({ text }) {
  const input = parse(text);
  if (input && typeof input.old_string === 'string' && typeof input.new_string === 'string') {
    const { old_string: from, new_string: to, ...rest } = input;
    const lines = [...from.split('\n').map((l) => `-${l}`), ...to.split('\n').map((l) => `+${l}`)].join('\n');
    return html`<span class="json">${JSON.stringify(rest)}</span><pre class="code">${diff(lines)}</pre>`;
  }
  const pretty = input && text.length > 120 ? JSON.stringify(input, null, 1).replace(/\\n/g, '\n') : text;
  return html`<span class="json">${html`<${Long} text=${pretty}/>`}</span>`;
}

function ResultText({ text }) {
  return isDiff(text) ? html`<span class="out">${diff(text.slice(0, PIECE))}</span>` : html`<span class="out"><${Long} text=${text}/></span>`;
}

function Result({ id, seq, part, index }) {
  const whole = async () => (await wholeMessage(id, seq)).parts.filter((p) => p.type === 'result')[index]?.text ?? '';
  return html`<div class=${`res ${part.error ? 'bad' : ''}`}>
    ${part.error && html`<b>${t('toolFailed')}</b> `}
    ${part.text ? html`<${Folding} text=${part.text} length=${part.length} lines=${RESULT_LINES} whole=${whole} label=${t('result')}>${(text) => html`<${ResultText} text=${text}/>`}<//>`
      : !part.parts?.length && html`<span class="dim">${t('emptyResult')}</span>`}
    ${part.parts?.map((p) => html`<${Picture} part=${p} load=${async () => (await wholeMessage(id, seq)).parts.find((x) => x.type === 'result' && x.id === part.id)?.parts?.[0]?.data}/>`)}</div>`;
}

/** What can be done with the message of a result that is shown with its call. */
function ResultActions({ message, actions }) {
  if (!message.pinned && !message.shortened && !actions.length) return null;
  return html`<div class="who">${message.pinned && html`<span class="pin" title=${t('pinnedTitle')}>${t('pinned')}</span>`}
    <span>${t('messageN', { n: number(message.seq) })}</span><${Tokens} message=${message}/><${Actions} actions=${actions}/></div>`;
}

function Tokens({ message }) {
  return html`<span>${t('tokenCount', { n: number(message.tokens) })}${message.shortened ? ` ${t('ofFull', { n: number(message.fullTokens ?? message.tokens) })}` : ''}</span>`;
}

function Actions({ actions }) {
  return actions.length > 0 && html`<span class="do">${actions.map(({ name, run, label }) => html`<button class="link quiet" key=${name} onClick=${run}>${label}</button>`)}</span>`;
}

function Part({ id, message, part, index, store, actionsOf }) {
  const whole = async () => {
    const { parts } = await wholeMessage(id, message.seq);
    const same = parts[index];
    return same.text ?? same.input ?? '';
  };
  const folded = (render, lines = FOLD_LINES) => html`<${Folding} text=${part.text} length=${part.length} lines=${lines} whole=${whole}
    label=${t('messageN', { n: message.seq })}>${render}<//>`;
  switch (part.type) {
    case 'text':
      if (part.inserted) {
        return html`<details class="inserted"><summary>${t('inserted')} <span class="dim">${preview(part.text)}</span></summary>
          <div class="plain">${folded((text) => html`<${Long} text=${text}/>`)}</div></details>`;
      }
      return html`<div class="text" dir="auto">${folded((text) => html`<${Markdown} text=${text}/>`)}</div>`;
    case 'thinking':
      return html`<details class="thinking"><summary>${t('thinking')} <span class="dim">${preview(part.text)}</span></summary>
        <div class="plain" dir="auto">${folded((text) => html`<${Long} text=${text}/>`)}</div></details>`;
    case 'call': {
      const answer = store.resultOf(part.id);
      const from = answer && store.get(answer.seq);
      const results = from?.parts.filter((p) => p.type === 'result') ?? [];
      const own = from && isPaired(from, store) && results.at(-1)?.id === part.id; // the last of its results
      return html`<div class="tool"><b>${part.name}</b> <${Folding} text=${part.input} length=${part.length} lines=${RESULT_LINES} whole=${whole}
          label=${part.name}>${(text) => html`<${Arguments} text=${text}/>`}<//>
        ${answer ? html`<${Result} id=${id} seq=${answer.seq} part=${answer.part} index=${results.findIndex((p) => p.id === part.id)}/>` : null}
        ${own && html`<${ResultActions} message=${from} actions=${actionsOf(from)}/>`}</div>`;
    }
    case 'result':
      if (store.callOf(part.id)) return null; // it is shown with its call
      return html`<div class="tool"><b>${t('result')}</b><${Result} id=${id} seq=${message.seq} part=${part}
        index=${message.parts.filter((p) => p.type === 'result').indexOf(part)}/></div>`;
    case 'image':
    case 'file':
      return html`<${Picture} part=${part} load=${async () => (await wholeMessage(id, message.seq)).parts[index]?.data}/>`;
    default:
      return html`<div class="tool"><b>${part.name || t('other')}</b> ${folded((text) => html`<${Long} text=${text}/>`, RESULT_LINES)}</div>`;
  }
}

/** Nothing of it is shown in a row of its own: its results are with their calls. */
export function isPaired(message, store) {
  return message.parts.length > 0 && message.parts.every((part) => part.type === 'result' && store.callOf(part.id));
}

export const isInserted = (message) => message.role === 'user' && message.parts.length > 0 && message.parts.every((part) => part.inserted);

function roleOf(message) {
  if (isInserted(message)) return t('role_agent');
  if (message.parts.length && message.parts.every((part) => part.type === 'result')) return t('role_tool');
  return t(`role_${message.role}`) ?? message.role;
}

/** `actionsOf(message)`: what can be done with one, [{ name, label, run }]; `onRequest(ev)` shows the request that it answers. */
export function Message({ id, message, store, actionsOf = () => [], onRequest, selected }) {
  const { exchange } = message, actions = actionsOf(message);
  const kind = isInserted(message) ? 'agent' : message.role === 'user' || message.role === 'assistant' || message.role === 'system' ? message.role : 'tool';
  return html`<article class=${`msg ${kind} ${message.hidden ? 'gone' : ''} ${selected ? 'selected' : ''}`} id=${`m${message.seq}`} tabindex="-1"
      aria-label=${`${roleOf(message)} ${message.seq}`}>
    <div class="who"><b>${roleOf(message)}</b>${message.pinned && html`<span class="pin" title=${t('pinnedTitle')}>${t('pinned')}</span>`}
      <${Tokens} message=${message}/>
      ${exchange && html`<button class="link quiet" onClick=${() => onRequest?.(exchange.ev)}>${t('firstWord', { time: seconds(exchange.firstMs ?? exchange.ms ?? 0) })}</button>`}
      ${message.ts > 0 && html`<time class="dim" datetime=${new Date(message.ts).toISOString()} title=${date(message.ts)}>${clock(message.ts)}</time>`}
      <${Actions} actions=${actions}/></div>
    ${message.parts.map((part, i) => html`<${Part} key=${i} id=${id} message=${message} part=${part} index=${i} store=${store} actionsOf=${actionsOf}/>`)}
    ${message.parts.length === 0 && html`<span class="dim">${t('emptyMessage')}</span>`}</article>`;
}

/** For the row of a message that was not loaded yet, or, with `error`, could not be. */
export function Waiting({ error }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 400);
    return () => clearTimeout(timer);
  }, []);
  if (error) return html`<div class="msg bad" role="alert">${error}</div>`;
  return html`<div class="msg waiting" aria-hidden="true">${late ? '…' : ''}</div>`;
}
