// list.js -- all conversations, the newest first: a table on the overview, a column next to an open conversation.
import { html, useCallback, useEffect, useMemo, useRef, useState } from './lib/preact.js';
import { op } from './api.js';
import { ago, day, number, percent, sameDay } from './format.js';
import { Connect } from './connect.js';
import { onLive } from './live.js';
import { language, t } from './text.js';
import { VirtualList } from './virtual_list.js';

const PAGE = 100;

const pathOf = (id) => `#/c/${encodeURIComponent(id)}`;

/** Pages of sessions by their place in the list. */
function useSessions(filter) {
  const [state, setState] = useState(null); // { all, pages, ...the values of the filters }
  const latest = useRef(null);
  const load = useCallback(async (offset, fresh) => {
    const key = JSON.stringify(filter);
    const answer = await op('session.list', { ...filter, limit: PAGE, offset });
    if (latest.current !== key) return;
    setState((old) => {
      const pages = fresh || !old ? new Map() : new Map(old.pages);
      pages.set(offset / PAGE, answer.sessions);
      return { all: answer.all, note: answer.note, pages, agents: answer.agents ?? [], models: answer.models ?? [], clients: answer.clients ?? [] };
    });
  }, [JSON.stringify(filter)]);
  useEffect(() => {
    latest.current = JSON.stringify(filter);
    setState((old) => old && { ...old, error: null });
    load(0, true).catch((error) => setState((old) => ({ ...(old ?? { all: 0, pages: new Map(), agents: [], models: [], clients: [] }), error })));
  }, [load]);
  return [state, load];
}

/** A small bar: how full the window is. */
function Fullness({ session }) {
  if (!session.window) return html`<span class="mini none"></span>`;
  const share = Math.min(1, session.tokens / session.window);
  return html`<span class="mini" role="img" aria-label=${t('fullness', { percent: percent(session.tokens / session.window) })}
    title=${`${number(session.tokens)} / ${number(session.window)}`}><i class=${share >= 0.7 ? 'hot' : ''} style=${{ width: `${100 * share}%` }}></i></span>`;
}

const titleOf = (session) => session.title || session.sessionKey?.split(':').slice(2).join(':') || t('untitled');
export const clientOf = (session) => session.client || (session.agentId === 'proxy' ? t('unknownClient') : session.channel || session.agentId || '');

function StateOf({ session }) {
  const { lastError, errors } = session;
  if (lastError) return html`<span class="bad" title=${lastError.message}>${lastError.status || t('failed')} · ${ago(lastError.ts)}</span>`;
  if (errors) return html`<span class="bad">${t('errorCount', { n: errors })}</span>`;
  return session.state === 'archived' ? html`<span class="dim">${t('archived')}</span>` : null;
}

function Row({ session, before, current, compact }) {
  const heading = (!before || !sameDay(before.updatedAt, session.updatedAt)) && html`<h2 class="day">${day(session.updatedAt)}</h2>`;
  const action = session.lastAction && t(`type_${session.lastAction.type}`);
  const meta = compact
    ? html`<div class="meta"><span class="clip">${session.lastError ? html`<${StateOf} session=${session}/>` : html`${clientOf(session)} · ${ago(session.updatedAt)}`}</span>
        <${Fullness} session=${session}/></div>`
    : html`<div class="cells"><span class="clip">${clientOf(session)}</span><span class="clip">${session.model}</span>
        <span class="clip"><${StateOf} session=${session}/>${action && html` <span class="dim">${action}</span>`}</span>
        <span class="n count">${t('messageCount', { n: number(session.messages) })}</span>
        <${Fullness} session=${session}/><span class="n dim">${ago(session.updatedAt)}</span></div>`;
  return html`${heading}<a class=${`item ${current ? 'on' : ''}`} href=${pathOf(session.id)} aria-current=${current ? 'page' : undefined}>
    <span class="title" dir="auto">${titleOf(session)}</span>${meta}</a>`;
}

