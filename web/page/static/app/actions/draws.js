// Draws: the server's time, the end of a draw that the user has entered, and its documents.
import { change, toast } from '../state.js';
import { client } from '../client.js';
import { noteServerDate } from '../model/clock.js';
import { hasEntered } from '../model/draws.js';
import { setPacketState } from '../model/packets.js';
import { openSheet } from '../route.js';
import { money } from '../format.js';
import { t } from '../words.js';

/** @typedef {import('../state.js').PacketView} PacketView */

const endPatience = 10_000; // ms for the question whether the user has won; then the end is shown as it was pushed
const toastLasts = 8000;

let learning = false;

/** Learns the server's time, once, when the first draw is shown: its window may be shorter than this device's clock is off. */
export async function learnClock() {
  if (learning) return;
  learning = true;
  try {
    const asked = Date.now();
    const { headers } = await fetch('v1/receipt-keys', { cache: 'no-store' }); // any small answer that nothing stores
    change(() => noteServerDate(headers.get('Date'), asked, Date.now()));
  } catch {
    learning = false; // the next draw tries again
  }
}

/** @type {Set<string>} */
const ending = new Set();

/** Asks whether the user has won a draw that has ended, and shows the end. @param {PacketView|undefined} view */
export async function endDraw(view) {
  const id = view?.packet.id ?? '';
  if (!view?.ending || ending.has(id)) return;
  ending.add(id);
  try {
    const got = await client.packet({ packet: id, limit: 1 }, { patience: endPatience, signal: AbortSignal.timeout(endPatience) });
    change(() => setPacketState(got.state));
  } catch {
    change(() => { if (view.ending) setPacketState(view.ending); });
  }
  ending.delete(id);
  tellEnd(view);
}

/** Says to a participant how a draw has ended, unless its envelope says it. @param {PacketView} view */
export function tellEnd(view) {
  const { state: s, packet } = view;
  if (s.status === 'open' || s.status === 'cancelled' || view.stage || !hasEntered(view)) return;
  const act = { label: t('packet.about'), run: () => openSheet('packet', packet.id) };
  toast(s.mine ? t('draw.gotLate', { amount: money(s.mine.amount) }) : t('draw.lostLate', { name: packet.from.name }), act, toastLasts);
}

/** The proof of a finished packet, and the keys of receipts. @param {string} packet */
export async function readProof(packet) {
  const [document, keys] = await Promise.all([client.proof(packet, { patience: 15_000 }), client.receiptKeys({ patience: 15_000 })]);
  return { document, keys };
}
