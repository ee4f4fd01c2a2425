// The form for a packet, and its errors.
import { state } from '../state.js';
import { parseMoney } from '../format.js';
import { shownBalance } from './draws.js';
import { peopleIn } from './rooms.js';

/**
 * @typedef {object} Form
 * @property {string} total               the amount as typed: of all shares together, or of each if they are the same
 * @property {string|null} count          as typed; null: as many as usual
 * @property {number} usual               how many shares there are unless the user says another number
 * @property {string} greeting
 * @property {'lucky'|'equal'|'one'} kind one: a single share for one user
 * @property {'first'|'draw'|'rain'} way   first come, a draw among all that enter in time, or draws in waves; a packet for one user has none
 * @property {number} window              seconds for which users can enter the draw
 * @property {number} waves              of a rain
 * @property {number} over               seconds in which the waves of a rain come; see overOf
 * @property {number} maxWins            waves of a rain that one user may win; 0: all
 * @property {'refund'|'share'} rest      what becomes of the shares for which the draw has no participants
 * @property {import('../state.js').User|null} one
 * @property {'' | import('../../sdk/types.js').Skin} skin
 * @property {'calm'|'classic'|'wild'} spread
 * @property {boolean} chosen             only for the users in to
 * @property {import('../state.js').User[]} to
 * @property {boolean} earlier            only for users that are members already
 * @property {string} passphrase
 * @property {number} ttl                 seconds
 * @property {string} opens               when it opens, as an input of the type datetime-local has it; '': at once
 * @property {'nobody'|'away'|'some'} hold   for whom shares wait
 * @property {import('../state.js').User[]} holdFor
 * @property {number} holdTime            seconds
 *
 * @typedef {{word: string, value?: number}} Problem   a path in the texts, compose.wrong.*, and the number in it
 *
 * @typedef {object} Checked
 * @property {number|null} total          of all shares together
 * @property {number|null} count
 * @property {Partial<Record<'total'|'count'|'greeting'|'to'|'passphrase'|'opens'|'holdFor', Problem>>} problems
 * @property {'total'|'count'|'to'|null} missing   the first field that must be filled in
 */

/** @param {import('../state.js').RoomView} view @returns {Form} */
export function emptyForm(view) {
  const other = view.room.kind === 'direct' ? view.other : null;
  return {
    total: '', count: null, usual: Math.max(2, Math.min(5, peopleIn(view.room))), greeting: '', kind: other ? 'one' : 'lucky', way: 'first', window: usualWindow(), rest: 'refund', waves: 10, over: 60, maxWins: 0, one: other, skin: '', spread: 'classic', chosen: false, to: [], earlier: false,
    passphrase: '', ttl: state.limits?.ttl_default_s ?? 86_400, opens: '', hold: 'nobody', holdFor: [], holdTime: 600,
  };
}

/** Whether the form is that of a draw or rain. @param {Form} form */
export function isDrawn({ kind, way }) { return way !== 'first' && kind !== 'one'; }

/** Whether the form is that of a rain. @param {Form} form */
export function isOfRain(form) { return isDrawn(form) && form.way === 'rain'; }

const holdRoom = 1000; // members; in larger rooms nobody counts as away

/** Whether shares can wait for somebody. @param {import('../state.js').RoomView} view @param {Form} form */
export function mayHold(view, form) {
  const members = peopleIn(view.room);
  return form.kind !== 'one' && !isDrawn(form) && members > 2 && members <= holdRoom;
}

/** For how long shares can wait, in seconds. @param {Form} form */
export function holdTimes({ ttl }) { return [600, 3600, 14_400, 86_400].filter((s) => s <= ttl); }

/** What the field of the count shows. @param {Form} form */
export function shownCount(form) {
  const { count, chosen, to, usual } = form;
  return count ?? String(isOfRain(form) ? 2 * wavesOf(form) : (chosen && to.length) || usual);
}

/** @param {Form} form @returns {Checked} */
export function check(form) {
  const typed = shownCount(form).trim();
  const solo = form.kind === 'one';
  const to = form.chosen && !solo ? form.to.length : 0;
  const amount = form.total.trim() ? parseMoney(form.total) : null;
  const count = solo ? 1 : typed ? wholeNumber(typed) : null;
  const total = amount !== null && form.kind === 'equal' ? count && amount * count : amount;
  const problems = {
    total: form.total.trim() ? wrongTotal(amount, total, count) : undefined,
    count: typed && !solo ? wrongCount(count, form, to) : undefined,
    greeting: tooLong(form.greeting.trim(), 'greeting_chars'),
    to: above(to, 'packet_to', 'people'),
    passphrase: form.passphrase && !form.passphrase.trim() ? { word: 'blank' }
      : tooLong(form.passphrase.normalize('NFKC').trim(), 'passphrase_chars'),
    opens: wrongOpening(form.opens),
    holdFor: form.hold === 'some' && holds(form) ? wrongHolders(form, count, to) : undefined,
  };
  const missing = amount === null ? 'total' : count === null ? 'count' : (solo ? !form.one : form.chosen && !to) ? 'to' : null;
  return { total, count, problems, missing };
}

