// resolve.mjs -- see register.mjs.  Only what is imported by name from here is looked for there.
const here = new URL('.', import.meta.url).href;
const sdk = new URL('../../build/clients/sdk/package.json', import.meta.url).href;

export function resolve(name, context, next) {
  const bare = !name.startsWith('.') && !name.includes(':') && !name.startsWith('/');
  const ours = bare && context.parentURL?.startsWith(here);
  return next(name, ours ? { ...context, parentURL: sdk } : context);
}
