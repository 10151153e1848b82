// format.js -- numbers, sizes, times and keys as a person reads them, in the language of the page.
import { language, t } from './text.js';

export const number = (n) => Math.round(n).toLocaleString(language());

/** 1234 -> "1.2k"; small numbers are exact. */
export function short(n) {
  if (Math.abs(n) < 1000) return number(n);
  const [value, unit] = Math.abs(n) < 999_950 ? [n / 1000, 'k'] : [n / 1e6, 'M'];
  return value.toLocaleString(language(), { maximumFractionDigits: Math.abs(value) < 100 ? 1 : 0 }) + unit;
}

export const percent = (share) => `${Math.round(100 * share)} %`;
export const money = (n) => `$${n.toLocaleString(language(), { minimumFractionDigits: 2, maximumFractionDigits: n < 0.1 ? 4 : 2 })}`;
export const seconds = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toLocaleString(language(), { maximumFractionDigits: 1 })} s`);

export function bytes(n) {
  for (const [size, unit] of [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']]) {
    if (n >= size) return `${(n / size).toLocaleString(language(), { maximumFractionDigits: 1 })} ${unit}`;
  }
  return `${n} B`;
}

export const clock = (ms) => new Date(ms).toLocaleTimeString(language(), { timeStyle: 'short' });
export const date = (ms) => new Date(ms).toLocaleString(language(), { dateStyle: 'medium', timeStyle: 'short' });

export function ago(ms, now = Date.now()) {
  const past = Math.max(0, now - ms) / 1000;
  const format = new Intl.RelativeTimeFormat(language(), { numeric: 'auto', style: 'short' });
  for (const [unit, size] of [['day', 86400], ['hour', 3600], ['minute', 60]]) {
    if (past >= size) return format.format(-Math.floor(past / size), unit);
  }
  return t('justNow');
}

const dayOf = (ms) => new Date(ms).setHours(0, 0, 0, 0);
export const sameDay = (a, b) => dayOf(a) === dayOf(b);
export function day(ms, now = Date.now()) {
  const days = Math.round((dayOf(now) - dayOf(ms)) / 86_400_000);
  if (days < 2) {
    const word = new Intl.RelativeTimeFormat(language(), { numeric: 'auto' }).format(-days, 'day');
    return word[0].toLocaleUpperCase(language()) + word.slice(1);
  }
  const year = new Date(ms).getFullYear() === new Date(now).getFullYear() ? undefined : 'numeric';
  return new Date(ms).toLocaleDateString(language(), { weekday: 'short', month: 'short', day: 'numeric', year });
}

/** A range of messages: "12" or "12–40". */
export const range = ([from, to]) => (from === to ? number(from) : `${number(from)}–${number(to)}`);
export const ranges = (list) => list.map(range).join(', ');
/** "message 1" or "messages 2–174". */
export const messagesIn = (list) => (countOf(list) === 1 ? t('messageN', { n: number(list[0][0]) }) : t('messagesRange', { range: ranges(list) }));
export const countOf = (list) => list.reduce((sum, [from, to]) => sum + to - from + 1, 0);
