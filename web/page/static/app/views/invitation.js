// What an invite link leads to: the room, some of its members, and the red packet that it was shared for. And the room that an address leads to.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { number } from '../format.js';
import { inWords, t } from '../words.js';
import { peopleIn } from '../model/rooms.js';
import { loadInvitation, previewRoom } from '../actions/invitation.js';
import { Avatar, Loading } from './parts.js';

const named = 3; // members that are named

/** Props: code. */
export class Invitation extends Component {
  componentDidMount() { this.load(); }

  componentDidUpdate({ code }) { if (code !== this.props.code) this.load(); }

  load() { loadInvitation(this.props.code, state.route.sheet?.id); }

  render({ code }) {
    const opened = state.invitation?.code === code ? state.invitation : null;
    if (opened?.error) return h('p', { class: 'problem', role: 'alert' }, inWords(opened.error));
    if (!opened?.preview) return h(Loading, null);
    const { room, by, people, packet } = opened.preview;
    const names = people.slice(0, named).map((face) => face.name);
    return h('section', { class: 'invitation', 'aria-label': t('invitation.title') },
      packet && h('p', { class: 'invitation-packet' },
        h('strong', null, t('invitation.packet', { name: packet.from.name })),
        h('span', { dir: 'auto' }, packet.greeting)),
      h('div', { class: 'invitation-people' }, people.map((face, i) => h(Avatar, { key: i, user: { ...face, id: face.name } }))),
      h('p', { class: 'muted' }, t('invitation.by', { name: by.name })),
      h('h2', { class: 'invitation-room', dir: 'auto' }, room.name),
      h('p', { class: 'muted small' },
        t('room.members', { count: room.members, shown: number(room.members) }), ' · ', t('invitation.withYou', { names, more: room.members > names.length })),
      opened.preview.approval && h('p', { class: 'small' }, t('invitation.approval')),
      room.guests === false && state.by !== 'host' && h('p', { class: 'problem' }, t('invitation.noGuests')));
  }
}

/** The room of an address, at the door. Props: id. */
export class RoomPreview extends Component {
  state = { room: null };

  async componentDidMount() {
    const room = await previewRoom(this.props.id).catch(() => null); // then the link leads to a room without a name
    if (!this.gone) this.setState({ room });
  }

  componentWillUnmount() { this.gone = true; }

  render(_, { room }) {
    return h('div', { class: 'invitation' },
      h(NamedRoom, { room }),
      room?.guests === false && h('p', { class: 'problem' }, t('invitation.noGuests')));
  }
}

/** The room of an address; until it is known, and if it is not public, what the link is. */
export function NamedRoom({ room }) {
  const isPacket = state.route.sheet?.name === 'packet';
  return h('div', { class: 'join-room' },
    room && h('h2', { class: 'invitation-room', dir: 'auto' }, room.name),
    room && h('p', { class: 'small' }, t('room.members', { count: peopleIn(room), shown: number(peopleIn(room)) })),
    (isPacket || !room) && h('p', null, t(isPacket ? 'rooms.joinPacket' : 'rooms.joinWhy')));
}
