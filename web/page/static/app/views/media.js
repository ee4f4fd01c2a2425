// The pictures, recordings and files of a room, the newest first.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { brief } from '../format.js';
import { openSheet } from '../route.js';
import { moreMedia } from '../actions/media.js';
import { filesIn, kinds, mediaOf } from '../model/media.js';
import { Endless } from './endless.js';
import { Files } from './line-files.js';
import { Time } from './parts.js';
import { Picture } from './picture.js';

export class Media extends Component {
  state = { kind: kinds[0] };

  componentDidMount() { this.look(); }

  componentDidUpdate() { this.look(); }

  /** Reads the first page, unless that was done or has failed. */
  look() {
    const pages = mediaOf(this.props.view, this.state.kind);
    if (!pages.loaded && !pages.loading && !pages.error) this.more();
  }

  more = () => moreMedia(this.props.view, this.state.kind);

  render({ view }, { kind }) {
    const pages = mediaOf(view, kind);
    const found = filesIn(pages.items, kind);
    return h('div', { class: 'stack tall media' },
      h('div', { class: 'panel-switch', role: 'group', 'aria-label': t('media.which') }, kinds.map((one) => h('button', {
        key: one, type: 'button', 'aria-pressed': kind === one, onClick: () => this.setState({ kind: one }),
      }, t(`media.${one}`)))),
      found.length > 0 && h(kind === 'picture' ? Grid : Others, { room: view.room.id, found }),
      pages.complete && h('p', { class: 'muted media-end' }, t(found.length ? 'media.all' : 'media.none')),
      h(Endless, { key: kind, pages, keeps: true, first: this.more, more: this.more }));
  }
}

function Grid({ room, found }) {
  return h('ul', { class: 'media-grid' }, found.map(({ seq, from, at, file }) => h('li', { key: `${seq}.${file.id}` }, h(Picture, {
    room, file, version: 'small',
    button: {
      class: 'album-picture', label: t('media.of', { name: nameOf(from), at: brief(at) }), disabled: false, open: () => openSheet('view', `${seq}.${file.id}`),
    },
  }))));
}

function Others({ room, found }) {
  return h('ul', { class: 'media-list' }, found.map(({ seq, from, at, file }) => h('li', { key: `${seq}.${file.id}` },
    h('p', { class: 'small muted row' }, h('bdi', { class: 'cut grow' }, nameOf(from)), h(Time, { at }, brief(at))),
    h(Files, { room, seq, files: [file] }))));
}

function nameOf(user) { return user.id === state.me?.id ? t('you') : user.name || user.id; }