/** @param {Form} form @param {Checked} checked without a problem @param {string} greeting when none was written */
export function packetOf(form, { total, count }, greeting) {
  return {
    mode: form.kind === 'equal' ? 'equal' : 'lucky', total, count, greeting: form.greeting.trim() || greeting,
    ...howGiven(form),
    ...(form.kind === 'lucky' && { spread: form.spread }),
    ...(form.opens && { opens_at: Date.parse(form.opens) }),
    ...(holds(form) && { ...(form.hold === 'away' ? { hold_away: true } : { hold_for: form.holdFor.map((u) => u.id) }), hold_s: Math.min(form.holdTime, form.ttl) }),
    ...recipients(form),
    ...(form.skin && { skin: form.skin }),
    ...(form.passphrase.trim() && { passphrase: form.passphrase.trim() }),
  };
}

/** @param {Form} form */
function howGiven(form) {
  if (!isDrawn(form)) return { ttl_s: form.ttl };
  if (!isOfRain(form)) return { window_s: form.window, rest: form.rest };
  const waves = wavesOf(form);
  return { waves, over_s: overOf(form), ...(form.maxWins && form.maxWins < waves && { max_wins: form.maxWins }) };
}

/** @param {Form} form */
function recipients({ kind, one, chosen, to, earlier }) {
  if (kind === 'one') return { to: one ? [one.id] : [] };
  return chosen ? { to: to.map((u) => u.id) } : earlier && { earlier_members: true };
}

/** The amounts that a tap fills in, in minor units: those that the user can send. */
export function luckyAmounts() {
  const most = Math.min(shownBalance(), state.limits?.packet_total || Infinity);
  return [666, 888, 8888].filter((minor) => minor <= most);
}

/** The lifetimes that a packet can have, in seconds. */
export function lifetimes() {
  const { ttl_min_s: min = 5, ttl_max_s: max = 604_800, ttl_default_s: usual = 86_400 } = state.limits ?? {};
  return [...new Set([600, 3600, 86_400, 259_200, usual])].filter((s) => s >= min && s <= max).sort((a, b) => a - b);
}

/** The windows that a draw can have, in seconds. */
export function windows() {
  const { window_min_s: min = 3, window_max_s: max = 600 } = state.limits ?? {};
  const usual = [10, 30, 60, 300].filter((s) => s >= min && s <= max);
  return usual.length ? usual : [min];
}

/** How many waves a rain can have. */
export function waves() {
  const { waves_min: min = 3, waves_max: max = 100 } = state.limits ?? {};
  const usual = [3, 5, 10, 20].filter((n) => n >= min && n <= max);
  return usual.length ? usual : [min];
}

/** @param {Form} form */
export function wavesOf(form) { return waves().includes(form.waves) ? form.waves : waves()[0]; }

const waveCell = 3; // seconds that each wave needs

/** In how many seconds the waves can come. @param {Form} form */
export function overs(form) {
  const { rain_min_s: min = 10, rain_max_s: max = 600 } = state.limits ?? {};
  const least = Math.max(min, waveCell * wavesOf(form));
  const usual = [10, 30, 60, 180, 600].filter((s) => s >= least && s <= max);
  return usual.length ? usual : [least];
}

/** @param {Form} form */
export function overOf(form) { return overs(form).includes(form.over) ? form.over : overs(form)[0]; }

function usualWindow() { return windows().find((s) => s >= 30) ?? windows()[0]; }

/** @param {Form} form */
function holds(form) { return form.hold !== 'nobody' && form.kind !== 'one' && !isDrawn(form); }

/** @param {string} opens */
function wrongOpening(opens) {
  if (!opens) return undefined;
  const { opens_in_max_s: most = 604_800 } = state.limits ?? {};
  const left = Date.parse(opens) - Date.now();
  return left > 0 ? left > most * 1000 ? { word: 'tooFar', value: Math.floor(most / 86_400) } : undefined : { word: 'passed' };
}

function wrongHolders({ holdFor, to: chosen }, count, to) {
  if (!holdFor.length) return { word: 'nobodyHeld' };
  if (count !== null && holdFor.length > count) return { word: 'moreHeld', value: count };
  return to && holdFor.some((u) => !chosen.some((c) => c.id === u.id)) ? { word: 'heldOutside' } : undefined;
}

function wrongTotal(amount, total, count) {
  if (amount === null) return { word: 'noAmount' };
  if (amount < 1) return { word: 'atLeast', value: 1 };
  if (total === null) return undefined; // the count is missing
  if (count !== null && total < count) return { word: 'atLeastFor', value: count };
  return above(total, 'packet_total', 'total')
    ?? (total > shownBalance() ? { word: 'balance', value: shownBalance() } : undefined);
}

/** @param {number|null} count @param {Form} form @param {number} to */
function wrongCount(count, form, to) {
  if (count === null) return { word: 'noNumber' };
  if (count < 1) return { word: 'oneShare' };
  const waves = wavesOf(form);
  if (isOfRain(form) && count % waves) return { word: 'multiple', value: Math.ceil(count / waves) * waves };
  if (to && count > to && !isOfRain(form)) return { word: 'onlyThese', value: to };
  return above(count, 'packet_count', 'count');
}

function tooLong(text, limit) { return above([...text].length, limit, 'tooLong'); }

/** @param {number} n @param {string} limit of the server; 0: there is none @param {string} word */
function above(n, limit, word) {
  const most = state.limits?.[limit] ?? 0;
  return most && n > most ? { word, value: most } : undefined;
}

function wholeNumber(text) {
  const plain = text.normalize('NFKC').replace(/[\s,]/g, '');
  return /^\d{1,9}$/.test(plain) ? Number(plain) : null;
}
