// One claim: user, amount, time, and a bar in proportion to the amount.
import { h } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { duration, fullTime, money } from '../format.js';
import { Avatar } from './parts.js';
import { Icon } from './icon.js';

export function ClaimRow({ claim, packet, largest, luckiest }) {
  const mine = claim.user.id === state.me?.id;
  return h('li', { class: `claim ${mine ? 'mine' : ''}` },
    h(Avatar, { user: claim.user }),
    h('span', { class: 'claim-name' },
      h('span', { class: 'cut', dir: 'auto' }, mine ? t('you') : claim.user.name),
      luckiest && h('span', { class: 'crown' }, h(Icon, { name: 'crown', size: 14 }), t('packet.luckiest'))),
    h('span', { class: 'claim-amount number' }, claim.amount === undefined ? '' : money(claim.amount)),
    !packet.window_s && h('time', { class: 'muted small', dateTime: new Date(claim.at).toISOString(), title: fullTime(claim.at) },
      t('packet.after', { time: duration(claim.at - packet.created_at) })),
    h('i', { class: 'claim-bar', style: { transform: `scaleX(${claim.amount === undefined || !largest ? 0 : claim.amount / largest})` } }));
}
