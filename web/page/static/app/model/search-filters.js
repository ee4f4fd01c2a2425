// Filters of a search that are typed with the words, as in from:ann or after:2026-10-01, and the users and rooms that a filter may name.
import { state } from '../state.js';
import { holds, isCalled } from '../matching.js';
import { isSystemUser } from './members.js';
import { peopleMet } from './people.js';
import { listedRooms, nameOf } from './rooms.js';

/** @typedef {import('./search.js').Search} Search */

const names = {
  from: 'from', 发送人: 'from', 来自: 'from', in: 'room', 群聊: 'room', after: 'since', 之后: 'since', before: 'until', 之前: 'until', on: 'on', 日期: 'on', kind: 'kind', has: 'kind', 类型: 'kind',
};
const kinds = { text: 'text', texts: 'text', 文字: 'text', file: 'file', files: 'file', 文件: 'file', 图片: 'file', packet: 'packet', packets: 'packet', 红包: 'packet' };
const own = (/** @type {Record<string, string>} */ table, /** @type {string} */ word) => (Object.hasOwn(table, word) ? table[word] : '');

const begins = `(?<=^|\\s)(${Object.keys(names).join('|')})[:：]`;
const value = '(?:["“]([^"“”]*)["”]|([^\\s"“”]+))';
const whole = new RegExp(`${begins}${value}(?=\\s|$)`, 'giu');
const followed = new RegExp(`${begins}${value}\\s`, 'giu'); // the user may still be writing the last one

/**
 * Takes filters out of the words.
 * @param {Search} search @param {string} room '': all rooms @param {boolean} done the user does not write on
 * @returns {{name: string, query: string}|undefined} a filter that does not say which user or room it means
 */
export function takeTyped(search, room, done) {
  /** @type {{name: string, query: string}|undefined} */ let unclear;
  search.words = search.words.replace(done ? whole : followed, (all, word, quoted, plain) => {
    const name = own(names, word.toLowerCase());
    const said = (quoted ?? plain).trim();
    const filters = said && !(name === 'room' && room) ? filterOf(name, said, room || search.filters.room || '') : undefined;
    if (filters) search.filters = { ...search.filters, ...filters };
    else if (said && (name === 'from' || name === 'room' && !room)) unclear = { name, query: said.replace(/^@/, '') };
    else return all;
    return '';
  });
  return unclear;
}

/** @param {string} name @param {string} said @param {string} room @returns {import('./search.js').Filters|undefined} undefined: it is not understood */
function filterOf(name, said, room) {
  if (name === 'from') {
    const from = onlyOne(sendersOf(room), said.replace(/^@/, ''), (user) => [user.id, user.name, ...(user.id === state.me?.id ? ['me', '我'] : [])], isCalled);
    return from && { from };
  }
  if (name === 'room') {
    const view = onlyOne(listedRooms(), said, (one) => [nameOf(one)], (one, wanted) => holds(nameOf(one), wanted));
    return view && { room: view.room.id };
  }
  if (name === 'kind') {
    const kind = /** @type {any} */ (own(kinds, said.toLowerCase()));
    return kind ? { kind } : undefined;
  }
  const day = dayOf(said);
  if (!day) return undefined;
  if (name === 'since') return { since: day };
  return name === 'on' ? { since: day, until: day } : { until: dayBefore(day) };
}

/**
 * The one that is called exactly so, or else the only one with this in the name.
 * @template T
 * @param {T[]} all @param {string} said @param {(one: T) => string[]} called @param {(one: T, wanted: string) => boolean} matches @returns {T|undefined}
 */
function onlyOne(all, said, called, matches) {
  const exact = all.filter((one) => called(one).some((name) => holds(name ?? '', said) && holds(said, name ?? '')));
  const found = exact.length ? exact : all.filter((one) => matches(one, said));
  return found.length === 1 ? found[0] : undefined;
}

/** A day as in 2026-10-01; '': the text is none. @param {string} text such as 2026-10-1 or 2026/10/1 */
function dayOf(text) {
  const [, year, month, date] = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/.exec(text) ?? [];
  const day = [year, month?.padStart(2, '0'), date?.padStart(2, '0')].join('-');
  const at = new Date(`${day}T00:00Z`);
  return Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== day ? '' : day;
}

/** @param {string} day */
function dayBefore(day) { return new Date(Date.parse(`${day}T00:00Z`) - 86_400_000).toISOString().slice(0, 10); }

/** The day of a time here. @param {Date} at */
export function dayHere(at) { return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((n, i) => String(n).padStart(i ? 2 : 4, '0')).join('-'); }

/** Known users that may have sent something in a room, the user first. @param {string} room '': in any @returns {import('../state.js').User[]} */
export function sendersOf(room) {
  const view = state.rooms.get(room);
  const met = view && [...view.members.items.map(({ user }) => user), ...view.timeline.items.map(({ from }) => from), view.other];
  const users = new Map((met ?? peopleMet()).flatMap((user) => (user && !isSystemUser(user.id) ? [[user.id, state.people.get(user.id) ?? user]] : [])));
  const { me } = state;
  if (me) users.delete(me.id);
  const others = [...users.values()].sort((a, b) => (a.name || a.id).localeCompare(b.name || b.id, state.lang));
  return me ? [me, ...others] : others;
}
