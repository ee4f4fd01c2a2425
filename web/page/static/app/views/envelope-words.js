// The state of a packet in a few words.
import { state } from '../state.js';
import { t } from '../words.js';
import { clock, duration, money, number } from '../format.js';
import { isDraw } from '../model/draws.js';
import { isHolding } from '../model/early.js';
import { lastOpener } from '../model/packets.js';
import { isRain } from '../model/rain.js';
import { drawStanding } from './draw-words.js';
import { rainStanding } from './rain-words.js';

/** @param {import('../state.js').PacketView} view */
export function standing(view) {
  const { packet, state: s } = view;
  return [opened(view), s.status === 'open' && isHolding(packet) && heldWords(packet)].filter(Boolean).join(' · ');
}

/** How many shares wait, and until when. @param {import('../../sdk/types.js').Packet} packet */
export function heldWords({ held = 0, held_until: until = 0 }) { return t('envelope.held', { count: held, time: clock(until) }); }

/** How many of its shares are opened, or how it has ended. @param {import('../state.js').PacketView} view */
function opened(view) {
  const { packet, state: s } = view;
  if (isDraw(packet)) return drawStanding(view);
  if (isRain(packet)) return rainStanding(view);
  switch (s.status) {
    case 'cancelled':
      return t('envelope.cancelled');
    case 'expired':
      return s.refunded ? t('envelope.expiredReturned', { amount: money(s.refunded) }) : t('envelope.expired');
    case 'drained':
      return packet.count === 1 && lastOpener(view) ? openedYours(view) : [t('envelope.all'), luckiest(s)].filter(Boolean).join(' · ');
  }
  if (s.claimed && lastOpener(view)) return `${openedYours(view)} · ${t('envelope.of', { claimed: number(s.claimed), count: number(packet.count) })}`;
  if (s.claimed) return t('envelope.opened', { claimed: number(s.claimed), count: number(packet.count) });
  const shares = t('envelope.shares', { count: packet.count, shown: number(packet.count) });
  return packet.count === 1 ? shares : `${t(`envelope.${packet.mode}`)} · ${shares}`;
}

/** @param {import('../state.js').PacketView} view */
function openedYours(view) { return t('envelope.openedYours', { name: lastOpener(view) }); }

/** "All opened in 12 s", if it is known how long it took. @param {import('../state.js').PacketView} view */
export function allOpened({ packet, doneAt }) {
  return doneAt ? t('envelope.allIn', { time: duration(doneAt - packet.created_at) }) : t('envelope.all');
}

/** @param {import('../state.js').PacketState} s */
function luckiest({ luckiest: who }) {
  if (!who) return '';
  const name = who.user === state.me?.id ? t('envelope.me') : state.people.get(who.user)?.name;
  return name ? `${name} 👑` : '';
}

/** The users that may grab, if not all members may. @param {{to?: string[], earlier_members?: boolean}} packet */
export function audience({ to, earlier_members: earlier }) {
  if (!to?.length) return earlier ? t('envelope.forEarlier') : '';
  if (to.includes(state.me?.id ?? '')) return t('envelope.forYou');
  const name = to.length === 1 && state.people.get(to[0])?.name;
  return name ? t('envelope.forOne', { name }) : t('envelope.forSome', { count: to.length });
}
