// main.js -- the page: its address, its header, its keys, and which view is shown.
//
// Addresses: #/ all conversations; #/c/ID a conversation, and in it /m/SEQ a message, /e/EV a step, /r/EV a request,
// /text the conversation as one text.
import { html, render, useEffect, useRef, useState } from './lib/preact.js';
import { health } from './api.js';
import { Conversation } from './conversation.js';
import { List } from './list.js';
import { onConnection, onLive, startLive } from './live.js';
import { Dialog } from './steer.js';
import { language, languages, setLanguage, t } from './text.js';
import { Toasts } from './toast.js';

const KINDS = { m: 'seq', e: 'ev', r: 'request' };

function parse(hash) {
  const [, section, id, kind, value] = hash.split('/').map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  });
  if (section !== 'c' || !id) return { view: 'list' };
  const number = Number(value);
  const target = KINDS[kind] && Number.isInteger(number) && number > 0 ? { [KINDS[kind]]: number } : null;
  return { view: 'conversation', id, target, reading: kind === 'text' };
}

function useRoute() {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parse(location.hash));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}

/** Whether the daemon answers, and whether it records. */
function Recording() {
  const [connected, setConnected] = useState(null);
  const [state, setState] = useState(null);
  useEffect(() => onConnection(setConnected), []);
  useEffect(() => {
    const look = () => health().then(setState, () => {});
    look();
    const timer = setInterval(look, 30_000);
    const end = onLive(look);
    return () => { clearInterval(timer); end(); };
  }, []);
  if (connected === false) return html`<span class="live bad" role="status">${t('connectionLost')}</span>`;
  if (connected === null || !state) return html`<span class="live dim" role="status">${t('connecting')}</span>`;
  if (!state.recording) return html`<span class="live bad" role="status" title=${state.why}>${t('notRecording')}</span>`;
  return html`<span class="live" role="status" title=${`maki ${state.version} · ${state.address}`}>${t('recording')}</span>`;
}

function Languages({ onChange }) {
  return html`<span class="languages" role="group" aria-label=${t('language')}>${Object.entries(languages).map(([code, { short, name }]) => html`<button key=${code}
    class="link quiet" lang=${code} title=${name} aria-label=${`${short} ${name}`} aria-pressed=${code === language()} onClick=${() => { setLanguage(code); onChange(); }}>${short}</button>`)}</span>`;
}

const HELP = [['/', 'keySearch'], ['j k', 'keyMove'], ['g G', 'keyEnds'], ['o', 'keyOpen'], ['[ ]', 'keyRequests'], ['Esc', 'keyBack'], ['?', 'keyHelp']];

function HelpDialog({ onClose }) {
  return html`<${Dialog} title=${t('keys')} onClose=${onClose}><dl class="keys">${HELP.map(([key, text]) => html`<div><dt>${key.split(' ').map((k) => html`<kbd>${k}</kbd> `)}</dt>
    <dd>${t(text)}</dd></div>`)}</dl><//>`;
}

/** Move between what can be read: messages and steps of a conversation, conversations of the list. */
function move(direction) {
  const all = [...document.querySelectorAll('main .msg:not(.waiting), main .event:not(.waiting), main .fold button, main.overview a.item')].filter((e) => e.getClientRects().length);
  const current = document.activeElement?.closest?.('.msg, .event, .fold button, a.item');
  const middle = document.querySelector('main')?.getBoundingClientRect().top ?? 0;
  const index = current && all.includes(current) ? all.indexOf(current) + direction
    : direction > 0 ? all.findIndex((e) => e.getBoundingClientRect().top >= middle) : all.findLastIndex((e) => e.getBoundingClientRect().bottom <= middle + 1);
  const next = all[Math.max(0, Math.min(all.length - 1, index))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: 'nearest' });
}

function useKeys(search, help) {
  useEffect(() => {
    const press = (event) => {
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) || event.target.isContentEditable;
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
      if (typing) {
        if (event.key === 'Escape') event.target.blur();
        return;
      }
      const scroller = document.querySelector('main');
      const keys = {
        '/': () => search.current?.focus(), '?': help, j: () => move(1), k: () => move(-1),
        g: () => { scroller.scrollTop = 0; }, G: () => { scroller.scrollTop = scroller.scrollHeight; },
        o: () => (document.activeElement?.querySelector?.('button.link[aria-expanded]') ?? document.activeElement)?.click?.(),
        '[': () => document.querySelector('.inspect [data-key="["]')?.click(), ']': () => document.querySelector('.inspect [data-key="]"]')?.click(),
        Escape: () => { if (location.hash.length > 2) location.hash = location.hash.split('/').length > 3 ? location.hash.split('/').slice(0, 3).join('/') : '#/'; },
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

function App() {
  const route = useRoute();
  const [, setDrawn] = useState(0);
  const [words, setWords] = useState('');
  const [help, setHelp] = useState(false);
  const search = useRef(null);
  useKeys(search, () => setHelp(true));
  useEffect(() => { document.documentElement.lang = language(); });
  useEffect(() => {
    if (route.view === 'list') document.title = 'Maki';
  }, [route.view]);
  const conversation = route.view === 'conversation';
  return html`<header class="top"><a class="brand" href="#/"><b>Maki <small lang="ja">巻き</small></b></a>
      <nav aria-label="Maki"><a href="#/" class="on" aria-current=${conversation ? undefined : 'page'}>${t('conversations')}</a></nav>
      <span class="grow"></span><${Recording}/>
      <input type="search" ref=${search} placeholder=${t('filterPlaceholder')} aria-label=${t('filter')} value=${words} dir="auto"
        onInput=${(e) => setWords(e.target.value)} onChange=${(e) => setWords(e.target.value)} onFocus=${() => { if (conversation && innerWidth <= 1000) location.hash = '#/'; }}/>
      <${Languages} onChange=${() => setDrawn((n) => n + 1)}/><button class="link quiet" aria-label=${t('keys')} onClick=${() => setHelp(true)}>?</button></header>
    <div class=${`app ${conversation ? 'with-conversation' : ''}`}>
      <${List} key=${conversation ? 'column' : 'overview'} compact=${conversation} current=${route.id} words=${words} onWords=${setWords}/>
      ${conversation && html`<${Conversation} key=${route.id} id=${route.id} target=${route.target} reading=${route.reading}/>`}
    </div><${Toasts}/>${help && html`<${HelpDialog} onClose=${() => setHelp(false)}/>`}`;
}

startLive();
render(html`<${App}/>`, document.getElementById('app'));
