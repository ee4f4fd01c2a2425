// The draft of a message.
import { state } from '../state.js';
import { allNames, isToAll, mayMentionAll } from '../model/mentions.js';

export const amendTime = 2 * 60_000; // how long users can edit their own messages

/** @returns {import('../state.js').Draft} */
export function emptyDraft() { return { text: '', replyTo: null, editing: null, mentions: {}, before: '' }; }

/**
 * The users that were picked from the list and are still mentioned.
 * @param {import('../state.js').Draft} draft
 * @param {string} text
 */
export function mentionsOf({ mentions }, text) {
  const ids = Object.entries(mentions ?? {}).filter(([name]) => text.includes(`@${name}`)).map(([, id]) => id);
  return [...new Set(ids)].slice(0, state.limits?.mentions || ids.length);
}

/**
 * Whether the draft mentions all members. A member of the same name who was picked is meant alone.
 * @param {import('../state.js').RoomView} view @param {string} text
 */
export function isForAll(view, text) {
  return mayMentionAll(view) && isToAll(text) && !allNames.some((name) => Object.hasOwn(view.draft.mentions ?? {}, name) && text.includes(`@${name}`));
}

/** Whether the user can still edit the message. @param {import('../model/timeline.js').Item} item */
export function isFresh(item) {
  return item.kind === 'text' && item.from.id === state.me.id && !item.body.recalled && Date.now() - item.at < amendTime;
}

/** The user's own last message, if it can still be edited. @param {import('../state.js').RoomView} view */
export function lastToEdit({ timeline }) {
  if (timeline.newer) return undefined;
  for (let n = timeline.items.length - 1; n >= 0; n--) {
    const item = timeline.items[n];
    if (Date.now() - item.at > amendTime) return undefined;
    if (isFresh(item) && item.body.text) return item;
  }
  return undefined;
}
