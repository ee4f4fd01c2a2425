// A room's timeline. Only rows near the window are drawn; Place keeps the scroll position. This view decides what is
// drawn, when more is loaded, and which messages count as read.
import { h, Component, createRef } from '../dom.js';
import { change, state } from '../state.js';
import { t } from '../words.js';
import { find } from '../model/timeline.js';
import { jumpTo, loadNewer, loadNewest, loadOlder, saidAfter } from '../actions/history.js';
import { askPresence, markRead, visitRoom } from '../actions/looking.js';
import { Heights } from './timeline-heights.js';
import { Keys } from './timeline-keys.js';
import { Place, seqOf } from './timeline-place.js';
import { firstUnread, linesOf, linesOfOutbox } from './timeline-lines.js';
import { BackToReply, Beginning, Ghosts, NothingYet, Pill } from './timeline-parts.js';
import { OutOfSight, PillsAbove } from './timeline-waiting.js';
import { Failed, Loading } from './parts.js';

const drawn = 1400; // px above and below the window
const needed = 700;
const ahead = 1600; // px before an end at which more is loaded
const litFor = 1800;
const countPace = 30_000;
const hardly = 48; // px: a row of which less is in the window is out of sight

export class TimelineView extends Component {
  box = createRef();
  list = createRef();
  heights = new Heights();
  place = new Place(this.box, this.list);
  keys = new Keys(this.place, () => this.toNewest());
  /** @type {[number, number]} */ range = [0, 0];
  /** @type {Set<Element>} */ watched = new Set();
  /** @type {WeakSet<object>} */ sent = new WeakSet(); // known messages of the outbox
  newAfter = null; // entries after this seq were new when the room was opened
  away = new OutOfSight();
  toOpen = 0; // seq of the packet whose envelope gets the focus
  opened = false;
  lit = 0;

  componentDidMount() {
    this.sizes = new ResizeObserver((entries) => this.measured(entries));
    this.sizes.observe(this.box.current);
    this.life = new AbortController();
    document.addEventListener('visibilitychange', this.shown, { signal: this.life.signal });
    visitRoom(this.props.view.room.id);
    this.counting = setInterval(() => this.count(), countPace);
    this.componentDidUpdate();
  }

  componentWillUnmount() {
    this.sizes.disconnect();
    this.life.abort();
    clearTimeout(this.litTimer);
    clearInterval(this.counting);
  }

  /** In a large room no event says which members come and go. */
  count() {
    const { room, present } = this.props.view;
    if (!present && document.visibilityState === 'visible') askPresence(room.id);
  }

  getSnapshotBeforeUpdate() { return this.list.current.contains(document.activeElement); }

  /** @param {any} [_] @param {any} [__] @param {boolean} [focused] */
  componentDidUpdate(_, __, focused) {
    const { view } = this.props;
    if (focused && document.activeElement === document.body) this.box.current.focus({ preventScroll: true });
    if (view.goal) this.arrived(view);
    this.watch();
    this.keys.update();
    this.place.keep();
    this.reach();
    this.seen();
    this.tellAway();
  }

  /** Highlights a row for a moment. */
  arrived(view) {
    if (find(view.timeline, view.goal) >= 0) {
      this.lit = view.goal;
      clearTimeout(this.litTimer);
      this.litTimer = setTimeout(() => { this.lit = 0; this.setState({}); }, litFor);
      this.setState({});
    }
    if (this.toOpen === view.goal) /** @type {HTMLElement|null} */ (this.list.current.querySelector(`[data-seq="${view.goal}"] .envelope`))?.focus({ preventScroll: true });
    view.goal = null;
  }

  /** Measures the rows that were drawn, and forgets those that were removed. */
  watch() {
    const lines = new Set(this.place.lines());
    for (const line of this.watched) if (!lines.has(line)) this.sizes.unobserve(line);
    for (const line of lines) if (!this.watched.has(line)) this.sizes.observe(line);
    this.watched = lines;
  }

  /** @param {ResizeObserverEntry[]} entries */
  measured(entries) {
    const { timeline } = this.props.view;
    for (const { target, borderBoxSize } of entries) {
      const at = seqOf(target) && target.isConnected ? find(timeline, seqOf(target)) : -1;
      if (at >= 0) this.heights.set(at, borderBoxSize[0].blockSize);
    }
    this.place.keep();
    this.cover();
  }

  scrolled = () => {
    const { bottom } = this.place;
    this.place.note(this.heights);
    if (bottom !== this.place.bottom || this.lookAround()) this.setState({});
    this.cover();
    this.reach();
    this.seen();
  };

  shown = () => {
    const { view } = this.props;
    if (document.visibilityState !== 'visible') return;
    if (view.unread) this.markNew(view);
    this.setState({});
  };

  /** Loads what is needed and missing. */
  cover() {
    const [from, to] = this.window(needed);
    if (from < this.range[0] || to > this.range[1]) this.setState({});
  }

  /** Loads more near an end. */
  reach() {
    const { room, timeline } = this.props.view;
    if (!timeline.loaded || timeline.loading !== 'no' || timeline.error) return;
    if (!timeline.complete && this.place.top < ahead && this.range[0] === 0) loadOlder(room.id);
    else if (timeline.newer && this.place.below < ahead) loadNewer(room.id);
  }

