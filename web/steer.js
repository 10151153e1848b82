// steer.js -- what a person does to a conversation: each says what it did and offers a way back; only erasing asks.
//
// An agent that talks through the proxy holds its own history: what would change only our view of it is not offered.
import { html, useEffect, useRef, useState } from './lib/preact.js';
import { op } from './api.js';
import { money, number, percent, ranges } from './format.js';
import { Markdown, separated } from './markdown.js';
import { wholeMessage } from './stores.js';
import { t } from './text.js';
import { toast } from './toast.js';

/** Does Maki decide what the model of this conversation sees? */
export const canSteer = (session) => session.agentId !== 'proxy';

/** Call an operation and report it: `done(answer)` gives the words; a step can be undone. */
async function act(name, input, done) {
  try {
    const answer = await op(name, input);
    const event = answer.event;
    toast(done(answer), event ? { undo: () => undo(input.conversation, event) } : {});
    return answer;
  } catch (error) {
    toast(error.message, { bad: true });
    return null;
  }
}

const effect = (answer) => (answer.effect ? `: ${answer.effect}` : '');

export async function undo(conversation, ev) {
  try {
    const answer = await op('history.undo', { conversation, ...(ev ? { ev } : {}) });
    toast(`${t('undidType', { type: t(`type_${answer.undoneType}`), ev: answer.undone })}${effect(answer)}`,
      { undo: () => undo(conversation, answer.event), undoLabel: t('redo') });
  } catch (error) {
    toast(error.message, { bad: true });
  }
}

async function undoRun(conversation, run) {
  await act('manage.undo', { conversation, run }, (a) => `${t('undidRun')}${effect(a)}`);
}

export const pin = (conversation, seq, on) => act(on ? 'history.pin' : 'history.unpin', { conversation, seq }, () => t(on ? 'didPin' : 'didUnpin', { n: seq }));
export const rewind = (conversation, seq) => act('history.rewind', { conversation, seq }, (a) => `${t('didRewind', { n: seq })}${effect(a)}`);
export const remove = (conversation, seq) => act('history.delete', { conversation, seq }, (a) => `${t('didDelete', { n: seq })}${effect(a)}`);
export const expand = (conversation, seq) => act('history.expand', { conversation, seq }, (a) => `${t('didExpand', { n: seq })}${effect(a)}`);

export async function fork(conversation, seq) {
  const answer = await act('session.fork', { conversation, seq }, () => t('didFork', { n: seq }));
  if (answer?.id) location.hash = `#/c/${answer.id}`;
}

export async function setThreshold(conversation, before, value) {
  try {
    await op('session.set', { conversation, threshold: value });
    toast(t('didThreshold', { percent: `${value} %` }), { undo: () => setThreshold(conversation, value, before ?? null) });
  } catch (error) {
    toast(error.message, { bad: true });
  }
}

/** A window over the page; closed by Escape, its button or a click outside. */
export function Dialog({ title, onClose, children, wide }) {
  const element = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current.showModal();
    return () => before?.focus?.();
  }, []);
  return html`<dialog ref=${element} class=${wide ? 'wide' : ''} aria-label=${title} onClose=${onClose}
      onClick=${(e) => e.target === element.current && element.current.close()}>
    <div class="dialog"><header><h2>${title}</h2><button class="link close" aria-label=${t('close')} onClick=${() => element.current.close()}>×</button></header>
      ${children}</div></dialog>`;
}

export function EditDialog({ id, seq, onClose }) {
  const [text, setText] = useState(null);
  const [before, setBefore] = useState('');
  useEffect(() => {
    wholeMessage(id, seq).then((m) => {
      const words = m.parts.filter((p) => p.type === 'text' && !p.inserted).map((p) => p.text).join('\n\n');
      setText(words);
      setBefore(words);
    }, (error) => { toast(error.message, { bad: true }); onClose(); });
  }, []);
  const save = async () => {
    if (await act('history.edit', { conversation: id, seq, text }, (a) => `${t('didEdit', { n: seq })}${effect(a)}`)) onClose();
  };
  return html`<${Dialog} title=${t('editTitle', { n: seq })} onClose=${onClose}><p class="dim">${t('editText')}</p>
    <textarea rows="10" value=${text ?? ''} disabled=${text == null} aria-label=${t('messageN', { n: seq })} onInput=${(e) => setText(e.target.value)} dir="auto"></textarea>
    <p><button class="btn main" disabled=${text == null || text === before || !text.trim()} onClick=${save}>${t('editSave')}</button></p><//>`;
}

