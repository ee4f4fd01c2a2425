// What the user searches for, in all rooms or in one, and what was found so far.
import { state } from '../state.js';
import { emptyPages } from './pages.js';

/**
 * @typedef {object} Hit
 * @property {string} room
 * @property {any} item
 * @property {Place[]} places           of the words in the text
 *
 * @typedef {object} Place              a part of a text, in UTF-16 code units
 * @property {number} from
 * @property {number} to
 *
 * @typedef {object} Filters            what narrows a search; what is missing does not
 * @property {import('../state.js').User} [from]
 * @property {string} [room]            of a search in all rooms
 * @property {string} [since]           the first day, as in 2026-10-01
 * @property {string} [until]           the last day
 * @property {'text'|'file'|'packet'} [kind]
 *
 * @typedef {object} Search
 * @property {string} words             as typed
 * @property {Filters} filters
 * @property {string} sought            the words that were searched for last; '': none
 * @property {any} request              as given to the client for the first page; null: nothing is searched for
 * @property {boolean} behind           some of the newest messages may be missing
 * @property {string} chosen            the id of the hit that was opened last
 * @property {AbortController} asked    ends the requests of the last search
 * @property {import('./pages.js').Pages<Hit>} pages  a new object for each search, so that late answers to an older one change nothing
 */

/** @param {string} room '': all rooms @returns {Search} */
export function searchOf(room) {
  let search = state.searches.get(room);
  if (!search) {
    search = { words: '', filters: {}, sought: '', request: null, behind: false, chosen: '', asked: new AbortController(), pages: emptyPages() };
    state.searches.set(room, search);
  }
  return search;
}

/** Whether the server can search. */
export function maySearch() { return !!state.limits?.query_chars; }

/** The typed words as they are searched for; '': the server would find nothing by them. @param {Search} search */
export function wordsOf({ words }) { return /[\p{L}\p{N}]/u.test(words) ? words.trim() : ''; }

/** Whether anything narrows the search. @param {Search} search */
export function isNarrowed({ filters }) { return Object.values(filters).some(Boolean); }

/** The request for the typed words and the filters; null: there are no words. @param {Search} search @param {string} room '': all rooms */
function requestOf(search, room) {
  const words = wordsOf(search);
  const { from, room: within, since, until, kind } = search.filters;
  return words ? { words, room: room || within, from: from?.id, kind, after: since && beginOfDay(since), before: until && beginOfDay(until, 1) } : null;
}

/** When a day begins here. @param {string} day as in 2026-10-01 @param {number} [later] days */
export function beginOfDay(day, later = 0) {
  const [year, month, date] = day.split('-').map(Number);
  const begin = new Date(2000, month - 1, date + later);
  begin.setFullYear(begin.getFullYear() - 2000 + year); // the constructor takes 26 as 1926
  return Math.max(0, begin.getTime());
}

/** Whether the words or the filters are others than those that were searched for last. @param {Search} search @param {string} room */
export function isOther(search, room) { return JSON.stringify(requestOf(search, room)) !== JSON.stringify(search.request); }

/** Begins to search for the typed words. The older hits stay until the first page has come. @param {Search} search @param {string} room */
export function beginSearch(search, room) {
  const sought = wordsOf(search);
  search.asked.abort();
  Object.assign(search, {
    sought, request: requestOf(search, room), behind: false, chosen: '', asked: new AbortController(), pages: { ...emptyPages(), items: sought ? search.pages.items : [] },
  });
}

/** @param {Hit} hit */
export function hitId({ room, item }) { return `${room}/${item.seq}`; }

/** The hits in rooms that the user is in. @param {Search} search */
export function hitsOf({ pages: { items, error, loaded } }) {
  return error && !loaded ? [] : items.filter((hit) => state.rooms.has(hit.room));
}

/** A recalled message is no hit any more. An edited one stays, without marks. @param {string} room @param {any} e a live entry */
export function noteHits(room, e) {
  if (e.kind !== 'edit' && e.kind !== 'recall') return;
  for (const { pages } of state.searches.values()) {
    if (pages.items.some((hit) => hit.room === room && hit.item.seq === e.body.target)) pages.items = pages.items.flatMap((hit) => noted(hit, room, e));
  }
}

/** @param {Hit} hit @param {string} room @param {any} e @returns {Hit[]} */
function noted(hit, room, e) {
  if (hit.room !== room || hit.item.seq !== e.body.target || e.body.recalled) return [hit];
  return e.kind === 'recall' ? [] : [{ ...hit, item: { ...hit.item, body: { ...hit.item.body, text: e.body.text } }, places: [] }];
}

const lead = 24; // widths of a Latin letter that are shown before the first place
const shown = 200; // characters

/**
 * A part of the text of a hit on one line. It begins shortly before the first place.
 * @param {Hit} hit
 * @returns {{text: string, found: boolean}[]}
 */
export function excerpt(hit) {
  const { item: { body }, places } = hit;
  const text = isInName(hit) ? searched(body) : body.text ?? body.greeting ?? '';
  const begin = beginOf(text, places[0]?.from ?? 0);
  const end = begin + shown;
  const parts = [{ text: begin ? '…' : '', found: false }];
  let at = begin;
  for (const { from, to } of places.filter((place) => place.to <= end)) {
    parts.push({ text: text.slice(at, from), found: false }, { text: text.slice(from, to), found: true });
    at = to;
  }
  parts.push({ text: text.slice(at, end), found: false });
  return parts.map((part) => ({ ...part, text: part.text.replace(/\s+/g, ' ') })).filter((part) => part.text);
}

/** Whether words were found in the name of a file. @param {Hit} hit */
export function isInName({ item: { body }, places }) { return places.some(({ from }) => from > (body.text ?? body.greeting ?? '').length); }

/** A text and the names of its files, as the server counts the places. @param {any} body */
function searched({ text = '', files = [] }) { return [text, ...files.map(({ name }) => name).filter(Boolean)].join('\n'); }

/** Where an excerpt begins: at a word, if there is one near. @param {string} text @param {number} first the first place */
function beginOf(text, first) {
  let begin = first;
  let word = first;
  let wide = 0;
  for (const char of [...text.slice(Math.max(0, first - 2 * lead), first)].reverse()) {
    wide += char > '\u2e7f' ? 2 : 1; // such as a Chinese character
    if (wide > lead) return word;
    begin -= char.length;
    if (char > '\u2e7f' || /\s/.test(text[begin - 1] ?? ' ')) word = begin;
  }
  return begin;
}
