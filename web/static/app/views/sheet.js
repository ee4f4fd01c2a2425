// Sheet and Panel: the two frames over or beside a room. Escape, the button and the browser's back button close them.
import { h, Component, createRef } from '../dom.js';
import { closeSheet } from '../route.js';
import { t } from '../words.js';
import { IconButton } from './parts.js';
import { Passing } from './passing.js';

export class Sheet extends Component {
  /** @type {HTMLDialogElement|null} */
  dialog = null;
  outside = false;

  /**
   * It is open before its content is told that it is mounted, and moves the focus to the first element.
   * @param {HTMLDialogElement|null} dialog
   */
  open = (dialog) => {
    this.dialog = dialog;
    dialog?.showModal();
  };

  componentWillUnmount() { this.dialog?.close(); }

  render({ title, children }) {
    return h('dialog', {
      class: 'sheet', ref: this.open, 'aria-label': title,
      onCancel: (e) => { e.preventDefault(); closeSheet(); },
      onPointerDown: (e) => { this.outside = e.target === this.dialog; }, // selecting text and releasing outside does not close it
      onClick: (e) => { if (e.target === this.dialog && this.outside) closeSheet(); },
    }, h(Head, { title }), h('div', { class: 'sheet-body' }, children), h(Passing, null));
  }
}

export class Panel extends Component {
  /** @type {{current: any}} */ root = createRef();
  /** @type {any} */ opener = null;

  /** The focus moves into it, as into a dialog, and back to the element that opened it. */
  componentDidMount() {
    this.opener = document.activeElement;
    if (!this.root.current.contains(this.opener)) this.root.current.focus({ preventScroll: true });
  }

  componentWillUnmount() {
    if (this.root.current.contains(document.activeElement)) this.opener.focus({ preventScroll: true });
  }

  render({ title, children }) {
    return h('section', {
      class: 'panel', ref: this.root, tabIndex: -1, 'aria-label': title,
      onKeyDown: (e) => { if (e.key === 'Escape') closeSheet(); },
    }, h(Head, { title }), h('div', { class: 'sheet-body' }, children));
  }
}

function Head({ title }) {
  return h('div', { class: 'bar' },
    h('h2', { class: 'grow cut' }, title),
    h(IconButton, { icon: 'close', label: t('close'), onClick: closeSheet }));
}
