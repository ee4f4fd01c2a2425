// Reads which red packets wait for the user, in all rooms.
import { change } from '../state.js';
import { client } from '../client.js';
import { meet } from '../model/people.js';
import { takesPackets } from '../model/rooms.js';
import { noteOffered } from '../model/waiting.js';

const most = 100; // the largest page that the server returns
const together = 300; // ms in which reasons to ask make one request
const crowd = 5000; // ms over which the members of a room ask that has skipped entries for all of them

/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;

/** Asks soon. From then on the entries of the rooms tell what waits. */
export function wantWaiting() { askIn(together); }

/** A room has skipped entries: perhaps one with a packet. Others of the room learn it at the same time. @param {import('../state.js').RoomView|undefined} view */
export function wantSkipped(view) { if (view && takesPackets(view.room)) askIn(together + Math.random() * crowd); }

/** @param {number} delay ms */
function askIn(delay) { timer ??= setTimeout(learnWaiting, delay); }

async function learnWaiting() {
  timer = undefined;
  try {
    const { packets } = await client.packets({ direction: 'waiting', limit: most }, { patience: 10_000 });
    change(() => packets.forEach((row) => {
      meet(row.packet.from);
      noteOffered(row);
    }));
  } catch { /* then the marks are those of the packets that are known */ }
}
