// Finding users.
import { h } from '../dom.js';
import { t } from '../words.js';
import { get } from '../api.js';
import { go } from '../route.js';
import { Pages, search, field, choice, table, userLink, when } from '../parts.js';

export function users({ query }) {
  const asked = { name: query.name, ref_prefix: query.ref, suspended: query.suspended === 'yes' ? true : undefined };
  return h('div', null, h('h1', null, t('nav.users')),
    search(t('users.search'), [
      field(t('users.name'), 'name', query.name), field(t('users.ref'), 'ref', query.ref),
      choice(t('users.which'), 'suspended', query.suspended, [['', t('users.all')], ['yes', t('users.suspended')]]),
    ], (to) => go('users', undefined, to)),
    h(Pages, { of: JSON.stringify(asked), load: async (next) => {
      const page = await get('users', { ...asked, next, limit: 50 });
      return { rows: page.users, next: page.next };
    }, show: (rows) => userTable(rows) }));
}

export function userTable(rows) {
  return table(t('nav.users'), [
    [t('users.user'), (u) => userLink(u.id, u.name)], [t('users.ref'), (u) => u.ref], [t('users.suspended'), (u) => when(u.suspended_at)],
  ], rows);
}
