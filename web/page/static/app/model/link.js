// The state of the connection as the page shows it. Short interruptions are not shown. Recovery is shown only after an
// interruption was shown.
import { state, change, currentRoom } from '../state.js';

/** @typedef {typeof state.notice} Notice */

const patience = 400; // ms that connecting may take before it is shown
const wellFor = 2000; // ms for which recovery is shown

/** @type {ReturnType<typeof setTimeout>|undefined} */
let soon;

/** Follows the browser's online and offline events. */
export function followNetwork() {
  addEventListener('online', tell);
  addEventListener('offline', tell);
}

/** @param {typeof state.link} link as the client tells it */
export function setLink(link) {
  change(() => { state.link = link; });
  tell();
}

/** Whether the open room is still reading missed entries. */
export function isBehind() {
  const { timeline, room } = currentRoom() ?? {};
  return !!timeline && (timeline.loading === 'newest' || (timeline.loaded && !timeline.newer && timeline.last < room.last_seq));
}

function tell() {
  const next = wanted();
  if (isBad(next) && !isBad(state.notice)) {
    soon ??= setTimeout(() => { soon = undefined; show(wanted()); }, patience);
    return;
  }
  clearTimeout(soon);
  soon = undefined;
  if (next !== state.notice) show(next);
}

/** @returns {Notice} */
function wanted() {
  const { link, notice } = state;
  if (link.state === 'connecting') return !navigator.onLine ? 'offline' : link.again ? 'again' : 'connecting';
  return link.state === 'connected' && notice !== 'no' && notice !== 'connecting' ? 'well' : 'no';
}

/** Whether there is no connection, so that no command is answered. @param {Notice} notice */
export function isBad(notice) { return notice !== 'no' && notice !== 'well'; }

/** @param {Notice} notice */
function show(notice) {
  change(() => { state.notice = notice; });
  if (notice === 'well') setTimeout(pass, wellFor);
}

/** Hides the recovery after that time, unless entries are still missing. */
function pass() {
  if (state.notice !== 'well') return;
  if (isBehind()) setTimeout(pass, 250);
  else change(() => { state.notice = 'no'; });
}
