// The view for a link to a room that the user is not in.
import { h, Component } from '../dom.js';
import { t, inWords } from '../words.js';
import { state } from '../state.js';
import { go } from '../route.js';
import { joinRoom } from '../actions/rooms.js';
import { LinkBar } from './link.js';
import { IconButton } from './parts.js';

/** Props: id, of the room. */
export class Join extends Component {
  state = { isJoining: false, error: null };

  async join() {
    if (this.state.isJoining) return;
    this.setState({ isJoining: true, error: null });
    try {
      await joinRoom(this.props.id, state.route.sheet);
    } catch (error) {
      this.setState({ isJoining: false, error });
    }
  }

  render(_, { isJoining, error }) {
    const leave = () => go({ room: null, sheet: null }, { replace: true });
    return [
      !state.wide && h('header', { class: 'bar', key: 'bar' },
        h(IconButton, { icon: 'back', label: t('back'), onClick: leave })),
      h(LinkBar, { key: 'link' }),
      h('div', { class: 'empty', key: 'join' },
        h('h1', null, t('rooms.join')),
        h('p', { role: error ? 'alert' : undefined }, error ? joinWords(error) : t(state.route.sheet?.name === 'packet' ? 'rooms.joinPacket' : 'rooms.joinWhy')),
        h('div', { class: 'row' },
          h('button', { class: 'button', type: 'button', onClick: leave }, t('rooms.notNow')),
          h('button', { class: 'button primary', type: 'button', disabled: isJoining, onClick: () => this.join() },
            isJoining && h('span', { class: 'spinner', 'aria-hidden': 'true' }), t(error ? 'again' : 'find.join')))),
    ];
  }
}

function joinWords(error) {
  if (error.word === 'not_found' || error.word === 'bad_request') return t('rooms.joinUnknown');
  return error.word === 'forbidden' && !error.fields.field ? t('rooms.joinPrivate') : inWords(error);
}
