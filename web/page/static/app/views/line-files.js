// The files of a message: an album of pictures, recordings, and other files to be downloaded.
import { h } from '../dom.js';
import { t } from '../words.js';
import { fileSize, number } from '../format.js';
import { openSheet } from '../route.js';
import { download } from '../actions/files.js';
import { boxOf, rowsOf } from '../model/files.js';
import { Icon } from './icon.js';
import { Picture } from './picture.js';
import { Voice } from './voice.js';

/** Whether pictures fill the bubble. @param {{files?: any[]}} body */
export function hasPictures({ files = [] }) { return files.some(({ kind }) => kind === 'picture'); }

/** Whether there is nothing but pictures. @param {{files?: any[]}} body */
export function isAlbum({ files = [] }) { return files.length > 0 && files.every(({ kind }) => kind === 'picture'); }

/** Props: room, seq, files, sending: they are not sent yet. */
export function Files({ room, seq, files, sending }) {
  const pictures = files.filter(({ kind }) => kind === 'picture');
  return [
    pictures.length > 0 && h(Album, { key: 'album', room, seq, pictures, sending }),
    ...files.filter(({ kind }) => kind === 'voice').map((file) => h(Voice, { key: file.id, room, file, sending })),
    ...files.filter(({ kind }) => kind === 'file').map((file) => h(Download, { key: file.id, room, file, sending })),
  ];
}

function Album({ room, seq, pictures, sending }) {
  const alone = pictures.length === 1;
  const rows = rowsOf(pictures.length);
  const box = boxOf(pictures[0]);
  return h('div', {
    class: `album ${alone ? 'single' : ''}`, ...alone && { style: { width: `min(${box.width}px, 72vw)`, aspectRatio: String(box.ratio) } },
  }, pictures.map((file, n) => h(Picture, {
    key: n, room, file, version: versionOf(file, rows[n]),
    button: {
      class: `album-picture in-${rows[n]}`, disabled: sending, open: () => openSheet('view', `${seq}.${file.id}`),
      label: alone ? t('files.open') : t('files.openOne', { n: number(n + 1), of: number(pictures.length) }),
    },
  })));
}

/** A moving picture that is alone moves. @param {any} file @param {number} inRow */
function versionOf({ type }, inRow) { return inRow > 1 ? 'small' : type === 'image/gif' ? 'original' : 'middle'; }

function Download({ room, file, sending }) {
  return h('button', {
    class: 'attached', type: 'button', disabled: sending, 'aria-label': t('files.download', { name: file.name, size: fileSize(file.size) }), onClick: () => download(room, file),
  },
  h('span', { class: 'attached-icon' }, h(Icon, { name: sending ? 'file' : 'download' })),
  h('span', { class: 'attached-words' }, h('bdi', { class: 'attached-name' }, file.name), ' ', h('span', { class: 'small muted' }, fileSize(file.size))));
}
