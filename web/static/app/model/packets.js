// Packets and how they stand, as far as one has heard. A state only goes forward: what is late or older changes nothing.
import { state } from '../state.js';

/** @typedef {import('../state.js').PacketView} PacketView */

/** @param {import('../state.js').Packet} packet @returns {PacketView} */
export function packetView(packet) {
  let view = state.packets.get(packet.id);
  if (!view) {
    view = {
      packet, state: { packet: packet.id, status: 'open', claimed: 0 }, latest: [], doneAt: null,
      grab: 'no', answer: null, refusal: null, wrongTries: [], stage: null, claims: null,
    };
    state.packets.set(packet.id, view);
  }
  return view;
}

/** @param {import('../state.js').PacketState} s */
export function setPacketState(s) {
  const view = state.packets.get(s.packet);
  if (!view) return;
  const before = view.state;
  if (before.status !== 'open' && s.status === 'open') s = { ...s, status: before.status };
  view.state = {
    ...s,
    claimed: Math.max(s.claimed, before.claimed),
    mine: s.mine ?? before.mine, // a state that is told to all is without it
    luckiest: s.luckiest ?? before.luckiest,
    refunded: s.refunded ?? before.refunded,
  };
}

/** @param {{packet: string, claimed: number, latest: string[]}} p */
export function setProgress(p) {
  const view = state.packets.get(p.packet);
  if (!view || view.state.status !== 'open') return;
  view.latest = p.latest;
  if (p.claimed > view.state.claimed) view.state = { ...view.state, claimed: p.claimed };
}

/** What a grab has answered. @param {any} g */
export function setGrabbed(g) {
  const view = state.packets.get(g.packet);
  if (!view) return;
  if (g.outcome === 'pending') {
    view.grab = 'pending';
    return;
  }
  const ours = view.grab === 'pending' || view.answer === 'won'; // it was granted to the try that was not answered, or is told twice
  view.grab = 'no';
  view.refusal = null;
  view.answer = g.outcome === 'already' && ours ? 'won' : g.outcome;
  const s = { ...view.state, claimed: Math.max(view.state.claimed, g.claimed ?? 0) };
  if (g.outcome === 'won' || g.outcome === 'already') s.mine = { amount: g.amount, rank: g.rank, at: g.at };
  if (g.outcome === 'empty') s.status = s.status === 'open' ? 'drained' : s.status;
  if (g.outcome === 'expired') s.status = s.status === 'open' ? 'expired' : s.status;
  view.state = s;
}

/** May one open it, as far as it says whom it is for? @param {import('../state.js').Packet} packet */
export function isForMe(packet) { return !packet.to || packet.to.includes(state.me?.id ?? ''); }

/** What is to be seen of a packet: the envelope to be opened, or who got what. @param {PacketView} view */
export function stageOf(view) {
  if (view.stage) return view.stage;
  return view.state.status === 'open' && !view.state.mine && isForMe(view.packet) ? 'envelope' : 'details';
}

/** Is the sheet of a packet the envelope? Then it is a dialog on a wide screen too. @param {string|undefined} id */
export function isSealed(id) {
  const view = state.packets.get(id ?? '');
  return view !== undefined && stageOf(view) === 'envelope';
}

const tries = 5; // at a passphrase; one comes back every 12 s
const triesBack = 12_000;

/** How many tries at the passphrase are left, as far as this page has made them. @param {PacketView} view */
export function triesLeft(view) {
  let left = tries;
  let last = 0;
  for (const at of [...view.wrongTries, Date.now()]) {
    left = Math.min(tries, left + (at - last) / triesBack) - 1;
    last = at;
  }
  return Math.max(0, Math.floor(left + 1));
}
