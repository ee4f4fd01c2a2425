// The animations of opening an envelope. They use only transform and opacity. With reduced motion the end state is
// shown at once.

const turn = 600;
const counting = 400;

export function calm() { return matchMedia('(prefers-reduced-motion: reduce)').matches; }

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

/** Counts an amount up. @param {Element} place @param {number} amount @param {(n: number) => string} words */
export function countUp(place, amount, words) {
  if (calm()) return;
  const start = performance.now();
  const step = (now) => {
    const part = Math.min(1, Math.max(0, now - start) / counting);
    place.textContent = words(Math.round(amount * (1 - (1 - part) ** 3)));
    if (part < 1 && place.isConnected) requestAnimationFrame(step);
  };
  step(start);
}

/** Gold leaves that fly up and fall. @param {Element} place */
export function scatter(place) {
  if (calm()) return;
  for (let i = 0; i < 18; i++) {
    const leaf = document.createElement('i');
    leaf.className = 'leaf';
    place.append(leaf);
    const side = (i / 17 - 0.5) * 2;
    const x = side * 150 + (Math.random() - 0.5) * 50;
    const top = -90 - Math.random() * 110;
    const spin = (Math.random() - 0.5) * 900;
    const at = (dx, dy, part, size) => (
      `translate(${x * dx}px, ${dy}px) rotate(${spin * part}deg) rotateX(${spin * part}deg) scale(${size})`);
    leaf.animate([
      { transform: at(0, 0, 0, 0.4), opacity: 1, easing: 'cubic-bezier(0.1, 0.7, 0.4, 1)' },
      { transform: at(0.8, top, 0.5, 1), opacity: 1, easing: 'cubic-bezier(0.5, 0, 0.9, 0.6)' },
      { transform: at(1, top + 230, 1, 0.9), opacity: 0 },
    ], { duration: 1100 + Math.random() * 500, delay: Math.random() * 80, fill: 'both' }).finished.finally(() => leaf.remove());
  }
}
