// tap.mjs -- a reporter for node's test runner that prints plain TAP, with failures as comments.
// (The built-in reporter adds YAML blocks with free text, which meson reports as invalid.)
const comment = (text) => String(text).split('\n').map((line) => `#   ${line}\n`).join('');

function why(error) {
  const cause = error.cause ?? error;
  return comment(cause.stack ?? cause.message ?? cause);
}

export default async function* tap(events) {
  let count = 0;
  for await (const { type, data } of events) {
    if (type === 'test:pass' && data.nesting === 0) {
      yield `ok ${++count} - ${data.name}${data.skip ? ' # SKIP' : ''}\n`;
    } else if (type === 'test:fail' && data.nesting === 0) {
      yield `not ok ${++count} - ${data.name}\n${why(data.details.error)}`;
    } else if (type === 'test:diagnostic' && data.nesting <= 1 && !/^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /.test(data.message)) {
      yield comment(data.message);
    }
  }
  yield `1..${count}\n`;
}
