// Reads the list of mentions, page by page.
import { state } from '../state.js';
import { client } from '../client.js';
import { meet } from '../model/people.js';
import { idOf } from '../model/mentions.js';
import { addPage, renewHead } from '../model/pages.js';
import { load } from './pages.js';

/** Reads the newest mentions before the known ones. */
export function renewMentions() { return read(undefined, renewHead); }

/** Reads the next page. */
export async function moreMentions() {
  const { loaded, complete, next } = state.mentions;
  if (loaded && !complete) await read(next, addPage);
}

/** @param {string|undefined} next @param {typeof addPage} put */
async function read(next, put) {
  await load(state.mentions, async () => {
    const got = await client.mentions({ next });
    return () => {
      const found = got.mentions.map(({ room, entry }) => ({ room, item: entry }));
      for (const { item } of found) meet(item.from);
      put(state.mentions, found, got.next, idOf);
    };
  });
}
