// stores.js -- what the page keeps of a conversation: pages of messages and details of steps, fetched when they come into
// view and dropped when many others were seen since.
import { op } from './api.js';

const PAGE = 40, PAGES_MAX = 24, STEPS_MAX = 400;

const early = new Map(); // a conversation and a page -> its messages, which were asked for before the conversation is shown

const fetchPage = (id, page) => op('session.messages', { conversation: id, from: page * PAGE + 1, to: (page + 1) * PAGE });

/** Ask for the messages around `seq` already: they are the first that will be shown. */
export function prefetch(id, seq) {
  const page = Math.floor((seq - 1) / PAGE), answer = fetchPage(id, page);
  answer.catch(() => {}); // asked for again when they are shown
  early.clear();
  early.set(`${id} ${page}`, answer);
}

/** What prefetch() asked for, if it has the messages up to `to`. */
async function prefetched(id, page, to) {
  const key = `${id} ${page}`, answer = await early.get(key)?.catch(() => null);
  early.delete(key);
  return answer?.messages.at(-1)?.seq >= to ? answer : null;
}

/** The messages of a conversation by number. */
export class Messages {
  pages = new Map(); // number of the page -> { messages, calls, stale }; the last used is the last
  pending = new Set();
  errors = new Map(); // number of the page -> why it could not be read; tried again when something changed
  calls = new Map(); // id of a tool call -> { call: seq, result: { seq, part } }

  constructor(id, onChange) {
    Object.assign(this, { id, onChange });
  }

  get(seq) {
    return this.pages.get(Math.floor((seq - 1) / PAGE))?.messages.get(seq);
  }

  /** Why a message could not be read. */
  errorOf(seq) {
    return this.errors.get(Math.floor((seq - 1) / PAGE));
  }

  /** The result of a tool call, when both were loaded. */
  resultOf(id) {
    return this.calls.get(id)?.result;
  }

  /** The message with the call that a result answers; 0: it was not loaded. */
  callOf(id) {
    return this.calls.get(id)?.call ?? 0;
  }

  /** Load the messages from..to, as far as they are not there. */
  need(from, to, last) {
    for (let page = Math.floor((from - 1) / PAGE); page <= Math.floor((to - 1) / PAGE); page++) {
      const known = this.pages.get(page);
      if (known) {
        this.pages.delete(page);
        this.pages.set(page, known);
      }
      if ((!known || known.stale) && !this.pending.has(page) && !this.errors.has(page)) this.load(page, last);
    }
  }

  async load(page, last) {
    const from = page * PAGE + 1, to = Math.min(last, from + PAGE - 1);
    if (to < from) return;
    this.pending.add(page);
    try {
      const { messages } = await prefetched(this.id, page, to) ?? await fetchPage(this.id, page);
      this.insert(page, messages);
      this.onChange();
    } catch (error) {
      this.errors.set(page, error.message);
      this.onChange(error);
    } finally {
      this.pending.delete(page);
    }
  }

  insert(page, messages) {
    const ids = [];
    for (const message of messages) {
      for (const part of message.parts) {
        if (part.type !== 'call' && part.type !== 'result') continue;
        const known = this.calls.get(part.id) ?? {};
        if (part.type === 'call') known.call = message.seq;
        else known.result = { seq: message.seq, part };
        this.calls.set(part.id, known);
        ids.push(part.id);
      }
    }
    this.pages.delete(page);
    this.pages.set(page, { messages: new Map(messages.map((m) => [m.seq, m])), ids, stale: false });
    while (this.pages.size > PAGES_MAX) {
      const [oldest, { ids: gone }] = this.pages.entries().next().value;
      this.pages.delete(oldest);
      for (const id of gone) this.calls.delete(id);
    }
  }

  /** Something changed: what is in view is fetched again, and shown as it was until it arrives. */
  invalidate() {
    for (const page of this.pages.values()) page.stale = true;
    this.errors.clear();
  }
}

/** Details of steps and errors by event. */
export class Steps {
  known = new Map();
  pending = new Set();
  failed = new Set(); // tried again when something changed

  constructor(id, onChange) {
    Object.assign(this, { id, onChange });
  }

  get(ev) {
    return this.known.get(ev);
  }

  async need(evs) {
    const missing = evs.filter((ev) => !this.known.has(ev) && !this.pending.has(ev) && !this.failed.has(ev)).slice(0, 100);
    if (missing.length === 0) return;
    for (const ev of missing) this.pending.add(ev);
    try {
      const { steps } = await op('session.steps', { conversation: this.id, evs: missing });
      for (const step of steps) this.known.set(step.ev, step);
      while (this.known.size > STEPS_MAX) this.known.delete(this.known.keys().next().value);
      this.onChange();
    } catch (error) {
      for (const ev of missing) this.failed.add(ev);
      this.onChange(error);
    } finally {
      for (const ev of missing) this.pending.delete(ev);
    }
  }

  invalidate() {
    this.known.clear();
    this.failed.clear();
  }
}

/** A message with all of its text. */
export async function wholeMessage(id, seq) {
  const { messages } = await op('session.messages', { conversation: id, from: seq, to: seq, chars: 100_000_000 });
  return messages[0];
}
