// What the page stores is there as long as the page, also if the browser takes nothing more.

import { keep, kept, keptNames, ofTab } from '/app/storage.js';
import { keepGuest, keptGuest } from '/app/identity.js';
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
