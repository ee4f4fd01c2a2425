// Stores whether the page plays sounds. It plays none until the user switches them on.
import { state, change } from './state.js';
import { keep, kept } from './storage.js';

const name = 'hongbao-sound';

/** Restores the user's earlier choice, if there was one. */
export function chooseSound() {
  change(() => { state.sound = kept(name) === 'on'; });
}

/** @param {boolean} on */
export function setSound(on) {
  keep(name, on ? 'on' : 'off');
  change(() => { state.sound = on; });
}
