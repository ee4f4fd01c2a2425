// One-tap thanks for a packet of another user: a reaction, a short text, or a packet back.
import { h } from '../dom.js';
import { state, change } from '../state.js';
import { t } from '../words.js';
import { openSheet } from '../route.js';
import { react, say } from '../actions/messages.js';
import { packetView } from '../model/packets.js';
import { isSystemUser } from '../model/members.js';
import { takesPackets } from '../model/rooms.js';
import { isMarked } from '../model/timeline.js';
import { Icon } from './icon.js';

const emojis = ['🙏', '❤️', '🎉'];

/** @param {{packet: import('../state.js').Packet, brief?: boolean}} props  brief: one emoji, and the packet back is no more than the rest */
export function Thanks({ packet, brief }) {
  const room = state.rooms.get(packet.room);
  const view = packetView(packet);
  if (!room || !view.state.mine || packet.from.id === state.me?.id || (room.mute?.until ?? 0) > Date.now()) return null;
  const { seq } = view;
  const back = takesPackets(room.room) && !isSystemUser(packet.from.id) && h('button', {
    class: brief ? 'reaction' : 'button primary wide', type: 'button', onClick: () => openSheet('compose', packet.from.id),
  }, h(Icon, { name: 'envelope', size: brief ? 16 : 20 }), t('thanks.back'));
  return h('div', { class: 'thanks', role: 'group', 'aria-label': t('thanks.label', { name: packet.from.name }) },
    !brief && back,
    seq !== null && emojis.slice(0, brief ? 1 : undefined).map((emoji) => {
      const on = isMarked(room.timeline, seq, emoji);
      return h('button', { class: 'reaction', type: 'button', key: emoji, 'aria-pressed': on, 'aria-label': t('thanks.react', { emoji }),
        onClick: () => react(room, seq, emoji, !on) }, h('span', null, emoji));
    }),
    h('button', { class: 'reaction', type: 'button', disabled: view.thanked, onClick: () => thank(room, view) },
      view.thanked && h(Icon, { name: 'check', size: 16 }), t(view.thanked ? 'thanks.said' : 'thanks.say')),
    brief && back);
}

/** @param {import('../state.js').RoomView} room @param {import('../state.js').PacketView} view */
function thank(room, view) {
  say(room.room.id, { text: t('thanks.text'), ...(view.seq !== null && { reply_to: view.seq }) });
  change(() => { view.thanked = true; state.announcement = t('thanks.said'); });
}

/**
 * Whether thanks are offered under the envelope: the user has opened it since the page was loaded, and has not thanked yet.
 * @param {import('../model/timeline.js').Item} item
 */
export function mayThank({ body, mine }) {
  const view = packetView(body);
  const won = view.answer === 'won' || (view.answer === 'entered' && view.state.mine && !view.veiled);
  return won && !view.thanked && !mine?.size && state.sealed?.packet !== body.id;
}
