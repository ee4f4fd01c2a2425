// Rains in a few words: the plan, the waves, and the end.
import { t } from '../words.js';
import { duration, money, number } from '../format.js';
import { openWave, rainOf } from '../model/rain.js';

/** "10 waves over 1 min". @param {import('../../sdk/types.js').Packet} packet */
export function plan({ waves = 0, over_s: over = 0 }) { return t('rain.plan', { shown: number(waves), time: duration(over * 1000) }); }

/** "wave 2 of 10"; empty before the first. @param {import('../state.js').PacketView} view */
export function present(view) {
  const { wave } = rainOf(view);
  return wave ? t('rain.wave', { wave: number(wave), shown: number(view.packet.waves ?? 0) }) : '';
}

/** @param {import('../state.js').PacketView} view */
export function rainStanding(view) {
  const { packet, state: s } = view;
  if (s.status !== 'open') return rained(s);
  if (openWave(view)) return t('rain.falls');
  return [plan(packet), present(view)].filter(Boolean).join(' · ');
}

/** The end of a rain. @param {import('../../sdk/types.js').State} s */
export function rained(s) {
  if (s.status === 'cancelled') return t('envelope.cancelled');
  const returned = s.refunded ? t('draw.returned', { amount: money(s.refunded) }) : '';
  return [s.claimed ? t('rain.caught', { count: s.claimed, shown: number(s.claimed) }) : t('rain.nobody'), returned].filter(Boolean).join(' · ');
}
