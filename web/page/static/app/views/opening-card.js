// The card that comes out of an opened envelope: the amount, a thank-you, and which user got what.
import { h } from '../dom.js';
import { t } from '../words.js';
import { money } from '../format.js';
import { SaveReceipt } from './draw-check.js';
import { ClaimList } from './packet-list.js';
import { Icon } from './icon.js';
import { SoundOffer } from './sound-offer.js';
import { Thanks } from './thanks.js';
import { luckOf, outcome } from './opening-words.js';

export function OpeningCard({ view, amount }) {
  return h('div', { class: 'opening-scroll', tabIndex: 0, role: 'region', 'aria-label': t('packet.title') },
    h(Result, { view, amount }),
    h(Thanks, { packet: view.packet }),
    view.state.mine && h(SoundOffer, null),
    view.state.draw?.receipt && !view.state.mine && h('div', { class: 'row draw-files' }, h(SaveReceipt, { view })),
    h(ClaimList, { view }));
}

function Result({ view, amount }) {
  const words = outcome(view);
  const { packet, state: { mine } } = view;
  const { luckiest, least } = luckOf(view);
  return h('div', { class: 'opening-result' },
    h('p', { class: 'opening-of small' }, h('span', { class: 'cut' }, t('packet.from', { name: packet.from.name })), h('span', { class: 'cut', dir: 'auto' }, packet.greeting)),
    h('p', { class: mine ? '' : 'opening-sorry' }, words.title),
    mine && h('p', { class: 'amount number', ref: amount }, money(mine.amount)),
    least && h('p', null, t('packet.least')),
    words.more && h('p', { class: 'small' }, words.more),
    luckiest && h('p', { class: 'opening-crown' }, h('span', { class: 'crown' }, h(Icon, { name: 'crown', size: 16 }), t('packet.luckiest'))));
}
