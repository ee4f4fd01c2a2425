// One room: header, the state of the connection, timeline, composer.
import { h, Fragment } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { money, number } from '../format.js';
import { back, openSheet } from '../route.js';
import { nameOf } from '../model/rooms.js';
import { Icon } from './icon.js';
import { LinkBar } from './link.js';
import { TimelineView } from './timeline.js';
import { Composer } from './composer.js';

export function RoomScreen({ view }) {
  return h(Fragment, null,
    h('header', { class: 'bar' },
      !state.wide && h('button', { class: 'button quiet icon', type: 'button', 'aria-label': t('back'), onClick: back }, h(Icon, { name: 'back' })),
      h('button', { class: 'room-name grow', type: 'button', onClick: () => openSheet('info') },
        h('h1', { class: 'cut' }, nameOf(view)),
        h('span', { class: 'muted small cut' }, standing(view))),
      h('button', { class: 'button quiet number', type: 'button', 'aria-label': t('wallet.open', { balance: money(state.account.balance) }), onClick: () => openSheet('wallet') },
        money(state.account.balance))),
    h(LinkBar, null),
    h(TimelineView, { view }),
    h(Composer, { view }));
}

function standing(view) {
  const typing = [...view.typing].filter(([, until]) => until > Date.now()).map(([user]) => state.people.get(user)?.name ?? '');
  if (typing.length) return t('room.typing', { names: typing.filter(Boolean), count: typing.length });
  if (view.room.kind === 'direct') return state.online.get(view.other?.id) ? t('room.online') : '';
  const members = t('room.members', { count: view.room.members, shown: number(view.room.members) });
  return view.online == null ? members : `${members} · ${t('room.onlineCount', { count: view.online, shown: number(view.online) })}`;
}
