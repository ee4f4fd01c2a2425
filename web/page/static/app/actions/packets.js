// Sends, opens and reads red packets.
import { state, change, toast } from '../state.js';
import { attempt } from './attempt.js';
import { client } from '../client.js';
import { meet } from '../model/people.js';
import { placed } from '../model/outbox.js';
import { begin } from './messages.js';
import { noteAccount } from './wallet.js';
import { isDraw } from '../model/draws.js';
import { isRain } from '../model/rain.js';
import { packetView, setGrabbed, setPacketState } from '../model/packets.js';
import { openSheet } from '../route.js';
import { money } from '../format.js';
import { t } from '../words.js';
import { newKey } from '../../sdk/key.js';

const page = 50;
const lockPatience = 6000; // ms; for a longer wait after wrong passphrases, the time is shown instead of a spinner

/** @typedef {import('../state.js').PacketView} PacketView */

/**
 * Sends a packet; it is shown at once, grey until the server has it.
 * @param {string} room
 * @param {object} packet what was filled in
 */
export function sendPacket(room, packet) {
  const view = state.rooms.get(room);
  if (!view) return;
  const key = newKey();
  const request = { room, ...packet, key, commitment: client.account.nextCommitment };
  /** @type {import('../state.js').Sending} */
  const sending = { key, kind: 'packet', at: Date.now(), status: 'sending', request };
  begin(view, sending);
  deliverPacket(sending);
}

/**
 * Sends it, for the first time or again: with the same key, so that it is never sent twice. If another device has used
 * the seed, this key was refused for good, and the SDK draws a new one for the next seed: the server must have drawn the
 * seed before it could know the key. The user may try again after a conflict without a reason.
 * @param {import('../state.js').Sending} sending
 */
export async function deliverPacket(sending) {
  const isRefused = /** @type {any} */ (sending.error)?.word === 'conflict';
  change(() => { sending.status = 'sending'; sending.error = undefined; });
  const onDraw = (/** @type {{key: string, commitment: string}} */ draw) => change(() => {
    sending.key = draw.key;
    sending.request = { ...sending.request, ...draw };
  });
  if (isRefused) onDraw({ key: newKey(), commitment: client.account.nextCommitment });
  try {
    const sent = await client.sendPacket(sending.request, { onDraw });
    change(() => {
      packetView(sent.packet);
      const room = state.rooms.get(sending.request.room);
      if (room) placed(room, sending, sent.seq);
      noteAccount();
    });
  } catch (error) {
    change(() => { sending.status = 'failed'; sending.error = error; });
  }
}

/** Opens a packet, or tries again. The result is in the packet's view. @param {string} id @param {string} [passphrase] */
export async function openPacket(id, passphrase) {
  const view = state.packets.get(id);
  if (!view || view.grab !== 'no') return;
  change(() => { view.grab = 'asking'; view.refusal = null; view.answer = null; });
  try {
    const answer = await client.grab(id, passphrase, view.packet.locked ? { patience: lockPatience } : {});
    change(() => { setGrabbed(answer); noteAccount(); });
    if (answer.outcome === 'entered') checkReceipt(view, answer.receipt);
    if (answer.outcome === 'won' && view.stage !== 'envelope') toast(t('packet.gotLate', { amount: money(answer.amount ?? 0) }));
  } catch (/** @type {any} */ error) {
    change(() => {
      view.grab = 'no';
      view.refusal = error;
      if (error.word === 'wrong_passphrase') view.wrongTries.push(Date.now());
    });
  }
}

/** A receipt that does not fit is told at once, as long as the user can ask for another. @param {PacketView} view @param {any} receipt */
async function checkReceipt(view, receipt) {
  const is = await client.checkReceipt(view.packet, receipt).catch(() => null); // the code could not be loaded; the check of the draw has it again
  change(() => { view.receiptIs = is; });
}

/** Reads the user's share of a packet that was opened elsewhere, for example in another tab. @param {string|undefined} id */
export async function learnOwn(id) {
  const view = state.packets.get(id ?? '');
  if (!view || (view.state.mine && !isRain(view.packet)) || view.grab !== 'no') return;
  try {
    const got = await client.packet({ packet: view.packet.id, limit: 1 });
    change(() => setPacketState(got.state));
  } catch {
    // On an error, the state is shown when the user opens the packet.
  }
}

