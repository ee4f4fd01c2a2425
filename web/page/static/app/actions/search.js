// Searches the texts of the user's rooms, page by page.
import { change } from '../state.js';
import { openSheet } from '../route.js';
import { client } from '../client.js';
import { beginSearch, hitId, searchOf } from '../model/search.js';
import { meet } from '../model/people.js';
import { addPage } from '../model/pages.js';
import { load } from './pages.js';

const patience = 15_000; // ms

/** Opens the search in all rooms. @param {string} words typed already; '': those of the last time */
export function openSearch(words) {
  if (words.trim()) change(() => { searchOf('').words = words; });
  openSheet('search');
}

/** Searches for the words that are typed. @param {string} room '': all rooms */
export async function searchTexts(room) {
  change(() => beginSearch(searchOf(room), room));
  await moreHits(room);
}

/** Reads the next page of hits. @param {string} room '': all rooms */
export async function moreHits(room) {
  const search = searchOf(room);
  const { pages, request, asked: { signal } } = search;
  if (!request || pages.complete) return;
  await load(pages, async () => {
    const got = await client.search({ ...request, next: pages.next }, { signal, patience });
    return () => {
      if (search.pages !== pages) return;
      const hits = got.hits.map(({ entry, ...hit }) => ({ ...hit, item: entry }));
      for (const { item } of hits) meet(item.from);
      if (!pages.loaded) pages.items = [];
      addPage(pages, hits, got.next, hitId);
      search.behind ||= !!got.behind;
    };
  });
}
