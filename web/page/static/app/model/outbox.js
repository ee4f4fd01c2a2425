// Messages that were sent and are not in the timeline yet. A message leaves the outbox when its entry arrives. The
// entry is found by its key, or by its seq if it arrived before.
import { state } from '../state.js';
import { forgetUnsent } from './kept.js';

/**
 * @typedef {import('../state.js').RoomView} RoomView
 * @typedef {import('../state.js').Sending} Sending
 */

/** Stores the seq that the server has answered. @param {RoomView} view @param {Sending} sending @param {number} seq */
export function placed(view, sending, seq) {
  sending.seq = seq;
  dropArrived(view);
}

/** Removes messages whose entry is in the timeline, or will be when it is read. @param {RoomView} view */
export function dropArrived(view) {
  const { timeline, room } = view;
  const lastSeq = timeline.loaded || timeline.loading !== 'no' ? timeline.last : room.last_seq;
  if (view.outbox.some((s) => s.seq <= lastSeq)) view.outbox = view.outbox.filter((s) => !(s.seq <= lastSeq));
}

/** Removes one message by its key. @param {RoomView} view @param {string} key */
export function drop(view, key) {
  if (view.outbox.some((s) => s.key === key)) view.outbox = view.outbox.filter((s) => s.key !== key);
}

/** Removes the user's own message from the outbox. @param {RoomView} view @param {any} e */
export function noteOwn(view, e) {
  if (!e.key || e.from.id !== state.me.id) return;
  drop(view, e.key);
  forgetUnsent(e.key);
}
