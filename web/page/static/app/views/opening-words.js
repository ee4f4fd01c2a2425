// The result of opening an envelope, as text.
import { state } from '../state.js';
import { t, inWords } from '../words.js';
import { duration, money, number } from '../format.js';
import { isDraw } from '../model/draws.js';
import { isRain } from '../model/rain.js';
import { triesLeft } from '../model/packets.js';
import { won } from './draw-words.js';

/** @param {import('../state.js').PacketView} view that was answered @returns {{title: string, more: string}} */
export function outcome(view) {
  const { packet, state: s } = view;
  if (s.mine && isDraw(packet)) return { title: t('draw.got'), more: `${t('packet.inWallet')} · ${won(s)}` };
  if (s.mine) return { title: t(view.answer === 'already' ? 'packet.gotBefore' : 'packet.got'), more: t('packet.inWallet') };
  if (isRain(packet)) return { title: t(s.draw?.receipt ? 'rain.lostAll' : 'rain.notIn'), more: '' };
  if (isDraw(packet) && s.status !== 'cancelled') return drawOutcome(view);
  const shares = { count: packet.count, shown: number(packet.count) };
  switch (s.status) {
    case 'cancelled':
      return { title: t('packet.late.cancelled', { name: packet.from.name }), more: t('packet.late.cancelledMore') };
    case 'expired':
      return { title: t('packet.late.expired'), more: t('packet.late.expiredMore', { name: packet.from.name }) };
    default:
      return {
        title: t('packet.late.drained'),
        more: view.doneAt
          ? t('packet.late.drainedIn', { ...shares, time: duration(view.doneAt - packet.created_at) })
          : t('packet.late.drainedMore', shares),
      };
  }
}

/** @param {import('../state.js').PacketView} view of a draw in which the user has won nothing */
function drawOutcome({ packet, state: s }) {
  const nobody = !s.draw?.participants;
  if (nobody) return { title: t('draw.nobody'), more: s.refunded ? t('draw.returnedTo', { amount: money(s.refunded), name: packet.from.name }) : '' };
  return s.draw?.receipt ? { title: t('draw.lost'), more: t('draw.yourChance', { won: won(s) }) } : { title: t('draw.notIn'), more: won(s) };
}

/**
 * How lucky the user was: the share in mean shares, 1 if all are the same. luckiest: of all shares, which is known when all are taken.
 * @param {import('../state.js').PacketView} view
 */
export function luckOf({ packet, state: s }) {
  if (!s.mine || packet.mode !== 'lucky' || packet.count === 1) return { luck: 1, luckiest: false, least: false };
  return {
    luck: (s.mine.amount * (packet.rest === 'share' && s.claimed < packet.count ? s.claimed : packet.count)) / packet.total,
    luckiest: s.luckiest?.rank === s.mine.rank,
    least: s.mine.amount === 1,
  };
}

/**
 * Why it was not opened.
 * @param {import('../state.js').PacketView} view
 * @param {number} wait seconds that one still has to wait
 */
export function refused(view, wait) {
  const error = view.refusal;
  if (error.word === 'wrong_passphrase') return t('packet.wrong', { left: triesLeft(view) });
  if (error.word === 'rate_limited') return wait > 0 ? t('packet.wait', { time: duration(wait * 1000) }) : t('packet.waited');
  if (error.word === 'waiting') return t('packet.waiting', { count: error.count });
  if (error.word === 'elsewhere') return t('packet.elsewhere', { name: state.people.get(error.user)?.name || error.user });
  if (error.name === 'TimeoutError') return t('packet.noAnswer');
  return inWords(error);
}
