// A light that passes now and then over the envelopes that wait to be opened: over all at once, so that the page rests in
// between. An animation that never ends would keep the processor busy.
import { calm } from '../motion.js';

const pause = 7000; // ms from one light to the next
const passing = 1500;

/** @type {Set<Element>} */
const waiting = new Set();
/** @type {ReturnType<typeof setInterval>|undefined} */
let timer;

/** @param {Element} envelope @param {boolean} waits */
export function shine(envelope, waits) {
  if (waits) waiting.add(envelope);
  else waiting.delete(envelope);
  if (waiting.size) {
    timer ??= setInterval(pass, pause);
  } else {
    clearInterval(timer);
    timer = undefined;
  }
}

function pass() {
  if (document.visibilityState !== 'visible' || calm()) return;
  for (const envelope of waiting) {
    envelope.animate([{ transform: 'translateX(-110%)' }, { transform: 'translateX(300%)' }],
      { duration: passing, easing: 'ease-in-out', pseudoElement: '::after' });
  }
}
