// A link to a window of another guest, so that one browser can try both sides of a chat.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { anotherGuest } from '../identity.js';
import { Icon } from './icon.js';

export function SecondGuest() {
  if (state.by !== 'guest' || !state.page?.play_money) return null;
  return h('p', { class: 'second-guest' },
    h('a', { class: 'button wide', href: anotherGuest, target: '_blank', rel: 'noopener' },
      h(Icon, { name: 'people', size: 20 }), t('rooms.secondGuest')),
    h('span', { class: 'muted small' }, t('rooms.secondGuestMeans')));
}
