// Keeps the last messages in this browser, so that a guest can read them without the server. Other users are not known before the server
// has checked their token, so nothing is kept of them. Nor is anything of a guest in a window of its own, because the guest ends with it.
import { state } from '../state.js';
import { isApart, keptGuest } from '../identity.js';
import { savedName } from '../storage.js';
import { emptyTimeline } from './timeline.js';
import { packetView, setPacketState } from './packets.js';
import { viewOf } from './rooms.js';

const pace = 3000; // ms between two writes
const rooms = 50; // whose messages are kept
const messages = 50; // of each room

/** @typedef {import('../state.js').RoomView} RoomView */

/** @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest} use */
async function inStore(mode, use) {
  /** @type {IDBDatabase} */
  const db = await new Promise((resolve, reject) => {
    const asked = indexedDB.open(savedName, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore('saved');
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
  try {
    return await new Promise((resolve, reject) => {
      const request = use(db.transaction('saved', mode).objectStore('saved'));
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  } finally {
    db.close();
  }
}

let written = '';

/** Keeps what has changed, from now on. */
export function saveOften() { setInterval(save, pace); }

async function save() {
  const now = signature();
  if (isApart || now === written || state.by !== 'guest' || !state.me || state.saved || state.door.status === 'ended') return;
  written = now;
  const all = snapshot();
  await inStore('readwrite', (store) => (keptGuest() ? store.put(all, 'last') : store.count())).catch(() => {}); // after a sign-out nothing is kept
}

/** Differs when there is something to write. */
function signature() {
  let sum = `${state.me?.id} ${state.rooms.size}`;
  for (const { room, readSeq, timeline, last } of state.rooms.values()) sum += ` ${room.last_seq}.${readSeq}.${timeline.last}.${last?.item?.seq}`;
  return sum;
}

function snapshot() {
  const recent = [...state.rooms.values()].sort((a, b) => (b.last?.at ?? 0) - (a.last?.at ?? 0));
  const views = recent.map((view, n) => savedRoom(view, n < rooms));
  const packets = new Set(views.flatMap((v) => [...v.items, v.last?.item]).filter((i) => i?.kind === 'packet').map((i) => i.body.id));
  const users = new Set(views.flatMap((v) => v.items.flatMap((i) => [i.from.id, ...(i.body.mentions ?? [])])));
  return {
    me: state.me, account: state.account, limits: state.limits, rooms: views,
    people: [...state.people.values()].filter((user) => users.has(user.id)),
    packets: [...state.packets.values()].filter((p) => packets.has(p.packet.id)).map((p) => ({ packet: p.packet, state: p.state })),
  };
}

/** @param {RoomView} view @param {boolean} whole with its messages */
function savedRoom({ room, readSeq, unread, last, other, prefs, timeline }, whole) {
  const items = whole && timeline.loaded && !timeline.newer ? timeline.items.slice(-messages) : [];
  return { room: { ...room, ...prefs, read_seq: readSeq, unread }, last, other, items, lastSeq: timeline.last };
}

/** What was kept of a guest; null: nothing. @param {string} user */
export async function readSaved(user) {
  const all = await inStore('readonly', (store) => store.get('last')).catch(() => null);
  return all?.me.id === user ? all : null;
}

/** Shows what was kept, until the server answers. @param {any} all */
export function restore(all) {
  Object.assign(state, { me: all.me, account: all.account, limits: all.limits, saved: true });
  for (const user of all.people) state.people.set(user.id, user);
  for (const { packet, state: s } of all.packets) {
    packetView(packet);
    setPacketState(s);
  }
  for (const { room, last, other, items, lastSeq } of all.rooms) {
    const view = Object.assign(viewOf(room), { last, other });
    if (items.length) view.timeline = { ...emptyTimeline(), items, first: items[0].seq, last: lastSeq, loaded: true };
    state.rooms.set(room.id, view);
  }
}
