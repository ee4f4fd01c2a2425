// Short notes, and texts for screen readers only. A dialog has its own, because the content below it is hidden from
// both.
import { h, Fragment } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { NewsBanner } from './news-banner.js';

export function Passing({ covered = false }) {
  const toasts = covered ? [] : state.toasts;
  return h(Fragment, null,
    !covered && h(NewsBanner, null),
    h('div', { class: 'toasts', ...toasts.length && { role: 'region', 'aria-label': t('notes') } }, toasts.map(({ id, text, act }) => h('p', { class: 'toast', key: id },
      text, act && h('button', { class: 'toast-act', type: 'button', onClick: act.run }, act.label)))),
    h('p', { class: 'only-read', role: 'status', 'aria-live': 'polite' }, covered ? '' : state.announcement));
}
