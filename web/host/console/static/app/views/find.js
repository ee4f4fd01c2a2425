// One field for everything: a name, an id, a ref, a packet or a room.
import { h } from '../dom.js';
import { t } from '../words.js';
import { call, get, part } from '../api.js';
import { href } from '../route.js';
import { Load } from '../parts.js';
import { userTable } from './users.js';
import { packetTable } from './packets.js';
import { roomTable } from './rooms.js';

/** Asks for all that the text may name. What a request refuses or does not find is not there. */
export async function lookUp(text) {
  const none = () => undefined;
  const plain = /^[!-~]{1,64}$/.test(text);
  const id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text); // of a packet or a room
  const [exact, named, packet, room, byRef] = await Promise.all([
    plain ? call('POST', 'users/find', { body: { users: [text], refs: [text] } }).catch(none) : undefined,
    get('users', { name: text, limit: 50 }).catch(none),
    id ? get(`packets/${part(text)}`).catch(none) : undefined,
    id ? get(`rooms/${part(text)}`).catch(none) : undefined,
    plain ? get('rooms', { ref: text }).catch(none) : undefined,
  ]);
  const people = new Map([...(exact?.users ?? []), ...(named?.users ?? [])].map((u) => [u.id, u]));
  const rooms = new Map([...(room ? [room.room] : []), ...(byRef?.rooms ?? [])].map((r) => [r.id, r]));
  return { users: [...people.values()], rooms: [...rooms.values()], packet, sure: exact?.users?.length === 1 ? exact.users[0].id : undefined };
}

export function find({ id }) {
  return h('div', null, h('h1', null, t('findTitle', { text: id })),
    h(Load, { of: id, load: async () => {
      const found = await lookUp(id);
      const only = found.users.length + found.rooms.length + (found.packet ? 1 : 0) === 1;
      if (found.packet && only) location.replace(href('packet', id));
      else if (found.rooms.length && only) location.replace(href('room', found.rooms[0].id));
      else if (found.sure || found.users.length && only) location.replace(href('user', found.sure ?? found.users[0].id));
      return found;
    }, show: ({ users, rooms, packet }) => [
      packet && [h('h2', null, t('nav.packets')), packetTable([{ packet: packet.packet ?? { id }, state: { status: packet.status } }])],
      rooms.length > 0 && [h('h2', null, t('nav.rooms')), roomTable(rooms)],
      users.length > 0 && [h('h2', null, t('nav.users')), userTable(users)],
      !packet && !rooms.length && !users.length && h('p', null, t('findNone')),
    ] }));
}
