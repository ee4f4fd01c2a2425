// Leaving and deleting a room.
import { h } from '../dom.js';
import { t } from '../words.js';
import { nameOf } from '../model/rooms.js';
import { deleteRoom, leaveRoom } from '../actions/governing.js';
import { Act } from './act.js';

export function Ending({ view }) {
  const { room } = view;
  const name = nameOf(view);
  const owner = room.role === 'owner';
  return h('div', { class: 'panel-acts' },
    h(Act, {
      key: 'leave', icon: 'back', kind: 'danger', label: t(room.kind === 'direct' ? 'info.leaveDirect' : 'info.leave'),
      question: leaving(view), yes: t('info.leaveYes'), act: () => leaveRoom(view),
    }),
    owner && h(Act, {
      key: 'delete', icon: 'trash', kind: 'danger', label: t('info.delete'),
      question: t('info.deleteAsk', { room: name }), yes: t('info.deleteYes'),
      word: name, wordLabel: t('info.deleteWord', { room: name }), act: () => deleteRoom(view),
    }));
}

/** The consequence of leaving. */
function leaving(view) {
  const { kind, role, members } = view.room;
  if (kind === 'direct') return t('info.leaveAsk.direct');
  if (role === 'owner' && members > 1) return t('info.leaveAsk.owner');
  if (role === 'owner') return t('info.leaveAsk.last');
  return t(kind === 'public' ? 'info.leaveAsk.public' : 'info.leaveAsk.private', { room: nameOf(view) });
}
