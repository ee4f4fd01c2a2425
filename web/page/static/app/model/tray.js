// The tray: files that the user has chosen for the next message of a room.
import { state, change } from '../state.js';

/**
 * @typedef {object} Attached           a file that is to be sent; shown like a file of a message
 * @property {string} id                of this page; the server gives another one
 * @property {'picture'|'voice'|'file'} kind
 * @property {Blob} blob
 * @property {string} name
 * @property {string} type
 * @property {number} size
 * @property {string} [local]           the address of the content in this browser
 * @property {number} [width]
 * @property {number} [height]
 * @property {number} [duration_ms]
 * @property {string} [wave]            base64
 * @property {string} [uploaded]        its id on the server, once that has it
 */

let count = 0;

/** @param {Omit<Attached, 'id'|'size'|'local'>} file @returns {Attached} */
export function attached(file) {
  return { ...file, id: `own ${++count}`, size: file.blob.size, local: file.kind === 'file' ? undefined : URL.createObjectURL(file.blob) };
}

/** A file that was kept in this browser. @param {Attached} file @returns {Attached} */
export function attachedAgain(file) { return { ...file, id: `own ${++count}`, local: file.kind === 'file' ? undefined : URL.createObjectURL(file.blob) }; }

/** The largest file that the server takes. @param {Attached['kind']} kind */
export function mostBytes(kind) {
  const most = state.limits?.file_bytes ?? 0;
  return kind === 'picture' ? Math.min(most, 20 << 20) : kind === 'voice' ? Math.min(most, 4 << 20) : most;
}

/** How many more files the tray takes. @param {import('../state.js').RoomView} view */
export function roomInTray({ tray }) { return Math.max(0, (state.limits?.files ?? 0) - tray.length); }

/** @param {import('../state.js').RoomView} view @param {Attached[]} files */
export function putInTray(view, files) { change(() => { view.tray = [...view.tray, ...files]; }); }

/** @param {import('../state.js').RoomView} view @param {string} id */
export function takeFromTray(view, id) {
  const file = view.tray.find((f) => f.id === id);
  if (file?.local) URL.revokeObjectURL(file.local);
  change(() => { view.tray = view.tray.filter((f) => f !== file); });
}

/** @param {import('../state.js').RoomView} view @param {string} id @param {number} by places */
export function moveInTray(view, id, by) {
  const at = view.tray.findIndex((f) => f.id === id);
  const to = Math.min(view.tray.length - 1, Math.max(0, at + by));
  if (at < 0 || to === at) return;
  const tray = [...view.tray];
  tray.splice(to, 0, ...tray.splice(at, 1));
  change(() => { view.tray = tray; });
}

/** Empties the tray, and returns what was in it. @param {import('../state.js').RoomView} view */
export function emptyTray(view) {
  const files = view.tray;
  change(() => { view.tray = []; });
  return files;
}
