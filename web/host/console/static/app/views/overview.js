// How the installation is now. It is read again every 10 seconds, which does not prolong the session.
import { h } from '../dom.js';
import { t, said } from '../words.js';
import { get } from '../api.js';
import { count, money, span } from '../format.js';
import { href } from '../route.js';
import { Load, when, table } from '../parts.js';
import { charts } from './charts.js';

export function overview() {
  return h('div', null, h('h1', null, t('nav.overview')),
    h(Load, { of: 'overview', every: 10_000, load: (auto) => get('overview', {}, { auto }), show: (o) => [
      h('section', { 'aria-label': t('overview.problems') }, o.problems.length
        ? h('ul', { class: 'note' }, o.problems.map((word) => h('li', { class: 'bad' }, said('problem', word))))
        : h('p', { class: 'note good' }, t('overview.well'))),
      o.money ? h('div', { class: 'cards' },
        card(t('overview.open'), count(o.money.open)), card(t('overview.escrow'), money(o.money.escrow)),
        card(t('overview.overdue'), count(o.money.overdue), o.money.overdue > 0), card(t('overview.outbox'), o.money.outbox < 0 ? '–' : count(o.money.outbox)),
        card(t('overview.outboxAge'), span(o.money.outbox_age_ms)), card(t('overview.quarantined'), h('a', { href: href('quarantine') }, count(o.money.quarantined)), o.money.quarantined > 0)) : h('p', { class: 'muted' }, t('overview.noSample')),
      charts(),
      h('h2', null, t('overview.instance', { name: o.stats.instance })),
      h('p', { class: 'muted' }, t('overview.oneInstance')),
      h('div', { class: 'cards' },
        card(t('overview.sockets'), count(o.stats.connections)), card(t('overview.users'), count(o.stats.users)),
        card(t('overview.p50'), o.grab_p50_us === undefined ? '–' : span(o.grab_p50_us / 1000)), card(t('overview.p99'), o.grab_p99_us === undefined ? '–' : span(o.grab_p99_us / 1000)),
        card(t('overview.queued'), t('bytes', { n: count(o.stats.queued_bytes) })), card(t('overview.repairs'), count(o.stats.gap_repairs))),
      h('h2', null, t('overview.grabs')),
      table(t('overview.grabs'), ['won', 'already', 'empty', 'expired', 'entered', 'failed'].map((word) => [said('outcome', word), () => count(o.stats.grabs[word]), 'number']), [o.stats.grabs]),
      h('p', { class: 'muted' }, t('overview.since', { version: o.stats.version }), ' ', when(o.stats.started_at)),
    ] }));
}

function card(name, value, bad) { return h('div', { class: bad ? 'card bad' : 'card' }, h('b', null, value), h('span', null, name)); }
