// The messages in which the user is mentioned, as far as they were read from the server's list, came live or are in a history that was read.
import { state } from '../state.js';
import { governs } from './rooms.js';

/** @typedef {{room: string, item: any}} Mention */

/** @param {Mention} m */
export function idOf({ room, item }) { return `${room}/${item.seq}`; }

/** Notes an entry, live or from history. @param {string} room @param {any} e */
export function noteMention(room, e) {
  const list = state.mentions;
  if (e.kind === 'recall') {
    list.items = list.items.filter((m) => m.room !== room || m.item.seq !== e.body.target);
    return;
  }
  const isOne = e.kind === 'text' && !e.body.recalled && e.from.id !== state.me?.id && isMentioned(e.body);
  if (isOne && !list.items.some((m) => m.room === room && m.item.seq === e.seq)) list.items = [{ room, item: e }, ...list.items];
}

/** Those in rooms that the user is in: the newest first. */
export function mentions() {
  return state.mentions.items.filter((m) => state.rooms.has(m.room)).sort((a, b) => b.item.at - a.item.at);
}

/** How many of them the user has not read. */
export function unreadMentions() { return mentions().filter(({ room, item }) => item.seq > (state.rooms.get(room)?.readSeq ?? 0)).length; }

/** Whether a text mentions the user, by name or with all members. @param {{mentions?: string[], mention_all?: boolean}} body */
export function isMentioned({ mentions: users, mention_all: all }) { return !!all || !!users?.includes(state.me?.id ?? ''); }

/** How all members are called after an @, in each language. */
export const allNames = ['all', '所有人'];

const toAll = /(?:^|[^\p{L}\p{N}_.])@(?:所有人|all(?![\p{Script=Latin}\p{N}_-]|\.[\p{L}\p{N}]))/u;

/** Whether a text is written to all members. @param {string} text */
export function isToAll(text) { return toAll.test(text); }

/** Whether the user may mention all members. @param {import('../state.js').RoomView} view */
export function mayMentionAll(view) { return view.room.kind !== 'direct' && governs(view); }
