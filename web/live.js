// live.js -- what happens in the daemon, for every part of the page: one connection, any number of listeners.
import { listen } from './api.js';

const listeners = new Set(), states = new Set();
const ANY = ''; // in place of a session: any may have changed
const pending = new Map(); // session -> types of the events of the last moments; null: of none
let timer = null;
let connected = null; // null: not yet known

function flush() {
  timer = null;
  const events = [...pending].map(([session, types]) => ({ session, types }));
  pending.clear();
  for (const fn of listeners) fn(events);
}

/** Call `fn(events)` with [{ session, types }] after something happened, at most five times a second; session '': any.
 *  Returns a function that ends it. */
export function onLive(fn) {
  listeners.add(fn);
  return () => listeners.delete(fn);
}

/** Call `fn(connected)` now and whenever the connection opens or breaks. */
export function onConnection(fn) {
  states.add(fn);
  fn(connected);
  return () => states.delete(fn);
}

export function startLive() {
  listen(({ session, type }) => {
    const key = session ?? (type === 'changed' ? ANY : null);
    if (!pending.has(key)) pending.set(key, new Set());
    pending.get(key).add(type);
    timer ??= setTimeout(flush, 200);
  }, (now) => {
    const again = now && connected === false;
    connected = now;
    for (const fn of states) fn(now);
    if (again) { // whatever happened meanwhile was missed
      pending.set(ANY, new Set(['reconnected']));
      timer ??= setTimeout(flush, 0);
    }
  });
}
