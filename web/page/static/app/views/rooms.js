// The list of rooms that the user is in: the user, a filter field, the rooms, and buttons to find more.
import { h, Component, createRef } from '../dom.js';
import { state, currentRoom } from '../state.js';
import { brief, number } from '../format.js';
import { holds } from '../matching.js';
import { t } from '../words.js';
import { openSheet } from '../route.js';
import { unreadMentions } from '../model/mentions.js';
import { isSilent, listedRooms, nameOf } from '../model/rooms.js';
import { waitingByRoom } from '../model/waiting.js';
import { distinction, peopleCalled } from '../model/people.js';
import { maySearch } from '../model/search.js';
import { attempt } from '../actions/attempt.js';
import { openDirect } from '../actions/rooms.js';
import { openSearch } from '../actions/search.js';
import { lacksName, unwantLast, wantLast } from '../actions/lasts.js';
import { Balance } from './balance.js';
import { Avatar, IconButton } from './parts.js';
import { Icon } from './icon.js';
import { LinkBar } from './link.js';
import { NoRooms } from './no-rooms.js';
import { SecondGuest } from './second-guest.js';
import { RoomRow } from './room-row.js';
import { lineOf } from './room-line.js';

const peopleShown = 5; // for one query

export class RoomList extends Component {
  state = { query: '', archive: false };

  list = createRef();
  /** @type {Map<string, number>} */ waiting = new Map(); // packets that wait, by room

  /** Visible rooms request the data for their row. */
  sight = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      (isIntersecting ? wantLast : unwantLast)(/** @type {HTMLElement} */ (target).dataset.room ?? '');
    }
  }, { rootMargin: '200px' });

  componentDidMount() { this.wantMore(); }

  componentDidUpdate() { this.wantMore(); }

  componentWillUnmount() { this.sight.disconnect(); }

  /** Rooms with new messages and direct rooms request their data at once: the first are at the top, and the others need a name. */
  wantMore() {
    const current = currentRoom();
    for (const view of state.rooms.values()) {
      const isNew = view.unread > 0 && !view.last;
      const isNameless = lacksName(view) && !view.last && (view === current || this.state.query);
      if (isNew || isNameless) wantLast(view.room.id);
    }
  }

  render(_, { query, archive }) {
    const current = currentRoom();
    if (current && !state.wide && this.drawn) return this.drawn; // it is not visible
    const all = listedRooms();
    const rooms = query ? all.filter((view) => holds(nameOf(view), query)) : all.filter((view) => !view.prefs.archived);
    const people = query ? strangers(query, rooms) : [];
    const away = query ? [] : all.filter((view) => view.prefs.archived);
    this.waiting = waitingByRoom();
    this.drawn = [
      !state.route.room && !state.route.link && h('h1', { key: 'title', class: 'only-read' }, t('rooms.title')),
      h(Head, { key: 'head', alone: !current || !state.wide }),
      (!current || !state.wide) && h(LinkBar, { key: 'link' }),
      all.length > 0 && h(Search, {
        key: 'search', query, set: (text) => this.setState({ query: text }), into: (step) => this.step(step), open: () => this.open(),
      }),
      h('div', { key: 'rooms', class: 'scroll rooms-scroll' },
        !all.length ? h(NoRooms, null) : query && !rooms.length && !people.length ? h(NoMatch, { query }) :
          h('div', { ref: this.list, onKeyDown: (e) => this.move(e) },
            h('ul', { class: 'room-list', 'aria-label': t('rooms.title') },
              rooms.map((view) => this.row(view, view === current)),
              archive && away.map((view) => this.row(view, view === current))),
            people.length > 0 && h(People, { people, done: () => this.setState({ query: '' }) })),
        away.length > 0 && h('button', {
          class: 'rooms-archive', type: 'button', 'aria-expanded': archive, onClick: () => this.setState({ archive: !archive }),
        }, h(Icon, { name: 'archive', size: 20 }), t(archive ? 'rooms.hideArchive' : 'rooms.archive', { count: away.length })),
        rooms.length + people.length > 0 && query && maySearch() && h(InMessages, { query, class: 'rooms-archive' }),
        all.length < 3 && !query && !state.isNew && h(SecondGuest, null)),
      h(More, { key: 'more' }),
    ];
    return this.drawn;
  }

  row(view, isCurrent) {
    const { id, kind } = view.room;
    const { mark, text } = lineOf(view);
    const mute = (view.mute?.until ?? 0) > Date.now();
    return h(RoomRow, {
      key: id, id, kind, isCurrent, mark, text, mute, silent: isSilent(view), pinned: view.prefs.pinned, sight: this.sight, lang: state.lang,
      name: nameOf(view), other: view.other, online: !!view.other && state.online.get(view.other.id),
      at: view.last?.item ? view.last.at : 0, time: view.last?.item ? brief(view.last.at) : '',
      waiting: this.waiting.get(id) ?? 0, unread: view.unread, shown: view.unread > 99 ? '99+' : number(view.unread),
    });
  }

  /** @param {KeyboardEvent} e */
  move(e) {
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[e.key];
    if (!step || e.altKey || e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    this.step(step);
  }

  /** Opens the first room or person that is found. */
  open() {
    this.list.current?.querySelector('a, button')?.click();
    this.setState({ query: '' });
  }

  /** Moves the focus by so many rooms or people; from elsewhere to the first. @param {number} step */
  step(step) {
    const links = [...this.list.current?.querySelectorAll('a, button') ?? []];
    const at = links.indexOf(document.activeElement);
    links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + step))]?.focus();
  }
}

