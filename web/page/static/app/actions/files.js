// Reads files: their addresses, and downloads.
import { client } from '../client.js';
import { localOf } from '../model/files.js';
import { attempt } from './attempt.js';

/**
 * An address of a file for an element of the page. It works for some minutes.
 * @param {string} room @param {import('../model/files.js').ShownFile} file @param {'original'|'middle'|'small'} version
 * @param {boolean} [renew] the last address does not work
 */
export function addressOfFile(room, file, version, renew = false) { return client.fileUrl(room, file.id, version, { renew }); }

/** Has the browser store a file. @param {string} room @param {import('../model/files.js').ShownFile} file */
export async function download(room, file) {
  const href = localOf(file) ?? await attempt(addressOfFile(room, file, 'original'));
  if (!href) return;
  const link = document.createElement('a');
  Object.assign(link, { href, download: nameOfFile(file), target: '_blank', rel: 'noopener' }); // a store of other origin may show it: not in place of the page
  document.body.append(link);
  link.click();
  link.remove();
}

const ends = { 'image/jpeg': 'jpg', 'image/png': 'png', 'image/gif': 'gif', 'image/webp': 'webp', 'audio/webm': 'webm', 'audio/ogg': 'ogg', 'audio/mp4': 'm4a' };

/** The server has made a picture anew, maybe of another type than its name says. @param {import('../model/files.js').ShownFile} file */
function nameOfFile({ kind, name, type, id }) {
  if (kind === 'file') return name ?? id;
  const end = Object.hasOwn(ends, type) ? `.${ends[/** @type {keyof typeof ends} */ (type)]}` : '';
  return `${(name ?? `${kind}-${id}`).replace(/\.[A-Za-z0-9]{1,5}$/, '')}${end}`;
}
