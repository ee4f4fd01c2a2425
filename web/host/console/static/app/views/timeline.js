// What happened to one person, from several lists of the server, newest first.
import { h } from '../dom.js';
import { may } from '../state.js';
import { t, said } from '../words.js';
import { get, part } from '../api.js';
import { money } from '../format.js';
import { href } from '../route.js';
import { Load, table, link, when } from '../parts.js';

const pageSize = 200;

export function timeline(id) {
  return h(Load, { of: id, load: () => happened(id), show: ({ rows, cut }) => [
    cut && h('p', { class: 'note' }, t('timeline.cut', { n: pageSize })),
    table(t('user.timeline'), [[t('at'), (s) => when(s.at)], [t('what'), (s) => s.what], [t('packets.packet'), (s) => s.packet && link('packet', s.packet)], [t('amount'), (s) => s.amount === undefined ? undefined : money(s.amount), 'number'], [t('detail'), (s) => s.detail]], rows),
  ] });
}

/** Reads the newest rows of each list. A list may end earlier than another: what is older than its last row is left out, so that nothing is missing between two rows. */
async function happened(id) {
  const lists = await Promise.all([
    get('transfers', { user: id, limit: pageSize }).then((page) => ({ rows: page.transfers.map(ofTransfer), more: page.more })),
    get('refusals', { user: id, limit: pageSize }).then((page) => ({ rows: page.refusals.map(ofRefusal), more: Boolean(page.next) })),
    get(`users/${part(id)}/sockets`, { limit: pageSize }).then((page) => ({ rows: page.sockets.map(ofSocket), more: Boolean(page.next) })),
    may('admin') ? get('acts', { newest: true, user: id, limit: pageSize }).then((page) => ({ rows: page.acts.map(ofAct), more: page.more })) : { rows: [], more: false },
  ]);
  const ends = lists.filter((list) => list.more && list.rows.length).map((list) => list.rows[list.rows.length - 1].at);
  const from = Math.max(0, ...ends);
  return { rows: lists.flatMap((list) => list.rows).filter((row) => row.at >= from).sort((a, b) => b.at - a.at), cut: ends.length > 0 };
}

function ofTransfer(x) {
  return { at: x.at, what: said('transfer', x.kind), packet: x.packet, amount: x.amount, detail: [x.note, x.actor, x.reason].filter(Boolean).join(' · ') };
}

function ofRefusal(r) {
  return { at: r.at, what: t('timeline.refused', { why: said('refusal', r.why) }), packet: r.packet, detail: h('a', { href: href('packet', r.packet, { user: r.user, at: r.at, why: r.why }) }, t('timeline.why')) };
}

function ofSocket(s) {
  return { at: s.at, what: s.code ? t('timeline.closed', { why: said('close', s.code) }) : said('socket', s.what), detail: h('code', null, s.socket.slice(-8)) };
}

function ofAct(a) {
  return { at: a.at, what: [t('timeline.act'), ' ', h('code', null, a.operation)], detail: [a.person, a.actor, a.reason].filter(Boolean).join(' · ') };
}
