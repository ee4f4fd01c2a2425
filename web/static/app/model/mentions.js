// The messages in which the user is mentioned, as far as this page has read them: the newest first.
import { state } from '../state.js';

const most = 100;

/** Notes an entry, live or from history. @param {string} room @param {any} e */
export function noteMention(room, e) {
  if (e.kind === 'recall') {
    state.mentions = state.mentions.filter((m) => m.room !== room || m.item.seq !== e.body.target);
    return;
  }
  const isOne = e.kind === 'text' && !e.body.recalled && e.from.id !== state.me?.id && e.body.mentions?.includes(state.me?.id);
  if (!isOne || state.mentions.some((m) => m.room === room && m.item.seq === e.seq)) return;
  state.mentions = [...state.mentions, { room, item: e }].sort((a, b) => b.item.at - a.item.at).slice(0, most);
}

/** Those in rooms that the user is in. */
export function mentions() { return state.mentions.filter((m) => state.rooms.has(m.room)); }

/** How many of them the user has not read. */
export function unreadMentions() { return mentions().filter(({ room, item }) => item.seq > (state.rooms.get(room)?.readSeq ?? 0)).length; }
