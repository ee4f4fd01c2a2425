// The wallet: balance and transfers.
import { h, Component, Fragment } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { clock, day, money, signedMoney, startOfDay } from '../format.js';
import { isUntold, shownBalance } from '../model/draws.js';
import { olderTransfers, renewTransfers } from '../actions/wallet.js';
import { openSheet } from '../route.js';
import { Endless } from './endless.js';
import { Icon } from './icon.js';
import { OwnLimits } from './own-limits.js';
import { Time } from './parts.js';

export class Wallet extends Component {
  componentDidMount() { this.renew(); }

  /** A change of the account may mean new transfers. */
  componentDidUpdate() {
    if (state.account !== this.account && !state.wallet.loading) this.renew();
  }

  renew() {
    this.account = state.account;
    renewTransfers();
  }

  render() {
    const { wallet } = state;
    const told = wallet.items.filter((m) => m.kind !== 'claim' || !isUntold(m.packet));
    return h('div', { class: 'wallet stack' },
      h('div', { class: 'wallet-head' },
        h('p', { class: 'muted small' }, t(state.page?.play_money ? 'wallet.playBalance' : 'wallet.balance')),
        h('p', { class: 'wallet-balance number' }, money(shownBalance())),
        h('button', { class: 'button', type: 'button', onClick: () => openSheet('packets') },
          h(Icon, { name: 'envelope', size: 20 }), t('years.title'))),
      h(OwnLimits, null),
      wallet.loaded && !told.length
        ? h(NoTransfers, null)
        : byDay(told).map(({ at, items }) => h(Day, { key: at, at, items })),
      h(Endless, { pages: wallet, first: renewTransfers, more: olderTransfers }));
  }
}

function NoTransfers() {
  return h('div', { class: 'empty' },
    h('h2', null, t('wallet.empty')),
    h('p', null, t('wallet.emptyNext')),
    h('button', { class: 'button', type: 'button', onClick: () => openSheet('find') }, t('find.title')));
}

/** @param {import('../../sdk/types.js').Transfer[]} transfers newest first */
function byDay(transfers) {
  /** @type {{at: number, items: import('../../sdk/types.js').Transfer[]}[]} */
  const days = [];
  for (const m of transfers) {
    const at = startOfDay(m.at);
    const last = days.at(-1);
    if (last?.at === at) last.items.push(m);
    else days.push({ at, items: [m] });
  }
  return days;
}

function Day({ at, items }) {
  return h('section', { class: 'by-day' },
    h('h3', { class: 'small muted' }, day(at)),
    h('ul', { class: 'panel-list' }, items.map((m) => h('li', { key: m.id }, h(Transfer, { m })))));
}

function Transfer({ m }) {
  const inside = h(Fragment, null,
    h('span', { class: `panel-disc ${m.packet ? 'of-packet' : ''}` }, h(Icon, { name: m.packet ? 'envelope' : 'wallet', size: 20 })),
    h('span', { class: 'grow' },
      h('span', { class: 'two-lines' }, what(m)),
      h('span', { class: 'muted small cut line' }, h(Time, { at: m.at }, clock(m.at)), more(m) && ` · ${more(m)}`)),
    h('span', { class: `number amount ${m.amount > 0 ? 'plus' : ''}` }, signedMoney(m.amount)));
  return m.packet
    ? h('button', { class: 'panel-row', type: 'button', onClick: () => openSheet('packet', m.packet) }, inside)
    : h('div', { class: 'panel-row' }, inside);
}

/** The description of a transfer. */
function what(m) {
  const from = m.kind === 'claim' && state.packets.get(m.packet)?.packet.from;
  if (from) return from.id === state.me?.id ? t('wallet.claimOwn') : t('wallet.claimFrom', { name: from.name || from.id });
  return t(isWelcome(m) ? (state.page?.play_money ? 'wallet.playWelcome' : 'wallet.welcome') : `wallet.kind.${m.kind}`);
}

/** More details of it. */
function more(m) {
  if (m.packet) return state.packets.get(m.packet)?.packet.greeting;
  return isWelcome(m) ? '' : m.note;
}

/** The initial money of guests. */
function isWelcome({ kind, note }) { return kind === 'credit' && note === 'welcome'; }
