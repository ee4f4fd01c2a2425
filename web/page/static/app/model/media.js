// The texts of a room that have files, by the kind of the files, as far as they were read: the newest first.
import { amended } from './timeline.js';
import { emptyPages } from './pages.js';

/** @typedef {import('./timeline.js').Item} Item */
/** @typedef {import('../state.js').RoomView} RoomView */
/** @typedef {'picture'|'voice'|'file'} Kind */

/** @type {Kind[]} */
export const kinds = ['picture', 'voice', 'file'];

/** @param {RoomView} view @param {Kind} kind @returns {import('./pages.js').Pages<Item>} */
export function mediaOf(view, kind) {
  const pages = view.media.get(kind) ?? emptyPages();
  view.media.set(kind, pages);
  return pages;
}

/** Puts older texts behind the known ones; those that came meanwhile stay before them. @param {import('./pages.js').Pages<Item>} pages @param {Item[]} items @param {boolean} more */
export function addOlder(pages, items, more) {
  const oldest = items.at(-1)?.seq;
  const known = new Set(items.map(({ seq }) => seq));
  pages.items = [...pages.items.filter(({ seq }) => !known.has(seq)), ...items];
  Object.assign(pages, { loaded: true, complete: !more || !oldest, next: more && oldest ? String(oldest) : undefined });
}

/** Notes a live entry. @param {RoomView} view @param {any} e */
export function noteMedia(view, e) {
  for (const [kind, pages] of view.media) {
    if (!pages.loaded && !pages.loading) continue;
    if (hasFiles(e, kind)) pages.items = [e, ...pages.items.filter(({ seq }) => seq !== e.seq)];
    else if (e.kind === 'edit' || e.kind === 'recall') pages.items = pages.items.map((item) => (item.seq === e.body.target ? amended(item, e) : item));
  }
}

/** @param {any} e @param {string} kind */
function hasFiles({ kind: of, body }, kind) { return of === 'text' && !!body.files?.some((/** @type {{kind: string}} */ file) => file.kind === kind); }

/**
 * The files of a kind in these texts, in their order.
 * @param {Item[]} items @param {Kind} kind
 * @returns {{seq: number, from: import('../state.js').User, at: number, text: string, file: import('./files.js').ShownFile}[]}
 */
export function filesIn(items, kind) {
  return items.flatMap(({ seq, from, at, body }) => (
    (body.files ?? []).filter((/** @type {{kind: string}} */ file) => file.kind === kind).map((/** @type {any} */ file) => ({ seq, from, at, text: body.text ?? '', file }))));
}
