// save.js -- a conversation as one HTML file that needs nothing else, with keys and chosen words masked, and as plain text.
import { html, useState } from './lib/preact.js';
import { op } from './api.js';
import { date, number } from './format.js';
import { Dialog } from './steer.js';
import { language, t } from './text.js';
import { toast } from './toast.js';

const PAGE = 100, CHARACTERS = 100_000;

// What has the form of a key; the daemon masks the same in what it writes itself (src/base/mask.c).
const KEYS = [
  /\b(?:sk|pk|rk|ak)[-_][A-Za-z0-9_-]{16,}/g, /\bgh[pousr]_[A-Za-z0-9]{20,}/g, /\bgithub_pat_\w{20,}/g, /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g, /\bAIza[0-9A-Za-z_-]{30,}/g, /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g,
  /\bBearer\s+[A-Za-z0-9._~+/-]{12,}=*/gi, /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b((?:api[-_]?key|secret|token|passw(?:or)?d)["']?\s*[:=]\s*["']?)[^\s"',;]{8,}/gi,
];

/** A function that masks keys and these words. */
export function maskOf(words) {
  const escaped = words.map((w) => w.trim()).filter(Boolean).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const chosen = escaped.length ? new RegExp(escaped.join('|'), 'giu') : null;
  return (text) => {
    let out = text;
    for (const key of KEYS) out = out.replace(key, (all, name) => `${typeof name === 'string' ? name : ''}***`);
    return chosen ? out.replace(chosen, '***') : out;
  };
}

const escape = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

const STYLE = `:root{color-scheme:light dark;font:16px/1.55 system-ui,"Hiragino Sans","Noto Sans CJK JP",sans-serif}body{max-width:52rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.3rem}.m{border:1px solid #8885;border-radius:8px;padding:.5rem .9rem;margin:.6rem 0}.user{background:#8881}.gone{opacity:.6}.who{font-size:.8rem;opacity:.75}
.t{white-space:pre-wrap;overflow-wrap:anywhere}.c{font:.85rem/1.5 ui-monospace,monospace;background:#8881;border-radius:6px;padding:.4rem .6rem;margin:.4rem 0}
.e{border-left:3px solid #c98a3a;padding:.3rem .8rem;margin:.6rem 0;font-size:.9rem}.err{border-color:#b3261e}summary{cursor:pointer}`;

function partText(part, mask) {
  const text = mask(part.text ?? part.input ?? '') + (part.length ? ` […${part.length}]` : '');
  switch (part.type) {
    case 'text': return part.inserted ? `<details><summary>${escape(t('inserted'))}</summary><div class="t">${escape(text)}</div></details>` : `<div class="t" dir="auto">${escape(text)}</div>`;
    case 'thinking': return `<details><summary>${escape(t('thinking'))}</summary><div class="t" dir="auto">${escape(text)}</div></details>`;
    case 'call': return `<div class="c t"><b>${escape(part.name)}</b> ${escape(text)}</div>`;
    case 'result': return `<div class="c t">${escape(text)}</div>`;
    default: return `<div class="c t">${escape(`${part.type} ${part.mediaType ?? part.name ?? ''} ${text}`)}</div>`;
  }
}

function messageText(message, mask) {
  const role = t(`role_${message.role}`) ?? message.role;
  const time = message.ts > 0 ? ` · ${escape(date(message.ts))}` : '';
  return `<div class="m ${message.role === 'user' ? 'user' : ''} ${message.hidden ? 'gone' : ''}"><div class="who"><b>${escape(role)}</b> ${message.seq}${time}</div>${message.parts.map((p) => partText(p, mask)).join('')}</div>\n`;
}

function stepText(step, mask) {
  const words = [t(`type_${step.type}`), step.status, step.message, step.effect, step.tokensBefore != null && step.tokensBefore !== step.tokensAfter
    ? `${number(step.tokensBefore)} → ${number(step.tokensAfter)} ${t('tokens')}` : ''].filter(Boolean).join(' · ');
  const summary = step.summary ? `<div class="t" dir="auto">${escape(mask(step.summary))}</div>` : '';
  return `<div class="e ${step.type === 'provider_error' ? 'err' : ''}">${escape(mask(words))}${summary}</div>\n`;
}

/** Everything in order, a piece at a time: `add(text)` is called for each. */
async function each(outline, hidden, onMessage, onStep, onProgress) {
  const steps = [...outline.steps.map((s) => [s.at, s.ev]), ...outline.errors.map((e) => [e.at, e.ev])].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const inView = outline.rows.filter(([kind]) => kind === 'm');
  let next = 0;
  for (let from = 1; from <= outline.last; from += PAGE) {
    const to = Math.min(outline.last, from + PAGE - 1);
    onProgress(from / outline.last);
    const evs = [];
    for (let i = next; i < steps.length && steps[i][0] <= to; i++) evs.push(steps[i][1]);
    const details = new Map();
    for (let i = 0; i < evs.length; i += 100) {
      for (const step of (await op('session.steps', { conversation: outline.id, evs: evs.slice(i, i + 100) })).steps) details.set(step.ev, step);
    }
    if (hidden || inView.some(([, a, b]) => a <= to && b >= from)) {
      const { messages } = await op('session.messages', { conversation: outline.id, from, to, chars: CHARACTERS });
      for (const message of messages) {
        for (; next < steps.length && steps[next][0] < message.seq; next++) if (details.has(steps[next][1])) onStep(details.get(steps[next][1]));
        if (hidden || !message.hidden) onMessage(message);
      }
    }
    for (; next < steps.length && steps[next][0] <= to; next++) if (details.has(steps[next][1])) onStep(details.get(steps[next][1]));
  }
}

export async function pageOf(outline, { hidden, words }, onProgress = () => {}) {
  const mask = maskOf(words), pieces = [];
  const title = escape(mask(outline.title || outline.id));
  pieces.push(`<!doctype html><html lang="${language()}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>${title}</title><style>${STYLE}</style></head><body>
<h1 dir="auto">${title}</h1><p class="who">${escape([outline.client, outline.model, date(outline.createdAt || outline.updatedAt), t('messageCount', { n: number(outline.last) })].filter(Boolean).join(' · '))}</p>\n`);
  await each(outline, hidden, (m) => pieces.push(messageText(m, mask)), (s) => pieces.push(stepText(s, mask)), onProgress);
  pieces.push('</body></html>\n');
  return new Blob(pieces, { type: 'text/html' });
}

export function download(blob, name) {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const fileName = (outline, ending) => `${(outline.title || outline.id).replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60).replace(/^-+|-+$/g, '') || outline.id}.${ending}`;

export function SaveDialog({ outline, onClose }) {
  const [words, setWords] = useState('');
  const [hidden, setHidden] = useState(false);
  const [progress, setProgress] = useState(null);
  const save = async () => {
    setProgress(0);
    try {
      const blob = await pageOf(outline, { hidden, words: words.split('\n') }, setProgress);
      download(blob, fileName(outline, 'html'));
      onClose();
    } catch (error) {
      toast(error.message, { bad: true });
      setProgress(null);
    }
  };
  const lines = async (format) => {
    try {
      const answer = await op('history.export', { conversation: outline.id, format });
      const text = Array.isArray(answer.export) && format === 'lines' ? answer.export.map((row) => `${JSON.stringify(row)}\n`) : [JSON.stringify(answer.export, null, 1)];
      download(new Blob(text, { type: 'application/json' }), fileName(outline, format === 'lines' ? 'jsonl' : 'json'));
    } catch (error) {
      toast(error.message, { bad: true });
    }
  };
  return html`<${Dialog} title=${t('saveTitle')} onClose=${onClose}><p class="dim">${t('saveText')}</p>
    <label>${t('saveWords')}<textarea rows="3" value=${words} onInput=${(e) => setWords(e.target.value)} dir="auto"></textarea></label>
    <label class="check"><input type="checkbox" checked=${hidden} onChange=${(e) => setHidden(e.target.checked)}/> ${t('saveHidden')}</label>
    <p><button class="btn main" disabled=${progress != null} onClick=${save}>${progress == null ? t('savePage') : `${Math.round(100 * progress)} %`}</button></p>
    <h3>${t('exportTitle')}</h3><p>${['openai', 'anthropic', 'roo', 'lines'].map((f) => html`<button class="btn" onClick=${() => lines(f)}>${f}</button>`)}</p><//>`;
}
