// The rules of a room, and the texts that wait for its admins.
import { client } from '../client.js';

/** @param {import('../state.js').RoomView} view @returns {Promise<import('../../sdk/types.js').Rule[]>} */
export async function readRules(view) { return (await client.rules(view.room.id)).rules; }

/** @param {import('../state.js').RoomView} view @param {import('../../sdk/types.js').Rule[]} rules */
export function saveRules(view, rules) { return client.setRules(view.room.id, rules, false); }

/** Says how many of the last texts the rules would meet. @param {import('../state.js').RoomView} view @param {import('../../sdk/types.js').Rule[]} rules */
export async function tryRules(view, rules) {
  const { tried = 0, met = [] } = await client.setRules(view.room.id, rules, true);
  return { tried, met: met.length };
}

/** @param {import('../state.js').RoomView} view @returns {Promise<import('../../sdk/types.js').HeldText[]>} */
export async function readHeld(view) { return (await client.heldTexts(view.room.id)).texts; }

/** @param {import('../state.js').RoomView} view @param {string} id @param {boolean} admit */
export function answerHeld(view, id, admit) { return client.answerText(view.room.id, id, admit); }
