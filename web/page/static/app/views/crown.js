// The crown of the luckiest, drawn for this page.
import { h } from '../dom.js';

/** The gold of the crown, on a field of 64 by 46. */
export const crownGold = 'M6 40L3 13l15 11L32 4l14 20 15-11-3 27q-26 6-52 0zM32 1a3 3 0 1 0 0 6a3 3 0 1 0 0-6zM3 8a3 3 0 1 0 0 6a3 3 0 1 0 0-6zM61 8a3 3 0 1 0 0 6a3 3 0 1 0 0-6z';
export const crownBand = 'M6.5 35.5q25.5 6 51 0';

/** It falls onto the card once. */
export function Crown() {
  return h('svg', { class: 'opening-crown', viewBox: '0 0 64 46', 'aria-hidden': 'true', focusable: 'false' },
    h('path', { class: 'crown-gold', d: crownGold }),
    h('path', { class: 'crown-band', d: crownBand }),
    h('circle', { class: 'crown-stone', cx: 32, cy: 28, r: 3.5 }));
}
