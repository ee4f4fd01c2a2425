// Keeps data of this tab across a reload: drafts, and messages that the server has not acknowledged. They are stored by
// user, so that another user does not see them.
import { state } from '../state.js';

/**
 * @typedef {{key: string, at: number, request: any}} Unsent
 * @typedef {{drafts: Record<string, import('../state.js').Draft>, unsent: Unsent[]}} Kept
 */

/** @type {Kept|null} */
let kept = null;
let whose = '';

/** @returns {Kept} */
function all() {
  const me = state.me?.id ?? '';
  if (!kept || whose !== me) {
    whose = me;
    kept = read();
  }
  return kept;
}

/** @returns {Kept} */
function read() {
  try {
    return { drafts: {}, unsent: [], ...JSON.parse(sessionStorage.getItem(place()) ?? '{}') };
  } catch {
    return { drafts: {}, unsent: [] }; // the stored text is not in our format
  }
}

function place() { return `hongbao-kept-${whose}`; }

function write() {
  try {
    sessionStorage.setItem(place(), JSON.stringify(kept));
  } catch {
    // Storage is full or forbidden. Then a reload loses the data.
  }
}

/** @param {string} room @returns {import('../state.js').Draft|undefined} */
export function keptDraft(room) { return all().drafts[room]; }

/** @param {string} room @param {import('../state.js').Draft} draft */
export function keepDraft(room, draft) {
  const { drafts } = all();
  if (draft.text || draft.replyTo || draft.editing) drafts[room] = { ...draft };
  else delete drafts[room];
  write();
}

/** @returns {Unsent[]} */
export function keptUnsent() { return [...all().unsent]; }

/** @param {Unsent} line */
export function keepUnsent({ key, at, request }) {
  if (all().unsent.some((u) => u.key === key)) return;
  all().unsent.push({ key, at, request });
  write();
}

/** @param {string} key */
export function forgetUnsent(key) {
  const { unsent } = all();
  const at = unsent.findIndex((u) => u.key === key);
  if (at < 0) return;
  unsent.splice(at, 1);
  write();
}
