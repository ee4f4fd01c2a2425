// One row of a timeline: a message, or, centred, an event of the room. Above it the day and the mark of new messages.
// It is drawn again only when one of its properties has changed.
import { h, Component } from '../dom.js';
import { change } from '../state.js';
import { t } from '../words.js';
import { clock, number } from '../format.js';
import { unhide } from '../model/blocked.js';
import { find } from '../model/timeline.js';
import { openSheet } from '../route.js';
import { showPacket } from '../actions/packets.js';
import { Time, Avatar } from './parts.js';
import { Said } from './line-said.js';

export class Line extends Component {
  shouldComponentUpdate(next) {
    for (const name in next) if (next[name] !== this.props[name]) return true;
    return false;
  }

  render(props) {
    const { item, day, fresh, own, head, lit, sending, hidden } = props;
    const said = item.kind === 'text' || item.kind === 'packet';
    const classes = ['line', own && said && 'own', head && 'head', lit && 'lit', sending && 'unsent', hidden < 0 && 'passed'].filter(Boolean).join(' ');
    return h('li', { class: classes, 'data-seq': item.seq || undefined, 'aria-hidden': hidden < 0 && !day && !fresh || undefined },
    day && h('h2', { class: 'day-line' }, h('span', null, day)),
    fresh && h('p', { class: 'new-line' }, h('span', null, fresh)),
    hidden ? hidden > 0 && h(Hidden, props) : said ? h('div', { class: 'line-row' }, !own && h(Face, props), h(Said, props)) : h(Calm, props));
  }
}

/** The sender's picture beside the first row of a group. */
function Face({ head, item }) {
  if (!head) return h('span', { class: 'no-face' });
  const open = () => openSheet('person', item.from.id);
  return h('button', { class: 'face', type: 'button', tabIndex: -1, 'aria-hidden': 'true', onClick: open }, h(Avatar, { user: item.from }));
}

/** Messages of people whom the user has blocked. */
function Hidden({ view, item, hidden }) {
  const show = () => change(() => unhide(view, find(view.timeline, item.seq)));
  return h('p', { class: 'hidden-texts' }, h('button', { class: 'button quiet small', type: 'button', onClick: show }, t('timeline.blocked', { count: hidden, shown: number(hidden) })));
}

/** An event of the room. */
function Calm({ item, words }) {
  const text = h('span', null, words);
  return h('p', { class: 'calm' },
    item.kind === 'packet_done' ? h('button', { type: 'button', onClick: () => showPacket(item.body.packet) }, text) : text,
    ' ', h(Time, { at: item.at }, clock(item.at)));
}
