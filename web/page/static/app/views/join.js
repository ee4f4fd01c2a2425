// The view for a link to a room that the user is not in: its address, or an invite link.
import { h, Component } from '../dom.js';
import { t, inWords } from '../words.js';
import { state } from '../state.js';
import { go } from '../route.js';
import { roomOfCode } from '../actions/invitation.js';
import { joinByLink, joinRoom, openRoom, publicRoom } from '../actions/rooms.js';
import { Invitation, NamedRoom } from './invitation.js';
import { LinkBar } from './link.js';
import { IconButton } from './parts.js';

/** Props: id, of the room; or code, of the invite link. */
export class Join extends Component {
  state = { isJoining: false, isWaiting: false, error: null, /** @type {any} */ room: null }; // room: what an address leads to, once it is known

  componentDidMount() {
    const { code } = this.props;
    if (!code) this.look();
    else if (state.rooms.has(roomOfCode(code))) openRoom(roomOfCode(code), state.route.sheet);
    else if (state.invitation?.code === code && state.invitation.accepted) this.join();
  }

  componentWillUnmount() { this.gone = true; }

  async look() {
    const room = await publicRoom(this.props.id).catch(() => undefined); // then the link leads to a room without a name
    if (!this.gone && room) this.setState({ room });
  }

  /** The user was let in, or refused. */
  componentDidUpdate() {
    const room = this.state.isWaiting && roomOfCode(this.props.code);
    if (room && state.rooms.has(room)) openRoom(room, state.route.sheet);
    else if (room && state.refusedBy === room) this.setState({ isWaiting: false });
  }

  async join() {
    if (this.state.isJoining) return;
    state.refusedBy = '';
    this.setState({ isJoining: true, error: null });
    try {
      const { id, code } = this.props;
      if (code) this.setState({ isJoining: false, isWaiting: await joinByLink(code, state.route.sheet) });
      else await joinRoom(id, state.route.sheet);
    } catch (error) {
      this.setState({ isJoining: false, error });
    }
  }

  render({ code }, { isJoining, isWaiting, error, room }) {
    const isDead = Boolean(code && (error?.fields?.field === 'code' || state.invitation?.error));
    const isRefused = Boolean(code && !isWaiting && state.refusedBy === roomOfCode(code));
    const leave = () => go({ room: null, sheet: null }, { replace: true });
    return [
      !state.wide && h('header', { class: 'bar', key: 'bar' },
        h(IconButton, { icon: 'back', label: t('back'), onClick: leave })),
      h(LinkBar, { key: 'link' }),
      h('div', { class: 'empty', key: 'join' },
        h('h1', null, t(isWaiting ? 'rooms.waiting' : 'rooms.join')),
        code && h(Invitation, { code }),
        !code && (room || !error) && h(NamedRoom, { room }),
        isWaiting && h('p', { role: 'status' }, t('rooms.waitingMeans')),
        isRefused && h('p', { role: 'alert' }, t('rooms.refused')),
        error && h('p', { role: 'alert' }, joinWords(error)),
        h('div', { class: 'row' },
          h('button', { class: 'button', type: 'button', onClick: leave }, t(isWaiting ? 'back' : 'rooms.notNow')),
          !isDead && !isWaiting && h('button', { class: 'button primary', type: 'button', disabled: isJoining, onClick: () => this.join() },
            isJoining && h('span', { class: 'spinner', 'aria-hidden': 'true' }), t(error || isRefused ? 'again' : 'find.join')))),
    ];
  }
}

function joinWords(error) {
  if (error.fields?.field === 'code') return inWords(error);
  if (error.word === 'not_found' || error.word === 'bad_request') return t('rooms.joinUnknown');
  return error.word === 'forbidden' && !error.fields.field ? t('rooms.joinPrivate') : inWords(error);
}
