// What is being written.
import { state } from '../state.js';

export const amendTime = 2 * 60_000; // how long one may change what one has said

/** @returns {import('../state.js').Draft} */
export function emptyDraft() { return { text: '', replyTo: null, editing: null, mentions: {}, before: '' }; }

/** Those who were picked from the list and are still named. @param {import('../state.js').Draft} draft @param {string} text */
export function mentionsOf({ mentions }, text) {
  const ids = Object.entries(mentions ?? {}).filter(([name]) => text.includes(`@${name}`)).map(([, id]) => id);
  return [...new Set(ids)].slice(0, state.limits?.mentions || ids.length);
}

/** May one change it oneself still? @param {import('../model/timeline.js').Item} item */
export function isFresh(item) {
  return item.kind === 'text' && item.from.id === state.me.id && !item.body.recalled && Date.now() - item.at < amendTime;
}

/** The last line of one's own, if it can still be changed. @param {import('../state.js').RoomView} view */
export function lastToEdit({ timeline }) {
  if (timeline.newer) return undefined;
  for (let n = timeline.items.length - 1; n >= 0; n--) {
    const item = timeline.items[n];
    if (Date.now() - item.at > amendTime) return undefined;
    if (isFresh(item) && item.body.text) return item;
  }
  return undefined;
}
