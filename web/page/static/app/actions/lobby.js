// Leads a new guest into the lobby, where a red packet waits.
import { state, change } from '../state.js';
import { openSheet } from '../route.js';
import { client } from '../client.js';
import { addRoom } from '../model/rooms.js';
import { isSealed } from '../model/packets.js';
import { findPacket } from './packets.js';
import { openRoom } from './rooms.js';

/** A guest that came by a link to a room or packet, or by an invite link, goes there instead. An error leaves the guest at the list of public rooms. */
export async function enterLobby() {
  try {
    const lobby = await newestLobby();
    if (!lobby || state.rooms.size || state.route.room || state.route.link || state.route.sheet) return;
    const { room } = await client.join(lobby.room);
    change(() => { addRoom(room); });
    if (lobby.packet) await findPacket(lobby.packet);
    openRoom(room.id);
    if (isSealed(lobby.packet)) openSheet('packet', lobby.packet); // closing it leads to the room
  } catch {
    // The list of rooms shows what can be joined.
  } finally {
    change(() => { state.isNew = false; });
  }
}

/** The packet may be another one than when the page was opened. */
async function newestLobby() {
  if (!state.page?.lobby) return undefined;
  const response = await fetch('page.json');
  return (await response.json()).lobby;
}
