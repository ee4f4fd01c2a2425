// Where one stands in a timeline, kept by hand: what one reads stays where it is on the screen when lines come, grow or are
// measured. At the bottom one stays at the bottom.

const nearBottom = 32;

export class Place {
  bottom = true;
  /** The line that is held, and how far below the upper edge. @type {{seq: number, y: number}} */
  line = { seq: 0, y: 0 };
  guessed = false; // the line, by estimates: none was drawn there
  top = 0; // of what is scrolled, as last seen
  tall = 600;

  /** @param {{current: HTMLElement}} box that scrolls @param {{current: HTMLElement}} list of the lines */
  constructor(box, list) {
    this.refs = { box, list };
  }

  get box() { return this.refs.box.current; }

  /** Notes where one has gone. @param {import('./timeline-heights.js').Heights} heights */
  note(heights) {
    const { box } = this;
    this.top = box.scrollTop;
    this.tall = box.clientHeight;
    this.bottom = box.scrollHeight - this.top - this.tall < nearBottom;
    const line = this.visibleLine();
    this.guessed = !line;
    this.line = line ?? this.estimate(heights);
  }

  /**
   * The first line that is seen from its beginning and has one before it, for what comes before changes the very first one;
   * else any that is seen.
   */
  visibleLine() {
    const upper = this.box.getBoundingClientRect().top;
    let part = null;
    for (const line of this.lines()) {
      const { top, bottom } = line.getBoundingClientRect();
      if (top - upper > this.tall) break;
      if (bottom <= upper) continue;
      const seen = { seq: seqOf(line), y: top - upper };
      if (seen.y >= 0 && line.previousElementSibling) return seen;
      part ??= seen;
    }
    return part;
  }

  /** Nothing is drawn there yet: one has jumped. */
  estimate(heights) {
    const y = this.top - this.refs.list.current.offsetTop;
    const index = heights.at(y);
    return { seq: heights.items[index]?.seq ?? 0, y: heights.top(index) - y };
  }

  /** Goes back to where one was, after something has changed. */
  keep() {
    const { box } = this;
    this.tall = box.clientHeight;
    if (this.bottom) {
      if (box.scrollHeight - box.scrollTop - this.tall >= 1) box.scrollTop = box.scrollHeight;
    } else {
      const line = this.lines().find((l) => seqOf(l) === this.line.seq);
      if (!line) return;
      const off = line.getBoundingClientRect().top - box.getBoundingClientRect().top - this.line.y;
      if (Math.abs(off) >= 1) box.scrollTop += off;
      if (this.guessed) this.line = this.visibleLine() ?? this.line;
      this.guessed = false;
    }
    this.top = box.scrollTop;
  }

  /** Holds a line at a height. @param {number} seq @param {number} y */
  hold(seq, y) {
    this.bottom = false;
    this.line = { seq, y };
  }

  /** @returns {HTMLElement[]} */
  lines() { return [.../** @type {any} */ (this.refs.list.current.children)].filter(seqOf); }

  /** How much is below what one sees. */
  get below() { return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight; }
}

/** @param {any} line */
export function seqOf(line) { return Number(line.dataset.seq ?? 0); }
