// conversation.js -- one conversation: its window, its figures, tokens over time, the timeline, and the request next to it.
import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from './lib/preact.js';
import { op } from './api.js';
import { Chart } from './chart.js';
import { CompareDialog } from './compare.js';
import { ago, number } from './format.js';
import { clientOf } from './list.js';
import { onLive } from './live.js';
import { Request } from './request.js';
import { SaveDialog } from './save.js';
import { prefetch } from './stores.js';
import { canSteer, CompactDialog, EditDialog, EraseDialog, RenameDialog, setThreshold, undo } from './steer.js';
import { t } from './text.js';
import { Timeline } from './timeline.js';
import { Figures, thresholdOf, WindowBar } from './window_bar.js';

/** What the page knows of a conversation; read again when something happened to it.  `seq`: the message that is shown first. */
function useConversation(id, seq) {
  const [state, setState] = useState({}); // { outline, status, usage, error, managing, revision }
  const busy = useRef({ running: false, again: false });
  const load = useCallback(async () => {
    if (busy.current.running) {
      busy.current.again = true;
      return;
    }
    busy.current.running = true;
    do {
      busy.current.again = false;
      try {
        const [outline, status] = await Promise.all([op('session.outline', { conversation: id }), op('session.status', { conversation: id })]);
        setState((old) => ({ ...old, outline, status, error: null, managing: false, revision: (old.revision ?? 0) + 1 }));
        const usage = await op('session.usage', { conversation: id });
        setState((old) => ({ ...old, usage }));
      } catch (error) {
        setState((old) => ({ ...old, error }));
      }
    } while (busy.current.again);
    busy.current.running = false;
  }, [id]);
  useLayoutEffect(() => {
    setState({});
    if (seq) prefetch(id, seq);
    load();
    return onLive((events) => {
      const mine = events.find((event) => event.session === id || event.session === '');
      if (!mine) return;
      if (mine.types.has('managing')) setState((old) => ({ ...old, managing: true }));
      load();
    });
  }, [id]);
  return state;
}

const nameOf = (session) => session.sessionKey?.split(':').slice(2).join(':');

function Chips({ outline }) {
  const forks = outline.steps.filter((step) => step.type === 'fork' && step.parent);
  return html`<div class="chips">${[clientOf(outline), outline.model, nameOf(outline)].filter((word) => word && word !== outline.title).map((word) => html`<span class="chip" key=${word} dir="auto">${word}</span>`)}
    ${forks.map((step) => html`<a class="chip" href=${`#/c/${encodeURIComponent(step.parent)}`}>${t('forkOf')}</a>`)}
    <span class="dim" title=${t('chainTitle')}>${t('chain', { head: `${outline.head.slice(0, 4)}…${outline.head.slice(-2)}` })}</span></div>`;
}

