// What survives a reload of this tab: drafts, and lines that the server has not acknowledged. Each with its user, so that nobody
// finds what another has written.
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
    return { drafts: {}, unsent: [] }; // not ours
  }
}

function place() { return `hongbao-kept-${whose}`; }

function write() {
  try {
    sessionStorage.setItem(place(), JSON.stringify(kept));
  } catch {
    // Storage is full or forbidden: then a reload loses it.
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
