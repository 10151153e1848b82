// request.js -- one request as it was sent: its parts with tokens, what was read from the provider's cache, how long it took,
// what changed since the one before, its body and its reply.
import { html, useEffect, useState } from './lib/preact.js';
import { op } from './api.js';
import { copy } from './connect.js';
import { bytes, clock, countOf, date, messagesIn, money, number, percent, ranges, sameDay, seconds, short } from './format.js';
import { Dialog } from './steer.js';
import { t } from './text.js';

function PartRow({ id, part }) {
  const path = `#/c/${encodeURIComponent(id)}`;
  switch (part.part) {
    case 'messages':
      return html`<tr><td><a href=${`${path}/m/${part.from}`}>${messagesIn([[part.from, part.to]])}</a></td><td>${short(part.tokens)}</td></tr>`;
    case 'summary':
    case 'marker':
      return html`<tr class="hot"><td><a href=${`${path}/e/${part.ev}`}>${t(`part_${part.part}`)}</a></td><td>${short(part.tokens)}</td></tr>`;
    default:
      return html`<tr><td>${part.count ? t('toolsN', { n: number(part.count) }) : t(`part_${part.part}`)}</td><td>${short(part.tokens)}</td></tr>`;
  }
}

function Changed({ request }) {
  const { changed, before } = request;
  if (!before || !changed) return html`<p class="dim">${t('firstRequest')}</p>`;
  const said = [changed.system && t('changedSystem'), changed.tools && t('changedTools'),
    changed.added?.length && t('changedAdded', { n: number(countOf(changed.added)), ranges: ranges(changed.added) }),
    changed.removed?.length && t('changedRemoved', { n: number(countOf(changed.removed)), ranges: ranges(changed.removed) }),
    changed.synthetic?.length && t('changedSummary')].filter(Boolean);
  return html`<p class="dim">${t('changedSince')} ${said.length ? said.join('; ') : t('changedNothing')}.
    ${changed.first ? ` ${t('sameBefore', { n: number(changed.first) })}` : ''}</p>`;
}

function BodyDialog({ id, request, onClose }) {
  const [body, setBody] = useState(null);
  const [note, setNote] = useState('');
  const [shown, setShown] = useState(100_000);
  useEffect(() => {
    op('session.request', { conversation: id, ev: request.ev, body: true }).then((answer) => {
      setBody(answer.body ? JSON.stringify(answer.body, null, 2) : '');
      setNote(answer.note ?? '');
    }, (error) => { setBody(''); setNote(error.message); });
  }, []);
  return html`<${Dialog} title=${t('bodyTitle')} onClose=${onClose} wide>
    <p class="dim">${[request.protocol, request.path, request.bytes && bytes(request.bytes), request.hash && `xxh3 ${request.hash}`].filter(Boolean).join(' · ')}</p>
    ${note && html`<p class="dim">${note}</p>`}
    ${body == null ? html`<p class="dim">${t('working')}</p>` : html`<pre class="code body" tabindex="0">${body.slice(0, shown)}</pre>`}
    <p>${body?.length > shown && html`<button class="btn" onClick=${() => setShown(shown + 500_000)}>${t('showMore', { n: short(body.length - shown) })}</button>`}
      ${body && html`<button class="btn" onClick=${() => copy(body)}>${t('copy')}</button>`}</p><//>`;
}

/** `ev`: of the request, or null for the newest; `none`: there is no request; `revision`: read again when it changes. */
export function Request({ id, ev, none, revision, onSelect }) {
  const [request, setRequest] = useState(null);
  const [body, setBody] = useState(false);
  useEffect(() => {
    if (none !== false && !ev) return undefined;
    let current = true;
    op('session.request', { conversation: id, ...(ev ? { ev } : {}) }).then((answer) => current && setRequest(answer),
      (error) => current && setRequest({ error: error.message, parts: null }));
    return () => { current = false; };
  }, [id, ev, none, revision]);
  if (none && !ev) return html`<p class="dim">${t('noRequests')}</p>`;
  if (!request) return html`<p class="dim">${t('working')}</p>`;
  if (!request.parts) return html`<p class="bad">${request.error}</p>`;
  const { usage } = request;
  const when = sameDay(request.ts, Date.now()) ? clock(request.ts) : date(request.ts);
  const failed = request.status >= 400 || request.error;
  return html`<section class="request" aria-label=${t('requestTitle')}><h2>${ev ? t('requestTitle') : t('newestRequest')}</h2>
    <p class="dim">${[when, t('tokenCount', { n: short(request.tokens) })].join(' · ')}${request.model && html` · <span class="whole-word">${request.model}</span>`}</p>
    ${failed && html`<p class="bad">${[request.status || '', request.error ?? ''].join(' ').trim()}</p>`}
    <table><tbody>${request.parts.map((part, i) => html`<${PartRow} key=${i} id=${id} part=${part}/>`)}</tbody></table>
    ${usage && html`<div class="pair"><span>${t('fromCache')}</span><b>${usage.input ? percent((usage.cacheRead ?? 0) / usage.input) : '–'}</b></div>
      <div class="bar"><i style=${{ width: `${usage.input ? (100 * (usage.cacheRead ?? 0)) / usage.input : 0}%` }}></i></div>
      <div class="pair"><span>${t('reported')}</span><b>${t('inOut', { input: short(usage.input), output: short(usage.output) })}</b></div>
      ${usage.cost != null && html`<div class="pair"><span>${t('cost')}</span><b>${money(usage.cost)}</b></div>`}`}
    <div class="pair"><span>${t('timeFirst')}</span><b>${request.firstMs != null ? seconds(request.firstMs) : '–'}</b></div>
    <div class="pair"><span>${t('timeAll')}</span><b>${request.ms != null ? seconds(request.ms) : '–'}</b></div>
    <${Changed} request=${request}/>
    <p>${request.before && html`<button class="btn" data-key="[" onClick=${() => onSelect(request.before.ev)}>← ${t('requestBefore')}</button>`}
      ${ev && html`<button class="btn" data-key="]" onClick=${() => onSelect(null)}>${t('newestRequest')}</button>`}
      ${request.reply > 0 && html`<a class="btn" href=${`#/c/${encodeURIComponent(id)}/m/${request.reply}`}>${t('reply')}</a>`}
      <button class="btn" onClick=${() => setBody(true)}>${t('body')}</button></p>
    ${body && html`<${BodyDialog} id=${id} request=${request} onClose=${() => setBody(false)}/>`}</section>`;
}
