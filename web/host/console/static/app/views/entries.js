// Entries of a room. Texts of users appear only as texts. A key that reads no texts without a reason is asked for one first.
import { h, Component } from '../dom.js';
import { may, readsTexts } from '../state.js';
import { t, said } from '../words.js';
import { call, get, part } from '../api.js';
import { Pages, userLink, link, when, actButton } from '../parts.js';

export class Entries extends Component {
  render({ room, before, mark }, { reason, of }) {
    if (readsTexts() || of === room) return entries({ room, before, mark, reason });
    return h('p', null, actButton(t('entries.read'), { says: t('entries.readSays'), run: ({ reason: why }) => this.setState({ reason: why, of: room }) }));
  }
}

function entries({ room, before, mark, reason }) {
  return h(Pages, { of: `${room} ${before}`, load: async (next) => {
    const page = await get(`rooms/${part(room)}/history`, { before: next ?? before, limit: 30 }, { reason });
    const newest = [...page.entries].reverse();
    return { rows: newest, next: page.more && newest.length ? newest[newest.length - 1].seq : undefined };
  }, show: (rows, again) => rows.length ? h('div', null, rows.map((e) => entry(room, e, e.seq === mark, again))) : h('p', { class: 'muted' }, t('none')) });
}

function entry(room, e, here, again) {
  const recallable = e.kind === 'text' && !e.body.recalled && may('moderate');
  return h('article', { class: here ? 'entry here' : 'entry', 'aria-current': here ? 'true' : undefined },
    h('div', { class: 'muted' }, `${e.seq} · `, when(e.at), ' · ', userLink(e.from.id, e.from.name), ' · ', said('entry', e.kind),
      recallable && [' ', actButton(t('entries.recall'), { done: again, run: ({ reason }) => call('POST', 'system/recall', { body: { room, seq: e.seq }, reason }) }, { small: true })]),
    h('div', null, saidIn(e)));
}

function saidIn({ kind, body }) {
  if (kind === 'text') return body.recalled ? h('em', null, t('entries.recalled')) : body.text;
  if (kind === 'packet') return [link('packet', body.packet?.id ?? body.id), ' ', body.packet?.greeting ?? body.greeting];
  return h('code', null, JSON.stringify(body));
}
