// One room: header, the state of the connection, timeline, composer.
import { h, Fragment } from '../dom.js';
import { state } from '../state.js';
import { t } from '../words.js';
import { number } from '../format.js';
import { back, openSheet } from '../route.js';
import { unreadNews } from '../model/news.js';
import { isAlone, mayInvite, nameOf, peopleIn } from '../model/rooms.js';
import { maySearch } from '../model/search.js';
import { Announcement } from './announcement.js';
import { Balance } from './balance.js';
import { LinkBar } from './link.js';
import { Icon } from './icon.js';
import { IconButton } from './parts.js';
import { TimelineView } from './timeline.js';
import { Composer } from './composer.js';
import { Rain } from './rain.js';
import { ToSearch } from './to-search.js';

export function RoomScreen({ view }) {
  return h(Fragment, null,
    h('header', { class: 'bar' },
      !state.wide && h(Back, { unread: unreadNews(view) }),
      h('button', { class: 'room-name grow', type: 'button', onClick: () => openSheet('info') },
        h('h1', { class: 'cut', dir: 'auto' }, nameOf(view)),
        h('span', { class: 'muted small cut' }, standing(view))),
      state.wide && mayInvite(view) && h(IconButton, { icon: 'invite', label: t('invite.title'), onClick: () => openSheet('links') }),
      maySearch() && h(ToSearch, { view }),
      h(Balance, null)),
    h(LinkBar, null),
    h(Announcement, { view }),
    h(Alone, { view }),
    h(TimelineView, { view }),
    h(Rain, { view }),
    h(Composer, { view }));
}

/** How a friend comes in, while nobody else is in the room. An empty timeline says so itself. */
function Alone({ view }) {
  if (!isAlone(view) || !mayInvite(view) || !view.timeline.items.length) return null;
  return h('div', { class: 'announced alone' },
    h('p', { class: 'grow' }, t('room.alone')),
    h('button', { class: 'button', type: 'button', onClick: () => openSheet('links') }, h(Icon, { name: 'people', size: 18 }), t('room.bring')));
}

/** The way back, with the number of unread messages in other rooms. */
function Back({ unread }) {
  const shown = unread > 99 ? '99+' : number(unread);
  return h('span', { class: 'back' },
    h(IconButton, { icon: 'back', label: unread ? t('backUnread', { count: unread, shown }) : t('back'), onClick: back }),
    unread > 0 && h('span', { class: 'badge number', 'aria-hidden': 'true' }, shown));
}

function standing(view) {
  const typing = [...view.typing].filter(([, until]) => until > Date.now()).map(([user]) => state.people.get(user)?.name ?? '');
  if (typing.length) return t('room.typing', { names: typing.filter(Boolean), count: typing.length });
  if (view.room.kind === 'direct') return state.online.get(view.other?.id) ? t('room.online') : '';
  const count = Math.max(peopleIn(view.room), view.online ?? 0); // the member count is published a second later than the online users
  const members = t('room.members', { count, shown: number(count) });
  return view.online == null ? members : `${members} · ${t('room.onlineCount', { count: view.online, shown: number(view.online) })}`;
}
