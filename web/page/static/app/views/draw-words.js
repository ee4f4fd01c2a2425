// Draws in a few words: who takes part, the chances, and the end.
import { t } from '../words.js';
import { money, number } from '../format.js';
import { hasEntered, oddsOf, participants } from '../model/draws.js';
import { isOver } from './draw-ring.js';

/** @param {import('../state.js').PacketView} view */
export function drawStanding(view) {
  const { packet, state: s } = view;
  if (s.status !== 'open') return drawn(s);
  if (isOver(packet)) return t('draw.drawing');
  const n = participants(view);
  if (hasEntered(view)) return `${t('draw.in')} · ${chance(view)}`;
  const shares = t('envelope.shares', { count: packet.count, shown: number(packet.count) });
  return [n ? t('draw.count', { count: n, shown: number(n) }) : t('draw.draw'), shares].join(' · ');
}

/** "3 of 17 win". @param {import('../state.js').PacketView} view */
export function chance(view) {
  const { participants: n, winners, all } = oddsOf(view);
  const values = { count: n, shown: number(n), winners: number(winners), won: winners };
  return t(all ? 'draw.allWin' : 'draw.win', values);
}

/** The chance and what it is worth; of a user that has not entered, as if they did now. @param {import('../state.js').PacketView} view */
export function worth(view) {
  const { mean, exact, all } = oddsOf(view);
  const amount = `${exact ? '' : '≈ '}${money(mean)}`;
  const { packet } = view;
  const same = all && packet.mode === 'equal' && exact;
  return t(same ? 'draw.each' : 'draw.mean', { amount });
}

/** The end of a draw. @param {import('../../sdk/types.js').State} s */
export function drawn(s) {
  const n = s.draw?.participants ?? 0;
  if (s.status === 'cancelled') return t('envelope.cancelled');
  const returned = s.refunded ? t('draw.returned', { amount: money(s.refunded) }) : '';
  return [n ? won(s) : t('draw.nobody'), returned].filter(Boolean).join(' · ');
}

/** "3 of 17 won". @param {import('../../sdk/types.js').State} s */
export function won({ claimed, draw }) {
  const n = draw?.participants ?? 0;
  return t(claimed === n ? 'draw.allWon' : 'draw.won', { count: n, shown: number(n), winners: number(claimed), won: claimed });
}
