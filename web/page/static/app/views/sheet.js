// Sheet and Panel: the two frames over or beside a room. Escape, the button and the browser's back button close them. Then the focus goes
// back to the element that opened them, or else to the page behind.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { closeSheet } from '../route.js';
import { t } from '../words.js';
import { IconButton } from './parts.js';
import { Passing } from './passing.js';

const gap = 6; // px between a dialog and the element that it stands at
const wide = 320; // px, of such a dialog
const least = 360; // px below the element, if the dialog is to stand there

/** Puts a dialog below or above an element, where there is more place, and inside the window. Only the style of wide screens uses the place. @param {HTMLDialogElement} dialog @param {Element} anchor */
function placeAt(dialog, anchor) {
  const box = anchor.getBoundingClientRect();
  const below = innerHeight - box.bottom;
  const isBelow = below >= least || below >= box.top;
  const edge = Math.max(gap, Math.min(innerHeight - least, (isBelow ? box.bottom : innerHeight - box.top) + gap));
  dialog.classList.add('beside');
  dialog.style.setProperty(isBelow ? '--beside-top' : '--beside-bottom', `${edge}px`);
  dialog.style.setProperty('--beside-left', `${Math.max(gap, Math.min(box.left, innerWidth - wide - gap))}px`);
  dialog.style.setProperty('--beside-tall', `${innerHeight - edge - gap}px`);
}

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
    const anchor = dialog && this.props.beside?.();
    if (anchor) placeAt(dialog, anchor);
    dialog?.showModal();
  };

  componentWillUnmount() {
    this.dialog?.close();
    queueMicrotask(focusPage);
  }

  render({ title, kind = '', children }) {
    return h('dialog', {
      class: `sheet ${kind}`, ref: this.open, 'aria-label': title,
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
    if (!this.root.current.contains(document.activeElement)) return;
    this.opener.focus({ preventScroll: true });
    queueMicrotask(focusPage);
  }

  render({ title, children }) {
    return h('section', {
      class: 'panel', ref: this.root, tabIndex: -1, 'aria-label': title,
      onKeyDown: (e) => { if (e.key === 'Escape') closeSheet(); },
    }, h(Head, { title }), h('div', { class: 'sheet-body' }, children));
  }
}

/** Focuses the page if nothing on it has the focus: no element has opened the sheet, or that is gone. On a phone the keyboard would hide the page. */
function focusPage() {
  if (document.activeElement !== document.body) return;
  const field = state.wide && document.querySelector('.composer textarea');
  /** @type {any} */ (field || document.querySelector('[role=main]') || document.querySelector('main'))?.focus({ preventScroll: true });
}

function Head({ title }) {
  return h('div', { class: 'bar' },
    h('h2', { class: 'grow cut' }, title),
    h(IconButton, { icon: 'close', label: t('close'), onClick: closeSheet }));
}
