// The scroll position in a timeline, kept by hand: visible text stays where it is when rows are added, grow or are
// measured. At the bottom the view stays at the bottom.

const nearBottom = 32;

export class Place {
  bottom = true;
  /** The row that is held, and its distance from the upper edge. @type {{seq: number, y: number}} */
  line = { seq: 0, y: 0 };
  guessed = false; // the row was found by estimates: none was drawn there
  top = 0; // the last known scroll position
  tall = 600;

  /** @param {{current: HTMLElement}} box that scrolls @param {{current: HTMLElement}} list of the lines */
  constructor(box, list) {
    this.refs = { box, list };
  }

  get box() { return this.refs.box.current; }

  /** Records the present scroll position. @param {import('./timeline-heights.js').Heights} heights */
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
   * The first row that is visible from its beginning and has one before it, because the very first row changes with
   * what comes before; else any visible row.
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

  /** Nothing is drawn there yet: the user has jumped. */
  estimate(heights) {
    const y = this.top - this.refs.list.current.offsetTop;
    const index = heights.at(y);
    return { seq: heights.items[index]?.seq ?? 0, y: heights.top(index) - y };
  }

  /** Restores the position after a change. */
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

  /** Holds a row at a height. @param {number} seq @param {number} y */
  hold(seq, y) {
    this.bottom = false;
    this.line = { seq, y };
  }

  /** @returns {HTMLElement[]} */
  lines() { return [.../** @type {any} */ (this.refs.list.current.children)].filter(seqOf); }

  /** The distance to the bottom. */
  get below() { return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight; }
}

/** @param {any} line */
export function seqOf(line) { return Number(line.dataset.seq ?? 0); }
