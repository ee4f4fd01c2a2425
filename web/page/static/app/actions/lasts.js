// Loads data for the list of rooms that the server does not push: the last message of a room, and the other user of a
// direct room. A room's row requests it when it becomes visible. A few requests run at a time, and their results are
// shown together, so that rows move only once.
import { state, change } from '../state.js';
import { client } from '../client.js';
import { meet } from '../model/people.js';
import { noteRecall } from '../model/rooms.js';
import { recalled } from '../model/timeline.js';

/** @typedef {import('../state.js').RoomView} RoomView */

export const lookedAt = 20; // entries read to find the last message
const atOnce = 3;
const aSecond = 10; // largest number of requests per second
const together = 250; // ms that the first request waits for others

/** @type {Set<string>} */
const waiting = new Set();
/** Rooms without anything to show. @type {WeakSet<RoomView>} */
const refused = new WeakSet();
/** @type {(() => void)[]} */
let come = [];
let running = 0;
/** The times of the latest requests. @type {number[]} */
let requestTimes = [];
/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;

/** Requests the missing data of a room. @param {string} id @param {boolean} [anew] what is known may be old */
export function wantLast(id, anew = false) {
  const view = state.rooms.get(id);
  if (!view || (!anew && (refused.has(view) || (view.last && !lacksName(view))))) return;
  waiting.add(id);
  serve();
}

/** The room is not visible any more. @param {string} id */
export function unwantLast(id) { waiting.delete(id); }

/** @param {RoomView} view */
export function lacksName(view) { return view.room.kind === 'direct' && !view.other; }

function serve() {
  while (running < atOnce && waiting.size) {
    const [id] = waiting;
    const view = state.rooms.get(id);
    if (view && !pay(view)) return;
    waiting.delete(id);
    if (!view) continue;
    running++;
    ask(view).catch(() => refused.add(view)).finally(() => {
      running--;
      serve();
      if (!running && !waiting.size) put();
    });
  }
}

/** Takes the requests that a room needs, or tries again when they are allowed. @param {RoomView} view */
function pay(view) {
  const now = performance.now();
  requestTimes = requestTimes.filter((at) => now - at < 1000);
  const needed = (view.room.last_seq ? 1 : 0) + (lacksName(view) ? 1 : 0);
  if (requestTimes.length + needed > aSecond) {
    clearTimeout(timer);
    timer = setTimeout(serve, requestTimes[0] + 1000 - now);
    return false;
  }
  requestTimes.push(...Array(needed).fill(now));
  return true;
}

/** @param {RoomView} view */
async function ask(view) {
  const member = lacksName(view) ? await otherOf(view) : null;
  const entries = await newestOf(view);
  entries.forEach((e) => noteRecall(view, e));
  const other = member ?? entries.find((e) => e.from.id !== state.me?.id)?.from ?? null; // a user that has left is no member
  if (lacksName(view) && !other) refused.add(view);
  const last = entries.find((e) => e.kind === 'text' || e.kind === 'packet') ?? null;
  const recall = entries.find((e) => e.kind === 'recall' && e.body.target === last?.seq);
  settle(view, recall ? recalled(last, recall.from) : last, other);
}

/** @param {RoomView} view */
async function otherOf(view) {
  const { members } = await client.members({ room: view.room.id, limit: 2 });
  return members.map((m) => m.user).find((user) => user.id !== state.me?.id) ?? null;
}

/** The newest entry may be a reaction or the like: some are tried, the newest first. @param {RoomView} view */
async function newestOf(view) {
  if (!view.room.last_seq) return [];
  const { entries } = await client.history({ room: view.room.id, limit: lookedAt });
  return entries.reverse();
}

/** @param {RoomView} view @param {any} line @param {import('../state.js').User|null} other */
function settle(view, line, other) {
  come.push(() => {
    if (line) meet(line.from);
    if (other) meet(other);
    if (view.room.kind === 'direct') view.other ??= other;
    const newer = view.last?.item && (!line || view.last.item.seq > line.seq);
    if (!newer) view.last = { at: line?.at ?? view.room.created_at, item: line };
  });
  if (come.length === 1) setTimeout(put, together);
}

function put() {
  if (!come.length) return;
  const all = come;
  come = [];
  change(() => all.forEach((f) => f()));
}
