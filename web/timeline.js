// timeline.js -- the timeline of a conversation: its messages, steps and errors in order, only the visible ones in the document.
import { Component, html } from './lib/preact.js';
import { isPaired, Message, Waiting } from './message.js';
import { Fold, Step } from './step.js';
import { Messages, Steps } from './stores.js';
import * as steer from './steer.js';
import { t } from './text.js';
import { errorKey, stepKey, TimelineRows } from './timeline_rows.js';
import { VirtualList } from './virtual_list.js';

/**
 * `outline` as session.outline answers it; `target`: { seq } or { ev } to scroll to; `scroller()`; `onRequest(ev)`;
 * `onEdit(seq)`; `onCompare(step)`; `onError(error)`; `revision`: a number that grows when something happened.
 */
export class Timeline extends Component {
  opened = new Set(); // the numbers with which unfolded ranges begin

  constructor(props) {
    super(props);
    const changed = (error) => {
      if (error) this.props.onError(error);
      if (this.visible) this.load(this.visible.first, this.visible.last); // what is still missing
      this.setState({}); // the same rows, drawn again
    };
    this.messages = new Messages(props.outline.id, changed);
    this.steps = new Steps(props.outline.id, changed);
    this.unfold(props.target, props.outline);
    this.state = { rows: new TimelineRows(props.outline, this.opened) };
  }

  componentWillReceiveProps(next) {
    const unfolded = next.target !== this.props.target && this.unfold(next.target, next.outline);
    if (next.outline !== this.props.outline) {
      this.messages.invalidate();
      this.steps.invalidate();
    } else if (!unfolded) {
      return;
    }
    this.setState({ rows: new TimelineRows(next.outline, this.opened) });
  }

  /** Unfold the range with the message that is asked for; was one folded? */
  unfold(target, outline) {
    const fold = target?.seq && outline.rows.find(([kind, from, to]) => kind === 'h' && from <= target.seq && target.seq <= to);
    if (!fold || this.opened.has(fold[1])) return false;
    this.opened.add(fold[1]);
    return true;
  }

  toggle(from) {
    if (!this.opened.delete(from)) this.opened.add(from);
    this.setState({ rows: new TimelineRows(this.props.outline, this.opened) });
  }

  load(first, last) {
    const { ranges, evs } = this.state.rows.needs(first, last);
    for (const [from, to] of ranges) this.messages.need(from, to, this.props.outline.last);
    if (evs.length) this.steps.need(evs);
    this.visible = { first, last };
  }

  /** Is message `seq` shown with a call of this one? */
  answers(message, seq) {
    return seq > 0 && message.parts.some((part) => part.type === 'call' && this.messages.resultOf(part.id)?.seq === seq);
  }

  /** What can be done with a message. */
  actionsOf = (message) => {
    const { outline, onEdit } = this.props, { id } = outline, { seq } = message;
    if (!steer.canSteer(outline)) return [];
    if (message.hidden) {
      return [{ name: 'expand', label: t('expand'), run: () => steer.expand(id, seq) }, { name: 'rewind', label: t('rewindHere'), run: () => steer.rewind(id, seq) }];
    }
    const actions = [
      { name: 'pin', label: t(message.pinned ? 'unpin' : 'pin'), run: () => steer.pin(id, seq, !message.pinned) },
      { name: 'edit', label: t('edit'), run: () => onEdit(seq) },
      { name: 'delete', label: t('delete'), run: () => steer.remove(id, seq) },
      { name: 'fork', label: t('fork'), run: () => steer.fork(id, seq) },
      { name: 'rewind', label: t('rewindHere'), run: () => steer.rewind(id, seq) },
    ];
    if (message.shortened) actions.unshift({ name: 'expand', label: t('expand'), run: () => steer.expand(id, seq) });
    return message.role === 'user' || message.role === 'assistant' ? actions : actions.filter((a) => a.name !== 'edit');
  };

  renderMessage({ seq, hidden }) {
    const { outline, target, onRequest } = this.props;
    const message = this.messages.get(seq);
    if (!message) return html`<div class="row"><small>${seq}</small><${Waiting} error=${this.messages.errorOf(seq)}/></div>`;
    if (isPaired(message, this.messages)) return null;
    return html`<div class=${`row ${hidden || message.hidden ? 'gone' : ''}`}><small><a href=${`#/c/${encodeURIComponent(outline.id)}/m/${seq}`}>${seq}</a></small>
      <${Message} id=${outline.id} message=${message} store=${this.messages} actionsOf=${this.actionsOf} onRequest=${onRequest}
        selected=${target?.seq === seq || this.answers(message, target?.seq)}/></div>`;
  }

  renderRow(index) {
    const { outline, target } = this.props;
    const row = this.state.rows.at(index);
    if (row.kind === 'message') return this.renderMessage(row);
    if (row.kind === 'fold') return html`<div class="row"><small></small><${Fold} row=${row} onToggle=${() => this.toggle(row.from)}/></div>`;
    const step = this.steps.get(row.ev);
    return html`<div class="row"><small></small>${step ? html`<${Step} step=${step} id=${outline.id} selected=${target?.ev === row.ev}
      onCompare=${this.props.onCompare} onUndo=${steer.canSteer(outline) ? (s) => steer.undo(outline.id, s.ev) : null}/>` : html`<div class="event waiting"></div>`}</div>`;
  }

  render({ outline, target, scroller, label }, { rows }) {
    const isError = target?.ev && outline.errors.some((e) => e.ev === target.ev);
    const focusKey = target?.seq ?? (target?.ev ? (isError ? errorKey(target.ev) : stepKey(target.ev)) : null);
    return html`<${VirtualList} class="timeline" label=${label} rows=${rows} scroller=${scroller} focusKey=${focusKey}
      onRange=${(first, last) => this.load(first, last)} renderRow=${(i) => this.renderRow(i)}/>`;
  }
}
