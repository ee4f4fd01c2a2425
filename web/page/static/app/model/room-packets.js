// The red packets of a room by part, as far as they were read: the newest first.
import { emptyPages } from './pages.js';
import { packetView, setPacketState } from './packets.js';

/** @typedef {'open'|'mine'|'ended'} Part */

/** @type {Part[]} */
export const packetParts = ['open', 'mine', 'ended'];

/** The ids of the packets of a part. @param {import('../state.js').RoomView} view @param {Part} part @returns {import('./pages.js').Pages<string>} */
export function packetsOf(view, part) {
  const pages = view.packets.get(part) ?? emptyPages();
  view.packets.set(part, pages);
  return pages;
}

/** Stores a packet of a list. @param {import('../../sdk/types.js').PacketState} row */
export function noteListed(row) {
  packetView(row.packet).seq = row.seq;
  setPacketState(row.state);
}
