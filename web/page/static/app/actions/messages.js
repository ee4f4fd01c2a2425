// Sends messages, and edits, recalls or reacts to them.
import { state, change } from '../state.js';
import { attempt } from './attempt.js';
import { client } from '../client.js';
import { mark } from '../model/timeline.js';
import { forgetUnsent, keepDraft, keepUnsent, keptUnsent } from '../model/kept.js';
import { drop, placed } from '../model/outbox.js';
import { keepLocal } from '../model/files.js';
import { forgetPending, keepPending, pendingOf } from '../model/pending.js';
import { attachedAgain } from '../model/tray.js';
import { isApart } from '../identity.js';
import { loadNewest } from './history.js';
import { RefusedError } from '../../sdk/errors.js';
import { newKey } from '../../sdk/key.js';

/**
 * @typedef {import('../state.js').RoomView} RoomView
 * @typedef {import('../state.js').Sending} Sending
 */

/** The messages of a room are sent one after the other, so that their order is kept. @type {Map<string, Promise<void>>} */
const queues = new Map();

/**
 * Sends a message; it is shown at once and stored until the server has it. Its files are uploaded first.
 * @param {string} room @param {{text: string, reply_to?: number, mentions?: string[], mention_all?: boolean}} message @param {import('../model/tray.js').Attached[]} [files]
 */
export function say(room, message, files = []) {
  const view = state.rooms.get(room);
  const request = { room, key: newKey(), ...message };
  /** @type {Sending} */
  const sending = { key: request.key, kind: 'text', at: Date.now(), status: 'sending', request, ...(files.length && { files, progress: 0 }) };
  put(view, sending);
  if (files.length && state.by === 'guest' && !isApart) { // other users cannot come back by themselves
    keepPending(state.me?.id ?? '', sending).then(() => {
      sending.kept = !settled.has(sending);
      return sending.kept || forgetPending(sending.key);
    }).catch(() => {}); // this browser keeps no files
  }
}

/**
 * Sends messages that an earlier page or a closed tab has not sent. The server knows the key if one had arrived. A message to a room that the
 * user has left is dropped; what this browser has kept of the rooms may be older than the message.
 */
export function sayUnsent() {
  for (const { key, at, request } of keptUnsent()) {
    const view = state.rooms.get(request.room);
    if (!view && !state.saved) forgetUnsent(key);
    if (!view) continue;
    if (!view.outbox.some((s) => s.key === key)) put(view, { key, kind: 'text', at, status: 'sending', request });
  }
  sayPending().catch(() => {}); // this browser keeps no files
}

/** Sends messages whose files an earlier page has not uploaded. */
async function sayPending() {
  if (state.by !== 'guest' || isApart) return;
  for (const { key, at, request, files } of await pendingOf(state.me?.id ?? '')) {
    const view = state.rooms.get(request.room);
    const before = view?.outbox.find((s) => s.key === key);
    if (!view && state.saved) continue;
    if (!view || before?.request.files) await forgetPending(key);
    else if (!view.outbox.some((s) => s.key === key)) {
      put(view, { key, kind: 'text', at, status: 'sending', request, files: files.map(attachedAgain), progress: 0, kept: true });
    }
  }
}

/** The name of the lock that a tab holds while it sends a message with files: another tab that knows it, too, waits. @param {string} key */
const uploadLock = (key) => `hongbao-upload/${key}`;

/** @param {RoomView} view @param {Sending} sending */
function put(view, sending) {
  begin(view, sending);
  deliver(sending);
}

/** Shows what is to be sent, at the end of the room. @param {RoomView} view @param {Sending} sending */
export function begin(view, sending) {
  change(() => { view.outbox = [...view.outbox, sending]; });
  if (view.timeline.newer) loadNewest(view.room.id);
}

/** Stores a message until the server has answered, and sends it. @param {Sending} sending whose sending has failed, or is new */
export function deliver(sending) {
  change(() => { sending.status = 'sending'; sending.error = undefined; });
  if (!sending.files || sending.request.files) enqueue(sending);
  else if (navigator.locks) navigator.locks.request(uploadLock(sending.key), () => upload(sending)).catch(() => {});
  else upload(sending);
}

/** Uploads the files of a message. Messages that are written meanwhile do not wait for that. @param {Sending} sending */
async function upload(sending) {
  const { room } = sending.request;
  if (!state.rooms.get(room)?.outbox.includes(sending)) return; // another tab has sent it, or the user has discarded it
  const files = sending.files ?? [];
  const total = files.reduce((sum, { size }) => sum + size, 0);
  const sent = new Map(files.map(({ id, size, uploaded }) => [id, uploaded ? size : 0]));
  sending.upload = new AbortController();
  const { signal } = sending.upload;
  try {
    await Promise.all(files.map(async (file) => {
      const { id, kind, blob, name, type, duration_ms: durationMs, wave } = file;
      if (file.uploaded) return;
      const onProgress = (/** @type {number} */ bytes) => {
        sent.set(id, bytes);
        change(() => { sending.progress = [...sent.values()].reduce((sum, n) => sum + n, 0) / total; });
      };
      const { id: uploaded } = await client.upload(room, blob, { kind, name, type, durationMs, wave, onProgress, signal });
      file.uploaded = uploaded;
      keepLocal(uploaded, file.local);
    }));
  } catch (error) {
    if (error instanceof RefusedError && !error.temporary) settle(sending);
    if (sending.upload.signal === signal) fail(sending, error);
    return;
  }
  sending.request.files = files.map(({ uploaded }) => uploaded);
  enqueue(sending);
  settle(sending);
  await queues.get(room);
}

