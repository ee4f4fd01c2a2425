// The sheet with the messages in which the user is mentioned.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { brief } from '../format.js';
import { openAt } from '../actions/history.js';
import { moreMentions, renewMentions } from '../actions/mentions.js';
import { mentions } from '../model/mentions.js';
import { nameOf } from '../model/rooms.js';
import { gist } from './line-text.js';
import { Endless } from './endless.js';
import { Avatar, Time } from './parts.js';

export class Mentions extends Component {
  componentDidMount() { renewMentions(); }

  render() {
    const all = mentions();
    const pages = state.mentions;
    return h('div', { class: 'stack' },
      h('ul', { class: 'panel-list' }, all.map(({ room, item }) => h('li', { key: `${room}/${item.seq}` }, h(Row, { view: state.rooms.get(room), item })))),
      pages.complete && !all.length && h('p', { class: 'muted mentions-none' }, t('mentions.none')),
      h(Endless, { pages, first: renewMentions, more: moreMentions }));
  }
}

function Row({ view, item }) {
  return h('button', { class: 'panel-row', type: 'button', onClick: () => openAt(view, item.seq) },
    h(Avatar, { user: item.from }),
    h('span', { class: 'grow' },
      h('span', { class: 'row' },
        h('strong', { class: 'cut grow', dir: 'auto' }, t('news.in', { name: item.from.name || item.from.id, room: nameOf(view) })),
        item.seq > view.readSeq && h('i', { class: 'mentions-new' }, h('span', { class: 'only-read' }, t('timeline.newLine'))),
        h('span', { class: 'muted small' }, h(Time, { at: item.at }, brief(item.at)))),
      h('span', { class: 'two-lines muted', dir: 'auto' }, gist(item))));
}
