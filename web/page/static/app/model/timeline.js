// A room's timeline: consecutive entries without gaps. Edits, recalls and reactions are applied to the entry they
// change. So history, recovered entries and pushed entries look the same. The result is the items to show, in ascending
// order of seq.

/**
 * @typedef {import('../../sdk/types.js').Entry} Entry
 *
 * @typedef {object} Item               never changed, only replaced: a view can compare it with the previous one
 * @property {number} seq
 * @property {string} id
 * @property {number} at
 * @property {import('../../sdk/types.js').User} from
 * @property {'text'|'packet'|'packet_done'|'member'|'room'} kind
 * @property {string} [key]
 * @property {any} body
 * @property {Set<string>} [mine]       the user's own reactions, as far as known
 *
 * @typedef {object} Timeline
 * @property {Item[]} items             changed in place, so that an entry costs the same in a long timeline; a new array is a new run
 * @property {number} first             the lowest seq that was read; items begin there or later
 * @property {number} last              the highest
 * @property {boolean} loaded           something was loaded, even if it is empty
 * @property {boolean} complete         there is nothing before it
 * @property {boolean} newer            the room has later entries: the user has jumped back
 * @property {'no'|'newest'|'older'|'newer'|'around'} loading
 * @property {object|null} turn         of the load whose answer counts
 * @property {unknown} error            of the last load
 * @property {Entry[]} meanwhile        entries that came while a page was requested: the page may be older or newer
 * @property {Map<number, Map<string, {seq: number, on: boolean}>>} mine  the user's own reactions, by target; the latest seq counts
 * @property {Map<number, import('../../sdk/types.js').User>} recalls  the user that took back or removed a message, by target, as far as known
 * @property {Map<number, Item|null>} quotes  items before this run that are quoted in it; null: requested
 */

/** @returns {Timeline} */
export function emptyTimeline() {
  return {
    items: [], first: 0, last: 0, loaded: false, complete: false, newer: false, loading: 'no', turn: null, error: null, meanwhile: [],
    mine: new Map(), recalls: new Map(), quotes: new Map(),
  };
}

/**
 * Takes the answer to a request for a page.
 * @param {Timeline} t @param {Timeline['loading']} what @param {{entries: Entry[], more: boolean}} page @param {string} me
 * @param {number} lastSeq the last seq of the room, as far as known
 */
export function answered(t, what, { entries, more }, me, lastSeq) {
  if (what === 'older') prepend(t, entries, more, me);
  else if (what === 'newer') extend(t, entries, me);
  else begin(t, entries, more, me);
  for (const e of t.meanwhile) amend(t, e, me); // the page may have been read before these entries arrived
  failed(t, null);
  t.newer = t.last < lastSeq;
}

/** @param {Timeline} t @param {unknown} error why nothing was loaded */
export function failed(t, error) {
  t.loading = 'no';
  t.error = error;
  t.meanwhile = [];
}

/** Starts again with a page. @param {Timeline} t @param {Entry[]} entries @param {boolean} more before it @param {string} me */
function begin(t, entries, more, me) {
  const { meanwhile } = t;
  Object.assign(t, emptyTimeline(), { loaded: true, complete: !more, meanwhile });
  t.first = entries[0]?.seq ?? 1;
  t.last = t.first - 1;
  extend(t, entries, me);
}

/** Puts an older page before the run. @param {Timeline} t @param {Entry[]} entries @param {boolean} more @param {string} me */
function prepend(t, entries, more, me) {
  for (const e of entries) note(t, e, me);
  t.items.unshift(...entries.filter(isShown).map((e) => itemOf(t, e)));
  t.first = entries[0]?.seq ?? t.first;
  t.complete = !more || !entries.length;
}

/**
 * Puts a newer page after the run, and the entries that came meanwhile.
 * @param {Timeline} t
 * @param {Entry[]} entries
 * @param {string} me
 */
function extend(t, entries, me) {
  for (const e of entries) note(t, e, me);
  for (const e of entries) add(t, e);
  for (const e of t.meanwhile) if (e.seq === t.last + 1) add(t, e);
}

/**
 * Takes a live entry, the next one of its room.
 * @param {Timeline} t @param {Entry} e @param {string} me
 * @returns {boolean} false: an entry before it is missing, so the timeline must be loaded again
 */
