// Packets that open later, and packets whose shares wait for some users.
import { serverNow } from './clock.js';

/** @typedef {import('../../sdk/types.js').Packet} Packet */

/** How long until the packet opens, in ms; 0: it is open. @param {Packet} packet */
export function untilOpen({ opens_at: at = 0 }) { return Math.max(0, at - serverNow()); }

/** @param {Packet} packet */
export function isEarly(packet) { return untilOpen(packet) > 0; }

/** Whether shares wait for some users now. @param {Packet} packet */
export function isHolding({ held = 0, held_until: until = 0 }) { return held > 0 && until > serverNow(); }
