// Rooms, and one room with its members, bans and entries.
import { h } from '../dom.js';
import { may } from '../state.js';
import { t, said } from '../words.js';
import { call, get, part } from '../api.js';
import { go, href } from '../route.js';
import { count } from '../format.js';
import { Load, Pages, search, field, facts, table, link, userLink, when, actButton } from '../parts.js';
import { Entries } from './entries.js';

export function rooms({ query }) {
  return h('div', null, h('h1', null, t('nav.rooms')),
    search(t('rooms.search'), [field(t('rooms.ref'), 'ref', query.ref)], (to) => go('rooms', undefined, to)),
    h(Pages, { of: query.ref ?? '', load: async (next) => {
      const page = await get('rooms', query.ref ? { ref: query.ref } : { next, limit: 50 });
      return { rows: page.rooms, next: page.next };
    }, show: roomTable }));
}

export function roomTable(rows) {
  return table(t('nav.rooms'), [
    [t('rooms.room'), (r) => link('room', r.id, r.name || r.id)], [t('rooms.kind'), (r) => said('kind', r.kind)], [t('rooms.ref'), (r) => r.ref], [t('rooms.owner'), (r) => r.owner && userLink(r.owner)],
    [t('rooms.members'), (r) => count(r.members), 'number'], [t('rooms.entries'), (r) => count(r.last_seq), 'number'], [t('rooms.made'), (r) => when(r.created_at)],
  ], rows);
}

export function room({ id, query }) {
  return h('div', null, h(Load, { of: id, load: () => get(`rooms/${part(id)}`), show: ({ room: r }, again) => [
    h('h1', null, r.name || said('kind', r.kind)),
    facts([
      [t('rooms.id'), h('code', null, r.id)], [t('rooms.kind'), said('kind', r.kind)], r.ref && [t('rooms.ref'), r.ref], r.owner && [t('rooms.owner'), userLink(r.owner)],
      [t('rooms.members'), count(r.members)], [t('rooms.entries'), count(r.last_seq)], [t('rooms.made'), when(r.created_at)],
      r.announcement && [t('rooms.announcement'), r.announcement], [t('rooms.packets'), t(r.packets ? 'yes' : 'no')], [t('rooms.frozen'), t(r.frozen ? 'yes' : 'no')],
    ]),
    h(Load, { of: id, load: () => get(`rooms/${part(id)}/retention`), show: ({ retention: kept }) => facts([
      [t('rooms.keeps'), kept.keeps ? t('rooms.days', { count: kept.keeps }) : t('rooms.forEver')],
      kept.through > 0 && [t('rooms.retired'), count(kept.through)], kept.held && [t('rooms.legalHold'), t('yes')],
    ]) }),
    h('div', { class: 'acts' },
      h('a', { href: href('packets', undefined, { room: id }) }, t('rooms.itsPackets')),
      may('chat') && r.kind !== 'direct' && [
        actButton(t(r.frozen ? 'rooms.thaw' : 'rooms.freeze'), { says: t(r.frozen ? 'rooms.thawSays' : 'rooms.freezeSays'), done: again, run: ({ reason }) => call('PUT', `rooms/${part(id)}`, { body: { frozen: !r.frozen }, reason }) }),
        actButton(t(r.packets ? 'rooms.noPackets' : 'rooms.allowPackets'), { done: again, run: ({ reason }) => call('PUT', `rooms/${part(id)}`, { body: { packets: !r.packets }, reason }) }),
      ]),
  ] }),
  h('h2', null, t('rooms.entries')),
  h(Entries, { room: id, before: query.before ? Number(query.before) : undefined, mark: Number(query.mark ?? 0) }),
  h('h2', null, t('rooms.members')),
  h(Pages, { of: id, load: async (next) => {
    const page = await get(`rooms/${part(id)}/members`, { next, limit: 50 });
    return { rows: page.members, next: page.next };
  }, show: (rows) => table(t('rooms.members'), [[t('users.user'), (m) => userLink(m.id, m.name)], [t('rooms.role'), (m) => said('role', m.role)], [t('rooms.mutedUntil'), (m) => when(m.muted_until)]], rows) }),
  h('h2', null, t('rooms.bans')),
  h(Pages, { of: id, load: async (next) => {
    const page = await get(`rooms/${part(id)}/bans`, { next, limit: 50 });
    return { rows: page.bans, next: page.next };
  }, show: (rows, again) => table(t('rooms.bans'), [
    [t('users.user'), (b) => userLink(b.user, b.name)], [t('rooms.until'), (b) => b.until ? when(b.until) : t('rooms.forGood')], [t('reason.words'), (b) => b.reason],
    ['', (b) => may('moderate') && actButton(t('rooms.unban'), { done: again, run: ({ reason }) => call('POST', 'system/unban', { body: { room: id, user: b.user }, reason }) }, { small: true })],
  ], rows) }));
}
