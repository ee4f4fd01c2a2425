// The balance, with a link to the wallet. While an envelope is being opened it stays: the envelope tells the amount first.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { money } from '../format.js';
import { shownBalance } from '../model/draws.js';
import { openSheet } from '../route.js';

export function Balance() {
  const amount = money(state.sealed?.balance ?? shownBalance());
  const kind = state.page?.play_money ? t('wallet.playShort') : '';
  return h('button', {
    class: 'button quiet balance', type: 'button', 'aria-label': t('wallet.open', { balance: `${amount} ${kind}`.trim() }), onClick: () => openSheet('wallet'),
  }, h('span', { class: 'number' }, amount), kind && [' ', h('span', { class: 'muted small' }, kind)]);
}
