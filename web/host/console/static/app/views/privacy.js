// What stops erasure, and the erasure of one person.
import { h } from '../dom.js';
import { may } from '../state.js';
import { t, said } from '../words.js';
import { call, get, part } from '../api.js';
import { count } from '../format.js';
import { Load, Pages, choice, facts, field, table, link, when, actButton } from '../parts.js';

/** The legal holds. */
export function holds() {
  return h('div', null, h('h1', null, t('nav.holds')), h('p', { class: 'muted' }, t('holds.says')),
    h(Pages, { of: 'holds', load: async (next) => {
      const page = await get('legal_holds', { next, limit: 100 });
      return { rows: page.holds, next: page.next };
    }, show: (rows, again) => [
      h('div', { class: 'acts' }, actButton(t('holds.put'), {
        done: again, fields: () => [choice(t('holds.kind'), 'kind', 'user', [['user', t('users.user')], ['room', t('rooms.room')]]), field(t('user.id'), 'id', '', { required: true })],
        run: ({ kind, id, reason }) => call('PUT', `legal_holds/${kind}/${part(id.trim())}`, { reason }),
      })),
      table(t('nav.holds'), [
        [t('holds.kind'), (x) => t(x.kind === 'room' ? 'rooms.room' : 'users.user')], [t('user.id'), (x) => link(x.kind, x.id)], [t('at'), (x) => when(x.at)], [t('actsList.actor'), (x) => x.actor], [t('reason.words'), (x) => x.reason],
        ['', (x) => actButton(t('holds.end'), { says: t('holds.endSays'), done: again, run: ({ reason }) => call('DELETE', `legal_holds/${x.kind}/${part(x.id)}`, { reason }) }, { small: true })],
      ], rows, t('holds.none')),
    ] }));
}

/** How far the erasure of a person has come, and the way to begin it. */
export function erasure(id) {
  if (!may('privacy')) return null;
  return h(Load, { of: id, every: 5000, rests: (loaded) => loaded && (!loaded.erasure || loaded.erasure.done_at), load: (auto) => get(`users/${part(id)}/erase`, {}, { auto }).catch((error) => {
    if (error.status === 404) return {}; // nobody has asked for it
    throw error;
  }), show: ({ erasure: e }, again) => [
    h('h2', null, t('erasure.title')),
    e ? facts([
      [t('packets.status'), said('erasing', e.state)], e.waits && [t('erasure.waits'), said('erasureWaits', e.waits)], [t('erasure.texts'), t(`erasure.${e.texts}`)], [t('erasure.asked'), when(e.asked_at)],
      e.done_at && [t('erasure.done'), when(e.done_at)], [t('erasure.entries'), count(e.entries)], e.rooms_left > 0 && [t('erasure.roomsLeft'), count(e.rooms_left)],
    ]) : h('p', { class: 'muted' }, t('erasure.none')),
    (!e || e.texts === 'keep') && h('div', { class: 'acts' }, actButton(t('erasure.erase'), {
      says: t('erasure.says'), done: again, fields: () => choice(t('erasure.texts'), 'texts', 'erase', [['erase', t('erasure.erase')], ...(e ? [] : [['keep', t('erasure.keep')]])]),
      run: ({ texts, reason }) => call('POST', `users/${part(id)}/erase`, { body: { texts }, reason }),
    })),
  ] });
}
