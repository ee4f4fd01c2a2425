// Reads a room's timeline, page by page.
import { state, change } from '../state.js';
import { client } from '../client.js';
import { blockedKnown } from './contacts.js';
import { go } from '../route.js';
import { answered, failed, find } from '../model/timeline.js';
import { noteMute } from '../model/members.js';
import { notePacket } from '../model/packets.js';
import { meet, meetIn } from '../model/people.js';
import { noteRecall } from '../model/rooms.js';
import { noteMention } from '../model/mentions.js';
import { dropArrived, noteOwn } from '../model/outbox.js';

/** @typedef {import('../state.js').RoomView} RoomView */

const page = 50;
const most = 100; // the largest page that the server returns
const context = 20; // entries shown after the target of a jump

/** The newest page, with all unread entries if they fit. @param {string} room */
export function loadNewest(room) {
  const view = state.rooms.get(room);
  const limit = Math.min(most, Math.max(page, (view?.unread ?? 0) + context));
  return load(view, 'newest', { limit });
}

/** @param {string} room */
export async function loadOlder(room) {
  const view = state.rooms.get(room);
  if (!view?.timeline.loaded || view.timeline.complete) return;
  await load(view, 'older', { before: view.timeline.first });
}

/** The entries after the run to which the user has jumped. @param {string} room */
export async function loadNewer(room) {
  const view = state.rooms.get(room);
  if (!view?.timeline.newer) return;
  await load(view, 'newer', { after: view.timeline.last });
}

/**
 * Goes to an entry: the timeline becomes another run if the entry is not in this one.
 * @param {RoomView} view
 * @param {number} seq
 * @param {number} [from] the reply whose quote leads there: the user may go back to it
 */
export async function jumpTo(view, seq, from) {
  if (find(view.timeline, seq) < 0) await load(view, 'around', { before: seq + context });
  if (find(view.timeline, seq) >= 0) change(() => { view.goal = seq; view.from = from; });
}

/** The first message of others after a seq, or null. @param {string} room @param {number} after */
export async function saidAfter(room, after) {
  const { entries } = await client.history({ room, after, limit: 50 }).catch(() => ({ entries: [] }));
  return entries.find(({ kind, from }) => (kind === 'text' || kind === 'packet') && from.id !== state.me?.id) ?? null;
}

/**
 * Opens a room at an entry.
 * @param {RoomView} view
 * @param {number} seq
 * @param {import('../state.js').Sheet|null} [beside] the panel that leads there, if it stays open: closing it leads to the room
 */
export function openAt(view, seq, beside) {
  const { id } = view.room;
  if (!beside) go({ room: id });
  else if (id !== state.route.room) {
    go({ room: id }, { replace: true });
    go({ sheet: beside });
  }
  jumpTo(view, seq);
}

/** @param {RoomView|undefined} view @param {import('../model/timeline.js').Timeline['loading']} what @param {object} where */
async function load(view, what, where) {
  if (!view || !mayBegin(view.timeline.loading, what)) return;
  const { timeline } = view;
  const turn = {};
  change(() => { timeline.loading = what; timeline.turn = turn; timeline.error = null; });
  try {
    const [got] = await Promise.all([client.history({ room: view.room.id, limit: page, ...where }), view.room.kind === 'direct' || blockedKnown()]);
    if (timeline.turn !== turn) return;
    change(() => {
      got.entries.forEach((e) => noteOld(view, e));
      got.packet_states.forEach((s) => notePacket({}, s));
      answered(timeline, what, got, state.me.id, view.room.last_seq);
      dropArrived(view);
      noteLast(view);
    });
  } catch (error) {
    if (timeline.turn === turn) change(() => failed(timeline, error));
  }
}

/** A load that replaces the run wins over one that adds to it. */
function mayBegin(now, what) { return now === 'no' || now !== what && (what === 'newest' || what === 'around'); }

/** @param {RoomView} view @param {any} e */
function noteOld(view, e) {
  meetIn(view, e.from);
  notePacket(e);
  noteMute(view, e);
  noteOwn(view, e);
  noteMention(view.room.id, e);
  noteRecall(view, e);
}

/** @param {RoomView} view */
function noteLast(view) {
  const { items, newer } = view.timeline;
  if (newer) return;
  const item = items.findLast((i) => i.kind === 'text' || i.kind === 'packet');
  if (item) view.last = { at: item.at, item };
}

/** Reads an entry that is quoted and lies before the run. @param {RoomView} view @param {number} seq */
export async function loadQuote(view, seq) {
  const { timeline } = view;
  if (timeline.quotes.has(seq)) return;
  timeline.quotes.set(seq, null);
  try {
    const { entries } = await client.history({ room: view.room.id, before: seq + 1, limit: 1 });
    const item = /** @type {any} */ (entries.at(-1));
    if (item?.seq !== seq) return;
    meet(item.from);
    change(() => timeline.quotes.set(seq, item));
  } catch {
    timeline.quotes.delete(seq); // it is requested again when it becomes visible
  }
}
