// The envelope in the timeline: a button that opens it. It is grey while it is being sent; after a failure it can be
// sent again.
import { h, Component, createRef, Fragment } from '../dom.js';
import { state } from '../state.js';
import { inWords, t } from '../words.js';
import { duration, money } from '../format.js';
import { discard } from '../actions/messages.js';
import { deliverPacket, meetLuckiest, meetOpeners, showPacket } from '../actions/packets.js';
import { endDraw, learnClock } from '../actions/draws.js';
import { hasEntered, isDraw, isVeiled } from '../model/draws.js';
import { isEarly } from '../model/early.js';
import { enteredWave, isRain, openWave } from '../model/rain.js';
import { isForMe, packetView } from '../model/packets.js';
import { skinned } from '../model/skins.js';
import { Ring, TimeLeft } from './draw-ring.js';
import { OpensIn } from './opens-in.js';
import { shine } from './envelope-shine.js';
import { audience, standing } from './envelope-words.js';
import { Icon } from './icon.js';
import { Avatar } from './parts.js';

/**
 * @typedef {import('../state.js').RoomView} RoomView
 *
 * @param {{item?: any, sending?: import('../state.js').Sending, view: RoomView}} props  the item of a packet, or the packet being sent
 */
export function Envelope({ item, sending, view }) {
  return sending ? h(Outgoing, { sending, view }) : h(Received, { packet: item.body });
}

const fresh = 1500; // ms after its arrival in which an envelope drops in

class Received extends Component {
  drops = this.props.packet.from.id !== state.me?.id && performance.now() - packetView(this.props.packet).cameAt < fresh;

  button = createRef();

  componentDidMount() { this.componentDidUpdate(); }

  componentDidUpdate() {
    const view = packetView(this.props.packet);
    meetLuckiest(view);
    meetOpeners(view);
    endDraw(view);
    if ((isDraw(view.packet) || isRain(view.packet) || isEarly(view.packet)) && view.state.status === 'open') learnClock();
    shine(this.button.current, this.waits);
  }

  componentWillUnmount() { shine(this.button.current, false); }

  render({ packet }) {
    const view = shown(packetView(packet));
    const { mine, status } = view.state;
    const opens = status === 'open' && !mine;
    const early = opens && isEarly(packet);
    const rains = isRain(packet);
    this.waits = rains ? isForMe(packet) && openWave(view) > enteredWave(view) : opens && !early && isForMe(packet) && !hasEntered(view);
    const won = isDraw(packet) ? 'draw.gotAmount' : rains ? 'rain.gotAmount' : 'envelope.got';
    const lost = rains ? 'rain.lostAll' : 'draw.lost';
    return h('button', {
      ref: this.button,
      ...skinned(packet.skin, `envelope ${mine && !(rains && status === 'open') ? 'opened' : ''} ${this.waits ? 'waits' : ''} ${this.drops ? 'drops' : ''}`), 'data-status': status, type: 'button', 'aria-haspopup': 'dialog',
      onClick: () => showPacket(packet.id),
    },
    h('span', { class: 'only-read' }, t('envelope.from', { name: packet.from.name })),
    h(EnvelopeFace, {
      greeting: packet.greeting, got: mine ? t(won, { amount: money(mine.amount) }) : isDrawn(status) && hasEntered(view) && t(lost), standing: standing(view),
      audience: audience(packet), locked: packet.locked && !mine && status === 'open',
      openers: status === 'open' && openers(view), ends: opens && !isDraw(packet) && !rains && packet.expires_at,
      draw: opens && !early && isDraw(packet) ? packet : undefined, early: early ? packet : undefined, rain: rains && status === 'open' && !early ? packet : undefined,
    }));
  }
}

/** @param {string} status of a packet that the user has entered */
function isDrawn(status) { return status === 'drained' || status === 'expired'; }

/** While the envelope is being opened, its answer is not told here. @param {import('../state.js').PacketView} view */
function shown(view) {
  if (state.sealed?.packet !== view.packet.id && !isVeiled(view)) return view;
  return { ...view, state: { ...view.state, status: 'open', mine: undefined } };
}

/** The users that have opened it last, as far as known. */
function openers({ latest }) { return latest.map((id) => state.people.get(id)).filter(Boolean).slice(-3); }

