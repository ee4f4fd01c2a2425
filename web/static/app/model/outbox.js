// What one has sent and is not in the timeline yet. A line leaves when the line that everybody sees takes its place: known by its
// key when it is told or read, and by its place where it was told already.

/**
 * @typedef {import('../state.js').RoomView} RoomView
 * @typedef {import('../state.js').Sending} Sending
 */

/** The server has it, and says where. @param {RoomView} view @param {Sending} sending @param {number} seq */
export function placed(view, sending, seq) {
  sending.seq = seq;
  tidy(view);
}

/** Lets go what stands in the timeline, or will when that is read. @param {RoomView} view */
export function tidy(view) {
  const { timeline, room } = view;
  const told = timeline.loaded || timeline.loading !== 'no' ? timeline.last : room.last_seq;
  if (view.outbox.some((s) => s.seq <= told)) view.outbox = view.outbox.filter((s) => !(s.seq <= told));
}

/** Lets go one, by its key. @param {RoomView} view @param {string} key */
export function drop(view, key) {
  if (view.outbox.some((s) => s.key === key)) view.outbox = view.outbox.filter((s) => s.key !== key);
}
