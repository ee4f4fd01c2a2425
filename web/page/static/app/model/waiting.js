// Red packets that wait: open ones of others that the user may still open, and whose place in the room is known.
import { state } from '../state.js';
import { hasEntered } from './draws.js';
import { isEarly } from './early.js';
import { isForMe, packetView, setPacketState } from './packets.js';
import { serverNow } from './clock.js';

/** @typedef {import('../state.js').PacketView} PacketView */

/** Refusals after which the user can never open the packet. */
const final = new Set(['not_found', 'not_member', 'not_recipient', 'joined_later', 'denied', 'elsewhere']);

/** Stores a packet that the server lists as waiting. @param {import('../../sdk/types.js').PacketState} row */
export function noteOffered(row) {
  Object.assign(packetView(row.packet), { seq: row.seq, offered: true });
  setPacketState(row.state);
}

/** @param {PacketView} view */
function waits(view) {
  const { packet, state: s } = view;
  return view.seq !== null && s.status === 'open' && !s.mine && s.claimed < packet.count && packet.from.id !== state.me?.id && isForMe(packet)
    && (!packet.earlier_members || view.offered) && !final.has(view.refusal?.word) && !hasEntered(view) && !s.rain?.wins?.length && !isEarly(packet)
    && packet.expires_at > serverNow();
}

/** The packets that wait in a room, the oldest first. @param {string} room @returns {PacketView[]} */
export function waitingIn(room) {
  return [...state.packets.values()].filter((view) => view.packet.room === room && waits(view)).sort((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
}

/** The user's newest packet that newcomers to a room may open, if the user has one there: an invitation carries it. @param {string} room */
export function packetForNewcomers(room) {
  return [...state.packets.values()].filter(({ packet, state: s }) => packet.room === room && packet.from.id === state.me?.id && s.status === 'open'
    && s.claimed < packet.count && !packet.to && !packet.earlier_members && !packet.locked && packet.expires_at > serverNow())
    .sort((a, b) => b.packet.created_at - a.packet.created_at)[0]?.packet;
}

/** How many packets wait, by room. @returns {Map<string, number>} */
export function waitingByRoom() {
  const counts = new Map();
  for (const view of state.packets.values()) if (waits(view)) counts.set(view.packet.room, (counts.get(view.packet.room) ?? 0) + 1);
  return counts;
}
