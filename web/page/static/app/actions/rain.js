// Rain: enters waves, and reads what pushes have left out.
import { change, currentRoom, state, toast } from '../state.js';
import { client } from '../client.js';
import { money } from '../format.js';
import { setPacketState } from '../model/packets.js';
import { enteredWave, isRain, noteWave, openWave, winsOf } from '../model/rain.js';
import { openSheet } from '../route.js';
import { sound } from '../sound.js';
import { t } from '../words.js';
import { findPacket, openPacket } from './packets.js';

/** @typedef {import('../state.js').PacketView} PacketView */

const endPatience = 10_000; // ms for the question what the user has won in all
const toastLasts = 8000;

/** @type {Set<string>} */
const asking = new Set();

/** Reads which wave has come, and what the user has won. @param {PacketView} view @param {object} [options] */
export async function askRain(view, options) {
  const { id } = view.packet;
  if (asking.has(id)) return;
  asking.add(id);
  try {
    const got = await client.packet({ packet: id, limit: 1 }, options);
    change(() => setPacketState(got.state));
  } catch {
    // The next wave is pushed, and so is the end.
  }
  asking.delete(id);
}

/** Takes a push. @param {import('../../sdk/types.js').WaveEvent} e */
export function wave(e) {
  const view = state.packets.get(e.packet);
  if (!view) {
    if (state.rooms.has(e.room)) findPacket(e.packet);
    return;
  }
  const before = openWave(view);
  if (noteWave(e)) askRain(view);
  if (view.packet.room !== currentRoom()?.room.id) return;
  const opens = openWave(view);
  if (opens && opens !== before) {
    view.answer = null;
    view.refusal = null;
    sound('packet');
    state.announcement = t('rain.now', { wave: opens });
  }
  const win = e.result && winsOf(view).find((w) => w.wave === e.wave);
  if (win) sound('won');
  if (e.result && enteredWave(view) === e.wave) state.announcement = win ? t('rain.won', { amount: money(win.amount) }) : t('rain.lost');
}

/** Grabs in the wave that is open. Between two waves the user is told so. @param {PacketView} view */
export function grabWave(view) {
  const open = openWave(view);
  if (view.grab !== 'no' || (open && enteredWave(view) === open)) return;
  if (!open) {
    change(() => { view.answer = 'missed'; state.announcement = t('rain.missed'); });
    return;
  }
  sound('tap');
  openPacket(view.packet.id, view.phrase.trim());
}

/** A rain has ended: reads what the user has won in all, and says it to a participant. @param {PacketView} view */
export async function endRain(view) {
  const { packet } = view;
  if (!isRain(packet) || !(enteredWave(view) || view.state.mine)) return;
  await askRain(view, { patience: endPatience, signal: AbortSignal.timeout(endPatience) });
  const { mine, status } = view.state;
  if (view.stage || status === 'cancelled') return;
  const count = winsOf(view).length;
  const text = mine ? t('rain.summary', { amount: money(mine.amount), count }) : t('rain.nothing', { name: packet.from.name });
  toast(text, { label: t('packet.about'), run: () => openSheet('packet', packet.id) }, toastLasts);
}
