// virtual_list.js -- a list of any length of which only the visible rows are in the document.
//
// Rows have keys and any height: a row that was never shown has an estimated one, and each is measured when it is.  The
// heights are in a Fenwick tree, so a position is found in logarithmic time.  What the reader looks at stays in place when
// rows above it change their height, or come and go; a reader at the end stays at the end.
import { Component, html } from './lib/preact.js';

const OVERSCAN = 600; // pixels above and below the visible part

/** Sums of heights by index. */
class Heights {
  /** `each(fn)` calls fn(index, height) for every row. */
  constructor(count, each) {
    this.count = count;
    this.sums = new Float64Array(count + 1);
    each((index, height) => { this.sums[index + 1] = height; });
    for (let i = 1; i <= count; i++) {
      const parent = i + (i & -i);
      if (parent <= count) this.sums[parent] += this.sums[i];
    }
    this.top = 1;
    while (this.top * 2 <= count) this.top *= 2;
  }

  add(index, delta) {
    for (let i = index + 1; i <= this.count; i += i & -i) this.sums[i] += delta;
  }

  /** The sum of the heights before row `index`. */
  before(index) {
    let sum = 0;
    for (let i = Math.min(index, this.count); i > 0; i -= i & -i) sum += this.sums[i];
    return sum;
  }

  /** The row at this height. */
  find(y) {
    let index = 0, rest = y;
    for (let step = this.top; step >= 1; step /= 2) {
      if (index + step <= this.count && this.sums[index + step] <= rest) {
        index += step;
        rest -= this.sums[index];
      }
    }
    return Math.min(index, Math.max(0, this.count - 1));
  }
}

/** Measured heights by key, 0 for those that were not measured; in blocks, so that a long list costs 4 bytes a row. */
class Measured {
  blocks = new Map();
  others = new Map();

  get(key) {
    if (!Number.isInteger(key) || key < 0) return this.others.get(key) ?? 0;
    return this.blocks.get(key >> 12)?.[key & 4095] ?? 0;
  }

  set(key, height) {
    if (!Number.isInteger(key) || key < 0) {
      this.others.set(key, height);
      return;
    }
    let block = this.blocks.get(key >> 12);
    if (!block) this.blocks.set(key >> 12, block = new Float32Array(4096));
    block[key & 4095] = height;
  }
}

/**
 * Properties: `rows` with count, keyOf(index), indexOf(key), estimate(index) and each(fn(index, key, estimate)); a new object
 * whenever the rows changed, the same one when only what they show did.
 * `renderRow(index)`; `onRange(first, last)` after the visible rows changed; `scroller()`, the element that scrolls;
 * `focusKey`, a row to scroll to when it changes; `label` and `class` of the list.
 */
export class VirtualList extends Component {
  measured = new Measured();
  first = 0; // the rows in the document: first to last - 1
  last = 0;
  element = null;
  atEnd = false; // the reader scrolled to the end, and not back since
  top = 0; // where the scroller was at the last look

  constructor(props) {
    super(props);
    this.rebuild(props);
  }

  componentDidMount() {
    this.scroller = this.props.scroller();
    this.observer = new ResizeObserver((entries) => this.onResize(entries));
    this.onScroll = () => {
      this.noteEnd();
      this.update();
    };
    this.scroller.addEventListener('scroll', this.onScroll, { passive: true });
    addEventListener('resize', this.onScroll);
    if (this.props.focusKey != null) this.scrollTo(this.props.focusKey);
    this.update();
    this.observe();
  }

  componentWillUnmount() {
    this.observer.disconnect();
    this.scroller.removeEventListener('scroll', this.onScroll);
    removeEventListener('resize', this.onScroll);
  }

  componentWillReceiveProps(next) {
    this.anchor = this.position();
    if (next.rows !== this.props.rows) this.rebuild(next);
  }

  componentDidUpdate(before) {
    if (this.anchor) {
      this.restore(this.anchor);
      this.anchor = null;
    }
    if (this.props.focusKey != null && this.props.focusKey !== before.focusKey) this.scrollTo(this.props.focusKey);
    if (before.rows !== this.props.rows) this.update();
    this.observe();
  }

