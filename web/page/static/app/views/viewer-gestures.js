// What fingers and the mouse do in the viewer. A picture that is larger than its place can be moved; else a swipe leads to another one, or closes the viewer.

const largest = 6;
const enough = 60; // px of a swipe
const taps = 300; // ms between two taps
const still = 10; // px
const wheelStep = 0.0025;

export class Gestures {
  size = 1;
  x = 0; // px from the middle
  y = 0;
  /** @type {Map<number, {x: number, y: number}>} */ fingers = new Map();
  lastTap = { at: 0, x: 0, y: 0 };

  /** @param {{stage: () => HTMLElement|null, turn: (by: number) => boolean, close: () => void, sized: (size: number) => void}} on */
  constructor(on) {
    this.on = on;
    this.handlers = {
      onPointerDown: (e) => this.down(e), onPointerMove: (e) => this.move(e), onPointerUp: (e) => this.up(e), onPointerCancel: (e) => this.cancel(e),
    };
  }

  /** @returns {HTMLElement|null|undefined} */
  get picture() { return this.on.stage()?.querySelector('.viewer-picture'); }

  /** @param {WheelEvent} e */
  wheel = (e) => {
    e.preventDefault();
    this.zoom(Math.exp(-e.deltaY * wheelStep), e);
  };

  /** Makes the picture larger, and keeps the point below the pointer. @param {number} by @param {{clientX: number, clientY: number}} [at] */
  zoom(by, at) {
    const stage = this.on.stage()?.getBoundingClientRect();
    if (!stage) return;
    const size = Math.min(largest, Math.max(1, this.size * by));
    const px = at ? at.clientX - stage.left - stage.width / 2 : 0;
    const py = at ? at.clientY - stage.top - stage.height / 2 : 0;
    this.x = px - ((px - this.x) * size) / this.size;
    this.y = py - ((py - this.y) * size) / this.size;
    this.size = size;
    this.show();
  }

  reset() {
    Object.assign(this, { size: 1, x: 0, y: 0 });
    this.show();
  }

  /** A picture does not leave its place. */
  bound() {
    const stage = this.on.stage();
    const picture = this.picture;
    if (!stage || !picture) return;
    const roomX = Math.max(0, (picture.offsetWidth * this.size - stage.clientWidth) / 2);
    const roomY = Math.max(0, (picture.offsetHeight * this.size - stage.clientHeight) / 2);
    this.x = Math.min(roomX, Math.max(-roomX, this.x));
    this.y = Math.min(roomY, Math.max(-roomY, this.y));
  }

  /** @param {number} [dx] px of a swipe @param {number} [dy] */
  show(dx = 0, dy = 0) {
    this.bound();
    const picture = this.picture;
    if (picture) picture.style.transform = this.size === 1 && !dx && !dy ? '' : `translate(${this.x + dx}px, ${this.y + dy}px) scale(${this.size})`;
    this.on.sized(this.size);
  }

  /** @param {PointerEvent} e */
  down(e) {
    if (e.button > 0) return;
    /** @type {Element} */ (e.currentTarget).setPointerCapture(e.pointerId);
    this.fingers.set(e.pointerId, { x: e.clientX, y: e.clientY });
    if (this.fingers.size === 1) this.start = { x: e.clientX, y: e.clientY, pinched: false };
    else if (this.start) this.start.pinched = true;
  }

  /** @param {PointerEvent} e */
  move(e) {
    const before = this.fingers.get(e.pointerId);
    if (!before || !this.start) return;
    const now = { x: e.clientX, y: e.clientY };
    const [other] = [...this.fingers].filter(([id]) => id !== e.pointerId).map(([, at]) => at);
    this.fingers.set(e.pointerId, now);
    if (other) {
      const far = (/** @type {{x: number, y: number}} */ at) => Math.max(1, Math.hypot(at.x - other.x, at.y - other.y));
      this.zoom(far(now) / far(before), { clientX: (now.x + other.x) / 2, clientY: (now.y + other.y) / 2 });
    } else if (this.size > 1) {
      this.x += now.x - before.x;
      this.y += now.y - before.y;
      this.show();
    } else if (!this.start.pinched) {
      const [dx, dy] = [now.x - this.start.x, now.y - this.start.y];
      if (Math.abs(dx) > Math.abs(dy)) this.show(dx, 0);
      else this.show(0, Math.max(0, dy));
    }
  }

  /** @param {PointerEvent} e */
  up(e) {
    const { start } = this;
    this.cancel(e);
    if (!start || this.fingers.size) return;
    const [dx, dy] = [e.clientX - start.x, e.clientY - start.y];
    if (Math.hypot(dx, dy) < still) this.tap(e);
    else if (this.size === 1 && !start.pinched) this.swiped(dx, dy);
  }

  /** @param {number} dx @param {number} dy */
  swiped(dx, dy) {
    const across = Math.abs(dx) > Math.abs(dy);
    const turned = across && Math.abs(dx) > enough && this.on.turn((dx < 0 ? 1 : -1) * (document.dir === 'rtl' ? -1 : 1));
    if (!across && dy > enough) this.on.close();
    else if (!turned) this.show();
  }

  /** @param {PointerEvent} e */
  cancel(e) {
    this.fingers.delete(e.pointerId);
    if (!this.fingers.size) this.start = undefined;
  }

  /** @param {PointerEvent} e */
  tap(e) {
    const { at, x, y } = this.lastTap;
    const again = e.timeStamp - at < taps && Math.hypot(e.clientX - x, e.clientY - y) < 3 * still;
    this.lastTap = { at: again ? 0 : e.timeStamp, x: e.clientX, y: e.clientY };
    if (!again) return;
    if (this.size > 1) this.reset();
    else this.zoom(2.5, e);
  }
}
