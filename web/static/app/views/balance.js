// The balance, with a link to the wallet. While an envelope is being opened it stays: the envelope tells the amount first.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { money } from '../format.js';
import { openSheet } from '../route.js';

export function Balance() {
  const balance = money(state.sealed?.balance ?? state.account.balance);
  return h('button', {
    class: 'button quiet number', type: 'button', 'aria-label': t('wallet.open', { balance }), onClick: () => openSheet('wallet'),
  }, balance);
}
