// A room's timeline: an unbroken run of entries, folded as they come, so that history, recovered and live entries look the same.
// Edits, recalls and reactions change their target; what stays are items to be shown, ascending by seq.

/**
 * @typedef {import('../../sdk/types.js').Entry} Entry
 *
 * @typedef {object} Item               never changed, only replaced: who shows it need only compare it with the one before
 * @property {number} seq
 * @property {string} id
 * @property {number} at
 * @property {import('../../sdk/types.js').User} from
 * @property {'text'|'packet'|'packet_done'|'member'|'room'} kind
 * @property {string} [key]
 * @property {any} body
 * @property {Set<string>} [mine]       emojis that one has put oneself, as far as it is known
 *
 * @typedef {object} Timeline
 * @property {Item[]} items
 * @property {number} first             the lowest seq that has been looked at; items begin there or later
 * @property {number} last              the highest
 * @property {boolean} loaded           there is something here, even if it is empty
 * @property {boolean} complete         nothing is before it
 * @property {'no'|'newest'|'older'} loading
 * @property {unknown} error            of the last load
 */

/** @returns {Timeline} */
export function emptyTimeline() {
  return { items: [], first: 0, last: 0, loaded: false, complete: false, loading: 'no', error: null };
}

/** Starts anew from the newest page. @param {Timeline} t @param {Entry[]} entries @param {boolean} more @param {string} me */
export function begin(t, entries, more, me) {
  Object.assign(t, emptyTimeline(), { loaded: true, complete: !more });
  t.first = entries[0]?.seq ?? 1;
  t.last = t.first - 1;
  for (const e of entries) append(t, e, me, true);
}

/** Puts an older page before. @param {Timeline} t @param {Entry[]} entries @param {boolean} more @param {string} me */
export function prepend(t, entries, more, me) {
  const before = emptyTimeline();
  begin(before, entries.filter((e) => e.seq < t.first), more, me);
  t.items = [...before.items, ...t.items];
  if (entries.length) t.first = entries[0].seq;
  t.complete = !more;
}

/**
 * Adds the next entry. What is not the next one is left out: the page will be asked again for it.
 * @param {Timeline} t @param {Entry} e @param {string} me @param {boolean} [folded] from history, where targets are folded already
 */
export function append(t, e, me, folded = false) {
  if (!t.loaded || e.seq <= t.last) return;
  t.last = e.seq;
  switch (e.kind) {
    case 'edit':
      if (!folded) alter(t, e.body.target, (i) => ({ ...i, body: { ...i.body, text: e.body.text, edited_at: e.at } }));
      return;
    case 'recall':
      if (!folded) alter(t, e.body.target, (i) => ({ ...i, body: { recalled: true } }));
      return;
    case 'react':
      alter(t, e.body.target, (i) => reacted(i, e, me, folded));
      return;
    default:
      t.items = [...t.items, /** @type {Item} */ ({ ...e })];
  }
}

/** @param {Timeline} t @param {number} seq @param {(i: Item) => Item} change */
function alter(t, seq, change) {
  const at = find(t, seq);
  if (at < 0) return;
  t.items = t.items.slice();
  t.items[at] = change(t.items[at]);
}

/** @param {Item} i @param {Entry} e @param {string} me @param {boolean} folded */
function reacted(i, e, me, folded) {
  if (i.body.recalled) return i;
  const { emoji, on, count } = e.body;
  const mine = new Set(i.mine);
  if (e.from.id === me) on ? mine.add(emoji) : mine.delete(emoji);
  if (folded) return { ...i, mine };
  const reactions = { ...i.body.reactions, [emoji]: count };
  if (!count) delete reactions[emoji];
  return { ...i, mine, body: { ...i.body, reactions } };
}

/** Index of the item with a seq, or -1. @param {Timeline} t @param {number} seq */
export function find(t, seq) {
  let low = 0;
  let high = t.items.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const at = t.items[middle].seq;
    if (at === seq) return middle;
    if (at < seq) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
