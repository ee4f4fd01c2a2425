// The rooms that the user is in.
import { state } from '../state.js';
import { go } from '../route.js';
import { emptyPages } from './pages.js';
import { emptyTimeline } from './timeline.js';

/** @typedef {import('../state.js').RoomView} RoomView */

/** @param {any} room as on the wire @returns {import('../state.js').RoomView} */
export function viewOf(room) {
  return {
    room, newsSeq: room.last_seq, readSeq: room.read_seq ?? room.last_seq, unread: room.unread ?? 0, last: null, timeline: emptyTimeline(), outbox: [],
    draft: { text: '', replyTo: null, editing: null }, tray: [], typing: new Map(), readers: new Map(), online: null, other: null,
    members: emptyPages(), prefs: prefsOf(room), unfolded: new Set(), unhidden: new Set(), recalls: new Map(), media: new Map(), packets: new Map(),
  };
}

/** Notes that a message was recalled: it may be kept in the browser. @param {import('../state.js').RoomView} view @param {any} e */
export function noteRecall(view, e) { if (e.kind === 'recall') view.recalls.set(e.body.target, e.from); }

/** What the user has decided about a room. The wire leaves out what is false. @param {any} room */
function prefsOf({ silent = false, silent_until = 0, pinned = false, archived = false }) {
  return { silent, silent_until, pinned, archived };
}

/** Whether new messages of the room are no news for the user. @param {RoomView} view */
export function isSilent({ prefs }) { return prefs.silent && !(prefs.silent_until && prefs.silent_until <= Date.now()); }

/** When the next silence ends; Infinity: none has an end. */
export function nextSilenceEnd() {
  return Math.min(...[...state.rooms.values()].map(({ prefs }) => prefs.silent_until || Infinity).filter((end) => end > Date.now()));
}

/** @param {import('../state.js').RoomView} view @param {import('../../sdk/types.js').RoomPrefs} prefs */
export function setPrefs(view, prefs) { view.prefs = prefsOf(prefs); }

/**
 * Takes the rooms of a connect reply: the user has left rooms that are missing there.
 * @param {any[]} rooms
 * @returns {string[]} rooms rooms in which the server's read position is behind, so that its unread count is too high
 */
export function setRooms(rooms) {
  const ahead = [];
  const now = new Map(rooms.map((r) => [r.id, r]));
  for (const id of state.rooms.keys()) if (!now.has(id)) dropRoom(id);
  for (const r of rooms) {
    const view = state.rooms.get(r.id);
    if (!view) {
      state.rooms.set(r.id, viewOf(r));
      continue;
    }
    view.room = { ...view.room, ...r, ...maybeMissing(r) };
    view.newsSeq = Math.min(view.newsSeq, r.last_seq); // missed entries follow; a lower seq means that the room was renumbered
    setPrefs(view, r);
    const isAhead = view.readSeq > r.read_seq && view.readSeq <= r.last_seq; // a higher position means that the room was renumbered
    if (!isAhead) view.readSeq = r.read_seq;
    view.unread = isAhead && view.readSeq === r.last_seq ? 0 : r.unread;
    if (isAhead && view.unread) ahead.push(r.id);
  }
  return ahead;
}

/** @param {any} room */
export function addRoom(room) {
  const view = state.rooms.get(room.id);
  if (view) view.room = { ...view.room, ...room, ...newest(view.room, room) };
  else state.rooms.set(room.id, viewOf(room));
  return /** @type {import('../state.js').RoomView} */ (state.rooms.get(room.id));
}

/** What an answer must not overwrite, because entries are faster. */
function newest(before, room) {
  return { role: room.role ?? before.role, ...maybeMissing(room), last_seq: Math.max(before.last_seq, room.last_seq) };
}

/** The fields that a room on the wire leaves out at their defaults: they replace older values, too. */
function maybeMissing({ announcement, invite, guests, packets, frozen }) { return { announcement, invite, guests, packets, frozen }; }

/** @param {string} id */
export function dropRoom(id) {
  state.rooms.delete(id);
  if (state.route.room === id) go({ room: null }, { replace: true });
}

/** The rooms as they are listed: those that the user has pinned, then the latest message first. */
export function listedRooms() {
  return [...state.rooms.values()].sort((a, b) => (
    Number(b.prefs.pinned) - Number(a.prefs.pinned) || lastAt(b) - lastAt(a) || (a.room.id < b.room.id ? 1 : -1)));
}

/** @param {import('../state.js').RoomView} v */
function lastAt(v) { return v.last?.at ?? v.room.created_at; }

/** Whether the user may govern the room. @param {import('../state.js').RoomView} v */
export function governs(v) { return v.room.role === 'owner' || v.room.role === 'admin'; }

/** How many people are in a room: the owner of the lobby is the server. @param {{id: string, members?: number}} room */
export function peopleIn(room) { return (room.members ?? 0) - (state.page?.lobby && room.id === state.page.lobby.room ? 1 : 0); }

/** Whether nobody else is in a room. @param {import('../state.js').RoomView} v */
export function isAlone(v) { return v.room.kind !== 'direct' && peopleIn(v.room) <= 1 && (v.online ?? 0) <= 1; }

/** Which members may invite users. @param {{kind: string, invite?: import('../../sdk/types.js').Inviters}} room */
export function inviters(room) { return room.invite ?? (room.kind === 'private' ? 'admins' : 'members'); }

/** Whether users may send packets into a room. @param {import('../state.js').Room} room */
export function takesPackets(room) { return room.packets !== false; }

/** Whether the user may invite others. @param {import('../state.js').RoomView} v */
export function mayInvite(v) {
  const muted = (v.mute?.until ?? 0) > Date.now();
  return v.room.kind !== 'direct' && !muted && (governs(v) || inviters(v.room) === 'members');
}

/** The name of a room: a direct room is named after the other user. @param {import('../state.js').RoomView} v */
export function nameOf(v) { return v.room.kind === 'direct' ? v.other?.name ?? '…' : v.room.name; }