/** Messages whose files are uploaded, refused or discarded. @type {WeakSet<Sending>} */
const settled = new WeakSet();

/** A reload does not send the files of a message again. @param {Sending} sending */
function settle(sending) {
  settled.add(sending);
  if (sending.kept) forgetPending(sending.key).catch(() => {});
  sending.kept = false;
}

/** @param {Sending} sending @param {unknown} error */
function fail(sending, error) {
  sending.upload?.abort(); // of the other files
  change(() => { sending.status = 'failed'; sending.error = error; });
}

/** A page that is left loses what is not uploaded yet: the browser asks the user. */
addEventListener('beforeunload', (e) => {
  const isUploading = [...state.rooms.values()].some(({ outbox }) => outbox.some(({ files, request, status, kept }) => files && !request.files && status === 'sending' && !kept));
  if (isUploading && state.door.status !== 'ended') e.preventDefault();
});

/** @param {Sending} sending */
function enqueue(sending) {
  const { room } = sending.request;
  keepUnsent(sending);
  queues.set(room, (queues.get(room) ?? Promise.resolve()).then(() => send(sending)));
}

/** @param {Sending} sending */
async function send(sending) {
  const view = state.rooms.get(sending.request.room);
  if (!view?.outbox.includes(sending)) return; // it was discarded, or has arrived
  try {
    const { seq } = await ask(sending.request);
    forgetUnsent(sending.key);
    change(() => placed(view, sending, seq));
  } catch (error) {
    if (error instanceof RefusedError && !error.temporary) forgetUnsent(sending.key); // another tab would be refused, too, or send it much later
    if (sending.files && error instanceof RefusedError && error.word === 'conflict') uploadAgain(sending); // the server keeps unsent files for a day
    fail(sending, error);
  }
}

const patience = 15_000; // ms

/**
 * A room has few mentions of all members in an hour. One that is too many fails soon: it would hold up what is written after it.
 * @param {any} request
 */
async function ask(request) {
  for (;;) {
    try {
      return await client.send(request, request.mention_all ? { patience } : undefined);
    } catch (/** @type {any} */ error) {
      if (error?.name !== 'TimeoutError') throw error; // else no answer has come yet
    }
  }
}

/** The next try uploads the files again. @param {Sending} sending */
function uploadAgain(sending) {
  delete sending.request.files;
  for (const file of sending.files ?? []) file.uploaded = undefined;
}

/** @param {string} room @param {Sending} sending */
export function discard(room, sending) {
  const view = state.rooms.get(room);
  sending.upload?.abort();
  settle(sending);
  for (const { uploaded } of sending.files ?? []) if (uploaded) client.cancelFile(room, uploaded).catch(() => {}); // the server removes it in a day anyway
  forgetUnsent(sending.key);
  if (view) change(() => drop(view, sending.key));
}

/** Puts a reaction, or removes it. @param {RoomView} view @param {number} seq @param {string} emoji @param {boolean} on */
export async function react(view, seq, emoji, on) {
  const done = await attempt(client.react(view.room.id, seq, emoji, on));
  if (done) change(() => mark(view.timeline, seq, emoji, on, view.room.last_seq));
}

/** @param {RoomView} view @param {number} seq @param {string} text */
export function edit(view, seq, text) { return client.edit(view.room.id, seq, text); }

/** The user's own texts that were taken back while this page is open, by room and seq. @type {Map<string, any>} */
const takenBack = new Map();

/** Takes the user's own message back, or removes one of another user. @param {RoomView} view @param {import('../model/timeline.js').Item} item */
export async function recall(view, { seq, from, body }) {
  const place = `${view.room.id}/${seq}`;
  if (from.id === state.me?.id && body.text) takenBack.set(place, body); // the entry may arrive before the answer
  try {
    await client.recall(view.room.id, seq);
  } catch (error) {
    takenBack.delete(place);
    throw error;
  }
}

/** Whether the user can write the message again. @param {RoomView} view @param {number} seq */
export function isKept(view, seq) { return takenBack.has(`${view.room.id}/${seq}`); }

/** Puts a message that was taken back into the draft, after the text that is there. @param {RoomView} view @param {number} seq */
export function writeAgain(view, seq) {
  const { draft } = view;
  if (draft.again === seq) return; // it is there already
  const { text, reply_to: replyTo = null, mentions = [] } = takenBack.get(`${view.room.id}/${seq}`);
  const named = Object.fromEntries(mentions.filter((id) => state.people.has(id)).map((id) => [state.people.get(id)?.name, id]));
  change(() => {
    view.draft = {
      text: [(draft.editing === null ? draft.text : draft.before ?? '').trim(), text].filter(Boolean).join('\n'), replyTo, editing: null, before: '',
      mentions: { ...draft.mentions, ...named }, again: seq,
    };
  });
  keepDraft(view.room.id, view.draft);
}
