// toast.js -- short reports of what was done, with a way back.
import { html, useEffect, useState } from './lib/preact.js';
import { t } from './text.js';

const SHOWN_MS = 12_000;
let show = () => {};

/** Report `text`; `undo`: what a button next to it does; `undoLabel`: its name; `bad`: it is an error. */
export function toast(text, { undo, undoLabel, bad } = {}) {
  show({ text, undo, undoLabel, bad, id: Math.random() });
}

export function Toasts() {
  const [toasts, setToasts] = useState([]);
  const close = (id) => setToasts((list) => list.filter((x) => x.id !== id));
  useEffect(() => {
    show = (one) => {
      setToasts((list) => [...list.slice(-2), one]);
      if (!one.bad) setTimeout(() => close(one.id), SHOWN_MS);
    };
  }, []);
  return html`<div class="toasts" role="status" aria-live="polite">${toasts.map((one) => html`<div key=${one.id} class=${`toast ${one.bad ? 'bad' : ''}`}>
    <span>${one.text}</span>
    ${one.undo && html`<button class="link" onClick=${() => { close(one.id); one.undo(); }}>${one.undoLabel ?? t('undo')}</button>`}
    <button class="link close" aria-label=${t('close')} onClick=${() => close(one.id)}>×</button></div>`)}</div>`;
}
