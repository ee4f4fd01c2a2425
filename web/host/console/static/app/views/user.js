// One person: who it is, what may be done, and what happened, newest first.
import { h } from '../dom.js';
import { may } from '../state.js';
import { t, said } from '../words.js';
import { call, get, part } from '../api.js';
import { href } from '../route.js';
import { money, count } from '../format.js';
import { Load, Pages, facts, field, table, link, when, actButton } from '../parts.js';
import { erasure } from './privacy.js';
import { timeline } from './timeline.js';

export function user({ id, query }) {
  return h('div', null,
    h(Load, { of: id, load: async () => {
      const { user: found } = await get(`users/${part(id)}`);
      const wallet = await get(`users/${part(id)}/wallet`).catch(() => undefined);
      return { found, wallet };
    }, show: ({ found, wallet }, again) => [
      h('h1', null, found.name || found.id),
      facts([
        [t('user.id'), h('code', null, found.id)], found.ref && [t('users.ref'), found.ref], found.suspended_at && [t('users.suspended'), h('span', { class: 'bad' }, when(found.suspended_at))],
        found.custom && [t('user.custom'), h('code', null, JSON.stringify(found.custom))],
        ...(wallet ? purse(wallet) : []),
      ]),
      acts(found, wallet, again),
    ] }),
    h('h2', null, t('user.timeline')),
    timeline(id, query),
    h('h2', null, t('user.rooms')),
    h(Pages, { of: id, load: async (next) => {
      const page = await get(`users/${part(id)}/rooms`, { next, limit: 50 });
      return { rows: page.rooms, next: page.next };
    }, show: (rows) => table(t('user.rooms'), [
      [t('rooms.room'), (m) => link('room', m.id, m.name || m.id)], [t('rooms.kind'), (m) => said('kind', m.kind)], [t('rooms.role'), (m) => said('role', m.role)],
      [t('rooms.mutedUntil'), (m) => when(m.muted_until)], [t('rooms.entries'), (m) => count(m.last_seq), 'number'],
    ], rows) }),
    h('p', null, h('a', { href: href('packets', undefined, { user: id }) }, t('user.packetsSent')), ' · ', h('a', { href: href('packets', undefined, { user: id, direction: 'received' }) }, t('user.packetsReceived'))),
    erasure(id));
}

function purse({ wallet, today }) {
  const limit = (n) => n === undefined ? t('user.unlimited') : money(n);
  return [
    [t('user.balance'), money(wallet.balance)], wallet.frozen_at && [t('user.frozen'), h('span', { class: 'bad' }, when(wallet.frozen_at))],
    [t('user.today'), t('user.todayIs', { sent: money(today.sent), received: money(today.received), packets: count(today.packets) })],
    [t('user.limits'), t('user.limitsAre', { sent: limit(today.limits.sent), received: limit(today.limits.received), packets: today.limits.packets === undefined ? t('user.unlimited') : count(today.limits.packets) })],
  ];
}

function acts(found, wallet, again) {
  const path = `users/${part(found.id)}`;
  const frozen = wallet?.wallet.frozen_at;
  return h('div', { class: 'acts' },
    may('moderate') && actButton(t(found.suspended_at ? 'user.reinstate' : 'user.suspend'), {
      says: t(found.suspended_at ? 'user.reinstateSays' : 'user.suspendSays'), done: again,
      run: ({ reason }) => call('POST', `${path}/${found.suspended_at ? 'reinstate' : 'suspend'}`, { reason }),
    }),
    may('money') && wallet && [
      actButton(t(frozen ? 'user.unfreeze' : 'user.freeze'), { says: t(frozen ? 'user.unfreezeSays' : 'user.freezeSays'), done: again, run: ({ reason }) => call('POST', `${path}/wallet/${frozen ? 'unfreeze' : 'freeze'}`, { reason }) }),
      actButton(t('user.setLimits'), {
        says: t('user.setLimitsSays'), done: again,
        fields: () => ['sent', 'received', 'packets'].map((name) => field(t(`user.limit.${name}`), name, wallet.wallet.limits?.[name], { type: 'number', min: -1, step: 1 })),
        run: ({ sent, received, packets, reason }) => call('PUT', `${path}/limits`, { body: Object.fromEntries(Object.entries({ sent, received, packets }).filter(([, n]) => n !== '').map(([name, n]) => [name, Number(n)])), reason }),
      }),
    ]);
}
