// Packets and their states, as far as known. A state that is older than the known one is ignored.
import { state } from '../state.js';
import { hasEntered, isDraw } from './draws.js';
import { isRain, keepReceipt, rainState } from './rain.js';

/** @typedef {import('../state.js').PacketView} PacketView */

const latestShown = 8;

/** @param {import('../state.js').Packet} packet @returns {PacketView} */
export function packetView(packet) {
  let view = state.packets.get(packet.id);
  if (!view) {
    view = {
      packet, state: { packet: packet.id, status: 'open', claimed: 0 }, seq: null, offered: false, thanked: false, latest: [], doneAt: null, cameAt: -Infinity,
      grab: 'no', answer: null, refusal: null, wrongTries: [], stage: null, claims: null, won: null, ending: null, veiled: false, receiptIs: null, receipts: [], waveUntil: 0, told: 0, phrase: '',
    };
    state.packets.set(packet.id, view);
  }
  return view;
}

/**
 * Stores a state. isWhole: it says what the user has won; one that is pushed to all members does not. The end of a draw that the user has entered
 * waits until that is known: then all of it is shown at once.
 * @param {import('../state.js').PacketState} s @param {boolean} [isWhole]
 */
export function setPacketState(s, isWhole = true) {
  const view = state.packets.get(s.packet);
  if (!view) return;
  const before = view.state;
  if (before.status !== 'open' && s.status === 'open') s = { ...s, status: before.status };
  const draws = isDraw(view.packet);
  if (draws && s.mine) view.won = s.mine;
  const mine = s.mine ?? before.mine ?? (isWhole || view.won?.rank ? view.won ?? undefined : undefined); // a state that is pushed to all members lacks it
  const waits = draws && before.status === 'open' && s.status !== 'open' && s.status !== 'cancelled' && !isWhole && !mine && hasEntered(view);
  view.ending = waits ? s : null;
  if (waits) return;
  const isHidden = draws && s.status === 'open'; // winners are paid before the end is told
  view.state = {
    ...s,
    claimed: isHidden ? 0 : Math.max(s.claimed, before.claimed),
    mine: isHidden ? undefined : mine,
    luckiest: s.luckiest ?? before.luckiest,
    refunded: s.refunded ?? before.refunded,
    ...draws && { draw: drawOf(s.draw, before.draw) },
    ...isRain(view.packet) && { draw: drawOf(s.draw, before.draw), ...rainState(view, s) },
  };
  keepReceipt(view, s.draw?.receipt);
}

/** @param {import('../../sdk/types.js').Draw|undefined} now @param {import('../../sdk/types.js').Draw|undefined} before */
function drawOf(now, before) {
  return { ...before, ...now, participants: Math.max(now?.participants ?? 0, before?.participants ?? 0) };
}

/** Stores the packets of an entry, live or from history. @param {any} e @param {any} [s] */
export function notePacket(e, s) {
  if (e.kind === 'packet') packetView(e.body).seq = e.seq;
  if (e.kind === 'packet_done') {
    setPacketState(e.body.state, false);
    const view = state.packets.get(e.body.packet);
    if (view) view.doneAt = e.at;
  }
  if (s) setPacketState(s);
}

/** @param {import('../../sdk/types.js').ProgressEvent} p */
export function setProgress(p) {
  const view = state.packets.get(p.packet);
  if (!view || view.state.status !== 'open') return;
  view.latest = [...view.latest.filter((u) => !p.latest.includes(u)), ...p.latest].slice(-latestShown);
  if (isDraw(view.packet)) view.state = { ...view.state, draw: drawOf({ participants: p.participants ?? 0 }, view.state.draw) };
  else if (p.claimed > view.state.claimed) view.state = { ...view.state, claimed: p.claimed };
}

