// chart.js -- tokens over time, a point a request, with every step on the line.
import { html } from './lib/preact.js';
import { clock, date, number, percent, sameDay, short } from './format.js';
import { t } from './text.js';

const WIDTH = 800, HEIGHT = 92, TOP = 8, BOTTOM = 84;
const STEPS_MAX = 200; // marks; of more steps the newest
const NAMED = 2; // steps with words below the line: those that saved most

const time = (ms) => (sameDay(ms, Date.now()) ? clock(ms) : date(ms));

/** `usage` as session.usage answers it; `onStep(ev)` when a mark is chosen. */
export function Chart({ usage, window, threshold, onStep }) {
  const steps = usage.steps.filter((step) => step.tokensAfter !== step.tokensBefore).slice(-STEPS_MAX);
  // A step is two points at one place: before and after it.
  const points = [...usage.points.map(([ev, at, ts, tokens]) => ({ ev, at, ts, tokens })),
    ...steps.flatMap(({ ev, at, ts, tokensBefore, tokensAfter }) => [{ ev: ev - 0.5, at, ts, tokens: tokensBefore }, { ev, at, ts, tokens: tokensAfter, step: ev }])]
    .sort((a, b) => a.at - b.at || a.ev - b.ev);
  if (points.length < 2) return null;
  const most = Math.max(...points.map((p) => p.tokens), 1);
  const limit = threshold != null ? (window * threshold) / 100 : 0;
  const scale = limit && most > limit / 4 ? Math.max(most, limit) * 1.08 : most * 1.15;
  const first = points[0].at, span = Math.max(1, points.at(-1).at - first);
  const x = (p) => ((p.at - first) / span) * WIDTH;
  const y = (tokens) => BOTTOM - (tokens / scale) * (BOTTOM - TOP);
  const line = points.map((p, i) => `${i ? 'L' : 'M'}${x(p).toFixed(1)} ${y(p.tokens).toFixed(1)}`).join('');
  const saved = ({ tokensBefore, tokensAfter }) => (tokensBefore > tokensAfter ? `−${percent(1 - tokensAfter / tokensBefore)}` : `+${short(tokensAfter - tokensBefore)}`);
  const named = new Set([...steps].sort((a, b) => (b.tokensBefore - b.tokensAfter) - (a.tokensBefore - a.tokensAfter)).slice(0, NAMED));
  const end = usage.points.at(-1) ?? [0, points.at(-1).at, points.at(-1).ts, points.at(-1).tokens];
  return html`<figure class="chart"><figcaption class="hidden-title">${t('chart')}</figcaption>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${t('chartLabel', { most: number(most), now: number(end[3]) })}>
      ${limit > 0 && limit < scale && html`<path class="limit" d=${`M0 ${y(limit)}H${WIDTH}`}/>`}
      <path class="area" d=${`${line}V${HEIGHT}H${x(points[0])}Z`}/><path class="line" d=${line}/>
      ${steps.map((s) => html`<path key=${s.ev} class="step-line" d=${`M${x(s)} ${y(s.tokensBefore)}V${HEIGHT}`}/>`)}
    </svg>
    <div class="marks">${steps.map((s) => html`<button key=${s.ev} class="mark-step" style=${{ left: `${(100 * x(s)) / WIDTH}%` }}
      title=${`${t(`type_${s.type}`)} ${saved(s)}`} aria-label=${`${t(`type_${s.type}`)} ${saved(s)}, ${t('atMessage', { n: s.at })}`} onClick=${() => onStep(s.ev)}></button>`)}</div>
    <p><span>${usage.requests ? t('requests', { n: number(usage.requests) }) : t('messageN', { n: number(first) })} ${points[0].ts > 0 ? ` · ${time(points[0].ts)}` : ''}</span>
      ${steps.filter((s) => named.has(s)).map((s) => html`<button class="link hot" onClick=${() => onStep(s.ev)}>${t(`type_${s.type}`)} ${saved(s)}</button>`)}
      <span>${short(end[3])}${end[2] > 0 ? ` · ${time(end[2])}` : ''}</span></p></figure>`;
}
