// The members of a room, and the commands about them. Their effect is shown when the room's entry arrives.
import { change } from '../state.js';
import { client } from '../client.js';
import { addMembers, memberOf, setMembers } from '../model/members.js';
import { addRoom, dropRoom } from '../model/rooms.js';
import { meet } from '../model/people.js';
import { attempt } from './attempt.js';
import { load } from './pages.js';

const page = 100;
const mostPages = 10; // pages of members that are read in one go

/** Reads as many members again as were loaded, at least one page. @param {import('../state.js').RoomView} view */
export async function renewMembers(view) {
  const wanted = Math.min(view.members.items.length, page * mostPages);
  await load(view.members, async () => {
    let got = await client.members({ room: view.room.id, limit: page });
    let all = got.members;
    while (got.next && all.length < wanted) {
      got = await client.members({ room: view.room.id, limit: page, next: got.next });
      all = all.concat(got.members);
    }
    return () => setMembers(view, all, got.next);
  });
}

/** @param {import('../state.js').RoomView} view */
export async function moreMembers(view) {
  const { members } = view;
  if (!members.loaded || members.complete) return;
  await load(members, async () => {
    const got = await client.members({ room: view.room.id, limit: page, next: members.next });
    return () => { if (view.members === members) addMembers(view, got.members, got.next); };
  });
}

/**
 * Reads a page of members for a search, and leaves the room's own list as it is.
 * @param {import('../state.js').RoomView} view @param {string} next the cursor of the last page; '': the first page
 * @returns {Promise<{users: import('../state.js').User[], next: string}>} next is '' after the last page
 */
export async function readMembers(view, next) {
  const got = await client.members({ room: view.room.id, limit: page, ...(next && { next }) });
  change(() => got.members.forEach((m) => meet(m.user)));
  return { users: got.members.map((m) => m.user), next: got.next ?? '' };
}

/**
 * Reads members until the user is among them, or there are too many.
 * @param {import('../state.js').RoomView} view
 * @param {string} user
 */
export async function findMember(view, user) {
  if (!view.members.loaded) await renewMembers(view);
  for (let n = 1; n < mostPages && !view.members.error && !view.members.complete && !memberOf(view, user); n++) await moreMembers(view);
}

/** @param {import('../state.js').RoomView} view @param {string} user @param {import('../../sdk/types.js').Role} role */
export function setRole(view, user, role) { return client.setRole(view.room.id, user, role); }

/** @param {import('../state.js').RoomView} view @param {string} user @param {number} seconds 0 lifts it */
export function mute(view, user, seconds) { return client.mute(view.room.id, user, seconds); }

/** @param {import('../state.js').RoomView} view @param {string} user @param {boolean} ban */
export function putOut(view, user, ban) { return client.kick(view.room.id, user, ban); }

/** @param {import('../state.js').RoomView} view @param {string} user */
export function letBack(view, user) { return client.unban(view.room.id, user); }

/** @param {import('../state.js').RoomView} view @param {string[]} users */
export async function invite(view, users) {
  try {
    await client.invite(view.room.id, users);
  } catch (/** @type {any} */ error) {
    if (error.word === 'banned') error.fields.field = 'users'; // one of the invited users is banned; a banned user cannot invite
    throw error;
  }
}

/** @param {import('../state.js').RoomView} view @param {import('../../sdk/types.js').RoomBody} to */
export async function saveRoom(view, to) {
  const { room } = await client.updateRoom({ room: view.room.id, ...to });
  change(() => addRoom(room));
}

/** Changes settings of a room. @param {import('../state.js').RoomView} view @param {import('../../sdk/types.js').RoomBody} to */
export async function setRoom(view, to) { await attempt(saveRoom(view, to)); }

/** @param {import('../state.js').RoomView} view */
export async function leaveRoom(view) {
  await client.leave(view.room.id);
  change(() => dropRoom(view.room.id));
}

/** @param {import('../state.js').RoomView} view */
export async function deleteRoom(view) {
  await client.deleteRoom(view.room.id);
  change(() => dropRoom(view.room.id));
}
