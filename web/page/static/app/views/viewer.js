// The viewer: one picture of the room over the whole page. A swipe or an arrow key leads to the next one, a pinch, the wheel or a double tap makes it
// larger, and a swipe down, Escape or the way back close it.
import { h, Component, createRef } from '../dom.js';
import { calm } from '../motion.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { brief, number } from '../format.js';
import { closeSheet, go } from '../route.js';
import { download } from '../actions/files.js';
import { loadOlder } from '../actions/history.js';
import { moreMedia } from '../actions/media.js';
import { filesIn, mediaOf } from '../model/media.js';
import { Icon } from './icon.js';
import { IconButton } from './parts.js';
import { Picture } from './picture.js';
import { Gestures } from './viewer-gestures.js';

export class Viewer extends Component {
  stage = createRef();
  state = { size: 1 };
  gestures = new Gestures({
    stage: () => this.stage.current,
    turn: (by) => this.turn(by),
    close: () => closeSheet(),
    sized: (size) => { if (size !== this.state.size) this.setState({ size }); },
  });

  componentDidMount() {
    this.stage.current?.focus({ preventScroll: true });
    this.stage.current?.addEventListener('wheel', this.gestures.wheel, { passive: false });
    this.more();
  }

  componentDidUpdate(before) {
    if (before.id === this.props.id) return;
    this.gestures.reset();
    this.more();
  }

  /** The pictures that were read, in their order, and where this one is: among those of the grid, or else of the timeline. */
  place() {
    const { view, id } = this.props;
    for (const [items, more] of [[[...mediaOf(view, 'picture').items].reverse(), () => moreMedia(view, 'picture')], [view.timeline.items, () => loadOlder(view.room.id)]]) {
      const all = filesIn(items, 'picture');
      const at = all.findIndex(({ seq, file }) => `${seq}.${file.id}` === id);
      if (at >= 0) return { all, at, more };
    }
    return { all: [], at: -1, more: () => {} };
  }

  /** Reads older pictures before the first one is reached. */
  more() {
    const { at, more } = this.place();
    if (at <= 1) more();
  }

  /** Shows another picture. Reports whether there is one. @param {number} by */
  turn(by) {
    const { all, at } = this.place();
    const next = all[at + by];
    if (at < 0 || !next) return false;
    go({ sheet: { name: 'view', id: `${next.seq}.${next.file.id}` } }, { replace: true });
    return true;
  }

  /** @param {KeyboardEvent} e */
  pressed = (e) => {
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    const turned = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (turned) this.turn(document.dir === 'rtl' ? -turned : turned);
    else if (e.key === '+' || e.key === '=') this.gestures.zoom(1.5);
    else if (e.key === '-') this.gestures.zoom(1 / 1.5);
    else if (e.key === '0') this.gestures.reset();
    else return;
    e.preventDefault();
  };

  render({ view }, { size }) {
    const { all, at } = this.place();
    const shown = all[at];
    if (!shown) return h('p', { class: 'viewer-gone', role: 'alert', ref: this.stage, tabIndex: -1 }, t('viewer.gone'));
    const { from, file, text } = shown;
    const name = from.id === state.me?.id ? t('you') : from.name || from.id;
    const ratio = (file.width || 1) / (file.height || 1);
    return h('div', { class: 'viewer', onKeyDown: this.pressed },
      h('div', { class: 'viewer-head' },
        h('p', { class: 'grow cut' }, h('bdi', null, t('viewer.about', { name, at: brief(shown.at) })),
          h('span', { class: 'small', role: 'status' }, t('viewer.place', { n: number(at + 1), of: number(all.length) }))),
        h(IconButton, { icon: 'download', label: t('viewer.download'), onClick: () => download(view.room.id, file) })),
      h('div', {
        class: `viewer-stage ${size > 1 ? 'zoomed' : ''}`, ref: this.stage, tabIndex: 0, role: 'img', 'aria-label': [t('viewer.title'), file.name].filter(Boolean).join(' '),
        title: t('viewer.how'), ...this.gestures.handlers,
      },
      h('div', {
        class: `viewer-picture ${calm() ? '' : 'moves'}`, key: file.id,
        style: { aspectRatio: String(ratio), width: `min(100%, ${Math.round(ratio * 10000) / 100}cqh, ${Math.max(file.width || 0, 240)}px)` },
      }, h(Picture, { room: view.room.id, file, version: versionOf(file), eager: true }))),
      at > 0 && h(Turn, { kind: 'before', turn: () => this.turn(-1) }),
      at < all.length - 1 && h(Turn, { kind: 'after', turn: () => this.turn(1) }),
      text && h('p', { class: 'viewer-text', dir: 'auto' }, text));
  }
}

/** A moving picture moves. On a small screen, or a slow network, the middle size is enough until the user makes it larger. @param {any} file */
function versionOf({ type, width = 0 }) {
  if (type === 'image/gif') return 'original';
  return width > 1280 && Math.max(innerWidth, innerHeight) * devicePixelRatio > 2000 && !(/** @type {any} */ (navigator).connection?.saveData) ? 'original' : 'middle';
}

function Turn({ kind, turn }) {
  return h('button', { class: `viewer-turn ${kind}`, type: 'button', 'aria-label': t(kind === 'before' ? 'viewer.before' : 'viewer.after'), onClick: turn },
    h(Icon, { name: 'back', size: 28 }));
}
