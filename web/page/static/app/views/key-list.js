// The sheet with all keys.
import { h } from '../dom.js';
import { t } from '../words.js';
import { isMac } from './shortcuts.js';

const command = isMac ? '⌘' : 'Ctrl';
const alt = isMac ? '⌥' : 'Alt';

/** By group: the keys, each a list of those pressed together, and the place of what they do in the texts. */
const groups = {
  rooms: [[[command, 'K'], 'switch'], [[alt, '↑'], 'above'], [[alt, '↓'], 'below'], [[command, 'F'], 'search']],
  writing: [[['Enter'], 'send'], [['Shift', 'Enter'], 'line'], [['↑'], 'edit'], [['@'], 'mention'], [['Esc'], 'cancel']],
  reading: [[['↑'], 'up'], [['↓'], 'down'], [['Enter'], 'menu'], [['End'], 'newest'], [['?'], 'all']],
};

export function KeyList() {
  return h('div', { class: 'stack key-list' }, Object.entries(groups).map(([name, rows]) => h('section', { key: name },
    h('h3', { class: 'small muted' }, t(`keys.group.${name}`)),
    h('dl', null, rows.map(([keys, does]) => h('div', { key: does },
      h('dt', null, keys.map((key) => h('kbd', { key }, key))),
      h('dd', null, t(`keys.${does}`))))))));
}
