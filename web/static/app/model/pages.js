// A list that is read page by page: what has come of it so far, and where it goes on.

/**
 * @template T
 * @typedef {object} Pages
 * @property {T[]} items
 * @property {string|undefined} next    where the next page begins
 * @property {boolean} loaded           there is a first page, even if it is empty
 * @property {boolean} complete         there are no more pages
 * @property {boolean} loading
 * @property {unknown} error            of the last load
 * @property {number} scroll            where the list stood when it was last seen
 */

/** @returns {Pages<any>} */
export function emptyPages() {
  return { items: [], next: undefined, loaded: false, complete: false, loading: false, error: null, scroll: 0 };
}

/**
 * Adds a page. What has come already is not repeated: a list may have moved on between two pages.
 * @template T
 * @param {Pages<T>} pages @param {T[]} items @param {string|undefined} next @param {(item: T) => string} idOf
 */
export function addPage(pages, items, next, idOf) {
  const known = new Set(pages.items.map(idOf));
  pages.items = [...pages.items, ...items.filter((item) => !known.has(idOf(item)))];
  pages.next = next;
  pages.loaded = true;
  pages.complete = !next;
}

/**
 * Puts the newest page of a list that grows at its head before what is there; what does not join on to it is let go.
 * @template T
 * @param {Pages<T>} pages @param {T[]} items @param {string|undefined} next @param {(item: T) => string} idOf
 */
export function renewHead(pages, items, next, idOf) {
  const fresh = new Set(items.map(idOf));
  const at = pages.items.findIndex((item) => fresh.has(idOf(item)));
  if (at < 0) {
    Object.assign(pages, { items, next, complete: !next });
  } else {
    pages.items = [...items, ...pages.items.filter((item) => !fresh.has(idOf(item)))];
  }
  pages.loaded = true;
}
