// The form of a packet: what it asks for, what it refuses, and the request that it becomes.

import { state } from '/app/state.js';
import { check, emptyForm, luckyAmounts, mayHold, packetOf } from '/app/model/compose.js';
import { equal } from '../check.js';

const bob = { id: 'bob', name: 'Bob' };
const group = { room: { kind: 'public' }, other: null };

/** The problems of a form, what it lacks, and its request. */
function filled(values, view = group) {
  state.account = { ...state.account, balance: 10_000, currency: { code: 'CNY', exponent: 2 } };
  const form = { ...emptyForm(view), ...values };
  const checked = check(form);
  const problems = Object.values(checked.problems).filter(Boolean).map((p) => `${p.word} ${p.value ?? ''}`.trim());
  const { greeting, ttl_s, ...request } = packetOf(form, checked, 'x');
  return { problems: problems.join(), missing: checked.missing, request };
}

export async function kinds() {
  equal(filled({ total: '6.66', count: '3' }), { problems: '', missing: null, request: { mode: 'lucky', total: 666, count: 3, spread: 'classic' } });
  equal(filled({ kind: 'equal', total: '6.66', count: '3', skin: 'koi' }), { problems: '', missing: null, request: { mode: 'equal', total: 1998, count: 3, skin: 'koi' } });
  equal(filled({ kind: 'one', one: bob, total: '5', count: '7', chosen: true, to: [], earlier: true }),
    { problems: '', missing: null, request: { mode: 'lucky', total: 500, count: 1, to: ['bob'] } });
  equal(filled({ total: '5' }, { room: { kind: 'direct' }, other: bob }), { problems: '', missing: null, request: { mode: 'lucky', total: 500, count: 1, to: ['bob'] } });
  equal(filled({ kind: 'equal', total: '5', chosen: true, to: [bob, { id: 'cyn', name: 'Cyn' }] }),
    { problems: '', missing: null, request: { mode: 'equal', total: 1000, count: 2, to: ['bob', 'cyn'] } });
}

/** A user that says no number sends what the field shows: as many as there are people, within bounds. */
export async function counts() {
  const sent = (members, values = {}) => filled({ total: '5', ...values }, { room: { kind: 'public', members }, other: null });
  equal([1, 2, 3, 5, 80].map((members) => sent(members).request.count), [2, 2, 3, 5, 5]);
  equal(sent(3, { count: '4' }).request.count, 4);
  equal(sent(80, { chosen: true, to: [bob] }), { problems: '', missing: null, request: { mode: 'lucky', total: 500, count: 1, spread: 'classic', to: ['bob'] } });
}

export async function asks() {
  equal(filled({ kind: 'one', total: '5' }).missing, 'to');
  equal(filled({ kind: 'equal', total: '5', count: '' }).missing, 'count');
  equal(filled({ kind: 'equal', count: '5' }).missing, 'total');
  equal(filled({ kind: 'equal', total: '5', count: '21' }).problems, 'balance 10000');
  equal(filled({ kind: 'equal', total: '0', count: '2' }).problems, 'atLeast 1');
  equal(filled({ total: '0.02', count: '3' }).problems, 'atLeastFor 3');
}

export async function offersAmounts() {
  state.account = { ...state.account, balance: 888 };
  equal(luckyAmounts(), [666, 888]);
  state.limits = { packet_total: 700 };
  equal(luckyAmounts(), [666]);
  state.limits = null;
}

/** A packet that opens later, and one whose shares wait. */
export async function later() {
  const room = { room: { kind: 'public', members: 5 }, other: null };
  const at = new Date(Date.now() + 3_600_000);
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16); // as the field has it, in minutes
  const sent = (values) => filled({ total: '6', count: '3', ...values }, room);
  equal(sent({ opens: local }).request.opens_at, Math.floor(at.getTime() / 60_000) * 60_000);
  equal([sent({ opens: '2020-01-01T00:00' }).problems, sent({ opens: '2999-01-01T00:00' }).problems], ['passed', 'tooFar 7']);
  const { hold_away, hold_for, hold_s } = sent({ hold: 'away', holdTime: 3600 }).request;
  equal([hold_away, hold_for, hold_s], [true, undefined, 3600]);
  equal(sent({ hold: 'some', holdFor: [bob] }).request.hold_for, ['bob']);
  equal(sent({ hold: 'some', holdFor: [bob], way: 'draw' }).request.hold_for, undefined);
  equal(sent({ hold: 'some' }).problems, 'nobodyHeld');
  equal(sent({ count: '1', hold: 'some', holdFor: [bob, { id: 'cyn', name: 'Cyn' }] }).problems, 'moreHeld 1');
  equal(sent({ hold: 'some', holdFor: [bob], chosen: true, to: [{ id: 'cyn', name: 'Cyn' }], count: '1' }).problems, 'heldOutside');
  equal([mayHold(/** @type {any} */ (room), emptyForm(/** @type {any} */ (room))), mayHold(/** @type {any} */ ({ room: { members: 2 } }), emptyForm(/** @type {any} */ (room)))], [true, false]);
}
