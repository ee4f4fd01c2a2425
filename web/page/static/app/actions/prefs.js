// What the user decides about a room, for all own devices.
import { change } from '../state.js';
import { client } from '../client.js';
import { nextSilenceEnd, setPrefs } from '../model/rooms.js';
import { attempt } from './attempt.js';

/** @param {import('../state.js').RoomView} view @param {Partial<import('../../sdk/types.js').RoomPrefs> & {silent_s?: number}} to */
export async function changePrefs(view, to) {
  const prefs = await attempt(client.setRoomPrefs({ room: view.room.id, ...to }));
  if (!prefs) return;
  change(() => setPrefs(view, prefs));
  awaitSilenceEnd();
}

const longest = 2 ** 31 - 1; // ms; the longest timer

/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;

/** Draws the page again when the next silence of a room has ended: no event says so. */
export function awaitSilenceEnd() {
  clearTimeout(timer);
  const left = nextSilenceEnd() - Date.now();
  if (left === Infinity) return;
  timer = setTimeout(() => { change(); awaitSilenceEnd(); }, Math.min(left + 50, longest));
}
