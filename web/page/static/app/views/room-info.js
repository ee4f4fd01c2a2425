// About a room: its description, its members, and the commands for it.
import { h, Component, Fragment } from '../dom.js';
import { t } from '../words.js';
import { number } from '../format.js';
import { governs, peopleIn } from '../model/rooms.js';
import { copy } from '../actions/copy.js';
import { Icon } from './icon.js';
import { openSheet } from '../route.js';
import { mayAttach } from '../model/files.js';
import { JoinRequests } from './join-requests.js';
import { Members } from './members.js';
import { PersonHead } from './person.js';
import { EditRoom } from './room-info-edit.js';
import { Ending } from './room-info-ending.js';
import { RoomPrefs } from './room-prefs.js';
import { RoomSettings } from './room-info-settings.js';

export function RoomInfo({ view }) {
  if (view.room.kind === 'direct') return h(AboutDirect, { view });
  return h('div', { class: 'info stack' },
    h(About, { view, key: view.room.id }),
    h(ToContents, null),
    h(RoomPrefs, { view }),
    governs(view) && h(JoinRequests, { view, asking: view.asking, key: `requests ${view.room.id}` }),
    governs(view) && h(RoomSettings, { view }),
    view.room.kind === 'public' && h(Share, { room: view.room }),
    h(Members, { view, key: `members ${view.room.id}` }),
    h(Ending, { view }));
}

function AboutDirect({ view }) {
  return h('div', { class: 'info stack' },
    view.other && h(PersonHead, { user: view.other }),
    h('p', { class: 'muted small about-direct' }, t('info.direct')),
    h(ToContents, null),
    h(RoomPrefs, { view }),
    h(Ending, { view }));
}

/** The ways to the red packets of the room, and to its pictures and files. */
function ToContents() {
  const to = (sheet, icon, words) => h('button', { class: 'act-button', type: 'button', onClick: () => openSheet(sheet) }, h(Icon, { name: icon }), t(words));
  return h('div', { class: 'panel-acts' }, to('room-packets', 'envelope', 'roomPackets.title'), mayAttach() && to('media', 'picture', 'media.title'));
}

class About extends Component {
  state = { editing: false };

  render({ view }, { editing }) {
    if (editing) return h(EditRoom, { view, done: () => this.setState({ editing: false }) });
    const { room, online } = view;
    const edit = () => this.setState({ editing: true });
    return h(Fragment, null,
      h('div', { class: 'row' },
        h('div', { class: 'grow' },
          h('h3', { class: 'info-name' }, room.name),
          h('p', { class: 'muted small' }, [
            t(`info.kind.${room.kind}`), t('room.members', { count: peopleIn(room), shown: number(peopleIn(room)) }),
            online != null && t('room.onlineCount', { count: online, shown: number(online) }),
          ].filter(Boolean).join(' · '))),
        governs(view) && h('button', {
          class: 'button quiet icon', type: 'button', 'aria-label': t('info.edit'), title: t('info.edit'), onClick: edit,
        }, h(Icon, { name: 'edit' }))),
      room.announcement
        ? h('section', { class: 'announcement', 'aria-label': t('info.announcement') },
          h('h3', { class: 'small muted' }, t('info.announcement')),
          h('p', null, room.announcement))
        : governs(view) && h('button', { class: 'announcement', type: 'button', onClick: edit }, t('info.announce')));
  }
}

function Share({ room }) {
  const link = new URL(`#/room/${encodeURIComponent(room.id)}`, location.href.split('#')[0]).href;
  return h('div', { class: 'row share' },
    h('input', { class: 'input grow cut', readOnly: true, 'aria-label': t('info.link'), value: link, onFocus: (e) => e.target.select() }),
    h('button', { class: 'button', type: 'button', onClick: () => copy(link) }, h(Icon, { name: 'copy', size: 18 }), t('info.copy')));
}
