// resolve.mjs -- the loader of register.mjs: packages that the tests here import by name come from build/clients/sdk.
const here = new URL('.', import.meta.url).href;
const sdk = new URL('../../build/clients/sdk/package.json', import.meta.url).href;

export function resolve(name, context, next) {
  const bare = !name.startsWith('.') && !name.includes(':') && !name.startsWith('/');
  const ours = bare && context.parentURL?.startsWith(here);
  return next(name, ours ? { ...context, parentURL: sdk } : context);
}
