// Keeps what the user has written: drafts, as long as the tab is open, and messages that the server has not acknowledged, until it has.
// Both are stored by user, so that another user does not see them. Tabs share the messages: each is stored under a name of its own.
import { state } from '../state.js';
import { keep, kept, keptNames, ofTab, unsentOf } from '../storage.js';

/**
 * @typedef {{key: string, at: number, request: any}} Unsent
 * @typedef {Record<string, import('../state.js').Draft>} Drafts  by room
 */

/** @type {Drafts|null} */
let drafts = null;
let whose = '';

/** @returns {Drafts} */
function all() {
  const me = state.me?.id ?? '';
  if (!drafts || whose !== me) {
    whose = me;
    drafts = read();
  }
  return drafts;
}

/** @returns {Drafts} */
function read() {
  try {
    return JSON.parse(ofTab.get(place()) ?? '{}').drafts ?? {};
  } catch {
    return {}; // the stored text is not in our format
  }
}

function place() { return `hongbao-kept-${whose}`; }

/** @param {string} room @returns {import('../state.js').Draft|undefined} */
export function keptDraft(room) { return all()[room]; }

/** @param {string} room @param {import('../state.js').Draft} draft */
export function keepDraft(room, draft) {
  if (draft.text || draft.replyTo || draft.editing) all()[room] = { ...draft };
  else delete all()[room];
  ofTab.set(place(), JSON.stringify({ drafts })); // if the storage is full or forbidden, a reload loses the drafts
}

function unsent() { return unsentOf(state.me?.id ?? ''); }

/** The oldest first. @returns {Unsent[]} */
export function keptUnsent() {
  const found = [];
  for (const name of keptNames(unsent())) {
    try {
      found.push(JSON.parse(kept(name) ?? ''));
    } catch {
      keep(name, null); // it is not in our format
    }
  }
  return found.sort((a, b) => a.at - b.at);
}

/** @param {Unsent} line */
export function keepUnsent({ key, at, request }) { keep(unsent() + key, JSON.stringify({ key, at, request })); }

/** @param {string} key */
export function forgetUnsent(key) { keep(unsent() + key, null); }