  rebuild({ rows }) {
    this.heights = new Heights(rows.count, (set) => rows.each((index, key, estimate) => set(index, this.measured.get(key) || estimate)));
    this.last = Math.min(this.last, rows.count);
    this.first = Math.min(this.first, this.last);
  }

  /** Where the list begins in what scrolls. */
  offset() {
    return this.element.getBoundingClientRect().top - this.scroller.getBoundingClientRect().top + this.scroller.scrollTop;
  }

  /** Is the reader at the end?  What grows below moves the end away; only who scrolls back leaves it. */
  noteEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    if (scrollHeight > clientHeight && scrollTop + clientHeight >= scrollHeight - 4) this.atEnd = true;
    else if (scrollTop < this.top - 1 || scrollHeight <= clientHeight) this.atEnd = false;
    this.top = scrollTop;
  }

  /** What the reader looks at: the first visible row and how far it is scrolled. */
  position() {
    const { rows } = this.props;
    if (!this.element || rows.count === 0) return null;
    this.noteEnd();
    const y = this.scroller.scrollTop - this.offset();
    if (this.atEnd) return { end: true };
    if (y <= 0) return null; // what is above the list is in view: nothing to keep
    const index = this.heights.find(y);
    return { key: rows.keyOf(index), into: y - this.heights.before(index) };
  }

  restore({ end, key, into }) {
    if (end) {
      this.scroller.scrollTop = this.scroller.scrollHeight;
      this.top = this.scroller.scrollTop;
      return;
    }
    const index = this.props.rows.indexOf(key);
    if (index >= 0) this.scroller.scrollTop = this.offset() + this.heights.before(index) + into;
  }

  scrollTo(key) {
    const index = this.props.rows.indexOf(key);
    if (index < 0) return;
    const third = this.scroller.clientHeight / 4;
    this.scroller.scrollTop = this.offset() + this.heights.before(index) - third;
    this.update();
  }

  update() {
    const { rows } = this.props;
    if (!this.element) return;
    const y = this.scroller.scrollTop - this.offset();
    const first = this.heights.find(Math.max(0, y - OVERSCAN));
    const last = Math.min(rows.count, this.heights.find(Math.max(0, y + this.scroller.clientHeight + OVERSCAN)) + 1);
    if (this.reported === rows && first === this.first && last === this.last) return;
    Object.assign(this, { first, last, reported: rows });
    this.setState({});
    this.props.onRange?.(first, last);
  }

  observe() {
    this.observer.disconnect();
    for (const row of this.element.children) if (row.dataset.index) this.observer.observe(row);
  }

  onResize(entries) {
    const { rows } = this.props, anchor = this.position();
    let changed = false;
    for (const { target } of entries) {
      const index = Number(target.dataset.index), height = target.getBoundingClientRect().height;
      if (index >= rows.count || !target.isConnected) continue;
      const key = rows.keyOf(index), known = this.measured.get(key) || rows.estimate(index);
      if (Math.abs(known - height) < 0.5) continue;
      this.measured.set(key, Math.max(0.01, height));
      this.heights.add(index, Math.max(0.01, height) - known);
      changed = true;
    }
    if (!changed) return;
    this.anchor = anchor;
    this.forceUpdate(() => this.update());
  }

  render({ rows, renderRow, label, class: name = '' }) {
    const { first, last } = this;
    const before = this.heights.before(first), after = this.heights.before(rows.count) - this.heights.before(last);
    const shown = [];
    for (let i = first; i < last; i++) {
      shown.push(html`<div key=${rows.keyOf(i)} data-index=${i} class="virtual-row" role="listitem" aria-setsize=${rows.count} aria-posinset=${i + 1}>
        ${renderRow(i)}</div>`);
    }
    return html`<div class=${name} role="list" aria-label=${label} ref=${(e) => { this.element = e; }}>
      <div style=${{ height: `${before}px` }}></div>${shown}<div style=${{ height: `${after}px` }}></div></div>`;
  }
}
