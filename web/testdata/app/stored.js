// What the page stores is there as long as the page, also if the browser takes nothing more.

import { keep, kept, keptNames, ofTab } from '/app/storage.js';
import { keepGuest, keptGuest } from '/app/identity.js';
import { change, state } from '/app/state.js';
import { forgetSaved } from '/app/storage.js';
import { viewOf } from '/app/model/rooms.js';
import { emptyTimeline } from '/app/model/timeline.js';
import { readSaved, write } from '/app/model/saved.js';
import { equal } from '../check.js';

/** The browser's storage is full: what it did not take is read, and not the older text that it has. */
export async function full() {
  localStorage.clear();
  keep('hongbao-a', 'old');
  const { setItem } = Storage.prototype;
  Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };
  try {
    keepGuest('token');
    keep('hongbao-a', 'new');
    ofTab.set('hongbao-b', 'draft');
    equal([keptGuest(), kept('hongbao-a'), ofTab.get('hongbao-b')], ['token', 'new', 'draft']);
    equal(keptNames('hongbao-').sort(), ['hongbao-a', 'hongbao-guest'], 'each name once');
    keepGuest(null);
    equal(keptGuest(), null, 'forgotten');
  } finally {
    Storage.prototype.setItem = setItem;
  }
  keep('hongbao-a', 'newest');
  equal([kept('hongbao-a'), localStorage.getItem('hongbao-a')], ['newest', 'newest'], 'there is room again');
  localStorage.clear();
}

/** Another tab stores a text after this one could not: the other tab's text is newer. */
export async function fullHere() {
  const { setItem } = Storage.prototype;
  Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };
  keep('hongbao-a', 'ours');
  Storage.prototype.setItem = setItem;
  localStorage.setItem('hongbao-a', 'theirs');
  dispatchEvent(new StorageEvent('storage', { key: 'hongbao-a', newValue: 'theirs' }));
  equal(kept('hongbao-a'), 'theirs');
  localStorage.clear();
}

const tokenOf = (sub) => `h.${btoa(JSON.stringify({ sub }))}.s`;
const textOf = (seq) => ({ seq, at: seq, from: { id: 'bob', name: 'Bob' }, kind: 'text', body: { text: `text ${seq}` } });

/** Puts a user into rooms, of which some are loaded: by id, the last seq and the seqs that are loaded. */
function tab(user, rooms) {
  change(() => {
    state.by = 'guest';
    state.me = { id: user, name: user };
    state.rooms.clear();
    state.people.clear();
    for (const [id, [last, ...loaded]] of Object.entries(rooms)) {
      const view = viewOf({ id, name: id, kind: 'public', last_seq: last, created_at: 1 });
      if (loaded.length) view.timeline = { ...emptyTimeline(), items: loaded.map(textOf), first: loaded[0], last: loaded.at(-1), loaded: true };
      state.rooms.set(id, view);
    }
    state.people.set('bob', { id: 'bob', name: 'Bob' });
  });
}

const seqs = async (user) => {
  const all = await readSaved(user);
  return all && Object.fromEntries(all.rooms.map((r) => [r.room.id, r.items.map((i) => i.seq)]));
};

/** Of rooms that a tab has not visited, the messages that are kept stay, without those that were recalled meanwhile. */
export async function unvisited() {
  await forgetSaved();
  localStorage.setItem('hongbao-guest', tokenOf('ann'));
  tab('ann', { tea: [3, 1, 2, 3], cake: [2, 1, 2], gone: [1, 1] });
  await write();
  equal(await seqs('ann'), { tea: [1, 2, 3], cake: [1, 2], gone: [1] });
  tab('ann', { tea: [4, 3, 4], cake: [5] }); // a later visit
  state.people.clear();
  state.rooms.get('cake').recalls.set(2, { id: 'bob', name: 'Bob' });
  await write();
  equal(await seqs('ann'), { tea: [3, 4], cake: [1, 2] });
  const all = await readSaved('ann');
  equal(all.rooms[1].items[1].body, { recalled: true, by: { id: 'bob', name: 'Bob' } }, 'recalled');
  equal(all.people.map((user) => user.id), ['bob'], 'the sender');
  tab('ann', { tea: [4, 1, 2] }); // another tab, which has not read as far
  await write();
  equal(await seqs('ann'), { tea: [3, 4] });
  tab('ann', { tea: [2] }); // the room was renumbered
  await write();
  equal(await seqs('ann'), { tea: [] });
  change(() => { state.saved = false; });
}

/** A tab of a guest that the browser does not keep any more writes nothing. Another guest's tab replaces what was kept. */
export async function ofAnotherGuest() {
  await forgetSaved();
  localStorage.setItem('hongbao-guest', tokenOf('ann'));
  tab('ann', { tea: [1, 1] });
  await write();
  tab('cid', { tea: [2, 1, 2] });
  await write();
  equal([await seqs('ann'), await seqs('cid')], [{ tea: [1] }, null], 'the browser keeps ann');
  localStorage.setItem('hongbao-guest', tokenOf('cid'));
  await write();
  equal([await seqs('ann'), await seqs('cid')], [null, { tea: [1, 2] }], 'the browser keeps cid');
  localStorage.clear();
  await forgetSaved();
}
