// What users have reported: the queue, and one report with its context.
import { h } from '../dom.js';
import { may } from '../state.js';
import { t, said } from '../words.js';
import { call, get, part } from '../api.js';
import { go } from '../route.js';
import { Load, Pages, search, choice, facts, table, link, userLink, when, actButton } from '../parts.js';
import { Entries } from './entries.js';

export function reports({ query }) {
  const wanted = query.state ?? 'open';
  return h('div', null, h('h1', null, t('nav.reports')),
    search(t('reports.search'), [choice(t('reports.state'), 'state', wanted, ['open', 'appealed', 'resolved'].map((word) => [word, t(`reports.${word}`)]))], (to) => go('reports', undefined, to)),
    h(Pages, { of: wanted, load: async (next) => {
      const page = await get('reports', { state: wanted, after: next, limit: 50 });
      return { rows: page.reports, next: page.next };
    }, show: (rows) => table(t('nav.reports'), [
      [t('at'), (r) => link('report', r.id, when(r.at))], [t('reports.kind'), (r) => said('reported', r.kind)], [t('reports.reason'), (r) => said('why', r.reason)],
      [t('reports.about'), (r) => userLink(r.about)], [t('reports.by'), (r) => userLink(r.by)], [t('reports.outcome'), (r) => r.outcome && said('decided', r.outcome)],
    ], rows, t('reports.none')) }));
}

export function report({ id }) {
  return h('div', null, h('h1', null, t('reports.one')), h(Load, { of: id, load: () => get(`reports/${part(id)}`), show: ({ report: r }, again) => [
    facts([
      [t('reports.kind'), said('reported', r.kind)], [t('at'), when(r.at)], [t('reports.reason'), said('why', r.reason)], r.text && [t('reports.text'), r.text],
      [t('reports.about'), userLink(r.about)], [t('reports.by'), userLink(r.by)], r.room && [t('packets.room'), link('room', r.room)], r.packet && [t('packets.packet'), link('packet', r.packet)],
      r.outcome && [t('reports.outcome'), `${said('decided', r.outcome)}: ${said('why', r.cause)}`], r.note && [t('reports.note'), r.note], r.resolved_by && [t('reports.resolvedBy'), [r.resolved_by, ' ', when(r.resolved_at)]],
      r.appeal_by && [t('reports.appeal'), [userLink(r.appeal_by), ' ', when(r.appealed_at), r.appeal && `: ${r.appeal}`]],
    ]),
    r.state !== 'resolved' && h('div', { class: 'acts' }, decision(r, 'acted', again), decision(r, 'dismissed', again),
      r.room && actButton(t('reports.mute'), { run: ({ reason }) => call('POST', 'system/mute', { body: { room: r.room, user: r.about, seconds: 86_400 }, reason }) }),
      actButton(t('user.suspend'), { says: t('user.suspendSays'), run: ({ reason }) => call('POST', `users/${part(r.about)}/suspend`, { reason }) })),
    r.room && r.seq > 0 && may('read') && [h('h2', null, t('reports.context')), h(Entries, { room: r.room, before: r.seq + 11, mark: r.seq })],
  ] }));
}

/** Why each outcome was chosen. Both sides are told it. */
const causes = { acted: ['spam', 'scam', 'abuse', 'sexual', 'violence', 'other'], dismissed: ['no_breach', 'no_evidence', 'other'] };

function decision(r, outcome, again) {
  return actButton(t(`reports.${outcome}`), {
    done: again, says: t('reports.both'), fields: () => [
      h('label', null, t('reports.cause'), h('select', { name: 'cause' }, causes[outcome].map((word) => h('option', { value: word, selected: word === r.reason }, said('why', word))))),
      h('label', null, t('reports.note'), h('textarea', { name: 'note', maxLength: 500, rows: 3 })),
    ],
    run: ({ cause, note, reason }) => call('POST', `reports/${part(r.id)}/resolve`, { body: { outcome, cause, note: note || undefined, appeal: r.state === 'appealed' || undefined }, reason }),
  }, { main: outcome === 'acted' });
}
