// The card that comes out of an opened envelope: the amount, and, when that is told, a thank-you and which user got what.
import { h, Fragment } from '../dom.js';
import { t } from '../words.js';
import { money } from '../format.js';
import { showDetails } from '../actions/packets.js';
import { ShareCard } from './card-picture.js';
import { Crown } from './crown.js';
import { SaveReceipt } from './draw-check.js';
import { ClaimList } from './packet-list.js';
import { Icon } from './icon.js';
import { Thanks } from './thanks.js';
import { luckOf, outcome } from './opening-words.js';

/** @param {{view: import('../state.js').PacketView, amount: any, scroll: any, told: boolean}} props  amount: the place of the digits, which the animation fills */
export function OpeningCard({ view, amount, scroll, told }) {
  const { luckiest } = luckOf(view);
  return h(Fragment, null,
    told && luckiest && h(Crown, null),
    h('div', { class: 'opening-scroll', tabIndex: 0, role: 'region', 'aria-label': t('packet.title'), ref: scroll },
      h(Result, { view, amount, told }),
      h('div', { class: 'opening-rest' },
        h(Thanks, { packet: view.packet }),
        view.state.draw?.receipt && !view.state.mine && h('div', { class: 'row draw-files' }, h(SaveReceipt, { view })),
        h('div', { class: 'opening-more row' },
          h('button', { class: 'button quiet small', type: 'button', onClick: () => showDetails(view) }, h(Icon, { name: 'check', size: 16 }), t('packet.fair')),
          view.state.mine && h(ShareCard, { view })),
        h('div', { class: 'opening-claims' }, h(ClaimList, { view })))));
}

function Result({ view, amount, told }) {
  const words = outcome(view);
  const { packet, state: { mine } } = view;
  const { luckiest, least } = luckOf(view);
  return h('div', { class: 'opening-result' },
    h('p', { class: 'opening-of small' }, h('span', { class: 'cut' }, t('packet.from', { name: packet.from.name })), h('span', { class: 'cut', dir: 'auto' }, packet.greeting)),
    h('p', { class: mine ? '' : 'opening-sorry' }, words.title),
    mine && h('p', { class: 'amount number', ref: amount, 'aria-hidden': !told, style: { '--letters': money(mine.amount).length } }),
    h('div', { class: 'opening-rest' },
      words.more && h('p', { class: 'small' }, words.more, luckiest && h('strong', { class: 'opening-luckiest' }, ' · ', t('packet.luckiest'))),
      least && h('p', null, t('packet.least'))));
}