export function RenameDialog({ session, onClose }) {
  const [name, setName] = useState('');
  const save = async (event) => {
    event.preventDefault();
    if (await act('session.rename', { conversation: session.id, name: name.trim() }, () => t('didRename', { name: name.trim() }))) onClose();
  };
  return html`<${Dialog} title=${t('renameTitle')} onClose=${onClose}><form onSubmit=${save}><p class="dim">${t('renameText')}</p>
    <input type="text" autofocus value=${name} placeholder=${session.title} aria-label=${t('name')} onInput=${(e) => setName(e.target.value)} dir="auto"/>
    <p><button class="btn main" disabled=${!name.trim()}>${t('rename')}</button></p></form><//>`;
}

export function EraseDialog({ session, onClose }) {
  const erase = async () => {
    try {
      const answer = await op('session.delete', { conversation: session.id, yes: true });
      toast(t('didErase', { n: number(answer.messages) }));
      location.hash = '#/';
    } catch (error) {
      toast(error.message, { bad: true });
    }
    onClose();
  };
  return html`<${Dialog} title=${t('eraseTitle')} onClose=${onClose}><p>${t('eraseText', { title: session.title })}</p>
    <p><button class="btn danger" onClick=${erase}>${t('erase')}</button> <button class="btn" onClick=${onClose}>${t('cancel')}</button></p><//>`;
}

/** Free space in the window: what a run would do, then the run. */
export function CompactDialog({ id, onClose }) {
  const [focus, setFocus] = useState('');
  const [preview, setPreview] = useState(null);
  const [busy, setBusy] = useState(true);
  const input = { conversation: id, force: true, ...(focus.trim() ? { focus: focus.trim() } : {}) };
  const look = async () => {
    setBusy(true);
    try {
      setPreview(await op('manage.run', { ...input, preview: true }));
    } catch (error) {
      setPreview({ error: error.message });
    }
    setBusy(false);
  };
  useEffect(() => { look(); }, []);
  const run = async () => {
    setBusy(true);
    try {
      const a = await op('manage.run', input);
      toast(a.action === 'none' ? t('didNothing') : `${t(`type_${a.action}`) ?? a.action}: ${number(a.tokensBefore)} → ${number(a.tokensAfter)} ${t('tokens')}${effect(a)}`,
        a.run ? { undo: () => undoRun(id, a.run) } : {});
      onClose();
    } catch (error) {
      toast(error.message, { bad: true });
      setBusy(false);
    }
  };
  const p = preview;
  return html`<${Dialog} title=${t('compactTitle')} onClose=${onClose} wide>
    <form class="focus" onSubmit=${(e) => { e.preventDefault(); look(); }}><label>${t('focus')}
      <input type="text" autofocus value=${focus} placeholder=${t('focusPlaceholder')} onInput=${(e) => setFocus(e.target.value)} dir="auto"/></label>
      <button class="btn" disabled=${busy}>${t('previewAgain')}</button></form>
    <div class="preview" aria-live="polite" aria-busy=${busy}>
      ${busy && html`<p class="dim">${t('working')}</p>`}
      ${p?.error && html`<p class="bad">${p.error}</p>`}
      ${p && !p.error && (p.action === 'none' ? html`<p>${t('nothingToFree')}</p>` : html`
        <p class="change"><b>${number(p.tokensBefore)} → ${number(p.tokensAfter)}</b> ${t('tokens')}, <b>−${percent(p.reduction)}</b></p>
        <p>${p.effect}${p.hides?.length ? `: ${ranges(p.hides)}` : ''}${p.cost ? ` · ${money(p.cost)}` : ''}${p.factsKept + p.factsLost > 0
          ? ` · ${t('factsKept', { n: number(p.factsKept), all: number(p.factsKept + p.factsLost) })}` : ''}</p>
        ${p.fallback && html`<p class="bad">${t('fallback', { why: p.fallback.message || p.fallback.code })}</p>`}
        ${p.shortens?.length > 0 && html`<p>${t('shortens', { list: p.shortens.slice(0, 30).join(', ') })}</p>`}
        ${p.summary && html`<h3>${t('summaryWouldBe')}</h3><div class="summary" tabindex="0" dir="auto"><${Markdown} text=${separated(p.summary)}/></div>`}`)}
    </div>
    <p><button class="btn main" disabled=${busy || !p || p.error || p.action === 'none'} onClick=${run}>${t('compactNow')}</button>
      <button class="btn" onClick=${onClose}>${t('cancel')}</button></p><//>`;
}
