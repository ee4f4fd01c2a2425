// Reads the red packets of a room, page by page.
import { client } from '../client.js';
import { meet } from '../model/people.js';
import { addPage, renewHead } from '../model/pages.js';
import { noteListed, packetsOf } from '../model/room-packets.js';
import { load } from './pages.js';

const page = 100; // the largest that the server returns: a page may have few packets of the user

/** Reads the first page of a part again. @param {import('../state.js').RoomView} view @param {import('../model/room-packets.js').Part} part */
export function renewRoomPackets(view, part) { return read(view, part, undefined); }

/** Reads the next page. @param {import('../state.js').RoomView} view @param {import('../model/room-packets.js').Part} part */
export function moreRoomPackets(view, part) { return read(view, part, packetsOf(view, part).next); }

async function read(view, part, next) {
  const pages = packetsOf(view, part);
  await load(pages, async () => {
    const got = await client.roomPackets({ room: view.room.id, part, next, limit: page });
    return () => {
      for (const row of got.packets) {
        meet(row.packet.from);
        noteListed(row);
      }
      const ids = got.packets.map(({ packet }) => packet.id);
      if (next) addPage(pages, ids, got.next, (id) => id);
      else renewHead(pages, ids, got.next, (id) => id);
    };
  });
}
