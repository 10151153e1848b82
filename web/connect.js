// connect.js -- how an agent is connected, in three steps with lines to copy, and the button that plays the demo.
import { html, useState } from './lib/preact.js';
import { address, playDemo } from './api.js';
import { t } from './text.js';
import { toast } from './toast.js';

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t('copied'));
  } catch {
    toast(t('copyFailed'));
  }
}

/** A line that is too long breaks before the address, not in it. */
const breakable = (line) => line.split(/(?<==)/).map((part, i) => (i ? html`<wbr/>${part}` : part));

function Lines({ lines }) {
  return html`<ul class="lines">${lines.map((line) => html`<li><code>${breakable(line)}</code>
    <button class="btn" onClick=${() => copy(line)} aria-label=${t('copyLine', { line })}>${t('copy')}</button></li>`)}</ul>`;
}

function Demo() {
  const [playing, setPlaying] = useState(false);
  const play = async () => {
    setPlaying(true);
    try {
      await playDemo();
      toast(t('demoPlays'));
    } catch (error) {
      toast(error.message, { bad: true });
    }
    setPlaying(false);
  };
  return html`<button class="btn main" disabled=${playing} onClick=${play}>${t('demoPlay')}</button>`;
}

export function Connect({ first }) {
  const agents = ['claude', 'codex', 'opencode', 'pi', 'qwen', 'gemini'];
  const variables = [`ANTHROPIC_BASE_URL=${address}`, `OPENAI_BASE_URL=${address}/v1`, `OLLAMA_HOST=${address}`, `GOOGLE_GEMINI_BASE_URL=${address}`];
  return html`<section class="connect" aria-label=${t('connectTitle')}>
    ${first && html`<h1>${t('welcome')}</h1><p class="dim">${t('welcomeText')}</p>`}
    <ol class="steps">
      <li><h2>${t('connectAgent')}</h2><p>${t('connectAgentText')}</p><${Lines} lines=${agents.map((a) => `maki connect ${a}`)}/></li>
      <li><h2>${t('connectProgram')}</h2><p>${t('connectProgramText')}</p><${Lines} lines=${variables}/></li>
      <li><h2>${t('connectDemo')}</h2><p>${t('connectDemoText')}</p><p><${Demo}/></p></li>
    </ol></section>`;
}
