// The empty list of rooms: how to get into one.
import { h } from '../dom.js';
import { t } from '../words.js';
import { state } from '../state.js';
import { openSheet } from '../route.js';
import { Icon } from './icon.js';
import { Loading } from './parts.js';
import { PublicRooms } from './public-rooms.js';

export function NoRooms() {
  if (state.isNew) return h(Loading, null); // on the way to the lobby
  return h('div', { class: 'no-rooms stack' },
    h('div', { class: 'empty' },
      h('h2', null, t('rooms.none')),
      h('p', null, t('rooms.noneYet')),
      h('button', { class: 'button primary', type: 'button', onClick: () => openSheet('new-room') },
        h(Icon, { name: 'plus', size: 20 }), t('rooms.newRoom'))),
    h('section', { class: 'stack', 'aria-label': t('rooms.openToAll') },
      h('h2', { class: 'small muted' }, t('rooms.openToAll')),
      h(PublicRooms, { query: '', renews: true, none: t('rooms.noPublic') })));
}
