// The animations of opening an envelope. They use only transform and opacity. With reduced motion the end state is
// shown at once.
import { calm } from '../motion.js';

const turn = 600;
const resting = 120; // ms that the coin rests before the flap lifts
const cardOut = 780; // ms from the flap to the card in its place; opening.css has the two transitions
const fading = 250;

/** A coin that turns while the user waits, and stops after a half turn at the earliest. */
export class Turning {
  /** @type {Animation|null} */
  #animation = null;

  /** @param {Element} coin */
  start(coin) {
    this.#animation?.cancel();
    this.#animation = calm() ? null : coin.animate(
      [{ transform: 'rotateY(0)' }, { transform: 'rotateY(360deg)' }], { duration: turn, iterations: Infinity, fill: 'forwards' });
  }

  /** Stops the coin; on its face if it stays visible. @param {boolean} [onFace] */
  async rest(onFace = true) {
    const animation = this.#animation;
    if (!animation) return;
    const step = onFace ? turn : turn / 2;
    const steps = Math.max(1, Math.ceil(Number(animation.currentTime ?? 0) / step));
    animation.effect?.updateTiming({ iterations: (steps * step) / turn });
    await animation.finished.catch(() => {}); // cancelled: the next animation is running
    if (onFace) animation.cancel();
    if (this.#animation === animation) this.#animation = null;
  }
}

/** The coin lies still for a moment before the flap lifts. @param {Element} coin */
export function coinRests(coin) { return still(coin, resting); }

/** The card comes out of the envelope. @param {Element} card */
export function comesOut(card) { return still(card, calm() ? fading : cardOut); }

/** Resolves after so many ms of the animations' clock. @param {Element} place @param {number} duration */
function still(place, duration) { return place.animate([], duration).finished.catch(() => {}); }

/**
 * Shows the amount when the card is out. The digits roll into place; those of a luckier amount roll longer.
 * @param {Element} place empty before @param {string} text the amount @param {number} luck in mean shares
 */
export async function roll(place, text, luck) {
  if (calm()) {
    place.replaceChildren(...figures(text));
    await comesOut(place);
    return;
  }
  const longest = 450 + 300 * Math.min(luck, 3);
  const last = text.length - 1;
  /** @type {Animation[]} */
  const rolling = [place.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 120, delay: cardOut, fill: 'both' })];
  let n = 0;
  const reel = (/** @type {string} */ letter) => {
    const duration = longest * (0.6 + 0.4 * (n++ / Math.max(1, last)));
    return /\d/.test(letter) ? reelOf(letter, duration, rolling) : letter;
  };
  place.replaceChildren(...figures(text, (part) => [...part].map(reel)));
  await Promise.allSettled(rolling.map((r) => r.finished));
  rolling[0].cancel();
  place.replaceChildren(...figures(text));
}

/**
 * The parts of an amount. The sign of the currency is smaller than the digits.
 * @param {string} text @param {(part: string) => (string|Element)[]} [digits]
 */
function figures(text, digits = (part) => [part]) {
  return (text.match(/[\d.,]+|[^\d.,]+/g) ?? []).flatMap((part) => (
    /\d/.test(part) ? digits(part) : [Object.assign(document.createElement('span'), { className: 'sign', textContent: part })]));
}

/** A strip of digits that rolls to its last one. @param {string} letter @param {number} duration @param {Animation[]} rolling */
function reelOf(letter, duration, rolling) {
  const reel = document.createElement('span');
  const strip = document.createElement('span');
  reel.className = 'reel';
  reel.append(strip);
  const digits = [...'0123456789', letter];
  strip.append(...digits.map((digit) => Object.assign(document.createElement('span'), { textContent: digit })));
  rolling.push(strip.animate(
    [{ transform: 'translateY(0)' }, { transform: `translateY(-${(100 * (digits.length - 1)) / digits.length}%)` }],
    { duration, delay: cardOut, easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)', fill: 'both' }));
  return reel;
}

/**
 * The card has become higher or lower: the envelope moves, and the card stays where it is.
 * @param {Element} packet @param {Element} card @param {number} sink of the envelope now, in pixels @param {number} by
 */
export function sinks(packet, card, sink, by) {
  if (calm() || !by) return;
  const how = { duration: fading, easing: 'cubic-bezier(0.2, 0.8, 0.2, 1)' };
  packet.animate([{ transform: `translateY(${sink - by}px)` }, { transform: `translateY(${sink}px)` }], how);
  card.animate([{ transform: `translateY(${by}px)` }, { transform: 'none' }], how);
}

/** Gold for the amount: below the mean a few petals fall over the card, from the mean on gold bursts out of the slot. @param {Element} place @param {number} luck in mean shares */
export function scatter(place, luck) {
  if (calm()) return;
  if (luck < 1) for (let i = 0; i < 5; i++) petal(place, i);
  else for (let n = Math.round(10 + 8 * Math.min(luck, 3)), i = 0; i < n; i++) spark(place, (2 * i) / (n - 1) - 1);
}

/** @param {Element} place @param {number} i */
function petal(place, i) {
  const x = (i - 2) * 62 + (Math.random() - 0.5) * 30;
  const at = turned(200 + Math.random() * 160);
  fly(place, 'petal', [
    { transform: at(x, 0, 0, 0.9), opacity: 0 },
    { transform: at(x + 24, 60, 0.3, 1), opacity: 1, offset: 0.25 },
    { transform: at(x - 10, 260, 1, 0.9), opacity: 0 },
  ], 1500 + Math.random() * 500, i * 90);
}

/** @param {Element} place @param {number} side -1 to 1 */
function spark(place, side) {
  const x = side * 170 + (Math.random() - 0.5) * 40;
  const top = -(1 - 0.5 * side * side) * (180 + Math.random() * 190);
  const at = turned((Math.random() - 0.5) * 900);
  fly(place, 'spark', [
    { transform: at(side * 90, 0, 0, 0.4), opacity: 1, easing: 'cubic-bezier(0.1, 0.7, 0.4, 1)' },
    { transform: at(x * 0.85, top, 0.5, 1), opacity: 1, easing: 'cubic-bezier(0.5, 0, 0.9, 0.6)' },
    { transform: at(x, top + 240, 1, 0.9), opacity: 0 },
  ], 1000 + Math.random() * 400, Math.random() * 70);
}

/** @param {number} spin in degrees, over the whole flight */
function turned(spin) {
  return (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ part, /** @type {number} */ size) => (
    `translate(${x}px, ${y}px) rotate(${spin * part}deg) rotateX(${spin * part}deg) scale(${size})`);
}

/** One leaf. @param {Element} place @param {string} kind @param {Keyframe[]} path @param {number} duration @param {number} delay */
function fly(place, kind, path, duration, delay) {
  const leaf = document.createElement('i');
  leaf.className = `leaf ${kind}`;
  place.append(leaf);
  leaf.animate(path, { duration, delay, fill: 'forwards' }).finished.finally(() => leaf.remove());
}
