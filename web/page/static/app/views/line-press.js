// A long press on a touch screen, or the secondary mouse button: both open the commands for a message.

const long = 450; // ms
const still = 10; // px

export class LongPress {
  x = 0; // start position
  y = 0;

  /** @param {() => void} act */
  constructor(act) {
    this.act = act;
    this.handlers = {
      onPointerDown: (e) => this.down(e),
      onPointerMove: (e) => { if (Math.hypot(e.clientX - this.x, e.clientY - this.y) > still) this.stop(); },
      onPointerUp: () => this.stop(),
      onPointerCancel: () => this.stop(),
      onPointerLeave: () => this.stop(),
      onContextMenu: (e) => this.menu(e),
      onClickCapture: (e) => this.click(e),
    };
  }

  /** @param {PointerEvent} e */
  down(e) {
    this.done = false;
    if (e.pointerType !== 'touch') return;
    [this.x, this.y] = [e.clientX, e.clientY];
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.done = true; this.act(); }, long);
  }

  stop() { clearTimeout(this.timer); }

  /** The browser's own menu stays for links and for selected text. @param {MouseEvent} e */
  menu(e) {
    if (/** @type {Element} */ (e.target).closest('a') || String(getSelection())) return;
    e.preventDefault();
    this.stop();
    if (!this.done) this.act();
    this.done = true;
  }

  /** Lifting the finger after a long press is not a tap. @param {MouseEvent} e */
  click(e) {
    if (!this.done) return;
    this.done = false;
    e.preventDefault();
    e.stopPropagation();
  }
}
