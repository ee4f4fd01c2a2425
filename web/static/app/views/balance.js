// The balance, with a link to the wallet. While an envelope is being opened it stays: the envelope tells the amount first.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { money, playMoney } from '../format.js';
import { openSheet } from '../route.js';

export function Balance() {
  const amount = state.sealed?.balance ?? state.account.balance;
  return h('button', {
    class: 'button quiet balance', type: 'button', 'aria-label': t('wallet.open', { balance: playMoney(amount) }), onClick: () => openSheet('wallet'),
  }, h('span', { class: 'number' }, money(amount)), state.page?.play_money && h('span', { class: 'muted small' }, t('wallet.playShort')));
}
