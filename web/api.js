// api.js -- the daemon's public API: operations, server-sent events, health.
//
// Everything that the page knows or does goes through POST /maki/ops/NAME, as for any other program.  A token in the path
// (/t/TOKEN/) is kept for all requests.

export const base = /^\/t\/[^/]+/.exec(location.pathname)?.[0] ?? '';
export const address = location.origin + base;

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

async function answerOf(response) {
  const answer = await response.json().catch(() => null);
  const error = answer?.error;
  if (!response.ok || error) {
    throw new ApiError(response.status, error?.code ?? '', error?.message ?? `${response.status} ${response.statusText}`);
  }
  return answer;
}

/** Call an operation: what it answers, or an ApiError with the words of the daemon. */
export async function op(name, input = {}, signal = undefined) {
  const response = await fetch(`${base}/maki/ops/${name}`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(input), signal,
  });
  return answerOf(response);
}

export const health = () => fetch(`${base}/maki/health`).then(answerOf);
export const playDemo = () => fetch(`${base}/maki/demo`, { method: 'POST' }).then(answerOf);

/**
 * Listen to what happens in the daemon.  `onEvent(event)` for each event, `onState(connected)` when the connection opens
 * or breaks; it is opened again until close() is called.
 */
export function listen(onEvent, onState) {
  let source = null, timer = null;
  const open = () => {
    source = new EventSource(`${base}/maki/events`);
    source.onopen = () => onState(true);
    source.onmessage = (message) => onEvent(JSON.parse(message.data));
    source.onerror = () => {
      onState(false);
      if (source.readyState !== EventSource.CLOSED) return; // the browser opens it again
      clearTimeout(timer);
      timer = setTimeout(open, 1000);
    };
  };
  open();
  return () => { clearTimeout(timer); source.close(); };
}