/** Notes what the user has won in a draw whose end is not told yet. @param {import('../../sdk/types.js').WalletEvent} e */
export function noteWon(e) {
  const view = state.packets.get(e.packet ?? '');
  if (view && isDraw(view.packet) && view.state.status === 'open') view.won ??= { amount: e.change, rank: 0, at: Date.now() };
}

/** Takes the answer to a grab. @param {any} g */
export function setGrabbed(g) {
  const view = state.packets.get(g.packet);
  if (!view) return;
  const lost = g.repeated && !view.state.mine; // nothing was known of a share before
  const ours = view.answer === 'won' || lost; // an unanswered try has won it, or the answer arrived twice
  view.grab = 'no';
  if (g.outcome === 'elsewhere') { // the user may still open it with the other account
    view.refusal = { word: 'elsewhere', user: g.user };
    return;
  }
  view.refusal = null;
  if (g.waiting) { // it is not over: shares wait for others, and are free to all later
    view.refusal = { word: 'waiting', count: g.waiting };
    view.state = { ...view.state, claimed: Math.max(view.state.claimed, g.claimed ?? 0) };
    return;
  }
  view.answer = g.outcome === 'already' && ours ? 'won' : g.outcome;
  if (isRain(view.packet)) {
    if (g.receipt) view.state = { ...view.state, draw: drawOf({ participants: 0, receipt: g.receipt }, view.state.draw) };
    keepReceipt(view, g.receipt);
    return; // the waves and the end are told to the room
  }
  if (isDraw(view.packet) && (g.outcome === 'entered' || g.outcome === 'expired')) {
    view.state = { ...view.state, draw: drawOf({ participants: g.participants ?? 0, ...g.receipt && { receipt: g.receipt } }, view.state.draw) };
    return; // the end is an entry of the room
  }
  const s = { ...view.state, claimed: Math.max(view.state.claimed, g.claimed ?? 0) };
  if (g.outcome === 'won' || g.outcome === 'already') s.mine = { amount: g.amount, rank: g.rank, at: g.at };
  if (g.outcome === 'empty') s.status = s.status === 'open' ? 'drained' : s.status;
  if (g.outcome === 'expired') s.status = s.status === 'open' ? 'expired' : s.status;
  view.state = s;
}

/** The other user that has opened the user's own packet last, if known. @param {PacketView} view @returns {string|undefined} the name */
export function lastOpener({ packet, state: s, latest }) {
  if (packet.from.id !== state.me?.id) return undefined;
  if (isDraw(packet)) return undefined;
  const users = packet.count === 1 && s.luckiest ? [s.luckiest.user] : latest;
  const user = users.findLast((u) => u !== packet.from.id);
  return user && state.people.get(user)?.name;
}

/** Whether the user is a recipient. @param {import('../state.js').Packet} packet */
export function isForMe(packet) { return !packet.to || packet.to.includes(state.me?.id ?? ''); }

/** The view of a packet: the envelope to be opened, or its claims. @param {PacketView} view */
export function stageOf(view) {
  if (view.stage) return view.stage;
  return view.state.status === 'open' && !view.state.mine && isForMe(view.packet) && !isRain(view.packet) ? 'envelope' : 'details';
}

/** Whether the sheet of a packet is the envelope. Then it is a dialog on a wide screen, too. @param {string|undefined} id */
export function isSealed(id) {
  const view = state.packets.get(id ?? '');
  return view !== undefined && stageOf(view) === 'envelope';
}

/** @param {string|undefined} id */
export function isUnknown(id) { return !state.packets.has(id ?? ''); }

const tries = 5; // allowed tries at a passphrase; one more every 12 s
const triesBack = 12_000;

/** The remaining tries at the passphrase, as far as this page has made them. @param {PacketView} view */
export function triesLeft(view) {
  let left = tries;
  let last = 0;
  for (const at of [...view.wrongTries, Date.now()]) {
    left = Math.min(tries, left + (at - last) / triesBack) - 1;
    last = at;
  }
  return Math.max(0, Math.floor(left + 1));
}