function Choice({ label, value, values, nameOf = (v) => v, onChange }) {
  if (values.length < 2 && !value) return null;
  return html`<select aria-label=${label} value=${value ?? ''} onChange=${(e) => onChange(e.target.value || undefined)}>
    <option value="">${label}</option>${values.map((v) => html`<option value=${v} selected=${v === value}>${nameOf(v) || '–'}</option>`)}</select>`;
}

/** `compact`: the column next to a conversation, whose id is `current`. */
export function List({ compact, current, words, onWords }) {
  const [choice, setChoice] = useState({});
  const filter = useMemo(() => Object.fromEntries(Object.entries({ ...choice, title: words || undefined }).filter(([, v]) => v)), [choice, words]);
  const [state, load] = useSessions(filter);
  const scroller = useRef(null);
  const pages = useRef(new Set());
  const reload = useRef(() => {});
  reload.current = () => {
    const visible = [...pages.current];
    for (const page of visible.length ? visible : [0]) load(page * PAGE, false).catch(() => {});
  };
  useEffect(() => onLive(() => reload.current()), []);
  const find = (i) => state.pages.get(Math.floor(i / PAGE))?.[i % PAGE];
  const rows = useMemo(() => {
    const keyOf = (i) => find(i)?.id ?? `row ${i}`, estimate = () => (compact ? 62 : 45);
    return state && { count: state.all, keyOf, indexOf: () => -1, estimate, each: (fn) => { for (let i = 0; i < state.all; i++) fn(i, keyOf(i), estimate()); } };
  }, [state, compact]);
  const onRange = (first, last) => {
    pages.current = new Set();
    for (let page = Math.floor(first / PAGE); page * PAGE < last; page++) {
      pages.current.add(page);
      if (!state.pages.has(page)) load(page * PAGE, false).catch(() => {});
    }
  };
  const any = Object.keys(filter).length > 0;
  const set = (field) => (value) => setChoice((old) => ({ ...old, [field]: value }));
  if (!state) return html`<nav class=${compact ? 'list' : 'overview'} aria-label=${t('conversations')} ref=${scroller}></nav>`;
  if (state.all === 0 && !any && !state.error) return html`<${compact ? 'nav' : 'main'} class=${compact ? 'list' : 'overview'}><${Connect} first=${true}/></>`;
  return html`<${compact ? 'nav' : 'main'} class=${compact ? 'list' : 'overview'} ref=${scroller} aria-label=${t('conversations')}>
    ${!compact && html`<h1 class="hidden-title">${t('conversations')}</h1>`}
    ${!compact && html`<div class="filters"><span class="dim" role="status">${t(any ? 'found' : 'conversationCount', { n: number(state.all) })}</span>
      <${Choice} label=${t('agent')} value=${choice.client} values=${state.clients} onChange=${set('client')}/>
      <${Choice} label=${t('model')} value=${choice.model} values=${state.models} onChange=${set('model')}/>
      <${Choice} label=${t('state')} value=${choice.state} values=${['active', 'archived', 'failed']} nameOf=${t} onChange=${set('state')}/>
      ${any && html`<button class="link" onClick=${() => { setChoice({}); onWords(''); }}>${t('showAll')}</button>`}</div>`}
    ${state.error && html`<p class="bad" role="alert">${state.error.message}</p>`}
    ${state.note && !compact && html`<p class="dim">${state.note}</p>`}
    <${VirtualList} rows=${rows} label=${t('conversations')} scroller=${() => scroller.current} onRange=${onRange}
      renderRow=${(i) => (find(i) ? html`<${Row} session=${find(i)} before=${i ? find(i - 1) : null} current=${find(i).id === current} compact=${compact}/>`
        : html`<div class="item waiting"></div>`)}/>
    ${!compact && html`<details class="corner"><summary>${t('connectTitle')}</summary><${Connect}/></details>`}
  </>`;
}