export function append(t, e, me) {
  if (t.loading !== 'no') t.meanwhile.push(e);
  if (!t.loaded) return true;
  amend(t, e, me); // the loaded target may lack this change even if later entries are not loaded
  if (e.seq <= t.last) return true;
  if (e.seq !== t.last + 1) return t.newer;
  add(t, e);
  return true;
}

/** @param {Timeline} t @param {Entry} e the next one */
function add(t, e) {
  t.last = e.seq;
  if (isShown(e)) t.items.push(itemOf(t, e));
}

/** @param {Entry} e */
function isShown(e) { return e.kind !== 'edit' && e.kind !== 'recall' && e.kind !== 'react'; }

/** @param {Timeline} t @param {Entry} e @returns {Item} */
function itemOf(t, e) {
  const item = /** @type {Item} */ ({ ...e });
  if (t.mine.has(e.seq)) item.mine = marks(t, e.seq);
  return e.body.recalled && t.recalls.has(e.seq) ? recalled(item, t.recalls.get(e.seq)) : item;
}

/** Applies an entry to its target; applying it twice changes nothing. @param {Timeline} t @param {Entry} e @param {string} me */
function amend(t, e, me) {
  if (isShown(e)) return;
  note(t, e, me);
  alter(t, e.body.target, (i) => amended(i, e));
}

/** What an entry makes of its target. @param {Item} i @param {Entry} e @returns {Item} */
export function amended(i, e) {
  const { body } = i;
  if (body.recalled) return i;
  if (e.kind === 'recall') return recalled(i, e.from);
  if (e.kind === 'edit') {
    if (e.body.recalled || e.at < (body.edited_at ?? 0)) return i;
    return { ...i, body: { ...body, text: e.body.text, preview: e.body.preview, edited_at: e.at } };
  }
  const reactions = { ...body.reactions, [e.body.emoji]: e.body.count };
  if (!e.body.count) delete reactions[e.body.emoji];
  return { ...i, body: { ...body, reactions } };
}

/** @param {Timeline} t @param {number} seq @param {(i: Item) => Item} change */
function alter(t, seq, change) {
  const at = find(t, seq);
  if (at >= 0) t.items[at] = change(t.items[at]);
  const quote = t.quotes.get(seq);
  if (quote) t.quotes.set(seq, change(quote));
}

/** @param {Item} i @param {any} by @returns {Item} */
export function recalled(i, by) { return { ...i, body: { recalled: true, by } }; }

/**
 * Records what the target in history lacks, also if the target is not loaded: the user's own reaction, and the user that recalled it.
 * @param {Timeline} t @param {Entry} e @param {string} me
 */
function note(t, e, me) {
  if (e.kind === 'recall') {
    t.recalls.set(e.body.target, e.from);
    alter(t, e.body.target, (i) => (i.body.recalled ? recalled(i, e.from) : i));
  }
  if (e.kind === 'react' && e.from.id === me) mark(t, e.body.target, e.body.emoji, e.body.on, e.seq);
}

/** @param {Timeline} t @param {number} target @param {string} emoji @param {boolean} on @param {number} seq since when it is so */
export function mark(t, target, emoji, on, seq) {
  let own = t.mine.get(target);
  if (!own) t.mine.set(target, own = new Map());
  if ((own.get(emoji)?.seq ?? 0) > seq) return;
  own.set(emoji, { seq, on });
  alter(t, target, (i) => ({ ...i, mine: marks(t, target) }));
}

/** Whether the user has put an emoji on an entry, as far as known. @param {Timeline} t @param {number} seq @param {string} emoji */
export function isMarked(t, seq, emoji) { return t.mine.get(seq)?.get(emoji)?.on === true; }

/** @param {Timeline} t @param {number} seq */
function marks(t, seq) {
  return new Set([...t.mine.get(seq) ?? []].filter(([, m]) => m.on).map(([emoji]) => emoji));
}

/** Index of the item with a seq, or -1. @param {Timeline} t @param {number} seq */
export function find(t, seq) {
  const at = after(t, seq - 1);
  return t.items[at]?.seq === seq ? at : -1;
}

/** Index of the first item after a seq; the number of items when there is none. @param {Timeline} t @param {number} seq */
export function after(t, seq) {
  let low = 0;
  let high = t.items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (t.items[middle].seq <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
