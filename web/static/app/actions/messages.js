// Reading and writing in a room.
import { state, change } from '../state.js';
import { attempt } from './attempt.js';
import { client } from '../session.js';
import { begin, prepend } from '../model/timeline.js';
import { meet, notePacket } from '../model/happenings.js';
import { newKey } from '../../sdk/index.js';

const page = 50;

/** @param {string} room */
export async function loadNewest(room) {
  await load(room, 'newest', {}, begin);
}

/** @param {string} room */
export async function loadOlder(room) {
  const view = state.rooms.get(room);
  if (!view?.timeline.loaded || view.timeline.complete) return;
  await load(room, 'older', { before: view.timeline.first }, prepend);
}

async function load(room, what, where, put) {
  const view = state.rooms.get(room);
  if (!view || view.timeline.loading !== 'no') return;
  const { timeline } = view;
  change(() => { timeline.loading = what; timeline.error = null; });
  try {
    const got = await client.history({ room, limit: page, ...where });
    change(() => {
      for (const e of got.entries) {
        meet(e.from);
        notePacket(e);
      }
      for (const s of got.packet_states) notePacket({}, s);
      put(timeline, got.entries, got.more, state.me.id);
      timeline.loading = 'no';
    });
  } catch (error) {
    change(() => { timeline.loading = 'no'; timeline.error = error; });
  }
}

/** Says something; it is shown at once and kept until the server has it. @param {string} room @param {{text: string, reply_to?: number, mentions?: string[]}} message */
export function say(room, message) {
  const request = { room, key: newKey(), ...message };
  const sending = { key: request.key, kind: 'text', at: Date.now(), status: 'sending', request };
  change(() => { state.rooms.get(room).outbox.push(sending); });
  deliver(sending);
}

/** @param {import('../state.js').Sending} sending whose sending has failed, or is new */
export async function deliver(sending) {
  change(() => { sending.status = 'sending'; });
  try {
    await client.send(sending.request);
  } catch (error) {
    change(() => { sending.status = 'failed'; sending.error = error; });
  }
}

/** @param {string} room @param {import('../state.js').Sending} sending */
export function discard(room, sending) {
  const view = state.rooms.get(room);
  change(() => { view.outbox = view.outbox.filter((s) => s !== sending); });
}

/** Says how far one has read. @param {string} room */
export async function markRead(room) {
  const view = state.rooms.get(room);
  if (!view || !view.timeline.loaded || view.readSeq >= view.timeline.last) return;
  const seq = view.timeline.last;
  change(() => { view.readSeq = seq; view.unread = 0; });
  await attempt(client.read(room, seq));
}

