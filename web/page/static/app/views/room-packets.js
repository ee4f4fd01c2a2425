// The red packets of a room: those that are open, those of the user, and those that have ended.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { brief, money } from '../format.js';
import { openSheet } from '../route.js';
import { isUntold } from '../model/draws.js';
import { packetsOf, packetParts } from '../model/room-packets.js';
import { moreRoomPackets, renewRoomPackets } from '../actions/room-packets.js';
import { Endless } from './endless.js';
import { standing } from './envelope-words.js';
import { Icon } from './icon.js';
import { Time } from './parts.js';

export class RoomPackets extends Component {
  state = { part: packetParts[0] };

  componentDidMount() { this.renew(); }

  componentDidUpdate(_, before) { if (before.part !== this.state.part) this.renew(); }

  renew = () => { renewRoomPackets(this.props.view, this.state.part); };

  more = () => { moreRoomPackets(this.props.view, this.state.part); };

  render({ view }, { part }) {
    const pages = packetsOf(view, part);
    const shown = pages.items.map((id) => state.packets.get(id)).filter((packet) => packet && (part !== 'open' || packet.state.status === 'open'));
    return h('div', { class: 'stack tall' },
      h('div', { class: 'panel-switch', role: 'group', 'aria-label': t('roomPackets.which') }, packetParts.map((one) => h('button', {
        key: one, type: 'button', 'aria-pressed': part === one, onClick: () => this.setState({ part: one }),
      }, t(`roomPackets.of.${one}`)))),
      h('ul', { class: 'panel-list' }, shown.map((packet) => h('li', { key: packet.packet.id }, h(Row, { view: packet })))),
      pages.complete && !shown.length && h('p', { class: 'muted media-end' }, t(`roomPackets.none.${part}`)),
      h(Endless, { key: part, pages, keeps: true, first: this.renew, more: this.more }));
  }
}

function Row({ view }) {
  const { packet, state: { mine } } = view;
  return h('button', { class: 'panel-row', type: 'button', onClick: () => openSheet('packet', packet.id) },
    h('span', { class: 'panel-disc of-packet' }, h(Icon, { name: 'envelope', size: 20 })),
    h('span', { class: 'grow' },
      h('span', { class: 'two-lines', dir: 'auto' }, packet.greeting),
      h('span', { class: 'muted small cut line' }, h('bdi', null, nameOf(packet.from)), ' · ', h(Time, { at: packet.created_at }, brief(packet.created_at)), ' · ', standing(view))),
    mine && !isUntold(packet.id) && h('span', { class: 'number amount plus' }, money(mine.amount)));
}

function nameOf(user) { return user.id === state.me?.id ? t('you') : user.name || user.id; }
