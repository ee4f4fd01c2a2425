// How the connection stands, as people are told: only what lasts long enough to be read, and that it is well again only to
// those who had been told otherwise.
import { state, change, currentRoom } from '../state.js';

/** @typedef {typeof state.notice} Notice */

const patience = 400; // ms that a connection may take without a word
const wellFor = 2000; // ms that one is told that all is well

/** @type {ReturnType<typeof setTimeout>|undefined} */
let soon;

/** Follows the browser's own idea of the network. */
export function followNetwork() {
  addEventListener('online', tell);
  addEventListener('offline', tell);
}

/** @param {typeof state.link} link as the client tells it */
export function setLink(link) {
  change(() => { state.link = link; });
  tell();
}

/** Is the room that one looks at still being caught up? */
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

/** Is there no connection, so that nothing is answered? @param {Notice} notice */
export function isBad(notice) { return notice !== 'no' && notice !== 'well'; }

/** @param {Notice} notice */
function show(notice) {
  change(() => { state.notice = notice; });
  if (notice === 'well') setTimeout(pass, wellFor);
}

/** All is well no longer than that, unless there is still something to be caught up. */
function pass() {
  if (state.notice !== 'well') return;
  if (isBehind()) setTimeout(pass, 250);
  else change(() => { state.notice = 'no'; });
}
