// The limits that the user sets on what they send and receive in packets a day.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { fullTime, money, parseMoney, plainMoney } from '../format.js';
import { setOwnLimits } from '../actions/wallet.js';

/** @type {('sent'|'received')[]} */
const sides = ['sent', 'received'];

export class OwnLimits extends Component {
  state = { sent: undefined, received: undefined, wrong: '', busy: false };

  /** The typed amount, or the limit that is set. */
  text(side) {
    const { own } = state.dayLimits[side];
    return this.state[side] ?? (own === undefined ? '' : plainMoney(own));
  }

  async set(limits) {
    this.setState({ busy: true, wrong: '' });
    const done = await setOwnLimits(limits);
    this.setState({ busy: false, ...done && { sent: undefined, received: undefined } });
  }

  submit(e) {
    e.preventDefault();
    /** @type {{sent?: number, received?: number}} */
    const limits = {};
    for (const side of sides) {
      const typed = this.state[side]?.trim();
      if (typed === undefined) continue;
      const amount = typed === '' ? -1 : parseMoney(typed);
      if (amount === null) {
        this.setState({ wrong: side });
        return;
      }
      limits[side] = amount;
    }
    if (Object.keys(limits).length) this.set(limits);
  }

  render(_, { wrong, busy }) {
    if (!state.dayLimits) return null;
    return h('details', { class: 'compose-more' },
      h('summary', null, h('span', null, t('limits.title')), h('span', { class: 'muted small cut' }, sides.map(inForce).filter(Boolean).join(' · '))),
      h('form', { class: 'stack', onSubmit: (e) => this.submit(e) },
        h('p', { class: 'muted small' }, t('limits.means')),
        sides.map((side) => h('label', { key: side, class: 'stack' },
          h('span', null, t(`limits.${side}`)),
          h('input', {
            class: 'input', type: 'text', name: `limit-${side}`, inputMode: 'decimal', autocomplete: 'off', value: this.text(side), placeholder: t('limits.none'),
            'aria-invalid': wrong === side, 'aria-describedby': `limit-${side}-note`, onInput: (e) => this.setState({ [side]: e.target.value, wrong: '' }),
          }),
          h('span', { class: wrong === side ? 'problem' : 'muted small', id: `limit-${side}-note`, role: wrong === side ? 'alert' : undefined },
            wrong === side ? t('limits.wrong') : note(side)))),
        h('div', { class: 'row' },
          h('button', { class: 'button grow', type: 'button', disabled: busy, onClick: () => this.set({ sent: 0, received: 0 }) }, t('limits.stop')),
          h('button', { class: 'button primary grow', type: 'submit', disabled: busy }, t('limits.set')))));
  }
}

/** What is in force, in the folded line. */
function inForce(side) {
  const { limit } = state.dayLimits[side];
  return limit !== undefined && t(`limits.now.${side}`, { amount: money(limit) });
}

/** What was used today, and what follows when. */
function note(side) {
  const { today, next, next_at: at } = state.dayLimits[side];
  const used = t('limits.today', { amount: money(today) });
  if (!at) return used;
  return `${used} ${next === -1 ? t('limits.endsAt', { at: fullTime(at) }) : t('limits.nextAt', { amount: money(next), at: fullTime(at) })}`;
}
