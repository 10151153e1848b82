// markdown.js -- Markdown as elements of the page: what models write of CommonMark, with tables, task lists and strikethrough.
//
// Text becomes text, never HTML: tags are shown as they are written, images as links, and links go to http, https and mailto
// only.  Hostile texts cost no more than long ones: the search for the ends of marks and links has a limit.
import { html } from './lib/preact.js';

const LONGEST = 60_000; // characters; a longer text is shown as it is
const DEPTH = 8; // lists and quotes within each other
const SEARCHES = 20_000; // for ends of marks and links, in one text
const REACH = 2000; // characters from the beginning of a mark or link to its end

const SAFE = /^(https?:|mailto:)/i;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)/;
const HEADING = /^ {0,3}(#{1,6})(?:\s+(.*?))?\s*#*\s*$/;
const RULE = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const ITEM = /^( {0,8})([-*+]|\d{1,9}[.)])(?:\s+(.*)|)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const TABLE_LINE = /^ {0,3}\|?\s*:?-{1,}:?\s*(?:\|\s*:?-{1,}:?\s*)*\|?\s*$/;

/** Lines of a diff, added and removed ones marked. */
export function diff(text) {
  const lines = text.split('\n');
  const isHeader = (i) => (lines[i]?.startsWith('--- ') && lines[i + 1]?.startsWith('+++ ')) || (lines[i]?.startsWith('+++ ') && lines[i - 1]?.startsWith('--- '));
  return lines.map((line, i) => {
    const kind = line.startsWith('@@') || isHeader(i) ? 'hunk' : line[0] === '+' ? 'added' : line[0] === '-' ? 'removed' : '';
    return html`<span class=${`line ${kind}`}>${line || ' '}</span>`;
  });
}

/** A summary: a heading directly after a list begins a paragraph, it does not continue the list's last item. */
export const separated = (text) => text.replace(/^([-*] .*)\n(?=[^\s*-])/gm, '$1\n\n');

// ---- inside a line -----------------------------------------------------------------------------------

const link = (href, children) => (SAFE.test(href) ? html`<a href=${href} target="_blank" rel="noopener noreferrer">${children}</a>` : children);

const MARKS = [['**', 'strong'], ['__', 'strong'], ['~~', 'del'], ['*', 'em'], ['_', 'em']];
const isWord = (c) => c !== undefined && /[\p{L}\p{N}_]/u.test(c);
const isSpace = (c) => c === undefined || /\s/.test(c);

let searches = 0; // left in this text

/** Where the mark that opened before `from` closes; -1: it does not. */
function closing(whole, mark, from) {
  const text = whole.slice(0, from + REACH + mark.length);
  for (let i = text.indexOf(mark, from); i >= 0 && searches-- > 0; i = text.indexOf(mark, i + 1)) {
    if (isSpace(text[i - 1]) || i === from) continue;
    if (mark.length === 1 && (text[i + 1] === mark || text[i - 1] === mark)) continue;
    if (mark[0] === '_' && isWord(text[i + mark.length])) continue;
    return i;
  }
  return -1;
}

