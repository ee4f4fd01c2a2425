// What is said in passing: short notes, and what only screen readers say. A dialog has its own, for what lies under it is neither
// seen nor read.
import { h, Fragment } from '../dom.js';
import { state } from '../state.js';

export function Passing({ covered = false }) {
  return h(Fragment, null,
    h('div', { class: 'toasts' }, !covered && state.toasts.map((toast) => h('p', { class: 'toast', key: toast.id }, toast.text))),
    h('p', { class: 'only-read', role: 'status', 'aria-live': 'polite' }, covered ? '' : state.announcement));
}
