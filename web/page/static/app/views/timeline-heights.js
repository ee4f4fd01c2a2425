// Heights of a timeline's rows: measured where they were drawn, estimated elsewhere. Only rows near the window are
// drawn; this class says which, and how much space the others take.

import { heightOf } from '../model/files.js';
import { folded } from '../model/fold.js';

/** @typedef {import('../model/timeline.js').Item} Item */

const lettersOfLine = 38;
const guesses = { packet: 112, packet_done: 37, member: 37, room: 37 };

/** The estimated height of a row. @param {Item} item */
function guess(item) {
  if (item.kind !== 'text') return guesses[item.kind] ?? 37;
  const text = folded(item.body.text ?? '');
  return 46 + 24 * (Math.ceil(text.length / lettersOfLine) - 1 + (text.split('\n', 20).length - 1)) + (item.body.reply_to ? 50 : 0)
    + (item.body.files ? heightOf(item.body.files) : 0) + (item.body.preview ? 84 : 0);
}

export class Heights {
  /** @type {Item[]} */ items = [];
  /** @type {number[]} */ heights = []; // one for each item
  /** @type {Float64Array} */ tops = new Float64Array(1);
  first = 0; // seq of the first item
  exact = 0; // number of tops that are valid

  /**
   * Follows a timeline that has grown at either end, or was replaced.
   * @param {import('../model/timeline.js').Timeline} t
   * @returns {boolean} it it was replaced
   */
  follow({ items }) {
    const other = items !== this.items;
    if (other) {
      this.items = items;
      this.heights = [];
    } else if (this.heights.length && items[0].seq !== this.first) {
      const added = items.findIndex((i) => i.seq === this.first);
      this.heights.unshift(...items.slice(0, added).map(guess));
      this.exact = 0;
    }
    this.first = items[0]?.seq ?? 0;
    for (let n = this.heights.length; n < items.length; n++) this.heights.push(guess(items[n]));
    this.exact = other ? 0 : Math.min(this.exact, this.heights.length);
    return other;
  }

  /** @param {number} index @param {number} height as measured */
  set(index, height) {
    if (this.heights[index] === height) return;
    this.heights[index] = height;
    this.exact = Math.min(this.exact, index);
  }

  get count() { return this.heights.length; }

  /** The top of a row; after the last one, the total height. @param {number} index */
  top(index) {
    if (this.tops.length <= this.heights.length) {
      const longer = new Float64Array(2 * this.heights.length + 1);
      longer.set(this.tops);
      this.tops = longer;
    }
    while (this.exact < index) {
      this.tops[this.exact + 1] = this.tops[this.exact] + this.heights[this.exact];
      this.exact++;
    }
    return this.tops[index];
  }

  /** The row at a height. @param {number} y */
  at(y) {
    let low = 0;
    let high = Math.max(0, this.count - 1);
    this.top(this.count);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The rows between two heights, half open. @param {number} from @param {number} to @returns {[number, number]} */
  between(from, to) { return [this.at(from), Math.min(this.count, this.at(to) + 1)]; }
}
