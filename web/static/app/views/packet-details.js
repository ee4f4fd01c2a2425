// The claims of a packet, what is left, and its deadline.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { ago, money, number } from '../format.js';
import { cancelPacket, loadClaims, showEnvelope } from '../actions/packets.js';
import { isForMe } from '../model/packets.js';
import { mayInvite } from '../model/rooms.js';
import { go } from '../route.js';
import { Avatar, Failed, Loading, Time } from './parts.js';
import { allOpened, audience } from './envelope-words.js';
import { ClaimRow } from './packet-claims.js';
import { Countdown } from './packet-countdown.js';
import { Verify } from './verify.js';

const pace = 1000; // ms between two reads while the packet is being opened

export class Details extends Component {
  /** @type {{current: any}} */ root = createRef();

  componentDidMount() {
    this.props.view.stage = 'details';
    this.read();
  }

  getSnapshotBeforeUpdate() { return this.root.current.contains(document.activeElement); }

  /** @param {any} _ @param {any} __ @param {boolean} focused */
  componentDidUpdate(_, __, focused) {
    // The button that was pressed may not exist any more.
    if (focused && document.activeElement === document.body) this.root.current.focus({ preventScroll: true });
    this.read();
  }

  componentWillUnmount() {
    clearTimeout(this.timer);
    this.props.view.stage = null;
  }

  /** Reads what is missing: new claims at the end of the list, amounts that are visible now, the proof. */
  read() {
    const { view } = this.props;
    const list = view.claims;
    if (this.timer || list?.loading || list?.error) return;
    if (list && !isBehind(view)) return;
    const later = this.last ? Math.max(0, this.last + pace - Date.now()) : 0;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.last = Date.now();
      loadClaims(view.packet.id, Boolean(view.claims && needsAnew(view)));
    }, later);
  }

  render({ view }) {
    const { packet, claims } = view;
    return h('div', { class: 'packet stack', ref: this.root, tabIndex: -1 },
      h('header', { class: 'packet-head' },
        h(Avatar, { user: packet.from, size: 'large' }),
        h('h3', null, t('packet.from', { name: packet.from.name })),
        h('p', { class: 'muted packet-greeting', dir: 'auto' }, packet.greeting),
        audience(packet) && h('p', { class: 'envelope-whom small' }, audience(packet)),
        view.state.mine && h('p', { class: 'packet-mine' },
          h('span', { class: 'only-read' }, t('packet.got')),
          h('span', { class: 'amount number' }, money(view.state.mine.amount)),
          h('span', { class: 'muted small' }, t('packet.inWallet')))),
      h(Summary, { view }),
      claims?.error && h(Failed, { error: claims.error, again: () => loadClaims(packet.id) }),
      !claims || (claims.loading && !claims.all.length) ? !claims?.error && h(Loading, null) : h(Claims, { view, claims }),
      h(Verify, { view }));
  }
}

function Summary({ view }) {
  const { packet, state: s, claims } = view;
  const isOpen = s.status === 'open';
  const own = packet.from.id === state.me?.id;
  const words = progress(view, claims);
  const room = state.rooms.get(packet.room);
  return h('section', { class: 'packet-summary', 'aria-label': t('packet.standing') },
    words && h('div', { class: 'packet-progress', role: 'progressbar', 'aria-label': t('packet.progress'), 'aria-valuemin': 0,
      'aria-valuemax': packet.count, 'aria-valuenow': s.claimed },
      h('i', { style: { transform: `scaleX(${s.claimed / packet.count})` } })),
    words && h('p', { class: 'number' }, words),
    isOpen && h('p', { class: 'muted small' }, h(Countdown, { until: packet.expires_at })),
    isOpen && view.latest.length > 0 && h('p', { class: 'muted small' }, latest(view)),
    (s.status === 'expired' || s.status === 'cancelled') && h('p', { class: 'muted small' }, refund(view, own)),
    h('p', { class: 'muted small' },
      h(Time, { at: packet.created_at }, t('packet.sent', { ago: ago(packet.created_at), amount: money(packet.total) }))),
    isOpen && h('div', { class: 'row packet-do' },
      !s.mine && isForMe(packet) && h('button', { class: 'button gold', type: 'button', onClick: () => showEnvelope(view) },
        t('packet.open')),
      room && mayInvite(room) && h('button', { class: 'button', type: 'button', onClick: () => go({ room: packet.room, sheet: { name: 'links', id: packet.id } }) },
        t('links.toPacket')),
      own && s.claimed === 0 && h('button', { class: 'button', type: 'button', onClick: () => cancelPacket(view) },
        t('packet.cancel', { amount: money(packet.total) }))));
}

function progress(view, claims) {
  const { packet, state: s } = view;
  if (s.status === 'drained') return allOpened(view);
  if (s.status === 'cancelled' && !s.claimed) return '';
  const opened = t('packet.opened', { claimed: number(s.claimed), shown: number(packet.count), count: packet.count });
  if (s.status !== 'open') return opened;
  const known = claims && !claims.more && claims.all.length === s.claimed && claims.all.every((c) => c.amount !== undefined);
  if (!known || !s.claimed) return opened;
  return `${opened} · ${t('packet.left', { amount: money(packet.total - sum(claims.all)) })}`;
}

function latest({ latest: users }) {
  const names = users.filter((u) => u !== state.me?.id).map((u) => state.people.get(u)?.name).filter(Boolean);
  return names.length ? t('packet.latest', { names }) : '';
}

function refund({ packet, state: s }, own) {
  if (s.status === 'cancelled') return own ? t('packet.cancelledOwn', { amount: money(packet.total) })
    : t('packet.cancelledBy', { name: packet.from.name });
  if (!s.refunded) return t('packet.expired');
  return t(own ? 'packet.refundedOwn' : 'packet.refunded', { name: packet.from.name, amount: money(s.refunded) });
}

function Claims({ view, claims }) {
  const { packet, state: s } = view;
  if (!claims.all.length) return s.status === 'cancelled' ? null
    : h('p', { class: 'empty' }, t(s.status === 'open' ? 'packet.nobodyYet' : 'packet.nobody'));
  const largest = Math.max(...claims.all.map((c) => c.amount ?? 0), s.luckiest?.amount ?? 0);
  const hidden = claims.all.some((c) => c.amount === undefined);
  return h('section', { class: 'stack', 'aria-label': t('packet.list') },
    hidden && h('p', { class: 'muted small' }, t('packet.hidden')),
    h('ol', { class: 'claims' }, claims.all.map((claim) => h(ClaimRow,
      { key: claim.rank, claim, packet, largest, luckiest: s.luckiest?.rank === claim.rank }))),
    claims.more && h('button', { class: 'button wide', type: 'button', 'aria-busy': claims.loading, onClick: () => loadClaims(packet.id) },
      t('packet.more')));
}

function isBehind(view) {
  const { claims, state: s } = view;
  return (!claims.more && claims.all.length < s.claimed) || needsAnew(view);
}

/** Amounts or the proof were hidden when it was read, and are visible now. */
function needsAnew({ claims, state: s }) {
  const done = s.status !== 'open';
  return (done && !claims.proof) || ((done || s.mine) && claims.all.some((c) => c.amount === undefined));
}

function sum(claims) { return claims.reduce((all, c) => all + (c.amount ?? 0), 0); }
