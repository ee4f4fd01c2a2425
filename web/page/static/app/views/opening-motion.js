// The animations of opening an envelope. They use only transform and opacity. With reduced motion the end state is
// shown at once.
import { calm } from '../motion.js';

const turn = 600;

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

/**
 * Rolls the digits of an amount into place. A luckier amount rolls longer.
 * @param {Element} place @param {string} text the amount @param {number} luck in mean shares
 */
export async function roll(place, text, luck) {
  if (calm()) return;
  const longest = 450 + 300 * Math.min(luck, 3);
  const letters = [...text];
  const last = letters.length - 1;
  /** @type {Animation[]} */
  const rolling = [];
  place.replaceChildren(...letters.map((letter, n) => {
    if (!/\d/.test(letter)) return letter;
    const reel = document.createElement('span');
    const strip = document.createElement('span');
    reel.className = 'reel';
    reel.append(strip);
    const digits = [...'0123456789', ...letter];
    strip.append(...digits.map((digit) => Object.assign(document.createElement('span'), { textContent: digit })));
    rolling.push(strip.animate(
      [{ transform: 'translateY(0)' }, { transform: `translateY(-${(100 * (digits.length - 1)) / digits.length}%)` }],
      { duration: longest * (0.6 + 0.4 * (n / Math.max(1, last))), easing: 'cubic-bezier(0.2, 0.7, 0.2, 1)', fill: 'forwards' }));
    return reel;
  }));
  await Promise.allSettled(rolling.map((r) => r.finished));
  place.textContent = text;
}

/** Gold leaves that fly up and fall: more of them for a luckier amount. @param {Element} place @param {number} luck in mean shares */
export function scatter(place, luck) {
  if (calm()) return;
  const count = Math.round(6 + 14 * Math.min(luck, 3));
  for (let i = 0; i < count; i++) {
    const side = (i / (count - 1) - 0.5) * 2;
    const x = side * 150 + (Math.random() - 0.5) * 50;
    const top = -90 - Math.random() * 110;
    const at = turned((Math.random() - 0.5) * 900);
    fly(place, [
      { transform: at(0, 0, 0, 0.4), opacity: 1, easing: 'cubic-bezier(0.1, 0.7, 0.4, 1)' },
      { transform: at(x * 0.8, top, 0.5, 1), opacity: 1, easing: 'cubic-bezier(0.5, 0, 0.9, 0.6)' },
      { transform: at(x, top + 230, 1, 0.9), opacity: 0 },
    ], 1100 + Math.random() * 500, 240 + Math.random() * 80); // when the card is there
  }
}

/** Gold rain over the whole view, for the luckiest. @param {Element} place */
export function rain(place) {
  if (calm()) return;
  const { clientWidth: width, clientHeight: height } = place;
  for (let i = 0; i < 60; i++) {
    const x = (Math.random() - 0.5) * width;
    const at = turned(360 + Math.random() * 720);
    fly(place, [
      { transform: at(x, -150, 0, 1), opacity: 1 },
      { transform: at(x + (Math.random() - 0.5) * 80, height - 100, 1, 1), opacity: 0.9 },
    ], 1400 + Math.random() * 1200, Math.random() * 1500);
  }
}

/** @param {number} spin in degrees, over the whole flight */
function turned(spin) {
  return (/** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ part, /** @type {number} */ size) => (
    `translate(${x}px, ${y}px) rotate(${spin * part}deg) rotateX(${spin * part}deg) scale(${size})`);
}

/** One leaf. @param {Element} place @param {Keyframe[]} path @param {number} duration @param {number} delay */
function fly(place, path, duration, delay) {
  const leaf = document.createElement('i');
  leaf.className = 'leaf';
  place.append(leaf);
  leaf.animate(path, { duration, delay, fill: 'forwards' }).finished.finally(() => leaf.remove());
}
