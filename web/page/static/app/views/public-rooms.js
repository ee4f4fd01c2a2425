// Public rooms that match a query, page by page, with a button to join each.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { number } from '../format.js';
import { t } from '../words.js';
import { attempt } from '../actions/attempt.js';
import { peopleIn } from '../model/rooms.js';
import { findRooms, joinRoom, openRoom } from '../actions/rooms.js';
import { Failed } from './parts.js';
import { RoomSign } from './room-line.js';

const typing = 250; // ms without another letter before the search starts
const pace = 10_000; // ms between two looks for new rooms

/** Props: query; none: the text for an empty result; renews: the list follows what others create. */
export class PublicRooms extends Component {
  state = { rooms: null, next: undefined, loading: false, error: null, joining: '' };

  list = createRef();

  componentDidMount() {
    this.look();
    if (this.props.renews) this.renewing = setInterval(() => this.renew(), pace);
  }

  componentDidUpdate({ query }) {
    if (query === this.props.query) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), typing);
  }

  componentWillUnmount() {
    clearTimeout(this.timer);
    clearInterval(this.renewing);
    this.asked?.abort();
  }

  /** Reads the first page again, unless nobody looks at it or somebody is about to press a button in it. */
  async renew() {
    if (document.visibilityState !== 'visible' || this.state.loading || this.list.current?.matches(':hover, :focus-within')) return;
    if (this.state.error) {
      this.look();
      return;
    }
    const { signal } = this.asked = new AbortController();
    const page = await somePage(this.props.query.trim(), undefined, signal).catch(() => null);
    if (!page || signal.aborted) return;
    this.setState(({ rooms, next }) => (rooms?.length > page.rooms.length && next !== page.next
      ? { rooms: merged(page.rooms, rooms) } : { rooms: page.rooms, next: page.next }));
  }

  /** @param {string} [next] */
  async look(next) {
    this.asked?.abort();
    const { signal } = this.asked = new AbortController();
    this.setState({ loading: true, error: null });
    try {
      const page = await somePage(this.props.query.trim(), next, signal);
      if (signal.aborted) return;
      this.setState(({ rooms }) => ({ rooms: next ? merged(rooms, page.rooms) : page.rooms, next: page.next, loading: false }));
    } catch (error) {
      if (!signal.aborted) this.setState({ loading: false, error });
    }
  }

  /** @param {string} id */
  async join(id) {
    if (this.state.joining) return;
    this.setState({ joining: id });
    await attempt(joinRoom(id));
    this.setState({ joining: '' });
  }

  render({ none }, { rooms, next, loading, error, joining }) {
    if (error) return h(Failed, { error, again: () => this.look() });
    if (!rooms) return h(Ghosts, null);
    if (!rooms.length) return h('p', { class: 'muted public-none', role: 'status' }, none);
    return h('div', { ref: this.list, 'aria-busy': loading ? 'true' : 'false' },
      h('ul', { class: 'public-rooms' }, rooms.map((room) => (
        h(PublicRoom, { key: room.id, room, isJoining: joining === room.id, join: () => this.join(room.id) })))),
      next && h('button', { class: 'button quiet wide', type: 'button', disabled: loading, onClick: () => this.look(next) },
        t('find.more')));
  }
}

function PublicRoom({ room, isJoining, join }) {
  const members = t('room.members', { count: peopleIn(room), shown: number(peopleIn(room)) });
  const way = (label, words, props) => h('button', { type: 'button', 'aria-label': t(label, { room: room.name }), ...props }, t(words));
  return h('li', { class: 'public-room' },
    h(RoomSign, { id: room.id, name: room.name }),
    h('span', { class: 'grow public-room-words' },
      h('strong', { class: 'cut', dir: 'auto' }, room.name),
      h('span', { class: 'muted small cut' }, members, room.announcement && [' · ', h('bdi', null, room.announcement)])),
    state.rooms.has(room.id)
      ? way('find.openRoom', 'find.open', { class: 'button', onClick: () => openRoom(room.id) })
      : way('find.joinRoom', 'find.join', { class: 'button tinted', disabled: isJoining, onClick: join }));
}

/** Before the first page has arrived. */
function Ghosts() {
  return h('div', { class: 'public-rooms', 'aria-busy': 'true' }, [0, 1, 2].map((i) => h('div', { class: 'public-room ghost', key: i })));
}

/** The server bounds how many rooms it searches for one page, so a page may be empty although another one follows. */
async function somePage(query, next, signal) {
  let page = await findRooms(query, next, signal);
  while (!page.rooms.length && page.next && !signal.aborted) page = await findRooms(query, page.next, signal);
  return page;
}

/** A room may have moved to the next page meanwhile. */
function merged(before, page) {
  const listed = new Set(before.map((r) => r.id));
  return [...before, ...page.filter((r) => !listed.has(r.id))];
}
