// The whole page: the door, or rooms, room and panel.
import { h, Fragment } from '../dom.js';
import { state, currentRoom } from '../state.js';
import { t } from '../words.js';
import { Door, Ended } from './door.js';
import { RoomList } from './rooms.js';
import { RoomScreen } from './room.js';
import { Join } from './join.js';
import { sheets } from './sheets.js';
import { Sheet, Panel } from './sheet.js';

export function App() {
  if (state.door.status === 'ended') return h(Ended, null);
  if (!state.me) return h(Door, null);
  const room = currentRoom();
  return h(Fragment, null,
    h('div', { class: 'shell', 'data-room': state.route.room ? 'yes' : 'no' },
      h('aside', { class: 'rooms', 'aria-label': t('rooms.title') }, h(RoomList, null)),
      h('main', { class: 'room' }, room ? h(RoomScreen, { view: room, key: room.room.id }) : state.route.room ? h(Join, { id: state.route.room, key: state.route.room }) : h(NoRoom, null)),
      over(room, false)),
    over(room, true),
    h('div', { class: 'toasts' }, state.toasts.map((toast) => h('p', { class: 'toast', key: toast.id }, toast.text))),
    h('p', { class: 'only-read', role: 'status', 'aria-live': 'polite' }, state.announcement));
}

/** What lies over the room, or beside it where there is space. */
function over(room, modal) {
  const { sheet } = state.route;
  const row = sheet && sheets[sheet.name];
  if (!row || (row.needsRoom && !room)) return null;
  const isModal = !state.wide || (typeof row.modal === 'function' ? row.modal(sheet.id) : row.modal === true);
  if (isModal !== modal) return null;
  return h(isModal ? Sheet : Panel, { key: `${sheet.name}/${sheet.id ?? ''}`, title: row.title(room, sheet.id) },
    h(row.view, { view: room, id: sheet.id }));
}

function NoRoom() {
  return h('div', { class: 'empty' }, h('h2', null, t('room.none')), h('p', null, t('room.choose')));
}
