// Invite links of a room.
import { client } from '../client.js';
import { addressOf } from '../route.js';

/** @param {import('../state.js').RoomView} view */
export async function readLinks(view) { return (await client.links(view.room.id)).links; }

/**
 * Makes a link and returns its address.
 * @param {import('../state.js').RoomView} view
 * @param {{seconds: number, most: number, approval: boolean, packet?: string}} wanted  most: how many users may enter by it; 0: any number
 */
export async function makeLink(view, { seconds, most, approval, packet }) {
  const { code } = await client.createLink({ room: view.room.id, ttl_s: seconds, max_uses: most || undefined, approval });
  return addressOf({ link: code, sheet: packet ? { name: 'packet', id: packet } : undefined });
}

/** @param {import('../state.js').RoomView} view @param {string} link */
export function revokeLink(view, link) { return client.revokeLink(view.room.id, link); }

/** Users that ask to enter. @param {import('../state.js').RoomView} view */
export async function readRequests(view) { return (await client.joinRequests(view.room.id)).requests; }

/** @param {import('../state.js').RoomView} view @param {string} user @param {boolean} admit */
export function answerRequest(view, user, admit) { return client.answerRequest(view.room.id, user, admit); }
