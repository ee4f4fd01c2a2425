// What the user decides about a room, for all own devices.
import { change } from '../state.js';
import { client } from '../client.js';
import { setPrefs } from '../model/rooms.js';
import { attempt } from './attempt.js';

/** @param {import('../state.js').RoomView} view @param {Partial<import('../../sdk/types.js').RoomPrefs> & {silent_s?: number}} to */
export async function changePrefs(view, to) {
  const prefs = await attempt(client.setRoomPrefs({ room: view.room.id, ...to }));
  if (prefs) change(() => setPrefs(view, prefs));
}
