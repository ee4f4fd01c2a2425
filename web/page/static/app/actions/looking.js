// Requests for the open room: which members are online, how far the user has read, and that the user is typing.
import { state, change } from '../state.js';
import { client } from '../client.js';
import { go } from '../route.js';
import { ofGuest } from '../identity.js';
import { lastRoomOf } from '../storage.js';
import { setPresent } from '../model/members.js';
import { renewMembers } from './governing.js';
import { loadNewest } from './history.js';

export const namedUpTo = 200; // members; rooms with more do not list all by name
const readPace = 1000; // ms between two commands that store the read position
const typingPace = 3000;

/** Opens the room that the user had open last, if there is a place beside the list. */
export function openLast() {
  const { room, link, sheet } = state.route;
  const last = ofGuest.get(lastRoomOf(state.me?.id ?? ''));
  if (state.wide && !room && !link && !sheet && last && state.rooms.has(last)) go({ room: last }, { replace: true });
}

/** @param {string} room that is opened */
export function visitRoom(room) {
  ofGuest.set(lastRoomOf(state.me?.id ?? ''), room);
  const view = state.rooms.get(room);
  const { loaded, newer, loading } = view.timeline;
  if (loading !== 'around' && (!loaded || newer)) loadNewest(room); // otherwise it is opened at an older message
  askPresence(room);
  if (!view.members.loaded && view.room.members <= namedUpTo) renewMembers(view);
}

/** @param {string} room */
export async function askPresence(room) {
  try {
    const got = await client.presence(room);
    change(() => setPresent(room, got));
  } catch {
    // On an error, no number of online members is shown.
  }
}

/** Rooms whose position is to be sent. @type {Set<string>} */
const reading = new Set();

/**
 * Stores how far the user has read: at once here, and soon on the server, which does not need every message.
 * @param {string} room
 */
export function markRead(room) {
  const view = state.rooms.get(room);
  if (!view?.timeline.loaded || view.timeline.newer || view.readSeq >= view.timeline.last) return;
  change(() => { view.readSeq = view.timeline.last; view.unread = 0; });
  if (reading.has(room)) return;
  reading.add(room);
  tellRead(room);
}

/** @param {string} room */
async function tellRead(room) {
  for (let sent = 0; ;) {
    const view = state.rooms.get(room);
    if (!view || view.readSeq <= sent) break;
    sent = view.readSeq;
    await client.read(room, sent).catch(() => {}); // the next position includes this one
    await new Promise((resolve) => { setTimeout(resolve, readPace); });
  }
  reading.delete(room);
}

/** Reads the unread count, if it cannot be counted here. @param {string} room */
export async function learnUnread(room) {
  const view = state.rooms.get(room);
  for (let tries = 0; view && tries < 3; tries++) {
    const { readSeq, room: { last_seq: last } } = view;
    const got = await client.read(room, readSeq).catch(() => null);
    if (!got || view.readSeq !== readSeq) return; // the user has read further since; that request brings a newer count
    if (view.room.last_seq === last) {
      change(() => { view.unread = got.unread; });
      return;
    }
  }
}

let typedAt = 0;

/** Sends that the user is typing. @param {string} room */
export function tellTyping(room) {
  if (Date.now() - typedAt < typingPace) return;
  typedAt = Date.now();
  client.typing(room);
}
