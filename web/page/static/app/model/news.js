// News: entries of which the user is told wherever the user is. What the user has silenced makes none.
import { state, change } from '../state.js';
import { t } from '../words.js';
import { saidInWords } from './files.js';
import { isMentioned } from './mentions.js';
import { isSilent, nameOf } from './rooms.js';
import { isForMe } from './packets.js';

/**
 * @typedef {import('../state.js').RoomView} RoomView
 *
 * @typedef {object} News
 * @property {string} room
 * @property {number} seq
 * @property {'packet'|'mention'|'direct'} why
 * @property {string} title
 * @property {string} text
 */

const bannerFor = 8000; // ms

/** Why the user is told of an entry; null: the user is not. @param {RoomView} view @param {any} e */
function reason(view, e) {
  if (e.from.id === state.me?.id || isSilent(view) || e.seq <= view.readSeq) return null;
  if (e.kind === 'packet') return isForMe(e.body) ? 'packet' : null;
  if (e.kind !== 'text' || e.body.recalled) return null;
  if (isMentioned(e.body)) return 'mention';
  return view.room.kind === 'direct' ? 'direct' : null;
}

/** What the user is told of an entry; null: nothing. @param {RoomView} view @param {any} e @returns {News|null} */
export function newsOf(view, e) {
  const why = reason(view, e);
  if (!why) return null;
  const name = e.from.name || e.from.id;
  const said = why === 'packet' ? t('news.packet', { greeting: e.body.greeting }) : saidInWords(e.body);
  return {
    room: view.room.id, seq: e.seq, why, title: why === 'direct' ? name : t('news.in', { name, room: nameOf(view) }), text: said.replace(/\s+/g, ' '),
  };
}

/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;

/** @param {News} news */
export function showBanner(news) {
  clearTimeout(timer);
  timer = setTimeout(closeBanner, bannerFor);
  state.banner = news;
  state.announcement = `${news.title}: ${news.text}`;
}

export function closeBanner() { change(() => { state.banner = null; }); }

/** How many unread messages the user is shown, in all rooms but one. @param {RoomView} [except] */
export function unreadNews(except) {
  let unread = 0;
  for (const view of state.rooms.values()) if (view !== except && !isSilent(view)) unread += view.unread;
  return unread;
}
