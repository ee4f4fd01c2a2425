// The envelope in the timeline: a button that opens it. It is grey while it is being sent; after a failure it can be
// sent again.
import { h, Component, Fragment } from '../dom.js';
import { state } from '../state.js';
import { inWords, t } from '../words.js';
import { money } from '../format.js';
import { discard } from '../actions/messages.js';
import { deliverPacket, meetLuckiest, showPacket } from '../actions/packets.js';
import { packetView } from '../model/packets.js';
import { audience, standing } from './envelope-words.js';
import { Icon } from './icon.js';

/**
 * @typedef {import('../state.js').RoomView} RoomView
 *
 * @param {{item?: any, sending?: import('../state.js').Sending, view: RoomView}} props  the item of a packet, or the packet being sent
 */
export function Envelope({ item, sending, view }) {
  return sending ? h(Outgoing, { sending, view }) : h(Received, { packet: item.body });
}

class Received extends Component {
  componentDidMount() { this.meet(); }

  componentDidUpdate() { this.meet(); }

  meet() { meetLuckiest(packetView(this.props.packet)); }

  render({ packet }) {
    const view = packetView(packet);
    const { mine, status } = view.state;
    return h('button', {
      class: `envelope ${mine ? 'opened' : ''}`, 'data-status': status, type: 'button', 'aria-haspopup': 'dialog',
      onClick: () => showPacket(packet.id),
    },
    h('span', { class: 'only-read' }, t('envelope.from', { name: packet.from.name })),
    h(Face, {
      greeting: packet.greeting, got: mine && t('envelope.got', { amount: money(mine.amount) }), standing: standing(view),
      audience: audience(packet), locked: packet.locked && !mine && status === 'open',
    }));
  }
}

function Outgoing({ sending, view }) {
  const { request, status, error } = sending;
  const failed = status === 'failed';
  return h('div', { class: 'envelope-sending' },
    h('div', { class: 'envelope', 'data-status': 'sending', role: 'group',
      'aria-label': t('envelope.yours', { amount: money(request.total) }) },
      h(Face, {
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
  return error?.word === 'not_found' && error.fields?.field === 'to' ? t('envelope.toGone') : inWords(error);
}

/** The text on the envelope. */
function Face({ greeting, got, standing: words, audience: whom, locked, waiting }) {
  return h(Fragment, null,
    h('span', { class: 'envelope-seal' }, h(Seal, null)),
    h('span', { class: 'envelope-text' },
      h('span', { class: `envelope-greeting ${got ? 'short' : ''}`, dir: 'auto' }, greeting),
      got && h('span', { class: 'envelope-got number' }, got)),
    h('span', { class: 'envelope-state' },
      waiting && h(Icon, { name: 'clock', size: 14 }),
      h('span', { class: 'cut grow number' }, words),
      whom && h('span', { class: 'envelope-whom cut' }, whom),
      locked && h('span', { class: 'envelope-lock' }, h(Icon, { name: 'lock', size: 14 }),
        h('span', { class: 'only-read' }, t('envelope.locked')))));
}

/** The gold seal: an old coin with a square hole. */
export function Seal() {
  return h('svg', { viewBox: '0 0 40 40', 'aria-hidden': 'true', focusable: 'false' },
    h('circle', { class: 'seal-gold', cx: 20, cy: 20, r: 19 }),
    h('circle', { class: 'seal-line', cx: 20, cy: 20, r: 16 }),
    h('path', { class: 'seal-line', d: 'M14.5 14.5h11v11h-11z' }),
    h('path', { class: 'seal-mark', d: 'M20 7v4M20 29v4M7 20h4M29 20h4' }));
}