  seen() {
    if (this.place.bottom && this.opened && document.visibilityState === 'visible') markRead(this.props.view.room.id);
  }

  /** The rows around the window. @param {number} margin px @returns {[number, number]} */
  window(margin) {
    const { heights, place } = this;
    if (!heights.count) return [0, 0];
    const at = place.bottom ? -1 : find(this.props.view.timeline, place.line.seq);
    const top = at < 0 ? heights.top(heights.count) - place.tall : heights.top(at) - place.line.y;
    return heights.between(top - margin, top + place.tall + margin);
  }

  /** Follows the timeline before it is drawn. @param {import('../state.js').RoomView} view */
  follow(view) {
    const { heights, place } = this;
    const { timeline } = view;
    if (heights.follow(timeline)) place.bottom = !timeline.newer;
    if (this.newAfter === null && view.unread && !place.bottom) this.newAfter = view.readSeq;
    for (const sending of view.outbox) if (!this.sent.has(sending)) { // the user sees what they send, wherever they were
      this.sent.add(sending);
      place.bottom = true;
    }
    if (timeline.loaded && !this.opened) {
      this.opened = true;
      if (view.unread) this.open(view);
    }
    const goal = view.goal ? find(timeline, view.goal) : -1;
    if (goal >= 0) place.hold(view.goal, place.tall / 3);
  }

  /** Starts at the first new entry, if the new ones do not fit the window. If it is not loaded, a button leads there. */
  open(view) {
    const { heights, place } = this;
    const at = this.markNew(view);
    if (at > 0 && heights.top(heights.count) - heights.top(at) > place.tall) place.hold(view.timeline.items[at].seq, 48);
  }

  /** Marks the first new entry, for the line and the button alike. It returns its index, or -1. @param {import('../state.js').RoomView} view */
  markNew(view) {
    const count = view.unread;
    this.newAfter = view.readSeq;
    const at = firstUnread(view, this.newAfter);
    const first = view.timeline.items[at];
    this.away.miss(first ? { count, seq: first.seq, at: first.at } : null);
    if (!first) this.learnMissed(view, count);
    return at;
  }

  /** @param {import('../state.js').RoomView} view @param {number} count */
  async learnMissed({ room, readSeq }, count) {
    const first = await saidAfter(room.id, readSeq);
    if (!first || this.newAfter !== readSeq) return;
    this.away.miss({ count, seq: first.seq, at: first.at });
    this.setState({});
  }

  /** Says once what waits: the buttons change while the user scrolls. */
  tellAway() {
    const words = this.away.tell();
    if (words) change(() => { state.announcement = words; });
  }

  /** Looks for what waits out of sight. It returns whether that has changed. */
  lookAround() {
    const { view } = this.props;
    const { items, loaded } = view.timeline;
    const [from, to] = this.window(-hardly);
    return loaded && this.away.look(view.room.id, items[from]?.seq ?? 0, items[to - 1]?.seq ?? Infinity);
  }

  /** Goes to a packet that waits. */
  toPacket = () => {
    this.toOpen = this.away.turn();
    jumpTo(this.props.view, this.toOpen);
  };

  /** Goes to the first of the new messages. */
  toMissed = () => {
    jumpTo(this.props.view, this.away.return());
    this.box.current.focus({ preventScroll: true });
  };

  toNewest = () => {
    const { view } = this.props;
    this.place.bottom = true;
    view.from = undefined;
    if (view.timeline.newer) loadNewest(view.room.id);
    this.setState({});
    this.box.current.focus({ preventScroll: true });
  };

  render({ view }) {
    this.follow(view);
    const { heights, place } = this;
    const { timeline } = view;
    const [from, to] = this.range = this.window(drawn);
    const atEnd = to === heights.count;
    this.lookAround();
    const space = { paddingTop: `${heights.top(from)}px`, paddingBottom: `${heights.top(heights.count) - heights.top(to)}px` };
    return h('div', { class: 'timeline' },
      h(PillsAbove, { away: this.away, toPacket: this.toPacket, toMissed: this.toMissed }),
      h('section', {
        class: 'timeline-box', ref: this.box, tabIndex: 0, 'aria-label': t('timeline.title'), 'aria-busy': timeline.loading !== 'no',
        onScroll: this.scrolled, onKeyDown: this.keys.pressed, onfocusin: this.keys.focused,
      },
      !timeline.loaded && h(NotYet, { view }),
      timeline.loaded && h(Beginning, { view, lang: state.lang }),
      timeline.loaded && !heights.count && !view.outbox.length && timeline.complete && h(NothingYet, { view }),
      h('ol', { class: 'lines', ref: this.list, style: space },
        linesOf(view, from, to, { newAfter: this.newAfter, missed: this.away.missed, lit: this.lit }),
        (atEnd && (!timeline.newer || timeline.loading === 'newest') || !timeline.loaded) && linesOfOutbox(view)),
      timeline.newer && h(Loading, null)),
      view.from && h(BackToReply, { back: () => jumpTo(view, view.from) }),
      h(Pill, { away: timeline.loaded && !place.bottom, unread: view.unread, newer: timeline.newer, onClick: this.toNewest }));
  }
}

/** An empty timeline: it is loading, or has failed to load. */
function NotYet({ view }) {
  const { error } = view.timeline;
  return error ? h(Failed, { error, again: () => loadNewest(view.room.id) }) : h(Ghosts, null);
}
