// A draw on its closed envelope: the ring around the coin, the chances, and who takes part.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { number } from '../format.js';
import { hasEntered, participants } from '../model/draws.js';
import { Avatar } from './parts.js';
import { isOver, Ring, TimeLeft } from './draw-ring.js';
import { chance, worth } from './draw-words.js';
import { Icon } from './icon.js';

const avatarsShown = 6;

/** The ring of a draw that is open. */
export function DrawRing({ packet }) { return h('span', { class: 'opening-ring', 'aria-hidden': 'true' }, h(Ring, { packet })); }

/** What the coin says. */
export function drawCoin(view) {
  if (view.grab === 'asking') return '…';
  if (hasEntered(view) || isOver(view.packet)) return h(TimeLeft, { packet: view.packet, bare: true });
  return t('draw.enter');
}

/** The label of the coin. */
export function drawLabel(view) {
  if (hasEntered(view)) return t('draw.in');
  return t(isOver(view.packet) ? 'draw.tooLate' : 'draw.enter');
}

export function DrawFoot({ view }) {
  const { packet } = view;
  const entered = hasEntered(view);
  const over = isOver(packet);
  const n = participants(view);
  const users = entrants(view);
  return h('div', { class: 'draw-foot' },
    h('p', { class: `small ${entered ? 'draw-in' : ''}` }, entered && h(Icon, { name: 'check', size: 16 }), entered ? t('draw.in') : over ? '' : t('draw.ifYou')),
    h('p', { class: 'draw-chance number' }, over && !entered ? t('draw.tooLate') : chance(view)),
    h('p', { class: 'small number' }, over && !entered ? '' : worth(view)),
    view.receiptIs === 'bad' && h('p', { class: 'opening-refusal', role: 'alert' }, t('draw.receiptWrong')),
    h('p', { class: 'draw-people small' },
      users.length > 0 && h('span', { class: 'envelope-openers' }, users.map((user) => h(Avatar, { key: user.id, user, size: 'tiny' }))),
      h('span', { class: 'number' }, t('draw.count', { count: n, shown: number(n) }), ' · ', h(TimeLeft, { packet }))));
}

/** The latest participants, as far as known. @param {import('../state.js').PacketView} view */
export function entrants(view) {
  const ids = view.latest.length || !hasEntered(view) ? view.latest : [state.me?.id ?? ''];
  return ids.map((id) => state.people.get(id)).filter((user) => user !== undefined).slice(-avatarsShown);
}
