// The pictures, recordings and files of a room, the newest first: those of the messages that are loaded. Older messages are read when the user asks for it.
import { h, Component, Fragment } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { brief, day } from '../format.js';
import { openSheet } from '../route.js';
import { loadOlder } from '../actions/history.js';
import { Files } from './line-files.js';
import { Failed, Loading, Time } from './parts.js';
import { Picture } from './picture.js';

const pagesAtOnce = 8; // of messages, for one press
const kinds = ['pictures', 'others'];

export class Media extends Component {
  state = { kind: 'pictures', looking: false };

  componentWillUnmount() { this.gone = true; }

  /** All files of a kind, the newest first. */
  found() {
    const { timeline } = this.props.view;
    const pictures = this.state.kind === 'pictures';
    const all = timeline.items.flatMap(({ seq, from, at, body }) => (
      (body.files ?? []).filter(({ kind }) => (kind === 'picture') === pictures).map((file) => ({ seq, from, at, file }))));
    return all.reverse();
  }

  /** Reads older messages until there is something more of this kind. */
  async look() {
    const { view } = this.props;
    const before = this.found().length;
    this.setState({ looking: true });
    for (let n = 0; n < pagesAtOnce && !this.gone; n++) {
      await loadOlder(view.room.id);
      if (view.timeline.complete || view.timeline.error || this.found().length > before) break;
    }
    if (!this.gone) this.setState({ looking: false });
  }

  render({ view }, { kind, looking }) {
    const { timeline, room } = view;
    const found = this.found();
    return h('div', { class: 'stack tall media' },
      h('div', { class: 'panel-switch', role: 'group', 'aria-label': t('media.which') }, kinds.map((one) => h('button', {
        key: one, type: 'button', 'aria-pressed': kind === one, onClick: () => this.setState({ kind: one }),
      }, t(`media.${one}`)))),
      kind === 'pictures' ? h(Grid, { room: room.id, found }) : h(Others, { room: room.id, found }),
      h(End, { timeline, looking, none: !found.length, look: () => this.look() }));
  }
}

function Grid({ room, found }) {
  if (!found.length) return null;
  return h('ul', { class: 'media-grid' }, found.map(({ seq, from, at, file }) => h('li', { key: `${seq}.${file.id}` }, h(Picture, {
    room, file, version: 'small',
    button: {
      class: 'album-picture', label: t('media.of', { name: nameOf(from), at: brief(at) }), disabled: false, open: () => openSheet('view', `${seq}.${file.id}`),
    },
  }))));
}

function Others({ room, found }) {
  if (!found.length) return null;
  return h('ul', { class: 'media-list' }, found.map(({ seq, from, at, file }) => h('li', { key: `${seq}.${file.id}` },
    h('p', { class: 'small muted row' }, h('bdi', { class: 'cut grow' }, nameOf(from)), h(Time, { at }, brief(at))),
    h(Files, { room, seq, files: [file] }))));
}

/** How far back the messages are known, and the way to more. */
function End({ timeline: { loaded, complete, error, items, loading }, looking, none, look }) {
  if (error) return h(Failed, { error, again: look });
  if (!loaded || looking || loading === 'older') return h(Loading, null);
  if (complete) return h('p', { class: 'muted media-end' }, t(none ? 'media.none' : 'media.all'));
  return h(Fragment, null,
    h('p', { class: 'muted media-end', role: 'status' }, t(none ? 'media.noneSince' : 'media.since', { day: day(items[0]?.at ?? Date.now()) })),
    h('button', { class: 'button wide', type: 'button', onClick: look }, t('media.look')));
}

function nameOf(user) { return user.id === state.me?.id ? t('you') : user.name || user.id; }
