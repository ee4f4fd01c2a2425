// The files of the next message: the button that chooses them, the tray that shows them, and the room as a place to drop them.
import { h, Component, createRef } from '../dom.js';
import { state, change } from '../state.js';
import { t } from '../words.js';
import { fileSize, number, playTime } from '../format.js';
import { attach } from '../actions/attach.js';
import { mayAttach } from '../model/files.js';
import { moveInTray, takeFromTray } from '../model/tray.js';
import { Icon } from './icon.js';
import { IconButton } from './parts.js';

const pictures = 'image/jpeg,image/png,image/gif,image/webp,image/*'; // a phone turns its own format into one of the first

/** Whether it is a phone or a tablet: others open the dialog for files instead of their camera. */
const hasCamera = () => matchMedia('(pointer: coarse)').matches;

/** The button with its choices: pictures, a new one, or files as they are. */
export class AttachButton extends Component {
  state = { open: false };
  root = createRef();

  close = (back = false) => {
    if (!this.state.open) return;
    this.setState({ open: false });
    if (back) this.root.current.querySelector('.attach-button').focus();
  };

  /** @param {any} e @param {boolean} unchanged */
  chosen(e, unchanged) {
    this.close();
    attach(this.props.view, e.target.files, { unchanged });
    e.target.value = ''; // the same file may be chosen again
    this.props.done();
  }

  /** @param {KeyboardEvent} e */
  pressed = (e) => {
    if (e.key !== 'Escape' || !this.state.open) return;
    e.preventDefault();
    e.stopPropagation();
    this.close(true);
  };

  choice(icon, label, accept, capture) {
    return h('li', null, h('label', { class: 'attach-choice' },
      h(Icon, { name: icon }), label,
      h('input', { class: 'only-read', type: 'file', multiple: !capture, accept, capture, onChange: (e) => this.chosen(e, !accept), onCancel: (e) => e.stopPropagation() })));
  }

  render(_, { open }) {
    return h('div', {
      class: 'attach', ref: this.root, onKeyDown: this.pressed, onfocusout: (e) => { if (e.relatedTarget && !this.root.current.contains(e.relatedTarget)) this.close(); },
    },
    h(IconButton, {
      icon: 'attach', label: t('attach.title'), size: 24, class: 'button quiet icon attach-button', 'aria-expanded': open,
      onClick: () => this.setState({ open: !open }),
    }),
    open && h('ul', { class: 'attach-choices' },
      this.choice('picture', t('attach.pictures'), pictures),
      hasCamera() && this.choice('camera', t('attach.camera'), pictures, 'environment'),
      this.choice('file', t('attach.files'), undefined)));
  }
}

/** The chosen files. One that is chosen in the tray can be moved and removed. */
export class Tray extends Component {
  state = { chosen: '' };

  /** @param {KeyboardEvent} e @param {string} id */
  pressed(e, id) {
    const { view } = this.props;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (by) moveInTray(view, id, document.dir === 'rtl' ? -by : by);
    else if (e.key === 'Delete' || e.key === 'Backspace') this.remove(id);
    else return;
    e.preventDefault();
  }

  remove(id) {
    const { view, done } = this.props;
    takeFromTray(view, id);
    change(() => { state.announcement = t('attach.removed'); });
    done();
  }

  /** @param {DragEvent} e @param {string} id the file over which another one is dragged */
  over(e, id) {
    if (!this.dragged) return;
    e.preventDefault();
    e.stopPropagation();
    const { tray } = this.props.view;
    const [from, to] = [this.dragged, id].map((one) => tray.findIndex((file) => file.id === one));
    if (from !== to && from >= 0) moveInTray(this.props.view, this.dragged, to - from);
  }

  render({ view }, { chosen }) {
    const { tray } = view;
    if (!tray.length) return null;
    const at = tray.findIndex((file) => file.id === chosen);
    return h('div', { class: 'tray', role: 'group', 'aria-label': t('attach.tray', { count: tray.length, shown: number(tray.length) }) },
      h('ul', { class: 'tray-files' }, tray.map((file, n) => h('li', {
        key: file.id, draggable: tray.length > 1, onDragStart: (e) => { this.dragged = file.id; e.dataTransfer.effectAllowed = 'move'; e.dataTransfer.setData('text/x-place', file.id); },
        onDragEnd: () => { this.dragged = ''; }, onDragOver: (e) => this.over(e, file.id), onDrop: (e) => { if (this.dragged) { e.preventDefault(); e.stopPropagation(); } },
      },
      h('button', {
        class: 'tray-file', type: 'button', 'aria-pressed': file.id === chosen, 'aria-label': t('attach.place', { n: number(n + 1), of: number(tray.length), name: nameOf(file) }),
        title: file.name, onClick: () => this.setState({ chosen: file.id === chosen ? '' : file.id }), onKeyDown: (e) => this.pressed(e, file.id),
      }, file.kind === 'picture' ? h('img', { src: file.local, alt: '', draggable: false })
        : h('span', { class: 'tray-name' }, h(Icon, { name: file.kind === 'voice' ? 'mic' : 'file' }), h('bdi', { class: 'cut' }, file.name), h('span', { class: 'muted' }, fileSize(file.size)))),
      h('button', { class: 'tray-remove', type: 'button', tabIndex: -1, 'aria-label': t('attach.remove', { name: nameOf(file) }), onClick: () => this.remove(file.id) },
        h('span', null, h(Icon, { name: 'close', size: 14 })))))),
      at >= 0 && h('div', { class: 'tray-acts' },
        h(IconButton, { icon: 'back', label: t('attach.earlier'), disabled: at === 0, onClick: () => moveInTray(view, chosen, -1) }),
        h(IconButton, { icon: 'back', label: t('attach.later'), disabled: at === tray.length - 1, class: 'button quiet icon after', onClick: () => moveInTray(view, chosen, 1) }),
        h(IconButton, { icon: 'trash', label: t('attach.remove', { name: nameOf(tray[at]) }), onClick: () => this.remove(chosen) })));
  }
}

function nameOf({ kind, name, duration_ms: ms = 0 }) {
  return kind === 'voice' ? t('files.recording', { time: playTime(ms) }) : name || t('files.picture');
}

/** Whether a drag or a paste brings files. Text that comes with them is used, as from a word processor. @param {any} e */
export function bringsFiles(e) {
  const { types } = e.clipboardData ?? e.dataTransfer;
  return types.includes('Files') && !types.includes('text/plain');
}

/** Takes files that are dragged over a room and dropped there. */
export class Dropping {
  over = 0; // elements below the pointer that have been entered

  /** @param {HTMLElement} room @param {(files: FileList) => void} take */
  constructor(room, take) {
    this.room = room;
    this.life = new AbortController();
    const { signal } = this.life;
    const on = (/** @type {string} */ name, /** @type {(e: any) => void} */ act) => room.addEventListener(name, (e) => {
      if (!mayAttach() || !bringsFiles(e)) return;
      e.preventDefault();
      act(e);
    }, { signal });
    on('dragenter', () => this.show(this.over + 1));
    on('dragleave', () => this.show(this.over - 1));
    on('dragover', (e) => { e.dataTransfer.dropEffect = 'copy'; });
    on('drop', (e) => {
      this.show(0);
      take(e.dataTransfer.files);
    });
  }

  /** @param {number} over */
  show(over) {
    this.over = Math.max(0, over);
    this.room.classList.toggle('dropping', this.over > 0);
    this.room.dataset.drop = t('attach.drop');
  }

  end() {
    this.show(0);
    this.life.abort();
  }
}
