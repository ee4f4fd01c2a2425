// Acts, events, quarantine and audit.
import { h } from '../dom.js';
import { may, readsTexts } from '../state.js';
import { t } from '../words.js';
import { call, get, part } from '../api.js';
import { go } from '../route.js';
import { money, count, span } from '../format.js';
import { Load, Pages, search, field, facts, table, when, actButton, download } from '../parts.js';
import { quarantineTable } from './packet.js';

export function actsTable(rows) {
  return table(t('nav.acts'), [
    [t('at'), (a) => when(a.at)], [t('actsList.actor'), (a) => a.person ? `${a.person} (${a.actor})` : a.actor], [t('actsList.what'), (a) => h('code', null, a.operation)],
    [t('actsList.request'), (a) => h('code', null, a.request)], [t('reason.words'), (a) => a.reason], [t('actsList.client'), (a) => a.client],
  ], rows);
}

export function acts({ query }) {
  return h('div', null, h('h1', null, t('nav.acts')),
    search(t('actsList.search'), [field(t('actsList.key'), 'key', query.key), field(t('actsList.user'), 'user', query.user)], (to) => go('acts', undefined, to)),
    h(Pages, { of: JSON.stringify(query), load: async (next) => {
      const page = await get('acts', { newest: true, key: query.key, user: query.user, after: next, limit: 100 });
      return { rows: page.acts, next: page.more ? page.next : undefined };
    }, show: actsTable }));
}

export function events() {
  return h('div', null, h('h1', null, t('nav.events')),
    h('h2', null, t('events.consumers')),
    h(Load, { of: 'consumers', load: () => get('consumers'), show: ({ consumers }, again) => table(t('events.consumers'), [
      [t('events.name'), (c) => c.name], [t('events.lag'), (c) => c.lag_ms === undefined ? '–' : span(c.lag_ms)], [t('events.moved'), (c) => when(c.updated_at)],
      ['', (c) => may('chat') && c.name !== 'webhook' && h('div', { class: 'acts' },
        actButton(t('events.replay'), { says: t('events.replaySays'), done: again, run: ({ reason }) => call('PUT', `consumers/${part(c.name)}`, { body: { after: 'oldest' }, reason }) }, { small: true }),
        actButton(t('events.remove'), { says: t('events.removeSays'), done: again, run: ({ reason }) => call('DELETE', `consumers/${part(c.name)}`, { reason }) }, { small: true }))],
    ], consumers) }),
    readsTexts() && [h('h2', null, t('events.parked')), h(Pages, { of: 'parked', load: async (next) => {
      const page = await get('webhook/parked', { after: next, limit: 50 });
      return { rows: page.parked, next: page.parked.length === 50 ? page.parked[49].no : undefined };
    }, show: (rows, again) => table(t('events.parked'), [
      [t('quarantine.no'), (p) => p.no, 'number'], [t('events.since'), (p) => when(p.first_at)], [t('events.tries'), (p) => count(p.tries), 'number'], [t('events.kind'), (p) => h('code', null, p.event?.type ?? '–')],
      [t('quarantine.why'), (p) => p.why],
      ['', (p) => may('chat') && p.event && actButton(t('events.again'), { done: again, run: ({ reason }) => call('POST', 'webhook/replay', { body: { no: p.no }, reason }) }, { small: true })],
    ], rows, t('events.noneParked')) })]);
}

export function quarantine() {
  return h('div', null, h('h1', null, t('nav.quarantine')), h('p', { class: 'muted' }, t('quarantine.says')),
    h(Pages, { of: 'quarantine', load: async (next) => {
      const page = await get('quarantine', { after: next, limit: 100 });
      return { rows: page.claims, next: page.next };
    }, show: (rows, again) => quarantineTable(rows, [
      ['', (q) => may('money') && q.state === 'unpaid' && actButton(t('quarantine.retry'), { done: again, run: ({ reason }) => call('POST', 'quarantine/retry', { body: { no: q.no }, reason }) }, { small: true })],
    ]) }));
}

export function audit() {
  return h('div', null, h('h1', null, t('nav.audit')),
    h(Load, { of: 'audit', load: () => get('audit').catch(unlessMissing), show: (a, again) => [
      a.none ? h('p', { class: 'note' }, t('audit.none')) : auditFacts(a),
      h('div', { class: 'acts' }, may('admin') && [
        actButton(t('audit.run'), { done: again, says: t('audit.runSays'), run: ({ reason }) => call('POST', 'audit', { body: { whole: false }, reason }) }, { main: true }),
        actButton(t('audit.runWhole'), { done: again, says: t('audit.wholeSays'), run: ({ reason }) => call('POST', 'audit', { body: { whole: true }, reason }) }),
      ], h('button', { onClick: async () => download('heads.json', await get('heads')) }, t('audit.heads'))),
      a.differences?.length > 0 && table(t('audit.differences'), [[t('what'), (d) => h('code', null, JSON.stringify(d))]], a.differences),
    ] }));
}

/** There is no report before the first audit. */
function unlessMissing(error) {
  if (error.status === 404) return { none: true };
  throw error;
}

function auditFacts(a) {
  return [
    h('p', { class: a.ok ? 'note good' : 'note bad', role: a.ok ? undefined : 'alert' }, t(a.ok ? 'audit.ok' : 'audit.differs', { n: count(a.differences.length) })),
    facts([
      [t('audit.at'), when(a.at)], [t('audit.whole'), when(a.whole_at)], [t('audit.funded'), money(a.funded)], [t('audit.inWallets'), money(a.in_wallets)], [t('audit.inPackets'), money(a.in_packets)],
      [t('audit.wallets'), count(a.wallets)], [t('audit.packets'), count(a.packets)], [t('audit.transfers'), count(a.transfers)], [t('audit.quarantined'), count(a.quarantined)],
    ]),
  ];
}
