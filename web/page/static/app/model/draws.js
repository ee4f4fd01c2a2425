// Draws: packets that users enter for a while. The shares are drawn when that has ended. Nothing tells the user's own result before the end is shown.
import { state } from '../state.js';

/**
 * @typedef {import('../state.js').PacketView} PacketView
 *
 * @typedef {object} Odds
 * @property {number} participants
 * @property {number} winners
 * @property {boolean} all       each participant wins
 * @property {number} mean       what a participant gets on average, in minor units, rounded down
 * @property {boolean} exact     it is not rounded
 */

/** @param {import('../../sdk/types.js').Packet} packet */
export function isDraw(packet) { return Boolean(packet.window_s); }

/** @param {PacketView} view */
export function hasEntered(view) { return Boolean(view.state.draw?.receipt); }

/** @param {PacketView} view */
export function participants(view) { return view.state.draw?.participants ?? 0; }

/** The chances of a participant as the draw stands; of a user that has not entered, as if they did now. @param {PacketView} view @returns {Odds} */
export function oddsOf(view) {
  const { packet, state: s } = view;
  const n = Math.max(1, participants(view) + (s.status === 'open' && !hasEntered(view) ? 1 : 0));
  const winners = Math.min(packet.count, n);
  const parts = packet.rest === 'share' ? n : Math.max(packet.count, n);
  return { participants: n, winners, all: winners === n, mean: Math.floor(packet.total / parts), exact: packet.total % parts === 0 };
}

/** The end of a draw is not told yet: it has not come, or its envelope is still closed on this page. @param {PacketView} view */
export function isVeiled(view) { return isDraw(view.packet) && (view.state.status === 'open' || view.veiled); }

/** @param {string|undefined} id of a packet */
export function isUntold(id) {
  const view = state.packets.get(id ?? '');
  return view !== undefined && isVeiled(view);
}

/** What the user has won in draws whose end is not told, in the rooms that tell it. */
function untold() {
  let sum = 0;
  for (const view of state.packets.values()) {
    if (isVeiled(view) && state.rooms.has(view.packet.room)) sum += view.state.mine?.amount ?? view.won?.amount ?? 0;
  }
  return sum;
}

/** The balance without what the envelopes have not told yet. */
export function shownBalance() { return state.account.balance - untold(); }
