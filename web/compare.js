// compare.js -- two points of a conversation beside each other: what was added, hidden and changed between them.
import { html, useEffect, useState } from './lib/preact.js';
import { op } from './api.js';
import { countOf, number, range } from './format.js';
import { Dialog } from './steer.js';
import { t } from './text.js';

const EXCERPTS = 30; // messages of each list that are shown with their first words

const excerptOf = (message) => message.parts.map((p) => p.text ?? p.name ?? p.type).join(' ').replace(/\s+/g, ' ').slice(0, 120);

function Part({ id, title, list, synthetic, kind }) {
  const [messages, setMessages] = useState([]);
  useEffect(() => {
    const seqs = list.flatMap(([from, to]) => Array.from({ length: Math.min(EXCERPTS, to - from + 1) }, (_, i) => from + i)).slice(0, EXCERPTS);
    if (seqs.length === 0) return;
    op('session.messages', { conversation: id, from: seqs[0], to: Math.min(seqs.at(-1), seqs[0] + 199), chars: 200 })
      .then(({ messages: all }) => setMessages(all.filter((m) => seqs.includes(m.seq))), () => {});
  }, [id, JSON.stringify(list)]);
  if (list.length === 0 && synthetic.length === 0) return null;
  return html`<section class=${`difference ${kind}`}><h3>${title} <span class="dim">${t('messageCount', { n: number(countOf(list)) })}${list.length ? `: ${list.slice(0, 20).map(range).join(', ')}` : ''}</span></h3>
    <ul>${synthetic.map((ev) => html`<li class="hot"><a href=${`#/c/${encodeURIComponent(id)}/e/${ev}`}>${t('summaryOfStep', { ev })}</a></li>`)}
      ${messages.map((m) => html`<li dir="auto"><a href=${`#/c/${encodeURIComponent(id)}/m/${m.seq}`}>${m.seq}</a> <b>${t(`role_${m.role}`) ?? m.role}</b> ${excerptOf(m)}</li>`)}</ul></section>`;
}

/** "12": when message 12 was the newest; "12:7": and event 7. */
function pointOf(text) {
  const [seq, ev] = text.split(':').map(Number);
  return { ...(seq >= 0 ? { seq } : {}), ...(ev >= 0 ? { ev } : {}) };
}

/** `step`: compare before and after it; else the newest message with one before. */
export function CompareDialog({ id, last, step, onClose }) {
  const [a, setA] = useState(step ? `${step.at}:${step.ev - 1}` : String(Math.max(1, last - 10)));
  const [b, setB] = useState(step ? `${step.at}:${step.ev}` : String(last));
  const [answer, setAnswer] = useState(null);
  const compare = async (event) => {
    event?.preventDefault();
    try {
      setAnswer(await op('history.diff', { conversation: id, a: pointOf(a), ...(b === String(last) ? {} : { b: pointOf(b) }) }));
    } catch (error) {
      setAnswer({ error: error.message });
    }
  };
  useEffect(() => { compare(); }, []);
  return html`<${Dialog} title=${t('compareTitle')} onClose=${onClose} wide>
    <form class="focus" onSubmit=${compare}><label>${t('compareFrom')} <input type="text" class="point" pattern="\\d+(:\\d+)?" value=${a} onInput=${(e) => setA(e.target.value)}/></label>
      <label>${t('compareTo')} <input type="text" class="point" pattern="\\d+(:\\d+)?" value=${b} onInput=${(e) => setB(e.target.value)}/></label>
      <button class="btn main">${t('compare')}</button></form>
    ${answer?.error && html`<p class="bad">${answer.error}</p>`}
    ${answer && !answer.error && html`<div aria-live="polite">
      <p class="change"><b>${number(answer.tokensA)} → ${number(answer.tokensB)}</b> ${t('tokens')}, <b>${number(answer.messagesA)} → ${number(answer.messagesB)}</b> ${t('messagesInView')}</p>
      <${Part} id=${id} kind="added" title=${t('compareAdded')} list=${answer.onlyB} synthetic=${answer.madeOnlyB}/>
      <${Part} id=${id} kind="removed" title=${t('compareHidden')} list=${answer.onlyA} synthetic=${answer.madeOnlyA}/>
      ${answer.changed?.length > 0 && html`<${Part} id=${id} kind="changed" title=${t('compareChanged')} list=${answer.changed} synthetic=${[]}/>`}
      ${answer.onlyA.length + answer.onlyB.length + answer.madeOnlyA.length + answer.madeOnlyB.length + (answer.changed?.length ?? 0) === 0 && html`<p>${t('compareSame')}</p>`}</div>`}<//>`;
}
