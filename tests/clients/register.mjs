// register.mjs -- `import OpenAI from 'openai'` in these tests means the package in build/clients/sdk.
import { register } from 'node:module';

register('./resolve.mjs', import.meta.url);
