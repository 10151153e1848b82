// window_bar.js -- the window of a conversation as one bar by part, with the threshold on it.
import { html, useRef, useState } from './lib/preact.js';
import { number, percent, short } from './format.js';
import { t } from './text.js';

// A part of the bar, and the parts of session.status that it stands for.
const PARTS = [
  ['system', ['system', 'systemMessages']],
  ['tools', ['tools']],
  ['memory', ['memory']],
  ['summary', ['summaries', 'markers']],
  ['messages', ['user', 'assistant', 'toolCalls', 'toolResults', 'other']],
];

/** [[name, tokens]...] of what fills the window, the space for the answer last. */
export function partsOf(status) {
  const tokens = new Map(status.parts.map((part) => [part.part, part.tokens]));
  const parts = PARTS.map(([name, of]) => [name, of.reduce((sum, part) => sum + (tokens.get(part) ?? 0), 0)]);
  return [...parts, ['answer', status.reserved ?? 0]].filter(([, n]) => n > 0);
}

/** The percent of the window from which space is freed; null: never. */
export function thresholdOf(status) {
  const byTokens = status.thresholdTokens ? (100 * status.thresholdTokens) / status.window : Infinity;
  const value = Math.min(status.threshold ?? Infinity, byTokens);
  return value <= 100 ? value : null;
}

/** `onThreshold(percent)`: it may be moved. */
export function WindowBar({ status, onThreshold, managing }) {
  const [moved, setMoved] = useState(null);
  const bar = useRef(null);
  const parts = partsOf(status), window = status.window || 1;
  const free = Math.max(0, window - parts.reduce((sum, [, n]) => sum + n, 0));
  const threshold = moved ?? thresholdOf(status);
  const label = `${t('windowOf', { tokens: number(status.tokens), window: number(status.window) })}: ${parts.map(([name, n]) => `${t(`part_${name}`)} ${number(n)}`).join(', ')}`;
  return html`<div class=${`window-bar ${managing ? 'managing' : ''}`}>
    <div class="window" role="img" aria-label=${label} title=${label} ref=${bar}>
      ${parts.map(([name, n]) => html`<span key=${name} class=${`fill ${name}`} style=${{ width: `${Math.min(100, (100 * n) / window)}%` }}></span>`)}
      ${threshold != null && html`<span class="mark" style=${{ left: `${threshold}%` }}><small>${t('thresholdAt', { percent: `${Math.round(threshold)} %` })}</small></span>`}
    </div>
    ${onThreshold && threshold != null && html`<input type="range" class="threshold" min="5" max="100" step="1" value=${Math.round(threshold)}
      aria-label=${t('threshold')} title=${t('thresholdMove')} onInput=${(e) => setMoved(Number(e.target.value))}
      onChange=${(e) => { setMoved(null); onThreshold(Number(e.target.value)); }}/>`}
    <div class="legend">${parts.map(([name, n]) => html`<span key=${name}><i class=${`fill ${name}`}></i>${t(`part_${name}`)} ${short(n)}</span>`)}
      <span><i class="fill free"></i>${t('part_free')} ${short(free)}</span>${managing && html`<span class="hot" role="status">${t('managing')}</span>`}</div>
  </div>`;
}

export function Figures({ status, outline, usage, now }) {
  const share = status.window ? status.tokens / status.window : 0;
  const cached = usage && usage.input > 0 && usage.cacheRead > 0 ? usage.cacheRead / usage.input : null;
  return html`<dl class="figures">
    <div><dt>${t('ofTheWindow')}</dt><dd>${percent(share)}</dd></div>
    <div><dt>${t('messagesInView')}</dt><dd>${t('nOfAll', { n: number(status.messagesCount), all: number(outline.last) })}</dd></div>
    ${usage?.notSent > 0 && html`<div><dt>${t('notSent')}</dt><dd>−${short(usage.notSent)}</dd></div>`}
    ${cached != null && html`<div><dt>${t('fromCache')}</dt><dd>${percent(cached)}</dd></div>`}
    ${usage?.cost != null && html`<div><dt>${t('cost')}</dt><dd>$${usage.cost.toFixed(usage.cost < 0.1 ? 4 : 2)}</dd></div>`}
    <div><dt>${status.compressionCount ? t('condensedLast', { ago: now }) : t('condensed')}</dt><dd>${status.compressionCount}×</dd></div>
    ${usage?.errors > 0 && html`<div class="bad"><dt>${t('errors')}</dt><dd>${number(usage.errors)}</dd></div>`}
  </dl>`;
}
