// The filters of a search: a row of chips. A chip opens what chooses its filter, and shows what is chosen.
import { h, Component, createRef } from '../dom.js';
import { state, change } from '../state.js';
import { shortDay } from '../format.js';
import { holds, isCalled } from '../matching.js';
import { t } from '../words.js';
import { moreMembers, renewMembers } from '../actions/governing.js';
import { distinction } from '../model/people.js';
import { listedRooms, nameOf } from '../model/rooms.js';
import { beginOfDay } from '../model/search.js';
import { dayHere, sendersOf } from '../model/search-filters.js';
import { Icon } from './icon.js';
import { Avatar } from './parts.js';

const shownAtMost = 40;
const kinds = { text: 'search-text', file: 'file', packet: 'envelope' };

/** Props: room, search, the filter that is being chosen and what is typed there, ask(name, query) and changed(). */
export class Filters extends Component {
  root = createRef();

  componentDidUpdate(before) {
    const { asked } = this.props;
    if (before.asked === asked) return;
    if (asked) this.root.current.querySelector('.filter-chooser :is(input, button)')?.focus({ preventScroll: true });
    else this.root.current.querySelector(`.filter-open[data-filter="${before.asked}"]`)?.focus({ preventScroll: true });
  }

  /** @param {import('../model/search.js').Filters} filters */
  set(filters, { stay = false } = {}) {
    const { search, changed, ask } = this.props;
    change(() => { search.filters = { ...search.filters, ...filters }; });
    if (!stay) ask('');
    changed();
  }

  /** @param {KeyboardEvent} e */
  pressed = (e) => {
    if (!this.props.asked || e.altKey || e.ctrlKey || e.metaKey || e.isComposing) return;
    const stops = [...this.root.current.querySelectorAll('.filter-chooser > input, .filter-row')];
    const at = stops.indexOf(document.activeElement);
    const next = at < 0 ? null : stops[at + ({ ArrowDown: 1, ArrowUp: -1 }[e.key] ?? NaN)];
    if (e.key === 'Escape') this.props.ask('');
    else if (next) next.focus();
    else if (e.key === 'Enter' && at === 0 && stops[0].matches('input')) stops[1]?.click();
    else return;
    e.preventDefault();
    e.stopPropagation();
  };

  render({ room, search: { filters }, asked, query, ask }) {
    const chips = [
      { name: 'from', words: filters.from && t('search.is.from', { name: called(filters.from) }), off: { from: undefined } },
      !room && { name: 'room', words: filters.room && t('search.is.room', { room: roomName(filters.room) }), off: { room: undefined } },
      { name: 'date', words: daysInWords(filters), off: { since: undefined, until: undefined } },
      { name: 'kind', words: filters.kind && t(`search.kinds.${filters.kind}`), off: { kind: undefined } },
    ].filter(Boolean);
    return h('div', { class: 'filters', ref: this.root, onKeyDown: this.pressed },
      h('ul', { class: 'filter-chips', 'aria-label': t('search.filters') }, chips.map(({ name, words, off }) => h('li', { key: name, class: `filter-chip ${words ? 'set' : ''}` },
        h('button', {
          class: 'filter-open', type: 'button', 'data-filter': name, 'aria-expanded': asked === name, 'aria-controls': asked === name ? 'search-filter' : undefined,
          onClick: () => ask(asked === name ? '' : name),
        }, h('span', { class: 'cut', dir: 'auto' }, words || t(`search.filter.${name}`)), !words && h(Icon, { name: 'unfold', size: 14 })),
        words && h('button', {
          class: 'filter-off', type: 'button', 'aria-label': t('search.without', { filter: words }), title: t('search.without', { filter: words }),
          onClick: (e) => { e.currentTarget.previousSibling.focus(); this.set(off); },
        }, h(Icon, { name: 'close', size: 14 }))))),
      asked && h('div', { class: 'filter-chooser', id: 'search-filter', role: 'group', 'aria-label': t(`search.filter.${asked}`) },
        asked === 'from' ? h(Senders, { key: room || filters.room, room: room || filters.room, query, type: (text) => ask('from', text), chosen: filters.from, choose: (from) => this.set({ from }) })
          : asked === 'room' ? h(Rooms, { query, type: (text) => ask('room', text), chosen: filters.room, choose: (one) => this.set({ room: one }) })
            : asked === 'date' ? h(Days, { filters, set: (days, how) => this.set(days, how), close: () => ask('') })
              : h(Kinds, { chosen: filters.kind, choose: (kind) => this.set({ kind }) })));
  }
}

/** @param {import('../state.js').User} user */
function called(user) { return user.id === state.me?.id ? t('you') : user.name || user.id; }

