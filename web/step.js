// step.js -- a step or an error on the timeline: what it did, what it kept and cost, and its way back.
import { html, useState } from './lib/preact.js';
import { messagesIn, money, number, percent, range, seconds, short } from './format.js';
import { Markdown, separated } from './markdown.js';
import { t } from './text.js';

const CUTS = new Set(['truncate', 'trim', 'prune']);

function Saved({ step }) {
  const { tokensBefore: before, tokensAfter: after } = step;
  if (before == null || before === after) return null;
  const saved = before > after ? html` <b>−${percent(1 - after / before)}</b>` : '';
  return html`<span>${number(before)} → ${number(after)} ${t('tokens')}${saved}</span>`;
}

function Summary({ step }) {
  const [open, setOpen] = useState(false);
  if (!step.summary) return null;
  return html`<button class="link" aria-expanded=${open} onClick=${() => setOpen(!open)}>${t(open ? 'hideSummary' : 'showSummary')}</button>
    ${open && html`<div class="whole summary" dir="auto"><${Markdown} text=${separated(step.summary)}/></div>`}`;
}

function Lost({ step }) {
  const [open, setOpen] = useState(false);
  if (!step.factsLost) return null;
  return html`<button class="link" aria-expanded=${open} onClick=${() => setOpen(!open)}>${t('factsLost', { n: number(step.factsLost) })}</button>
    ${open && html`<ul class="whole lost">${(step.lost ?? []).map((fact) => html`<li>${typeof fact === 'string' ? fact : fact.text ?? JSON.stringify(fact)}</li>`)}</ul>`}`;
}

function Items({ items }) {
  if (!items?.length) return null;
  return html`<ul class="whole kept">${items.map((item) => html`<li dir="auto">${t(`item_${item.kind}`)}: ${item.text}
    ${item.seq ? html` <span class="dim">(${t('messageN', { n: item.seq })})</span>` : ''}</li>`)}</ul>`;
}

function Details({ step }) {
  switch (step.type) {
    case 'condense':
      return html`<${Saved} step=${step}/>
        ${step.hides?.length > 0 && html`<span>${messagesIn(step.hides)}</span>`}
        ${step.ms != null && html`<span>${seconds(step.ms)}</span>`}
        <span>${step.summarizer?.model ?? t('offlineSummary')}${step.cost ? `, ${money(step.cost)}` : ''}</span>
        ${step.fallback && html`<span class="bad">${t('fallback', { why: step.fallback.message || step.fallback.code })}</span>`}
        ${step.factsKept + step.factsLost > 0 && html`<span>${t('factsKept', { n: number(step.factsKept), all: number(step.factsKept + step.factsLost) })}</span>`}
        <${Lost} step=${step}/>`;
    case 'truncate':
      return html`<${Saved} step=${step}/><span>${step.effect || (step.hides?.length && messagesIn(step.hides))}</span>`;
    case 'trim':
    case 'prune':
      return html`<${Saved} step=${step}/><span>${step.effect}</span>
        ${step.edits?.length > 0 && html`<span class="dim">${step.edits.slice(0, 12).map(([seq, saved]) => html`<a href=${`#/c/${step.conversation}/m/${seq}`}>${seq}</a>${saved ? ` −${short(saved)} ` : ' '}`)}</span>`}`;
    case 'rewind':
      return html`<span>${t(step.with ? 'editedAt' : 'rewoundTo', { n: number(step.to ?? 0) })}</span><span>${step.effect}</span>`;
    case 'undo':
      return html`<span>${step.targetType ? t('undidType', { type: t(`type_${step.targetType}`), ev: step.target }) : t('undidEvent', { ev: step.target })}</span><span>${step.effect}</span>`;
    case 'pin':
    case 'unpin':
      return html`<a href=${`#/c/${step.conversation}/m/${step.seq}`}>${t('messageN', { n: number(step.seq ?? 0) })}</a>`;
    case 'fork':
      return html`<a href=${`#/c/${step.parent}`}>${step.parent}</a><span>${t('upToMessage', { n: number(step.seq ?? 0) })}</span>`;
    default:
      return html`<span>${step.effect}</span>`;
  }
}

/** `onUndo(step)`: the step can be undone; `onCompare(step)` shows what it changed. */
export function Step({ step, id, onUndo, onCompare, selected }) {
  if (step.type === 'provider_error') {
    return html`<article class=${`event err ${selected ? 'selected' : ''}`} id=${`e${step.ev}`} tabindex="-1" aria-label=${t('type_provider_error')}>
      <b>${step.status || step.code || t('failed')}</b><span dir="auto">${[step.upstream, step.model].filter(Boolean).join(' · ')}: ${step.message || step.code}</span></article>`;
  }
  const kind = CUTS.has(step.type) ? 'cut' : step.type === 'condense' ? '' : 'small';
  const full = { ...step, conversation: encodeURIComponent(id) };
  return html`<article class=${`event ${kind} ${step.active ? '' : 'undone'} ${selected ? 'selected' : ''}`} id=${`e${step.ev}`} tabindex="-1"
      aria-label=${t(`type_${step.type}`)}>
    <b>${t(`type_${step.type}`)}</b>${!step.active && html`<span class="dim">${t('undone')}</span>`}
    <${Details} step=${full}/>
    ${onUndo && step.active && step.type !== 'fork' && html`<button class="link" onClick=${() => onUndo(step)}>${t(step.type === 'undo' ? 'redo' : 'undo')}</button>`}
    ${step.effect && html`<button class="link" onClick=${() => onCompare(step)}>${t('whatChanged')}</button>`}
    <${Items} items=${step.items}/><${Summary} step=${step}/></article>`;
}

/** A range of hidden messages in one row. */
export function Fold({ row, onToggle }) {
  const n = row.to - row.from + 1;
  return html`<div class="fold"><span>${t(row.why === 'rewind' || !row.ev ? 'foldLeft' : 'foldHidden', { n: number(n) })}</span>
    <span>${range([row.from, row.to])}</span>
    <button class="link" aria-expanded=${row.open} onClick=${onToggle}>${t(row.open ? 'hide' : 'show')}</button></div>`;
}
