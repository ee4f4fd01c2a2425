// Invite links of a room.
import { newKey } from '../../sdk/key.js';
import { client } from '../client.js';
import { state } from '../state.js';
import { addressOf } from '../route.js';
import { packetForNewcomers } from '../model/waiting.js';
import { ofGuest } from '../identity.js';
import { linksOf } from '../storage.js';

const usual = 7 * 86_400; // seconds
const usualLinks = 2; // of a user in a room
const least = 86_400_000; // ms that an invitation must still work to be shown again

/** @param {import('../state.js').RoomView} view */
export async function readLinks(view) { return (await client.links(view.room.id)).links; }

/**
 * The address that the user gives to friends: a link of a week for any number of people. This browser keeps the key of the request, so the same link is returned
 * as long as it works. A user has few of them. In a public room that has no place for another link, it is the address of the room.
 * @param {import('../state.js').RoomView} view @param {string} [packet] the packet that it is shared for
 */
export async function invitationOf(view, packet) {
  const sheet = sheetWith(view, packet);
  try {
    return addressOf({ link: await usualCode(view.room.id), sheet });
  } catch (/** @type {any} */ error) {
    if (error.word !== 'limit_exceeded' || view.room.kind !== 'public') throw error;
    return addressOf({ room: view.room.id, sheet });
  }
}

/** The packet that an invitation carries. @param {import('../state.js').RoomView} view @param {string|undefined} packet */
function sheetWith(view, packet) {
  const id = packet ?? packetForNewcomers(view.room.id)?.id;
  return id ? { name: 'packet', id } : undefined;
}

/** @param {string} room @returns {Promise<string>} */
async function usualCode(room) {
  const place = linksOf(state.me?.id ?? '') + room;
  for (let key = ofGuest.get(place) ?? newKey(); ; key = newKey()) {
    const { code, link, dup } = await client.createLink({ room, key, ttl_s: usual });
    ofGuest.set(place, key);
    if (!dup) await dropOlder(room).catch(() => {}); // the next new one does it
    if (!dup || link.expires_at - Date.now() > least) return code;
  }
}

/**
 * Revokes older links of this kind that the user has made: each browser makes one, because only its key tells the code. The newest other one stays: it may just
 * have been sent from another device.
 * @param {string} room
 */
async function dropOlder(room) {
  const { links } = await client.links(room);
  const own = links.filter((l) => l.by.id === state.me?.id && !l.max_uses && !l.approval && l.expires_at - l.created_at === usual * 1000);
  for (const { id } of own.sort((a, b) => b.created_at - a.created_at).slice(usualLinks)) await client.revokeLink(room, id);
}

/**
 * Makes a link and returns its address.
 * @param {import('../state.js').RoomView} view
 * @param {{seconds: number, most: number, approval: boolean, packet?: string}} wanted  most: how many users may enter by it; 0: any number
 */
export async function makeLink(view, { seconds, most, approval, packet }) {
  const { code } = await client.createLink({ room: view.room.id, ttl_s: seconds, max_uses: most || undefined, approval });
  return addressOf({ link: code, sheet: sheetWith(view, packet) });
}

/** @param {import('../state.js').RoomView} view @param {string} link */
export function revokeLink(view, link) { return client.revokeLink(view.room.id, link); }

/** Users that ask to enter. @param {import('../state.js').RoomView} view */
export async function readRequests(view) { return (await client.joinRequests(view.room.id)).requests; }

/** @param {import('../state.js').RoomView} view @param {string} user @param {boolean} admit */
export function answerRequest(view, user, admit) { return client.answerRequest(view.room.id, user, admit); }
