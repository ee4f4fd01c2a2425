// The parts around the rows of a timeline: its beginning, the button to the end, and the text of an empty room.
import { h, Fragment } from '../dom.js';
import { t } from '../words.js';
import { number } from '../format.js';
import { openSheet } from '../route.js';
import { loadNewer, loadOlder } from '../actions/history.js';
import { isAlone, mayInvite, nameOf, takesPackets } from '../model/rooms.js';
import { inWords } from '../words.js';
import { Icon } from './icon.js';
import { Later } from './later.js';

/** Above the first row: the beginning of the room, or that older messages are loading. Its height never changes. */
export function Beginning({ view }) {
  const { timeline } = view;
  const what = timeline.error ? h(Unread, { view, error: timeline.error })
    : timeline.complete ? timeline.items.length > 0 && h('p', { class: 'muted small cut' }, beginning(view))
      : h('span', { class: 'spinner', role: 'status', 'aria-label': t('timeline.loadingOlder') });
  return h('div', { class: 'beginning' }, what);
}

function beginning(view) {
  return view.room.kind === 'direct' ? t('timeline.beginningDirect') : t('timeline.beginning', { room: nameOf(view) });
}

function Unread({ view, error }) {
  const again = () => (view.timeline.newer ? loadNewer : loadOlder)(view.room.id);
  return h(Fragment, null,
    h('span', { class: 'small', role: 'alert' }, inWords(error)),
    h('button', { class: 'button', type: 'button', onClick: again }, t('again')));
}

/** The button to the end, with the number of new messages. */
export function Pill({ away, unread, newer, onClick }) {
  if (!away) return null;
  const label = unread ? t('timeline.new', { count: unread, shown: number(unread) }) : newer ? t('timeline.toNewest') : '';
  return h('button', { class: `pill ${label ? '' : 'bare'}`, type: 'button', 'aria-label': label || t('timeline.toNewest'), onClick },
    label && h('span', { class: 'number' }, label), h(Icon, { name: 'down', size: 18 }));
}

/** The way back from a quote to the reply. */
export function BackToReply({ back }) {
  return h('button', { class: 'pill to-reply', type: 'button', onClick: back }, h(Icon, { name: 'reply', size: 18 }), t('timeline.toReply'));
}

/** Shapes of messages, while the first ones are loading. */
export function Ghosts() {
  return h('div', { class: 'ghosts', role: 'status', 'aria-label': t('loading') }, [58, 36, 72, 44, 64].map((width, n) => (
    h('i', { key: n, class: n === 3 ? 'own' : '', style: { width: `${width}%` } }))));
}

/** No message yet. */
export function NothingYet({ view }) {
  if (isAlone(view) && mayInvite(view)) return h(NewRoom, { view });
  const direct = view.room.kind === 'direct';
  return h('div', { class: 'empty' },
    h('h2', null, t('timeline.empty')),
    h('p', null, t(direct ? 'timeline.emptyDirect' : 'timeline.emptyRoom')),
    mayInvite(view) && h('button', { class: 'button', type: 'button', onClick: () => openSheet('links') },
      h(Icon, { name: 'people', size: 20 }), t('timeline.invite')));
}

const invitation = async () => (await import('./shared-link.js')).UsualLink;

/** A room with nothing in it and nobody else: how friends come in, and what to begin with. */
function NewRoom({ view }) {
  return h('div', { class: 'empty new-room' },
    h('h2', null, t('timeline.newRoom')),
    h('p', null, t('timeline.newRoomMeans')),
    h(Later, { load: invitation, view }),
    takesPackets(view.room) && h('button', { class: 'button', type: 'button', onClick: () => openSheet('compose') },
      h(Icon, { name: 'envelope', size: 20 }), t('timeline.firstPacket')));
}