/** @param {{alone: boolean}} props with no room beside it, the list shows the balance */
function Head({ alone }) {
  const { me } = state;
  return h('div', { class: 'bar' },
    h('button', { class: 'rooms-me grow', type: 'button', onClick: () => openSheet('settings') },
      h(Avatar, { user: me }),
      h('strong', { class: 'cut', dir: 'auto' }, me.name),
      h('span', { class: 'only-read' }, t('rooms.me'))),
    alone && h(Balance, null),
    h(ToMentions, { unread: unreadMentions() }),
    h(IconButton, { icon: 'settings', label: t('settings.title'), onClick: () => openSheet('settings') }));
}

/** The way to the mentions of the user, with the number of those that are new. */
function ToMentions({ unread }) {
  return h('span', { class: 'back' },
    h(IconButton, { icon: 'at', label: unread ? t('mentions.titleNew', { count: unread }) : t('mentions.title'), onClick: () => openSheet('mentions') }),
    unread > 0 && h('span', { class: 'badge number', 'aria-hidden': 'true' }, number(unread)));
}

function Search({ query, set, into, open }) {
  return h('div', { class: 'rooms-search', role: 'search' },
    h(Icon, { name: 'search', size: 18 }),
    h('input', {
      class: 'input', type: 'search', value: query, placeholder: t('rooms.field'), 'aria-label': t('rooms.search'),
      autocomplete: 'off', enterkeyhint: 'search',
      onInput: (e) => set(e.target.value),
      onKeyDown: (e) => {
        if (e.isComposing || e.keyCode === 229) return; // a key of the input method
        if (e.key === 'Escape' && query) set('');
        else if (e.key === 'ArrowDown') into(1);
        else if (e.key === 'Enter') open();
        else return;
        e.preventDefault();
      },
    }),
    maySearch() && h(IconButton, { icon: 'search-text', label: t('search.title'), onClick: () => openSearch(query) }));
}

/** Known people by this name that no direct room of the list is with. @param {string} query @param {any[]} rooms */
function strangers(query, rooms) {
  const listed = new Set(rooms.map(({ other }) => other?.id));
  return peopleCalled(query, peopleShown + listed.size).filter(({ id }) => !listed.has(id)).slice(0, peopleShown);
}

/** The people that the user can write to. Done: a chat is open. */
function People({ people, done }) {
  const write = async (user) => {
    if (await attempt(openDirect(user.id).then(() => true))) done();
  };
  return h('section', { 'aria-labelledby': 'rooms-people' },
    h('h2', { class: 'rooms-people small muted', id: 'rooms-people' }, t('rooms.people')),
    h('ul', null, people.map((user) => h('li', { key: user.id }, h('button', { class: 'person-row', type: 'button', onClick: () => write(user) },
      h(Avatar, { user }),
      h('span', { class: 'grow public-room-words' },
        h('strong', { class: 'cut', dir: 'auto' }, user.name || user.id),
        distinction(user, people) && h('span', { class: 'muted small cut' }, user.id)))))));
}

function NoMatch({ query }) {
  return h('div', { class: 'empty' },
    h('p', null, t('rooms.noMatch', { query })),
    h('button', { class: 'button', type: 'button', onClick: () => openSheet('find', query.trim()) },
      h(Icon, { name: 'search', size: 20 }), t('rooms.lookPublic')),
    maySearch() && h(InMessages, { query, class: 'button' }));
}

/** The way from the names of rooms to the messages in them. */
function InMessages({ query, ...props }) {
  return h('button', { type: 'button', onClick: () => openSearch(query), ...props },
    h(Icon, { name: 'search-text', size: 20 }), h('span', { class: 'cut' }, t('search.words', { query })));
}

function More() {
  const way = (icon, sheet, words) => (
    h('button', { type: 'button', onClick: () => openSheet(sheet) }, h(Icon, { name: icon }), h('span', null, t(words))));
  return h('nav', { class: 'rooms-more', 'aria-label': t('rooms.more') },
    way('plus', 'new-room', 'rooms.newRoom'), way('search', 'find', 'rooms.find'), way('person', 'direct', 'rooms.direct'));
}
