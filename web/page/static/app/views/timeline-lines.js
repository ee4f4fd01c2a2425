// The rows of a timeline, and what each needs to know of its neighbours. All that a row shows is in its properties, so
// that it is drawn again only when one of them has changed.
import { h } from '../dom.js';
import { state } from '../state.js';
import { day, number, since, startOfDay } from '../format.js';
import { t } from '../words.js';
import { hiddenFrom, isHidden } from '../model/blocked.js';
import { marksGuests } from '../model/people.js';
import { peopleIn } from '../model/rooms.js';
import { after, find } from '../model/timeline.js';
import { Line } from './line.js';
import { bothRead } from './line-said.js';
import { calmWords } from './line-words.js';

/**
 * @typedef {import('../state.js').RoomView} RoomView
 * @typedef {import('../model/timeline.js').Item} Item
 */

const groupGap = 5 * 60_000;
const lookBack = 200; // items in which the user's own last message is searched

/** @param {Item|undefined} i */
function isSaid(i) { return i?.kind === 'text' || i?.kind === 'packet'; }

/** Index of the first item of other users after a seq, or -1. @param {RoomView} view @param {number|null} seq */
export function firstUnread(view, seq) {
  if (seq === null || seq < view.timeline.first - 1) return -1;
  const { items } = view.timeline;
  for (let n = after(view.timeline, seq); n < items.length; n++) if (isSaid(items[n]) && items[n].from.id !== state.me.id) return n;
  return -1;
}

/** @param {RoomView} view @param {number} from @param {number} to @param {{newAfter: number|null, missed: {count: number, at: number}|null, lit: number}} what */
export function linesOf(view, from, to, { newAfter, missed, lit }) {
  const { items } = view.timeline;
  const unread = firstUnread(view, newAfter);
  const ownLast = view.outbox.length ? -1 : lastOwn(items);
  const lines = [];
  for (let n = from; n < to; n++) {
    const item = items[n];
    const readers = n === ownLast ? readersOf(view, item) : '';
    const fresh = n === unread && (missed ? missedWords(missed) : t('timeline.newLine'));
    lines.push(line(view, item, items[n - 1], { fresh, lit: item.seq === lit, readers, hidden: hiddenFrom(view, n) }));
  }
  return lines;
}

/** @param {{count: number, at: number}} missed */
export function missedWords({ count, at }) { return t('timeline.newSince', { count, shown: number(count), since: since(at) }); }

/** Sent messages that are not in the timeline yet. @param {RoomView} view */
export function linesOfOutbox(view) {
  let before = view.timeline.items.at(-1);
  return view.outbox.map((sending) => {
    const item = itemOf(sending);
    const drawn = line(view, item, before, { sending, status: sending.status, error: sending.error, progress: sending.progress, lost: state.link.state !== 'connected' });
    before = item;
    return drawn;
  });
}

/** @type {WeakMap<any, Item>} */
const pending = new WeakMap();

/** A message that is being sent, in the form of an item. @param {import('../state.js').Sending} sending @returns {Item} */
function itemOf(sending) {
  let item = pending.get(sending.request);
  if (!item) {
    const { key, kind, at, files, request: { text, reply_to, mentions, mention_all } } = sending;
    item = { seq: 0, id: key, at, from: state.me, kind, key, body: { text, reply_to, mentions, mention_all, files } };
    pending.set(sending.request, item);
  }
  return item;
}

/** @param {RoomView} view @param {Item} item @param {Item|undefined} before @param {any} more */
function line(view, item, before, more) {
  const own = item.from.id === state.me.id;
  const newDay = !before || startOfDay(before.at) !== startOfDay(item.at);
  const said = isSaid(item);
  const quote = item.body.reply_to ? quoted(view, item.body.reply_to) : null;
  return h(Line, {
    key: own && item.key ? `own ${item.key}` : item.seq, view, item, own,
    day: newDay ? day(item.at) : '',
    head: said && (newDay || more.fresh || !isSaid(before) || before.from.id !== item.from.id || item.at - before.at > groupGap),
    guest: said && !!item.from.guest && marksGuests(),
    online: said && !own && !!state.online.get(item.from.id),
    quote, quoteHidden: !!quote && isHidden(view, quote),
    words: said ? mentionedNames(item) : calmWords(item),
    unfolded: view.unfolded.has(item.seq),
    packet: item.kind === 'packet' && !more.sending ? {} : null, // it changes by itself: drawn each time
    lang: state.lang, ...more,
  });
}

/** @param {RoomView} view @param {number} seq @returns {Item|null} */
function quoted({ timeline }, seq) {
  const at = find(timeline, seq);
  return at >= 0 ? timeline.items[at] : timeline.quotes.get(seq) ?? null;
}

/** The names of the mentioned users, joined by a character that no name has. @param {Item} item */
function mentionedNames({ body }) {
  return body.mentions?.map((id) => state.people.get(id)?.name ?? '').join('\0') ?? '';
}

function lastOwn(items) {
  const stop = Math.max(0, items.length - lookBack);
  for (let n = items.length - 1; n >= stop; n--) if (isSaid(items[n]) && items[n].from.id === state.me.id) return n;
  return -1;
}

/** The users that have read up to a row. @param {RoomView} view @param {Item} item */
function readersOf(view, item) {
  let count = 0;
  for (const [user, seq] of view.readers) if (user !== state.me.id && seq >= item.seq) count++;
  if (!count || item.body.recalled) return '';
  return view.room.kind === 'direct' || peopleIn(view.room) <= 2 ? bothRead : t('timeline.readBy', { count });
}
