// Rain: packets whose shares come up in waves. Each wave is a draw of its own, and its end is told at once.
import { state } from '../state.js';
import { serverNow } from './clock.js';
import { isEarly } from './early.js';

/** @typedef {import('../state.js').PacketView} PacketView */

const waveWindow = 2500; // ms for which users can enter a wave
const grace = 5000; // ms after its end in which a rain is drawn

/** @param {import('../../sdk/types.js').Packet} packet */
export function isRain(packet) { return Boolean(packet.waves); }

/** @param {PacketView} view @returns {import('../../sdk/types.js').RainState} */
export function rainOf(view) { return view.state.rain ?? { drawn: 0 }; }

/** What the user has won in the waves, as far as known. @param {PacketView} view */
export function winsOf(view) { return rainOf(view).wins ?? []; }

/** The wave that users can enter now; 0: none. @param {PacketView} view */
export function openWave(view) {
  return view.state.status === 'open' && view.waveUntil > Date.now() ? rainOf(view).wave ?? 0 : 0;
}

/** The last wave that the user has entered; 0: none. @param {PacketView} view */
export function enteredWave(view) { return view.state.draw?.receipt?.wave ?? 0; }

/** Keeps a receipt of a wave: the server's state has only the last one. @param {PacketView} view @param {import('../../sdk/types.js').Receipt} [receipt] */
export function keepReceipt(view, receipt) {
  if (!receipt?.wave) return;
  view.receipts = [...view.receipts.filter((r) => r.wave !== receipt.wave), receipt].sort((a, b) => (a.wave ?? 0) - (b.wave ?? 0));
}

/** The user's receipts: one of a draw, those of all waves of a rain. @param {PacketView} view @returns {import('../../sdk/types.js').Receipt[]} */
export function receiptsOf(view) {
  const { receipt } = view.state.draw ?? {};
  return isRain(view.packet) || !receipt ? view.receipts : [receipt];
}

/** Whether its waves come: it has begun, and its end was not told yet. @param {PacketView} view */
export function isRaining({ packet, state: s }) {
  return isRain(packet) && s.status === 'open' && !isEarly(packet) && (packet.expires_at ?? Infinity) + grace > serverNow();
}

/** The rain that the user can take part in, in a room: one with an open wave first. @param {string} room @returns {PacketView|undefined} */
export function rainIn(room) {
  const all = [...state.packets.values()].filter((view) => view.packet.room === room && isRaining(view) && (view.packet.to?.includes(state.me?.id ?? '') ?? true));
  return all.find(openWave) ?? all[0];
}

/** The state of a rain, with what was known before. @param {PacketView} view @param {import('../state.js').PacketState} s */
export function rainState(view, s) {
  const before = rainOf(view);
  const now = s.rain ?? { drawn: 0 };
  if (now.ends_at && (now.wave ?? 0) > (before.wave ?? 0)) view.waveUntil = Date.now() + Math.min(waveWindow, Math.max(0, now.ends_at - serverNow()));
  const rain = {
    wave: Math.max(now.wave ?? 0, before.wave ?? 0), drawn: Math.max(now.drawn, before.drawn), wins: withWins(before.wins ?? [], now.wins ?? []),
  };
  return { rain, mine: [s.mine, view.state.mine, together(rain.wins)].filter((m) => m !== undefined).sort((a, b) => b.amount - a.amount)[0] };
}

/** Takes a push. It returns whether pushes before it are missing, or it leaves open whether the user has won. @param {import('../../sdk/types.js').WaveEvent} e */
export function noteWave(e) {
  const view = state.packets.get(e.packet);
  if (!view || view.state.status !== 'open') return false;
  const before = rainOf(view);
  const begins = e.wave > (before.wave ?? 0);
  if (begins && !e.result) view.waveUntil = Date.now() + waveWindow; // the clocks differ, and the push comes at once
  if (begins) view.state = { ...view.state, rain: { ...before, wave: e.wave } };
  return e.result && e.wave > before.drawn ? drawn(view, e.wave, e.result, before) : e.wave > (before.wave ?? 0) + 1;
}

/** A wave was drawn. @param {PacketView} view @param {number} wave @param {import('../../sdk/types.js').WaveResult} result @param {import('../../sdk/types.js').RainState} before */
function drawn(view, wave, { won, winners }, before) {
  if (wave === rainOf(view).wave) view.waveUntil = 0;
  const mine = winners.find((w) => w.user === state.me?.id);
  const wins = withWins(before.wins ?? [], mine ? [{ wave, amount: mine.amount, rank: mine.rank }] : []);
  view.told = wave;
  view.state = { ...view.state, claimed: view.state.claimed + won, mine: together(wins) ?? view.state.mine, rain: { ...rainOf(view), drawn: wave, wins } };
  return wave > before.drawn + 1 || (enteredWave(view) === wave && !mine && won > winners.length);
}

/** @param {import('../../sdk/types.js').Win[]} wins @param {import('../../sdk/types.js').Win[]} more */
function withWins(wins, more) {
  return [...new Map([...wins, ...more].map((win) => [win.wave, win])).values()].sort((a, b) => a.wave - b.wave);
}

/** All that the user has won, with the rank of the first share. @param {import('../../sdk/types.js').Win[]} wins */
function together(wins) {
  return wins.length ? { amount: wins.reduce((sum, win) => sum + win.amount, 0), rank: wins[0].rank, at: Date.now() } : undefined;
}