/** `target`: { seq }, { ev } or { request } of the address; `reading`: as one text. */
export function Conversation({ id, target, reading }) {
  const { outline, status, usage, error, managing, revision } = useConversation(id, target?.seq ?? (target?.ev ? 0 : 1));
  const [dialog, setDialog] = useState(null); // { name, seq }
  const [sheet, setSheet] = useState(false); // on a small screen: is the request shown?
  const scroller = useRef(null);
  const path = `#/c/${encodeURIComponent(id)}`;
  useEffect(() => {
    if (target?.request) setSheet(true);
  }, [target?.request]);
  const shown = useMemo(() => outline && (reading
    ? { ...outline, rows: outline.rows.filter(([kind]) => kind !== 'h'), steps: outline.steps.filter((s) => outline.rows.some(([kind, ev]) => kind === 's' && ev === s.ev)), errors: [] }
    : outline), [outline, reading]);
  useEffect(() => {
    if (outline) document.title = `${outline.title || t('untitled')} · Maki`;
  }, [outline?.title]);
  if (!outline || !status || error?.status === 404) {
    return html`<main class="conversation" ref=${scroller}>${error ? html`<p class="bad" role="alert">${error.status === 404 ? t('noSession') : error.message}</p><p><a href="#/">${t('backToList')}</a></p>`
      : html`<p class="dim">${t('working')}</p>`}</main>`;
  }
  const steer = canSteer(outline);
  const open = (name, more = {}) => setDialog({ name, ...more });
  const close = () => setDialog(null);
  const select = (ev) => { location.hash = ev ? `${path}/r/${ev}` : path; };
  const threshold = thresholdOf(status);
  return html`<main class=${`conversation ${reading ? 'reading' : ''}`} ref=${scroller} tabindex="-1">
      <div class="heading"><a class="back link" href="#/" aria-label=${t('backToList')}>←</a><h1 dir="auto">${outline.title || t('untitled')}</h1>
        <button class="link quiet" onClick=${() => open('rename')}>${t('rename')}</button></div>
      <${Chips} outline=${outline}/>
      ${error && html`<p class="bad" role="alert">${error.message}</p>`}
      <${WindowBar} status=${status} managing=${managing} onThreshold=${steer ? (value) => setThreshold(id, status.overrides?.threshold, value) : null}/>
      <${Figures} status=${status} outline=${outline} usage=${usage} now=${lastOf(outline)}/>
      ${usage && html`<${Chart} usage=${usage} window=${status.window} threshold=${threshold} onStep=${(ev) => { location.hash = `${path}/e/${ev}`; }}/>`}
      <div class="toolbar" role="toolbar" aria-label=${t('actions')}>
        ${steer && html`<button class="btn main" onClick=${() => open('compact')}>${t('compact')}</button><button class="btn" onClick=${() => undo(id)}>${t('undoNewest')}</button>`}
        <button class="btn" onClick=${() => open('compare')}>${t('compareEllipsis')}</button>
        <a class="btn" href=${reading ? path : `${path}/text`}>${t(reading ? 'asTimeline' : 'asText')}</a>
        <button class="btn" onClick=${() => open('save')}>${t('saveEllipsis')}</button>
        <button class="btn narrow-only" onClick=${() => setSheet(true)}>${t('newestRequest')}</button>
        <button class="btn" onClick=${() => open('erase')}>${t('eraseEllipsis')}</button></div>
      ${!steer && html`<p class="dim note">${t('watchOnly')}</p>`}
      ${shown.last === 0 ? html`<p class="dim">${t('noMessages')}</p>`
        : html`<${Timeline} key=${`${id} ${reading}`} outline=${shown} target=${target} scroller=${() => scroller.current} label=${t('timeline')}
            onRequest=${select} onEdit=${(seq) => open('edit', { seq })} onCompare=${(step) => open('compare', { step })} onError=${() => {}}/>`}
      <p class="end dim">${t('endOfConversation', { n: number(outline.last), ago: ago(outline.updatedAt) })}</p>
    </main>
    <aside class=${`inspect ${sheet ? 'open' : ''}`} aria-label=${t('requestTitle')}>
      <button class="link close narrow-only" aria-label=${t('close')} onClick=${() => { setSheet(false); if (target?.request) location.hash = path; }}>×</button>
      <${Request} id=${id} ev=${target?.request ?? null} none=${usage && usage.requests === 0} revision=${revision} onSelect=${select}/>
      ${steer && html`<section><h2>${t('compactTitle')}</h2><p class="dim">${t('compactText')}</p>
        <button class="btn main" onClick=${() => open('compact')}>${t('preview')}</button></section>`}
    </aside>
    ${dialog?.name === 'compact' && html`<${CompactDialog} id=${id} onClose=${close}/>`}
    ${dialog?.name === 'compare' && html`<${CompareDialog} id=${id} last=${outline.last} step=${dialog.step} onClose=${close}/>`}
    ${dialog?.name === 'save' && html`<${SaveDialog} outline=${outline} onClose=${close}/>`}
    ${dialog?.name === 'rename' && html`<${RenameDialog} session=${outline} onClose=${close}/>`}
    ${dialog?.name === 'erase' && html`<${EraseDialog} session=${outline} onClose=${close}/>`}
    ${dialog?.name === 'edit' && html`<${EditDialog} id=${id} seq=${dialog.seq} onClose=${close}/>`}`;
}

/** When a summary or a truncation was last written that is in effect. */
function lastOf(outline) {
  const last = outline.steps.filter((step) => step.active && (step.type === 'condense' || step.type === 'truncate')).at(-1);
  return last ? ago(last.ts) : '';
}