/** @param {string} id */
function roomName(id) { return state.rooms.has(id) ? nameOf(state.rooms.get(id)) : '…'; }

/** @param {import('../model/search.js').Filters} filters */
function daysInWords({ since, until }) {
  const [first, last] = [since, until].map((day) => day && shortDay(beginOfDay(day)));
  if (first && last) return first === last ? first : t('search.is.between', { first, last });
  return first ? t('search.is.since', { day: first }) : last ? t('search.is.until', { day: last }) : '';
}

/** Whose messages: of a room, all its members are read as far as the name needs them. */
class Senders extends Component {
  componentDidMount() { this.read(); }

  componentDidUpdate() { this.read(); }

  found() { return sendersOf(this.props.room).filter((user) => isCalled(user, this.props.query) || user.id === state.me?.id && holds(t('you'), this.props.query)); }

  read() {
    const view = state.rooms.get(this.props.room);
    if (!view || view.members.loading || view.members.error) return;
    if (!view.members.loaded) renewMembers(view);
    else if (!view.members.complete && this.found().length < shownAtMost) moreMembers(view);
  }

  render({ room, query, type, chosen, choose }) {
    const people = this.found();
    const loading = state.rooms.get(room)?.members.loading;
    return [
      h(Query, { key: 'query', label: t('search.who'), query, type }),
      h('ul', { key: 'people', class: 'filter-list', 'aria-label': t('search.filter.from') }, people.slice(0, shownAtMost).map((user) => h('li', { key: user.id },
        h('button', { class: 'filter-row', type: 'button', 'aria-pressed': chosen?.id === user.id, onClick: () => choose(user) },
          h(Avatar, { user, size: 'small' }),
          h('span', { class: 'cut', dir: 'auto' }, called(user)),
          distinction(user, people) && h('span', { class: 'muted small cut' }, user.id))))),
      !people.length && h('p', { key: 'none', class: 'muted small', role: 'status' }, t(loading ? 'loading' : 'search.nobody')),
    ];
  }
}

function Rooms({ query, type, chosen, choose }) {
  const rooms = listedRooms().filter((view) => holds(nameOf(view), query));
  return [
    h(Query, { key: 'query', label: t('search.where'), query, type }),
    h('ul', { key: 'rooms', class: 'filter-list', 'aria-label': t('search.filter.room') }, rooms.slice(0, shownAtMost).map((view) => h('li', { key: view.room.id },
      h('button', { class: 'filter-row', type: 'button', 'aria-pressed': chosen === view.room.id, onClick: () => choose(view.room.id) },
        h(Avatar, { user: view.other ?? { id: view.room.id, name: view.room.name }, size: 'small' }), h('span', { class: 'cut', dir: 'auto' }, nameOf(view)))))),
    !rooms.length && h('p', { key: 'none', class: 'muted small', role: 'status' }, t('search.nowhere')),
  ];
}

function Query({ label, query, type }) {
  return h('input', {
    class: 'input', type: 'text', inputmode: 'search', value: query, placeholder: label, 'aria-label': label, autocomplete: 'off', enterkeyhint: 'search', onInput: (e) => type(e.target.value),
  });
}

const spans = { today: 0, week: 6, month: 29 }; // days before today

function Days({ filters: { since = '', until = '' }, set, close }) {
  const today = dayHere(new Date());
  const field = (name, value, words) => h('label', { class: 'field' }, h('span', null, words),
    h('input', { class: 'input', type: 'date', value, max: today, onInput: (e) => set({ [name]: e.target.value || undefined }, { stay: true }), onKeyDown: (e) => { if (e.key === 'Enter') close(); } }));
  const before = (days) => {
    const first = new Date();
    first.setDate(first.getDate() - days);
    return dayHere(first);
  };
  return [
    h('div', { key: 'spans', class: 'filter-spans' }, Object.entries(spans).map(([name, days]) => h('button', {
      key: name, class: 'filter-row', type: 'button', 'aria-pressed': since === before(days) && !until, onClick: () => set({ since: before(days), until: undefined }),
    }, t(`search.spans.${name}`)))),
    h('div', { key: 'days', class: 'filter-days' }, field('since', since, t('search.since')), field('until', until, t('search.until'))),
    since && until && since > until && h('p', { key: 'wrong', class: 'problem', role: 'alert' }, t('search.wrongDays')),
  ];
}

function Kinds({ chosen, choose }) {
  return h('ul', { class: 'filter-list', 'aria-label': t('search.filter.kind') }, Object.entries(kinds).map(([kind, icon]) => h('li', { key: kind },
    h('button', { class: 'filter-row', type: 'button', 'aria-pressed': chosen === kind, onClick: () => choose(kind) }, h(Icon, { name: icon, size: 20 }), t(`search.kinds.${kind}`)))));
}
