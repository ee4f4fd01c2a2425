// Finding packets, of a user or of a room.
import { h } from '../dom.js';
import { t, said } from '../words.js';
import { get } from '../api.js';
import { go } from '../route.js';
import { money, count } from '../format.js';
import { Pages, search, field, choice, table, link, userLink, when, status } from '../parts.js';

export function packets({ query }) {
  const ready = Boolean(query.user) !== Boolean(query.room);
  const asked = {
    user: query.user, room: query.room, direction: query.user ? query.direction || 'sent' : undefined, from: time(query.from), to: time(query.to),
  };
  return h('div', null, h('h1', null, t('nav.packets')),
    search(t('packets.search'), [
      field(t('packets.user'), 'user', query.user), field(t('packets.room'), 'room', query.room),
      choice(t('packets.direction'), 'direction', query.direction, [['sent', t('packets.sent')], ['received', t('packets.received')]]),
      choice(t('packets.status'), 'status', query.status, [['', t('users.all')], ...['open', 'drained', 'expired', 'cancelled'].map((word) => [word, said('status', word)])]),
      field(t('packets.from'), 'from', query.from, { type: 'datetime-local', step: 1 }), field(t('packets.to'), 'to', query.to, { type: 'datetime-local', step: 1 }),
    ], (to) => go('packets', undefined, to)),
    ready ? h(Pages, { of: JSON.stringify([asked, query.status]), load: async (next) => {
      const page = await get('packets', { ...asked, next, limit: 50 });
      return { rows: page.packets.filter((p) => !query.status || p.state.status === query.status), next: page.next };
    }, show: packetTable }) : h('p', { class: 'note' }, t('packets.one')));
}

function time(local) { return local ? new Date(local).getTime() : undefined; }

export function packetTable(rows) {
  return table(t('nav.packets'), [
    [t('packets.packet'), ({ packet }) => link('packet', packet.id)], [t('packets.at'), ({ packet }) => when(packet.created_at)],
    [t('packets.sender'), ({ packet }) => packet.from && userLink(packet.from.id, packet.from.name)], [t('packets.room'), ({ packet }) => link('room', packet.room)],
    [t('packets.total'), ({ packet }) => packet.total === undefined ? undefined : money(packet.total), 'number'],
    [t('packets.shares'), ({ packet, state }) => packet.count === undefined ? undefined : `${state.claimed === undefined ? '' : `${count(state.claimed)} / `}${count(packet.count)}`, 'number'],
    [t('packets.status'), ({ state }) => status(state.status)],
  ], rows);
}
