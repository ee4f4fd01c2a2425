// Keeps the last messages in this browser, so that a guest can read them without the server. Other users are not known before the server
// has checked their token, so nothing is kept of them. Nor is anything of a guest in a window of its own, because the guest ends with it.
// All tabs write into one copy. Of a room that a tab has not loaded, or not as far as another tab, the messages that are there stay.
import { state } from '../state.js';
import { claims, isApart, keptGuest } from '../identity.js';
import { savedName } from '../storage.js';
import { blockedIds } from './blocked.js';
import { emptyTimeline, recalled } from './timeline.js';
import { packetView, setPacketState } from './packets.js';
import { viewOf } from './rooms.js';

const pace = 3000; // ms between two writes
const rooms = 50; // whose messages are kept
const messages = 50; // of each room

/** @typedef {import('../state.js').RoomView} RoomView */

/**
 * Reads what is kept, and replaces it by what change returns, in one transaction.
 * @param {(all: any) => any} [change] undefined: it stays
 * @returns {Promise<any>} what was kept before
 */
async function inStore(change) {
  /** @type {IDBDatabase} */
  const db = await new Promise((resolve, reject) => {
    const asked = indexedDB.open(savedName, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore('saved');
    asked.onsuccess = () => resolve(asked.result);
    asked.onerror = () => reject(asked.error);
  });
  try {
    return await new Promise((resolve, reject) => {
      const transaction = db.transaction('saved', change ? 'readwrite' : 'readonly');
      const store = transaction.objectStore('saved');
      const read = store.get('last');
      read.onsuccess = () => {
        const next = change?.(read.result);
        if (next) store.put(next, 'last');
      };
      transaction.oncomplete = () => resolve(read.result);
      transaction.onabort = () => reject(transaction.error);
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
  if (isApart || now === written || state.by !== 'guest' || !state.me || state.saved || !blockedIds() || state.door.status === 'ended') return;
  written = now;
  await write().catch(() => {});
}

/** After a sign-out nothing is kept, and nothing of a guest that is not the browser's any more. */
export function write() {
  const all = snapshot();
  return inStore((before) => (claims(keptGuest() ?? '').sub === all.me?.id ? merged(all, before) : undefined));
}

/** @param {any} all as this tab has it @param {any} before what is kept */
function merged(all, before) {
  if (before?.me.id !== all.me.id) return all;
  const kept = new Map(before.rooms.map((r) => [r.room.id, r]));
  const views = all.rooms.map((r, n) => {
    const other = kept.get(r.room.id);
    const isNewer = r.items.length > 0 && r.lastSeq >= (other?.lastSeq ?? 0);
    if (!other?.items.length || n >= rooms || isNewer || other.lastSeq > r.room.last_seq) return r; // a lower last_seq: the room was renumbered
    const recalls = state.rooms.get(r.room.id)?.recalls;
    const items = other.items.map((i) => {
      const by = recalls?.get(i.seq);
      return by ? recalled(i, by) : i;
    });
    return { ...r, items, lastSeq: other.lastSeq };
  });
  const { packets, users } = namedIn(views);
  const people = new Set(all.people.map((user) => user.id));
  const states = new Set(all.packets.map((p) => p.packet.id));
  return {
    ...all, rooms: views,
    people: [...all.people, ...before.people.filter(({ id }) => users.has(id) && !people.has(id))],
    packets: [...all.packets, ...before.packets.filter((p) => packets.has(p.packet.id) && !states.has(p.packet.id))],
  };
}

/** The packets and users that messages name. @param {any[]} views */
function namedIn(views) {
  return {
    packets: new Set(views.flatMap((v) => [...v.items, v.last?.item]).filter((i) => i?.kind === 'packet').map((i) => i.body.id)),
    users: new Set(views.flatMap((v) => v.items.flatMap((i) => [i.from.id, ...(i.body.mentions ?? [])]))),
  };
}

/** Differs when there is something to write. */
function signature() {
  let sum = `${state.me?.id} ${state.rooms.size} ${blockedIds()}`;
  for (const { room, readSeq, timeline, last, recalls } of state.rooms.values()) sum += ` ${room.last_seq}.${readSeq}.${timeline.last}.${last?.item?.seq}.${recalls.size}`;
  return sum;
}

function snapshot() {
  const recent = [...state.rooms.values()].sort((a, b) => (b.last?.at ?? 0) - (a.last?.at ?? 0));
  const views = recent.map((view, n) => savedRoom(view, n < rooms));
  const { packets, users } = namedIn(views);
  return {
    me: state.me, account: state.account, limits: state.limits, blocked: blockedIds(), rooms: views,
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
  const all = await inStore().catch(() => null);
  return all?.me.id === user ? all : null;
}

/** Shows what was kept, until the server answers. @param {any} all */
export function restore(all) {
  Object.assign(state, { me: all.me, account: all.account, limits: all.limits, blockedBefore: all.blocked, saved: true });
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
