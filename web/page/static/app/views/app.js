// The whole page: the sign-in screen, or rooms, room and panel.
import { h, Component, Fragment } from '../dom.js';
import { state, currentRoom } from '../state.js';
import { t } from '../words.js';
import { workOffline } from '../offline.js';
import { Door, Ended } from './door.js';
import { RoomList } from './rooms.js';
import { RoomScreen } from './room.js';
import { Join } from './join.js';
import { contents, loadSheet, loadSheets, sheetOf } from './sheets.js';
import { Sheet, Panel } from './sheet.js';
import { followKeys } from './shortcuts.js';
import { Passing } from './passing.js';
import { Failed, Loading } from './parts.js';

export function App() {
  if (state.door.status === 'ended') return h(Ended, null);
  return state.me ? h(Home, null) : h(Door, null);
}

class Home extends Component {
  componentDidMount() {
    loadSheets();
    workOffline();
    this.stopKeys = followKeys();
  }

  componentWillUnmount() { this.stopKeys(); }

  render() {
    const room = currentRoom();
    const dialog = over(room, true);
    const isOpen = Boolean(state.route.room || state.route.link);
    const listAlone = !state.wide && !isOpen; // then it is the main content of the page
    return h(Fragment, null,
      h('div', { class: 'shell', 'data-room': isOpen ? 'yes' : 'no' },
        h('div', { class: 'rooms', tabIndex: -1, role: listAlone ? 'main' : 'complementary', 'aria-label': t('rooms.title') }, h(RoomList, null)),
        h('main', { class: 'room', tabIndex: -1 }, open(room, state.route)),
        over(room, false)),
      dialog,
      h(Passing, { covered: dialog !== null }));
  }
}

function open(room, { room: id, link: code }) {
  if (room) return h(RoomScreen, { view: room, key: id });
  if (code) return h(Join, { code, key: code });
  return id ? h(Join, { id, key: id }) : h(NoRoom, null);
}

/** The sheet over the room, or beside it on a wide screen. */
function over(room, modal) {
  const { sheet, link } = state.route;
  if (link) return null; // it opens in the room, once the user has joined
  const row = sheet && sheetOf(sheet.name);
  if (!row || (!room && (row.needsRoom || (row.ofRoom && state.route.room)))) return null;
  const isModal = !state.wide || (typeof row.modal === 'function' ? row.modal(sheet.id) : row.modal === true);
  if (isModal !== modal) return null;
  return h(isModal ? Sheet : Panel, { key: row.stays ? sheet.name : `${sheet.name}/${sheet.id ?? ''}`, title: row.title(room, sheet.id), kind: row.kind?.(sheet.id), beside: row.beside && state.wide ? () => row.beside(sheet.id) : undefined },
    h(Contents, { name: sheet.name, view: room, id: sheet.id }));
}

function Contents({ name, ...props }) {
  const { view, failed } = contents(name);
  if (view) return h(view, props);
  return failed ? h(Failed, { error: { word: 'unavailable' }, again: () => loadSheet(name) }) : h(Loading, null);
}

function NoRoom() {
  return h('div', { class: 'empty' }, h('h2', null, t('room.none')), h('p', null, t('room.choose')));
}
