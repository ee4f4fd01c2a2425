// Creates, joins and opens rooms, also direct ones.
import { state, change } from '../state.js';
import { go } from '../route.js';
import { client } from '../client.js';
import { addRoom } from '../model/rooms.js';

/** @typedef {import('../state.js').Room} Room */

/**
 * Creates a room and opens it.
 * @param {{name: string, kind: 'public'|'private', invite?: import('../../sdk/types.js').Inviters, guests?: boolean, packets?: boolean, key: string}} room
 */
export async function createRoom(room) {
  openNew((await client.createRoom(room)).room);
}

/** Joins a public room and opens it. @param {string} room @param {import('../state.js').Sheet|null} [sheet] to be opened in it */
export async function joinRoom(room, sheet) {
  openNew((await client.join(room)).room, sheet);
}

/**
 * Joins the room of an invite link and opens it, or asks to enter.
 * @param {string} code
 * @param {import('../state.js').Sheet|null} [sheet] to be opened in it
 * @returns {Promise<boolean>} the user waits until the owner or an admin lets them in
 */
export async function joinByLink(code, sheet) {
  const { room } = await client.joinLink(code);
  if (room) openNew(room, sheet);
  return !room;
}

/** Opens the direct room with another user. @param {string} user */
export async function openDirect(user) {
  const { room } = await client.direct(user);
  openNew(room);
  change(() => {
    const view = state.rooms.get(room.id);
    if (view) view.other ??= state.people.get(user) ?? null;
  });
}

/** @param {Room} room @param {import('../state.js').Sheet|null} [sheet] */
function openNew(room, sheet) {
  change(() => { addRoom(room); });
  openRoom(room.id, sheet);
}

/**
 * @param {string} id it replaces the sheet that led to it, so that the way back is to the list
 * @param {import('../state.js').Sheet|null} [sheet] to be opened in it
 */
export function openRoom(id, sheet = null) {
  go({ room: id, sheet }, { replace: !!state.route.sheet || !!state.route.link || state.route.room === id });
}

/**
 * What a link to a public room leads to.
 * @param {string} id
 * @returns {Promise<Room|undefined>} undefined: there is no such room, it is not public, or it is empty
 */
export async function publicRoom(id) {
  return (await client.findRooms({ query: id, limit: 1 })).rooms.find((room) => room.id === id);
}

/**
 * A page of public rooms.
 * @param {string} query
 * @param {string|undefined} next  the cursor of the last page
 * @param {AbortSignal} signal
 */
export function findRooms(query, next, signal) {
  return client.findRooms({ query: query || undefined, next, limit: 20 }, { signal });
}
