// The claims of a packet, what is left, and its deadline.
import { h, Component, createRef } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { ago, money, number } from '../format.js';
import { cancelPacket, showEnvelope } from '../actions/packets.js';
import { hasEntered, isDraw, participants } from '../model/draws.js';
import { isForMe } from '../model/packets.js';
import { isRain } from '../model/rain.js';
import { mayInvite } from '../model/rooms.js';
import { go } from '../route.js';
import { Avatar, Time } from './parts.js';
import { DrawCheck } from './draw-check.js';
import { isEarly, isHolding } from '../model/early.js';
import { isOver, TimeLeft } from './draw-ring.js';
import { OpensIn } from './opens-in.js';
import { chance, drawn, worth } from './draw-words.js';
import { allOpened, audience, heldWords } from './envelope-words.js';
import { outcome } from './opening-words.js';
import { ClaimList } from './packet-list.js';
import { Countdown } from './packet-countdown.js';
import { RainGrab, rainRules, Wins } from './packet-rain.js';
import { Verify } from './verify.js';

export class Details extends Component {
  /** @type {{current: any}} */ root = createRef();

  componentDidMount() { this.props.view.stage = 'details'; }

  getSnapshotBeforeUpdate() { return this.root.current.contains(document.activeElement); }

  /** @param {any} _ @param {any} __ @param {boolean} focused */
  componentDidUpdate(_, __, focused) {
    // The button that was pressed may not exist any more.
    if (focused && document.activeElement === document.body) this.root.current.focus({ preventScroll: true });
  }

  componentWillUnmount() { this.props.view.stage = null; }

  render({ view }) {
    const { packet, state: { status, draw } } = view;
    const draws = isDraw(packet);
    const rains = isRain(packet);
    const checks = (draws || rains) && status !== 'open' && (draw?.participants ?? 0) > 0;
    return h('div', { class: 'packet stack', ref: this.root, tabIndex: -1 },
      h('header', { class: 'packet-head' },
        h(Avatar, { user: packet.from, size: 'large' }),
        h('h3', null, t('packet.from', { name: packet.from.name })),
        h('p', { class: 'muted packet-greeting', dir: 'auto' }, packet.greeting),
        audience(packet) && h('p', { class: 'envelope-whom small' }, audience(packet)),
        checks && !view.state.mine && h('p', null, outcome(view).title),
        view.state.mine && h('p', { class: 'packet-mine' },
          h('span', { class: 'only-read' }, t(rains ? 'rain.got' : draws ? 'draw.got' : 'packet.got')),
          h('span', { class: 'amount number' }, money(view.state.mine.amount)),
          h('span', { class: 'muted small' }, t('packet.inWallet')))),
      h(Summary, { view }),
      rains && h(RainGrab, { view }),
      rains && h(Wins, { view }),
      (!(draws || rains) || view.state.status !== 'open') && h(ClaimList, { view }),
      checks ? h(DrawCheck, { view }) : h(Verify, { view }));
  }
}

function Summary({ view }) {
  const { packet, state: s, claims } = view;
  const isOpen = s.status === 'open';
  const draws = isDraw(packet);
  const rains = isRain(packet);
  const entered = hasEntered(view);
  const own = packet.from.id === state.me?.id;
  const words = progress(view, claims);
  const room = state.rooms.get(packet.room);
  return h('section', { class: 'packet-summary', 'aria-label': t('packet.standing') },
    words && !draws && !rains && h('div', { class: 'packet-progress', role: 'progressbar', 'aria-label': t('packet.progress'), 'aria-valuemin': 0,
      'aria-valuemax': packet.count, 'aria-valuenow': s.claimed },
      h('i', { style: { transform: `scaleX(${s.claimed / packet.count})` } })),
    words && h('p', { class: 'number' }, words),
    isOpen && isHolding(packet) && h('p', { class: 'small' }, heldWords(packet)),
    isOpen && draws && !isOver(packet) && h('p', { class: 'small number' }, t(entered ? 'draw.in' : 'draw.ifYou'), ' · ', chance(view), ' · ', worth(view)),
    isOpen && h('p', { class: 'muted small' }, isEarly(packet) ? h(OpensIn, { packet }) : draws || rains ? h(TimeLeft, { packet }) : h(Countdown, { until: packet.expires_at })),
    isOpen && view.latest.length > 0 && h('p', { class: 'muted small' }, latest(view)),
    (s.status === 'cancelled' || (s.status === 'expired' && !draws && !rains)) && h('p', { class: 'muted small' }, refund(view, own)),
    h('p', { class: 'muted small' },
      h(Time, { at: packet.created_at }, t('packet.sent', { ago: ago(packet.created_at), amount: money(packet.total) }))),
    isOpen && h('div', { class: 'row packet-do' },
      !s.mine && !rains && isForMe(packet) && h('button', { class: 'button gold', type: 'button', onClick: () => showEnvelope(view) },
        t(draws ? 'draw.toEnvelope' : 'packet.open')),
      room && mayInvite(room) && h('button', { class: 'button', type: 'button', onClick: () => go({ room: packet.room, sheet: { name: 'links', id: packet.id } }) },
        t('links.toPacket')),
      own && s.claimed === 0 && participants(view) === 0 && !(rains && entered) && h('button', { class: 'button', type: 'button', onClick: () => cancelPacket(view) },
        t('packet.cancel', { amount: money(packet.total) }))));
}

function progress(view, claims) {
  const { packet, state: s } = view;
  if (isRain(packet)) return rainRules(view);
  if (isDraw(packet)) return s.status === 'cancelled' ? '' : s.status === 'open' ? takePart(view) : drawn(s);
  if (s.status === 'drained') return allOpened(view);
  if (s.status === 'cancelled' && !s.claimed) return '';
  const opened = t('packet.opened', { claimed: number(s.claimed), shown: number(packet.count), count: packet.count });
  if (s.status !== 'open') return opened;
  const hasAllAmounts = claims && !claims.more && claims.all.length === s.claimed && claims.all.every((c) => c.amount !== undefined);
  if (!hasAllAmounts || !s.claimed) return opened;
  return `${opened} · ${t('packet.left', { amount: money(packet.total - sum(claims.all)) })}`;
}

function takePart(view) {
  const n = participants(view);
  const shares = t('envelope.shares', { count: view.packet.count, shown: number(view.packet.count) });
  return `${t('draw.count', { count: n, shown: number(n) })} · ${shares}`;
}

function latest({ packet, latest: users }) {
  const names = users.filter((u) => u !== state.me?.id).map((u) => state.people.get(u)?.name).filter(Boolean);
  return names.length ? t(isDraw(packet) ? 'draw.latest' : 'packet.latest', { names }) : '';
}

function refund({ packet, state: s }, own) {
  if (s.status === 'cancelled') return own ? t('packet.cancelledOwn', { amount: money(packet.total) })
    : t('packet.cancelledBy', { name: packet.from.name });
  if (!s.refunded) return t('packet.expired');
  return t(own ? 'packet.refundedOwn' : 'packet.refunded', { name: packet.from.name, amount: money(s.refunded) });
}

function sum(claims) { return claims.reduce((all, c) => all + (c.amount ?? 0), 0); }
