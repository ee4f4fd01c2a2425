// Whether there are sounds and vibration: not unless one has switched them on.
import { state, change } from './state.js';
import { keep, kept } from './storage.js';

const name = 'hongbao-sound';

/** Takes up what one has chosen before. */
export function chooseSound() { change(() => { state.sound = kept(name) === 'on'; }); }

/** @param {boolean} on */
export function setSound(on) {
  keep(name, on ? 'on' : null);
  change(() => { state.sound = on; });
}
