// A list that is read page by page: the elements so far, and where to continue.

/**
 * @template T
 * @typedef {object} Pages
 * @property {T[]} items
 * @property {string|undefined} next    where the next page begins
 * @property {boolean} loaded           the first page was read, even if it is empty
 * @property {boolean} complete         there are no more pages
 * @property {boolean} loading
 * @property {unknown} error            of the last load
 * @property {number} barren            how many pages in a row had no element
 * @property {number} scroll            the scroll position when the list was last visible
 */

const mostBarren = 3;

/** Whether so many pages in a row had no element that only the user goes further. @param {Pages<any>} pages */
export function isBarren({ barren, complete }) { return barren >= mostBarren && !complete; }

/** @returns {Pages<any>} */
export function emptyPages() {
  return { items: [], next: undefined, loaded: false, complete: false, loading: false, error: null, barren: 0, scroll: 0 };
}

/**
 * Adds a page without repeating elements: the list may have changed between two pages.
 * @template T
 * @param {Pages<T>} pages @param {T[]} items @param {string|undefined} next @param {(item: T) => string} idOf
 */
export function addPage(pages, items, next, idOf) {
  const listed = new Set(pages.items.map(idOf));
  pages.items = [...pages.items, ...items.filter((item) => !listed.has(idOf(item)))];
  pages.next = next;
  pages.barren = items.length ? 0 : pages.barren + 1;
  pages.loaded = true;
  pages.complete = !next;
}

/**
 * Puts the newest page of a growing list before the known elements. Known elements that do not join on to it are
 * dropped.
 * @template T
 * @param {Pages<T>} pages @param {T[]} items @param {string|undefined} next @param {(item: T) => string} idOf
 */
export function renewHead(pages, items, next, idOf) {
  const fresh = new Set(items.map(idOf));
  pages.barren = items.length ? 0 : 1;
  const at = pages.items.findIndex((item) => fresh.has(idOf(item)));
  if (at < 0) {
    Object.assign(pages, { items, next, complete: !next });
  } else {
    pages.items = [...items, ...pages.items.filter((item) => !fresh.has(idOf(item)))];
  }
  pages.loaded = true;
}
