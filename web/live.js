// live.js -- what happens in the daemon, for every part of the page: one connection, any number of listeners.
import { listen } from './api.js';

const listeners = new Set(), states = new Set();
const pending = new Map(); // session -> types of the events of the last moments
let timer = null;
let connected = null; // null: not yet known

function flush() {
  timer = null;
  const events = [...pending].map(([session, types]) => ({ session, types }));
  pending.clear();
  for (const fn of listeners) fn(events);
}

/** Call `fn(events)` with [{ session, types }] after something happened, at most five times a second.  Returns the end of it. */
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
    if (!pending.has(session)) pending.set(session, new Set());
    pending.get(session).add(type);
    timer ??= setTimeout(flush, 200);
  }, (now) => {
    const again = now && connected === false;
    connected = now;
    for (const fn of states) fn(now);
    if (again) { // whatever happened meanwhile was missed
      pending.set('', new Set(['reconnected']));
      timer ??= setTimeout(flush, 0);
    }
  });
}
