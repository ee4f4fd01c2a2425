// The announcement of a room, below its header. A user that has closed it sees the next one.
import { h } from '../dom.js';
import { change } from '../state.js';
import { t } from '../words.js';
import { openSheet } from '../route.js';
import { announcementOf, keep, kept } from '../storage.js';
import { Icon } from './icon.js';
import { IconButton } from './parts.js';

const place = (/** @type {string} */ room) => announcementOf + room;

export function Announcement({ view }) {
  const { id, announcement } = view.room;
  if (!announcement || kept(place(id)) === announcement) return null;
  return h('div', { class: 'announced' },
    h('button', { class: 'announced-open grow', type: 'button', onClick: () => openSheet('info') },
      h(Icon, { name: 'pin', size: 18 }), h('span', { class: 'only-read' }, t('info.announcement')),
      h('span', { class: 'cut', dir: 'auto' }, announcement)),
    h(IconButton, { icon: 'close', label: t('room.closeAnnouncement'), size: 18, onClick: () => change(() => keep(place(id), announcement)) }));
}