function Outgoing({ sending, view }) {
  const { request, status, error } = sending;
  const failed = status === 'failed';
  return h('div', { class: 'envelope-sending' },
    h('div', { ...skinned(request.skin, `envelope ${Date.now() - sending.at < fresh ? 'drops' : ''}`), 'data-status': 'sending', role: 'group',
      'aria-label': t('envelope.yours', { amount: money(request.total) }) },
      h(EnvelopeFace, {
        greeting: request.greeting, standing: t(failed ? 'envelope.failed' : 'envelope.sending'),
        audience: audience({ from: state.me, ...request }),
        locked: Boolean(request.passphrase), waiting: !failed,
      })),
    failed && h(Fragment, null,
      h('p', { class: 'problem', role: 'alert' }, refused(error)),
      h('div', { class: 'row' },
        h('button', { class: 'button', type: 'button', onClick: () => deliverPacket(sending) }, t('again')),
        h('button', { class: 'button quiet', type: 'button', onClick: () => discard(view.room.id, sending) }, t('envelope.discard')))));
}

function refused(error) {
  if (error?.word === 'conflict') return t('envelope.seedRefused');
  return error?.word === 'not_found' && error.fields?.field === 'to' ? t('envelope.toGone') : inWords(error);
}

/** The text on the envelope. draw: the packet, while users can enter it; early: the packet, before it opens; rain: the packet, while its waves come. */
export function EnvelopeFace({ greeting, got, standing: words, audience: whom, locked, waiting, openers: users, ends, draw, early, rain }) {
  return h(Fragment, null,
    h('span', { class: 'envelope-seal' }, draw ? h('span', { class: 'envelope-ring' }, h(Ring, { packet: draw }), h(Seal, null)) : h(Seal, null)),
    h('span', { class: 'envelope-text' },
      h('span', { class: 'envelope-greeting', dir: 'auto' }, greeting),
      got && h('span', { class: 'envelope-got number' }, got),
      early && h('span', { class: 'envelope-left number' }, h(OpensIn, { packet: early })),
      ends && h(LastMinute, { ends }),
      rain && h('span', { class: 'envelope-left number' }, h(TimeLeft, { packet: rain })),
      draw?.expires_at && h('span', { class: 'envelope-left number' }, h(TimeLeft, { packet: draw }))),
    h('span', { class: 'envelope-state' },
      waiting && h(Icon, { name: 'clock', size: 14 }),
      h('span', { class: 'cut grow number' }, words),
      users?.length > 0 && h('span', { class: 'envelope-openers' }, users.map((user) => h(Avatar, { key: user.id, user, size: 'tiny' }))),
      whom && h('span', { class: 'envelope-whom cut' }, whom),
      locked && h('span', { class: 'envelope-lock' }, h(Icon, { name: 'lock', size: 14 }),
        h('span', { class: 'only-read' }, t('envelope.locked')))));
}

const minute = 60_000;
const longest = 2 ** 31 - 1; // ms; the longest timer

/** The seconds until the end, in the last minute. */
class LastMinute extends Component {
  componentDidMount() { this.wait(); }

  componentWillUnmount() { clearTimeout(this.timer); }

  /** Until the last minute, then second by second. */
  wait() {
    const left = this.props.ends - Date.now();
    if (left <= 0) return;
    this.timer = setTimeout(() => {
      this.forceUpdate();
      this.wait();
    }, left > minute ? Math.min(left - minute, longest) : left % 1000 || 1000);
  }

  render({ ends }) {
    const left = ends - Date.now();
    return left > 0 && left <= minute && h('span', { class: 'envelope-left number' }, t('envelope.left', { time: duration(Math.ceil(left / 1000) * 1000) }));
  }
}

/** The gold seal: an old coin with a square hole. */
export function Seal() {
  return h('svg', { viewBox: '0 0 40 40', 'aria-hidden': 'true', focusable: 'false' },
    h('circle', { class: 'seal-gold', cx: 20, cy: 20, r: 19 }),
    h('circle', { class: 'seal-line', cx: 20, cy: 20, r: 16 }),
    h('path', { class: 'seal-line', d: 'M14.5 14.5h11v11h-11z' }),
    h('path', { class: 'seal-mark', d: 'M20 7v4M20 29v4M7 20h4M29 20h4' }));
}
