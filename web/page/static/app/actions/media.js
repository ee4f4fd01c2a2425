// Reads the texts of a room that have files of a kind, page by page.
import { client } from '../client.js';
import { meet } from '../model/people.js';
import { addOlder, mediaOf } from '../model/media.js';
import { load } from './pages.js';

const page = 50;

/** Reads the next page, from the newest on. @param {import('../state.js').RoomView} view @param {import('../model/media.js').Kind} kind */
export async function moreMedia(view, kind) {
  const pages = mediaOf(view, kind);
  if (pages.complete) return;
  await load(pages, async () => {
    const { entries, more } = await client.history({ room: view.room.id, files: kind, before: pages.next ? Number(pages.next) : undefined, limit: page });
    return () => {
      for (const { from } of entries) meet(from);
      addOlder(pages, /** @type {any} */ ([...entries].reverse()), more);
    };
  });
}
