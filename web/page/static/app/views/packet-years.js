// The red packets that the user has sent and received, year by year, with totals.
import { h, Component } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { brief, money, number, shortDay } from '../format.js';
import { isUntold } from '../model/draws.js';
import { moreOfYear, renewYear, showYear, yearView } from '../actions/wallet.js';
import { openSheet } from '../route.js';
import { Endless } from './endless.js';
import { drawn } from './draw-words.js';
import { rained } from './rain-words.js';
import { Icon } from './icon.js';
import { Time } from './parts.js';

/** @type {('received'|'sent')[]} */
const directions = ['received', 'sent'];

export class PacketYears extends Component {
  componentDidMount() { renewYear(); }

  render() {
    const { direction } = state.years;
    const view = yearView();
    const { pages, totals } = view;
    return h('div', { class: 'years stack' },
      h('div', { class: 'panel-switch', role: 'group', 'aria-label': t('years.which') },
        directions.map((d) => h('button', {
          key: d, type: 'button', 'aria-pressed': d === direction, onClick: () => showYear({ direction: d }),
        }, t(`years.of.${d}`)))),
      h(YearSwitch, { view }),
      h(Totals, { totals, direction }),
      h(Summary, { received: yearView('received').totals, sent: yearView('sent').totals }),
      pages.loaded && !pages.items.length ? h(None, { direction }) : h('ul', { class: 'panel-list' },
        pages.items.filter(({ packet }) => direction === 'sent' || !isUntold(packet.id)).map((row) => h('li', { key: row.packet.id }, h(Row, { row, direction })))),
      h(Endless, { key: `${direction}/${state.years.year}`, pages, first: renewYear, more: moreOfYear }));
  }
}

function YearSwitch({ view }) {
  const { year } = state.years;
  const last = new Date().getFullYear();
  return h('div', { class: 'row year-switch' },
    h(Turn, { label: t('years.before'), to: year - 1, disabled: !view.earlier }),
    h('h3', { class: 'number', 'aria-live': 'polite' }, t('years.year', { year })),
    h(Turn, { label: t('years.after'), to: year + 1, disabled: year >= last, side: 'after' }));
}

function Turn({ label, to, disabled, side = '' }) {
  return h('button', {
    class: `button quiet icon ${side}`, type: 'button', 'aria-label': label, disabled, onClick: () => showYear({ year: to }),
  }, h(Icon, { name: 'back' }));
}

function Totals({ totals, direction }) {
  if (!totals) return h('div', { class: 'year-totals' });
  const { count, amount } = totals;
  return h('div', { class: 'year-totals' },
    h('p', { class: 'wallet-balance number' }, money(amount)),
    h('p', { class: 'muted' }, t(`years.count.${direction}`, { count, shown: number(count) })));
}

const half = 12 * 3_600_000; // ms: the middle of a day is in it, also where clocks are changed

/** The year in short. @param {{received: import('../../sdk/types.js').Totals|null, sent: import('../../sdk/types.js').Totals|null}} props */
function Summary({ received, sent }) {
  if (!received || !sent || !received.count && !sent.count) return null;
  const best = received.best_day;
  const facts = [
    ['received', money(received.amount)], ['sent', money(sent.amount)], ['luckiest', t('years.times', { count: received.luckiest, shown: number(received.luckiest) })],
    best && ['best', money(best.amount), shortDay(best.at + half)],
  ].filter(Boolean);
  return h('dl', { class: 'year-summary' }, facts.map(([what, shown, more]) => h('div', { key: what },
    h('dt', { class: 'muted small' }, what === 'luckiest' && h(Icon, { name: 'crown', size: 14 }), t(`years.summary.${what}`), more && ` · ${more}`),
    h('dd', { class: 'number' }, shown))));
}

/** A packet that the user has sent or has a share of. */
export function Row({ row, direction }) {
  const { packet } = row;
  const now = state.packets.get(packet.id)?.state ?? row.state;
  const received = direction === 'received';
  const at = received ? now.mine?.at ?? packet.created_at : packet.created_at;
  return h('button', { class: 'panel-row', type: 'button', onClick: () => openSheet('packet', packet.id) },
    h('span', { class: 'panel-disc of-packet' }, h(Icon, { name: 'envelope', size: 20 })),
    h('span', { class: 'grow' },
      h('span', { class: 'two-lines', dir: 'auto' }, received ? packet.from.name || packet.from.id : packet.greeting),
      h('span', { class: 'muted small cut line' },
        h(Time, { at }, brief(at)), ' · ', received ? h('bdi', null, packet.greeting) : standing(packet, now))),
    h('span', { class: 'amount-side' },
      h('span', { class: 'number amount' }, money(received ? now.mine?.amount ?? 0 : packet.total)),
      received && now.luckiest?.user === state.me?.id && h('span', { class: 'luckiest small' },
        h(Icon, { name: 'crown', size: 14 }), t('years.crown'))));
}

/** The state of a sent packet. */
function standing(packet, s) {
  const { status, claimed, refunded } = s;
  if (packet.waves && status !== 'open') return rained(s);
  if (packet.window_s && status !== 'open') return drawn(s);
  if (refunded) return t(status === 'cancelled' ? 'years.cancelled' : 'years.refunded', { amount: money(refunded) });
  return t('years.opened', { claimed: number(claimed), count: number(packet.count) });
}

function None({ direction }) {
  return h('div', { class: 'empty' },
    h('h2', null, t(`years.no.${direction}`)),
    h('p', null, t(`years.noNext.${direction}`)));
}