/** [text](address), and what follows it; null: it is none; undefined: there is none after it either. */
function linkAt(whole, from) {
  if (searches-- <= 0) return null;
  const text = whole.slice(0, from + 2 * REACH), end = text.slice(0, from + REACH).indexOf('](', from);
  if (end < 0) return from + REACH >= whole.length ? undefined : null;
  const words = text.slice(from + 1, end);
  if (words.includes(']') && !/^[^[\]]*(?:\[[^[\]]*\][^[\]]*)*$/.test(words)) return null;
  let depth = 1, i = end + 2;
  for (; i < text.length && depth && text[i] !== '\n'; i++) depth += text[i] === '(' ? 1 : text[i] === ')' ? -1 : 0;
  if (depth) return null;
  const href = text.slice(end + 2, i - 1).trim().replace(/\s+["'(].*$/, '').replace(/^<(.*)>$/, '$1');
  return { words, href, next: i };
}

function inline(text, depth = 0) {
  const out = [];
  let plain = 0, i = 0;
  const missing = new Set(); // marks that close nowhere after here: not searched again
  const put = (end, element, next) => {
    if (end > plain) out.push(text.slice(plain, end));
    out.push(element);
    plain = i = next;
  };
  while (i < text.length) {
    const c = text[i];
    if (c === '\\' && /[!-/:-@[-`{-~]/.test(text[i + 1] ?? '')) {
      put(i, text[i + 1], i + 2);
    } else if (c === '`') {
      const ticks = /^`+/.exec(text.slice(i, i + 20))[0];
      let end = missing.has(ticks) ? -1 : text.indexOf(ticks, i + ticks.length);
      while (end >= 0 && text[end + ticks.length] === '`') end = text.indexOf(ticks, end + ticks.length + 1);
      if (end < 0) {
        missing.add(ticks);
        i += ticks.length;
      } else {
        put(i, html`<code>${text.slice(i + ticks.length, end).replace(/^ (.+) $/s, '$1')}</code>`, end + ticks.length);
      }
    } else if (c === '[' || (c === '!' && text[i + 1] === '[')) {
      const found = depth < DEPTH && !missing.has('[') ? linkAt(text, c === '!' ? i + 1 : i) : null;
      if (found === undefined) missing.add('[');
      if (found) put(i, link(found.href, c === '!' ? `[${found.words || found.href}]` : inline(found.words, depth + 1)), found.next);
      else i++;
    } else if (c === '<' && /^<https?:[^\s<>]{1,2000}>/.test(text.slice(i, i + 2010))) {
      const end = text.indexOf('>', i);
      put(i, link(text.slice(i + 1, end), text.slice(i + 1, end)), end + 1);
    } else if (c === 'h' && /^https?:\/\//.test(text.slice(i, i + 8)) && !isWord(text[i - 1])) {
      const href = /^[^\s<>"'`\u3000-\u303F\uFF00-\uFFEF]+/.exec(text.slice(i, i + 2000))[0].replace(/[.,:;!?)\]*_]+$/, '');
      put(i, link(href, href), i + href.length);
    } else if (c === '*' || c === '_' || c === '~') {
      const found = depth < DEPTH && MARKS.find(([mark]) => text.startsWith(mark, i) && !missing.has(mark));
      const opens = found && !isSpace(text[i + found[0].length]) && !(c === '_' && isWord(text[i - 1]));
      const end = opens ? closing(text, found[0], i + found[0].length) : -1;
      if (end >= 0) {
        put(i, html`<${found[1]}>${inline(text.slice(i + found[0].length, end), depth + 1)}<//>`, end + found[0].length);
      } else {
        if (opens && i + REACH >= text.length) missing.add(found[0]);
        i += found ? found[0].length : 1;
      }
    } else {
      i++;
    }
  }
  if (plain < text.length) out.push(text.slice(plain));
  return out;
}

// ---- lines -------------------------------------------------------------------------------------------

const cells = (line) => line.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));

function table(lines, i) {
  const head = cells(lines[i]);
  const rows = [];
  let end = i + 2;
  for (; end < lines.length && lines[end].includes('|') && lines[end].trim(); end++) rows.push(cells(lines[end]).slice(0, head.length));
  return [html`<div class="scroll" tabindex="0"><table><thead><tr>${head.map((cell) => html`<th>${inline(cell)}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`)}</tbody></table></div>`, end];
}

function code(lines, i, [, fence, language]) {
  let end = i + 1;
  while (end < lines.length && !(lines[end].trim().startsWith(fence) && /^(`+|~+)$/.test(lines[end].trim()))) end++;
  const text = lines.slice(i + 1, end).join('\n');
  return [html`<pre class="code" tabindex="0"><code>${language === 'diff' || language === 'patch' ? diff(text) : text}</code></pre>`, end + 1];
}

function list(lines, i, depth) {
  const ordered = /\d/.test(ITEM.exec(lines[i])[2]), start = parseInt(ITEM.exec(lines[i])[2], 10), items = [];
  const indent = ITEM.exec(lines[i])[1].length;
  while (i < lines.length) {
    const item = ITEM.exec(lines[i]);
    if (!item || item[1].length > indent + 3 || item[1].length < indent - 3 || /\d/.test(item[2]) !== ordered || RULE.test(lines[i])) break;
    const inner = [item[3] ?? ''], width = item[1].length + item[2].length + 1;
    for (i++; i < lines.length; i++) {
      const line = lines[i], spaces = /^ */.exec(line)[0].length;
      if (!line.trim()) {
        if (!/^ /.test(lines[i + 1] ?? '')) break;
      } else if (spaces < Math.min(width, indent + 2) && (ITEM.test(line) || FENCE.test(line) || HEADING.test(line) || !lines[i - 1].trim())) {
        break;
      }
      inner.push(line.slice(Math.min(spaces, width)));
    }
    while (i < lines.length && !lines[i].trim() && ITEM.test(lines[i + 1] ?? '')) i++;
    const task = /^\[([ xX])\] /.exec(inner[0]);
    if (task) inner[0] = inner[0].slice(4);
    items.push(html`<li>${task && html`<input type="checkbox" disabled checked=${task[1] !== ' '} aria-label=${inner[0]}/>`}${blocks(inner, depth + 1, true)}</li>`);
  }
  return [ordered ? html`<ol start=${start}>${items}</ol>` : html`<ul>${items}</ul>`, i];
}

function quote(lines, i, depth) {
  const inner = [];
  for (; i < lines.length && QUOTE.test(lines[i]); i++) inner.push(QUOTE.exec(lines[i])[1]);
  return [html`<blockquote>${blocks(inner, depth + 1)}</blockquote>`, i];
}

const begins = (line, next) => FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line)
  || (line.includes('|') && TABLE_LINE.test(next ?? '') && next.includes('-'));

/** `tight`: of a list's item, whose only paragraph has no space around it. */
function blocks(lines, depth = 0, tight = false) {
  const out = [];
  for (let i = 0; i < lines.length;) {
    const line = lines[i], next = lines[i + 1] ?? '';
    let match, element = null;
    if (!line.trim()) i++;
    else if ((match = FENCE.exec(line))) [element, i] = code(lines, i, match);
    else if ((match = HEADING.exec(line))) [element, i] = [html`<p class=${`heading h${match[1].length}`}>${inline(match[2] ?? '')}</p>`, i + 1];
    else if (RULE.test(line)) [element, i] = [html`<hr/>`, i + 1];
    else if (depth < DEPTH && QUOTE.test(line)) [element, i] = quote(lines, i, depth);
    else if (depth < DEPTH && ITEM.test(line)) [element, i] = list(lines, i, depth);
    else if (line.includes('|') && TABLE_LINE.test(next) && next.includes('-')) [element, i] = table(lines, i);
    else {
      let end = i + 1;
      while (end < lines.length && lines[end].trim() && !(depth < DEPTH && begins(lines[end], lines[end + 1]))) end++;
      const text = inline(lines.slice(i, end).join('\n'));
      element = tight && out.length === 0 ? text : html`<p>${text}</p>`;
      i = end;
    }
    if (element) out.push(element);
  }
  return out;
}

export function Markdown({ text }) {
  if (text.length > LONGEST) return html`<div class="plain">${text}</div>`;
  searches = SEARCHES;
  return html`<div class="markdown">${blocks(text.replaceAll('\r\n', '\n').split('\n'))}</div>`;
}
