// Reads which red packets wait for the user, in all rooms.
import { change } from '../state.js';
import { client } from '../client.js';
import { meet } from '../model/people.js';
import { noteOffered } from '../model/waiting.js';

const most = 100; // the largest page that the server returns
const together = 300; // ms in which reasons to ask make one request

/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;

/** Asks soon. From then on the entries of the rooms tell what waits. */
export function wantWaiting() { timer ??= setTimeout(learnWaiting, together); }

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
