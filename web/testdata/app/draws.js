// Draws in the model: the chances, and that nothing tells the user's own result before the end.

import { state } from '/app/state.js';
import { noteServerDate, serverNow } from '/app/model/clock.js';
import { isUntold, oddsOf, shownBalance } from '/app/model/draws.js';
import { receiptsOf } from '/app/model/rain.js';
import { notePacket, noteWon, packetView, setGrabbed, setPacketState, setProgress, stageOf } from '/app/model/packets.js';
import { equal } from '/test/check.js';

const mine = { amount: 70, rank: 1, at: 5 };
const receipt = { packet: 'p', user: 'me', leaf: 'l', at: 1, key: 'k', signature: 's' };

/** A draw that the user has entered, in a room of the user's, with 100 in the wallet. */
function entered(more) {
  Object.assign(state, { me: { id: 'me', name: 'Me' }, account: { ...state.account, balance: 100 } });
  state.packets.clear();
  state.rooms.clear();
  state.rooms.set('r', /** @type {any} */ ({}));
  const view = packetView(/** @type {any} */ ({ id: 'p', room: 'r', from: { id: 'ann', name: 'Ann' }, mode: 'lucky', total: 100, count: 3, window_s: 10, rest: 'refund', ...more }));
  setGrabbed({ packet: 'p', outcome: 'entered', claimed: 0, count: 3, participants: 4, receipt });
  return view;
}

const end = { packet: 'p', status: 'drained', claimed: 3, draw: { participants: 17, root: 'x' } };

function done(s = end) { notePacket({ kind: 'packet_done', at: 9, body: { packet: 'p', reason: s.status, state: s } }); }

export async function odds() {
  const of = (participants, more = {}) => {
    const view = entered(more);
    view.state = { ...view.state, draw: { participants, receipt } };
    return oddsOf(view);
  };
  equal(of(17), { participants: 17, winners: 3, all: false, mean: 5, exact: false });
  equal(of(4), { participants: 4, winners: 3, all: false, mean: 25, exact: true });
  equal(of(2), { participants: 2, winners: 2, all: true, mean: 33, exact: false });
  equal(of(2, { rest: 'share' }), { participants: 2, winners: 2, all: true, mean: 50, exact: true });
  equal(of(10, { rest: 'share' }), { participants: 10, winners: 3, all: false, mean: 10, exact: true });
  const view = entered({});
  view.state = { ...view.state, draw: { participants: 3 } };
  equal(oddsOf(view), { participants: 4, winners: 3, all: false, mean: 25, exact: true }); // as if the user entered now
  view.state = { ...view.state, draw: { participants: 0 } };
  equal(oddsOf(view).participants, 1);
}

/** The page keeps the user's receipt of each wave, also if it comes again, or with the state. */
export async function receiptsOfWaves() {
  const view = entered({ waves: 3, over_s: 10 });
  const of = (/** @type {number} */ wave) => ({ ...receipt, wave });
  for (const wave of [2, 1, 2]) setGrabbed({ packet: 'p', outcome: 'entered', claimed: 0, count: 3, receipt: of(wave) });
  setPacketState(/** @type {any} */ ({ packet: 'p', status: 'open', claimed: 0, draw: { participants: 0, receipt: of(3) } }));
  equal(receiptsOf(view), [of(1), of(2), of(3)]);
  equal(receiptsOf(entered()), [receipt]);
}

/** The winners are paid before the end is told: the balance, the state and the envelope say nothing until then. */
export async function heldUntilTheEnd() {
  const view = entered();
  noteWon(/** @type {any} */ ({ packet: 'p', kind: 'claim', change: 70 }));
  state.account = { ...state.account, balance: 170 };
  equal([shownBalance(), isUntold('p'), view.state.mine, stageOf(view)], [100, true, undefined, 'envelope']);
  setPacketState(/** @type {any} */ ({ packet: 'p', status: 'open', claimed: 2, mine, draw: { participants: 17, receipt } }));
  equal([shownBalance(), view.state.mine, view.state.claimed, view.state.draw.participants], [100, undefined, 0, 17]);
  view.veiled = true; // its envelope is open
  done();
  equal([view.state.status, view.state.mine, view.state.draw.receipt, shownBalance()], ['drained', mine, receipt, 100]);
  view.veiled = false;
  equal([shownBalance(), isUntold('p')], [170, false]);
}

/** What was won in a room that tells no end, because the user has left it, is not held back. */
export async function notHeldElsewhere() {
  entered();
  noteWon(/** @type {any} */ ({ packet: 'p', kind: 'claim', change: 70 }));
  state.rooms.clear();
  equal(shownBalance(), 100);
}

/** The end waits until it is known whether the user has won. */
export async function endWaits() {
  const view = entered();
  done();
  equal([view.state.status, view.ending], ['open', end]);
  setPacketState(/** @type {any} */ ({ ...end, mine }));
  equal([view.state.status, view.state.mine, view.ending], ['drained', mine, null]);

  const lost = entered();
  done();
  setPacketState(/** @type {any} */ (lost.ending)); // there was no answer
  equal([lost.state.status, lost.state.mine, lost.state.draw], ['drained', undefined, { participants: 17, root: 'x', receipt }]);

  const taken = entered();
  done(/** @type {any} */ ({ packet: 'p', status: 'cancelled', claimed: 0 }));
  equal(taken.state.status, 'cancelled');

  const other = entered();
  other.state = { ...other.state, draw: { participants: 4 } }; // not entered
  done();
  equal([other.state.status, other.ending], ['drained', null]);
}

/** The number of participants never falls, and late news of shares changes nothing. */
export async function progress() {
  const view = entered();
  setProgress(/** @type {any} */ ({ packet: 'p', claimed: 0, latest: ['a', 'b'], participants: 6 }));
  setProgress(/** @type {any} */ ({ packet: 'p', claimed: 2, latest: ['c'], participants: 5 }));
  equal([view.state.draw.participants, view.latest, view.state.claimed], [6, ['a', 'b', 'c'], 0]);
  setGrabbed({ packet: 'p', outcome: 'expired', claimed: 0, count: 3, participants: 6 });
  equal([view.state.status, view.state.draw.receipt], ['open', receipt]);
}

/** The time left follows the server's clock, if this device's is off by more than the server's time is known. */
export async function serverClock() {
  const off = () => Math.round((Date.now() - serverNow()) / 10_000) * 10;
  const note = (seconds, took = 0) => {
    const now = Date.now();
    noteServerDate(new Date(now - took / 2 - seconds * 1000).toUTCString(), now - took, now);
  };
  note(60);
  equal(off(), 60);
  note(-120, 200);
  equal(off(), -120);
  note(30, 5000); // an answer that took so long tells nothing
  noteServerDate(null, 0, 0);
  equal(off(), -120);
  note(0);
  equal(Date.now() - serverNow() < 5, true);
}
