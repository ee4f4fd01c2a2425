// The settings of a room, for its owner and admins: which members may invite, and whether guests can come in and packets be sent.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { inviters, takesPackets } from '../model/rooms.js';
import { setRoom } from '../actions/governing.js';
import { openSheet } from '../route.js';
import { Choice } from './choice.js';
import { Icon } from './icon.js';

export function RoomSettings({ view }) {
  const { room } = view;
  const guests = room.guests !== false;
  return h('section', { class: 'stack', 'aria-label': t('info.settings') },
    h(Choice, { label: t('info.inviters.title'), name: 'inviters', value: inviters(room), choose: (invite) => setRoom(view, { invite }),
      options: ['members', 'admins'].map((value) => ({ value, label: t(`info.inviters.${value}`) })) }),
    (state.page?.guests || !guests) && h('label', { class: 'switch' },
      h('span', { class: 'grow' }, t('info.guests'), h('span', { class: 'muted small' }, t('info.guestsMeans'))),
      h('input', { type: 'checkbox', role: 'switch', checked: guests, onChange: (e) => setRoom(view, { guests: e.target.checked }) })),
    h('label', { class: 'switch' },
      h('span', { class: 'grow' }, t('info.packets'), h('span', { class: 'muted small' }, t('info.packetsMeans'))),
      h('input', { type: 'checkbox', role: 'switch', checked: takesPackets(room), onChange: (e) => setRoom(view, { packets: e.target.checked }) })),
    h('button', { class: 'button wide', type: 'button', onClick: () => openSheet('rules') }, h(Icon, { name: 'flag', size: 20 }), t('rules.title')));
}
