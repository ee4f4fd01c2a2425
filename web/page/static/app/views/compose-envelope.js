// The envelope in the form of a packet: the amount, amounts to tap, and the greeting.
import { h } from '../dom.js';
import { t } from '../words.js';
import { currencySign, money, plainMoney, playMoney } from '../format.js';
import { luckyAmounts } from '../model/compose.js';
import { shownBalance } from '../model/draws.js';
import { skinned } from '../model/skins.js';
import { Coin } from './coin.js';

export function ComposeEnvelope({ form, problem, fill, left }) {
  const { kind, total, greeting } = form;
  const wrong = problem('total');
  const tooLong = problem('greeting');
  return h('div', skinned(form.skin, 'compose-envelope'),
    h('label', { for: 'compose-total' }, t(kind === 'lucky' ? 'compose.total' : kind === 'equal' ? 'compose.totalEach' : 'compose.amount')),
    h('div', { class: 'compose-figure amount' },
      h('span', { 'aria-hidden': 'true' }, currencySign()),
      h('input', {
        id: 'compose-total', name: 'total', value: total, inputMode: 'decimal', autocomplete: 'off', autofocus: true, placeholder: plainMoney(0),
        'aria-invalid': Boolean(wrong), 'aria-describedby': 'compose-total-more', style: { width: `${Math.max(4, total.length) + 0.5}ch` },
        onInput: (e) => fill({ total: e.target.value }),
      })),
    h('p', { class: wrong ? 'problem' : 'small', id: 'compose-total-more', 'aria-live': 'polite' },
      wrong || t('compose.balance', { balance: playMoney(shownBalance()) })),
    h('div', { class: 'compose-amounts', role: 'group', 'aria-label': t('compose.quick') }, luckyAmounts().map((minor) => h('button', {
      type: 'button', key: minor, 'aria-pressed': total === plainMoney(minor), 'aria-label': money(minor), onClick: () => fill({ total: plainMoney(minor) }),
    }, plainMoney(minor)))),
    h('span', { class: 'compose-coin' }, h(Coin, null)),
    h('input', {
      class: 'compose-greeting', name: 'greeting', value: greeting, placeholder: t('compose.usualGreeting'), 'aria-label': t('compose.greeting'), autocomplete: 'off',
      dir: 'auto', 'aria-invalid': Boolean(tooLong), 'aria-describedby': 'compose-greeting-more', onInput: (e) => fill({ greeting: e.target.value }),
    }),
    h('p', { class: tooLong ? 'problem' : 'small', id: 'compose-greeting-more', 'aria-live': 'polite' }, tooLong || left));
}