/** Shows the claims. @param {PacketView} view */
export function showDetails(view) { change(() => { view.stage = 'details'; }); }

/** Goes back to the envelope if it was not opened. @param {PacketView} view */
export function showEnvelope(view) { change(() => { view.stage = 'envelope'; }); }

/** @param {string} id */
export function showPacket(id) {
  const view = state.packets.get(id);
  if (view) view.stage = null;
  openSheet('packet', id);
}

/** Reads an unknown packet. @param {string} id @returns {Promise<unknown>} what went wrong */
export async function findPacket(id) {
  try {
    take(await client.packet({ packet: id, limit: page }), 0);
    return null;
  } catch (error) {
    return error;
  }
}

/** Reads more claims; from the start if amounts are visible now that were hidden. @param {string} id @param {boolean} [anew] */
export async function loadClaims(id, anew = false) {
  const view = state.packets.get(id);
  if (!view || view.claims?.loading) return;
  const list = view.claims ?? { all: [], more: false, proof: null, loading: false, error: null };
  change(() => { view.claims = { ...list, loading: true, error: null }; });
  try {
    for (let after = anew ? 0 : list.all.length; ;) {
      const reply = await client.packet({ packet: id, after_rank: after, limit: anew ? 2 * page : page });
      const { length } = reply.claims;
      const goesOn = anew && length > 0 && reply.more && after + length < list.all.length;
      take(reply, after, goesOn);
      if (!goesOn) return;
      after += length;
    }
  } catch (error) {
    change(() => { view.claims = { ...list, loading: false, error }; });
  }
}

function take(reply, after, loading = false) {
  change(() => {
    const view = packetView(reply.packet);
    setPacketState(reply.state);
    reply.claims.forEach((c) => meet(c.user));
    const all = view.claims?.all.slice() ?? [];
    all.splice(after, loading ? reply.claims.length : Infinity, ...reply.claims);
    view.claims = { all, more: reply.more, proof: reply.proof ?? null, loading, error: null };
  });
}

/** Cancels the user's own packet before the first grab. @param {PacketView} view */
export async function cancelPacket(view) {
  const done = await attempt(client.cancelPacket(view.packet.id));
  if (done) change(() => { setPacketState(done.state); noteAccount(); });
}

const namedUpTo = 50; // members; in a larger room only the sender's page reads the names of the openers
const openersPace = 1000; // ms between two reads for one packet
const openersRead = 5;

/** Packets whose openers are being read. @type {Set<string>} */
const meeting = new Set();
/** Users that were asked for, as packet/user. @type {Set<string>} */
const askedFor = new Set();

/** Reads the users that have opened the packet or entered the draw last, if some are unknown here: each once. @param {PacketView} view */
export async function meetOpeners({ packet, latest, state: { claimed } }) {
  const members = state.rooms.get(packet.room)?.room.members ?? Infinity;
  const unknown = latest.filter((user) => !state.people.has(user) && !askedFor.has(`${packet.id}/${user}`));
  if (!unknown.length || meeting.has(packet.id) || (packet.from.id !== state.me?.id && members > namedUpTo)) return;
  meeting.add(packet.id);
  unknown.forEach((user) => askedFor.add(`${packet.id}/${user}`));
  try {
    const users = isDraw(packet) ? (await client.users(unknown)).users
      : (await client.packet({ packet: packet.id, after_rank: Math.max(0, claimed - openersRead), limit: openersRead })).claims.map((c) => c.user);
    change(() => users.forEach(meet));
  } catch {
    // On an error, the envelope shows no names.
  }
  setTimeout(() => {
    meeting.delete(packet.id);
    change(); // the envelope asks again if more users are unknown
  }, openersPace);
}

const asked = new Set();

/** Reads the luckiest user, if unknown here. @param {PacketView} view */
export async function meetLuckiest(view) {
  const { luckiest } = view.state;
  if (!luckiest || state.people.has(luckiest.user) || asked.has(view.packet.id)) return;
  asked.add(view.packet.id);
  try {
    const { claims } = await client.packet({ packet: view.packet.id, after_rank: luckiest.rank - 1, limit: 1 });
    change(() => claims.forEach((c) => meet(c.user)));
  } catch {
    // On an error, the envelope shows no name.
  }
}
