// All that is stored about one packet, in the order in which it happened.
import { h } from '../dom.js';
import { readsTexts } from '../state.js';
import { t, said } from '../words.js';
import { get, part } from '../api.js';
import { money, count, span } from '../format.js';
import { Load, facts, table, link, userLink, when, status, download, actButton } from '../parts.js';

const mostRefusals = 1000;

export function packet({ id, query }) {
  return h('div', null, h('h1', null, t('packet.title', { id })),
    h(Load, { of: id, load: async () => {
      const [story, { refusals, next }] = await Promise.all([get(`packets/${part(id)}`), get('refusals', { packet: id, limit: mostRefusals })]);
      return { ...story, refusals, more: next };
    }, show: (story) => [
      query.at && why(story, { user: query.user, at: Number(query.at), why: query.why }),
      story.packet ? rules(story.packet, story) : h('p', { role: 'alert', class: 'bad' }, t('packet.lost')),
      h('div', { class: 'acts' },
        story.proof && h('button', { onClick: () => download(`proof-${id}.json`, story.proof) }, t('packet.proof')),
        story.packet && story.status !== 'open' && campaign(id)),
      h('h2', null, t('packet.timeline')),
      table(t('packet.timeline'), [[t('at'), (s) => when(s.at)], [t('what'), (s) => s.what], [t('users.user'), (s) => s.user && userLink(s.user.id, s.user.name)], [t('amount'), (s) => s.amount === undefined ? undefined : money(s.amount), 'number']], steps(story)),
      story.more && h('p', { class: 'note' }, t('packet.moreRefusals', { n: count(mostRefusals) })),
      story.quarantined.length > 0 && [h('h2', null, t('nav.quarantine')), quarantineTable(story.quarantined)],
    ] }));
}

/** Saves the campaign file, which has the greeting. */
function campaign(id) {
  const save = async ({ reason } = {}) => download(`campaign-${id}.json`, await get(`packets/${part(id)}/campaign`, {}, { reason }));
  return readsTexts() ? h('button', { onClick: () => save() }, t('packet.campaign')) : actButton(t('packet.campaign'), { says: t('entries.readSays'), run: save });
}

function rules(p, story) {
  return facts([
    [t('packets.status'), status(story.status)], [t('packets.sender'), userLink(p.from.id, p.from.name)], [t('packets.room'), link('room', p.room)],
    [t('packets.total'), money(p.total)], [t('packets.shares'), `${count(story.claims.length)} / ${count(p.count)}`],
    [t('packet.mode'), [said('mode', p.mode), p.spread && `, ${said('spread', p.spread)}`, p.window_s && `, ${t('packet.draw')}`]],
    p.greeting && [t('packet.greeting'), p.greeting], [t('packet.sent'), when(p.created_at)], [t('packet.ends'), when(p.expires_at)],
    story.closed_at && [t('packet.closed'), when(story.closed_at)], story.refunded > 0 && [t('packet.refunded'), money(story.refunded)],
    p.locked && [t('packet.locked'), t('yes')], p.earlier_members && [t('packet.earlier'), t('yes')],
    p.to?.length && [t('packet.to'), p.to.map((u, i) => [i > 0 && ', ', userLink(u)])],
  ]);
}

/** Answers why a grab got nothing: the request, the last share before it, and the rank that it would have had. */
function why(story, asked) {
  const before = story.claims.filter((c) => c.at <= asked.at).sort((a, b) => a.at - b.at);
  const last = before[before.length - 1];
  const earlier = story.refusals.filter((r) => r.why === 'empty' && (r.at < asked.at || r.at === asked.at && r.user < asked.user)).length;
  return h('section', { class: 'note', 'aria-label': t('noShare.title') }, h('h2', { class: 'flat' }, t('noShare.title')), facts([
    [t('noShare.request'), [userLink(asked.user), ' · ', when(asked.at)]], [t('noShare.answer'), said('refusal', asked.why)],
    [t('noShare.lastShare'), last ? [when(last.at), ' · ', userLink(last.user.id, last.user.name), ' · ', t('noShare.before', { rank: last.share + 1, span: span(asked.at - last.at) })] : t('noShare.noShare')],
    story.packet && asked.why === 'empty' && [t('noShare.rank'), t('noShare.rankOf', { rank: count(story.claims.length + earlier + 1), more: asked.at > lastRefusal(story), count: count(story.packet.count) })],
    story.closed_at && [t('packet.closed'), when(story.closed_at)],
  ]));
}

/** The time of the last refusal that was read, if there are more. */
function lastRefusal({ refusals, more }) { return more ? refusals[refusals.length - 1].at : Infinity; }

/** The sending, the shares, the refused grabs, the end. */
export function steps(story) {
  const list = [];
  if (story.packet) list.push({ at: story.packet.created_at, what: t('step.sent'), user: story.packet.from, amount: story.packet.total });
  for (const claim of story.claims) list.push({ at: claim.at, what: t('step.share', { rank: claim.share + 1 }), user: claim.user, amount: claim.amount });
  for (const r of story.refusals) list.push({ at: r.at, what: t('timeline.refused', { why: said('refusal', r.why) }), user: { id: r.user } });
  if (story.closed_at) list.push({ at: story.closed_at, what: said('status', story.status) });
  for (const transfer of story.transfers) if (transfer.kind === 'refund') list.push({ at: transfer.at, what: said('transfer', 'refund'), user: { id: transfer.user }, amount: transfer.amount });
  return list.sort((a, b) => a.at - b.at);
}

export function quarantineTable(rows, more = []) {
  return table(t('nav.quarantine'), [
    [t('quarantine.no'), (q) => q.no, 'number'], [t('at'), (q) => when(q.at)], [t('packets.packet'), (q) => link('packet', q.packet)], [t('users.user'), (q) => userLink(q.user)],
    [t('quarantine.share'), (q) => q.share + 1, 'number'], [t('quarantine.state'), (q) => said('quarantined', q.state)], [t('quarantine.why'), (q) => q.why], ...more,
  ], rows);
}
