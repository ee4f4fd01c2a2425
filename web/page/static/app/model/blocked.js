// Texts that people whom the user has blocked write in rooms with others: they stay hidden until the user asks for them.
import { state } from '../state.js';

/** @typedef {import('../state.js').RoomView} RoomView */

/** The ids of the blocked users, as kept in this browser until the server has told them; null: not known. @returns {string[]|null} */
export function blockedIds() { return state.contacts?.blocked.map((user) => user.id) ?? state.blockedBefore; }

/** Whether a text of this user is hidden: the user is blocked, or the blocked users are not known yet. @param {string} id */
function isBlocked(id) { return blockedIds()?.includes(id) ?? id !== state.me?.id; }

/** Whether a message is hidden. @param {RoomView} view @param {import('./timeline.js').Item} item */
export function isHidden(view, { kind, body, from, seq }) {
  return kind === 'text' && !body.recalled && view.room.kind !== 'direct' && isBlocked(from.id) && !view.unhidden.has(seq);
}

/**
 * How many hidden messages follow each other from an index on.
 * @param {RoomView} view @param {number} n @returns {number} 0: the message is not hidden; -1: an earlier one counts it
 */
export function hiddenFrom(view, n) {
  const { items } = view.timeline;
  if (!isHidden(view, items[n])) return 0;
  if (n > 0 && isHidden(view, items[n - 1])) return -1;
  let end = n;
  while (end < items.length && isHidden(view, items[end])) end++;
  return end - n;
}

/** Shows a run of hidden messages. @param {RoomView} view @param {number} n the index of the first one */
export function unhide(view, n) {
  const run = view.timeline.items.slice(n, n + hiddenFrom(view, n));
  view.unhidden = new Set([...view.unhidden, ...run.map((item) => item.seq)]);
}
