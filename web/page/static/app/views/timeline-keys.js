// Keys in a timeline. The whole timeline is one stop of the tab key: arrow keys go from row to row, and the tab key reaches only what
// is in the row with the focus, or in the last one.
import { seqOf } from './timeline-place.js';

/** @param {HTMLElement} part @param {number} index */
function setStop(part, index) { if (part.tabIndex !== index) part.tabIndex = index; }

const steps = { ArrowUp: -1, ArrowDown: 1 };

export class Keys {
  current = 0; // seq of the row that the focus was in last; 0: the last row

  /** @param {import('./timeline-place.js').Place} place @param {() => void} toEnd scrolls to the newest row */
  constructor(place, toEnd) {
    this.place = place;
    this.toEnd = toEnd;
  }

  /** The row of an element. @param {any} element @returns {HTMLElement|null} */
  rowOf(element) { return element.closest?.('.line') ?? null; }

  /** Takes the other rows out of the order of the tab key. Called when rows were drawn. */
  update() {
    const rows = this.rows();
    const current = rows.find((row) => seqOf(row) === this.current) ?? rows.at(-1);
    for (const row of rows) {
      for (const part of row.querySelectorAll('a, button:not(.face)')) setStop(/** @type {HTMLElement} */ (part), row === current ? 0 : -1);
      row.tabIndex = -1;
    }
  }

  /** All rows that are drawn, and those of the outbox. @returns {HTMLElement[]} */
  rows() { return [.../** @type {any} */ (this.place.refs.list.current.querySelectorAll(':scope > :not(.passed)'))]; }

  /** @param {FocusEvent} e */
  focused = (e) => {
    const row = this.rowOf(e.target);
    if (!row || seqOf(row) === this.current) return;
    this.current = seqOf(row);
    this.update();
  };

  /** @param {KeyboardEvent} e */
  pressed = (e) => {
    if (e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
    if (e.key === 'End') this.toEnd();
    const row = this.rowOf(e.target);
    if (e.key === 'Enter' && row === e.target) /** @type {HTMLElement|null} */ (row?.querySelector('.more-button'))?.click();
    const step = steps[e.key];
    if (!step) return;
    const rows = this.rows();
    const at = rows.indexOf(/** @type {HTMLElement} */ (row));
    const next = at < 0 ? this.first(rows) : rows[at + step];
    if (!next) return;
    e.preventDefault();
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: 'nearest' });
  };

  /** Where the arrow keys begin: at the row of the last time if it is visible, else at the last visible one. @param {HTMLElement[]} rows */
  first(rows) {
    const { top, bottom } = this.place.box.getBoundingClientRect();
    const seen = rows.filter((row) => {
      const box = row.getBoundingClientRect();
      return box.bottom > top && box.top < bottom;
    });
    return seen.find((row) => seqOf(row) === this.current) ?? seen.at(-1);
  }
}
