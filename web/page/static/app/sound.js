// Sounds and vibration of the opening and of news, only after a tap. The sounds are generated from sine waves, so no file is loaded.
// They are off until the user switches them on; news then vibrates, too. With reduced motion nothing vibrates.
import { state } from './state.js';
import { calm } from './motion.js';

/** @type {AudioContext|null} */
let context = null;

const melodies = {
  tap: [[1568, 0, 0.10]],
  won: [[1047, 0, 0.14], [1319, 0.09, 0.14], [1568, 0.18, 0.14], [2093, 0.28, 0.16]],
  crown: [[1047, 0, 0.12], [1568, 0.1, 0.12], [2093, 0.2, 0.14], [2637, 0.32, 0.14], [3136, 0.5, 0.16]],
  late: [[659, 0, 0.10], [523, 0.16, 0.10]],
  packet: [[1319, 0, 0.12], [1760, 0.12, 0.12]],
  message: [[1175, 0, 0.10]],
};
const shakes = { tap: [12], won: [18, 40, 30], crown: [80], late: [10], packet: [18, 40, 18], message: [12] };

/** @param {'tap'|'won'|'crown'|'late'|'packet'|'message'} what has happened */
export function sound(what) {
  if (navigator.userActivation?.hasBeenActive === false) return; // the browser allows none before the first tap
  const news = what === 'packet' || what === 'message';
  if (!calm() && (state.sound || !news)) navigator.vibrate?.(shakes[what]);
  if (!state.sound || !('AudioContext' in globalThis)) return;
  context ??= new AudioContext();
  context.resume().catch(() => {});
  for (const [pitch, after, loudness] of melodies[what]) bell(context, pitch, context.currentTime + after, loudness);
}

/** A small bell: a tone, and a faint overtone that fades sooner. */
function bell(ctx, pitch, at, loudness) {
  for (const [factor, part, seconds] of [[1, 1, 0.7], [2.76, 0.25, 0.25]]) {
    const tone = ctx.createOscillator();
    const volume = ctx.createGain();
    tone.frequency.value = pitch * factor;
    volume.gain.setValueAtTime(0.0001, at);
    volume.gain.exponentialRampToValueAtTime(loudness * part, at + 0.008);
    volume.gain.exponentialRampToValueAtTime(0.0001, at + seconds);
    tone.connect(volume).connect(ctx.destination);
    tone.start(at);
    tone.stop(at + seconds);
  }
}
