// The thin bar that shows the state of the connection, unless it simply works. It lies over the page, so that no text
// moves.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { isBad, isBehind } from '../model/link.js';
import { Icon } from './icon.js';

export function LinkBar() {
  const { notice } = state;
  const name = notice === 'well' && isBehind() ? 'resuming' : state.saved && isBad(notice) ? 'saved' : notice;
  return h('div', { class: 'link-place', role: 'status' }, notice !== 'no' && h('p', { class: `link ${name}` },
    h('span', { class: 'link-mark', 'aria-hidden': 'true' },
      name === 'well' ? h(Icon, { name: 'check', size: 16 }) : h('i', { class: 'link-dot' })),
    t(`link.${name}`)));
}
