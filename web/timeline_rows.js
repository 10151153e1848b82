// timeline_rows.js -- the rows of a timeline: messages in view, folded ranges of hidden ones, steps and errors.
//
// A range of messages is one segment, however long it is, so the rows of a long conversation cost what its steps cost.
// Keys: a message has its number, a fold, a step and an error have negative ones.

export const foldKey = (from) => -(4 * from + 1);
export const stepKey = (ev) => -(4 * ev + 2);
export const errorKey = (ev) => -(4 * ev + 3);

const ESTIMATES = { message: 92, fold: 46, step: 56, condense: 170, error: 50 };

export class TimelineRows {
  starts = []; // the first row of each segment
  segments = []; // { kind: 'message' | 'fold' | 'step' | 'error', from, to, ev, hidden, why }
  places = new Map(); // a negative key -> its row
  count = 0;

  /** `outline` as session.outline answers it; `opened`: the numbers with which unfolded ranges begin. */
  constructor(outline, opened) {
    const steps = new Map(outline.steps.map((step) => [step.ev, step]));
    const inPlace = new Set(outline.rows.filter((row) => row[0] === 's').map((row) => row[1]));
    this.steps = steps;
    this.events = [...outline.steps.filter((step) => !inPlace.has(step.ev)).map(({ ev, at, type }) => ({ ev, at, kind: 'step', type })),
      ...outline.errors.map(({ ev, at }) => ({ ev, at, kind: 'error' }))].sort((a, b) => a.at - b.at || a.ev - b.ev);
    this.next = 0;
    this.takeEvents(0);
    for (const row of outline.rows) {
      if (row[0] === 's') this.push({ kind: 'step', ev: row[1], type: steps.get(row[1])?.type ?? 'condense' });
      else if (row[0] === 'm') this.takeMessages(row[1], row[2], false);
      else this.takeHidden(row, opened.has(row[1]));
    }
    this.takeEvents(Infinity);
  }

  push(segment) {
    this.starts.push(this.count);
    this.segments.push(segment);
    if (segment.kind === 'fold') this.places.set(foldKey(segment.from), this.count);
    if (segment.kind === 'step') this.places.set(stepKey(segment.ev), this.count);
    if (segment.kind === 'error') this.places.set(errorKey(segment.ev), this.count);
    this.count += segment.kind === 'message' ? segment.to - segment.from + 1 : 1;
  }

  /** The events up to those written after message `at`. */
  takeEvents(at) {
    for (; this.next < this.events.length && this.events[this.next].at <= at; this.next++) this.push(this.events[this.next]);
  }

  takeMessages(from, to, hidden) {
    let start = from;
    while (this.next < this.events.length && this.events[this.next].at < to) {
      const { at } = this.events[this.next];
      if (at >= start) {
        this.push({ kind: 'message', from: start, to: at, hidden });
        start = at + 1;
      }
      this.takeEvents(at);
    }
    if (start <= to) this.push({ kind: 'message', from: start, to, hidden });
    this.takeEvents(to);
  }

  /** A folded range keeps the steps in it to itself, but for those that are in effect. */
  takeHidden([, from, to, ev, why], open) {
    this.push({ kind: 'fold', from, to, ev, why, open });
    if (open) {
      this.takeMessages(from, to, true);
      return;
    }
    for (; this.next < this.events.length && this.events[this.next].at <= to; this.next++) {
      const event = this.events[this.next];
      if (event.kind === 'step' && event.type !== 'undo' && this.steps.get(event.ev).active) this.push(event);
    }
  }

  segmentOf(index) {
    let low = 0, high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= index) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** A row: { kind, seq } of a message, else its segment. */
  at(index) {
    const number = this.segmentOf(index), segment = this.segments[number];
    if (segment.kind !== 'message') return segment;
    return { kind: 'message', seq: segment.from + index - this.starts[number], hidden: segment.hidden };
  }

  keyOf(index) {
    const row = this.at(index);
    if (row.kind === 'message') return row.seq;
    if (row.kind === 'fold') return foldKey(row.from);
    return row.kind === 'step' ? stepKey(row.ev) : errorKey(row.ev);
  }

  /** The row of a key; of a message in a folded range, that of the fold; -1: none. */
  indexOf(key) {
    if (key < 0) return this.places.get(key) ?? -1;
    for (let i = 0; i < this.segments.length; i++) { // as many as there are steps
      const { kind, from, to } = this.segments[i];
      if (kind === 'message' && key >= from && key <= to) return this.starts[i] + key - from;
      if (kind === 'fold' && !this.segments[i].open && key >= from && key <= to) return this.starts[i];
    }
    return -1;
  }

  estimate(index) {
    const { kind, type } = this.at(index);
    return ESTIMATES[kind === 'step' && (type === 'condense' || type === 'truncate') ? 'condense' : kind];
  }

  /** Call fn(index, key, estimate) for every row: of messages there are many, so not by at(). */
  each(fn) {
    for (let i = 0; i < this.segments.length; i++) {
      const { kind, from, to } = this.segments[i], start = this.starts[i];
      if (kind === 'message') for (let seq = from; seq <= to; seq++) fn(start + seq - from, seq, ESTIMATES.message);
      else fn(start, this.keyOf(start), this.estimate(start));
    }
  }

  /** The ranges of messages, and the events, among the rows first..last - 1. */
  needs(first, last) {
    const needed = { ranges: [], evs: [] };
    for (let i = this.segmentOf(first); i < this.segments.length && this.starts[i] < last; i++) {
      const { kind, from, to, ev } = this.segments[i];
      if (kind === 'message') {
        needed.ranges.push([Math.max(from, from + first - this.starts[i]), Math.min(to, from + last - 1 - this.starts[i])]);
      } else if (kind !== 'fold') {
        needed.evs.push(ev);
      }
    }
    return needed;
  }
}
