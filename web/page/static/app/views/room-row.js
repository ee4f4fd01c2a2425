// One room in the list. It is drawn again only when it has changed, because other rooms change all the time.
import { h, Component, createRef } from '../dom.js';
import { t } from '../words.js';
import { go } from '../route.js';
import { Avatar, Time } from './parts.js';
import { Icon } from './icon.js';
import { RoomSign } from './room-line.js';

export class RoomRow extends Component {
  item = createRef();

  shouldComponentUpdate(next) {
    return Object.keys(next).some((name) => next[name] !== this.props[name]);
  }

  componentDidMount() { this.props.sight.observe(this.item.current); }

  componentWillUnmount() { this.props.sight.unobserve(this.item.current); }

  render({ id, kind, name, other, isCurrent, mark, text, at, time, unread, shown, waiting, mute, silent, pinned }) {
    return h('li', { ref: this.item, 'data-room': id },
      h('a', {
        class: 'room-row', href: `#/room/${encodeURIComponent(id)}`, 'aria-current': isCurrent ? 'page' : undefined,
        onClick: (e) => open(e, id),
      },
      kind === 'direct' ? h(Avatar, { user: other }) : h(RoomSign, { id, name }),
      h('span', { class: 'room-row-words' },
        h('span', { class: 'room-row-line' },
          h('strong', { class: 'cut', dir: 'auto' }, name),
          kind === 'private' && h(Mark, { icon: 'lock', means: t('newRoom.private') }),
          mute && h(Mark, { icon: 'muted', means: t('rooms.muted') }),
          silent && h(Mark, { icon: 'silent', means: t('prefs.silent') }),
          pinned && h(Mark, { icon: 'pin', means: t('prefs.pinned') }),
          h('span', { class: 'grow' }),
          at > 0 && h('span', { class: 'room-row-time muted number' }, h(Time, { at }, time))),
        h('span', { class: 'room-row-line' },
          h('span', { class: 'room-row-last muted cut grow' },
            mark && h('span', { class: 'room-row-mark' }, mark, ' '), h('span', { dir: 'auto' }, text)),
          waiting > 0 && h('span', { class: 'room-row-waiting' },
            h(Icon, { name: 'envelope', size: 16 }), h('span', { class: 'only-read' }, t('timeline.packetsWait', { count: waiting, shown: waiting }))),
          unread > 0 && h('span', { class: `badge number ${silent ? 'quiet' : ''}` },
            h('span', { 'aria-hidden': 'true' }, shown), h('span', { class: 'only-read' }, t('rooms.unread', { count: unread })))))));
  }
}

/** A small icon beside the name. */
function Mark({ icon, means }) {
  return h('span', { class: 'room-row-kind muted' }, h(Icon, { name: icon, size: 14 }), h('span', { class: 'only-read' }, means));
}

/** @param {MouseEvent} e @param {string} id */
function open(e, id) {
  if (e.ctrlKey || e.metaKey || e.shiftKey) return; // into another tab
  e.preventDefault();
  go({ room: id });
}
