// The sheets that search texts: in all rooms, and in the room that is open. They keep the words, the hits and the scroll position while closed.
import { h, Component, createRef } from '../dom.js';
import { state, change } from '../state.js';
import { brief, number } from '../format.js';
import { t } from '../words.js';
import { openAt } from '../actions/history.js';
import { moreHits, searchTexts } from '../actions/search.js';
import { filesInWords } from '../model/files.js';
import { nameOf } from '../model/rooms.js';
import { excerpt, hitId, hitsOf, isInName, isNarrowed, isOther, maySearch, searchOf } from '../model/search.js';
import { takeTyped } from '../model/search-filters.js';
import { Endless } from './endless.js';
import { Icon } from './icon.js';
import { Avatar, Time } from './parts.js';
import { Filters } from './search-filters.js';

const typing = 300; // ms without another letter before the search starts

export function SearchAll() { return h(SearchTexts, { room: '' }); }

export function SearchRoom({ view }) { return h(SearchTexts, { room: view.room.id, key: view.room.id }); }

class SearchTexts extends Component {
  state = { asked: '', query: '' }; // the filter that is being chosen, and what is typed there
  root = createRef();
  input = createRef();

  componentDidMount() {
    this.pages = searchOf(this.props.room).pages;
    this.look();
    queueMicrotask(() => this.begin()); // the panel moves the focus after this
  }

  /** The hits of other words are shown from their beginning. */
  componentDidUpdate() {
    const { pages } = searchOf(this.props.room);
    if (this.pages !== pages) this.root.current.closest('.sheet-body').scrollTop = 0;
    this.pages = pages;
  }

  componentWillUnmount() { clearTimeout(this.timer); }

  /** On a phone the way back from a hit leads to that hit: the field would bring up the keyboard. */
  begin() {
    const chosen = state.wide ? null : this.root.current?.querySelector('[aria-current]');
    if (chosen) chosen.focus({ preventScroll: true });
    else this.input.current?.select();
    if (!chosen) this.input.current?.focus({ preventScroll: true });
  }

  /** Searches, unless that was done. */
  look() {
    clearTimeout(this.timer);
    const { room } = this.props;
    if (maySearch() && isOther(searchOf(room), room)) searchTexts(room);
  }

  /** Searches when nothing has changed for a moment. */
  lookSoon = () => {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), typing);
  };

  /** Chooses a filter. @param {string} asked '': none @param {string} [query] */
  ask = (asked, query = '') => this.setState({ asked, query });

  /** Filters that are typed become chips. @param {boolean} done the user does not write on */
  take(done) {
    const { room } = this.props;
    change(() => {
      const unclear = takeTyped(searchOf(room), room, done);
      if (unclear) this.ask(unclear.name, unclear.query);
    });
  }

  /** Searches for the same words without filters. */
  widen = () => {
    change(() => { searchOf(this.props.room).filters = {}; });
    this.ask('');
    this.input.current.focus({ preventScroll: true });
    this.look();
  };

  /** A word that is being composed is not searched for. @param {any} e */
  typed = (e) => {
    change(() => { searchOf(this.props.room).words = e.target.value; });
    clearTimeout(this.timer);
    if (e.isComposing) return;
    this.take(false);
    this.lookSoon();
  };

  /** @param {KeyboardEvent} e */
  pressed = (e) => {
    if (e.isComposing || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
    const stops = [this.input.current, ...this.root.current.querySelectorAll('.panel-row')];
    const at = stops.indexOf(document.activeElement);
    if (e.key === 'Enter' && at === 0) {
      this.take(true);
      this.look();
    }
    const next = at < 0 ? null : stops[at + ({ ArrowDown: 1, ArrowUp: -1 }[e.key] ?? NaN)];
    if (!next) return;
    e.preventDefault();
    next.focus();
  };

  open(view, hit) {
    change(() => { searchOf(this.props.room).chosen = hitId(hit); });
    openAt(view, hit.item.seq, state.wide ? state.route.sheet : null);
  }

  render({ room }, { asked, query }) {
    const search = searchOf(room);
    const { pages, chosen } = search;
    if (state.limits && !maySearch()) return h('p', { class: 'muted search-note' }, t('search.off'));
    return h('div', { class: 'stack tall search', ref: this.root, onKeyDown: this.pressed },
      h('div', { class: 'search-field' },
        h(Icon, { name: 'search', size: 18 }),
        h('input', {
          class: 'input', type: 'text', inputmode: 'search', ref: this.input, value: search.words, maxLength: state.limits?.query_chars,
          placeholder: t('search.field'), 'aria-label': t('search.field'), autocomplete: 'off', enterkeyhint: 'search',
          onInput: this.typed, oncompositionend: this.typed,
        })),
      h(Filters, { room, search, asked, query, ask: this.ask, changed: this.lookSoon }),
      h(Note, { search, widen: this.widen }),
      h('ul', { class: `panel-list ${pages.loaded ? '' : 'search-old'}`, 'aria-label': t('search.hits'), 'aria-busy': pages.loading }, hitsOf(search).map((hit) => (
        h('li', { key: hitId(hit) }, h(Row, { hit, inRoom: !!room, isChosen: chosen === hitId(hit), open: (view) => this.open(view, hit) }))))),
      h(Endless, { pages, keeps: true, first: () => searchTexts(room), more: () => moreHits(room) }));
  }
}

/** What is to be known about the hits; screen readers hear their number. */
function Note({ search, widen }) {
  const { sought, behind, pages: { loaded, complete } } = search;
  const count = hitsOf(search).length;
  const narrowed = isNarrowed(search);
  const nothing = loaded && complete && !count;
  return h('div', { class: 'search-note muted' },
    h('div', { role: 'status' },
      !sought && h('p', null, t(narrowed ? 'search.needsWords' : 'search.how')),
      loaded && count > 0 && h('p', { class: 'only-read' }, t('search.found', { count, shown: number(count), more: !complete })),
      nothing && h('p', null, t(narrowed ? 'search.noneSuch' : 'search.none', { words: sought })),
      behind && h('p', { class: 'small' }, t('search.behind'))),
    !sought && h('p', { class: 'small' }, t('search.typed')),
    nothing && narrowed && h('button', { class: 'button', type: 'button', onClick: widen }, t('search.widen')));
}

function Row({ hit, inRoom, isChosen, open }) {
  const { from, at, kind } = hit.item;
  const view = state.rooms.get(hit.room);
  const name = from.id === state.me?.id ? t('you') : from.name || from.id;
  const inName = isInName(hit);
  const mark = kind === 'packet' ? t('rooms.packet') : !inName && filesInWords(hit.item.body);
  return h('button', { class: 'panel-row', type: 'button', 'aria-current': isChosen ? 'true' : undefined, onClick: () => open(view) },
    h(Avatar, { user: from }),
    h('span', { class: 'grow' },
      h('span', { class: 'row' },
        h('strong', { class: 'cut grow', dir: 'auto' }, inRoom ? name : nameOf(view)),
        h('span', { class: 'muted small' }, h(Time, { at }, brief(at)))),
      h('span', { class: 'two-lines muted' },
        !inRoom && h('bdi', { class: 'search-by' }, t('rooms.by', { name })),
        inName && h(Icon, { name: 'file', size: 16 }),
        mark && h('span', { class: 'room-row-mark' }, mark, ' '),
        h('bdi', null, excerpt(hit).map(({ text, found }) => (found ? h('mark', null, text) : text))))));
}
